/** The desired state of a node group, and how it differs from an existing one. */

import type { WindowsPool } from '../../../api/api.gen.ts';
import { CREATED_FROM_TAG, EXPECTED_BUILD_LABEL, POOL_KEY, RETRY_ANNOTATION } from '../../../api/labels.ts';
import { isRole } from '../../../nodes/nodeRole.ts';
import { gateTaintOf, registrationTaintsOf } from '../../../nodes/nodeTaints.ts';
import { amiTypeOf, buildOf } from '../../../nodes/windowsVersions.ts';
import {
  CUSTOM,
  type NewNodeGroup,
  type NodeGroup,
  type TemplateVersion,
  type UpdateSettings,
  type WarmPool,
} from '../../../ports/eks.ts';
import type { Taint } from '../../../ports/nodes.ts';
import { nodeGroupIn, scalingIn } from '../../../rules/nodeSource.ts';
import { DEFAULT_DISK_GIB } from '../../../sizing/rootVolume.ts';
import { hashOf } from '../../../util/hash.ts';
import { hasLaunchSettings, isCustom, launchSettingsIn } from '../launchTemplate/launchSettings.ts';
import { clusterIn, ownTemplateNameOf } from '../launchTemplate/ownTemplate.ts';
import type { Creation } from '../model/groupDue.ts';
import { minorOf } from '../versions/releaseVersion.ts';
import { isMadeFrom, requestedTypes, templateIn, templateVersion } from '../versions/userLaunchTemplate.ts';
import { describeTerm, hasSubnets, subnetTerms } from './subnets.ts';

/** The name of the main group, which the spec describes. */
export function nodeGroupNameOf(pool: WindowsPool): string {
  const plain = plainNameOf(pool);
  const known = pool.status?.nodeGroup?.name;
  // The hash is computed only where it matters, because the name is needed at every event of a node.
  return known !== undefined && known !== plain && known === hashedNameOf(pool) ? known : plain;
}

/** The name of the second group: the one of the two names that the main group does not have. */
export function secondNameOf(pool: WindowsPool): string {
  const plain = plainNameOf(pool);
  return nodeGroupNameOf(pool) === plain ? hashedNameOf(pool) : plain;
}

/** The names of all groups of the pool in EKS, the main one first. */
export function nodeGroupNamesOf(pool: WindowsPool): readonly string[] {
  const { replacement, canary } = pool.status?.nodeGroup ?? {};
  return [nodeGroupNameOf(pool), ...(replacement || canary ? [secondNameOf(pool)] : [])];
}

/**
 * One of the two names that groups of the pool can have. There are no others, so there is never a third group, and both groups are found when the
 * status is lost.
 */
function plainNameOf({ metadata, spec }: WindowsPool): string {
  return nodeGroupIn(spec).name ?? metadata.name;
}

/** The other one. EKS allows 63 characters. The hash keeps it apart from the names of other pools. */
function hashedNameOf(pool: WindowsPool): string {
  const first = plainNameOf(pool);
  return `${first.slice(0, 56)}-${hashOf({ pool: pool.metadata.name, first }).slice(0, 6)}`;
}

/** The request for CreateNodegroup without what only AWS knows: the ARN of the role, and the subnets that have the tags of the spec. */
export type DesiredNodeGroup = Omit<NewNodeGroup, 'nodeRoleArn' | 'subnets'>;

/**
 * The desired node group: defaults of EKS have changed over the years, so none are used. `template`: the resolved version of the launch
 * template, where known.
 */
