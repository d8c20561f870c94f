/**
 * The operator's process is killed before and after its requests, and started again: always exactly one group, then none, no orphan. At all of them
 * with `make crash`, else at a sample; poolInMemory.test.ts visits all of them each time.
 */
import assert from 'node:assert/strict';
import type { Switches } from '../../hack/localaws/switches.ts';
import { startTestEnv, type TestEnv } from '../../hack/testenv/testEnv.ts';
import { setSwitch, theWorld } from '../sharedWorld.ts';
import { MOMENTS, type Recording, samplePoints, visitsAll } from './crashPoints.ts';
import { killAtEach, shareOut } from './killAtEach.ts';
import { isGone, isOfTheRun, type Phase, phases } from './phases.ts';
import { CrashStage } from './stage.ts';
import { SWITCHES } from './switches.ts';
import type { Moment } from './turnstile.ts';

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
  /** Two worlds, so that one computes while the other waits. */
  let stages: readonly [CrashStage, CrashStage];
  let second: TestEnv | undefined;
  let pools = 0;
  let sample: ReturnType<typeof samplePoints> = new Map();
  before(async () => {
    second = await startTestEnv();
    stages = await Promise.all([CrashStage.open(await theWorld()), CrashStage.open(second)]);
    if (visitsAll) return;
    const recordings = await shareOut(stages, phases, async (stage, phase): Promise<Recording> => {
      const before = await rehearse(phase, 'before', stage);
      return { phase: phase.name, requests: { before, after: await rehearse(phase, 'after', stage) } };
    });
    sample = samplePoints(recordings, isRepeated);
  });
  after(async () => {
    for (const stage of stages ?? []) await stage[Symbol.asyncDispose]();
    await second?.stop();
  });

  async function enact(phase: Phase, stage: CrashStage, run: () => Promise<void>): Promise<void> {
    pools += 1;
    stage.next(`crash-${pools}`);
    try {
      await phase.prepare?.(stage);
      await stage.quiet();
      await run();
      stage.assertClean();
    } catch (error) {
      // The other kills and phases can still go well.
      await clear(stage).catch(() => undefined);
      throw error;
    }
    await clear(stage);
  }

  /** The names of the requests that the phase takes when nobody is killed. */
  async function rehearse(phase: Phase, moment: Moment, stage: CrashStage): Promise<string[]> {
    let requests: string[] = [];
    await withAnswers(stage, moment, () =>
      enact(phase, stage, async () => {
        requests = await stage.rehearse(
          () => phase.act(stage),
          () => phase.end(stage),
        );
      }),
    );
    const { numbers = isOfTheRun, own = () => true } = phase;
    const counted = requests.filter(numbers).filter(own);
    for (const request of phase.includes) assert.ok(counted.includes(request), `${request} is not in ${requests}`);
    return counted;
  }

  async function killAtAll(phase: Phase, moment: Moment, requests: readonly string[]): Promise<void> {
    const enactKilled = async (stage: CrashStage, request: string): Promise<boolean> => {
      let came = false;
      try {
        await withAnswers(stage, moment, () =>
          enact(phase, stage, async () => {
            came = await stage.crash({ request, moment }, () => phase.act(stage));
            await phase.end(stage);
          }),
        );
      } catch (cause) {
        throw new Error(`${phase.name}, killed ${moment} ${request}: ${(cause as Error).message}`, { cause });
      }
      return came;
    };
    await killAtEach({ stages, requests, isRepeated, enact: enactKilled });
  }

  if (visitsAll)
    for (const phase of phases)
      for (const moment of MOMENTS)
        it(`${phase.name}, killed ${moment} each request`, async () =>
          killAtAll(phase, moment, await rehearse(phase, moment, stages[0])));
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
async function withAnswers({ world }: CrashStage, moment: Moment, run: () => Promise<void>): Promise<void> {
  const restore = Object.entries(ANSWERS[moment]).map(([name, value]) =>
    setSwitch(world, name as keyof Switches, value),
  );
  try {
    await run();
  } finally {
    for (const undo of restore) undo();
  }
}

/** Makes room for the next pool, whatever the last one is like. */
async function clear(stage: CrashStage): Promise<void> {
  stage.start();
  stage.retained = true;
  stage.held = false;
  stage.world.cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
  if (await stage.pool()) await stage.delete();
  await stage.until('to be gone', isGone);
  for (const { nodegroupName = '' } of stage.groups()) stage.world.cloud.faults.consoleDelete({ group: nodegroupName });
  await stage.settle();
  const runtimeClass = await stage.runtimeClass();
  if (runtimeClass && !runtimeClass.metadata?.ownerReferences?.length) await stage.deleteRuntimeClass();
}
