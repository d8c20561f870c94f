/** Pods on a dead node: no kubelet confirms their deletion, so they are reported with the time at which they were due, and waited for only for a limited time. */
import assert from 'node:assert/strict';
import type { ApiProxy } from '../engine/apiProxy.ts';
import { startLaterServer } from '../engine/laterServer.ts';
import { messageOf } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { firstOf, instanceOf, withTerminatingNodes } from './terminatingNodesFixture.ts';

const POOL = 'dead';

describe('a dead node with the replace annotation', () => {
  const suite = withTerminatingNodes();
  const { fixture } = suite;
  const finalizers = (list: readonly string[]) =>
    suite.kubectl('patch', 'pod', 'lost', '--type=merge', '-p', JSON.stringify({ metadata: { finalizers: list } }));

  let later: ApiProxy | undefined;
  // After the hook of the fixture, in which the operator deletes the pool.
  after(() => later?.[Symbol.asyncDispose]());

  before(async () => {
    await fixture.world.apply(poolManifest(POOL, { nodeGroup: { scaling: { minSize: 2, maxSize: 4 } } }));
    await suite.settled(POOL, 2);
  });

  it('is terminated although the end of a pod is never confirmed, which is reported with its deadline, but not before the other pods are gone', async () => {
    const { cloud } = fixture.world;
    const node = firstOf(await suite.nodes(POOL));
    const { name } = node.metadata;
    for (const pod of ['lost', 'kept']) await suite.pod(name, pod, { spec: { terminationGracePeriodSeconds: 1 } });
    await suite.budget('kept');
    // No kubelet confirms its termination.
    await finalizers(['example.com/kubelet']);
    cloud.faults.nodeReady({ node: name, ready: false });
    cloud.resetCalls();
    await suite.annotate(name, 'winpool.dev/replace=true');
    await suite.becomesLeaving(POOL, 'True/DrainBlocked');
    assert.doesNotMatch(await suite.leavingMessage(POOL), /is not confirmed/);
    await fixture.operator.stop();
    // The deletion is due by the clock of the API server. That of the operator does not matter.
    later = await startLaterServer(fixture.world.controlPlane, fixture.world.operatorKubeconfig, 600_000);
    const flags = ['--poll-interval=200ms', '--resync-interval=1s', '--retry-base=50ms', '--leader-elect=false'];
    fixture.operator = await fixture.world.operator(flags, { credentials: later.kubeconfig }).ready();
    const words = /\btenants\/lost \(due at (\S+)\)/;
    const pool = await fixture.world.waitForPool(
      POOL,
      'to report the pod',
      (found) => words.test(messageOf(found, 'Disrupting')),
      20_000,
    );
    const [, due] = words.exec(messageOf(pool, 'Disrupting')) ?? [];
    assert.equal(due, await suite.kubectl('get', 'pod', 'lost', '-o', 'jsonpath={.metadata.deletionTimestamp}'));
    assert.deepEqual(suite.terminations(), []);
    await suite.kubectl('delete', 'pdb', 'kept-budget');
    await suite.waitForNode(name, 'to end', () => suite.terminations().length > 0);
    assert.deepEqual([await suite.pods(), suite.terminations()], [['lost'], [instanceOf(node)]]);
    assert.deepEqual(await suite.evictions('lost'), [[1, 201]]);
    await finalizers([]);
    await suite.settled(POOL, 2);
  });
});