export function desiredNodeGroup(pool: WindowsPool, template?: TemplateVersion): DesiredNodeGroup {
  const { spec } = pool;
  const minor = pinnedMinor(spec);
  const desired = {
    name: nodeGroupNameOf(pool),
    amiType: isCustom(spec) ? CUSTOM : amiTypeOf(spec.windowsVersion, nodeGroupIn(spec).edition),
    capacityType: nodeGroupIn(spec).capacityType,
    instanceTypes: requestedTypes(spec),
    ...diskOf(spec, template),
    scaling: {
      minSize: scalingIn(spec).minSize,
      maxSize: scalingIn(spec).maxSize,
      desiredSize: scalingIn(spec).desiredSize ?? scalingIn(spec).minSize,
    },
    labels: labelsFor(pool),
    taints: taintsFor(pool),
    ...pinsOf(spec),
    // By default, EKS uses the cluster's version, and refuses a release of an older one.
    ...(minor && { kubernetesVersion: minor }),
    ...updateOf(spec),
    ...warmPoolOf(spec),
  };
  const tags = { ...nodeGroupIn(spec).tags, [POOL_KEY]: pool.metadata.name };
  const { nodeRole, subnets } = nodeGroupIn(spec);
  const retry = pool.metadata.annotations?.[RETRY_ANNOTATION];
  // Another version of the operator's launch template with the same launch settings is the same creation.
  const launchSettings = hasLaunchSettings(spec) && {
    launchSettings: launchSettingsIn(spec),
    launchTemplate: undefined,
  };
  const created = [
    hashOf({ ...desired, ...launchSettings, tags, nodeRole, subnets }),
    ...(retry === undefined ? [] : [hashOf(retry)]),
  ];
  return { ...desired, tags: { ...tags, [CREATED_FROM_TAG]: created.join('.') } };
}

/** Reads it from the tags of a group. */
export function creationOf(tags: Readonly<Record<string, string>>): Creation {
  const [spec = '', retry] = (tags[CREATED_FROM_TAG] ?? '').split('.');
  return retry === undefined ? { spec } : { spec, retry };
}

/** The labels that the group sets on its nodes. */
export function labelsFor({ metadata, spec }: WindowsPool): Readonly<Record<string, string>> {
  return {
    ...spec.labels,
    [POOL_KEY]: metadata.name,
    // Not node.kubernetes.io/windows-build: a label of the group would override the value that the kubelet measured.
    [EXPECTED_BUILD_LABEL]: buildOf(spec.windowsVersion),
  };
}

/** The taints with which the group's nodes register. */
export function taintsFor(pool: WindowsPool): readonly Taint[] {
  const { verification, taints = [] } = pool.spec;
  return [
    ...registrationTaintsOf(pool.spec),
    ...(verification.policy === 'Gate' ? [gateTaintOf(pool)] : []),
    ...taints,
  ];
}

/** The root disk, or the launch template that defines it: EKS accepts only one of them. */
function diskOf(
  spec: WindowsPool['spec'],
  resolved: TemplateVersion | undefined,
): Pick<NewNodeGroup, 'diskSizeGiB' | 'launchTemplate'> {
  if (hasLaunchSettings(spec)) return resolved ? { launchTemplate: resolved } : {};
  const template = templateIn(spec);
  if (!template) return { diskSizeGiB: nodeGroupIn(spec).diskSizeGiB ?? DEFAULT_DISK_GIB };
  return { launchTemplate: resolved ?? templateVersion(template, String(template.version)) };
}

/** The versions that the spec pins. */
export function pinsOf(spec: WindowsPool['spec']): Pick<NewNodeGroup, 'kubernetesVersion' | 'releaseVersion'> {
  const { kubernetesVersion, releaseVersion } = nodeGroupIn(spec);
  return { ...(kubernetesVersion && { kubernetesVersion }), ...(releaseVersion && { releaseVersion }) };
}

/** The minor version that the spec pins, directly or by a release. */
export function pinnedMinor(spec: WindowsPool['spec']): string | undefined {
  const { kubernetesVersion, releaseVersion } = nodeGroupIn(spec);
  return kubernetesVersion ?? (releaseVersion && minorOf(releaseVersion));
}

/** The settings of rolling updates; empty when the spec has none. */
export function updateOf(spec: WindowsPool['spec']): { readonly update?: UpdateSettings } {
  const { strategy } = nodeGroupIn(spec).update;
  const { maxUnavailable } = spec.disruption ?? {};
  const update = {
    ...(maxUnavailable !== undefined && { maxUnavailable: String(maxUnavailable) }),
    ...(strategy && { strategy }),
  };
  return Object.keys(update).length > 0 ? { update } : {};
}

