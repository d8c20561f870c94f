/**
 * What the operator remembers of a node group's fields (`status.nodeGroup.applied`): each field with a digest of the value that the group
 * had when it last was as the spec said. It tells a change of the spec from an edit behind the operator's back, and the fields that are
 * the pool's from those of others. A digest, because the value itself is in the spec or no longer matters.
 */

import type { WindowsPool, WindowsPoolStatus } from '../../api.gen.ts';
import type { Memory, ReservationMemory } from '../../model/steps.ts';
import { scalingIn } from '../../nodeSource.ts';
import type { NodeGroup, Scaling, UpdateSettings } from '../../ports/eks.ts';
import type { Taint } from '../../ports/nodes.ts';
import { hashOf } from '../../util/hash.ts';
import { keptTags, labelsFor, pinsOf, taintsFor, updateOf } from './nodeGroup.ts';
import { pinnedTemplateVersion } from './upgrades/launchTemplate.ts';
import { spelled } from './upgrades/releaseVersion.ts';

/** Fields by name (`label team`, `taint gpu:NoSchedule`, `scaling`, `tag cost`, `version`, `release`, `template version`, `update strategy`) with their values as text. */
export type Fields = ReadonlyMap<string, string>;

/** Instead of a digest: a change of the field was about to be sent, so its value in EKS is not known. */
const UNSURE = '?';

/** The entry of `scaling.desired`, which is never compared: it is there only while a size may be on its way. */
export const DESIRED = 'desired';

/** What the spec says of the group, as fields. The desired size is none: it belongs to the autoscaler. */
export function desiredFields(pool: WindowsPool): Fields {
  return fieldsOf({
    labels: labelsFor(pool),
    taints: taintsFor(pool),
    scaling: scalingIn(pool.spec),
    tags: keptTags(pool),
    templateVersion: pinnedTemplateVersion(pool.spec),
    ...pinsOf(pool.spec),
    ...updateOf(pool.spec),
  });
}

/** What the group has, as fields. */
export function foundFields(group: NodeGroup): Fields {
  return fieldsOf({ ...group, templateVersion: group.launchTemplate?.version });
}

interface Parts extends Pick<NodeGroup, 'labels' | 'taints' | 'tags'> {
  readonly scaling: Pick<Scaling, 'min' | 'max'>;
  readonly kubernetesVersion?: string | undefined;
  readonly releaseVersion?: string | undefined;
  readonly templateVersion?: string | undefined;
  readonly update?: UpdateSettings;
}

/** The Kubernetes version. */
export const VERSION = 'version';
/** The release of the AMI. */
export const RELEASE = 'release';

/** The version of the launch template, where the spec says a number. */
export const TEMPLATE = 'template version';

const UPDATE = 'update ';

export function updateField(setting: string): string {
  return `${UPDATE}${setting}`;
}

/** Whether a group always has the field: where the spec drops it, the group keeps what it has. */
export function isSetting(field: string): boolean {
  return [VERSION, RELEASE, TEMPLATE].includes(field) || field.startsWith(UPDATE);
}

function fieldsOf({
  labels,
  taints,
  scaling,
  tags,
  kubernetesVersion,
  releaseVersion,
  templateVersion,
  update,
}: Parts): Fields {
  return new Map([
    ...Object.entries(labels).map(([key, value]) => [labelField(key), value] as const),
    ...taints.map((taint) => [taintField(taint), taintValue(taint)] as const),
    // One field: EKS refuses a min above the max, so they only make sense together.
    ['scaling', `${scaling.min} to ${scaling.max}`] as const,
    ...Object.entries(tags).map(([key, value]) => [tagField(key), value] as const),
    ...(kubernetesVersion ? [[VERSION, kubernetesVersion] as const] : []),
    ...(templateVersion ? [[TEMPLATE, templateVersion] as const] : []),
    ...(releaseVersion ? [[RELEASE, spelled(releaseVersion)] as const] : []),
    ...Object.entries(update ?? {}).map(([setting, value]) => [updateField(setting), String(value)] as const),
  ]);
}

export function labelField(key: string): string {
  return `label ${key}`;
}

/** EKS and Kubernetes key taints by key and effect. */
export function taintField({ key, effect }: Taint): string {
  return `taint ${key}:${effect}`;
}

