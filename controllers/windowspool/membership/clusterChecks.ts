/** The checks of the cluster for pools without a node group, which have no prerequisites in AWS. */
import type { WindowsPoolStatus } from '../api/api.gen.ts';
import type { Check } from '../checks/check.ts';
import { checkStates } from '../checks/checkStates.ts';
import { describeResult } from '../checks/describeChecks.ts';
import { ignoredChecks } from '../checks/ignoredChecks.ts';
import { LINUX_NODE, LINUX_NODE_QUESTION, linuxNodeAnswer } from '../checks/linuxNode.ts';
import { type CheckResults, runChecks } from '../checks/runChecks.ts';
import { falseCondition } from '../conditions/condition.ts';
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
const checks: readonly Check<ClusterFacts, never>[] = [
  {
    ...LINUX_NODE,
    evaluate: ({ linuxNode }) => (linuxNode.ok ? linuxNodeAnswer(linuxNode.value, 'Add a Linux node') : undefined),
  },
];

/** Runs the checks; undefined while nothing is known of the cluster. */
function clusterChecks({ pool, clusterFacts }: ObservedState): CheckResults | undefined {
  return clusterFacts && runChecks(checks, clusterFacts, ignoredChecks(pool));
}

/** The first check that is not met, as the condition PrerequisitesMet; undefined if all are. */
export function unmetInCluster(s: ObservedState): ConditionState | undefined {
  const [first] = clusterChecks(s)?.failed ?? [];
  return first && falseCondition(first.check.reason, describeResult(first, s.settings));
}

/** status.checks: those that are not met or ignored. */
export function clusterCheckStates(s: ObservedState): Pick<WindowsPoolStatus, 'checks'> {
  const results = clusterChecks(s);
  const states = results ? checkStates(results, []) : [];
  return states.length > 0 ? { checks: states } : {};
}
