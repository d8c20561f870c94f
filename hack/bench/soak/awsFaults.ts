/** Faults of AWS in a soak test: calls that are throttled, fail, or take effect without a response. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallFaults } from '../../../test/fakes/localaws/wire/callFaults.ts';
import { pick } from './random.ts';

const PAUSE_MS = 3_000;

/** Their responses are lost. */
const WRITES = [
  'CreateNodegroup',
  'UpdateNodegroupConfig',
  'UpdateNodegroupVersion',
  'DeleteNodegroup',
  'TerminateInstanceInAutoScalingGroup',
  'TagResource',
  'CreateOrUpdateTags',
] as const;

type AwsFaultKind = 'throttling' | 'errors' | 'unavailable' | 'brokenConnections' | 'pagesOfProxies';

const faults: Readonly<Record<AwsFaultKind, (calls: CallFaults) => void>> = {
  throttling: (calls) => calls.throttle({ count: 10 }),
  errors: (calls) => calls.serverError({ count: 4 }),
  unavailable: (calls) => calls.serverError({ count: 4, status: 503 }),
  brokenConnections: (calls) => calls.reset({ count: 3 }),
  pagesOfProxies: (calls) => calls.html({ count: 2 }),
};

/** How often each kind of fault was prepared for the next calls. */
export type AwsFaultCounts = Record<AwsFaultKind | 'lostAnswers', number>;

/** Prepares faults of the next calls until the signal aborts. None remains in the end. */
export async function injectAwsFaults(
  calls: CallFaults,
  random: () => number,
  signal: AbortSignal,
): Promise<AwsFaultCounts> {
  const kinds = Object.keys(faults) as AwsFaultKind[];
  const counts: AwsFaultCounts = {
    ...{ throttling: 0, errors: 0, unavailable: 0, brokenConnections: 0, pagesOfProxies: 0, lostAnswers: 0 },
  };
  while (!signal.aborted) {
    // Those that no call has met would add up.
    calls.clear();
    const lost = { operation: pick(WRITES, random), after: true };
    if (random() < 0.8) calls.reset(lost);
    else calls.hang(lost);
    counts.lostAnswers++;
    if (random() < 0.5) {
      const kind = pick(kinds, random);
      faults[kind](calls);
      counts[kind]++;
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
  calls.clear();
  return counts;
}
