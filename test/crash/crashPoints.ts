/** The requests at which a suite kills the operator: all of them, or a fixed sample. The suites in memory always use all of them. */
import type { CrashPoint, Moment } from './requestGate.ts';

/** Both moments. */
export const MOMENTS: readonly Moment[] = ['before', 'after'];

/** Whether the suites visit every point: `make crash` says so. */
export const visitsAll = process.env.CRASH_POINTS === 'all';

/** The requests of one phase, by name (`PATCH nodes #2`), at which the operator can be killed at each moment. */
export interface Recording {
  readonly phase: string;
  readonly requests: Readonly<Record<Moment, readonly string[]>>;
}

/**
 * For each phase, one point for each kind of request. The moments alternate from phase to phase, so that each kind sees both of them; a kind of one
 * phase alone sees both there. Of several writes of a kind it is the one in the middle, because the first is often made before anything
 * depends on it. Of reads, and of writes whose number varies (`isRepeated`), it is the first: only that one is sent each time.
 */
export function samplePoints(
  recordings: readonly Recording[],
  isRepeated: (request: string) => boolean,
): ReadonlyMap<string, readonly CrashPoint[]> {
  const points = new Map(recordings.map(({ phase }) => [phase, [] as CrashPoint[]]));
  const kinds = new Set(
    recordings.flatMap(({ requests }) => MOMENTS.flatMap((moment) => requests[moment].map(kindOf))),
  );
  for (const [index, kind] of [...kinds].entries()) {
    const ofKind = (requests: readonly string[]) => requests.filter((request) => kindOf(request) === kind);
    const phases = recordings.filter(({ requests }) => MOMENTS.some((moment) => ofKind(requests[moment]).length > 0));
    for (const [turn, { phase, requests }] of phases.entries()) {
      const possible = MOMENTS.filter((moment) => ofKind(requests[moment]).length > 0);
      const moments = MOMENTS.filter(
        (_moment, which) => phases.length === 1 || which === (index + turn) % MOMENTS.length,
      );
      const chosen = moments.some((moment) => possible.includes(moment)) ? moments : possible;
      for (const moment of chosen.filter((each) => possible.includes(each)))
        points.get(phase)?.push({ request: oneOf(ofKind(requests[moment]), isRepeated), moment });
    }
  }
  return points;
}

/** A request and the time of its arrival, on a clock that stops while an operator works. */
export interface TimedRequest {
  readonly request: string;
  readonly at: number;
}

/**
 * The requests at which a kill leaves a state that no other kill leaves. A killed operator loses its memory, so only its writes count, and what
 * happened in the time that has passed: a kill after a read is the same as before it, and so is one before a read that follows another at once.
 */
export function distinctPoints(requests: readonly TimedRequest[], moment: Moment): readonly string[] {
  const distinct = requests.filter(({ request, at }, index) => {
    if (moment === 'after') return !isRead(request);
    const last = requests[index - 1];
    return !last || last.at !== at || !isRead(last.request);
  });
  return distinct.map(({ request }) => request);
}

function isRead(request: string): boolean {
  return /^(GET|WATCH|Describe)/.test(request);
}

/** `PATCH nodes` of `PATCH nodes #2`. */
export function kindOf(request: string): string {
  return request.replace(/ #\d+$/, '');
}

function oneOf(requests: readonly string[], isRepeated: (request: string) => boolean): string {
  const [first = ''] = requests;
  return isRead(first) || isRepeated(first) ? first : (requests[Math.floor(requests.length / 2)] ?? first);
}
