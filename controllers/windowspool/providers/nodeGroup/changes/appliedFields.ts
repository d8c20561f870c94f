/**
 * The fields of a node group as last applied (`status.tracking.applied`): each field with a digest of the value that it had when it last
 * matched the spec. This tells a change of the spec from an external edit, and the pool's fields from those of others. A digest is enough,
 * because the value is in the spec or no longer needed.
 */

import type { WindowsPool } from '../../../api/api.gen.ts';
import type { NodeGroup, Scaling, UpdateSettings, WarmPool } from '../../../ports/eks.ts';
import type { Taint } from '../../../ports/nodes.ts';
import { scalingIn } from '../../../rules/nodeSource.ts';
import { keptTags, labelsFor, pinsOf, taintsFor, updateOf, warmPoolOf } from '../desired/desiredNodeGroup.ts';
import { wantedTexts } from '../launchTemplate/desiredLaunchSettings.ts';
import { hasLaunchSettings } from '../launchTemplate/launchSettings.ts';
import { normalizedRelease } from '../versions/releaseVersion.ts';
import { pinnedTemplateVersion } from '../versions/userLaunchTemplate.ts';
import { appliedOf, digestOf, LAUNCH_SETTINGS, launchSettingsField } from './appliedRecord.ts';

/**
 * Values as text, by field name: `label team`, `taint gpu:NoSchedule`, `scaling`, `tag cost`, `version`, `release`, `template version`,
 * `template disk.sizeGiB`, `update strategy`, `warmPool`.
 */
export type Fields = ReadonlyMap<string, string>;

/** In place of a digest: a change of the field may have been sent, so its value in EKS is unknown. */
export const UNSURE = '?';

/** The entry of `scaling.desiredSize`, which is never compared: it exists only while a change of the size may be in flight. */
export const DESIRED = 'desired';

/** The desired fields of the group. The desired size is not one of them: the autoscaler owns it. */
export function desiredFields(pool: WindowsPool): Fields {
  return fieldsOf({
    labels: labelsFor(pool),
    taints: taintsFor(pool),
    scaling: scalingIn(pool.spec),
    tags: keptTags(pool),
    templateVersion: pinnedTemplateVersion(pool.spec),
    ...(hasLaunchSettings(pool.spec) && { launchSettings: wantedTexts(pool) }),
    ...pinsOf(pool.spec),
    ...updateOf(pool.spec),
    ...warmPoolOf(pool.spec),
  });
}

/**
 * Everything that may be sent by the creation of a group: the desired fields, and the desired size of the spec if it was not sent before. One that was is the
 * autoscaler's: if the group exists after all, its size must not be sent again.
 */
export function sentToCreate(pool: WindowsPool): string[] {
  const { desiredSize } = scalingIn(pool.spec);
  const isSent = desiredSize === pool.status?.tracking?.lastAppliedDesiredSize;
  return [...desiredFields(pool).keys(), ...(desiredSize === undefined || isSent ? [] : [DESIRED])];
}

/** The observed fields of the group. */
export function foundFields(group: NodeGroup): Fields {
  return fieldsOf({ ...group, templateVersion: group.launchTemplate?.version });
}

interface Parts extends Pick<NodeGroup, 'labels' | 'taints' | 'tags'> {
  readonly scaling: Pick<Scaling, 'minSize' | 'maxSize'>;
  readonly kubernetesVersion?: string | undefined;
  readonly releaseVersion?: string | undefined;
  readonly templateVersion?: string | undefined;
  readonly launchSettings?: Readonly<Record<string, string>>;
  readonly update?: UpdateSettings;
  readonly warmPool?: WarmPool | undefined;
}

/** The field of the Kubernetes version. */
export const VERSION = 'version';
/** The field of the AMI release. */
export const RELEASE = 'release';

/** The field of the launch template version, when the spec pins a number. */
export const TEMPLATE = 'template version';

/** The field of the warm pool: one, because its settings are sent together. */
export const WARM_POOL = 'warmPool';

const UPDATE = 'update ';

/** The launch setting that the field is about, such as `disk.sizeGiB`; undefined for other fields. */
export function launchSettingOf(field: string): string | undefined {
  return field.startsWith(LAUNCH_SETTINGS) && field !== TEMPLATE ? field.slice(LAUNCH_SETTINGS.length) : undefined;
}

/** Whether the field is about the launch template: its version, or a launch setting in it. */
export function isTemplateField(field: string): boolean {
  return field.startsWith(LAUNCH_SETTINGS);
}

/** The field of a setting of rolling updates. */
export function updateField(setting: string): string {
  return `${UPDATE}${setting}`;
}

