/** The rules for the nodes that a pool of existing nodes has, and for those that leave it. */

import { CORDONED_ANNOTATION, FINALIZER } from '../../labels.ts';
import type { ObservedState } from '../../model/observedState.ts';
import type { Step } from '../../model/steps.ts';
import { turnOf } from '../../nodes/rules.ts';
import type { NodeMarks, NodeRecord } from '../../ports/nodes.ts';
import { isOwner } from '../../runtimeClass/runtimeClass.ts';
import { operatorMarksOf, releaseOf } from './ownershipRecord.ts';

/** Ensures that nodes have the labels and taints of their pool, and that what they had before is recorded with the first of them. */
export function markNodes(s: ObservedState): Step[] {
  const resting = new Set(s.membership?.contention.nodes);
  const due = s.poolNodes.unmarked.filter(({ node }) => !resting.has(node.name));
  return turnOf(s, due).map(({ node, change }) => ({ kind: 'markNode', node, change }));
}

/** Ensures that nodes which are not the pool's any more get back what they had. */
export function releaseNodes(s: ObservedState): Step[] {
  return turnOf(s, s.membership?.toRelease ?? []).map((node) => releaseStep(node, releaseOf(node, isAwaited(s, node))));
}

/**
 * Ensures that a pool which goes has given back all nodes. With deletionPolicy Retain they keep its labels and taints, and lose only the
 * operator's own marks, all in one run: the pool goes whether it may write to them or not. A RuntimeClass stays because nobody owns it any more.
 */
export function releaseExistingNodes(s: ObservedState): Step[] | undefined {
  const { pool, membership, runtimeClass, formerRuntimeClass } = s;
  if (!pool.metadata.finalizers?.includes(FINALIZER)) return [];
  const retains = pool.spec.deletionPolicy === 'Retain';
  const toRelease = membership?.toRelease ?? [];
  const now = retains ? toRelease : turnOf(s, toRelease);
  const steps = now.flatMap((node) => {
    const awaited = isAwaited(s, node);
    return retains ? retainSteps(node, operatorMarksOf(node, awaited)) : [releaseStep(node, releaseOf(node, awaited))];
  });
  const isEach = now.length === toRelease.length && (retains || steps.every(({ kind }) => kind === 'releaseNode'));
  if (!isEach || membership?.nextReadAt !== Number.POSITIVE_INFINITY) return steps;
  const owned = [runtimeClass, formerRuntimeClass].filter((seen) => seen !== undefined && isOwner(pool, seen));
  return [
    ...steps,
    ...(retains ? owned : []).flatMap((seen): Step[] => (seen ? [{ kind: 'releaseRuntimeClass', seen }] : [])),
    { kind: 'removeFinalizer' },
  ];
}

/**
 * First the operator's cordon goes, and its condition: afterwards nobody would know whose it was. Each makes it another version of the node,
 * which is released next.
 */
function releaseStep(node: NodeRecord, change: NodeMarks): Step {
  if (CORDONED_ANNOTATION in node.annotations) return { kind: 'uncordonNode', node };
  return node.verified
    ? { kind: 'setNodeCondition', node, condition: undefined }
    : { kind: 'releaseNode', node, change };
}

/** Retain always lets the pool go, so both are tried: what may not be taken from a node is told of. */
function retainSteps(node: NodeRecord, change: NodeMarks): Step[] {
  const restore: Step = { kind: 'uncordonNode', node, retain: true };
  const tell: Step = { kind: 'setNodeCondition', node, condition: undefined, retain: true };
  const isCordoned = CORDONED_ANNOTATION in node.annotations;
  return [
    ...(isCordoned ? [restore] : []),
    ...(node.verified ? [tell] : []),
    { kind: 'releaseNode', node, change, retain: true },
  ];
}

function isAwaited({ membership }: ObservedState, { name }: NodeRecord): boolean {
  return membership?.awaited.has(name) === true;
}
