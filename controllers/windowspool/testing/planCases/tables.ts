/** The rules of the plan as tables, by subject. Cases of paused pools are separate: they show steps and take none. */
import { adoptionCases } from './adoption.ts';
import { automaticUpdateCases } from './automaticUpdates.ts';
import { autoscalerCases } from './autoscaler.ts';
import { canaryCases } from './canary.ts';
import { customAmiCases } from './customAmi.ts';
import { customCanaryCases } from './customCanary.ts';
import { deletionCases } from './deletion.ts';
import { driftCases } from './drift.ts';
import { existingNodeOperationCases } from './existingNodeOperations.ts';
import { gateCases } from './gate.ts';
import { launchSettingsCases } from './launchSettings.ts';
import { maintenanceWindowCases } from './maintenanceWindows.ts';
import { nodeConditionCases } from './nodeConditions.ts';
import { nodeGroupCases } from './nodeGroup.ts';
import { nodeLabelCases } from './nodeLabels.ts';
import { nodeOperationCases } from './nodeOperations.ts';
import { nodePodCases } from './nodePods.ts';
import { nodeTurnCases } from './nodeTurns.ts';
import { otherPoolsCases } from './otherPools.ts';
import type { PlanCase } from './planCase.ts';
import { prerequisiteCases } from './prerequisites.ts';
import { quarantineCases } from './quarantine.ts';
import { remediationCases } from './remediation.ts';
import { replacementCases } from './replacement.ts';
import { retainCases } from './retain.ts';
import { runtimeClassCases } from './runtimeClasses.ts';
import { tagCases } from './tags.ts';
import { templateCases } from './templates.ts';
import { updateSettingCases } from './updateSettings.ts';
import { userDataCases } from './userData.ts';
import { versionCases } from './versions.ts';
import { warmPoolCases } from './warmPool.ts';

export const tables: Readonly<Record<string, readonly PlanCase[]>> = {
  'for a node group': [...nodeGroupCases, ...warmPoolCases],
  'for the tags of a node group': tagCases,
  'for an existing node group': [...adoptionCases, ...driftCases],
  'for a node group that is replaced': replacementCases,
  'for an update that is tried on a canary': canaryCases,
  'for prerequisites': prerequisiteCases,
  'for the cluster-autoscaler': autoscalerCases,
  'for versions': [
    ...versionCases,
    ...updateSettingCases,
    ...automaticUpdateCases,
    ...maintenanceWindowCases,
    ...otherPoolsCases,
  ],
  'for a launch template': templateCases,
  'for the launch settings': launchSettingsCases,
  'for a custom AMI': customAmiCases,
  'for a custom AMI that is tried on a canary first': customCanaryCases,
  'for a script of nodes': userDataCases,
  'for a RuntimeClass': runtimeClassCases,
  'for the labels of nodes': nodeLabelCases,
  'for the taints of nodes': [...gateCases, ...quarantineCases],
  'for the conditions of nodes': nodeConditionCases,
  'for pods on new nodes': nodePodCases,
  'for terminating nodes': [...nodeTurnCases, ...nodeOperationCases, ...remediationCases],
  'for existing nodes that are drained': existingNodeOperationCases,
  'for a pool that is being deleted': deletionCases,
  'for a deleted pool that retains its group': retainCases,
};
