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
  releaseRetainedGroup,
  skipWithoutFinalizer,
  waitForDeletion,
  waitForRetainedMarks,
} from './deletionRules.ts';
import { admitNodes, drainNodes, waitForTerminatingNodes } from './disruption/rules.ts';
import { isDeleting, isPaused } from './facts.ts';
import type { ObservedState } from './model/observedState.ts';
import type { Step } from './model/steps.ts';
import { correctBuildLabels, correctTaints, setNodeConditions } from './nodes/rules.ts';
import { hasNodeGroup } from './poolKind.ts';
import { afterAdoption } from './providers/eks/adoption.ts';
import { enableWindowsIpam } from './providers/eks/prerequisites/windowsIpamRules.ts';
import {
  addFinalizerFirst,
  adoptUnownedGroup,
  correctConfig,
  correctScalingTags,
  correctTags,
  correctVersion,
  createMissingGroup,
  prepareRollingUpdate,
  replaceFailedGroup,
  restoreAccessEntry,
  skipUnownedGroup,
  stopOnClusterMismatch,
  waitForAws,
  waitForBudget,
  waitForGroupToGo,
  waitForMaintenanceWindow,
  waitForRunningUpdate,
  waitForUpdateResult,
  waitForVerifiedRelease,
} from './providers/eks/rules.ts';
import { markNodes, releaseExistingNodes, releaseNodes } from './providers/existing/rules.ts';
import {
  createRuntimeClass,
  rebuildRuntimeClass,
  releaseFormerRuntimeClass,
  shareRuntimeClass,
  skipTakenRuntimeClass,
  skipUnownedRuntimeClass,
  waitForRuntimeClassToGo,
} from './runtimeClass/rules.ts';

/** Says what to do, [] for "wait", or undefined for "not my case". */
export type Rule = (s: ObservedState) => readonly Step[] | undefined;

/** The rules for one part of the world, first match wins. */
export interface RuleChain {
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
    | 'release'
    | 'nodes'
    | 'taints'
    | 'nodeConditions'
    | 'terminatingNodes'
    | 'annotations';
  readonly rules: readonly Rule[];
}

/** A pool that is being deleted only goes. */
export const deletionChains: readonly RuleChain[] = [
  {
    about: 'deletion',
    rules: [
      skipWithoutFinalizer,
      waitForRetainedMarks,
      releaseRetainedGroup,
      stopOnClusterMismatch,
      deleteOwnedGroup,
      waitForDeletion,
      finishDeletion,
    ],
  },
];

const runtimeClassRules: readonly Rule[] = [
  waitForRuntimeClassToGo,
  createRuntimeClass,
  skipUnownedRuntimeClass,
  skipTakenRuntimeClass,
  rebuildRuntimeClass,
  shareRuntimeClass,
];

export const poolChains: readonly RuleChain[] = [
  { about: 'finalizer', rules: [addFinalizerFirst] },
  {
    about: 'nodeGroup',
    rules: [
      stopOnClusterMismatch,
      waitForAws,
      adoptUnownedGroup,
      skipUnownedGroup,
      waitForGroupToGo,
      replaceFailedGroup,
      createMissingGroup,
      waitForRunningUpdate,
      waitForUpdateResult,
      waitForMaintenanceWindow,
      waitForVerifiedRelease,
      waitForTerminatingNodes,
      waitForBudget,
      prepareRollingUpdate,
      correctVersion,
      correctConfig,
    ],
  },
  { about: 'windowsIpam', rules: [enableWindowsIpam] },
  { about: 'accessEntry', rules: [restoreAccessEntry] },
  { about: 'tags', rules: [stopOnClusterMismatch, waitForAws, skipUnownedGroup, correctTags] },
  { about: 'scalingTags', rules: [stopOnClusterMismatch, waitForAws, correctScalingTags] },
  { about: 'formerRuntimeClass', rules: [releaseFormerRuntimeClass] },
  { about: 'runtimeClass', rules: runtimeClassRules },
  { about: 'nodes', rules: [stopOnClusterMismatch, skipUnownedGroup, correctBuildLabels] },
  { about: 'taints', rules: [stopOnClusterMismatch, skipUnownedGroup, correctTaints] },
  { about: 'nodeConditions', rules: [stopOnClusterMismatch, skipUnownedGroup, setNodeConditions] },
  { about: 'terminatingNodes', rules: [drainNodes] },
  { about: 'annotations', rules: [admitNodes] },
];

/** A pool of existing nodes: those that leave come first, because another pool may wait for them. */
export const existingNodesChains: readonly RuleChain[] = [
  { about: 'finalizer', rules: [addFinalizerFirst] },
  { about: 'release', rules: [releaseNodes] },
  { about: 'formerRuntimeClass', rules: [releaseFormerRuntimeClass] },
  { about: 'runtimeClass', rules: runtimeClassRules },
  { about: 'nodes', rules: [markNodes] },
  { about: 'taints', rules: [correctTaints] },
  { about: 'nodeConditions', rules: [setNodeConditions] },
  { about: 'terminatingNodes', rules: [drainNodes] },
  { about: 'annotations', rules: [admitNodes] },
];

const existingNodesDeletionChains: readonly RuleChain[] = [{ about: 'deletion', rules: [releaseExistingNodes] }];

/** The lists for a pool as it is now. Exported for the tests. */
export function chainsFor({ pool }: ObservedState): readonly RuleChain[] {
  if (hasNodeGroup(pool)) return isDeleting(pool) ? deletionChains : poolChains;
  return isDeleting(pool) ? existingNodesDeletionChains : existingNodesChains;
}

export interface Plan {
  readonly steps: readonly Step[];
  /** What would be done if the pool were not paused. */
  readonly pending: readonly Step[];
}

/** The plan for a pool. A paused pool is only held: its other steps are pending. */
export function planFor(s: ObservedState): Plan {
  const steps = withOneReservation(stepsOf(chainsFor(s), s));
  const later = isDeleting(s.pool) || !hasNodeGroup(s.pool) ? [] : laterSteps(s, steps);
  if (!isPaused(s.pool)) return { steps, pending: later };
  const isHold = ({ kind }: Step) => kind === 'addFinalizer';
  return { steps: steps.filter(isHold), pending: [...steps.filter((step) => !isHold(step)), ...later] };
}

/** A claim is written for one purpose at a time: that of the second would hide the first. */
function withOneReservation(steps: readonly Step[]): readonly Step[] {
  const first = steps.find(({ kind }) => kind === 'reserveDisruption');
  return steps.filter((step) => step.kind !== 'reserveDisruption' || step === first);
}

/**
 * What is not done now although the group differs: what follows an adoption, and what driftPolicy Report leaves to people.
 * It is shown as if the policy were Correct.
 */
function laterSteps(s: ObservedState, steps: readonly Step[]): Step[] {
  const adoption = steps.find(({ kind }) => kind === 'adoptNodeGroup');
  if (!adoption && s.pool.spec.driftPolicy === 'Correct') return [];
  const ahead = adoption ? afterAdoption(s, steps) : s;
  const { spec } = ahead.pool;
  const corrected = stepsOf(poolChains, {
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
export function stepsOf(chains: readonly RuleChain[], s: ObservedState): Step[] {
  return chains.flatMap(({ rules }) => {
    for (const rule of rules) {
      const steps = rule(s);
      if (steps) return steps;
    }
    return [];
  });
}
