/** The disruption budget: pools that are to be upgraded at the same time take turns. */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf, messageOf } from '../../hack/testenv/testEnv.ts';
import { type Watched, watchEvents } from '../../hack/testenv/watchEvents.ts';
import { poolManifest } from '../pools.ts';
import { slowed, withOperator } from '../sharedWorld.ts';

const OLD = '1.36-2026.02.17';
const NEW = '1.36-2026.03.17';
const NEWER = '1.36-2026.04.18';
const POOLS = ['turn-a', 'turn-b', 'turn-c'] as const;

describe('pools that are to be upgraded at the same time', () => {
  // A long resync: a pool that waits is woken by an event, not by polling.
  const stage = withOperator('--max-pools-updating=1', '--resync-interval=10m');
  const patch = (name: string, nodeGroup: object) => stage.world.patchPool(name, { nodeGroup });
  const settledAt = (name: string, release: string) =>
    stage.world.waitForPool(
      name,
      `to have release ${release} and no share of the budget`,
      (pool) =>
        pool?.status?.nodeGroup?.releaseVersion === release &&
        pool.status.disruption === undefined &&
        conditionOf(pool, 'NodesVerified') === 'True/AllVerified' &&
        conditionOf(pool, 'Ready') === 'True/Verified',
      60_000,
    );
  const updating = () =>
    POOLS.filter((name) => stage.world.cloud.state.groups.get(name)?.nodegroup.status === 'UPDATING');

  /** Watches the pools: at no event do two lose nodes, in EKS or by their claims. */
  let watch: Watched;
  const holders = new Map<string, WindowsPool['status']>();
  const broken: string[] = [];
  const reasons = new Set<string>();

  before(async () => {
    for (const name of POOLS) await stage.world.apply(poolManifest(name, { nodeGroup: { releaseVersion: OLD } }));
    for (const name of POOLS) await settledAt(name, OLD);
    const { adminKubeconfig } = stage.world.controlPlane;
    const path = '/apis/winpool.dev/v1alpha1/windowspools';
    watch = await watchEvents<WindowsPool>(adminKubeconfig, path, ({ type, object }) => {
      const { name } = object.metadata;
      if (type === 'DELETED' || !object.status?.disruption) holders.delete(name);
      else holders.set(name, object.status);
      if (holders.size > 1) broken.push(`${[...holders.keys()]} have claims`);
      if (updating().length > 1) broken.push(`${updating()} are UPDATING`);
      reasons.add(conditionOf(object, 'UpToDate'));
    });
    stage.world.cloud.setGate(({ operation }, moment) => {
      if (operation !== 'UpdateNodegroupVersion' || moment !== 'before') return;
      if (updating().length > 0) broken.push(`another was sent while ${updating()} was UPDATING`);
    });
    stage.world.cloud.resetCalls();
  });
  after(async () => {
    stage.world?.cloud.setGate(() => {});
    await watch?.stop();
  });

  it('take turns, and say for whom they wait', async () => {
    await Promise.all(POOLS.map((name) => patch(name, { releaseVersion: NEW })));
    const waiting = await Promise.any(
      POOLS.map((name) =>
        stage.world.waitForPool(
          name,
          'to wait',
          (pool) => conditionOf(pool, 'Reconciling') === 'True/WaitingForBudget',
          20_000,
        ),
      ),
    );
    assert.match(
      messageOf(waiting, 'UpToDate'),
      /release is 1\.36-2026\.02\.17 and the spec says 1\.36-2026\.03\.17\. The rolling update waits: turn-[abc] loses nodes now, and --max-pools-updating is 1\.$/,
    );
    assert.equal(conditionOf(waiting, 'Ready'), 'True/Verified');
    for (const name of POOLS) await settledAt(name, NEW);
    assert.deepEqual(broken, []);
    assert.ok(reasons.has('False/WaitingForBudget'), `${[...reasons]}`);
    const calls = stage.world.cloud.calls();
    const sent = calls.filter(({ operation }) => operation === 'UpdateNodegroupVersion');
    assert.deepEqual(
      sent.map(({ input, result }) => [(input as { nodegroupName: string }).nodegroupName, result]).sort(),
      POOLS.map((name) => [name, 'ok']),
    );
  });

  it('ask AWS for nothing while they wait', async () => {
    await patch('turn-a', { releaseVersion: NEWER });
    await waitFor(() => updating().includes('turn-a'), { what: 'the update of turn-a', timeoutMs: 60_000 });
    const callsAbout = (name: string) =>
      stage.world.cloud
        .calls()
        .filter(({ input }) => (input as { nodegroupName?: string }).nodegroupName === name)
        .map(({ operation }) => operation);
    const goOn = slowed(stage.world);
    try {
      await patch('turn-b', { releaseVersion: NEWER });
      await stage.world.waitForPool(
        'turn-b',
        'to wait',
        (pool) => conditionOf(pool, 'UpToDate') === 'False/WaitingForBudget',
      );
      stage.world.cloud.resetCalls();
      await patch('turn-b', { tags: { cost: '1' } });
      await waitFor(() => callsAbout('turn-b').length > 0, { what: 'a look for the patch', timeoutMs: 60_000 });
    } finally {
      goOn();
    }
    await settledAt('turn-a', NEWER);
    await settledAt('turn-b', NEWER);
    const before = callsAbout('turn-b').slice(0, callsAbout('turn-b').indexOf('UpdateNodegroupVersion'));
    // One reconcile for the patch, and one when its turn came.
    assert.deepEqual(before, ['DescribeNodegroup', 'DescribeNodegroup']);
    assert.deepEqual(broken, []);
  });

  it('do not wait for ever for a share that an operator left when it was killed', async () => {
    await stage.operator.kill();
    const disruption = {
      cause: 'Upgrade',
      target: 'x',
      change: 'release 1.36-2026.05.19',
      since: '2026-01-01T00:00:00Z',
    };
    const status = JSON.stringify({ status: { disruption } });
    await stage.world.kubectl('patch', 'windowspool', 'turn-a', '--subresource=status', '--type=merge', '-p', status);
    await patch('turn-c', { releaseVersion: NEWER });
    await stage.restart();
    await settledAt('turn-c', NEWER);
    await settledAt('turn-a', NEWER);
    assert.deepEqual(broken, []);
  });
});
