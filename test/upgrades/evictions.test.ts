/** A rolling update that pods block: the pool names them and the cause. */
import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { openFailure } from '../../controllers/windowspool/testing/life.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { callsOf } from '../awsCalls.ts';
import { conditionOf, messageOf } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';
import { budget, deployment, namespaceCalled } from '../userObjects.ts';

const POOL = 'guarded';
const OLD = '1.36-2026.02.17';
const NEW = '1.36-2026.03.17';
const WINDOWS = [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }];
const EVERYTHING = [{ operator: 'Exists' }];

describe('an update that pods block', () => {
  // Runs before the hook that deletes the pool: other suites watch all pods, and these can only terminate while they have nodes.
  after(() => fixture.world?.kubectl('delete', 'namespace', 'shop', '--ignore-not-found', '--timeout=60s'));
  const fixture = withOperator('--resync-interval=1s');
  const workload = (name: string, tolerations: readonly object[], node: object = {}) =>
    deployment('shop', name, 1, {
      nodeSelector: { 'eks.amazonaws.com/nodegroup': POOL, 'kubernetes.io/os': 'windows', ...node },
      tolerations,
      containers: [{ name, image: name }],
    });
  const podOf = async (app: string) => {
    const [pod] = await fixture.world.list<Stored<V1Pod>>('pods', '-n', 'shop', '-l', `app=${app}`);
    return pod?.metadata.name ?? '';
  };
  const pin = (releaseVersion: string) => fixture.world.patchPool(POOL, { nodeGroup: { releaseVersion } });

  before(async () => {
    await fixture.world.apply(poolManifest(POOL, { nodeGroup: { releaseVersion: OLD } }));
    await fixture.world.waitForReady(POOL);
    const [node = ''] = await fixture.world.nodeNamesOf(POOL);
    // The DaemonSet recreates it on this node.
    const agent = workload('agent', EVERYTHING, { 'kubernetes.io/hostname': node });
    for (const each of [
      namespaceCalled('shop'),
      budget('shop', 'cart', { minAvailable: 1 }),
      workload('cart', WINDOWS),
      agent,
    ]) {
      await fixture.world.apply(each);
    }
    const running = () =>
      fixture.world.kubectl('get', 'pods', '-n', 'shop', '--field-selector=status.phase=Running', '-o', 'name');
    await waitFor(async () => (await running()).trim().split('\n').length === 2, { what: 'two running pods' });
  });

  it('names the pods and the cause in the condition, the event and the status, and is not repeated', async () => {
    const cart = await podOf('cart');
    await pin(NEW);
    const pool = await fixture.world.waitForPool(
      POOL,
      'to report the failed update',
      // The new node is gone again, and with it the pool's share of the disruption budget.
      (found) =>
        conditionOf(found, 'NodeGroupReady') === 'False/UpdateFailed' &&
        found?.status?.nodes?.total === 1 &&
        found.status.disruption === undefined,
      60_000,
    );
    const words = `shop/${cart} (PodDisruptionBudget cart allows no disruption)`;
    const message = messageOf(pool, 'NodeGroupReady');
    assert.ok(message.includes(words), message);
    assert.match(message, /\bshop\/agent-\S+ \(tolerates every taint\b/);
    assert.ok(openFailure(pool?.status?.nodeGroup)?.message.includes(words));
    await fixture.until(`an event that names ${words}`, async () =>
      (await fixture.world.notesOf('UpdateFailed')).some((note) => note.includes(words)),
    );
    const polls = () => callsOf(fixture.world, 'DescribeNodegroup').length;
    const updates = () => callsOf(fixture.world, 'UpdateNodegroupVersion').length;
    const version = async () => (await fixture.world.pool(POOL))?.metadata.resourceVersion;
    const sent = updates();
    let [known, from] = [await version(), polls()];
    await waitFor(
      async () => {
        const now = await version();
        // Late events about the terminated node are not another poll.
        if (now !== known) [known, from] = [now, polls()];
        return polls() >= from + 3;
      },
      { what: 'three consecutive polls without a write' },
    );
    assert.equal(updates(), sent);
  });

  it('succeeds when the pods can be evicted', async () => {
    await fixture.world.kubectl('delete', 'poddisruptionbudget', 'cart', '-n', 'shop');
    await fixture.world.kubectl('delete', 'deployment', 'agent', '-n', 'shop');
    await fixture.world.kubectl('annotate', 'windowspool', POOL, 'winpool.dev/retry=1');
    await fixture.world.waitForPool(
      POOL,
      'to have the release',
      (pool) => pool?.status?.nodeGroup?.releaseVersion === NEW && conditionOf(pool, 'Stalled') === 'absent',
      60_000,
    );
  });
});
