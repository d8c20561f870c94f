/** The machine that the spec asks for, and its settings as text, so that they can be compared and shown. Pure. */
import type { NodeGroupSpec, WindowsPoolSpec } from '../../../api.gen.ts';
import type { ObservedState } from '../../../model/observedState.ts';
import type { PrerequisiteFacts } from '../../../model/prerequisites.ts';
import { nodeGroupIn } from '../../../nodeSource.ts';
import { type Machine, type MachineVersion, withoutDefaults } from '../../../ports/machineTemplates.ts';
import type { SecurityGroupTerm } from '../../../ports/prerequisites.ts';
import { cut } from '../../../util/words.ts';
import { describeTerm } from '../subnets.ts';

/** The fields of the spec that a launch template of the operator needs. */
type MachineSpec = Pick<NodeGroupSpec, 'disk' | 'metadataOptions' | 'securityGroups' | 'instanceTags'>;

/** Those fields, as far as they are set. */
export function machineIn(spec: WindowsPoolSpec): MachineSpec {
  const { disk, metadataOptions, securityGroups, instanceTags } = nodeGroupIn(spec);
  return {
    ...(disk && { disk }),
    ...(metadataOptions && { metadataOptions }),
    ...(securityGroups && { securityGroups }),
    ...(instanceTags && { instanceTags }),
  };
}

/** Whether the spec sets the machine, so that the operator creates a launch template for the pool. */
export function hasMachine(spec: WindowsPoolSpec): boolean {
  return Object.keys(machineIn(spec)).length > 0;
}

/** The root volume; undefined if the spec does not set the machine. */
export function diskIn(spec: WindowsPoolSpec): Machine['disk'] | undefined {
  return hasMachine(spec) ? bareMachine(spec).disk : undefined;
}

/** The machine without security groups. What the spec leaves out has the default of the schema: it has no effect on pools without a machine. */
function bareMachine(spec: WindowsPoolSpec): Machine {
  const { disk, metadataOptions, instanceTags = {} } = machineIn(spec);
  return {
    disk: withoutDefaults(disk ?? DISK),
    httpTokens: metadataOptions?.httpTokens ?? 'Required',
    hopLimit: metadataOptions?.hopLimit ?? 1,
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
  { securityGroups: found }: Pick<PrerequisiteFacts, 'securityGroups'> = {},
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

/**
 * The machine that a launch template of the pool should contain; undefined while security groups are not resolved. If the template names security
 * groups, EKS does not add that of the cluster: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-security-groups
 */
export function desiredMachine({
  pool: { spec },
  cluster,
  prerequisites,
}: Pick<ObservedState, 'pool' | 'cluster' | 'prerequisites'>): Machine | undefined {
  const selected = selectedGroups(spec, prerequisites);
  if (cluster.kind !== 'seen' || !selected) return undefined;
  const { securityGroup } = cluster.cluster;
  const all = selected.length > 0 ? [...selected, ...(securityGroup ? [securityGroup] : [])] : [];
  return { ...bareMachine(spec), securityGroups: [...new Set(all)].sort() };
}

/** Settings of a machine as text, by field of the spec. */
export type MachineTexts = Readonly<Record<string, string>>;

const SECURITY_GROUPS = 'securityGroups';
const OTHERS = 'other settings';

/** The settings of a machine. A setting that is not set is an empty text. */
function machineTexts({ disk, httpTokens, hopLimit, securityGroups, instanceTags }: Machine): MachineTexts {
  return {
    'disk.sizeGiB': String(disk.sizeGiB),
    'disk.type': disk.type,
    'disk.iops': String(disk.iops ?? ''),
    'disk.throughput': String(disk.throughput ?? ''),
    'disk.encrypted': String(disk.encrypted),
    'disk.kmsKeyId': disk.kmsKeyId ?? '',
    'metadataOptions.httpTokens': httpTokens,
    'metadataOptions.hopLimit': String(hopLimit),
    [SECURITY_GROUPS]: securityGroups.join(', '),
    instanceTags: Object.entries(instanceTags)
      .map(([key, value]) => `${key}=${value}`)
      .sort()
      .join(', '),
  };
}

/** The settings that the spec asks for. Security groups are those of the spec, without that of the cluster. */
export function wantedTexts(spec: WindowsPoolSpec): MachineTexts {
  return { ...machineTexts(bareMachine(spec)), [SECURITY_GROUPS]: termsText(spec), [OTHERS]: '' };
}

/** The settings of a version, in the words of {@link wantedTexts}: its security groups are those of the spec if the spec selects these groups. */
export function foundTexts(
  { machine, others }: Pick<MachineVersion, 'machine' | 'others'>,
  s: Pick<ObservedState, 'pool' | 'cluster' | 'prerequisites'>,
): MachineTexts {
  const { spec } = s.pool;
  const wanted = desiredMachine(s)?.securityGroups;
  const isSelected = wanted === undefined || wanted.join() === machine.securityGroups.join();
  const own = s.cluster.kind === 'seen' ? s.cluster.cluster.securityGroup : undefined;
  const added = machine.securityGroups.filter((id) => id !== own).join(', ');
  const groups = isSelected ? termsText(spec) : added || machine.securityGroups.join(', ');
  return { ...machineTexts(machine), [SECURITY_GROUPS]: groups, [OTHERS]: others.join(', ') };
}

function termsText(spec: WindowsPoolSpec): string {
  return securityGroupTerms(spec).map(describeTerm).sort().join(', ');
}

/** Whether the setting differs because of other clients' tags on security groups, and not because of the spec. */
export function isFollowed(spec: WindowsPoolSpec, setting: string): boolean {
  return setting === SECURITY_GROUPS && followsSecurityGroups(spec);
}

/** `disk.sizeGiB 100 -> 200, instanceTags not set -> team=web`. */
export function describeMachineChange(before: Machine, after: Machine): string {
  const [from, to] = [machineTexts(before), machineTexts(after)];
  return Object.entries(to)
    .filter(([field, text]) => from[field] !== text)
    .map(([field, text]) => `${field} ${settingText(from[field])} -> ${settingText(text)}`)
    .join(', ');
}

/** The text of a setting for messages. Tags may have 15,000 characters. */
export function settingText(text: string | undefined): string {
  return text ? cut(text, SHOWN_LENGTH) : 'not set';
}

const SHOWN_LENGTH = 256;

/** `disk.sizeGiB 100, disk.type gp3, disk.encrypted true`: the settings that have a value. */
export function describeMachine(machine: Machine): string {
  return Object.entries(machineTexts(machine))
    .filter(([, text]) => text !== '')
    .map(([field, text]) => `${field} ${settingText(text)}`)
    .join(', ');
}
