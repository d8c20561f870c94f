/** The operator is killed before and after each of its requests, in memory: always exactly one group, then none, no orphan. */
import assert from 'node:assert/strict';
import { distinctPoints, kindOf, MOMENTS, type TimedRequest } from './crashPoints.ts';
import { launchSettingsPhases } from './launchSettingsPhases.ts';
import { MemoryFixture } from './memoryFixture.ts';
import { isNumberedInMemory } from './memoryWorld.ts';
import { type Phase, phases } from './phases.ts';
import type { CrashPoint } from './requestGate.ts';
import { SWITCHES } from './switches.ts';

type Answers = (typeof SWITCHES)[number];

/** Brings a new world to where the phase begins. */
async function prepared(phase: Phase, answers: Answers): Promise<MemoryFixture> {
  const fixture = new MemoryFixture('web', answers);
  await phase.prepare?.(fixture);
  return fixture;
}

/** The requests of the phase without a kill. */
async function recordRequests(phase: Phase, answers: Answers): Promise<readonly TimedRequest[]> {
  const fixture = await prepared(phase, answers);
  const requests = await fixture.recordRequests(
    () => phase.act(fixture),
    () => phase.end(fixture),
  );
  fixture.assertClean();
  const kinds = requests.map(({ request }) => kindOf(request));
  for (const request of phase.includes.map(kindOf).filter(isNumberedInMemory))
    assert.ok(kinds.includes(request), `${request} is not in ${kinds}`);
  return requests;
}

function pointsOf({ own = () => true }: Phase, requests: readonly TimedRequest[]): readonly CrashPoint[] {
  const counted = requests.filter(({ request }) => own(request));
  return MOMENTS.flatMap((moment) => distinctPoints(counted, moment).map((request) => ({ request, moment })));
}

async function killAt(phase: Phase, answers: Answers, point: CrashPoint): Promise<void> {
  const fixture = await prepared(phase, answers);
  assert.ok(await fixture.crash(point, () => phase.act(fixture)), 'the request did not come');
  await phase.end(fixture);
  await fixture.quiet();
  fixture.assertClean();
}

describe('an operator in memory that is killed at any of its requests', function () {
  this.timeout(300_000);
  for (const phase of [...phases, ...launchSettingsPhases]) {
    it(`${phase.name}, killed before and after each request`, async () => {
      for (const answers of SWITCHES) {
        const points = pointsOf(phase, await recordRequests(phase, answers));
        assert.ok(points.length > 0, 'the phase has no request of its own');
        for (const point of points) {
          await killAt(phase, answers, point).catch((cause: Error) => {
            throw new Error(`${phase.name}, killed ${point.moment} ${point.request}: ${cause.message}`, { cause });
          });
        }
      }
    });
  }
});
