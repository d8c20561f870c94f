/**
 * What to do, from what is true. Pure: no I/O, no clock, no randomness.
 *
 *   pool lives    claim -> node group -> tags -> RuntimeClass -> nodes
 *   pool goes     its node group, then its finalizer
 *
 * Each list below is read from the top: the first rule that speaks decides for its list. A rule that answers [] says "wait".
 */
import type { WindowsPool } from './api.gen.ts';
import { hashOf } from './hash.ts';
import { CREATED_FROM_TAG, FINALIZER, PAUSED_ANNOTATION } from './labels.ts';
import {
  configChangeFor,
  configTargetOf,
  isOwnedBy,
  nodeGroupNameOf,
  tagChangeFor,
  tagKeysFor,
  wishFor,
} from './nodeGroup.ts';
import type { NodeGroup } from './ports.ts';
import { isAsWanted, isOwner, isSoleOwner, isTaken, runtimeClassFor } from './runtimeClass.ts';
import type { Situation, StepTrouble } from './situation.ts';
import type { Memory, Step } from './steps.ts';
import { parseKernelVersion, WINDOWS_BUILD_LABEL } from './windows.ts';

/** Says what to do, [] for "wait", or undefined for "not my case". */
export type Rule = (s: Situation) => readonly Step[] | undefined;

/** The rules for one part of the world, first match wins. */
export interface Chapter {
  readonly about: 'deletion' | 'finalizer' | 'nodeGroup' | 'tags' | 'formerRuntimeClass' | 'runtimeClass' | 'nodes';
  readonly rules: readonly Rule[];
}

/** A pool that is being deleted only goes. */
export const deletionChapters: readonly Chapter[] = [
  {
    about: 'deletion',
    rules: [
      leaveWhatIsNotHeld,
      letGoRetained,
      stayOutOfOtherClusters,
      deleteOwnedGroup,
      waitForDeletion,
      finishDeletion,
    ],
  },
];

export const livingChapters: readonly Chapter[] = [
  { about: 'finalizer', rules: [addFinalizerFirst] },
  {
    about: 'nodeGroup',
    rules: [
      stayOutOfOtherClusters,
      waitForAws,
      leaveForeignGroup,
      waitForGroupToGo,
      replaceFailedGroup,
      createMissingGroup,
      waitForRunningUpdate,
      waitForUpdateResult,
      correctConfig,
    ],
  },
  { about: 'tags', rules: [stayOutOfOtherClusters, waitForAws, leaveForeignGroup, correctTags] },
  { about: 'formerRuntimeClass', rules: [leaveFormerRuntimeClass] },
  {
    about: 'runtimeClass',
    rules: [
      waitForRuntimeClassToGo,
      createRuntimeClass,
      leaveForeignRuntimeClass,
      leaveTakenRuntimeClass,
      rebuildRuntimeClass,
      shareRuntimeClass,
    ],
  },
  { about: 'nodes', rules: [stayOutOfOtherClusters, leaveForeignGroup, correctBuildLabels] },
];

export interface Plan {
  readonly steps: readonly Step[];
  /** What would be done if the pool were not paused. */
  readonly pending: readonly Step[];
}

/** The plan for a pool. A paused pool has no steps, only pending ones. */
export function planFor(s: Situation): Plan {
  const steps = stepsOf(isDeleting(s.pool) ? deletionChapters : livingChapters, s);
  return isPaused(s.pool) ? { steps: [], pending: steps } : { steps, pending: [] };
}

/** The steps that the chapters' rules give. Exported so that a test can take rules away. */
export function stepsOf(chapters: readonly Chapter[], s: Situation): Step[] {
  return chapters.flatMap(({ rules }) => {
    for (const rule of rules) {
      const steps = rule(s);
      if (steps) return steps;
    }
    return [];
  });
}

export function isDeleting(pool: WindowsPool): boolean {
  return pool.metadata.deletionTimestamp !== undefined;
}

export function isPaused(pool: WindowsPool): boolean {
  return pool.spec.paused || pool.metadata.annotations?.[PAUSED_ANNOTATION] === 'true';
}

