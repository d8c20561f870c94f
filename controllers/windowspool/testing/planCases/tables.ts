/** The rules of the plan as tables, by what they are about. Cases of paused pools are apart: they show steps and take none. */
import { adoptionCases } from './adoption.ts';
import { automaticUpdateCases } from './automaticUpdates.ts';
import { autoscalerCases } from './autoscaler.ts';
import { deletionCases } from './deletion.ts';
import { driftCases } from './drift.ts';
import { existingNodeOperationCases } from './existingNodeOperations.ts';
import { fleetCases } from './fleet.ts';
import { gateCases } from './gate.ts';
import { maintenanceWindowCases } from './maintenanceWindows.ts';
import { nodeConditionCases } from './nodeConditions.ts';
import { nodeGroupCases } from './nodeGroup.ts';
import { nodeLabelCases } from './nodeLabels.ts';
import { nodeOperationCases } from './nodeOperations.ts';
import { nodeTurnCases } from './nodeTurns.ts';
import type { PlanCase } from './planCase.ts';
import { prerequisiteCases } from './prerequisites.ts';
import { quarantineCases } from './quarantine.ts';
import { remediationCases } from './remediation.ts';
import { retainCases } from './retain.ts';
import { runtimeClassCases } from './runtimeClasses.ts';
import { tagCases } from './tags.ts';
import { templateCases } from './templates.ts';
import { updateSettingCases } from './updateSettings.ts';
import { versionCases } from './versions.ts';

export const tables: Readonly<Record<string, readonly PlanCase[]>> = {
  'a pool that lives: its node group': nodeGroupCases,
  'a pool that lives: the tags of its node group': tagCases,
  'a pool that lives: a group that was there before': [...adoptionCases, ...driftCases],
  'a pool that lives: its prerequisites': prerequisiteCases,
  'a pool that lives: what the cluster-autoscaler is told': autoscalerCases,
  'a pool that lives: its versions': [
    ...versionCases,
    ...updateSettingCases,
    ...automaticUpdateCases,
    ...maintenanceWindowCases,
    ...fleetCases,
  ],
  'a pool that lives: its launch template': templateCases,
  'a pool that lives: its RuntimeClass': runtimeClassCases,
  'a pool that lives: its nodes': nodeLabelCases,
  'a pool that lives: the taints of its nodes': [...gateCases, ...quarantineCases],
  'a pool that lives: what its nodes are told': nodeConditionCases,
  'a pool that lives: its nodes that go': [...nodeTurnCases, ...nodeOperationCases, ...remediationCases],
  'a pool of existing nodes: its nodes that go': existingNodeOperationCases,
  'a pool that goes': deletionCases,
  'a pool that goes and leaves its group': retainCases,
};
