/** Checks on the EKS cluster. */

import { kubernetesSupport, yearOf } from '../../../nodes/windows.ts';
import type { Cluster } from '../../../ports/eks.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { pinnedMinor } from '../desired/desiredNodeGroup.ts';
import type { CheckInput, PrerequisiteCheck, PrerequisiteResult } from '../model/prerequisiteFacts.ts';
import { isNewerMinor } from '../versions/releaseVersion.ts';
import { failed, given, met, warning } from './check.ts';
import { supportOf } from './windowsSupport.ts';

/** Transient statuses. */
const PASSING = ['PENDING', 'CREATING', 'UPDATING'];

/** Ensures that EKS accepts a node group: it rejects one in a cluster that is not ACTIVE. Existing groups are not affected. */
function active({ cluster, creating }: CheckInput): PrerequisiteResult {
  const { name, status } = cluster;
  if (status === 'ACTIVE' || !creating) return met;
  if (PASSING.includes(status)) {
    const message = `EKS cluster ${name} is ${status}. EKS creates node groups only in an ACTIVE cluster. The operator waits`;
    return { kind: 'failed', message, passes: true };
  }
  return failed(
    `EKS cluster ${name} is ${status}. EKS creates node groups only in an ACTIVE cluster. Check its health (aws eks describe-cluster --name ${name} --query cluster.health)`,
  );
}

/**
 * Ensures that the cluster uses IPv4. Windows nodes do not support IPv6:
 * https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html
 */
function ipv4({ cluster }: CheckInput): PrerequisiteResult {
  if (cluster.ipFamily === 'ipv4') return met;
  return failed(
    `EKS cluster ${cluster.name} has IP family ${cluster.ipFamily}. Windows nodes need ipv4, and EKS cannot change the IP family of a cluster. Use another cluster`,
  );
}

/**
 * Ensures that a cluster in Auto Mode can run Windows. Its own nodes run Bottlerocket:
 * https://github.com/aws/containers-roadmap/issues/2528. Managed node groups beside them can run Windows, and need the add-ons that Auto
 * Mode replaces on its own nodes: https://docs.aws.amazon.com/eks/latest/userguide/eks-add-ons.html#addon-consider-auto
 */
function noAutoMode({ cluster, facts: { cniAddon } }: CheckInput): PrerequisiteResult {
  if (!cluster.autoMode) return met;
  const found = `EKS cluster ${cluster.name} runs in Auto Mode, whose nodes cannot run Windows`;
  if (cniAddon?.ok && !cniAddon.value)
    return failed(
      `${found}. A node group in this cluster can, but it needs the vpc-cni add-on, which is not installed. Install it (aws eks create-addon --cluster-name ${cluster.name} --addon-name vpc-cni --configuration-values '{"enableWindowsIpam":"true"}')`,
    );
  return warning(
    `${found}. The node group of the pool can, and needs the vpc-cni add-on${cniAddon?.ok ? ', which is installed' : ''}. Do not remove the add-on`,
  );
}

/**
 * Ensures that the Region is in the partition aws, not in one such as `arn:aws-us-gov:eks:...`. "Windows AMI types are only supported for
 * commercial AWS Regions": amiType in the model of EKS.
 */
function commercialRegion({ cluster, region }: CheckInput): PrerequisiteResult {
  const partition = cluster.arn.split(':')[1] ?? '';
  if (partition === '' || partition === 'aws') return met;
  return warning(
    `Region ${region} is in partition ${partition}. EKS documents Windows node groups only for commercial Regions. If EKS rejects the node group, create a self-managed node group and a pool of existingNodes`,
  );
}

/**
 * The Kubernetes version of the pool's nodes if it is newer than the table of this release, so that the AMI must be looked up; undefined otherwise.
 */
export function unlistedMinor(spec: CheckInput['spec'], cluster: Cluster): string | undefined {
  const version = pinnedMinor(spec) ?? cluster.kubernetesVersion;
  const minor = minorNumber(version);
  const isListed = minor === undefined || minor <= supportOf(spec.windowsVersion).last;
  return isListed || isNewerMinor(version, cluster.kubernetesVersion) ? undefined : version;
}

function minorNumber(version: string): number | undefined {
  const minor = /^1\.(\d+)$/.exec(version)?.[1];
  return minor === undefined ? undefined : Number(minor);
}

