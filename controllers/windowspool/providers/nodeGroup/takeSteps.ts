/** Takes the steps of a run: alone where they change a setting of the cluster, and then forgets what they made stale. */

import { accessEntryQuestion } from '../../checks/nodeAccess.ts';
import type { Outcome } from '../../model/outcome.ts';
import type { Step } from '../../model/steps.ts';
import type { ReadCache } from '../../observation/readCache.ts';
import type { ScalingGroup } from '../../ports/ec2.ts';
import type { ActContext } from '../provider.ts';
import { tolerateGateKey } from './changes/gateTaintFallback.ts';
import { IPAM_QUESTIONS } from './checks/factTable.ts';
import type { AutoscalerFacts, EksState } from './model/groupState.ts';
import { SCALING_GROUPS_QUESTION } from './observation/autoscalerFacts.ts';
import { AwsMemory } from './observation/nodeGroupSnapshot.ts';
import { isIpamStep } from './steps/isIpamStep.ts';
import { tolerateSkew } from './versions/versionSkew.ts';

/** Takes the steps. Undefined: they change a setting of the cluster that another pool has changed since it was read. */
export async function takeSteps(
  steps: readonly Step[],
  s: EksState,
  context: ActContext,
  take: () => Promise<Outcome<EksState>>,
): Promise<Outcome<EksState> | undefined> {
  const outcome = await takeAlone(steps, s, context, take);
  if (!outcome) return undefined;
  forgetWhatChanged(steps, outcome, context.readCache);
  return tolerateGateKey(await tolerateSkew(outcome, context));
}

async function takeAlone(
  steps: readonly Step[],
  s: EksState,
  { readCache, clock }: ActContext,
  take: () => Promise<Outcome<EksState>>,
): Promise<Outcome<EksState> | undefined> {
  const kind = steps.find(isIpamStep)?.kind;
  if (!kind) return take();
  const { windowsIpam } = readCache.of(AwsMemory);
  if (!windowsIpam.begin(s.now)) return undefined;
  let result: Parameters<typeof windowsIpam.end>[1] = {};
  try {
    const outcome = await take();
    const error = outcome.after.errors.find(({ step }) => step === kind);
    result = { ...(error && { error }), ...(outcome.done.some((step) => step.kind === kind) && { done: kind }) };
    return outcome;
  } finally {
    windowsIpam.end(clock(), result);
  }
}

/**
 * Drops shared answers that the steps made stale, also when a call failed: another client may have made the change. The tags of scaling groups are
 * one answer for all pools: a pool that wrote its own tags changes them there, so that other pools need not read again.
 */
function forgetWhatChanged(steps: readonly Step[], { done, after }: Outcome<EksState>, { shared }: ReadCache): void {
  const written = after.autoscaler?.tags;
  for (const step of steps) {
    if (step.kind === 'createAccessEntry') shared.forget(accessEntryQuestion(step.role));
    if (isIpamStep(step)) for (const question of IPAM_QUESTIONS) shared.forget(question);
    if (step.kind !== 'correctScalingTags') continue;
    if (written && done.includes(step))
      shared.amend<ListedGroups>(SCALING_GROUPS_QUESTION, (all) => withTags(all, written));
    else shared.forget(SCALING_GROUPS_QUESTION);
  }
}

type ListedGroups = Readonly<Record<string, ScalingGroup>>;

function withTags(all: ListedGroups, written: AutoscalerFacts['tags']): ListedGroups {
  const changed = Object.entries(all).map(([name, group]) => [name, { ...group, tags: written[name] ?? group.tags }]);
  return Object.fromEntries(changed);
}
