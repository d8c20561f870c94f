/** What the spec says about the launch settings, and launch settings as text, so that they can be compared and shown. Pure. */
import type { NodeGroupSpec, WindowsPoolSpec } from '../../../api/api.gen.ts';
import { type LaunchSettings, withoutDefaults } from '../../../ports/ownTemplates.ts';
import type { SecurityGroupTerm } from '../../../ports/prerequisites.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { hashOf } from '../../../util/hash.ts';
import { cut } from '../../../util/words.ts';
import { describeTerm } from '../desired/subnets.ts';
import type { CheckFacts } from '../model/checkFacts.ts';
import { kubeletArgumentsIn } from './bootstrap.ts';

/** The fields of the spec that a launch template of the operator needs. */
type LaunchSettingsSpec = Pick<
  NodeGroupSpec,
  'ami' | 'disk' | 'kubelet' | 'metadataOptions' | 'securityGroups' | 'instanceTags' | 'userData'
>;

/** Those fields, as far as they are set. */
export function launchSettingsIn(spec: WindowsPoolSpec): LaunchSettingsSpec {
  const { ami, disk, kubelet, metadataOptions, securityGroups, instanceTags, userData } = nodeGroupIn(spec);
  return {
    ...(ami && { ami }),
    ...(kubelet && { kubelet }),
    ...(disk && { disk }),
    ...(metadataOptions && { metadataOptions }),
    ...(securityGroups && { securityGroups }),
    ...(instanceTags && { instanceTags }),
    ...(userData && { userData }),
  };
}

/** Whether the spec sets launch settings, so that the operator creates a launch template for the pool. */
export function hasLaunchSettings(spec: WindowsPoolSpec): boolean {
  return Object.keys(launchSettingsIn(spec)).length > 0;
}

/** Whether the operator selects the AMI and writes the user data: the AMI type of the group is CUSTOM, for which EKS does neither. */
export function isCustom(spec: WindowsPoolSpec): boolean {
  const { ami, kubelet } = nodeGroupIn(spec);
  return ami !== undefined || kubelet !== undefined;
}

/** The root volume; undefined if the spec does not set launch settings. */
export function diskIn(spec: WindowsPoolSpec): LaunchSettings['disk'] | undefined {
  return hasLaunchSettings(spec) ? bareLaunchSettings(spec).disk : undefined;
}

/** The launch settings without AMI, user data and security groups. What the spec leaves out has the default of the schema: it has no effect on pools without launch settings. */
export function bareLaunchSettings(spec: WindowsPoolSpec): LaunchSettings {
  const { disk, metadataOptions, instanceTags = {} } = launchSettingsIn(spec);
  return {
    disk: withoutDefaults(disk ?? DISK),
    httpTokens: metadataOptions?.httpTokens ?? 'Required',
    httpPutResponseHopLimit: metadataOptions?.httpPutResponseHopLimit ?? 1,
    securityGroups: [],
    instanceTags: { ...instanceTags },
  };
}

const DISK: LaunchSettings['disk'] = { sizeGiB: 50, type: 'gp3', encrypted: true };

/** The security groups that the spec selects. */
export function securityGroupTerms(spec: WindowsPoolSpec): readonly SecurityGroupTerm[] {
  return nodeGroupIn(spec).securityGroups ?? [];
}

/** Whether the spec selects security groups by tags, so that EC2 must resolve them. */
export function followsSecurityGroups(spec: WindowsPoolSpec): boolean {
  return securityGroupTerms(spec).some(({ tags }) => tags !== undefined);
}

/** The IDs that the spec selects; undefined while tags are not resolved, or select nothing. */
export function selectedGroups(
  spec: WindowsPoolSpec,
  { securityGroups: found }: Pick<CheckFacts, 'securityGroups'> = {},
): readonly string[] | undefined {
  const terms = securityGroupTerms(spec);
  if (!followsSecurityGroups(spec)) return terms.flatMap(({ id }) => id ?? []);
  if (!found?.ok) return undefined;
  const selected = terms.map(({ id, tags = {} }) =>
    id === undefined ? found.value.filter((group) => hasTags(group.tags, tags)).map((group) => group.id) : [id],
  );
  return selected.some((ids) => ids.length === 0) ? undefined : selected.flat();
}

