/**
 * The operator's process is killed before and after its requests, and started again: always exactly one group, then none, no orphan. At all of them
 * with `make crash`, else at a sample; poolInMemory.test.ts visits all of them each time.
 */
import assert from 'node:assert/strict';
import type { Switches } from '../fakes/localaws/switches.ts';
import { startTestEnv, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { setSwitch, theWorld } from '../sharedWorld.ts';
import { ClusterFixture } from './clusterFixture.ts';
import { MOMENTS, type Recording, samplePoints, visitsAll } from './crashPoints.ts';
import { killAtEach, shareAmong } from './killAtEach.ts';
import { isGone, isOfTheRun, type Phase, phases } from './phases.ts';
import type { Moment } from './requestGate.ts';
import { SWITCHES } from './switches.ts';

/** The kills before a request meet the first answers to the open questions about EKS, those after it the second. */
const ANSWERS: Readonly<Record<Moment, Partial<Switches>>> = { before: SWITCHES[0], after: SWITCHES[1] };

/**
 * How often a node, the pool's status and events are written depends on which changes of nodes and of the node group one reconcile sees together.
 * Nothing else may differ.
 */
const isRepeated = (request: string) =>
  /^(PUT windowspools\/status|PATCH nodes(\/status)?|POST events) #/.test(request);

describe('an operator that is killed at any of its requests', function () {
  this.timeout(900_000);
  /** Two fixtures, so that one computes while the other waits. */
  let fixtures: readonly [ClusterFixture, ClusterFixture];
  let second: TestEnv | undefined;
  let pools = 0;
  let sample: ReturnType<typeof samplePoints> = new Map();
  before(async () => {
    second = await startTestEnv();
    fixtures = await Promise.all([ClusterFixture.open(await theWorld()), ClusterFixture.open(second)]);
    if (visitsAll) return;
    const recordings = await shareAmong(fixtures, phases, async (fixture, phase): Promise<Recording> => {
      const before = await recordRequests(phase, 'before', fixture);
      return { phase: phase.name, requests: { before, after: await recordRequests(phase, 'after', fixture) } };
    });
    sample = samplePoints(recordings, isRepeated);
  });
  after(async () => {
    for (const fixture of fixtures ?? []) await fixture[Symbol.asyncDispose]();
    await second?.stop();
  });

  async function perform(phase: Phase, fixture: ClusterFixture, run: () => Promise<void>): Promise<void> {
    pools += 1;
    fixture.next(`crash-${pools}`);
    try {
      await phase.prepare?.(fixture);
      await fixture.quiet();
      await run();
      fixture.assertClean();
    } catch (error) {
      // The other kills and phases can still go well.
      await clear(fixture).catch(() => undefined);
      throw error;
    }
    await clear(fixture);
  }

  /** The names of the requests of the phase without a kill. */
  async function recordRequests(phase: Phase, moment: Moment, fixture: ClusterFixture): Promise<string[]> {
    let requests: string[] = [];
    await withAnswers(fixture, moment, () =>
      perform(phase, fixture, async () => {
        requests = await fixture.recordRequests(
          () => phase.act(fixture),
          () => phase.end(fixture),
        );
      }),
    );
    const { numbers = isOfTheRun, own = () => true } = phase;
    const counted = requests.filter(numbers).filter(own);
    for (const request of phase.includes) assert.ok(counted.includes(request), `${request} is not in ${requests}`);
    return counted;
  }

  async function killAtAll(phase: Phase, moment: Moment, requests: readonly string[]): Promise<void> {
    const runKilled = async (fixture: ClusterFixture, request: string): Promise<boolean> => {
      let wasSent = false;
      try {
        await withAnswers(fixture, moment, () =>
          perform(phase, fixture, async () => {
            wasSent = await fixture.crash({ request, moment }, () => phase.act(fixture));
            await phase.end(fixture);
          }),
        );
      } catch (cause) {
        throw new Error(`${phase.name}, killed ${moment} ${request}: ${(cause as Error).message}`, { cause });
      }
      return wasSent;
    };
    await killAtEach({ fixtures, requests, isRepeated, run: runKilled });
  }

  if (visitsAll)
    for (const phase of phases)
      for (const moment of MOMENTS)
        it(`${phase.name}, killed ${moment} each request`, async () =>
          killAtAll(phase, moment, await recordRequests(phase, moment, fixtures[0])));
  else
    for (const phase of phases) {
      it(`${phase.name}, killed at one request of each kind`, async () => {
        const points = sample.get(phase.name) ?? [];
        assert.ok(points.length > 0, 'the sample has no point of the phase');
        for (const moment of MOMENTS) {
          const requests = points.filter((point) => point.moment === moment).map(({ request }) => request);
          await killAtAll(phase, moment, requests);
        }
      });
    }
});

/** Runs something while the local AWS answers the open questions about EKS as it does at that moment. */
async function withAnswers({ world }: ClusterFixture, moment: Moment, run: () => Promise<void>): Promise<void> {
  const restore = Object.entries(ANSWERS[moment]).map(([name, value]) =>
    setSwitch(world, name as keyof Switches, value),
  );
  try {
    await run();
  } finally {
    for (const undo of restore) undo();
  }
}

/** Removes the last pool, whatever state it is in. */
async function clear(fixture: ClusterFixture): Promise<void> {
  fixture.start();
  fixture.retained = true;
  fixture.held = false;
  fixture.world.cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
  if (await fixture.pool()) await fixture.delete();
  await fixture.until('to be gone', isGone);
  for (const { nodegroupName = '' } of fixture.groups())
    fixture.world.cloud.faults.consoleDelete({ group: nodegroupName });
  await fixture.settle();
  const runtimeClass = await fixture.runtimeClass();
  if (runtimeClass && !runtimeClass.metadata?.ownerReferences?.length) await fixture.deleteRuntimeClass();
}
