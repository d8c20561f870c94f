/** The rules of a pool with a node group: one chain per subject, first match wins. */

import type { Reason } from '../../api/reasons.ts';
import type { HeldStep } from '../../model/decisions.ts';
import type { Step } from '../../model/steps.ts';
import { deleteNodePods, runNodePods } from '../../nodePods/nodePodRules.ts';
import { correctBuildLabels, correctTaints, setNodeConditions } from '../../nodes/nodeRules.ts';
import { addFinalizerFirst } from '../../rules/finalizerRule.ts';
import { nodeGroupIn } from '../../rules/nodeSource.ts';
import { type RuleChain, stepsOf } from '../../rules/ruleChains.ts';
import { releaseFormerRuntimeClass, runtimeClassRules } from '../../runtimeClass/runtimeClassRules.ts';
import { stepKindOf } from '../../steps/stepKinds.ts';
import { withDue } from '../provider.ts';
import {
  deleteOwnedGroup,
  deleteSecondGroup,
  finishDeletion,
  finishWithoutCluster,
  releaseRetainedGroup,
  releaseSecondGroup,
  skipWithoutFinalizer,
  waitForDeletion,
  waitForRetainedMarks,
} from './deletionRules.ts';
import { dueForNodeGroup } from './derive/deriveGroup.ts';
import { afterAdoption } from './desired/adoption.ts';
import { admitNodes, drainNodes, waitForTerminatingNodes } from './drainGroupNodes.ts';
import {
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
  waitForGroupToGo,
  waitForRunningUpdate,
  waitForUpdateResult,
} from './groupRules.ts';
import {
  addCanaryVersion,
  addTemplateVersion,
  afterTemplateSteps,
  createTemplate,
  deleteOwnTemplate,
  deleteUnusedTemplate,
  pruneTemplateVersions,
} from './launchTemplate/ownTemplateRules.ts';
import type { EksDerived } from './model/groupDue.ts';
import type { EksState } from './model/groupState.ts';
import { createCanary, endCanary, keepOpenCanary, recallCanary, tryOnCanary } from './secondGroup/canaryRules.ts';
import {
  discardOutdatedGroup,
  growToTakeOver,
  keepUnchangeableGroup,
  recallNodeGroups,
  replaceChangedGroup,
  revertReplacement,
  waitForReplacement,
  waitForRollback,
} from './secondGroup/replacementRules.ts';
import { drainRules } from './secondGroup/secondGroupDrainRules.ts';
import {
  keepNewerThanCluster,
  keepPresentVersion,
  keepReportedDrift,
  keepRolledBackVersion,
} from './versions/policyRules.ts';
import {
  skipFailedVersion,
  waitForAcceptedTemplate,
  waitForBudget,
  waitForCluster,
  waitForControlPlane,
  waitForLaunchTemplate,
  waitForMaintenanceWindow,
  waitForOwnTemplate,
  waitForVerifiedRelease,
} from './versions/updateWaitRules.ts';
import { enableWindowsIpam } from './windowsIpam/windowsIpamRules.ts';

/** The rules of a pool that is being deleted. */
export const deletionChains: readonly RuleChain<EksDerived>[] = [
  { about: 'nodePods', rules: [deleteNodePods] },
  {
    about: 'deletion',
    rules: [
      skipWithoutFinalizer,
      releaseSecondGroup,
      waitForRetainedMarks,
      releaseRetainedGroup,
      finishWithoutCluster,
      stopOnClusterMismatch,
      deleteSecondGroup,
      deleteOwnedGroup,
      waitForDeletion,
      deleteOwnTemplate,
      finishDeletion,
    ],
  },
];

