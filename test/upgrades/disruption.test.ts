/** The disruption budget: pools are upgraded one after the other. */
import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { callsOf } from '../awsCalls.ts';
import { conditionOf, hasConditions, messageOf, READY } from '../fakes/testenv/testEnv.ts';
import { type Watched, watchEvents } from '../fakes/testenv/watchEvents.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const OLD = '1.36-2026.02.17';
const NEW = '1.36-2026.03.17';
const POOLS = ['turn-a', 'turn-b', 'turn-c'] as const;

describe('pools that are upgraded at the same time', () => {
  // A long resync: a pool that waits is woken by an event, not by polling.
  const fixture = withOperator('--max-pools-updating=1', '--resync-interval=10m');
  const patch = (name: string, nodeGroup: object) => fixture.world.patchPool(name, { nodeGroup });
  const settledAt = (name: string, release: string) =>
    fixture.world.waitForPool(
      name,
      `to have release ${release} and no share of the budget`,
      (pool) =>
        pool?.status?.nodeGroup?.releaseVersion === release &&
        pool.status.disruption === undefined &&
        hasConditions(pool, 'NodesVerified=True/AllVerified', READY),
      60_000,
    );
  const updating = () =>
    POOLS.filter((name) => fixture.world.cloud.state.groups.get(name)?.nodegroup.status === 'UPDATING');

  /** Watches the pools and asserts that no two of them replace nodes, in EKS or by their reservations. */
  let watch: Watched;
  const holders = new Map<string, WindowsPool['status']>();
  const broken: string[] = [];
  const reasons = new Set<string>();

  before(async () => {
    for (const name of POOLS) await fixture.world.apply(poolManifest(name, { nodeGroup: { releaseVersion: OLD } }));
    for (const name of POOLS) await settledAt(name, OLD);
    const { adminKubeconfig } = fixture.world.controlPlane;
    const path = '/apis/winpool.dev/v1alpha1/windowspools';
    watch = await watchEvents<WindowsPool>(adminKubeconfig, path, ({ type, object }) => {
      const { name } = object.metadata;
      if (type === 'DELETED' || !object.status?.disruption) holders.delete(name);
      else holders.set(name, object.status);
      if (holders.size > 1) broken.push(`${[...holders.keys()]} hold a share of the budget`);
      if (updating().length > 1) broken.push(`${updating()} are UPDATING`);
      reasons.add(conditionOf(object, 'UpToDate'));
    });
    fixture.world.cloud.setGate(({ operation }, moment) => {
      if (operation !== 'UpdateNodegroupVersion' || moment !== 'before') return;
      if (updating().length > 0) broken.push(`another was sent while ${updating()} was UPDATING`);
    });
    fixture.world.cloud.resetCalls();
  });
  after(async () => {
    fixture.world?.cloud.setGate(() => {});
    await watch?.stop();
  });

  it('take turns, and name the pool that they wait for', async () => {
    await Promise.all(POOLS.map((name) => patch(name, { releaseVersion: NEW })));
    const waiting = await Promise.any(
      POOLS.map((name) =>
        fixture.world.waitForPool(
          name,
          'to wait',
          (pool) => conditionOf(pool, 'Reconciling') === 'True/WaitingForBudget',
          20_000,
        ),
      ),
    );
    assertNames(
      messageOf(waiting, 'UpToDate'),
      '1.36-2026.02.17 (expected 1.36-2026.03.17)',
      /\bWindowsPool turn-[abc]\b/,
      '--max-pools-updating=1',
    );
    assert.equal(conditionOf(waiting, 'Ready'), 'True/EnoughNodesVerified');
    for (const name of POOLS) await settledAt(name, NEW);
    assert.deepEqual(broken, []);
    assert.ok(reasons.has('False/WaitingForBudget'), `${[...reasons]}`);
    const sent = callsOf(fixture.world, 'UpdateNodegroupVersion');
    assert.deepEqual(
      sent.map(({ input, result }) => [(input as { nodegroupName: string }).nodegroupName, result]).sort(),
      POOLS.map((name) => [name, 'ok']),
    );
  });
});