/** The warm pool, whose capacity is that of the group by default, and at least its minimum; empty when the spec has none. */
export function warmPoolOf(spec: WindowsPool['spec']): { readonly warmPool?: WarmPool } {
  const { warmPool } = nodeGroupIn(spec);
  if (!warmPool) return {};
  const { minSize, poolState, reuseOnScaleIn } = warmPool;
  const maxGroupPreparedCapacity = warmPool.maxGroupPreparedCapacity ?? Math.max(minSize, scalingIn(spec).maxSize);
  return { warmPool: { minSize, maxGroupPreparedCapacity, poolState, reuseOnScaleIn } };
}

/** The tags that are kept up to date. The hash of the creation request is not: it never changes. */
export function keptTags(pool: WindowsPool): Readonly<Record<string, string>> {
  return { ...nodeGroupIn(pool.spec).tags, [POOL_KEY]: pool.metadata.name };
}

/** Whether the pool owns the group: by its tag, whatever its name. */
export function isOwnedBy(pool: WindowsPool, group: NodeGroup): boolean {
  return group.tags[POOL_KEY] === pool.metadata.name;
}

/** Whether EKS accepts updates of the group: it is not working on it, and did not fail to create or delete it. */
export function acceptsUpdates({ status }: Pick<NodeGroup, 'status'>): boolean {
  return status === 'ACTIVE' || status === 'DEGRADED';
}

/** The differences that cannot be changed in place, in words. Only a restored or adopted pool has any. */
export function immutableDifferences(pool: WindowsPool, seen: NodeGroup): string[] {
  const desired = desiredNodeGroup(pool);
  const { nodeRole } = nodeGroupIn(pool.spec);
  const pairs: readonly (readonly [string, string, string])[] = [
    ['AMI type', seen.amiType, desired.amiType],
    ['capacity type', seen.capacityType, desired.capacityType],
    ...templateFields(pool, seen, desired),
    ...(hasSubnets(seen.subnets, pool.spec)
      ? []
      : [
          [
            'subnets',
            [...seen.subnets].sort().join(', '),
            subnetTerms(pool.spec).map(describeTerm).join(', '),
          ] as const,
        ]),
    ...(isRole(seen.nodeRoleArn, nodeRole) ? [] : [['node role', seen.nodeRoleArn, nodeRole] as const]),
  ];
  return pairs
    .filter(([, found, wanted]) => found !== wanted)
    .map(([what, found, wanted]) => `${what} ${what.endsWith('s') ? 'are' : 'is'} ${found} (expected ${wanted})`);
}

/**
 * Compares the launch template, or the fields in place of one. With another template, no other field is comparable. A group with a template
 * does not report the fields that the template sets.
 */
function templateFields(
  pool: WindowsPool,
  seen: NodeGroup,
  desired: DesiredNodeGroup,
): (readonly [string, string, string])[] {
  const wanted = wantedTemplate(pool, seen);
  const found = seen.launchTemplate;
  if (wanted ? !isMadeFrom(seen, wanted) : found) {
    const name = found && (wanted?.name === undefined ? found.id : found.name);
    return [['launch template', name ?? 'none', wanted?.id ?? wanted?.name ?? 'none']];
  }
  const inTemplate = 'in the launch template';
  return [
    [
      'instance types',
      seen.instanceTypes.join(', ') || inTemplate,
      (found ? desired.instanceTypes : requestedTypes(pool.spec)).join(', ') || inTemplate,
    ],
    ...(found
      ? []
      : ([['disk size', String(seen.diskSizeGiB ?? desired.diskSizeGiB), String(desired.diskSizeGiB)]] as const)),
  ];
}

/** The launch template that the spec names, or that the operator creates for the launch settings in the spec. */
function wantedTemplate(pool: WindowsPool, { arn }: NodeGroup): Pick<TemplateVersion, 'id' | 'name'> | undefined {
  return hasLaunchSettings(pool.spec) ? { name: ownTemplateNameOf(pool, clusterIn(arn)) } : templateIn(pool.spec);
}
