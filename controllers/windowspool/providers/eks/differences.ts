/**
 * How a node group differs from the spec, field by field, and who caused it. Only fields that the spec sets are compared: not the labels,
 * taints and tags of others, not defaults of EKS, not the size that an autoscaler chose.
 */
import type { WindowsPool } from '../../api.gen.ts';
import type { LabelsOf } from '../../metricCatalogue.ts';
import type { Difference } from '../../model/changes.ts';
import { nodeGroupIn } from '../../nodeSource.ts';
import { GATE_TAINTS } from '../../nodes/nodeTaints.ts';
import { CUSTOM, type NodeGroup } from '../../ports/eks.ts';
import {
  desiredFields,
  foundFields,
  isSetting,
  machineSettingOf,
  RELEASE,
  TEMPLATE,
  taintField,
  VERSION,
  WARM_POOL,
} from './applied.ts';
import { appliedOf, isApplied, machineField } from './appliedRecord.ts';
import { isFollowed } from './machine/desiredMachine.ts';
import { followsImage, imageIdOf } from './machine/image.ts';
import { AMI, isCustom, settingText, USER_DATA } from './machine/machine.ts';
import { isMadeFromOwn } from './machine/machineTemplate.ts';

/** All differences, sorted by field. */
export function differencesOf(pool: WindowsPool, group: NodeGroup): Difference[] {
  const applied = appliedOf(pool);
  const wanted = desiredFields(pool);
  const found = new Map([...imageOf(pool, group), ...foundFields(group)]);
  // EKS gives a group neither a template nor another kind of AMI: immutableDifferences reports it.
  const isChangeable = isMadeFromOwn(pool, group) && isCustom(pool.spec) === (group.amiType === CUSTOM);
  const changed = [...wanted].flatMap(([field, value]): Difference[] => {
    if (found.get(field) === value) return [];
    const isDrift = applied === undefined || isApplied(applied, field, value);
    if (machineSettingOf(field) !== undefined) {
      if (!isChangeable) return [];
      // Of a version that cannot be read or was deleted, nothing but the AMI says that it differs.
      if (!found.has(field) && isDrift && !group.machine) return [];
    }
    return [{ field, wanted: value, found: found.get(field), isDrift }];
  });
  // The gate taint is the operator's even without a record: with it, new nodes would accept no pods.
  const dropped = [...new Set([...(applied?.keys() ?? []), ...GATE_TAINTS.map(taintField)])].flatMap(
    (field): Difference[] =>
      wanted.has(field) || !found.has(field) || isSetting(field)
        ? []
        : [{ field, wanted: undefined, found: found.get(field), isDrift: applied?.has(field) !== true }],
  );
  return [...changed, ...dropped].sort((a, b) => (a.field < b.field ? -1 : 1));
}

/** The custom AMI that EKS reports, for a spec that names one by its ID: it is known even when the launch template is not. */
function imageOf({ spec }: WindowsPool, group: NodeGroup): readonly (readonly [field: string, value: string])[] {
  const id = followsImage(spec) ? undefined : imageIdOf(group);
  return id === undefined ? [] : [[machineField(AMI), id]];
}

/** The differences that the operator corrects: all of them, or with driftPolicy Report only those that a change of the spec caused. */
export function differencesToCorrect(pool: WindowsPool, group: NodeGroup): Difference[] {
  return differencesOf(pool, group).filter(
    (difference) =>
      !difference.isDrift || (nodeGroupIn(pool.spec).driftPolicy === 'Correct' && !isFollowing(pool, difference)),
  );
}

/** Whether other security groups now have the tags in the spec: `update.policy` decides what happens. */
export function isFollowing({ spec }: WindowsPool, { field, isDrift }: Difference): boolean {
  return isDrift && isFollowed(spec, machineSettingOf(field) ?? '');
}

/** The drift that is reported and not corrected. */
export function reportedDrift(pool: WindowsPool, group: NodeGroup): Difference[] {
  return nodeGroupIn(pool.spec).driftPolicy === 'Report'
    ? differencesOf(pool, group).filter((difference) => difference.isDrift && !isFollowing(pool, difference))
    : [];
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
  const setting = machineSettingOf(key);
  if (setting === USER_DATA) return `${setting} differs`;
  // The launch template could not be read.
  if (setting !== undefined && found === undefined) return `${setting} is unknown (expected ${settingText(wanted)})`;
  if (setting !== undefined) return `${setting} is ${settingText(found)} (expected ${settingText(wanted)})`;
  const field = NAMES[key] ?? key;
  if (wanted === undefined) return `${field} is ${shown(found)} (not in the spec)`;
  if (found === undefined && wanted === '') return `${field} is missing`;
  return `${field} is ${shown(found)} (expected ${shown(wanted)})`;
}

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
