/** Automatic updates. In an environment of its own: it publishes AMI releases and upgrades the cluster. */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { callsOf } from '../awsCalls.ts';
import {
  conditionOf,
  hasConditions,
  messageOf,
  READY,
  startTestEnv,
  type TestEnv,
  UP_TO_DATE,
} from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { freezeAws } from '../sharedWorld.ts';

const FLAGS = ['--poll-interval=200ms', '--retry-base=50ms', '--retry-max=1s', '--resync-interval=500ms'];
const POOL = 'followed';

/** Half a day from now, in UTC: closed during the whole test. */
function closedWindow() {
  const begin = new Date(Date.now() + 12 * 3_600_000);
  return { schedule: `${begin.getUTCMinutes()} ${begin.getUTCHours()} * * *`, duration: '1h', timeZone: 'Etc/UTC' };
}
/** It starts every minute, so it is always open. */
const OPEN = { schedule: '* * * * *', duration: '2m', timeZone: 'Europe/Berlin' };

describe('an automatic update', function () {
  this.timeout(120_000);
  let world: TestEnv;

  const update = (settings: object) => world.patchPool(POOL, { nodeGroup: { update: settings } });
  /** The releases that were sent, without repetitions. */
  const updates = () => {
    const calls = world.cloud.calls().filter(({ operation }) => operation.startsWith('UpdateNodegroup'));
    return [...new Set(calls.map(({ input }) => (input as { releaseVersion?: string }).releaseVersion))];
  };
  const polls = () => callsOf(world, 'DescribeNodegroup').length;
  /** Waits for the condition UpToDate of the pool, and for that release. */
  const waitForUpToDate = (condition: string, release: string) =>
    world.waitForPool(
      POOL,
      `to say ${condition} of ${release}`,
      (pool) => conditionOf(pool, 'UpToDate') === condition && messageOf(pool, 'UpToDate').includes(release),
    );
  const settledAt = (release: string) =>
    world.waitForPool(
      POOL,
      `to have release ${release} and be settled`,
      (pool) =>
        pool?.status?.nodeGroup?.releaseVersion === release &&
        pool.status.nodeGroup.update?.status !== 'InProgress' &&
        pool.status.nodes?.total === 1 &&
        hasConditions(pool, READY, 'NodesVerified=True/AllVerified', UP_TO_DATE),
    );
  /** Waits for some more polls of the group, and asserts that no update is sent. */
  async function assertNoUpdates(what: string): Promise<void> {
    world.cloud.resetCalls();
    await waitFor(() => polls() >= 4, { what: `four polls ${what}` });
    assert.deepEqual(updates(), []);
  }

  before(async function () {
    this.timeout(600_000);
    world = await startTestEnv({ speed: 4 });
    world.cloud.faults.cluster({ version: '1.35' });
    await world.operator(FLAGS).ready();
    await world.apply(poolManifest(POOL, { nodeGroup: { update: { policy: 'Automatic' } } }));
    await settledAt('1.35-2026.04.18');
  });
  after(async () => world?.stop());
  beforeEach(() => world.cloud.resetCalls());

  it('follows the upgrade of the control plane', async () => {
    world.cloud.faults.upgradeCluster({ version: '1.36' });
    const pool = await settledAt('1.36-2026.04.18');
    assert.equal(pool?.status?.nodeGroup?.kubernetesVersion, '1.36');
    assert.deepEqual(updates(), ['1.36-2026.04.18']);
  });

  it('follows a new AMI release when EKS offers it, and every new node is verified', async () => {
    const restoreSpeed = freezeAws(world);
    world.cloud.faults.release({ date: '2026.05.05' });
    try {
      await waitForUpToDate('False/ReleaseNotOffered', '1.36-2026.05.05');
    } finally {
      restoreSpeed();
    }
    const pool = await settledAt('1.36-2026.05.05');
    assert.deepEqual(pool?.status?.builds, [{ kernelVersion: '10.0.20348.5150', nodes: 1 }]);
    assert.deepEqual(updates(), ['1.36-2026.05.05']);
  });

  it('waits until a maintenance window is open, and reports the release and the start', async () => {
    const closed = closedWindow();
    await update({ maintenanceWindows: [closed] });
    world.cloud.faults.release({ date: '2026.05.12' });
    const pool = await waitForUpToDate('False/WaitingForWindow', '1.36-2026.05.12');
    const [minute = '', hour = ''] = closed.schedule.split(' ');
    const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}Z`;
    assertNames(messageOf(pool, 'UpToDate'), new RegExp(`\\b\\d{4}-\\d\\d-\\d\\dT${time}\\b`));
    assert.deepEqual(
      [conditionOf(pool, 'Ready'), conditionOf(pool, 'Reconciling')],
      ['True/EnoughNodesVerified', 'absent'],
    );
    await assertNoUpdates('while the window is closed');
    await update({ maintenanceWindows: [closed, OPEN] });
    await settledAt('1.36-2026.05.12');
    assert.deepEqual(updates(), ['1.36-2026.05.12']);
  });
});
