/**
 * What to do, from what is true. Pure: no I/O, no clock, no randomness.
 *
 *   pool lives    claim -> node group -> tags -> RuntimeClass -> nodes
 *   pool goes     its node group, then its finalizer
 *
 * Each list below is read from the top: the first rule that speaks decides for its list. A rule that answers [] says "wait".
 */

import {
  deleteOwnedGroup,
  finishDeletion,
  leaveWhatIsNotHeld,
  letGoRetained,
  waitForDeletion,
  waitToLeave,
} from './deletionRules.ts';
import { letExistingGo, markNodes, releaseNodes } from './existing/existingNodeRules.ts';
import { isDeleting, isPaused } from './facts.ts';
import { afterAdoption } from './nodeGroup/adoption.ts';
import {
  addFinalizerFirst,
  adoptUnownedGroup,
  correctConfig,
  correctScalingTags,
  correctTags,
  correctVersion,
  createMissingGroup,
  leaveForeignGroup,
  prepareRollingUpdate,
  replaceFailedGroup,
  restoreAccessEntry,
  stayOutOfOtherClusters,
  waitForAws,
  waitForBudget,
  waitForGroupToGo,
  waitForMaintenanceWindow,
  waitForRunningUpdate,
  waitForUpdateResult,
  waitForVerifiedRelease,
} from './nodeGroup/nodeGroupRules.ts';
import { correctBuildLabels, correctTaints, tellNodes } from './nodes/nodeRules.ts';
import { beginWithNodes, moveLeavingNodes, waitForLeavingNodes } from './operations/nodeOperationRules.ts';
import { hasNodeGroup } from './poolKind.ts';
import { enableWindowsIpam } from './prerequisites/windowsIpamRules.ts';
import {
  createRuntimeClass,
  leaveForeignRuntimeClass,
  leaveFormerRuntimeClass,
  leaveTakenRuntimeClass,
  rebuildRuntimeClass,
  shareRuntimeClass,
  waitForRuntimeClassToGo,
} from './runtimeClassRules.ts';
import type { Situation } from './situation.ts';
import type { Step } from './steps.ts';

/** Says what to do, [] for "wait", or undefined for "not my case". */
export type Rule = (s: Situation) => readonly Step[] | undefined;

/** The rules for one part of the world, first match wins. */
export interface Chapter {
  readonly about:
    | 'deletion'
    | 'finalizer'
    | 'nodeGroup'
    | 'windowsIpam'
    | 'accessEntry'
    | 'tags'
    | 'scalingTags'
    | 'formerRuntimeClass'
    | 'runtimeClass'
    | 'leaving'
    | 'nodes'
    | 'taints'
    | 'verdicts'
    | 'leavingNodes'
    | 'orders';
  readonly rules: readonly Rule[];
}

/** A pool that is being deleted only goes. */
export const deletionChapters: readonly Chapter[] = [
  {
    about: 'deletion',
    rules: [
      leaveWhatIsNotHeld,
      waitToLeave,
      letGoRetained,
      stayOutOfOtherClusters,
      deleteOwnedGroup,
      waitForDeletion,
      finishDeletion,
    ],
  },
];

const runtimeClassRules: readonly Rule[] = [
  waitForRuntimeClassToGo,
  createRuntimeClass,
  leaveForeignRuntimeClass,
  leaveTakenRuntimeClass,
  rebuildRuntimeClass,
  shareRuntimeClass,
];