/** Whether an object has all these tags. */
export function hasTags(found: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([key, value]) => found[key] === value);
}

/** Launch settings as text, by field of the spec. */
export type LaunchSettingsTexts = Readonly<Record<string, string>>;

/** The settings whose text is not that of a field alone. */
export const AMI = 'ami';
export const USER_DATA = 'userData';
export const SECURITY_GROUPS = 'securityGroups';

/** The text of each launch setting. One that is not set is an empty text. That of user data is a hash: it is long, and may be confidential. */
export function launchSettingsTexts(launchSettings: LaunchSettings): LaunchSettingsTexts {
  const {
    imageId = '',
    userData,
    disk,
    httpTokens,
    httpPutResponseHopLimit,
    securityGroups,
    instanceTags,
  } = launchSettings;
  return {
    [AMI]: imageId,
    [USER_DATA]: userData === undefined ? '' : hashOf(userData),
    'disk.sizeGiB': String(disk.sizeGiB),
    'disk.type': disk.type,
    'disk.iops': String(disk.iops ?? ''),
    'disk.throughput': String(disk.throughput ?? ''),
    'disk.encrypted': String(disk.encrypted),
    'disk.kmsKeyID': disk.kmsKeyID ?? '',
    'metadataOptions.httpTokens': httpTokens,
    'metadataOptions.httpPutResponseHopLimit': String(httpPutResponseHopLimit),
    [SECURITY_GROUPS]: securityGroups.join(', '),
    instanceTags: Object.entries(instanceTags)
      .map(([key, value]) => `${key}=${value}`)
      .sort()
      .join(', '),
  };
}

/** Whether the user data of two launch settings differ at most in the ID of the AMI, which is a label of the node. */
export function haveSameUserData(a: LaunchSettings, b: LaunchSettings): boolean {
  const { imageId: before = '', userData = '' } = a;
  const { imageId: after = '' } = b;
  const moved = before === '' ? userData : userData.replaceAll(before, after);
  return moved === (b.userData ?? '');
}

/** The security groups that the spec selects, as text. */
export function termsText(spec: WindowsPoolSpec): string {
  return securityGroupTerms(spec).map(describeTerm).sort().join(', ');
}

/** `disk.sizeGiB 100 -> 200, instanceTags not set -> team=web`. */
export function describeLaunchSettingsChange(before: LaunchSettings, after: LaunchSettings): string {
  const [from, to] = [launchSettingsTexts(before), launchSettingsTexts(after)];
  const settings = Object.entries(to)
    .filter(([field, text]) => field !== USER_DATA && from[field] !== text)
    .map(([field, text]) => `${field} ${settingText(from[field])} -> ${settingText(text)}`);
  return [...settings, ...describeUserDataChange(before, after)].join(', ');
}

/** `userData changed (kubelet: max-pods, node-labels)`. The labels and taints of the pool are arguments of the kubelet, too. */
function describeUserDataChange(before: LaunchSettings, after: LaunchSettings): string[] {
  if (haveSameUserData(before, after)) return [];
  const [from, to] = [kubeletArgumentsIn(withoutImage(before)), kubeletArgumentsIn(withoutImage(after))];
  const names = [...new Set([...from.keys(), ...to.keys()])].filter((name) => from.get(name) !== to.get(name)).sort();
  return [`${USER_DATA} changed${names.length > 0 ? ` (kubelet: ${cut(names.join(', '), SHOWN_LENGTH)})` : ''}`];
}

/** The user data without the ID of the AMI, which is a label of the node. */
function withoutImage({ imageId = '', userData = '' }: LaunchSettings): string {
  return imageId === '' ? userData : userData.replaceAll(imageId, '');
}

/** The text of a setting for messages. Tags may have 15,000 characters. */
export function settingText(text: string | undefined): string {
  return text ? cut(text, SHOWN_LENGTH) : 'not set';
}

const SHOWN_LENGTH = 256;

/** `disk.sizeGiB 100, disk.type gp3, disk.encrypted true`: the settings that have a value. */
export function describeLaunchSettings(launchSettings: LaunchSettings): string {
  return Object.entries(launchSettingsTexts(launchSettings))
    .filter(([field, text]) => field !== USER_DATA && text !== '')
    .map(([field, text]) => `${field} ${settingText(text)}`)
    .join(', ');
}
