/** The rules of a pool of machines: one chain per subject, first match wins. */

import { markNodes, releaseMarkedNodes, releaseNodes } from '../../membership/markRules.ts';
import { deleteNodePods, runNodePods } from '../../nodePods/nodePodRules.ts';
import { correctTaints, setNodeConditions } from '../../nodes/nodeRules.ts';
import { addFinalizerFirst } from '../../rules/finalizerRule.ts';
import type { RuleChain } from '../../rules/ruleChains.ts';
import { releaseFormerRuntimeClass, runtimeClassRules } from '../../runtimeClass/runtimeClassRules.ts';
import { admitMachines, drainMachines, unmarkMachines } from './drainMachines.ts';
import { deleteOwnMachineSet, keepMachineSet } from './machineSetRules.ts';
import type { MachinesDerived } from './machinesState.ts';
import { reportVerification } from './readinessGateRules.ts';
import { replaceOutdated } from './rollout.ts';
import { setSize } from './sizeRules.ts';

/** The rules of a pool. */
export const machinesChains: readonly RuleChain<MachinesDerived>[] = [
  { about: 'finalizer', rules: [addFinalizerFirst] },
  { about: 'release', rules: [releaseNodes] },
  { about: 'formerRuntimeClass', rules: [releaseFormerRuntimeClass] },
  { about: 'runtimeClass', rules: runtimeClassRules },
  { about: 'machineSet', rules: [keepMachineSet] },
  { about: 'machines', rules: [setSize] },
  { about: 'rollout', rules: [replaceOutdated] },
  { about: 'marks', rules: [unmarkMachines] },
  { about: 'nodes', rules: [markNodes] },
  { about: 'taints', rules: [correctTaints] },
  { about: 'nodeConditions', rules: [setNodeConditions] },
  { about: 'machineConditions', rules: [reportVerification] },
  { about: 'nodePods', rules: [runNodePods] },
  { about: 'terminatingNodes', rules: [drainMachines] },
  { about: 'annotations', rules: [admitMachines] },
];

/** The rules of a pool that is being deleted: its object and its Machines stay if a user owns them. */
export const machinesDeletionChains: readonly RuleChain<MachinesDerived>[] = [
  { about: 'marks', rules: [unmarkMachines] },
  { about: 'nodePods', rules: [deleteNodePods] },
  { about: 'machineSet', rules: [deleteOwnMachineSet] },
  { about: 'deletion', follows: 'machineSet', rules: [releaseMarkedNodes] },
];
