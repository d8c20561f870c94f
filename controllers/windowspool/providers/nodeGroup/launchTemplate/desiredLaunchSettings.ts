/** The launch settings that the spec asks for in this cluster, and how those of a launch template compare with them. Pure. */
import type { WindowsPool, WindowsPoolSpec } from '../../../api/api.gen.ts';
import type { NodeGroup, TemplateVersion } from '../../../ports/eks.ts';
import type { LaunchSettings, OwnTemplateVersion } from '../../../ports/ownTemplates.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { mergedUserData } from '../../../userData/userScript.ts';
import { appliedOf, isApplied, launchSettingsField } from '../changes/appliedRecord.ts';
import { nodeGroupNameOf } from '../desired/desiredNodeGroup.ts';
import type { EksState } from '../model/groupState.ts';
import { userDataIn, userScriptOf } from './groupScript.ts';
import { followsImage, imageFault, imageIdOf, isImageGone, selectedImage } from './image.ts';
import {
  AMI,
  bareLaunchSettings,
  followsSecurityGroups,
  hasLaunchSettings,
  haveSameUserData,
  isCustom,
  type LaunchSettingsTexts,
  launchSettingsTexts,
  SECURITY_GROUPS,
  selectedGroups,
  termsText,
  USER_DATA,
} from './launchSettings.ts';
import { isOwnVersion, ownTemplateIn, versionWith } from './ownTemplate.ts';
import { userDataOf, userDataText } from './userData.ts';

type Seen = Pick<EksState, 'pool' | 'cluster' | 'prerequisites'> & Partial<Pick<EksState, 'group' | 'ownTemplate'>>;

/**
 * The launch settings that a launch template of the pool should contain; undefined while security groups are not resolved, the script of the spec is not known, or
 * nodes cannot get the user data.
 * If the template names security groups, EKS does not add that of the cluster:
 * https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-security-groups
 *
 * @param name - the name of the group: the user data of a custom AMI contains it
 */
export function desiredLaunchSettings(s: Seen, name = nodeGroupNameOf(s.pool)): LaunchSettings | undefined {
  const { pool, cluster, prerequisites } = s;
  const selected = selectedGroups(pool.spec, prerequisites);
  if (cluster.kind !== 'seen' || !selected) return undefined;
  const { securityGroup } = cluster.cluster;
  const all = selected.length > 0 ? [...selected, ...(securityGroup ? [securityGroup] : [])] : [];
  const launchSettings = { ...bareLaunchSettings(pool.spec), securityGroups: [...new Set(all)].sort() };
  const script = userScriptOf(pool.spec, prerequisites);
  if (script === undefined && userDataIn(pool.spec)) return undefined;
  if (!isCustom(pool.spec))
    return script === undefined ? launchSettings : { ...launchSettings, userData: mergedUserData(script) };
  const imageId = desiredImage(s);
  if (imageId === undefined) return undefined;
  const userData = userDataOf(pool, { cluster: cluster.cluster, group: name, imageId, script });
  if ('problem' in userData) return undefined;
  return { ...launchSettings, imageId, userData: userData.script };
}

/** The ID of the AMI for the group of the pool; undefined if EKS selects it, it is not resolved, or no node of the pool can start from it. */
function desiredImage(s: Seen): string | undefined {
  return keptImage(s) ?? suitableImage(s);
}

/**
 * The AMI of the group if the spec still names the same parameter: another value of the parameter changes the group only with policy Automatic, and never
 * because something else in the spec changed, unless no node can start from the AMI of the group.
 */
function keptImage(s: Seen): string | undefined {
  const { pool, group, ownTemplate: seen } = s;
  if (!followsImage(pool.spec) || group?.kind !== 'seen' || seen?.kind !== 'seen') return undefined;
  const { launchTemplate } = group.group;
  if (imageIdOf(group.group) === undefined || launchTemplate?.id !== seen.template.id) return undefined;
  const applied = appliedOf(pool);
  const isSameParameter = applied === undefined || isApplied(applied, launchSettingsField(AMI), amiText(pool.spec));
  const isToBeLeft = nodeGroupIn(pool.spec).update.policy === 'Automatic' || isImageGone(s.prerequisites);
  const followsParameter = isToBeLeft && suitableImage(s) !== undefined;
  if (!isSameParameter || followsParameter) return undefined;
  return seen.template.versions.find(({ version }) => version === launchTemplate.version)?.launchSettings.imageId;
}

