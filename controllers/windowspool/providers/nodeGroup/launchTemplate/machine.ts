/** What the spec says about the machine, and the settings of machines as text, so that they can be compared and shown. Pure. */
import type { NodeGroupSpec, WindowsPoolSpec } from '../../../api/api.gen.ts';
import { type Machine, withoutDefaults } from '../../../ports/machineTemplates.ts';
import type { SecurityGroupTerm } from '../../../ports/prerequisites.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { hashOf } from '../../../util/hash.ts';
import { cut } from '../../../util/words.ts';
import { describeTerm } from '../desired/subnets.ts';
import type { CheckFacts } from '../model/checkFacts.ts';
import { kubeletArgumentsIn } from './bootstrap.ts';

/** The fields of the spec that a launch template of the operator needs. */
type MachineSpec = Pick<
  NodeGroupSpec,
  'ami' | 'disk' | 'kubelet' | 'metadataOptions' | 'securityGroups' | 'instanceTags' | 'userData'
>;

/** Those fields, as far as they are set. */
export function machineIn(spec: WindowsPoolSpec): MachineSpec {
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

/** Whether the spec sets the machine, so that the operator creates a launch template for the pool. */
export function hasMachine(spec: WindowsPoolSpec): boolean {
  return Object.keys(machineIn(spec)).length > 0;
}

/** Whether the operator selects the AMI and writes the user data: the AMI type of the group is CUSTOM, for which EKS does neither. */
export function isCustom(spec: WindowsPoolSpec): boolean {
  const { ami, kubelet } = nodeGroupIn(spec);
  return ami !== undefined || kubelet !== undefined;
}

/** The root volume; undefined if the spec does not set the machine. */
export function diskIn(spec: WindowsPoolSpec): Machine['disk'] | undefined {
  return hasMachine(spec) ? bareMachine(spec).disk : undefined;
}

/** The machine without AMI, user data and security groups. What the spec leaves out has the default of the schema: it has no effect on pools without a machine. */
export function bareMachine(spec: WindowsPoolSpec): Machine {
  const { disk, metadataOptions, instanceTags = {} } = machineIn(spec);
  return {
    disk: withoutDefaults(disk ?? DISK),
    httpTokens: metadataOptions?.httpTokens ?? 'Required',
    httpPutResponseHopLimit: metadataOptions?.httpPutResponseHopLimit ?? 1,
    securityGroups: [],
    instanceTags: { ...instanceTags },
  };
}

const DISK: Machine['disk'] = { sizeGiB: 50, type: 'gp3', encrypted: true };

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

/** Settings of a machine as text, by field of the spec. */
export type MachineTexts = Readonly<Record<string, string>>;

/** The settings whose text is not that of a field alone. */
export const AMI = 'ami';
export const USER_DATA = 'userData';
export const SECURITY_GROUPS = 'securityGroups';

/** The settings of a machine. A setting that is not set is an empty text. That of user data is a hash: it is long, and may be confidential. */
export function machineTexts(machine: Machine): MachineTexts {
  const { imageId = '', userData, disk, httpTokens, httpPutResponseHopLimit, securityGroups, instanceTags } = machine;
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

/** Whether the user data of two machines differ at most in the ID of the AMI, which is a label of the node. */
export function haveSameUserData(a: Machine, b: Machine): boolean {
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
export function describeMachineChange(before: Machine, after: Machine): string {
  const [from, to] = [machineTexts(before), machineTexts(after)];
  const settings = Object.entries(to)
    .filter(([field, text]) => field !== USER_DATA && from[field] !== text)
    .map(([field, text]) => `${field} ${settingText(from[field])} -> ${settingText(text)}`);
  return [...settings, ...describeUserDataChange(before, after)].join(', ');
}

/** `userData changed (kubelet: max-pods, node-labels)`. The labels and taints of the pool are arguments of the kubelet, too. */
function describeUserDataChange(before: Machine, after: Machine): string[] {
  if (haveSameUserData(before, after)) return [];
  const [from, to] = [kubeletArgumentsIn(withoutImage(before)), kubeletArgumentsIn(withoutImage(after))];
  const names = [...new Set([...from.keys(), ...to.keys()])].filter((name) => from.get(name) !== to.get(name)).sort();
  return [`${USER_DATA} changed${names.length > 0 ? ` (kubelet: ${cut(names.join(', '), SHOWN_LENGTH)})` : ''}`];
}

/** The user data without the ID of the AMI, which is a label of the node. */
function withoutImage({ imageId = '', userData = '' }: Machine): string {
  return imageId === '' ? userData : userData.replaceAll(imageId, '');
}

/** The text of a setting for messages. Tags may have 15,000 characters. */
export function settingText(text: string | undefined): string {
  return text ? cut(text, SHOWN_LENGTH) : 'not set';
}

const SHOWN_LENGTH = 256;

/** `disk.sizeGiB 100, disk.type gp3, disk.encrypted true`: the settings that have a value. */
export function describeMachine(machine: Machine): string {
  return Object.entries(machineTexts(machine))
    .filter(([field, text]) => field !== USER_DATA && text !== '')
    .map(([field, text]) => `${field} ${settingText(text)}`)
    .join(', ');
}
