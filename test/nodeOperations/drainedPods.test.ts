/** Which pods a drain evicts, and with which grace period: with the real eviction API. */
import assert from 'node:assert/strict';
import { poolManifest } from '../pools.ts';
import { firstOf, instanceOf, type Node, withTerminatingNodes } from './terminatingNodesFixture.ts';

const POOL = 'emptied';
const REPLACE = 'winpool.dev/replace';

describe('the pods of a node with the replace annotation', () => {
  const suite = withTerminatingNodes();
  let drained: Node;
  const replace = (...more: readonly string[]) => suite.annotate(drained.metadata.name, `${REPLACE}=true`, ...more);
  const isGone = () =>
    suite.waitForNode(drained.metadata.name, 'to go', (found) => found?.metadata.uid !== drained.metadata.uid);
  const withDrain = (drain: object | null) => suite.fixture.world.patchPool(POOL, { disruption: { drain } });

  before(async () => {
    await suite.fixture.world.apply(poolManifest(POOL, { disruption: { maxUnavailable: 1 } }));
    await suite.settled(POOL, 1);
  });
  beforeEach(async () => {
    await suite.settled(POOL, 1);
    drained = firstOf(await suite.nodes(POOL));
    suite.fixture.world.cloud.resetCalls();
  });
  afterEach(() => withDrain(null));

  it('get their own grace period, and one second if that is 0', async () => {
    for (const [name, terminationGracePeriodSeconds] of [
      ['patient', 77],
      ['hasty', 0],
    ] as const)
      await suite.pod(drained.metadata.name, name, { spec: { terminationGracePeriodSeconds } });
    await suite.pod(drained.metadata.name, 'usual');
    await replace();
    await isGone();
    const graces = async (name: string) => (await suite.evictions(name)).map(([grace]) => grace);
    assert.deepEqual([await graces('patient'), await graces('hasty'), await graces('usual')], [[77], [1], [30]]);
  });

  it('get the grace period of the spec, also if a budget blocks them at first', async () => {
    await withDrain({ gracePeriod: '1m30s' });
    for (const name of ['short', 'guarded'])
      await suite.pod(drained.metadata.name, name, { spec: { terminationGracePeriodSeconds: 5 } });
    await suite.budget('guarded');
    await replace();
    await suite.becomesLeaving(POOL, 'True/DrainBlocked');
    await suite.kubectl('delete', 'pdb', 'guarded-budget');
    await isGone();
    const all = [...(await suite.evictions('short')), ...(await suite.evictions('guarded'))];
    assert.ok(all.length > 2);
    assert.deepEqual([...new Set(all.map(([grace]) => grace))], [90]);
  });

  it('are not evicted if they are of a DaemonSet, static or finished', async () => {
    const { name } = drained.metadata;
    const labels = { app: 'daemon' };
    const spec = {
      nodeSelector: { 'eks.amazonaws.com/nodegroup': POOL },
      tolerations: [{ operator: 'Exists' }],
      containers: [{ name: 'main', image: 'main' }],
    };
    await suite.fixture.world.apply({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { namespace: 'tenants', name: 'daemon' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
    await suite.kubectl('rollout', 'status', 'daemonset/daemon', '--timeout=30s');
    // Like the kubelet: a static pod has this annotation, and its node as an owner.
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: drained.metadata.uid };
    await suite.pod(name, 'mirror', { owner, annotations: { 'kubernetes.io/config.mirror': 'a1b2' } });
    for (const phase of ['Succeeded', 'Failed']) {
      const pod = phase.toLowerCase();
      await suite.pod(name, pod);
      const status = JSON.stringify({ status: { phase } });
      await suite.kubectl('patch', 'pod', pod, '--subresource=status', '--type=merge', '-p', status);
    }
    await replace();
    await isGone();
    const daemon = (await suite.pods()).filter((pod) => pod.startsWith('daemon-'));
    for (const pod of ['mirror', 'succeeded', 'failed', ...daemon])
      assert.deepEqual(await suite.evictions(pod), [], pod);
    assert.deepEqual(suite.terminations(), [instanceOf(drained)]);
  });

  it('with an emptyDir volume are evicted or block the drain, depending on the spec', async () => {
    await withDrain({ podsWithEmptyDir: 'Block' });
    await suite.pod(drained.metadata.name, 'plain');
    await suite.pod(drained.metadata.name, 'cache', { spec: { volumes: [{ name: 'data', emptyDir: {} }] } });
    await replace();
    await suite.becomesLeaving(POOL, 'True/DrainBlocked');
    assert.match(await suite.leavingMessage(POOL), /pod tenants\/cache has an emptyDir\b/i);
    // A drain that cannot end does not start.
    assert.deepEqual(await suite.pods(), ['cache', 'plain']);
    await withDrain({ podsWithEmptyDir: 'Evict' });
    await isGone();
    assert.deepEqual(await suite.pods(), []);
  });

  it('without a controller block the drain or are evicted, depending on the spec', async () => {
    await suite.pod(drained.metadata.name, 'bare', { owner: null });
    await replace();
    await suite.becomesLeaving(POOL, 'True/DrainBlocked');
    assert.match(await suite.leavingMessage(POOL), /pod tenants\/bare has no controller\b/i);
    assert.deepEqual(await suite.pods(), ['bare']);
    await withDrain({ podsWithoutController: 'Evict' });
    await isGone();
    assert.deepEqual(await suite.evictions('bare'), [[30, 201]]);
  });

  it('are terminated with a node that is excluded from drain: none is evicted', async () => {
    await suite.pod(drained.metadata.name, 'bound', { owner: null });
    await suite.budget('bound');
    suite.fixture.world.cloud.faults.blockDrain({ group: POOL });
    await replace('winpool.dev/exclude-from-drain=true');
    await suite.waitForNode(drained.metadata.name, 'to end', () => suite.terminations().length > 0);
    assert.equal((await suite.node(drained.metadata.name))?.spec.unschedulable, true);
    // EKS' lifecycle hook finally terminates it, whatever the budget allows.
    suite.fixture.world.cloud.faults.speed({ speed: 100 });
    await isGone();
    suite.fixture.world.cloud.faults.speed({ speed: 4 });
    assert.deepEqual([await suite.evictions('bound'), suite.terminations()], [[], [instanceOf(drained)]]);
  });
});
