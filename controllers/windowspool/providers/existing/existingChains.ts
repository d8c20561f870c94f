/** The rules of a pool of existing nodes: one chain per subject, first match wins. */

import { markNodes, releaseMarkedNodes, releaseNodes } from '../../membership/markRules.ts';
import { deleteNodePods, runNodePods } from '../../nodePods/nodePodRules.ts';
import { correctTaints, setNodeConditions } from '../../nodes/nodeRules.ts';
import { addFinalizerFirst } from '../../rules/finalizerRule.ts';
import type { RuleChain } from '../../rules/ruleChains.ts';
import { releaseFormerRuntimeClass, runtimeClassRules } from '../../runtimeClass/runtimeClassRules.ts';
import { admitExistingNodes, drainExistingNodes } from './drainExistingNodes.ts';

/** The rules of a pool. Nodes are released first, because another pool may wait for them. */
export const existingNodesChains: readonly RuleChain[] = [
  { about: 'finalizer', rules: [addFinalizerFirst] },
  { about: 'release', rules: [releaseNodes] },
  { about: 'formerRuntimeClass', rules: [releaseFormerRuntimeClass] },
  { about: 'runtimeClass', rules: runtimeClassRules },
  { about: 'nodes', rules: [markNodes] },
  { about: 'taints', rules: [correctTaints] },
  { about: 'nodeConditions', rules: [setNodeConditions] },
  { about: 'nodePods', rules: [runNodePods] },
  { about: 'terminatingNodes', rules: [drainExistingNodes] },
  { about: 'annotations', rules: [admitExistingNodes] },
];

/** The rules of a pool that is being deleted. */
export const existingNodesDeletionChains: readonly RuleChain[] = [
  { about: 'nodePods', rules: [deleteNodePods] },
  { about: 'deletion', rules: [releaseMarkedNodes] },
];