/** Whether the step writes to AWS: such a step is only taken on what was read in the same reconcile. */
export function touchesAws({ kind }: { readonly kind: string }): boolean {
  return ['createNodeGroup', 'updateConfig', 'correctTags', 'deleteNodeGroup'].includes(kind);
}

/** Whether it is trouble with AWS, of a step or of a look. The rest is trouble with the API server. */
export function isAwsTrouble({ step }: StepTrouble): boolean {
  return touchesAws({ kind: step }) || step === 'describeUpdate' || step === 'describeInstances';
}

// --- a pool that goes ---------------------------------------------------------------------------------------------------------

/** Ensures that a pool which waits only for other controllers' finalizers is left alone. */
function leaveWhatIsNotHeld({ pool }: Situation) {
  return pool.metadata.finalizers?.includes(FINALIZER) ? undefined : [];
}

/** Ensures that Retain lets the pool go at once, whatever AWS says; the RuntimeClass stays because nobody owns it any more. */
function letGoRetained({ pool, runtimeClass }: Situation): Step[] | undefined {
  if (pool.spec.deletionPolicy !== 'Retain') return undefined;
  const release: Step[] =
    runtimeClass && isOwner(pool, runtimeClass) ? [{ kind: 'releaseRuntimeClass', seen: runtimeClass }] : [];
  return [...release, { kind: 'removeFinalizer' }];
}

/** Ensures that a group in a cluster which is not ours, or which is not the pool's, is never touched. */
function stayOutOfOtherClusters(s: Situation) {
  return isClusterMismatch(s) ? [] : undefined;
}

/** Ensures that the pool's own group goes, in whatever state it is, once the cluster is proven to be ours. */
function deleteOwnedGroup({ pool, group, cluster }: Situation): Step[] | undefined {
  if (
    cluster.kind !== 'seen' ||
    group.kind !== 'seen' ||
    !isOwnedBy(pool, group.group) ||
    group.group.status === 'DELETING'
  )
    return undefined;
  return [{ kind: 'deleteNodeGroup', group: group.group.name, why: 'the pool is deleted' }];
}

/** Ensures that the pool stays until its group is seen to be gone. A cluster that is gone took the group with it. */
function waitForDeletion({ pool, group, cluster }: Situation): Step[] | undefined {
  if (cluster.kind === 'absent') return undefined;
  const going = group.kind === 'seen' && isOwnedBy(pool, group.group);
  return going || group.kind === 'unreachable' ? [] : undefined;
}

/** Ensures that a pool without a group of its own goes. Its RuntimeClass ends by Kubernetes' garbage collection. */
function finishDeletion(): Step[] {
  return [{ kind: 'removeFinalizer' }];
}

// --- a pool that lives: its node group ----------------------------------------------------------------------------------------

/** Ensures the order: a node group created without the finalizer would outlive a deleted pool. */
function addFinalizerFirst({ pool }: Situation): Step[] | undefined {
  return pool.metadata.finalizers?.includes(FINALIZER) ? undefined : [{ kind: 'addFinalizer' }];
}

/** Ensures that nothing is decided about a group that could not be looked at. */
function waitForAws({ group, cluster }: Situation) {
  return group.kind === 'unreachable' || cluster.kind !== 'seen' ? [] : undefined;
}

/** Ensures that a group of our name that is not ours is never changed and never deleted, nor are its nodes. */
function leaveForeignGroup(s: Situation) {
  const group = groupOf(s);
  return group && !isOwnedBy(s.pool, group) ? [] : undefined;
}

/** Ensures that a group which somebody deletes is waited for; the next one is made when it is gone. */
function waitForGroupToGo({ group }: Situation) {
  return group.kind === 'seen' && group.group.status === 'DELETING' ? [] : undefined;
}

/**
 * Ensures that a failed creation, which never heals, is replaced: at once when the spec would now create something else, and now and
 * then because its cause may lie outside (rights, quotas, subnets).
 */
function replaceFailedGroup(s: Situation): Step[] | undefined {
  if (s.group.kind !== 'seen') return undefined;
  const { group } = s.group;
  if (group.status !== 'CREATE_FAILED' && group.status !== 'DELETE_FAILED') return undefined;
  const changed = group.tags[CREATED_FROM_TAG] !== createdFrom(s);
  if (!changed && s.now < group.modifiedAt + s.settings.createRetryMs) return [];
  return [{ kind: 'deleteNodeGroup', group: group.name, why: `it is ${group.status}` }];
}

