/**
 * The launch template that the spec names: what the spec asks for, and what EKS accepts. Pure.
 *
 * Rules: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html ("Launch template configuration basics").
 */
import type { LaunchTemplateSpec, WindowsPoolSpec } from '../../../api/api.gen.ts';
import type { Cluster, NodeGroup, TemplateVersion } from '../../../ports/eks.ts';
import type { LaunchTemplate } from '../../../ports/prerequisites.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { DEFAULT_DISK_GIB } from '../../../sizing/rootVolume.ts';
import { joined } from '../../../util/words.ts';
import { cannotJoin } from '../launchTemplate/securityRules.ts';
import type { CheckFacts } from '../model/checkFacts.ts';

/** The instance types of a node group without a launch template, when the spec names none. */
const DEFAULT_INSTANCE_TYPES: readonly string[] = ['m5.large'];

/** The launch template that the spec names. */
export function templateIn(spec: WindowsPoolSpec): LaunchTemplateSpec | undefined {
  return nodeGroupIn(spec).launchTemplate;
}

/** The version number that the spec pins; undefined when it follows `$Latest` or `$Default`, or names no template. */
export function pinnedTemplateVersion(spec: WindowsPoolSpec): string | undefined {
  const version = templateIn(spec)?.version;
  return version === undefined || String(version).startsWith('$') ? undefined : String(version);
}

/** A version of the template for a request to EKS, with the identifier that the spec uses. */
export function templateVersion({ id, name }: LaunchTemplateSpec, version: string): TemplateVersion {
  return { ...(id !== undefined && { id }), ...(name !== undefined && { name }), version };
}

/** The instance types for CreateNodegroup: none when the launch template has one. */
export function requestedTypes(spec: WindowsPoolSpec): readonly string[] {
  return nodeGroupIn(spec).instanceTypes ?? (templateIn(spec) ? [] : DEFAULT_INSTANCE_TYPES);
}

/** The version of the user's launch template that the pool resolves to, as far as it was read. */
export function resolvedTemplate({ launchTemplate }: Pick<CheckFacts, 'launchTemplate'>): LaunchTemplate | undefined {
  return launchTemplate?.ok ? launchTemplate.value : undefined;
}

/** The instance types that nodes will have, as far as the template is known. */
export function instanceTypesOf(spec: WindowsPoolSpec, template: LaunchTemplate | undefined): readonly string[] {
  const requested = requestedTypes(spec);
  return requested.length === 0 && template?.instanceType ? [template.instanceType] : requested;
}

/** Whether the group was made from this template. */
export function isMadeFrom(
  { launchTemplate: seen }: NodeGroup,
  { id, name }: Pick<LaunchTemplateSpec, 'id' | 'name'>,
): boolean {
  return seen !== undefined && (id === undefined ? seen.name === name : seen.id === id);
}

/** Why no node can join from the template of this pool, or EKS does not accept it: each with its field, its value and the remedy. */
export function templateFaults(
  spec: WindowsPoolSpec,
  template: LaunchTemplate,
  cluster: Cluster | undefined,
  facts: Pick<CheckFacts, 'controlPlaneRules'> | undefined,
): string[] {
  const { instanceTypes } = nodeGroupIn(spec);
  const { instanceType, linuxUserData, rootVolume: { sizeGiB } = {} } = template;
  const faults = template.forbidden.map(({ field, value }) => {
    const instead = INSTEAD[field];
    return `it sets ${field} (${value}), which EKS does not accept. Remove it${instead ? `: ${instead}` : ''}`;
  });
  if (instanceType && instanceTypes)
    faults.push(
      `both it (${instanceType}) and nodeGroup.instanceTypes (${joined(instanceTypes)}) set instance types. Remove one of them`,
    );
  if (!instanceType && !instanceTypes)
    faults.push('neither it nor nodeGroup.instanceTypes sets an instance type. Set one of them');
  if (linuxUserData)
    faults.push(
      `its user data is ${linuxUserData}, and EKS accepts only PowerShell commands in <powershell> tags. Replace it, or remove it: EKS adds the commands that make nodes join`,
    );
  if (sizeGiB !== undefined && sizeGiB < DEFAULT_DISK_GIB)
    faults.push(
      `its root volume (/dev/sda1) has ${sizeGiB} GiB, and the AMI ${DEFAULT_DISK_GIB}, so EC2 launches no instance. Set VolumeSize to at least ${DEFAULT_DISK_GIB}, or remove it`,
    );
  if (cannotJoin(template, cluster, facts))
    faults.push(
      `its security groups (${joined(template.securityGroups ?? [])}) do not include the cluster security group ${cluster?.securityGroup}, which EKS adds only to a template without security groups, and no rule of the control plane allows TCP port 443 from them, so nodes cannot join. Add ${cluster?.securityGroup} to them`,
    );
  return faults;
}

/** The fields of a pool that replace those of its launch template. */
const INSTEAD: Readonly<Partial<Record<LaunchTemplate['forbidden'][number]['field'], string>>> = {
  IamInstanceProfile: 'EKS creates one from nodeGroup.nodeRole',
  SubnetId: 'nodeGroup.subnets sets the subnets',
  InstanceMarketOptions: 'nodeGroup.capacityType sets the capacity type',
  ImageId: 'windowsVersion, nodeGroup.edition and nodeGroup.releaseVersion select the AMI, or nodeGroup.ami',
};
