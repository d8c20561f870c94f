/** The rules of a pool of existing nodes, as lists: one for each part of the world, first match wins. */
import { addFinalizerFirst } from '../../finalizer.ts';
import { correctTaints, setNodeConditions } from '../../nodes/rules.ts';
import type { RuleChain } from '../../ruleChains.ts';
import { releaseFormerRuntimeClass, runtimeClassRules } from '../../runtimeClass/rules.ts';
import { admitExistingNodes, drainExistingNodes } from './disruption.ts';
import { markNodes, releaseExistingNodes, releaseNodes } from './rules.ts';

/** A pool of existing nodes: those that leave come first, because another pool may wait for them. */
export const existingNodesChains: readonly RuleChain[] = [
  { about: 'finalizer', rules: [addFinalizerFirst] },
  { about: 'release', rules: [releaseNodes] },
  { about: 'formerRuntimeClass', rules: [releaseFormerRuntimeClass] },
  { about: 'runtimeClass', rules: runtimeClassRules },
  { about: 'nodes', rules: [markNodes] },
  { about: 'taints', rules: [correctTaints] },
  { about: 'nodeConditions', rules: [setNodeConditions] },
  { about: 'terminatingNodes', rules: [drainExistingNodes] },
  { about: 'annotations', rules: [admitExistingNodes] },
];

export const existingNodesDeletionChains: readonly RuleChain[] = [{ about: 'deletion', rules: [releaseExistingNodes] }];
