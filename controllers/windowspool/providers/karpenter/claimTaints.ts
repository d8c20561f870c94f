/** The operator's taints on nodes of Karpenter. Pure. */
import { QUARANTINE_TAINT_KEY } from '../../api/labels.ts';
import type { Step } from '../../model/steps.ts';
import { correctTaints } from '../../nodes/nodeRules.ts';
import type { KarpenterDerived } from './karpenterState.ts';

/**
 * Ensures that nodes have the taints that their verification results in. While so many fail that none is remediated, no further node is quarantined: the quarantine is
 * no startup taint, so Karpenter would create another node for the pods of each of them.
 */
export function correctClaimTaints(s: KarpenterDerived): Step[] {
  const steps = correctTaints(s);
  return s.due.nodes.halted?.reason === 'TooManyUnhealthy' ? steps.filter((step) => !quarantines(step)) : steps;
}

function quarantines(step: Step): boolean {
  return step.kind === 'taintNode' && step.change.set.some(({ key }) => key === QUARANTINE_TAINT_KEY);
}
