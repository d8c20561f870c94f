/** Gathers what the cluster-autoscaler knows of a pool's group, and what it needs to know. */

import type { SharedAnswers } from '../../../observation/sharedAnswers.ts';
import { LONG_MS } from '../../../observation/sharedAnswers.ts';
import type { CallResult } from '../../../ports/callResult.ts';
import type { ScalingGroup, ScalingGroups } from '../../../ports/ec2.ts';
import type { Capacity } from '../../../ports/prerequisites.ts';
import { addressModeOf, podsPerNode } from '../../../sizing/addressMode.ts';
import { instanceTypesFor } from '../checks/factTable.ts';
import { acceptsUpdates, nodeGroupNameOf } from '../desired/desiredNodeGroup.ts';
import type { AutoscalerFacts, EksState } from '../model/groupState.ts';
import { instanceTypesOf } from '../versions/userLaunchTemplate.ts';
import { ownedGroup } from './knownGroups.ts';

/** The shared question about all scaling groups. Changes of their tags invalidate its answer. */
export const SCALING_GROUPS_QUESTION = 'scaling groups';

interface Sources {
  readonly scalingGroups: ScalingGroups;
  readonly capacity: Pick<Capacity, 'instanceTypes'>;
}

/**
 * Reads the tags and the warm pools of the pool's scaling groups, and the number of pod addresses of its nodes; undefined while there is nothing to
 * tag.
 */
export async function gatherAutoscalerFacts(
  s: EksState,
  sources: Sources,
  shared: SharedAnswers,
  signal: AbortSignal,
): Promise<CallResult<AutoscalerFacts> | undefined> {
  const group = ownedGroup(s.pool, s.group);
  if (!group || s.cluster.kind !== 'seen') return undefined;
  if (group.name !== nodeGroupNameOf(s.pool) || group.autoScalingGroups.length === 0) return undefined;
  if (!acceptsUpdates(group)) return undefined;
  const [found, podAddresses] = await Promise.all([
    scalingGroupsOf(group.autoScalingGroups, s, sources, shared, signal),
    podAddressesOf(s, sources, shared, signal),
  ]);
  if (!found.ok) return found;
  const tags = Object.fromEntries(found.value.map(([name, scalingGroup]) => [name, scalingGroup.tags]));
  const templateVersions = found.value.flatMap(([, scalingGroup]) => scalingGroup.templateVersions);
  const warmInstances = found.value.reduce((sum, [, scalingGroup]) => sum + scalingGroup.warmInstances, 0);
  return { ok: true, value: { tags, templateVersions, podAddresses, warmInstances } };
}

/** One answer serves all pools. It is read again when it lacks one of the groups, which is then newer. */
async function scalingGroupsOf(
  names: readonly string[],
  { settings, now }: EksState,
  { scalingGroups }: Sources,
  shared: SharedAnswers,
  signal: AbortSignal,
): Promise<CallResult<(readonly [name: string, group: ScalingGroup])[]>> {
  const ask = (maxAgeMs: number) =>
    shared.get(SCALING_GROUPS_QUESTION, maxAgeMs, now, (own) => scalingGroups.list(own), signal);
  const known = await ask(settings.resyncMs / 2);
  const isComplete = !known.ok || names.every((name) => name in known.value);
  const all = isComplete ? known : await ask(0);
  if (!all.ok) return all;
  const groupsNamed = (name: string) => {
    const group = all.value[name];
    return group ? [[name, group] as const] : [];
  };
  return { ok: true, value: names.flatMap(groupsNamed) };
}

/**
 * How many pods of a new node get an address: those of one network interface, except the node's own. The smallest instance type counts,
 * because EC2 may start any of them. Undefined when unknown.
 */
async function podAddressesOf(
  { pool, prerequisites, now }: EksState,
  { capacity }: Sources,
  shared: SharedAnswers,
  signal: AbortSignal,
): Promise<number | undefined> {
  const cniConfig = prerequisites?.cniConfig;
  if (!cniConfig?.ok) return undefined;
  const template = prerequisites?.launchTemplate;
  const types = instanceTypesOf(pool.spec, template?.ok ? template.value : undefined);
  const answer = await instanceTypesFor(types, capacity, (question, call) =>
    shared.get(question, LONG_MS, now, call, signal),
  );
  if (!answer?.ok || answer.value.length !== types.length) return undefined;
  const mode = addressModeOf(cniConfig.value);
  const least = Math.min(...answer.value.map((type) => podsPerNode(mode, type) ?? 0));
  return least > 0 ? least : undefined;
}
