/** Counts and describes the differences of a node group from the spec. They are found in derive/groupDifferences.ts. */
import type { WindowsPool } from '../../../api/api.gen.ts';
import type { LabelsOf } from '../../../api/metricCatalogue.ts';
import { sentence } from '../../../util/words.ts';
import { isFollowed } from '../launchTemplate/desiredLaunchSettings.ts';
import { settingText, USER_DATA } from '../launchTemplate/launchSettings.ts';
import type { Difference } from '../model/changes.ts';
import { launchSettingOf, RELEASE, TEMPLATE, VERSION, WARM_POOL } from './appliedFields.ts';

/** Whether only what the spec refers to has changed (an SSM parameter, tags of security groups, a ConfigMap): `update.policy` decides what happens. */
export function isReferenceDrift({ spec }: WindowsPool, { field, isDrift }: Difference): boolean {
  return isDrift && isFollowed(spec, launchSettingOf(field) ?? '');
}

/** The part of a node group that a field belongs to, as a label of the metric. */
export type DriftPart = LabelsOf<'windowspool_drift_fields'>['part'];

/** How many fields of each part differ: `label`, `taint`, `scaling`, `tag`, `version`, `release`, `template`, `update`, `warmPool`. */
export function countByPart(differences: readonly Difference[]): Readonly<Record<DriftPart, number>> {
  const counts: Record<DriftPart, number> = {
    label: 0,
    taint: 0,
    scaling: 0,
    tag: 0,
    version: 0,
    release: 0,
    template: 0,
    update: 0,
    warmPool: 0,
  };
  for (const { field } of differences) {
    counts[field.split(' ', 1)[0] as DriftPart] += 1;
  }
  return counts;
}

/** `label tier is db (expected web)`. */
export function describeDifference({ field: key, wanted, found }: Difference): string {
  const setting = launchSettingOf(key);
  if (setting === USER_DATA) return `${setting} differs`;
  // The launch template could not be read.
  if (setting !== undefined && found === undefined) return `${setting} is unknown (expected ${settingText(wanted)})`;
  if (setting !== undefined) return `${setting} is ${settingText(found)} (expected ${settingText(wanted)})`;
  const field = NAMES[key] ?? key;
  if (wanted === undefined) return `${field} is ${shown(found)} (not in the spec)`;
  if (found === undefined && wanted === '') return `${field} is missing`;
  return `${field} is ${shown(found)} (expected ${shown(wanted)})`;
}

/** Describes differences in one sentence, at most ten of them. */
export function describeDifferences(differences: readonly Difference[]): string {
  const named = differences.slice(0, DIFFERENCES_IN_MESSAGE).map(describeDifference).join('; ');
  const more = differences.length - DIFFERENCES_IN_MESSAGE;
  return sentence(more > 0 ? `${named}; and ${more} more` : named);
}

const DIFFERENCES_IN_MESSAGE = 10;

/** Fields whose names need more words in a message. */
const NAMES: Readonly<Record<string, string>> = {
  [VERSION]: 'Kubernetes version',
  [RELEASE]: 'AMI release',
  [TEMPLATE]: 'launch template version',
  [WARM_POOL]: 'warm pool',
};

function shown(value: string | undefined): string {
  if (value === undefined) return 'missing';
  return value === '' ? 'an empty value' : value;
}
