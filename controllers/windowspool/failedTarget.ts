/** What EKS refused or failed to do. Remembered in status, so that it is not tried again for ever. Pure. */
import type { NodeGroupState } from './api.gen.ts';
import { createdFrom, groupOf } from './facts.ts';
import { configChangeFor, configTargetOf } from './groupChanges.ts';
import { nodeGroupNameOf } from './nodeGroup.ts';
import type { Situation, StepTrouble } from './situation.ts';
import type { Step } from './steps.ts';

export type FailedTarget = NonNullable<NodeGroupState['failedTarget']>;

/** The failure as long as the spec still asks for the same: found out just now, or remembered. */
export function failedTargetOf(s: Situation): FailedTarget | undefined {
  return refusedCreation(s) ?? refusedUpdate(s) ?? failedUpdate(s) ?? rememberedFailure(s);
}

function refusedCreation(s: Situation): FailedTarget | undefined {
  const lasting = lastingTrouble(s, 'createNodeGroup');
  if (!lasting) return undefined;
  const { trouble, at } = lasting;
  const reason = trouble.kind === 'limit' ? 'QuotaExceeded' : 'CreateRefused';
  const message = `EKS refused to create node group ${nodeGroupNameOf(s.pool)}: ${trouble.message}`;
  return { target: createdFrom(s), reason, message, time: timeOf(at) };
}

function refusedUpdate(s: Situation): FailedTarget | undefined {
  const lasting = lastingTrouble(s, 'updateConfig');
  const target = openTarget(s);
  if (lasting?.trouble.kind !== 'refused' || target === undefined) return undefined;
  const message = `EKS refused to update node group ${nodeGroupNameOf(s.pool)}: ${lasting.trouble.message}`;
  return { target, reason: 'UpdateRefused', message, time: timeOf(lasting.at) };
}

/** Only DescribeUpdate tells that an update failed: the group is ACTIVE again, and as it was. */
function failedUpdate(s: Situation): FailedTarget | undefined {
  const { pool, update, now } = s;
  const memory = pool.status?.nodeGroup?.update;
  const target = openTarget(s);
  if (update?.status !== 'Failed' || memory?.id !== update.id || memory.target !== target) return undefined;
  const words = update.errors.map(({ code, message }) => `${code}: ${message}`).join(' ');
  const message = `Update ${update.id} of node group ${nodeGroupNameOf(pool)} failed: ${words || 'EKS gives no reason.'}`;
  return { target, reason: 'UpdateFailed', message, time: timeOf(now) };
}

function rememberedFailure(s: Situation): FailedTarget | undefined {
  const memory = s.pool.status?.nodeGroup?.failedTarget;
  const creation = s.group.kind !== 'seen' && memory?.target === createdFrom(s);
  const update = s.group.kind !== 'absent' && memory?.target === openTarget(s);
  return creation || update ? memory : undefined;
}

/** The target of the update that the spec asks for now; none when the group is as it says, by whatever means. */
function openTarget(s: Situation): string | undefined {
  const group = groupOf(s);
  const change = group && configChangeFor(s.pool, group);
  return change && configTargetOf(s.pool, change);
}

/** Trouble that the same call would meet again. */
function lastingTrouble({ troubles }: Situation, step: Step['kind']): StepTrouble | undefined {
  return troubles.find((entry) => entry.step === step && ['refused', 'limit', 'unknown'].includes(entry.trouble.kind));
}

/** Kubernetes writes times without fractions. */
export function timeOf(now: number): string {
  return new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
}