/** Absent and empty are the same. So are os=windows and os=Windows: both are in use, and every RuntimeClass of ours tolerates both. */
function taintValue({ key, effect, value = '' }: Taint): string {
  return key === 'os' && effect === 'NoSchedule' ? value.toLowerCase() : value;
}

export function tagField(key: string): string {
  return `tag ${key}`;
}

/** Digests by field; undefined when the memory was lost, or never was. */
export function appliedOf({ status }: WindowsPool): ReadonlyMap<string, string> | undefined {
  const entries = status?.nodeGroup?.applied;
  return entries && new Map(entries.map(splitEntry));
}

/** The entry of a field whose value is known. */
export function isApplied(applied: ReadonlyMap<string, string> | undefined, field: string, value: string): boolean {
  return applied?.get(field) === digestOf(value);
}

/** The memory of a group that has all these fields. */
export function entriesOf(fields: Fields): string[] {
  return [...fields].map(([field, value]) => `${field}=${digestOf(value)}`).sort();
}

function digestOf(value: string): string {
  return hashOf(value).slice(0, 8);
}

/** A digest has no `=`, a field may. */
function splitEntry(entry: string): [field: string, digest: string] {
  const at = entry.lastIndexOf('=');
  return [entry.slice(0, at), entry.slice(at + 1)];
}

/** The status with the memory in it. */
export function remembering(
  status: WindowsPoolStatus | undefined,
  memory: Memory | ReservationMemory,
): WindowsPoolStatus {
  if (!('nodeGroupName' in memory)) return { ...status, disruption: memory.reservation };
  const { cluster, nodeGroupName, anew, sending = [], reservation } = memory;
  const before = status?.nodeGroup;
  const { lastAppliedDesired: _forgotten, ...rest } = before ?? {};
  const known = anew?.applied ?? before?.applied;
  const kept = (known ?? []).filter((entry) => !sending.includes(splitEntry(entry)[0]));
  // A memory that was lost stays so until the group is looked at: an empty one would say that nothing was ever sent.
  const applied = (known || sending.length > 0) && {
    applied: [...kept, ...sending.map((field) => `${field}=${UNSURE}`)].sort(),
  };
  const desired = anew ? anew.desired : before?.lastAppliedDesired;
  const lastAppliedDesired = desired !== undefined && { lastAppliedDesired: desired };
  const nodeGroup = { ...rest, ...lastAppliedDesired, ...tagsOf(memory, status), name: nodeGroupName, ...applied };
  return { ...status, cluster, nodeGroup, ...(reservation && { disruption: reservation }) };
}

function tagsOf({ scalingTags = [] }: Memory, status: WindowsPoolStatus | undefined): { scalingTags?: string[] } {
  const known = scalingTags.length > 0 ? [...scalingTags] : status?.nodeGroup?.scalingTags;
  return known ? { scalingTags: known } : {};
}

/**
 * The memory after a look at the pool's own group. A field is remembered as applied once it is seen to be as the spec says, never when it
 * is only sent: an update can fail. A field that the spec dropped is remembered until it is gone.
 */
export function nextApplied(pool: WindowsPool, seen: NodeGroup, isSizeSent: boolean): string[] | undefined {
  const before = appliedOf(pool);
  const wanted = desiredFields(pool);
  // Where the memory was lost, nobody knows who made a difference: it is taken for an edit, which Report leaves alone.
  if (!before) return entriesOf(wanted);
  const { desired } = scalingIn(pool.spec);
  const isSizeOpen = before.has(DESIRED) && !isSizeSent && desired !== undefined && desired !== seen.scaling.desired;
  const after = new Map([...before].filter(([field]) => field !== DESIRED || isSizeOpen));
  if (['CREATING', 'UPDATING', 'DELETING'].includes(seen.status)) return entries(after);
  const found = foundFields(seen);
  for (const [field, value] of wanted) if (found.get(field) === value) after.set(field, digestOf(value));
  for (const field of before.keys()) {
    const isGone = isSetting(field) || !found.has(field);
    if (field !== DESIRED && !wanted.has(field) && isGone) after.delete(field);
  }
  return entries(after);
}

function entries(applied: ReadonlyMap<string, string>): string[] {
  return [...applied].map(([field, digest]) => `${field}=${digest}`).sort();
}
