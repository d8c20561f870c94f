/**
 * How a node group differs from the spec, field by field, and who caused it. Only fields that the spec sets are compared: not the labels,
 * taints and tags of others, not defaults of EKS, not the size that an autoscaler chose. Pure.
 */
import type { WindowsPool } from '../../../api/api.gen.ts';
import { GATE_TAINTS } from '../../../nodes/nodeTaints.ts';
import { CUSTOM, type NodeGroup } from '../../../ports/eks.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import {
  desiredFields,
  foundFields,
  isSetting,
  isTemplateField,
  launchSettingOf,
  taintField,
} from '../changes/appliedFields.ts';
import { appliedOf, isApplied, launchSettingsField } from '../changes/appliedRecord.ts';
import { isReferenceDrift } from '../changes/describeDifferences.ts';
import { immutableDifferences } from '../desired/desiredNodeGroup.ts';
import { followsImage, imageIdOf } from '../launchTemplate/image.ts';
import { AMI, isCustom } from '../launchTemplate/launchSettings.ts';
import { isMadeFromOwn, isTemplateDeleted } from '../launchTemplate/ownTemplate.ts';
import type { Difference } from '../model/changes.ts';
import type { GroupDifferences } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { groupOf } from '../observation/knownGroups.ts';

const NONE: GroupDifferences = { all: [], toCorrect: [], reported: [], immutable: [], unchangeable: [] };

/** How the main group, as last known, differs from the spec. */
export function groupDifferencesOf(s: EksState): GroupDifferences {
  const { pool } = s;
  const group = groupOf(s);
  if (!group) return NONE;
  const all = differencesOf(pool, group);
  const { driftPolicy } = nodeGroupIn(pool.spec);
  // Of what the spec only follows, update.policy decides what happens.
  const drift = all.filter((difference) => difference.isDrift && !isReferenceDrift(pool, difference));
  const toCorrect = all.filter(
    (difference) => !difference.isDrift || (driftPolicy === 'Correct' && drift.includes(difference)),
  );
  const immutable = immutableDifferences(pool, group);
  return {
    all,
    toCorrect,
    reported: driftPolicy === 'Report' ? drift : [],
    immutable,
    unchangeable: [...immutable, ...deletedTemplate(s, group, toCorrect)],
  };
}

/** The launch template of the operator, in words, if it was deleted and its settings are to change. */
function deletedTemplate(s: EksState, group: NodeGroup, toCorrect: readonly Difference[]): string[] {
  const isDue = toCorrect.some(({ field }) => isTemplateField(field));
  if (!isDue || !isTemplateDeleted(s, group)) return [];
  return [`launch template ${group.launchTemplate?.name} (${group.launchTemplate?.id}) was deleted`];
}

/** All differences, sorted by field. */
function differencesOf(pool: WindowsPool, group: NodeGroup): Difference[] {
  const applied = appliedOf(pool);
  const wanted = desiredFields(pool);
  const found = new Map([...imageOf(pool, group), ...foundFields(group)]);
  // EKS gives a group neither a template nor another kind of AMI: immutableDifferences reports it.
  const isChangeable = isMadeFromOwn(pool, group) && isCustom(pool.spec) === (group.amiType === CUSTOM);
  const changed = [...wanted].flatMap(([field, value]): Difference[] => {
    if (found.get(field) === value) return [];
    const isDrift = applied === undefined || isApplied(applied, field, value);
    if (launchSettingOf(field) !== undefined) {
      if (!isChangeable) return [];
      // Of a version that cannot be read or was deleted, nothing but the AMI says that it differs.
      if (!found.has(field) && isDrift && !group.launchSettings) return [];
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
  return id === undefined ? [] : [[launchSettingsField(AMI), id]];
}
