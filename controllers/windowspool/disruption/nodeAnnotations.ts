/** The operations that the annotations of a node request. Pure. */
import type { LeavingNode } from '../api/api.gen.ts';
import {
  CORDONED_ANNOTATION,
  EXCLUDE_FROM_DRAIN_ANNOTATION,
  REMEDIATION_ANNOTATION,
  REMOVE_ANNOTATION,
  REPLACE_ANNOTATION,
} from '../api/labels.ts';
import type { Operation } from '../model/disruption.ts';
import { isReadinessTaint } from '../nodes/nodeTaints.ts';
import type { NodeRecord, Taint } from '../ports/nodes.ts';

/** The reason of a replacement that no annotation requests: the node has failed verification for too long. */
export const UNHEALTHY = 'Unhealthy';

/** The reason of a replacement that no annotation requests: a newer node is to replace this one. */
export const OUTDATED = 'Outdated';

const CAUSES = { [UNHEALTHY]: 'fails verification', [OUTDATED]: 'is outdated' } as const;

/** Why a node is replaced that no annotation requests, as the predicate of a sentence about it; undefined: an annotation, or the end of its group. */
export function causeOf({ reason }: Pick<LeavingNode, 'reason'>): string | undefined {
  return reason && CAUSES[reason];
}

/** Whether the node is replaced because a newer one is to replace it. */
export function isOutdated({ reason }: Pick<LeavingNode, 'reason'>): boolean {
  return reason === OUTDATED;
}

/** Whether an outdated node may be replaced: with another value of the annotation, it was given up, or a user left it out. */
export function mayBeReplaced({ annotations }: Pick<NodeRecord, 'annotations'>): boolean {
  return (annotations[REPLACE_ANNOTATION] ?? 'true') === 'true';
}

/** Whether the node is replaced because it is unhealthy. */
export function isRemediation({ reason }: Pick<LeavingNode, 'reason'>): boolean {
  return reason === UNHEALTHY;
}

/** Whether the node group shrinks: no node replaces this one. */
export function shrinksGroup({ operation }: Pick<LeavingNode, 'operation'>): boolean {
  return operation === 'Remove' || operation === 'DrainNodeGroup';
}

/** The annotation that requests the operation, and in which the operator records that it was given up. */
export function annotationOf(entry: Pick<LeavingNode, 'operation' | 'reason'>): string {
  if (isRemediation(entry)) return REMEDIATION_ANNOTATION;
  return entry.operation === 'Remove' ? REMOVE_ANNOTATION : REPLACE_ANNOTATION;
}

/** The requested operation; undefined: none. With both annotations the node is replaced, which is less destructive. */
export function operationFor({ annotations }: Pick<NodeRecord, 'annotations'>): Operation | undefined {
  if (annotations[REPLACE_ANNOTATION] === 'true') return 'Replace';
  return annotations[REMOVE_ANNOTATION] === 'true' ? 'Remove' : undefined;
}

/** Whether the node is terminated without evicting its pods. */
export function isExcludedFromDrain({ annotations }: Pick<NodeRecord, 'annotations'>): boolean {
  return annotations[EXCLUDE_FROM_DRAIN_ANNOTATION] === 'true';
}

/** Whether the operator has checked that the node belongs to the pool, and has cordoned it or found it cordoned. */
export function isCordonedByOperator({ unschedulable, annotations }: NodeRecord): boolean {
  return unschedulable && CORDONED_ANNOTATION in annotations;
}

/**
 * The taints with which other controllers announce that they drain a node, or that it is shut down:
 * - https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md (its candidates still accept pods)
 * - https://karpenter.sh/docs/concepts/disruption/#control-flow (karpenter.sh/disruption until v1)
 * - https://kubernetes.io/docs/reference/labels-annotations-taints/#node-kubernetes-io-out-of-service
 */
const LEAVING_TAINTS: readonly string[] = [
  'ToBeDeletedByClusterAutoscaler',
  'karpenter.sh/disrupted',
  'karpenter.sh/disruption',
  'node.kubernetes.io/out-of-service',
];

/** Whether a node accepts no pods, or soon none: it counts as unavailable, whatever the cause. */
export function isUnavailable({
  unschedulable,
  ready,
  taints,
}: Pick<NodeRecord, 'unschedulable' | 'ready' | 'taints'>): boolean {
  const keepsPodsOff = (taint: Taint) => LEAVING_TAINTS.includes(taint.key) || isReadinessTaint(taint);
  return unschedulable || ready !== 'True' || taints.some(keepsPodsOff);
}
