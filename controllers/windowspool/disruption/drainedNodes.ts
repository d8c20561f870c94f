/**
 * Nodes whose instances the operator does not terminate: they are cordoned and drained, and stay so until their provisioner removes them or the
 * annotation is removed. Pure.
 */
import type { LeavingNode } from '../api.gen.ts';
import { REPLACE_ANNOTATION } from '../labels.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { count } from '../util/words.ts';
import { isExcludedFromDrain } from './nodeAnnotations.ts';
import { deletionHint } from './provisioners.ts';
import { unhealthyNodes } from './remediation.ts';

/** How to terminate a node that the operator is done with; `left`: how many pods are on a node that is excluded from drain. */
export function describeDrained({ name }: Pick<LeavingNode, 'name'>, node: NodeRecord | undefined, left = 0): string {
  if (!node) return `node ${name} is drained: end it with what made it`;
  const state = isExcludedFromDrain(node)
    ? `is cordoned and ends with its ${left > 0 ? count(left, 'pod') : 'pods'}`
    : 'is drained';
  return `node ${name} ${state}: end it ${deletionHint(node)}`;
}

/** What remediation would replace: the operator terminates no node of another provisioner. One sentence for each node, without its full stop. */
export function describeDue(s: ObservedState): string[] {
  const after = s.pool.spec.remediation?.unhealthyAfter;
  return unhealthyNodes(s).map(
    (node) =>
      `node ${node.name} has failed for longer than remediation.unhealthyAfter (${after}): end it ${deletionHint(node)}; or set ${REPLACE_ANNOTATION}=true on it to have it drained first`,
  );
}