export const livingChapters: readonly Chapter[] = [
  { about: 'finalizer', rules: [addFinalizerFirst] },
  {
    about: 'nodeGroup',
    rules: [
      stayOutOfOtherClusters,
      waitForAws,
      adoptUnownedGroup,
      leaveForeignGroup,
      waitForGroupToGo,
      replaceFailedGroup,
      createMissingGroup,
      waitForRunningUpdate,
      waitForUpdateResult,
      waitForMaintenanceWindow,
      waitForVerifiedRelease,
      waitForLeavingNodes,
      waitForBudget,
      prepareRollingUpdate,
      correctVersion,
      correctConfig,
    ],
  },
  { about: 'windowsIpam', rules: [enableWindowsIpam] },
  { about: 'accessEntry', rules: [restoreAccessEntry] },
  { about: 'tags', rules: [stayOutOfOtherClusters, waitForAws, leaveForeignGroup, correctTags] },
  { about: 'scalingTags', rules: [stayOutOfOtherClusters, waitForAws, correctScalingTags] },
  { about: 'formerRuntimeClass', rules: [leaveFormerRuntimeClass] },
  { about: 'runtimeClass', rules: runtimeClassRules },
  { about: 'nodes', rules: [stayOutOfOtherClusters, leaveForeignGroup, correctBuildLabels] },
  { about: 'taints', rules: [stayOutOfOtherClusters, leaveForeignGroup, correctTaints] },
  { about: 'verdicts', rules: [stayOutOfOtherClusters, leaveForeignGroup, tellNodes] },
  { about: 'leavingNodes', rules: [moveLeavingNodes] },
  { about: 'orders', rules: [beginWithNodes] },
];

/** A pool of existing nodes: those that leave come first, because another pool may wait for them. */
export const existingChapters: readonly Chapter[] = [
  { about: 'finalizer', rules: [addFinalizerFirst] },
  { about: 'leaving', rules: [releaseNodes] },
  { about: 'formerRuntimeClass', rules: [leaveFormerRuntimeClass] },
  { about: 'runtimeClass', rules: runtimeClassRules },
  { about: 'nodes', rules: [markNodes] },
  { about: 'taints', rules: [correctTaints] },
  { about: 'verdicts', rules: [tellNodes] },
  { about: 'leavingNodes', rules: [moveLeavingNodes] },
  { about: 'orders', rules: [beginWithNodes] },
];

const existingDeletionChapters: readonly Chapter[] = [{ about: 'deletion', rules: [letExistingGo] }];

/** The lists for a pool as it is now. Exported for the tests. */
export function chaptersFor({ pool }: Situation): readonly Chapter[] {
  if (hasNodeGroup(pool)) return isDeleting(pool) ? deletionChapters : livingChapters;
  return isDeleting(pool) ? existingDeletionChapters : existingChapters;
}

export interface Plan {
  readonly steps: readonly Step[];
  /** What would be done if the pool were not paused. */
  readonly pending: readonly Step[];
}

/** The plan for a pool. A paused pool is only held: its other steps are pending. */
export function planFor(s: Situation): Plan {
  const steps = withOneClaim(stepsOf(chaptersFor(s), s));
  const later = isDeleting(s.pool) || !hasNodeGroup(s.pool) ? [] : laterSteps(s, steps);
  if (!isPaused(s.pool)) return { steps, pending: later };
  const isHold = ({ kind }: Step) => kind === 'addFinalizer';
  return { steps: steps.filter(isHold), pending: [...steps.filter((step) => !isHold(step)), ...later] };
}

/** A claim is written for one purpose at a time: that of the second would hide the first. */
function withOneClaim(steps: readonly Step[]): readonly Step[] {
  const first = steps.find(({ kind }) => kind === 'claimDisruption');
  return steps.filter((step) => step.kind !== 'claimDisruption' || step === first);
}

/**
 * What is not done now although the group differs: what follows an adoption, and what driftPolicy Report leaves to people.
 * It is shown as if the policy were Correct.
 */
function laterSteps(s: Situation, steps: readonly Step[]): Step[] {
  const adoption = steps.find(({ kind }) => kind === 'adoptNodeGroup');
  if (!adoption && s.pool.spec.driftPolicy === 'Correct') return [];
  const ahead = adoption ? afterAdoption(s, steps) : s;
  const { spec } = ahead.pool;
  const corrected = stepsOf(livingChapters, {
    ...ahead,
    pool: { ...ahead.pool, spec: { ...spec, driftPolicy: 'Correct' } },
  });
  return corrected.filter(
    ({ kind }) =>
      ['updateConfig', 'updateNodeGroupVersion', 'correctTags'].includes(kind) &&
      !steps.some((step) => step.kind === kind),
  );
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