/** Whether every group has the field: when the spec drops it, the group keeps its value. */
export function isSetting(field: string): boolean {
  return [VERSION, RELEASE].includes(field) || isTemplateField(field) || field.startsWith(UPDATE);
}

function fieldsOf({
  labels,
  taints,
  scaling,
  tags,
  kubernetesVersion,
  releaseVersion,
  templateVersion,
  launchSettings = {},
  update,
  warmPool,
}: Parts): Fields {
  return new Map([
    ...Object.entries(labels).map(([key, value]) => [labelField(key), value] as const),
    ...taints.map((taint) => [taintField(taint), taintValue(taint)] as const),
    // One field, because EKS refuses a min above the max.
    ['scaling', `${scaling.minSize} to ${scaling.maxSize}`] as const,
    ...Object.entries(tags).map(([key, value]) => [tagField(key), value] as const),
    ...(kubernetesVersion ? [[VERSION, kubernetesVersion] as const] : []),
    ...(templateVersion ? [[TEMPLATE, templateVersion] as const] : []),
    ...Object.entries(launchSettings).map(([setting, text]) => [launchSettingsField(setting), text] as const),
    ...(releaseVersion ? [[RELEASE, normalizedRelease(releaseVersion)] as const] : []),
    ...Object.entries(update ?? {}).map(([setting, value]) => [updateField(setting), String(value)] as const),
    ...(warmPool ? [[WARM_POOL, describeWarmPool(warmPool, scaling.maxSize)] as const] : []),
  ]);
}

/** Without a capacity, that of a warm pool is the maximum size of its group, as in `warmPoolOf`. */
function describeWarmPool(
  { minSize, maxGroupPreparedCapacity, poolState, reuseOnScaleIn }: WarmPool,
  maxSize: number,
): string {
  const capacity = `maxGroupPreparedCapacity ${maxGroupPreparedCapacity ?? Math.max(minSize, maxSize)}`;
  return `minSize ${minSize}, ${capacity}, poolState ${poolState}, reuseOnScaleIn ${reuseOnScaleIn}`;
}

/** The field of a label. */
export function labelField(key: string): string {
  return `label ${key}`;
}

/** The field of a taint: EKS and Kubernetes identify taints by key and effect. */
export function taintField({ key, effect }: Taint): string {
  return `taint ${key}:${effect}`;
}

/**
 * Absent and empty values are equal. So are os=windows and os=Windows: both are in use, and every RuntimeClass of the operator tolerates
 * both.
 */
function taintValue({ key, effect, value = '' }: Taint): string {
  return key === 'os' && effect === 'NoSchedule' ? value.toLowerCase() : value;
}

/** The field of a tag. */
export function tagField(key: string): string {
  return `tag ${key}`;
}

/** The `applied` entries of a group that has all these fields. */
export function entriesOf(fields: Fields): string[] {
  return [...fields].map(([field, value]) => `${field}=${digestOf(value)}`).sort();
}

/**
 * The `applied` entries after the pool's own group was read. A new group has everything that it was created with. Later, a field counts as applied when it is observed to match the spec, never when it
 * is only sent: an update can fail. A field that the spec dropped is kept until it is gone.
 */
export function nextApplied(
  pool: WindowsPool,
  seen: NodeGroup,
  { isNew = false, isSizeSent = false }: { isNew?: boolean; isSizeSent?: boolean } = {},
): string[] {
  const before = appliedOf(pool);
  const wanted = desiredFields(pool);
  // Without a record, the origin of a difference is unknown: it counts as an external edit, which driftPolicy Report does not correct.
  if (!before || isNew) return entriesOf(wanted);
  const { desiredSize: desired } = scalingIn(pool.spec);
  const isBusy = ['CREATING', 'UPDATING', 'DELETING'].includes(seen.status);
  // A group that is UPDATING may be about to get a size that was sent just before a crash.
  const isSizeSettled = isSizeSent || desired === undefined || (desired === seen.scaling.desiredSize && !isBusy);
  const after = new Map([...before].filter(([field]) => field !== DESIRED || !isSizeSettled));
  if (isBusy) return entries(after);
  const found = foundFields(seen);
  for (const [field, value] of wanted) if (found.get(field) === value) after.set(field, digestOf(value));
  for (const field of before.keys()) {
    const isRemoved = isSetting(field) || !found.has(field);
    if (field !== DESIRED && !wanted.has(field) && isRemoved) after.delete(field);
  }
  return entries(after);
}

function entries(applied: ReadonlyMap<string, string>): string[] {
  return [...applied].map(([field, digest]) => `${field}=${digest}`).sort();
}