/** The ID that the spec selects now; undefined if it is not resolved, or no node of the pool can start from it. */
export function suitableImage({ pool: { spec }, prerequisites }: Seen): string | undefined {
  const id = selectedImage(spec, prerequisites);
  const known = prerequisites?.image?.ok ? prerequisites.image.value : undefined;
  if (known === undefined || known.id !== id) return id;
  return known.found && imageFault(spec, known.found) === undefined ? id : undefined;
}

/** Whether everything is known that the launch template of the pool should contain, and what it contains: if not, an update may be due that cannot be seen. */
export function isLaunchSettingsKnown(s: Seen): boolean {
  const isImageKnown = !followsImage(s.pool.spec) || suitableImage(s) !== undefined;
  return isImageKnown && isTemplateKnown(s);
}

/** Whether the operator's launch template was read, and it is known what it should contain; true for a pool that has none. */
export function isTemplateKnown(s: Seen): boolean {
  return !hasLaunchSettings(s.pool.spec) || (s.ownTemplate !== undefined && desiredLaunchSettings(s) !== undefined);
}

/**
 * Whether everything was answered on which the content of the operator's launch template depends; true for a pool that has none. If the content is not
 * known nevertheless, a prerequisite is not met, such as a ConfigMap that does not exist, and this lasts until a user acts.
 */
export function isLaunchSettingsAnswered({ pool: { spec }, cluster, prerequisites, ownTemplate }: Seen): boolean {
  if (!hasLaunchSettings(spec)) return true;
  const { securityGroups, userData, imageParameter, image } = prerequisites ?? {};
  const needed = [
    followsSecurityGroups(spec) ? securityGroups : ANSWERED,
    userDataIn(spec) ? userData : ANSWERED,
    followsImage(spec) ? imageParameter : ANSWERED,
    selectedImage(spec, prerequisites) === undefined ? ANSWERED : image,
  ];
  return cluster.kind === 'seen' && ownTemplate !== undefined && needed.every((fact) => fact?.ok);
}

const ANSWERED = { ok: true } as const;

/** Why the nodes of the group with this name cannot get the user data that the spec asks for, as a sentence with the next step; undefined if they can, or need none. */
export function userDataProblem(s: Seen, name = nodeGroupNameOf(s.pool)): string | undefined {
  const imageId = desiredImage(s);
  if (s.cluster.kind !== 'seen' || imageId === undefined) return undefined;
  const script = userScriptOf(s.pool.spec, s.prerequisites);
  const userData = userDataOf(s.pool, { cluster: s.cluster.cluster, group: name, imageId, script });
  return 'problem' in userData ? userData.problem : undefined;
}

const OTHERS = 'other settings';

/** The settings that the spec asks for. Security groups are those of the spec, without that of the cluster. */
export function wantedTexts(pool: WindowsPool): LaunchSettingsTexts {
  const { spec } = pool;
  return {
    ...launchSettingsTexts(bareLaunchSettings(spec)),
    [AMI]: amiText(spec),
    [USER_DATA]: userDataText(pool),
    [SECURITY_GROUPS]: termsText(spec),
    [OTHERS]: '',
  };
}

function amiText(spec: WindowsPoolSpec): string {
  const { ami, kubelet, edition } = nodeGroupIn(spec);
  if (!ami) return kubelet ? `newest EKS-optimized AMI (${edition})` : '';
  return ami.ssmParameter === undefined ? (ami.id ?? '') : `SSM parameter ${ami.ssmParameter}`;
}

/**
 * The settings of a version, in the words of {@link wantedTexts}: its AMI and its security groups are those of the spec if the spec selects these now, and
 * its user data is that of the spec if nodes would get the same now.
 */
