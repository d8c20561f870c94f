/**
 * The user's launch template: what the spec asks for, what EKS takes of one, and which version the group shall have. Pure.
 *
 * Rules: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html ("Launch template configuration basics").
 */
import type { LaunchTemplateSpec, WindowsPoolSpec } from '../../../api.gen.ts';
import type { ObservedState } from '../../../model/observedState.ts';
import { nodeGroupIn } from '../../../nodeSource.ts';
import type { NodeGroup, TemplateVersion } from '../../../ports/eks.ts';
import type { LaunchTemplate } from '../../../ports/prerequisites.ts';
import { joined } from '../../../util/words.ts';

/** What a node group without a launch template gets where the spec names no instance type. */
const DEFAULT_INSTANCE_TYPES: readonly string[] = ['m5.large'];

/** The launch template that the spec names. */
export function templateIn(spec: WindowsPoolSpec): LaunchTemplateSpec | undefined {
  return nodeGroupIn(spec).launchTemplate;
}

/** The number that the spec says; undefined where it follows `$Latest` or `$Default`, or names no template. */
export function pinnedTemplateVersion(spec: WindowsPoolSpec): string | undefined {
  const version = templateIn(spec)?.version;
  return version === undefined || String(version).startsWith('$') ? undefined : String(version);
}

/** A version of the template as EKS is asked for it: by what the spec names it by. */
export function templateVersion({ id, name }: LaunchTemplateSpec, version: string): TemplateVersion {
  return { ...(id !== undefined && { id }), ...(name !== undefined && { name }), version };
}

/** The instance types that CreateNodegroup is asked for: none where the launch template has one. */
export function requestedTypes(spec: WindowsPoolSpec): readonly string[] {
  return nodeGroupIn(spec).instanceTypes ?? (templateIn(spec) ? [] : DEFAULT_INSTANCE_TYPES);
}

/** The instance types that nodes will have, as far as the template is known. */
export function instanceTypesOf(spec: WindowsPoolSpec, template: LaunchTemplate | undefined): readonly string[] {
  const requested = requestedTypes(spec);
  return requested.length === 0 && template?.instanceType ? [template.instanceType] : requested;
}

/** Whether the group was made from the template that the spec names. */
export function isMadeFrom({ launchTemplate: seen }: NodeGroup, { id, name }: LaunchTemplateSpec): boolean {
  return seen !== undefined && (id === undefined ? seen.name === name : seen.id === id);
}

/** What EKS does not take of the template for this pool: each with its field, its value and the next move. */
export function templateFaults(spec: WindowsPoolSpec, template: LaunchTemplate): string[] {
  const { instanceTypes } = nodeGroupIn(spec);
  const { instanceType } = template;
  const faults = template.forbidden.map(({ field, value }) => {
    const instead = INSTEAD[field];
    return `it sets ${field} (${value}), which EKS does not take. Leave it out${instead ? `: ${instead}` : ''}`;
  });
  if (instanceType && instanceTypes)
    faults.push(
      `it sets InstanceType (${instanceType}), and spec.nodeGroup.instanceTypes says ${joined(instanceTypes)}. Leave one of them out`,
    );
  if (!instanceType && !instanceTypes)
    faults.push('neither it nor spec.nodeGroup.instanceTypes names an instance type. Name one in either of them');
  return faults;
}

/** Where a pool says what its launch template must not. */
const INSTEAD: Readonly<Partial<Record<LaunchTemplate['forbidden'][number]['field'], string>>> = {
  IamInstanceProfile: 'EKS makes one from spec.nodeGroup.nodeRoleArn',
  SubnetId: 'the subnets are spec.nodeGroup.subnets',
  InstanceMarketOptions: 'the way to buy capacity is spec.nodeGroup.capacityType',
  ImageId: 'the AMI follows spec.windowsVersion, spec.nodeGroup.edition and spec.nodeGroup.releaseVersion',
};

/**
 * The number of the version that the group shall have, of a template that EKS takes. While it cannot be asked for it is what it was: what
 * failed must not look like another wish for that. Undefined when it is not known, or EKS would not take it.
 */
export function desiredTemplateVersion({
  pool,
  prerequisites,
}: Pick<ObservedState, 'pool' | 'prerequisites'>): string | undefined {
  const wanted = templateIn(pool.spec);
  if (!wanted) return undefined;
  const fact = prerequisites?.launchTemplate;
  if (fact?.ok) {
    const template = fact.value;
    return template && templateFaults(pool.spec, template).length === 0 ? template.version : undefined;
  }
  return pinnedTemplateVersion(pool.spec) ?? pool.status?.nodeGroup?.launchTemplate?.wantedVersion;
}
