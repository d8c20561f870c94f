import type { CreateNodegroupRequest, Taint } from '@aws-sdk/client-eks';
import { type AwsFault, invalidParameter } from '../awsFault.ts';
import { inEks } from '../ec2/images.ts';
import { offeredType } from '../ec2/instanceTypeQueries.ts';
import { nodeRoleArn, untrustedRoleArn } from '../network.ts';
import { minorNumber, minors, windowsOf } from '../releases.ts';
import type { LocalAwsState } from '../state.ts';
import { isIn, namespaceOf } from './labels.ts';
import { templateFault, templateUse } from './templateRules.ts';
import { warmPoolFault } from './warmPoolConfig.ts';

type Rule = (request: CreateNodegroupRequest, cloud: LocalAwsState) => AwsFault | undefined;

/** The checks of EKS on a new node group, in this order. Messages marked "seen" are EKS' own, the others only have the same meaning. */
const createRules: readonly Rule[] = [
  nameFits,
  sizesFit,
  amiTypeIsOffered,
  amiTypeFits,
  instanceTypesFit,
  releaseFits,
  launchTemplateFits,
  diskFits,
  warmPoolFits,
  ({ labels }) => labelsFault(labels),
  ({ taints }) => taintsFault(taints),
  ({ taints }, cloud) => reservedTaintsFault(taints, cloud),
  ({ tags }) => tagsFault(tags),
  ({ updateConfig }) => unavailableFault(updateConfig),
  roleFits,
  subnetsFit,
];

/** Throws the first fault of a create request. */
export function checkCreate(request: CreateNodegroupRequest, cloud: LocalAwsState): void {
  for (const rule of createRules) {
    const fault = rule(request, cloud);
    if (fault !== undefined) throw fault;
  }
}

function nameFits({ nodegroupName: name = '' }: CreateNodegroupRequest) {
  // Seen.
  if (name.length > 63) return invalidParameter("nodeGroupName can't be longer than 63 characters!");
  if (/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(name)) return undefined;
  return invalidParameter('nodegroupName can only contain letters, digits, - and _, and starts with a letter or digit');
}

function sizesFit({ scalingConfig: sizes }: CreateNodegroupRequest, cloud: LocalAwsState) {
  if (sizes === undefined) return undefined;
  const { minSize, maxSize, desiredSize } = sizes;
  // Seen, all three.
  if (minSize === undefined || maxSize === undefined || desiredSize === undefined) {
    return invalidParameter('Either all or at least one of minSize, maxSize, desiredSize must be provided');
  }
  if (minSize > desiredSize) return invalidParameter("minSize can't be greater than desiredSize");
  if (desiredSize > maxSize) return invalidParameter("desiredSize can't be greater than maxSize");
  return sizeRangeFault(cloud, { ...sizes });
}

/** The bounds of each size: min and desired from 0, max from 1, and the quota of nodes. */
export function sizeRangeFault(
  { nodeLimit }: LocalAwsState,
  sizes: Readonly<Record<string, number | undefined>>,
): AwsFault | undefined {
  for (const [name, size] of Object.entries(sizes)) {
    const least = name === 'maxSize' ? 1 : 0;
    if (size !== undefined && (!Number.isInteger(size) || size < least || size > nodeLimit)) {
      return invalidParameter(`${name} is ${size}; it must be a whole number from ${least} to ${nodeLimit}`);
    }
  }
  return undefined;
}

/** Regions of other partitions than aws: us-gov-west-1, cn-north-1. The rule is the SDK's comment on CreateNodegroupRequest.amiType. */
function amiTypeIsOffered({ amiType }: CreateNodegroupRequest, { cluster }: LocalAwsState) {
  const isCommercial = !/^(us-gov|us-iso|cn|eusc)/.test(cluster.region);
  if (isCommercial || windowsOf(amiType ?? '') === undefined) return undefined;
  return invalidParameter('Windows AMI types are only supported for commercial AWS Regions.');
}

function amiTypeFits({ amiType, version }: CreateNodegroupRequest, cloud: LocalAwsState) {
  const kubernetes = version ?? cloud.clusterState.version;
  if (amiType === undefined || windowsOf(amiType)?.year !== '2025' || minorNumber(kubernetes) >= 35) return undefined;
  return invalidParameter(`AMI Type ${amiType} is only supported for kubernetes versions 1.35 or later`);
}

