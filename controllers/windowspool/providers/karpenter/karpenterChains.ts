/** The rules of a pool of Karpenter: one chain per subject, first match wins. */

import { markNodes, releaseMarkedNodes, releaseNodes } from '../../membership/markRules.ts';
import { deleteNodePods, runNodePods } from '../../nodePods/nodePodRules.ts';
import { setNodeConditions } from '../../nodes/nodeRules.ts';
import { addFinalizerFirst } from '../../rules/finalizerRule.ts';
import type { RuleChain } from '../../rules/ruleChains.ts';
import { releaseFormerRuntimeClass, runtimeClassRules } from '../../runtimeClass/runtimeClassRules.ts';
import { correctClaimTaints } from './claimTaints.ts';
import { admitClaims, drainClaims } from './drainClaims.ts';
import type { KarpenterDerived } from './karpenterState.ts';
import { deleteNodeClass, deleteNodePool, keepNodeClass, keepNodePool } from './objectRules.ts';

/** The rules of a pool. */
export const karpenterChains: readonly RuleChain<KarpenterDerived>[] = [
  { about: 'finalizer', rules: [addFinalizerFirst] },
  { about: 'release', rules: [releaseNodes] },
  { about: 'formerRuntimeClass', rules: [releaseFormerRuntimeClass] },
  { about: 'runtimeClass', rules: runtimeClassRules },
  { about: 'nodeClass', rules: [keepNodeClass] },
  { about: 'nodePool', follows: 'nodeClass', rules: [keepNodePool] },
  { about: 'nodes', rules: [markNodes] },
  { about: 'taints', rules: [correctClaimTaints] },
  { about: 'nodeConditions', rules: [setNodeConditions] },
  { about: 'nodePods', rules: [runNodePods] },
  { about: 'terminatingNodes', rules: [drainClaims] },
  { about: 'annotations', rules: [admitClaims] },
];

/** The rules of a pool that is being deleted: its nodes are deleted with the NodePool, and then those are released that are left. */
export const karpenterDeletionChains: readonly RuleChain<KarpenterDerived>[] = [
  { about: 'nodePods', rules: [deleteNodePods] },
  { about: 'nodePool', rules: [deleteNodePool] },
  { about: 'nodeClass', follows: 'nodePool', rules: [deleteNodeClass] },
  { about: 'deletion', follows: 'nodeClass', rules: [releaseMarkedNodes] },
];
