/** Which pods must leave a node before it ends, and how much time each gets: by the real eviction API. */
import assert from 'node:assert/strict';
import { poolManifest } from '../pools.ts';
import { firstOf, instanceOf, type Node, withTerminatingNodes } from './terminatingNodesFixture.ts';

const POOL = 'emptied';
const REPLACE = 'winpool.dev/replace';

describe('the pods of a node that is to be replaced', () => {
  const on = withTerminatingNodes();
  let leaver: Node;
  const replace = (...more: readonly string[]) => on.annotate(leaver.metadata.name, `${REPLACE}=true`, ...more);
  const isGone = () => on.nodeIs(leaver.metadata.name, 'to go', (found) => found?.metadata.uid !== leaver.metadata.uid);
  const withDrain = (drain: object | null) => on.stage.world.patchPool(POOL, { disruption: { drain } });

  before(async () => {
    await on.stage.world.apply(poolManifest(POOL, { disruption: { maxUnavailable: 1 } }));
    await on.settled(POOL, 1);
  });
  beforeEach(async () => {
    await on.settled(POOL, 1);
    leaver = firstOf(await on.nodes(POOL));
    on.stage.world.cloud.resetCalls();
  });
  afterEach(() => withDrain(null));

  it('get their own grace, and one second where that is 0', async () => {
    for (const [name, terminationGracePeriodSeconds] of [
      ['patient', 77],
      ['hasty', 0],
    ] as const)
      await on.pod(leaver.metadata.name, name, { spec: { terminationGracePeriodSeconds } });
    await on.pod(leaver.metadata.name, 'usual');
    await replace();
    await isGone();
    const graces = async (name: string) => (await on.evictions(name)).map(([grace]) => grace);
    assert.deepEqual([await graces('patient'), await graces('hasty'), await graces('usual')], [[77], [1], [30]]);
  });

  it('get the grace that the spec says, also where a budget keeps them at first', async () => {
    await withDrain({ gracePeriod: '1m30s' });
    for (const name of ['short', 'guarded'])
      await on.pod(leaver.metadata.name, name, { spec: { terminationGracePeriodSeconds: 5 } });
    await on.budget('guarded');
    await replace();
    await on.leavingIs(POOL, 'True/DrainBlocked');
    await on.kubectl('delete', 'pdb', 'guarded-budget');
    await isGone();
    const all = [...(await on.evictions('short')), ...(await on.evictions('guarded'))];
    assert.ok(all.length > 2);
    assert.deepEqual([...new Set(all.map(([grace]) => grace))], [90]);
  });

  it('of DaemonSets, those that the kubelet makes itself and those that are finished are left', async () => {
    const { name } = leaver.metadata;
    const labels = { app: 'daemon' };
    const spec = {
      nodeSelector: { 'eks.amazonaws.com/nodegroup': POOL },
      tolerations: [{ operator: 'Exists' }],
      containers: [{ name: 'main', image: 'main' }],
    };
    await on.stage.world.apply({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { namespace: 'tenants', name: 'daemon' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
    await on.kubectl('rollout', 'status', 'daemonset/daemon', '--timeout=30s');
    // As the kubelet does: the pod of a file has this annotation, and its node for an owner.
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: leaver.metadata.uid };
    await on.pod(name, 'mirror', { owner, annotations: { 'kubernetes.io/config.mirror': 'a1b2' } });
    for (const phase of ['Succeeded', 'Failed']) {
      const pod = phase.toLowerCase();
      await on.pod(name, pod);
      const status = JSON.stringify({ status: { phase } });
      await on.kubectl('patch', 'pod', pod, '--subresource=status', '--type=merge', '-p', status);
    }
    await replace();
    await isGone();
    const daemon = (await on.pods()).filter((pod) => pod.startsWith('daemon-'));
    for (const pod of ['mirror', 'succeeded', 'failed', ...daemon]) assert.deepEqual(await on.evictions(pod), [], pod);
    assert.deepEqual(on.ended(), [instanceOf(leaver)]);
  });

  it('with an emptyDir volume are evicted, or keep the node, as the spec says', async () => {
    await withDrain({ deleteEmptyDirData: false });
    await on.pod(leaver.metadata.name, 'plain');
    await on.pod(leaver.metadata.name, 'cache', { spec: { volumes: [{ name: 'data', emptyDir: {} }] } });
    await replace();
    await on.leavingIs(POOL, 'True/DrainBlocked');
    assert.match(await on.reported(POOL), /pod tenants\/cache has an emptyDir volume/i);
    // A drain that cannot end does not begin.
    assert.deepEqual(await on.pods(), ['cache', 'plain']);
    await withDrain({ deleteEmptyDirData: true });
    await isGone();
    assert.deepEqual(await on.pods(), []);
  });

  it('without a controller keep the node, or are evicted, as the spec says', async () => {
    await on.pod(leaver.metadata.name, 'bare', { owner: null });
    await replace();
    await on.leavingIs(POOL, 'True/DrainBlocked');
    assert.match(await on.reported(POOL), /pod tenants\/bare has no controller that makes it anew/i);
    assert.deepEqual(await on.pods(), ['bare']);
    await withDrain({ evictBarePods: true });
    await isGone();
    assert.deepEqual(await on.evictions('bare'), [[30, 201]]);
  });

  it('end with the node where that is excluded from the drain: none is evicted', async () => {
    await on.pod(leaver.metadata.name, 'bound', { owner: null });
    await on.budget('bound');
    on.stage.world.cloud.faults.blockDrain({ group: POOL });
    await replace('winpool.dev/exclude-from-drain=true');
    await on.nodeIs(leaver.metadata.name, 'to end', () => on.ended().length > 0);
    assert.equal((await on.node(leaver.metadata.name))?.spec.unschedulable, true);
    // EKS' lifecycle hook terminates it in the end, whatever the budget allows.
    on.stage.world.cloud.faults.speed({ speed: 100 });
    await isGone();
    on.stage.world.cloud.faults.speed({ speed: 4 });
    assert.deepEqual([await on.evictions('bound'), on.ended()], [[], [instanceOf(leaver)]]);
  });
});