function instanceTypesFit({ instanceTypes = [], amiType }: CreateNodegroupRequest, cloud: LocalAwsState) {
  const unknown = instanceTypes.filter((name) => offeredType(cloud, name) === undefined);
  if (unknown.length > 0) {
    return invalidParameter(`The following supplied instance types do not exist: [${unknown.join(', ')}]`);
  }
  const architecture = amiType === undefined || !/arm_?64/i.test(amiType) ? 'x86_64' : 'arm64';
  const wrong = instanceTypes.filter(
    (name) => offeredType(cloud, name)?.ProcessorInfo.SupportedArchitectures[0] !== architecture,
  );
  if (wrong.length === 0) return undefined;
  // Seen.
  return invalidParameter(`[${wrong.join(', ')}] is not a valid instance type for requested amiType ${amiType}`);
}

function releaseFits({ version, releaseVersion, amiType }: CreateNodegroupRequest, cloud: LocalAwsState) {
  const kubernetes = version ?? cloud.clusterState.version;
  const fault = minorFault(cloud, kubernetes) ?? olderFault(cloud, kubernetes);
  if (fault !== undefined || releaseVersion === undefined) return fault;
  return releaseFault(cloud, kubernetes, releaseVersion, amiType);
}

/** The minor of a node group must exist and must not be newer than the cluster's. */
export function minorFault(cloud: LocalAwsState, minor: string): AwsFault | undefined {
  const { version } = cloud.clusterState;
  if (minorNumber(minor) > minorNumber(version))
    return invalidParameter(`Nodegroup version ${minor} is newer than the cluster's version ${version}`);
  if (minor === version || minors.includes(minor)) return undefined;
  return invalidParameter(`unsupported Kubernetes version ${minor}`);
}

// The sense is that of the SDK's comment on CreateNodegroupRequest.version.
function olderFault({ switches, clusterState: { version } }: LocalAwsState, minor: string): AwsFault | undefined {
  if (switches.olderVersionAtCreation === 'accept' || minor === version) return undefined;
  return invalidParameter(
    `You can only create a node group equal to the current Kubernetes version. Requested version ${minor}, cluster version ${version}`,
  );
}

/** A release version must be one that EKS has published for the minor (and the amiType). */
export function releaseFault(
  cloud: LocalAwsState,
  minor: string,
  releaseVersion: string,
  amiType?: string,
): AwsFault | undefined {
  if (inEks(cloud, minor, amiType).some((release) => release.releaseVersion === releaseVersion)) return undefined;
  // Seen.
  return invalidParameter(`Requested release version ${releaseVersion} is not valid for kubernetes version ${minor}.`);
}

function launchTemplateFits(request: CreateNodegroupRequest, cloud: LocalAwsState) {
  const { launchTemplate, diskSize, remoteAccess } = request;
  if (launchTemplate === undefined) return undefined;
  // Seen, both.
  if (diskSize !== undefined) return invalidParameter('Disk size must be specified within the launch template.');
  if (remoteAccess !== undefined) {
    return invalidParameter('Remote access configuration cannot be specified with a launch template.');
  }
  const use = templateUse(cloud, launchTemplate);
  return 'data' in use ? templateFault(cloud, use, request) : use;
}

function warmPoolFits({ launchTemplate, amiType, ...request }: CreateNodegroupRequest, cloud: LocalAwsState) {
  const use = launchTemplate && templateUse(cloud, launchTemplate);
  const isCustom = use !== undefined && 'data' in use && use.data.ImageId !== undefined;
  return warmPoolFault(cloud, { ...request, amiType: isCustom ? 'CUSTOM' : amiType });
}

function diskFits({ diskSize }: CreateNodegroupRequest) {
  if (diskSize === undefined || (Number.isInteger(diskSize) && diskSize >= 1 && diskSize <= 16384)) return undefined;
  return invalidParameter(`diskSize is ${diskSize}; it must be a whole number of GiB from 1 to 16384`);
}

/**
 * The bounds of labels: keys and values of 1 to 63 characters (a key's prefix aside), reserved prefixes. Those of Kubernetes were rejected in
 * 2021; since 2023 a kubelet with an unknown one does not start (labels.ts).
 */
export function labelsFault(labels: Readonly<Record<string, string>> | undefined): AwsFault | undefined {
  for (const [key, value] of Object.entries(labels ?? {})) {
    if (key.startsWith('eks.amazonaws.com/')) {
      // Seen (2021).
      return invalidParameter('Label cannot contain reserved prefixes [kubernetes.io/, k8s.io/, eks.amazonaws.com/]');
    }
    const name = key.slice(key.indexOf('/') + 1);
    if (name.length < 1 || name.length > 63)
      return invalidParameter(`Label key ${key} must have a name of 1 to 63 characters`);
    if (value.length < 1 || value.length > 63)
      return invalidParameter(`Value of label ${key} must have 1 to 63 characters`);
  }
  return undefined;
}

