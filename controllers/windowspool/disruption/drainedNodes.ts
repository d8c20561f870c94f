/**
 * Nodes that wait for an action outside the operator. A node whose instance the operator does not terminate is cordoned and drained, and stays so
 * until its provisioner removes it or the annotation is removed. With remediation.policy Report, nodes that are due are only reported. Pure.
 */
import type { LeavingNode } from '../api/api.gen.ts';
import { REPLACE_ANNOTATION } from '../api/labels.ts';
import type { Derived } from '../model/due.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { nodeSourceOf } from '../rules/nodeSource.ts';
import { count } from '../util/words.ts';
import { isExcludedFromDrain } from './nodeAnnotations.ts';
import { deletionHint, terminationCommand } from './provisioners.ts';
import { unhealthyInstances, unhealthyNodes } from './remediation.ts';

/** What is wrong, and what to do about it. */
export interface Remedied {
  /** In sentences. */
  readonly text: string;
  /** It may end with a command, and then nothing must follow it. */
  readonly remedy?: string;
}

/** How to terminate a node that the operator is done with; `left`: how many pods are on a node that is excluded from drain. */
export function describeDrained({ name }: Pick<LeavingNode, 'name'>, node: NodeRecord | undefined, left = 0): Remedied {
  if (!node) return { text: `Node ${name} is drained. Terminate it with its provisioner.` };
  const state = isExcludedFromDrain(node)
    ? `is cordoned and excluded from drain: ${left > 0 ? count(left, 'pod') : 'its pods'} ${left === 1 ? 'is' : 'are'} terminated with it`
    : 'is drained';
  return { text: `Node ${name} ${state}.`, remedy: `Terminate it ${deletionHint(node)}` };
}

/** What remediation.policy Replace would replace, and the commands that do it. */
export function describeDue(s: Derived): Remedied[] {
  const after = `longer than remediation.unhealthyAfter (${s.pool.spec.remediation?.unhealthyAfter})`;
  const nodes = unhealthyNodes(s, s.due.capacity);
  const failed = ({ name }: NodeRecord) => `Node ${name} has failed verification for ${after}.`;
  if (!nodeSourceOf(s.pool).ends)
    return nodes.map((node) => ({
      text: `${failed(node)} To drain it first, set ${REPLACE_ANNOTATION}=true on it.`,
      remedy: `Terminate it ${deletionHint(node)}`,
    }));
  const late = unhealthyInstances(s, s.due.capacity).map(({ id }) => ({
    text: `Instance ${id} has run for ${after} without joining.`,
    remedy: `Terminate it: ${terminationCommand(id)}`,
  }));
  return [
    ...nodes.map((node) => ({
      text: failed(node),
      remedy: `Replace it: kubectl annotate node ${node.name} ${REPLACE_ANNOTATION}=true`,
    })),
    ...late,
  ];
}
