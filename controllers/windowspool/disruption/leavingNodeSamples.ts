/** The metrics of terminating nodes. Pure. */
import type { LeavingNode } from '../api/api.gen.ts';
import { type CounterSample, type GaugeSample, gaugeSample, type LabelsOf } from '../api/metricCatalogue.ts';
import { stageOf } from '../conditions/disrupting.ts';
import { LEFT_ANSWER } from '../model/disruption.ts';
import type { Derived } from '../model/due.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { Outcome } from '../model/outcome.ts';
import { nameOf } from './drain.ts';
import { replacesUnhealthy } from './remediation.ts';
import { terminatingNodes } from './reservation.ts';

type Labels = LabelsOf<'windowspool_nodes_leaving'>;

/** How many nodes are terminating, by operation and stage; since when; how many wait; and whether remediation is short-circuited. */
export function terminatingNodeSamples(s: Derived): GaugeSample[] {
  const entries = terminatingNodes(s.pool);
  const groups = Map.groupBy(entries, (entry) => `${entry.operation} ${reasonOf(entry)} ${stageOf(entry, s)}`);
  const { waiting, halted } = s.due.nodes;
  const first = Math.min(
    ...entries.filter(({ drainedTime }) => drainedTime === undefined).map(({ startTime }) => Date.parse(startTime)),
  );
  return [
    ...[...groups].map(([key, found]) => {
      const [operation, reason, stage] = key.split(' ') as [Labels['operation'], Labels['reason'], Labels['stage']];
      return gaugeSample('windowspool_nodes_leaving', { operation, reason, stage }, found.length);
    }),
    gaugeSample('windowspool_nodes_waiting_to_leave', {}, waiting.length),
    ...(Number.isFinite(first)
      ? [gaugeSample('windowspool_nodes_leaving_start_timestamp_seconds', {}, first / 1_000)]
      : []),
    ...(replacesUnhealthy(s.pool)
      ? [gaugeSample('windowspool_remediation_short_circuited', {}, Number(halted !== undefined))]
      : []),
  ];
}

/** What a run did to terminating nodes. */
export function terminatingNodeCounts({ done, after }: Outcome): CounterSample[] {
  const failed = after.errors.filter(({ step, at }) => step === 'evictPods' && at === after.now).length;
  return [...done.flatMap((step) => countsOf(step, after)), ...evictions('failed', failed)];
}

function countsOf(step: Outcome['done'][number], { operations }: ObservedState): CounterSample[] {
  switch (step.kind) {
    case 'evictPods': {
      const requested = new Set(step.evictions.map(({ pod }) => nameOf(pod)));
      const blocked = (operations?.blocked ?? []).filter((pod) => requested.has(nameOf(pod))).length;
      return [...evictions('accepted', step.evictions.length - blocked), ...evictions('blocked', blocked)];
    }
    case 'terminateInstance':
    case 'terminateUnregistered': {
      const labels = { operation: step.entry.operation, reason: reasonOf(step.entry) };
      return [{ metric: 'windowspool_instances_ended_total', labels, value: 1 }];
    }
    case 'uncordonNode': {
      const answer = step.answer?.value;
      if (answer === LEFT_ANSWER) return [];
      const reason = answer === 'timed-out' || answer === 'refused' ? answer : 'withdrawn';
      return [{ metric: 'windowspool_drains_aborted_total', labels: { reason }, value: 1 }];
    }
    default:
      return [];
  }
}

function evictions(result: LabelsOf<'windowspool_evictions_total'>['result'], value: number): CounterSample[] {
  return value > 0 ? [{ metric: 'windowspool_evictions_total', labels: { result }, value }] : [];
}

function reasonOf(entry: LeavingNode): Labels['reason'] {
  return entry.reason ?? 'Requested';
}
