/** The rule that enables Windows IPAM if a pool needs it and --enable-windows-ipam is set. */

import type { RuleResult } from '../../../model/decisions.ts';
import type { Step } from '../../../model/steps.ts';
import { isPaused } from '../../../rules/poolQueries.ts';
import { waitFor } from '../../../rules/ruleChains.ts';
import { hashOf } from '../../../util/hash.ts';
import type { DueChecks, EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { isIpamStep } from '../steps/isIpamStep.ts';
import { ipamOfferOf, mayBeReverted, nextIpamMove } from './nextIpamMove.ts';

/** Whether an error of enabling Windows IPAM concerns the pool: the setting is off, the pool needs it, and is not paused. */
export function waitsForWindowsIpam({ pool }: EksState, prerequisites: DueChecks): boolean {
  return !isPaused(pool) && lacksWindowsIpam(prerequisites);
}

function lacksWindowsIpam({ results }: DueChecks): boolean {
  return results?.failed.some(({ check }) => check.reason === 'WindowsIPAMDisabled') ?? false;
}

/**
 * Ensures that pods get addresses, by one change for the whole cluster at the owner of the setting. A lasting error is not retried before it
 * is due.
 */
export function enableWindowsIpam(s: EksDerived): RuleResult | readonly Step[] {
  const { prerequisites } = s.due;
  const { input } = prerequisites;
  if (!input || !lacksWindowsIpam(prerequisites)) return [];
  const wait = waitFor('WindowsIPAMDisabled', 'read');
  if (!s.settings.enableWindowsIpam || s.errors.some(({ step }) => isIpamStep({ kind: step }))) return wait;
  const move = nextIpamMove(input.facts, ipamOfferOf(s));
  const { name, arn } = input.cluster;
  if (move.kind === 'updateAddon') {
    const { addon } = move;
    // The token does not depend on the pool: two pools send the same request. After another change of the add-on it is a new request.
    const token = `vpc-cni-${hashOf({ arn, kind: move.kind, modifiedAt: addon.modifiedAt })}`;
    return [{ kind: 'updateAddon', cluster: name, addon, token }];
  }
  if (move.kind !== 'applyCniConfig') return wait;
  const warning = mayBeReverted(move);
  return [{ kind: 'applyCniConfig', seen: move.seen, ...(warning !== undefined && { warning }) }];
}