/** Ensures that there is a group. What EKS refused is tried again only after a while, or when the spec changed. */
function createMissingGroup(s: Situation): Step[] | undefined {
  const { pool, group, cluster } = s;
  if (group.kind !== 'absent' || cluster.kind !== 'seen') return undefined;
  const failed = pool.status?.nodeGroup?.failedTarget;
  if (failed?.target === createdFrom(s) && s.now < Date.parse(failed.time) + s.settings.createRetryMs) return [];
  const wish = wishFor(pool);
  return [
    ...rememberFirst(s),
    { kind: 'createNodeGroup', wish, token: tokenFor(pool, 'create', wish, pool.status?.nodeGroup?.arn) },
  ];
}

/** Ensures one change at a time: EKS refuses a second one while it works on the first. */
function waitForRunningUpdate({ group }: Situation) {
  return group.kind === 'seen' && (group.group.status === 'CREATING' || group.group.status === 'UPDATING')
    ? []
    : undefined;
}

/**
 * Ensures that the end of an update is known before the next one is sent: a failed one leaves the group as it was, so the same update
 * would be sent for ever.
 */
function waitForUpdateResult({ pool, group, update }: Situation): Step[] | undefined {
  const memory = pool.status?.nodeGroup?.update;
  if (group.kind !== 'seen' || memory?.status !== 'InProgress') return undefined;
  return update?.id === memory.id && update.status !== 'InProgress' ? undefined : [];
}

/** Ensures that labels, taints and size follow the spec, and that what failed is not repeated until the spec changes. */
function correctConfig(s: Situation): Step[] | undefined {
  if (s.group.kind !== 'seen') return undefined;
  const change = configChangeFor(s.pool, s.group.group);
  const target = configTargetOf(s.pool);
  if (!change || hasFailed(s, target)) return undefined;
  const token = tokenFor(s.pool, 'update', change, s.pool.status?.nodeGroup?.update?.id);
  return [{ kind: 'updateConfig', group: s.group.group.name, change, token, target }];
}

/** Ensures that the tags follow the spec; EKS takes them in every state. */
function correctTags(s: Situation): Step[] | undefined {
  if (s.group.kind !== 'seen') return undefined;
  if (['DELETING', 'CREATE_FAILED', 'DELETE_FAILED'].includes(s.group.group.status)) return undefined;
  const change = tagChangeFor(s.pool, s.group.group);
  return change && [...rememberFirst(s), { kind: 'correctTags', group: s.group.group, change }];
}

// --- a pool that lives: its RuntimeClass --------------------------------------------------------------------------------------

/** Ensures that a RuntimeClass which the spec no longer names is left: deleted when nobody else owns it. */
function leaveFormerRuntimeClass({ pool, formerRuntimeClass: seen }: Situation): Step[] | undefined {
  if (!seen || seen.deleting || !isOwner(pool, seen)) return undefined;
  return [isSoleOwner(pool, seen) ? { kind: 'deleteRuntimeClass', seen } : { kind: 'releaseRuntimeClass', seen }];
}

/** Ensures that a RuntimeClass which is being deleted is not written to; its end wakes the pool. */
function waitForRuntimeClassToGo({ runtimeClass }: Situation) {
  return runtimeClass?.deleting ? [] : undefined;
}

/** Ensures that there is a RuntimeClass, unless the pool manages none. */
function createRuntimeClass({ pool, runtimeClass }: Situation): Step[] | undefined {
  const wish = runtimeClassFor(pool);
  if (!wish) return [];
  return runtimeClass ? undefined : [{ kind: 'createRuntimeClass', wish }];
}

/** Ensures that a RuntimeClass which was there before is never taken over. */
function leaveForeignRuntimeClass({ runtimeClass }: Situation) {
  return runtimeClass?.managed ? undefined : [];
}

/** Ensures that two pools which choose one name for a RuntimeClass of their own do not fight: whoever has it keeps it. */
function leaveTakenRuntimeClass({ pool, runtimeClass }: Situation): Step[] | undefined {
  return runtimeClass && isTaken(pool, runtimeClass) ? [] : undefined;
}