/**
 * Ensures that the Kubernetes version and the Windows version are compatible. Pairs in the table are; for a newer Kubernetes version, EKS
 * must publish an AMI; older ones have none.
 */
function supportedVersion(input: CheckInput): PrerequisiteResult | undefined {
  const { spec, cluster } = input;
  const { first, last } = supportOf(spec.windowsVersion);
  const pinned = pinnedMinor(spec);
  if (pinned !== undefined && isNewerMinor(pinned, cluster.kubernetesVersion)) return failed(aheadOf(input, pinned));
  const version = pinned ?? cluster.kubernetesVersion;
  const minor = minorNumber(version);
  if (minor !== undefined && minor > last) return published(input, version, minor);
  if (minor !== undefined && minor >= first) return upstream(spec, version, minor);
  if (minor === undefined)
    return failed(
      `This release of the operator does not support Kubernetes ${version || 'of an unknown version'}, the version of EKS cluster ${cluster.name}. Upgrade the operator`,
    );
  const remedy = pinned === undefined ? 'Upgrade the cluster' : `Set ${pinOf(input)} to a newer version`;
  return failed(
    `EKS does not support ${serverOf(spec)} with Kubernetes ${version}, only with 1.${first} or newer. ${remedy}, or create a pool with another windowsVersion`,
  );
}

function published(
  { spec, facts, region }: CheckInput,
  version: string,
  minor: number,
): PrerequisiteResult | undefined {
  return given(facts, 'ami', (exists) =>
    exists
      ? upstream(spec, version, minor)
      : failed(
          `EKS publishes no AMI of ${serverOf(spec)} ${nodeGroupIn(spec).edition} for Kubernetes ${version} in ${region}. Wait until it does, set nodeGroup.kubernetesVersion to an older version, or create a pool with another windowsVersion`,
        ),
  );
}

/** Warns when the Kubernetes project no longer supports the Windows version: EKS continues to publish AMIs of it. */
function upstream(spec: CheckInput['spec'], version: string, minor: number): PrerequisiteResult {
  const supported = kubernetesSupport(spec.windowsVersion, minor);
  if (supported === undefined) return met;
  return warning(
    `The Kubernetes project supports ${serverOf(spec)} ${supported}, and the nodes have ${version}. EKS still publishes an AMI. Plan to move the workload to a pool with another windowsVersion`,
  );
}

function serverOf({ windowsVersion }: CheckInput['spec']): string {
  return `Windows Server ${yearOf(windowsVersion)}`;
}

function aheadOf({ spec, cluster }: Pick<CheckInput, 'spec' | 'cluster'>, pinned: string): string {
  const { name, kubernetesVersion } = cluster;
  return `${pinOf({ spec })} pins Kubernetes ${pinned}, but EKS cluster ${name} runs ${kubernetesVersion}. Nodes must not be newer than the control plane. Upgrade the cluster first, or pin ${kubernetesVersion} or older`;
}

/** The field that pins the Kubernetes version. */
function pinOf({ spec }: Pick<CheckInput, 'spec'>): string {
  return nodeGroupIn(spec).kubernetesVersion ? 'nodeGroup.kubernetesVersion' : 'nodeGroup.releaseVersion';
}

/** Ensures that a Linux node accepts pods: CoreDNS and the operator itself need one. */
function linuxNode({ facts }: CheckInput): PrerequisiteResult | undefined {
  return given(facts, 'linuxNode', (exists) =>
    exists
      ? met
      : failed(
          'The cluster has no Linux node that accepts pods, and CoreDNS runs only on Linux. Add a Linux node group or a Fargate profile for kube-system, or uncordon a node (kubectl uncordon NODE)',
        ),
  );
}

/** Checks on the cluster, by importance. */
export const clusterChecks: readonly PrerequisiteCheck[] = [
  { reason: 'ClusterNotActive', about: 'the status of the cluster', section: 'cluster-status', look: active },
  { reason: 'UnsupportedIPFamily', about: 'the IP family', section: 'ipv4', look: ipv4 },
  { reason: 'UnsupportedRegion', about: 'the Region', section: 'region', look: commercialRegion },
  { reason: 'AutoModeUnsupported', about: 'Auto Mode', section: 'auto-mode', look: noAutoMode },
  { reason: 'UnsupportedVersion', about: 'the Kubernetes version', section: 'versions', look: supportedVersion },
  { reason: 'NoLinuxNode', about: 'a Linux node', section: 'a-linux-node', look: linuxNode },
];
