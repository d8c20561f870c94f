/** The checks of the cluster for pools without a node group, which have no prerequisites in AWS. */
import type { WindowsPoolStatus } from '../api/api.gen.ts';
import type { Check } from '../checks/check.ts';
import { checkStates } from '../checks/checkStates.ts';
import { describeResult } from '../checks/describeChecks.ts';
import { ignoredChecks } from '../checks/ignoredChecks.ts';
import { LINUX_NODE, LINUX_NODE_QUESTION, linuxNodeAnswer } from '../checks/linuxNode.ts';
import { type CheckResults, runChecks } from '../checks/runChecks.ts';
import { falseCondition, trueCondition } from '../conditions/condition.ts';
import type { ConditionState } from '../model/conditions.ts';
import type { ClusterFacts, ObservedState } from '../model/observedState.ts';
import type { ObserveContext } from '../providers/provider.ts';

/** Reads the facts of the checks. All pools share the answers. */
export async function readClusterFacts(context: ObserveContext): Promise<ClusterFacts> {
  const { readCache, sources, settings, now, signal } = context;
  const ask = (asked: AbortSignal) => sources.system.linuxNode(asked);
  return { linuxNode: await readCache.shared.get(LINUX_NODE_QUESTION, settings.resyncMs, now, ask, signal) };
}

/** What could not be read is not reported: nothing waits for these checks. */
const checks: readonly ClusterCheck[] = [
  {
    ...LINUX_NODE,
    evaluate: ({ clusterFacts }) =>
      clusterFacts?.linuxNode.ok ? linuxNodeAnswer(clusterFacts.linuxNode.value, 'Add a Linux node') : undefined,
  },
];

/** A check of the observed state of a pool. */
export type ClusterCheck<S extends ObservedState = ObservedState> = Check<S, never>;

/** Runs the checks, and `more` of the provider. */
function clusterChecks<S extends ObservedState>(s: S, more: readonly ClusterCheck<S>[]): CheckResults {
  return runChecks<S>([...checks, ...more], s, ignoredChecks(s.pool));
}

/** The first check that is not met, as the condition PrerequisitesMet; undefined if all are. */
export function unmetInCluster<S extends ObservedState>(
  s: S,
  more: readonly ClusterCheck<S>[] = [],
): ConditionState | undefined {
  return unmetOf(clusterChecks(s, more), s);
}

function unmetOf({ failed: [first] }: CheckResults, { settings }: ObservedState): ConditionState | undefined {
  return first && falseCondition(first.check.reason, describeResult(first, settings));
}

/** The condition PrerequisitesMet: the first check that is not met, or what the checks warn of. @param message that all are met */
export function prerequisitesIn<S extends ObservedState>(
  s: S,
  message: string,
  more: readonly ClusterCheck<S>[] = [],
): ConditionState {
  const results = clusterChecks(s, more);
  const unmet = unmetOf(results, s);
  if (unmet) return unmet;
  const [warned] = results.warned;
  if (!warned) return trueCondition('Met', message);
  return trueCondition('MetWithWarnings', `${message} Warning: ${describeResult(warned, s.settings)}`);
}

/** status.checks: those that are not met or ignored. */
export function clusterCheckStates<S extends ObservedState>(
  s: S,
  more: readonly ClusterCheck<S>[] = [],
): Pick<WindowsPoolStatus, 'checks'> {
  const states = checkStates(clusterChecks(s, more), []);
  return states.length > 0 ? { checks: states } : {};
}
