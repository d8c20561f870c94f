/** A rolling update that pods keep from its end: the pool names them, and what keeps them. */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const POOL = 'guarded';
const OLD = '1.36-2026.02.17';
const NEW = '1.36-2026.03.17';
const WINDOWS = [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }];
const EVERYTHING = [{ operator: 'Exists' }];

describe('an update that pods keep from its end', () => {
  // Before the hook that ends the pool: other suites watch all pods there are, and these end while they have nodes.
  after(() => stage.world?.kubectl('delete', 'namespace', 'shop', '--ignore-not-found', '--timeout=60s'));
  const stage = withOperator('--resync-interval=1s');
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
  const deployment = (name: string, tolerations: readonly object[], node: object = {}) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'shop', name },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          nodeSelector: { 'eks.amazonaws.com/nodegroup': POOL, 'kubernetes.io/os': 'windows', ...node },
          tolerations,
          containers: [{ name, image: name }],
        },
      },
    },
  });
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'shop', name: 'cart' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'cart' } } },
  };
  const podOf = async (app: string) =>
    (
      await stage.world.kubectl(
        'get',
        'pods',
        '-n',
        'shop',
        '-l',
        `app=${app}`,
        '-o',
        'jsonpath={.items[*].metadata.name}',
      )
    ).trim();
  const pin = (releaseVersion: string) => stage.world.patchPool(POOL, { nodeGroup: { releaseVersion } });

  before(async () => {
    await stage.world.apply(poolManifest(POOL, { nodeGroup: { releaseVersion: OLD } }));
    await stage.world.waitForPool(POOL, 'to be Ready', (pool) => conditionOf(pool, 'Ready') === 'True/Verified');
    const query = ['nodes', '-l', `eks.amazonaws.com/nodegroup=${POOL}`, '-o', 'jsonpath={.items[*].metadata.name}'];
    // It comes back to this one, whatever others there are by then.
    const agent = deployment('agent', EVERYTHING, {
      'kubernetes.io/hostname': await stage.world.kubectl('get', ...query),
    });
    for (const each of [namespace, budget, deployment('cart', WINDOWS), agent]) {
      await stage.world.apply(each);
    }
    const running = () =>
      stage.world.kubectl('get', 'pods', '-n', 'shop', '--field-selector=status.phase=Running', '-o', 'name');
    await waitFor(async () => (await running()).trim().split('\n').length === 2, {
      what: 'two running pods',
      timeoutMs: 30_000,
    });
  });

  it('names the pods and what keeps them in condition, event and status, and is not asked again', async () => {
    const cart = await podOf('cart');
    await pin(NEW);
    const pool = await stage.world.waitForPool(
      POOL,
      'to tell that the update failed',
      // The node that the update brought has gone again, and with it the pool's share of the disruption budget.
      (found) =>
        conditionOf(found, 'NodeGroupReady') === 'False/UpdateFailed' &&
        found?.status?.nodes?.total === 1 &&
        found.status.disruption === undefined,
      60_000,
    );
    const words = `shop/${cart} (PodDisruptionBudget cart allows no disruption)`;
    const reported = pool?.status?.conditions?.find(({ type }) => type === 'NodeGroupReady')?.message ?? '';
    assert.ok(reported.includes(words), reported);
    assert.match(reported, /shop\/agent-\S+ \(tolerates every taint, so it comes back to a cordoned node\)/);
    assert.ok(pool?.status?.nodeGroup?.failedTarget?.message.includes(words));
    await waitFor(
      async () =>
        (
          await stage.world.kubectl(
            'get',
            'events.events.k8s.io',
            '--field-selector=reason=UpdateFailed',
            '-A',
            '-o',
            'jsonpath={.items[*].note}',
          )
        ).includes(words),
      { what: `an event that names ${words}`, timeoutMs: 10_000 },
    );
    const looks = () => stage.world.cloud.calls().filter(({ operation }) => operation === 'DescribeNodegroup').length;
    const updates = () =>
      stage.world.cloud.calls().filter(({ operation }) => operation === 'UpdateNodegroupVersion').length;
    const version = async () => (await stage.world.pool(POOL))?.metadata.resourceVersion;
    const sent = updates();
    let [known, from] = [await version(), looks()];
    await waitFor(
      async () => {
        const now = await version();
        // Late events about the terminated node are not another poll.
        if (now !== known) [known, from] = [now, looks()];
        return looks() >= from + 3;
      },
      { what: 'three looks in a row after which nothing is written', timeoutMs: 30_000 },
    );
    assert.equal(updates(), sent);
  });

  it('goes well when the pods give way', async () => {
    await stage.world.kubectl('delete', 'poddisruptionbudget', 'cart', '-n', 'shop');
    await stage.world.kubectl('delete', 'deployment', 'agent', '-n', 'shop');
    await stage.world.kubectl('annotate', 'windowspool', POOL, 'winpool.dev/retry=1');
    await stage.world.waitForPool(
      POOL,
      'to have the release',
      (pool) => pool?.status?.nodeGroup?.releaseVersion === NEW && conditionOf(pool, 'Stalled') === 'absent',
      60_000,
    );
  });
});
