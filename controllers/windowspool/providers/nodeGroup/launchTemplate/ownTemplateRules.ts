/** Rules for the launch template that the operator creates for a pool which sets launch settings. */

import type { RuleResult } from '../../../model/decisions.ts';
import type { Step } from '../../../model/steps.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import type { LaunchSettings, OwnTemplate } from '../../../ports/ownTemplates.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { waitFor } from '../../../rules/ruleChains.ts';
import { isTemplateField } from '../changes/appliedFields.ts';
import { acceptsUpdates, secondNameOf } from '../desired/desiredNodeGroup.ts';
import { tokenFor, waitForPrerequisites } from '../groupRules.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState, ObservedNodeGroup } from '../model/groupState.ts';
import { groupOf } from '../observation/knownGroups.ts';
import { writeAhead } from '../reporting/writeAheadStatus.ts';
import { canaryLaunchSettings, isOpen } from '../secondGroup/canary.ts';
import { secondIn } from '../secondGroup/secondGroup.ts';
import { hasOnlyReferenceDrift } from '../versions/versionChanges.ts';
import { desiredLaunchSettings } from './desiredLaunchSettings.ts';
import { describeLaunchSettings, describeLaunchSettingsChange, hasLaunchSettings } from './launchSettings.ts';
import {
  descriptionOf,
  isOwnVersion,
  ownerTags,
  ownTemplateIn,
  ownTemplateNameOf,
  unlikeWritten,
  versionWith,
} from './ownTemplate.ts';

/**
 * Ensures that a template exists before the group, once no prerequisite is known to be missing. Its name is recorded first, so that it is deleted with
 * the pool whatever the spec is then.
 */
export function createTemplate(s: EksDerived): RuleResult | Step[] | undefined {
  const { pool, ownTemplate, settings } = s;
  if (ownTemplate?.kind !== 'absent' || !hasLaunchSettings(pool.spec) || s.group.kind !== 'absent') return undefined;
  const launchSettings = desiredLaunchSettings(s);
  const blocked = waitForPrerequisites(s);
  if (blocked) return blocked;
  if (!launchSettings) return waitFor('NotChecked', 'read', { progress: true });
  const name = ownTemplateNameOf(pool, settings.clusterName);
  const tags = { ...settings.defaultTags, ...ownerTags(pool, settings.clusterName) };
  const description = descriptionOf(launchSettings);
  const token = tokenFor(pool, 'template', { launchSettings, tags }, timeSlotOf(s));
  return [
    ...writeAhead(s, { ownTemplate: name }),
    { kind: 'createLaunchTemplate', template: { name, tags, launchSettings, description }, token },
  ];
}

/** Ensures that a version with the desired launch settings exists when the group is about to get it. */
export function addTemplateVersion(s: EksDerived): Step[] | undefined {
  const template = ownTemplateIn(s);
  const launchSettings = desiredLaunchSettings(s);
  const group = s.group.kind === 'absent' ? undefined : groupOf(s);
  if (!template || !launchSettings || !hasLaunchSettings(s.pool.spec) || versionWith(template, launchSettings, group))
    return undefined;
  if (unlikeWritten(template, launchSettings) || !isVersionDue(s, template, group)) return undefined;
  const [newest] = template.versions;
  const before = template.versions.find(({ version }) => version === group?.launchTemplate?.version) ?? newest;
  return added(
    s,
    template,
    launchSettings,
    before
      ? describeLaunchSettingsChange(before.launchSettings, launchSettings)
      : describeLaunchSettings(launchSettings),
  );
}

/** Ensures that a version with the name of the canary exists before a canary that needs one, once no prerequisite is known to be missing. */
export function addCanaryVersion(s: EksDerived): Step[] | undefined {
  const template = ownTemplateIn(s);
  const launchSettings = isOpen(s) && s.due.version?.isCanaryDue ? canaryLaunchSettings(s) : undefined;
  if (
    !template ||
    !launchSettings ||
    versionWith(template, launchSettings, undefined) ||
    unlikeWritten(template, launchSettings)
  )
    return undefined;
  if (!s.prerequisites?.complete || s.due.prerequisites.blocking.length > 0) return undefined;
  return added(s, template, launchSettings, `for canary ${secondNameOf(s.pool)}, whose name is in the user data`);
}

function added(
  s: EksState,
  { id, name, versions }: OwnTemplate,
  launchSettings: LaunchSettings,
  change: string,
): Step[] {
  const newest = versions[0]?.version;
  return [
    {
      kind: 'createLaunchTemplateVersion',
      template: { id, name },
      version: String(Number(newest ?? 0) + 1),
      written: { launchSettings, description: descriptionOf(launchSettings) },
      change,
      token: tokenFor(s.pool, 'templateVersion', { launchSettings, id, newest }, timeSlotOf(s)),
    },
  ];
}

/** A version is added when the group is to be created, or its launch settings are to be changed. */
function isVersionDue(s: EksDerived, { id }: OwnTemplate, group: NodeGroup | undefined): boolean {
  if (!group) return s.group.kind === 'absent' && s.due.prerequisites.blocking.length === 0;
  if (group.launchTemplate?.id !== id || !acceptsUpdates(group)) return false;
  const { all, toCorrect } = s.due.differences;
  const isAsked = toCorrect.some(({ field }) => isTemplateField(field));
  return isAsked || (nodeGroupIn(s.pool.spec).update.policy === 'Automatic' && hasOnlyReferenceDrift(s, all));
}