/** The bounds of taints: at most 50, key of 1 to 63 characters, value of at most 63, an effect, one taint a key and effect. */
export function taintsFault(taints: readonly Taint[] | undefined): AwsFault | undefined {
  if (taints === undefined) return undefined;
  if (taints.length > 50)
    return invalidParameter(`A node group can have at most 50 taints; ${taints.length} were given`);
  const seen = new Set<string>();
  for (const { key = '', value = '', effect } of taints) {
    if (key.length < 1 || key.length > 63) return invalidParameter(`Taint key '${key}' must have 1 to 63 characters`);
    if (value.length > 63) return invalidParameter(`Value of taint ${key} must have at most 63 characters`);
    if (effect === undefined) return invalidParameter(`Taint ${key} has no effect`);
    if (seen.has(`${key}:${effect}`)) return invalidParameter(`Taint ${key} with effect ${effect} is given twice`);
    seen.add(`${key}:${effect}`);
  }
  return undefined;
}

const RESERVED = ['kubernetes.io', 'k8s.io', 'eks.amazonaws.com'];

/** The reserved prefixes of requested taints, and with a switch those of their subdomains. The words are those for labels. */
export function reservedTaintsFault(
  taints: readonly Taint[] | undefined,
  { switches: { reservedTaints } }: LocalAwsState,
): AwsFault | undefined {
  const isReserved = ({ key = '' }: Taint) => {
    const namespace = namespaceOf(key);
    return RESERVED.some((prefix) =>
      reservedTaints === 'subdomains' ? isIn(namespace, prefix) : namespace === prefix,
    );
  };
  if (reservedTaints === 'none' || !taints?.some(isReserved)) return undefined;
  return invalidParameter('Taint cannot contain reserved prefixes [kubernetes.io/, k8s.io/, eks.amazonaws.com/]');
}

/** The bounds of tags: 50, none of AWS' own, keys of 1 to 128 and values of at most 256 characters. */
export function tagsFault(tags: Readonly<Record<string, string>> | undefined): AwsFault | undefined {
  const entries = Object.entries(tags ?? {});
  if (entries.length > 50) return invalidParameter(`A resource can have at most 50 tags; ${entries.length} were given`);
  for (const [key, value] of entries) {
    if (key.startsWith('aws:')) return invalidParameter(`Tag key ${key} begins with aws:, which is AWS' own`);
    if (key.length < 1 || key.length > 128) return invalidParameter(`Tag key ${key} must have 1 to 128 characters`);
    if (value.length > 256) return invalidParameter(`Value of tag ${key} must have at most 256 characters`);
  }
  return undefined;
}

/** maxUnavailable 1-100, or a percentage, never both. */
export function unavailableFault(
  config:
    | { readonly maxUnavailable?: number | undefined; readonly maxUnavailablePercentage?: number | undefined }
    | undefined,
): AwsFault | undefined {
  if (config === undefined) return undefined;
  const { maxUnavailable, maxUnavailablePercentage } = config;
  if (maxUnavailable !== undefined && maxUnavailablePercentage !== undefined) {
    return invalidParameter('Only one of maxUnavailable and maxUnavailablePercentage can be given');
  }
  for (const number of [maxUnavailable, maxUnavailablePercentage]) {
    if (number !== undefined && !(Number.isInteger(number) && number >= 1 && number <= 100)) {
      return invalidParameter(`maxUnavailable is ${number}; it must be a whole number from 1 to 100`);
    }
  }
  return undefined;
}

function roleFits({ nodeRole = '' }: CreateNodegroupRequest) {
  if (nodeRole === nodeRoleArn) return undefined;
  if (nodeRole === untrustedRoleArn) {
    // Seen.
    return invalidParameter(
      `Following required service principals [ec2.amazonaws.com] were not found in the trust relationships of nodeRole ${nodeRole}`,
    );
  }
  if (!/^arn:[\w-]+:iam::\d{12}:role\/.+/.test(nodeRole))
    return invalidParameter(`nodeRole ${nodeRole} is not a valid role ARN`);
  // IAM's message for a role that does not exist.
  return invalidParameter(`The role with name ${nodeRole.split('/').at(-1)} cannot be found.`);
}

function subnetsFit({ subnets = [] }: CreateNodegroupRequest, cloud: LocalAwsState) {
  if (subnets.length === 0) return invalidParameter('subnets must name at least one subnet');
  const missing = subnets.find((id) => !cloud.subnets.some((subnet) => subnet.id === id));
  // Seen, at CreateCluster.
  return missing === undefined ? undefined : invalidParameter(`The subnet ID '${missing}' does not exist`);
}
