/** Checks on what the EKS cluster is. */

import { pinnedMinor } from '../nodeGroup/nodeGroup.ts';
import { yearOf } from '../nodes/windows.ts';
import type { Cluster } from '../ports/eks.ts';
import { isNewerMinor } from '../upgrades/releaseVersion.ts';
import { type Check, failed, given, met, type Result } from './check.ts';
import type { CheckInput } from './facts.ts';
import { supportOf } from './windowsSupport.ts';

/** Statuses that EKS leaves by itself. */
const PASSING = ['PENDING', 'CREATING', 'UPDATING'];

/** Ensures that EKS takes orders: it refuses node groups of a cluster that is not ACTIVE. What lives, lives on meanwhile. */
function active({ cluster, creating }: CheckInput): Result {
  const { name, status } = cluster;
  if (status === 'ACTIVE' || !creating) return met;
  if (PASSING.includes(status)) {
    const message = `EKS cluster ${name} is ${status}, and EKS makes no node group before it is ACTIVE. Wait`;
    return { kind: 'failed', message, passes: true };
  }
  return failed(
    `EKS cluster ${name} is ${status} and EKS makes no node group in it. Look at the cluster's health in EKS`,
  );
}

/** Windows nodes have no IPv6: https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html */
function ipv4({ cluster }: CheckInput): Result {
  if (cluster.ipFamily === 'ipv4') return met;
  return failed(
    `EKS cluster ${cluster.name} is of IP family ${cluster.ipFamily}, and Windows nodes need ipv4. The family of a cluster cannot change: use another cluster`,
  );
}

function noAutoMode({ cluster }: CheckInput): Result {
  if (!cluster.autoMode) return met;
  return failed(
    `EKS cluster ${cluster.name} runs in Auto Mode, which has no Windows nodes. Switch its compute off (computeConfig.enabled: false), or use another cluster`,
  );
}

/** A pair that the table does not list is refused: EKS has no AMI for it, or nobody knows whether it works. */
function supportedVersion({ spec, cluster }: CheckInput): Result {
  const { first, last } = supportOf(spec.windowsVersion);
  const pinned = pinnedMinor(spec);
  if (pinned !== undefined && isNewerMinor(pinned, cluster.kubernetesVersion)) return failed(aheadOf(cluster, pinned));
  const version = pinned ?? cluster.kubernetesVersion;
  const minor = /^1\.(\d+)$/.exec(version)?.[1];
  if (minor !== undefined && Number(minor) >= first && Number(minor) <= last) return met;
  const release = `Windows Server ${yearOf(spec.windowsVersion)}`;
  const move =
    minor !== undefined && Number(minor) < first
      ? `${pinned === undefined ? 'Upgrade the cluster' : 'Pin a newer version in spec.nodeGroup'}, or make the pool with another windowsVersion`
      : 'Move to a release of the operator that knows this version, or make the pool with another windowsVersion';
  return failed(
    `Kubernetes ${version || 'of an unknown version'} does not go with ${release}, which is supported from 1.${first} to 1.${last}. ${move}`,
  );
}

function aheadOf({ name, kubernetesVersion }: Cluster, pinned: string): string {
  return `spec.nodeGroup pins Kubernetes ${pinned}, and EKS cluster ${name} has ${kubernetesVersion}: nodes must not be newer than the control plane. Upgrade the cluster first, or pin ${kubernetesVersion} or older`;
}

/** CoreDNS, and the operator itself, need a place to run. */
function linuxNode({ facts }: CheckInput): Result | undefined {
  return given(facts, 'linuxNode', (exists) =>
    exists
      ? met
      : failed(
          'The cluster has no Linux node that takes pods, and CoreDNS runs nowhere else. Add a Linux node group or a Fargate profile for kube-system, or uncordon a node',
        ),
  );
}

export const clusterChecks: readonly Check[] = [
  { reason: 'ClusterNotActive', about: 'the cluster’s status', section: 'cluster-status', look: active },
  { reason: 'UnsupportedIPFamily', about: 'IPv4', section: 'ipv4', look: ipv4 },
  { reason: 'AutoModeUnsupported', about: 'Auto Mode', section: 'auto-mode', look: noAutoMode },
  { reason: 'UnsupportedVersion', about: 'the Kubernetes version', section: 'versions', look: supportedVersion },
  { reason: 'NoLinuxNode', about: 'a Linux node', section: 'a-linux-node', look: linuxNode },
];
