/**
 * The clock of the operator's machine is wrong by minutes or a day, and is set in the middle of a drain. No node is terminated with pods on it, none is
 * remediated early, and updates start in their maintenance windows.
 */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { callsOf } from '../awsCalls.ts';
import { hasConditions, READY } from '../fakes/testenv/testEnv.ts';
import { instanceOf, withTerminatingNodes } from '../nodeOperations/terminatingNodesFixture.ts';
import { poolManifest } from '../pools.ts';

const SHIFTED_CLOCK = fileURLToPath(new URL('shiftedClock.ts', import.meta.url));
const FLAGS = [
  '--poll-interval=200ms',
  '--resync-interval=1s',
  '--retry-base=50ms',
  '--leader-elect=false',
  '--max-pools-updating=3',
];
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const [OLD, NEW] = ['1.36-2026.02.17', '1.36-2026.04.18'];
/** Of the operator, over a node that it drains and over a group: at most one each second. */
const PASSES = 5;
const EVERYTHING = { spec: { tolerations: [{ operator: 'Exists' }] } };

interface Case {
  readonly name: string;
  readonly what: string;
  /** How far the clock is ahead of that of the API server, in milliseconds: at first, and after it is set. */
  readonly shifts: readonly [number, number];
}

const cases: readonly Case[] = [
  { name: 'day', what: 'a day behind, and is then set a day ahead', shifts: [-DAY, DAY] },
  { name: 'minutes', what: '10 minutes ahead, and is then set 10 minutes behind', shifts: [10 * MINUTE, -10 * MINUTE] },
];

/** A maintenance window that is open for some minutes around a time (epoch milliseconds), on that day only. */
function windowAround(time: number) {
  const begin = new Date(Math.floor((time - 4 * MINUTE) / MINUTE) * MINUTE);
  const [minute, hour, day, month] = [
    begin.getUTCMinutes(),
    begin.getUTCHours(),
    begin.getUTCDate(),
    begin.getUTCMonth() + 1,
  ];
  return { schedule: `${minute} ${hour} ${day} ${month} *`, duration: '9m', timeZone: 'Etc/UTC' };
}

describe('on a machine whose clock is', () => {
  const suite = withTerminatingNodes();
  const { fixture } = suite;

  const updatesOf = (pool: string) => callsOf(fixture.world, 'UpdateNodegroupVersion', pool).length;
  const readsOf = (pool: string) => callsOf(fixture.world, 'DescribeNodegroup', pool).length;

  for (const { name, what, shifts } of cases)
    it(`${what}, nodes are drained and remediated as on any other`, async () => {
      const { world } = fixture;
      const [pool, inside, outside] = [name, `${name}-inside`, `${name}-outside`];
      await world.apply(
        poolManifest(pool, {
          // A release that fails in one pool is held back in the others.
          nodeGroup: { scaling: { minSize: 2, maxSize: 4 }, releaseVersion: OLD },
          disruption: { maxUnavailable: 2, drain: { timeout: '5m' } },
          remediation: { policy: 'Replace', unhealthyAfter: '5m', maxUnhealthy: '100%' },
        }),
      );
      for (const each of [inside, outside])
        await world.apply(poolManifest(each, { nodeGroup: { releaseVersion: OLD } }));
      for (const each of [inside, outside]) await suite.settled(each, 1);
      await suite.settled(pool, 2);
      world.cloud.resetCalls();

      await fixture.operator.stop();
      fixture.operator = await world
        .operator(FLAGS, {
          nodeFlags: [`--import=${SHIFTED_CLOCK}`],
          environment: { CLOCK_SHIFT_MS: String(shifts[0]), NEXT_CLOCK_SHIFT_MS: String(shifts[1]) },
        })
        .ready();
      const logged = fixture.operator.lines[0]?.time;
      assert.ok(Math.abs(Date.parse(String(logged)) - Date.now() - shifts[0]) < MINUTE, `the clock is ${logged}`);

      const [drained, failing] = await suite.nodes(pool);
      assert.ok(drained && failing);
      // It tolerates the cordon: the operator evicts it because it is older than the drain.
      await suite.pod(drained.metadata.name, `${name}-kept`, EVERYTHING);
      await suite.budget(`${name}-kept`);
      await suite.annotate(drained.metadata.name, 'winpool.dev/replace=true');
      world.cloud.faults.patchKernel({ node: failing.metadata.name, build: '10.0.17763' });
      await suite.becomesLeaving(pool, 'True/DrainBlocked');
      await world.waitForPool(pool, 'to report the other node', (found) => found?.status?.nodes?.failing === 1);
      const automatic = (window: object) => ({
        nodeGroup: { releaseVersion: null, update: { policy: 'Automatic', maintenanceWindows: [window] } },
      });
      await world.patchPool(outside, automatic(windowAround(Date.now() + shifts[0])));
      await world.patchPool(inside, automatic(windowAround(Date.now())));

      const passes = async (count: number) => {
        const before = (await suite.evictions(`${name}-kept`)).length;
        await waitFor(async () => (await suite.evictions(`${name}-kept`)).length >= before + count, {
          what: `${count} passes over the node`,
          timeoutMs: 40_000,
          explain: () => fixture.operator.tail(),
        });
      };
      await passes(PASSES);
      assert.deepEqual(suite.terminations(), []);
      await world.waitForPool(
        inside,
        'to be updated',
        (found) => found?.status?.nodeGroup?.releaseVersion === NEW && hasConditions(found, READY),
      );
      assert.deepEqual([updatesOf(inside), updatesOf(outside)], [1, 0]);

      process.kill(fixture.operator.pid, 'SIGUSR2');
      await world.patchPool(outside, automatic(windowAround(Date.now() + shifts[1])));
      const reads = readsOf(outside);
      await passes(PASSES);
      await waitFor(() => readsOf(outside) >= reads + PASSES, {
        what: `${PASSES} reads of group ${outside}`,
        timeoutMs: 20_000,
        explain: () => fixture.operator.tail(),
      });
      assert.deepEqual([suite.terminations(), updatesOf(inside), updatesOf(outside)], [[], 1, 0]);

      await suite.kubectl('delete', 'pdb', `${name}-kept-budget`);
      await suite.waitForNode(drained.metadata.name, 'to go', (found) => found === undefined);
      assert.deepEqual(suite.terminations(), [instanceOf(drained)]);
      const codes = (await suite.evictions(`${name}-kept`)).map(([, code]) => code);
      assert.deepEqual([new Set(codes.slice(0, -1)), codes.at(-1)], [new Set([429]), 201]);
      await world.kubectl('delete', 'windowspools', '--all', '--timeout=60s');
      await fixture.operator.stop();
      await fixture.restart();
    });
});
