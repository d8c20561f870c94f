/** Rules for the nodes that a pool puts its labels and taints on, or releases. */

import { CORDONED_ANNOTATION, FINALIZER, NODE_GROUP_LABEL } from '../api/labels.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { Step } from '../model/steps.ts';
import { turnOf } from '../nodes/nodeRules.ts';
import { marksOf, operatorMarksOf, releaseOf } from '../nodes/ownershipRecord.ts';
import { awaitsGateTaint } from '../nodes/verify.ts';
import { hasOwnCondition, type NodeMarks, type NodeRecord } from '../ports/nodes.ts';
import { isOwner } from '../runtimeClass/runtimeClass.ts';
import { hasNewMarks } from './marks.ts';

/**
 * Ensures that nodes have the labels and taints of their pool, and a record of the values before. First, status must have the marks: without that, they
 * could not be undone after the spec changes.
 */
export function markNodes(s: ObservedState): Step[] {
  if (hasNewMarks(s.pool)) return [];
  const resting = new Set(s.membership?.contention.nodes);
  const due = s.poolNodes.unmarked.filter(({ node }) => !resting.has(node.name) && !awaitsGateTaint(s.pool.spec, node));
  return turnOf(s, due).map(({ node, change }) => ({ kind: 'markNode', node, change }));
}

/** Ensures that nodes which the pool no longer selects are restored. */
export function releaseNodes(s: ObservedState): Step[] {
  const marks = marksOf(s.pool);
  const nodes = turnOf(s, s.membership?.toRelease ?? []);
  return nodes.map((node) => releaseStep(s, node, releaseOf(node, isAwaited(s, node), marks)));
}

/**
 * Ensures that a pool releases all its nodes before it is deleted. With deletionPolicy Retain, nodes keep the pool's labels and taints and
 * lose only the operator's own marks, all in one run: the finalizer is removed whether those writes succeed or not. The RuntimeClass is
 * kept, without an owner.
 */
export function releaseMarkedNodes(s: ObservedState): Step[] | undefined {
  const { pool, membership, runtimeClass, formerRuntimeClass } = s;
  if (!pool.metadata.finalizers?.includes(FINALIZER)) return [];
  const retains = pool.spec.deletionPolicy === 'Retain';
  const toRelease = membership?.toRelease ?? [];
  const now = retains ? toRelease : turnOf(s, toRelease);
  const marks = marksOf(pool);
  const steps = now.flatMap((node) => {
    const awaited = isAwaited(s, node);
    return retains
      ? retainSteps(s, node, operatorMarksOf(node, awaited))
      : [releaseStep(s, node, releaseOf(node, awaited, marks))];
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
 * The cordon and the condition are removed first: without the ownership record, it would not be known that they are the operator's. Each
 * write creates a new version of the node, which is released in a later run.
 */
function releaseStep(s: ObservedState, node: NodeRecord, change: NodeMarks): Step {
  if (isOfGroup(s, node)) return { kind: 'releaseNode', node, change };
  if (CORDONED_ANNOTATION in node.annotations) return { kind: 'uncordonNode', node };
  return hasOwnCondition(node) ? { kind: 'setNodeCondition', node, report: {} } : { kind: 'releaseNode', node, change };
}

/** Retain never blocks deletion, so all writes are tried at once; those that fail are reported. */
function retainSteps(s: ObservedState, node: NodeRecord, change: NodeMarks): Step[] {
  if (isOfGroup(s, node)) return [{ kind: 'releaseNode', node, change, retain: true }];
  const uncordon: Step = { kind: 'uncordonNode', node, retain: true };
  const removeCondition: Step = { kind: 'setNodeCondition', node, report: {}, retain: true };
  const isCordoned = CORDONED_ANNOTATION in node.annotations;
  return [
    ...(isCordoned ? [uncordon] : []),
    ...(hasOwnCondition(node) ? [removeCondition] : []),
    { kind: 'releaseNode', node, change, retain: true },
  ];
}

/**
 * Whether the node belongs to the pool of a node group, which writes its condition and its cordon. A kubelet can write a record that names another
 * pool: the two pools would undo each other's writes forever.
 */
function isOfGroup(s: ObservedState, node: NodeRecord): boolean {
  return isAwaited(s, node) && NODE_GROUP_LABEL in node.labels;
}

function isAwaited({ membership }: ObservedState, { name }: NodeRecord): boolean {
  return membership?.awaited.has(name) === true;
}