/** Ensures another handler by deleting and creating: Kubernetes never changes a handler. Pods that run keep theirs. */
function rebuildRuntimeClass({ pool, runtimeClass }: Situation): Step[] | undefined {
  const wish = runtimeClassFor(pool);
  if (!wish || !runtimeClass || runtimeClass.handler === wish.handler) return undefined;
  return isSoleOwner(pool, runtimeClass) ? [{ kind: 'deleteRuntimeClass', seen: runtimeClass }] : [];
}

/** Ensures that the pool is among the RuntimeClass' owners and that it says what the pool wants. */
function shareRuntimeClass({ pool, runtimeClass }: Situation): Step[] | undefined {
  const wish = runtimeClassFor(pool);
  if (!wish || !runtimeClass) return undefined;
  const done = isOwner(pool, runtimeClass) && isAsWanted(runtimeClass, wish);
  return done ? undefined : [{ kind: 'applyRuntimeClass', wish, seen: runtimeClass }];
}

// --- a pool that lives: its nodes ---------------------------------------------------------------------------------------------

/** Ensures that the label by which pods are placed says what the kernel is: old kubelets lack it, patched ones lag behind. */
function correctBuildLabels({ nodes }: Situation): Step[] | undefined {
  return nodes.flatMap((node): Step[] => {
    const build = parseKernelVersion(node.kernelVersion)?.build;
    if (!build || node.deleting || node.labels[WINDOWS_BUILD_LABEL] === build) return [];
    return [{ kind: 'labelNode', node, build }];
  });
}

// --- shared -------------------------------------------------------------------------------------------------------------------

/** Whether this is not the cluster that the operator runs in, or not the one in which the pool's group was created. */
export function isClusterMismatch({ pool, cluster, settings }: Situation): boolean {
  const pinned = pool.status?.cluster?.arn;
  if (pinned !== undefined) {
    // arn:aws:eks:REGION:ACCOUNT:cluster/NAME, so a wrong flag is seen even when EKS cannot be asked.
    const [, , , region, , path] = pinned.split(':');
    if (region !== settings.region || path !== `cluster/${settings.clusterName}`) return true;
  }
  if (cluster.kind !== 'seen') return false;
  return !cluster.cluster.isOurs || (pinned !== undefined && pinned !== cluster.cluster.arn);
}

/** What the last try at this target came to: remembered in status, or just found out. */
export function hasFailed(s: Situation, target: string): boolean {
  const memory = s.pool.status?.nodeGroup;
  if (memory?.failedTarget?.target === target) return true;
  return s.update?.status === 'Failed' && memory?.update?.id === s.update?.id && memory?.update?.target === target;
}

/** A hash of what a creation would be made from. */
export function createdFrom(s: Situation): string {
  return wishFor(s.pool).tags[CREATED_FROM_TAG] ?? '';
}

/** The memory that must be written before AWS is touched, nothing when status has it. */
function rememberFirst(s: Situation): Step[] {
  if (s.cluster.kind !== 'seen') return [];
  const { name, arn } = s.cluster.cluster;
  const memory: Memory = {
    cluster: { name, arn },
    nodeGroupName: nodeGroupNameOf(s.pool),
    tagKeys: tagKeysFor(s.pool, groupOf(s)),
  };
  const { cluster, nodeGroup } = s.pool.status ?? {};
  const known = { cluster, nodeGroupName: nodeGroup?.name, tagKeys: nodeGroup?.tagKeys };
  return hashOf(known) === hashOf(memory) ? [] : [{ kind: 'remember', memory }];
}

/**
 * A client request token: a crash repeats a call and EKS answers as before; the same wish after another group or update is another
 * call. The pool's UID keeps a pool that is made anew apart from its namesake.
 */
function tokenFor(pool: WindowsPool, step: string, payload: unknown, last: string | undefined): string {
  return `${pool.metadata.name.slice(0, 40)}-${hashOf({ uid: pool.metadata.uid, step, payload, last })}`;
}

/** The group as far as it is known: seen now, or what was seen last. */
export function groupOf({ group }: Situation): NodeGroup | undefined {
  if (group.kind === 'seen') return group.group;
  return group.kind === 'unreachable' ? group.last : undefined;
}
