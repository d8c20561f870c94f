/**
 * Enables Windows IPAM at its owner (--enable-windows-ipam): the next step, and what blocks it. Pure. The VPC resource controller reads only the
 * ConfigMap. If the vpc-cni add-on is installed, EKS writes that ConfigMap at each update of the add-on, which reverts a value that is set only there.
 */

import type { Addon, ConfigMapOwner } from '../../../ports/prerequisites.ts';
import { isLasting } from '../../../rules/poolQueries.ts';
import { clockTime, describeFailure, joined, sentence } from '../../../util/words.ts';
import { factTable } from '../checks/factTable.ts';
import type { CheckFacts, IpamOffer } from '../model/checkFacts.ts';
import type { EksState } from '../model/groupState.ts';
import { isIpamStep } from '../steps/isIpamStep.ts';

/**
 * - `updateAddon`, `applyCniConfig`: the next step.
 * - `wait`: a transient state, without an action.
 * - `blocked`: what the user must fix, or the time of the next attempt.
 */
export type IpamMove =
  | { readonly kind: 'updateAddon'; readonly addon: Addon }
  | { readonly kind: 'applyCniConfig'; readonly seen: ConfigMapOwner | undefined; readonly addon: Addon | undefined }
  | { readonly kind: 'wait'; readonly why: string }
  | { readonly kind: 'blocked'; readonly why: string };

/** Statuses in which EKS accepts no update of an add-on. */
const BUSY = ['CREATING', 'UPDATING', 'DELETING'];
/** Statuses in which EKS accepts updates of an add-on and owns its objects. */
const SETTLED = ['ACTIVE', 'DEGRADED', 'UPDATE_FAILED'];

/** The input for enabling Windows IPAM for a pool that needs it. */
export function ipamOfferOf({ now, settings, ipamAttempts: attempts = {}, errors }: EksState): IpamOffer {
  const { pollMs, resyncMs, createRetryMs } = settings;
  const error = errors.find(({ step, error: { kind } }) => isIpamStep({ kind: step }) && kind !== 'denied')?.error;
  return {
    now,
    attempts,
    error: error && isLasting(error) ? error : undefined,
    pollMs,
    resyncMs,
    createRetryMs,
  };
}

/** The next step while Windows IPAM is disabled in the ConfigMap. */
export function nextIpamMove(facts: CheckFacts, offer: IpamOffer): IpamMove {
  const { cniAddon } = facts;
  const { error } = offer;
  if (error) return blocked(`${describeFailure(error)} The operator retries`);
  if (!cniAddon?.ok)
    return blocked(`To enable it, the operator must read the vpc-cni add-on. Grant ${factTable.cniAddon.permission}`);
  const addon = cniAddon.value;
  return (addon && moveOfAddon(addon, offer)) ?? moveOfConfigMap(addon, facts, offer);
}

/** The next step for the add-on; undefined when the add-on enables the setting, so that only the ConfigMap is left. */
function moveOfAddon(
  addon: Addon,
  { now, attempts, pollMs, resyncMs, createRetryMs }: IpamOffer,
): IpamMove | undefined {
  const { status, windowsIpam, issues, modifiedAt } = addon;
  if (windowsIpam === undefined)
    return blocked(
      'The configuration values of the vpc-cni add-on are neither a JSON nor a YAML object, so the operator cannot change them. Correct them in the add-on',
    );
  if (BUSY.includes(status)) return { kind: 'wait', why: `The vpc-cni add-on is ${status}` };
  if (!SETTLED.includes(status))
    return blocked(
      `The vpc-cni add-on is ${status}${inWords(issues)}. Fix the cause, or delete the add-on and install it again`,
    );
  const failed = status === 'UPDATE_FAILED';
  if (windowsIpam && !failed) {
    // EKS may be about to write the ConfigMap.
    return now < modifiedAt + pollMs ? { kind: 'wait', why: 'The vpc-cni add-on was just updated' } : undefined;
  }
  const again = Math.max(failed ? modifiedAt + createRetryMs : 0, afterLast(attempts.updateAddon, resyncMs));
  if (now >= again) return { kind: 'updateAddon', addon };
  const next = `Next attempt at ${clockTime(again)}`;
  if (failed) return blocked(`EKS failed to update the vpc-cni add-on${inWords(issues)}. Fix the cause. ${next}`);
  return blocked(`The operator enabled it in the vpc-cni add-on, and another user disabled it. ${next}`);
}

function moveOfConfigMap(
  addon: Addon | undefined,
  { cniConfigOwner: owner }: CheckFacts,
  { now, attempts, resyncMs }: IpamOffer,
): IpamMove {
  if (!owner?.ok)
    return blocked(`To enable it, the operator must read the ConfigMap. Grant ${factTable.cniConfigOwner.permission}`);
  const again = afterLast(attempts.applyCniConfig, resyncMs);
  if (now >= again) return { kind: 'applyCniConfig', seen: owner.value, addon };
  const whose = owner.value?.managedBy === undefined ? '' : `, which ${owner.value.managedBy} manages`;
  return blocked(
    `The operator enabled it in the ConfigMap${whose}, and another user disabled it. Enable it at its source. Next attempt at ${clockTime(again)}`,
  );
}

/** ` (last written by kubectl-edit at 2026-03-01T12:00:00Z)`; empty when unknown. */
export function lastWriterOf({ cniConfigOwner }: CheckFacts): string {
  const writer = cniConfigOwner?.ok ? cniConfigOwner.value?.lastWriter : undefined;
  return writer === undefined ? '' : ` (last written by ${writer})`;
}

/** Which other controller may revert the ConfigMap, and where to set the value; undefined when none is known. */
export function mayBeReverted({ seen, addon }: Extract<IpamMove, { kind: 'applyCniConfig' }>): string | undefined {
  if (seen?.managedBy === undefined || addon) return undefined;
  return `${seen.managedBy} manages the ConfigMap and may revert it. Also enable it there (enableWindowsIpam: "true" in the chart aws-vpc-cni)`;
}

function blocked(why: string): IpamMove {
  return { kind: 'blocked', why };
}

function afterLast(at: number | undefined, ms: number): number {
  return at === undefined ? 0 : at + ms;
}

function inWords(issues: readonly string[]): string {
  return issues.length === 0 ? '' : `: ${joined(issues.map((issue) => sentence(issue).slice(0, -1)))}`;
}
