/** Records what the operator plans and reports for observed states. */
import fc from 'fast-check';
import type { WindowsPoolStatus } from '../../controllers/windowspool/api/api.gen.ts';
import type { Derived } from '../../controllers/windowspool/model/due.ts';
import type { Step } from '../../controllers/windowspool/model/steps.ts';
import { planFor } from '../../controllers/windowspool/plan.ts';
import { type Reporter, report } from '../../controllers/windowspool/report.ts';
import { StatusThrottle } from '../../controllers/windowspool/reporting/statusThrottle.ts';
import { shownIn } from '../../controllers/windowspool/rules/heldSteps.ts';
import { nextRun, untilNextRead } from '../../controllers/windowspool/schedule.ts';
import { outcomeOf } from '../../controllers/windowspool/testing/fixtures.ts';
import { pausedCases } from '../../controllers/windowspool/testing/planCases/paused.ts';
import { tables } from '../../controllers/windowspool/testing/planCases/tables.ts';
import { randomObservedState } from '../../controllers/windowspool/testing/randomObservedState.ts';
import { seriesOf } from '../../controllers/windowspool/testing/shownMetrics.ts';
import type { Entry, Json, Observation } from './entry.ts';
import { fieldsOf, named, outline } from './plain.ts';
import { statusChange } from './statusChange.ts';

const { signal } = new AbortController();

/** The cases of the tables of the plan. */
export async function* planEntries(): AsyncGenerator<Entry> {
  for (const [title, cases] of Object.entries({ ...tables, 'of a paused pool': pausedCases }))
    for (const { name, observed } of cases) yield await entryOf(`${title}: ${name}`, observed);
}

/** Random observed states. */
export async function* stateEntries(seed: number, count: number): AsyncGenerator<Entry> {
  const states = fc.sample(randomObservedState, { seed, numRuns: count });
  for (const [index, observed] of states.entries()) yield await entryOf(`state ${index} of seed ${seed}`, observed);
}

async function entryOf(name: string, observed: Derived): Promise<Entry> {
  return { name, input: inputOf(observed), observations: await observationsOf(observed) };
}

/** Without what is due, and without the verification results of the nodes: both are results of the operator. */
function inputOf({ poolNodes, due: _derived, ...observed }: Derived): Json {
  const nodes = poolNodes.nodesBefore(Number.POSITIVE_INFINITY);
  return outline(fieldsOf({ ...observed, nodes, nonMembers: poolNodes.nonMembers }));
}

/** The plan for a state, and what is reported when all of its steps succeed. */
async function observationsOf(s: Derived): Promise<Observation[]> {
  const found: Observation[] = [];
  try {
    const { steps, held } = planFor(s);
    found.push(...steps.map((step) => stepObservation('step', step)));
    found.push(...shownIn(held).map(({ step }) => stepObservation('pending', step)));
    await report({ ...outcomeOf(s), done: steps }, held, true, reporterTo(found), signal);
    found.push({ kind: 'requeue', name: 'requeue', data: fieldsOf(nextRun(outcomeOf(s), untilNextRead(s, 0))) });
  } catch (error) {
    found.push({ kind: 'error', name: 'error', data: { message: String(error) } });
  }
  return found;
}

function stepObservation(kind: 'step' | 'pending', { kind: name, ...details }: Step): Observation {
  const about = 'node' in details ? details.node : 'pod' in details ? details.pod : undefined;
  return { kind, name, ...(about && { of: about.name }), data: fieldsOf(details, named) };
}

function reporterTo(found: Observation[]): Reporter {
  const unused = (): never => {
    throw new Error('A report only writes the status.');
  };
  const metrics = (name: string, samples: readonly Parameters<typeof seriesOf>[0][]): void => {
    if (samples.length > 0) found.push({ kind: 'metrics', name, data: Object.fromEntries(samples.map(seriesOf)) });
  };
  const ignored = (): void => undefined;
  return {
    statusThrottle: new StatusThrottle(),
    pools: {
      get: unused,
      read: unused,
      list: unused,
      addFinalizer: unused,
      removeFinalizer: unused,
      writeStatus: async (pool, status: WindowsPoolStatus) => {
        found.push({ kind: 'status', name: 'status', data: statusChange(pool.status, status) });
        return { ok: true, value: { ...pool, status } };
      },
    },
    events: {
      publish: ({ metadata: { name: of } }, { reason: name, ...event }) =>
        void found.push({ kind: 'event', name, of, data: { ...event } }),
      publishOnNode: (_pool, { name: of }, { reason: name, ...event }) =>
        void found.push({ kind: 'event', name, of, data: { ...event } }),
    },
    metrics: {
      show: (_pool, samples) => metrics('gauges', samples),
      add: (_pool, samples) => metrics('counters', samples),
      stamp: ignored,
      stampFirst: ignored,
      drop: ignored,
    },
  };
}