export function foundTexts(version: Omit<OwnTemplateVersion, 'version'>, s: Seen): LaunchSettingsTexts {
  const { launchSettings, others } = version;
  const wanted = desiredLaunchSettings(s);
  return {
    ...launchSettingsTexts(launchSettings),
    ...imageTexts(launchSettings, s),
    ...userDataTexts(version, wanted, s.pool),
    [SECURITY_GROUPS]: groupsText(launchSettings, wanted, s),
    ...(others.length > 0 && { [OTHERS]: others.join(', ') }),
  };
}

/**
 * Whether a setting counts as that of the spec while what the spec selects is not known: only if it was observed before. Otherwise, a change of the spec
 * would be recorded as applied, and its effect would later look like that of another client.
 */
function wasApplied(pool: WindowsPool, setting: string, text: string): boolean {
  const applied = appliedOf(pool);
  return applied === undefined || isApplied(applied, launchSettingsField(setting), text);
}

/** The AMI is that of the spec if the parameter has it. */
function imageTexts({ imageId }: LaunchSettings, { pool, prerequisites }: Seen) {
  const { spec } = pool;
  const selected = selectedImage(spec, prerequisites);
  const isSelected = selected === undefined ? wasApplied(pool, AMI, amiText(spec)) : selected === imageId;
  return followsImage(spec) && imageId !== undefined && isSelected ? { [AMI]: amiText(spec) } : {};
}

function groupsText(
  launchSettings: LaunchSettings,
  wanted: LaunchSettings | undefined,
  { pool, cluster }: Seen,
): string {
  const text = termsText(pool.spec);
  const isSelected = wanted
    ? wanted.securityGroups.join() === launchSettings.securityGroups.join()
    : wasApplied(pool, SECURITY_GROUPS, text);
  if (isSelected) return text;
  const own = cluster.kind === 'seen' ? cluster.cluster.securityGroup : undefined;
  return (
    launchSettings.securityGroups.filter((id) => id !== own).join(', ') || launchSettings.securityGroups.join(', ')
  );
}

/** User data that another client wrote is another setting, and not a former one of the operator, which the pool follows. */
function userDataTexts(
  version: Omit<OwnTemplateVersion, 'version'>,
  wanted: LaunchSettings | undefined,
  pool: WindowsPool,
) {
  const { launchSettings } = version;
  const text = userDataText(pool);
  const isSame = wanted ? haveSameUserData(launchSettings, wanted) : wasApplied(pool, USER_DATA, text);
  const isForeign = hasUserData(pool.spec) && !isSame && !isOwnVersion(version);
  return {
    ...(isSame && { [USER_DATA]: text }),
    [OTHERS]: isForeign ? 'UserData' : '',
  };
}

/**
 * Whether the setting differs although the spec did not change: the parameter has another AMI, other security groups have the tags, or the cluster, the
 * operator or the script changed.
 */
export function isFollowed(spec: WindowsPoolSpec, setting: string): boolean {
  if (setting === AMI) return followsImage(spec);
  return (setting === SECURITY_GROUPS && followsSecurityGroups(spec)) || (setting === USER_DATA && hasUserData(spec));
}

/** Whether the operator writes user data. */
function hasUserData(spec: WindowsPoolSpec): boolean {
  return isCustom(spec) || userDataIn(spec) !== undefined;
}

/**
 * The template version for the pool's group; undefined while it does not exist, or its launch settings are unknown. While the template cannot be read, the last
 * known version is used, so that a failed update does not look like a new target.
 */
export function desiredOwnVersion(s: EksState, group: NodeGroup | undefined): TemplateVersion | undefined {
  const { pool } = s;
  if (!hasLaunchSettings(pool.spec)) return undefined;
  if (s.ownTemplate === undefined) {
    const { id, desiredVersion } = pool.status?.nodeGroup?.launchTemplate ?? {};
    return id !== undefined && desiredVersion !== undefined ? { id, version: desiredVersion } : undefined;
  }
  const template = ownTemplateIn(s);
  const launchSettings = desiredLaunchSettings(s);
  const found = template && launchSettings && versionWith(template, launchSettings, group);
  return found && { id: template.id, version: found.version };
}