/** The rules of a pool. */
export const poolChains: readonly RuleChain<EksDerived>[] = [
  { about: 'finalizer', rules: [addFinalizerFirst] },
  {
    about: 'launchTemplate',
    rules: [
      stopOnClusterMismatch,
      waitForAws,
      skipUnownedGroup,
      createTemplate,
      addTemplateVersion,
      addCanaryVersion,
      pruneTemplateVersions,
      deleteUnusedTemplate,
    ],
  },
  {
    about: 'nodeGroup',
    rules: [
      stopOnClusterMismatch,
      waitForAws,
      recallCanary,
      recallNodeGroups,
      revertReplacement,
      adoptUnownedGroup,
      skipUnownedGroup,
      waitForGroupToGo,
      replaceFailedGroup,
      createMissingGroup,
      discardOutdatedGroup,
      waitForRunningUpdate,
      waitForUpdateResult,
    ],
  },
  { about: 'replacement', follows: 'nodeGroup', rules: [keepUnchangeableGroup, waitForRollback, replaceChangedGroup] },
  {
    about: 'version',
    follows: 'replacement',
    rules: [
      skipFailedVersion,
      waitForLaunchTemplate,
      waitForCluster,
      waitForVerifiedRelease,
      waitForMaintenanceWindow,
      waitForReplacement,
      tryOnCanary,
      waitForTerminatingNodes,
      waitForBudget,
      prepareRollingUpdate,
      correctVersion,
    ],
  },
  { about: 'config', follows: 'version', rules: [growToTakeOver, correctConfig] },
  {
    about: 'secondNodeGroup',
    rules: [stopOnClusterMismatch, waitForAws, endCanary, createCanary, keepOpenCanary, ...drainRules],
  },
  { about: 'windowsIpam', rules: [enableWindowsIpam] },
  { about: 'accessEntry', rules: [restoreAccessEntry] },
  { about: 'tags', rules: [stopOnClusterMismatch, waitForAws, skipUnownedGroup, correctTags] },
  { about: 'scalingTags', rules: [stopOnClusterMismatch, waitForAws, correctScalingTags] },
  {
    about: 'prerequisites',
    rules: [stopOnClusterMismatch, skipUnownedGroup, waitForAcceptedTemplate, waitForOwnTemplate, waitForControlPlane],
  },
  {
    about: 'policy',
    rules: [
      stopOnClusterMismatch,
      skipUnownedGroup,
      keepReportedDrift,
      keepNewerThanCluster,
      keepRolledBackVersion,
      keepPresentVersion,
    ],
  },
  { about: 'formerRuntimeClass', rules: [releaseFormerRuntimeClass] },
  { about: 'runtimeClass', rules: runtimeClassRules },
  { about: 'nodes', rules: [stopOnClusterMismatch, skipUnownedGroup, correctBuildLabels] },
  { about: 'taints', rules: [stopOnClusterMismatch, skipUnownedGroup, correctTaints] },
  { about: 'nodeConditions', rules: [stopOnClusterMismatch, skipUnownedGroup, setNodeConditions] },
  { about: 'nodePods', rules: [stopOnClusterMismatch, skipUnownedGroup, runNodePods] },
  { about: 'terminatingNodes', rules: [drainNodes] },
  { about: 'annotations', rules: [admitNodes] },
];

/**
 * Steps that the chains do not give now although the group differs: those that follow an adoption or a new version of the launch template, and
 * corrections that driftPolicy Report leaves to users.
 */
export function laterSteps(s: EksDerived, steps: readonly Step[]): HeldStep[] {
  const adoption = steps.find(({ kind }) => kind === 'adoptNodeGroup');
  const written = afterTemplateSteps(s, steps);
  const ahead = adoption ? afterAdoption(s, steps) : (written ?? s);
  const following = ahead === s ? [] : heldIn(ahead, adoption ? 'Adopting' : 'UpdatePending', steps);
  if (nodeGroupIn(s.pool.spec).driftPolicy === 'Correct') return following;
  const corrected = heldIn(withCorrection(ahead), 'Drifted', [...steps, ...following.map(({ step }) => step)]);
  return [...following, ...corrected];
}

/** The steps in this state that bring the group closer to the spec, without those of a kind that is planned. */
function heldIn(s: EksState, heldBy: Reason, planned: readonly Step[]): HeldStep[] {
  const missing = stepsOf(poolChains, withDue(s, dueForNodeGroup(s))).filter(
    (step) => stepKindOf(step).appliesSpec && !planned.some(({ kind }) => kind === step.kind),
  );
  return missing.map((step) => ({ step, heldBy }));
}

/** The observed state as if driftPolicy were Correct. */
function withCorrection(s: EksState): EksState {
  const nodeGroup = { ...nodeGroupIn(s.pool.spec), driftPolicy: 'Correct' as const };
  return { ...s, pool: { ...s.pool, spec: { ...s.pool.spec, nodeGroup } } };
}
