/** The operator is killed before and after each request while a new node group replaces the old one, or tries a version, in memory. */
import assert from 'node:assert/strict';
import { canaries } from './canaries.ts';
import { distinctPoints, kindOf, MOMENTS, type TimedRequest, visitsAll } from './crashPoints.ts';
import { MemoryFixture } from './memoryFixture.ts';
import { isOfTheRun } from './phases.ts';
import { type Replacement, replacements } from './replacements.ts';
import { SWITCHES } from './switches.ts';

type Answers = (typeof SWITCHES)[number];

async function prepared(replacement: Replacement, answers: Answers): Promise<MemoryFixture> {
  const fixture = new MemoryFixture('web', answers);
  await replacement.prepare(fixture);
  return fixture;
}

async function recordRequests(replacement: Replacement): Promise<readonly TimedRequest[]> {
  for (const answers of SWITCHES.slice(1)) {
    const fixture = await prepared(replacement, answers);
    await replacement.act(fixture);
    await finished(fixture, replacement);
  }
  const fixture = await prepared(replacement, SWITCHES[0]);
  const requests = await fixture.recordRequests(
    () => replacement.act(fixture),
    () => replacement.end(fixture),
  );
  await finished(fixture, replacement);
  return requests;
}

async function finished(fixture: MemoryFixture, { end, groupsEver = 2 }: Replacement): Promise<void> {
  await end(fixture);
  await fixture.quiet();
  fixture.assertClean();
  const { groups } = fixture.history;
  assert.ok(groups.size <= groupsEver, `there were ${groups.size} groups`);
}

/** Each of the points with one of the answers; without `make crash`, a third of them, other ones for each replacement. */
function sampled<T>(points: readonly T[], offset: number): readonly (readonly [T, Answers])[] {
  const all = points.map((point, index) => [point, SWITCHES[index % SWITCHES.length] ?? SWITCHES[0]] as const);
  return visitsAll ? all : all.filter((_point, index) => index % 3 === offset % 3);
}

describe('a replacement or a canary in memory whose operator is killed at any of its requests', function () {
  this.timeout(600_000);
  for (const [offset, replacement] of [...replacements, ...canaries].entries()) {
    it(replacement.name, async () => {
      const requests = await recordRequests(replacement);
      const kinds = requests.map(({ request }) => kindOf(request));
      for (const request of replacement.includes) assert.ok(kinds.includes(request), `${request} is not in ${kinds}`);
      const own = requests.filter(({ request }) => isOfTheRun(request));
      const points = MOMENTS.flatMap((moment) => distinctPoints(own, moment).map((request) => ({ request, moment })));
      for (const [point, answers] of sampled(points, offset)) {
        const fixture = await prepared(replacement, answers);
        // With other answers of EKS, a request may not come.
        if (!(await fixture.crash(point, () => replacement.act(fixture)))) continue;
        await finished(fixture, replacement).catch((cause: Error) => {
          throw new Error(`killed ${point.moment} ${point.request}: ${cause.message}`, { cause });
        });
      }
    });
  }
});
