/** What the annotations of a node say about whether it is to go. Pure. */
import {
  CORDONED_ANNOTATION,
  EXCLUDE_FROM_DRAIN_ANNOTATION,
  REMEDIATION_ANNOTATION,
  REMOVE_ANNOTATION,
  REPLACE_ANNOTATION,
} from '../labels.ts';
import type { NodeRecord } from '../ports/nodes.ts';

/** `Remediate` is what nobody asked for by name: the node fails for too long. */
export type Operation = 'Replace' | 'Remove' | 'Remediate';

const ANNOTATIONS: Readonly<Record<string, string>> = {
  Replace: REPLACE_ANNOTATION,
  Remove: REMOVE_ANNOTATION,
  Remediate: REMEDIATION_ANNOTATION,
} satisfies Record<Operation, string>;

/** The annotation that asks for the operation, and by which a node says that it was given up. */
export function annotationOf(operation: string): string {
  return ANNOTATIONS[operation] ?? REPLACE_ANNOTATION;
}

/** What people want to become of the node; undefined: nothing is said. With both annotations it is replaced: that takes less away. */
export function operationFor({ annotations }: Pick<NodeRecord, 'annotations'>): Operation | undefined {
  if (annotations[REPLACE_ANNOTATION] === 'true') return 'Replace';
  return annotations[REMOVE_ANNOTATION] === 'true' ? 'Remove' : undefined;
}

/** Whether the node is to go with the pods that are on it. */
export function isExcludedFromDrain({ annotations }: Pick<NodeRecord, 'annotations'>): boolean {
  return annotations[EXCLUDE_FROM_DRAIN_ANNOTATION] === 'true';
}

/** Whether the operator has found the node to be the pool's and has cordoned it, or found it cordoned. */
export function isPrepared({ unschedulable, annotations }: NodeRecord): boolean {
  return unschedulable && CORDONED_ANNOTATION in annotations;
}

/** Whether a node takes no pods: for the budget it is out, whoever did that. */
export function isUnavailable({ unschedulable, ready }: NodeRecord): boolean {
  return unschedulable || ready !== 'True';
}