/**
 * Ensures that versions do not pile up: EC2 accepts 10,000. Those stay from which instances may be launched: the version of the group, the desired one,
 * and those of the scaling group. The newest stays, so that numbers are predictable, and the default, which EC2 does not delete.
 */
export function pruneTemplateVersions(s: EksState): Step[] | undefined {
  const template = ownTemplateIn(s);
  const group = s.group.kind === 'seen' ? s.group.group : undefined;
  const launchSettings = desiredLaunchSettings(s);
  if (!template || !group || s.second || !launchSettings || !s.autoscaler || !acceptsUpdates(group)) return undefined;
  const isUpdating = s.pool.status?.nodeGroup?.update?.status === 'InProgress';
  if (isUpdating || group.launchTemplate?.id !== template.id) return undefined;
  const kept = new Set([
    template.defaultVersion,
    template.versions[0]?.version,
    group.launchTemplate.version,
    versionWith(template, launchSettings, group)?.version,
    ...usedVersions(s.autoscaler.templateVersions, template),
  ]);
  const old = template.versions.filter((version) => isOwnVersion(version) && !kept.has(version.version));
  if (old.length === 0) return undefined;
  const versions = old.slice(0, MOST_AT_ONCE).map(({ version }) => version);
  return [{ kind: 'deleteLaunchTemplateVersions', template: { id: template.id, name: template.name }, versions }];
}

/** What EC2 accepts in one request. */
const MOST_AT_ONCE = 200;

function usedVersions(versions: readonly string[], { id }: OwnTemplate): string[] {
  const prefix = `${id} `;
  return versions.filter((version) => version.startsWith(prefix)).map((version) => version.slice(prefix.length));
}

/** Ensures that a template which the pool no longer needs is deleted: the spec changed before its group was created. */
export function deleteUnusedTemplate(s: EksState): Step[] | undefined {
  const template = ownTemplateIn(s);
  if (!template || hasLaunchSettings(s.pool.spec) || groupOf(s)?.launchTemplate?.id === template.id) return undefined;
  // A group that is being replaced, or a canary, may use it.
  if (s.second || secondIn(s.pool)) return undefined;
  return deletion(template, 'the pool does not use it');
}

/** Ensures that a template is deleted with the pool, after the group: the finalizer waits until EC2 has answered. */
export function deleteOwnTemplate(s: EksState): RuleResult | Step[] | undefined {
  if (mayHaveTemplate(s) && s.ownTemplate === undefined) {
    const message = 'The pool is deleted when its launch template is read.';
    return waitFor('Deleting', 'read', { message, progress: true });
  }
  const template = ownTemplateIn(s);
  return template && [...deletion(template, 'the pool is deleted'), { kind: 'removeFinalizer' }];
}

/** The steps that delete the template of a retained group that never existed. A group that it was to replace may use it. */
export function unusedTemplateSteps(s: EksState): Step[] {
  const template = s.group.kind === 'absent' ? ownTemplateIn(s) : undefined;
  if (!template || (s.second && !isKnownNotToUse(s.second, template))) return [];
  return deletion(template, 'no node group uses it');
}

function isKnownNotToUse(view: ObservedNodeGroup, { id }: OwnTemplate): boolean {
  return view.kind === 'seen' && view.group.launchTemplate?.id !== id;
}

function deletion({ id, name }: OwnTemplate, why: string): Step[] {
  return [{ kind: 'deleteLaunchTemplate', template: { id, name }, why }];
}

/** Whether a template with the pool's name may be the pool's. */
export function mayHaveTemplate({ pool }: Pick<EksState, 'pool'>): boolean {
  return hasLaunchSettings(pool.spec) || pool.status?.tracking?.ownTemplate !== undefined;
}

/**
 * A part of the client tokens. Within an hour, a call that is repeated after a crash, or because EC2 does not show its effect yet, has no effect. After
 * an hour, EC2 must not repeat its answer about a template that another client deleted.
 */
function timeSlotOf({ now }: EksState): string {
  return String(Math.floor(now / 3_600_000));
}

/** The state after the steps that write the template, which shows what follows. Undefined when there is none of them. */
export function afterTemplateSteps(s: EksState, steps: readonly Step[]): EksState | undefined {
  const created = steps.find((step) => step.kind === 'createLaunchTemplate')?.template;
  // EC2 gives it an ID: in descriptions, its name stands for it.
  if (created) return withVersion(s, { id: created.name, ...created, defaultVersion: '1', versions: [] }, '1', created);
  const added = steps.find((step) => step.kind === 'createLaunchTemplateVersion');
  const template = added && ownTemplateIn(s);
  return template && withVersion(s, template, added.version, added.written);
}

/** The observed state with a new version of the template. */
function withVersion(
  s: EksState,
  template: OwnTemplate,
  version: string,
  { launchSettings, description }: { readonly launchSettings: LaunchSettings; readonly description: string },
): EksState {
  const versions = [{ version, launchSettings, others: [], description }, ...template.versions];
  return { ...s, ownTemplate: { kind: 'seen', template: { ...template, versions }, isNew: true } };
}
