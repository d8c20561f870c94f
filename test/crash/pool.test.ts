/** The operator is killed before and after each of its requests, and started again: always exactly one group, then none, no orphan. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Switches } from '../../hack/cloud/switches.ts';
import { startWorld, type World } from '../../hack/world/world.ts';
import { setSwitch, theWorld } from '../sharedWorld.ts';
import { killAtEach } from './killAtEach.ts';
import { isGone, isOfTheRun, type Phase, phases } from './phases.ts';
import { CrashStage } from './stage.ts';
import type { Moment } from './turnstile.ts';

const BUILD = fileURLToPath(new URL('../../hack/build.ts', import.meta.url));

/** Both answers to each open question about EKS: the kills before a request meet the first, those after it the second. */
const SWITCHES: Readonly<Record<Moment, Partial<Switches>>> = {
  before: {
    tokensAfterDelete: 'remembered',
    deleteWhileBusy: 'accept',
    deleteWhileDeleting: 'conflict',
    missingUnderTagCondition: 'notFound',
    updatesWithoutChange: 'accept',
  },
  after: {
    tokensAfterDelete: 'forgotten',
    deleteWhileBusy: 'conflict',
    deleteWhileDeleting: 'accept',
    missingUnderTagCondition: 'denied',
    updatesWithoutChange: 'reject',
  },
};

/** How often a node and the pool's status are written depends on which events of nodes come together. Nothing else may differ. */
const isRepeated = (request: string) => /^(PUT windowspools\/status|PATCH nodes(\/status)?) #/.test(request);

describe('an operator that is killed at any of its requests', function () {
  this.timeout(300_000);
  /** Two worlds, so that one computes while the other waits. */
  let stages: readonly [CrashStage, CrashStage];
  let second: World | undefined;
  let folder = '';
  let pools = 0;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-crash-'));
    // The bundle starts four times as fast as the sources, and there are 200 starts.
    await promisify(execFile)(process.execPath, [BUILD, folder]);
    second = await startWorld();
    const entry = join(folder, 'operator.mjs');
    stages = await Promise.all([CrashStage.open(await theWorld(), entry), CrashStage.open(second, entry)]);
  });
  after(async () => {
    for (const stage of stages ?? []) await stage[Symbol.asyncDispose]();
    await second?.stop();
    await rm(folder, { recursive: true, force: true });
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
  async function rehearse(phase: Phase, stage: CrashStage): Promise<string[]> {
    let requests: string[] = [];
    await enact(phase, stage, async () => {
      requests = await stage.rehearse(
        () => phase.act(stage),
        () => phase.end(stage),
      );
    });
    const counted = requests.filter(phase.numbers ?? isOfTheRun);
    for (const request of phase.includes) assert.ok(counted.includes(request), `${request} is not in ${requests}`);
    return counted;
  }

  async function killEverywhere(phase: Phase, moment: Moment): Promise<void> {
    const requests = await rehearse(phase, stages[0]);
    const enactKilled = async (stage: CrashStage, request: string): Promise<boolean> => {
      let came = false;
      try {
        await enact(phase, stage, async () => {
          came = await stage.crash({ request, moment }, () => phase.act(stage));
          await phase.end(stage);
        });
      } catch (cause) {
        throw new Error(`${phase.name}, killed ${moment} ${request}: ${(cause as Error).message}`, { cause });
      }
      return came;
    };
    await killAtEach({ stages, requests, isRepeated, enact: enactKilled });
  }

  for (const phase of phases) {
    for (const moment of ['before', 'after'] as const) {
      it(`${phase.name}, killed ${moment} each request`, async () => {
        const restore = stages.flatMap(({ world }) =>
          Object.entries(SWITCHES[moment]).map(([name, value]) => setSwitch(world, name as keyof Switches, value)),
        );
        try {
          await killEverywhere(phase, moment);
        } finally {
          for (const undo of restore) undo();
        }
      });
    }
  }
});

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
  if (runtimeClass && !runtimeClass.metadata.ownerReferences?.length) await stage.deleteRuntimeClass();
}
