import { type Answer, met, notMet, required, warning } from '../../../checks/check.ts';
import { kubernetesSupport, yearOf } from '../../../nodes/windowsVersions.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { pinnedMinor } from '../desired/desiredNodeGroup.ts';
import type { CheckInput } from '../model/checkFacts.ts';
import { isNewerMinor } from '../versions/releaseVersion.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';
import { minorNumber, supportOf } from './windowsSupport.ts';

/**
 * Ensures that the Kubernetes version and the Windows version are compatible. Pairs in the table are; for a newer Kubernetes version, EKS
 * must publish an AMI; older ones have none.
 */
export const kubernetesVersion: NodeGroupCheck = {
  ...required('UnsupportedVersion', 'versions', 'the Kubernetes version'),
  explains: ['AmiIdNotFound', 'NodeCreationFailure'],
  needs: ['ami'],
  evaluate(input) {
    const { spec, cluster } = input;
    const { first, last } = supportOf(spec.windowsVersion);
    const pinned = pinnedMinor(spec);
    if (pinned !== undefined && isNewerMinor(pinned, cluster.kubernetesVersion)) return notMet(aheadOf(input, pinned));
    if (pinned !== undefined && isTooOld(pinned, cluster.kubernetesVersion)) return notMet(behindOf(input, pinned));
    const version = pinned ?? cluster.kubernetesVersion;
    const minor = minorNumber(version);
    if (minor !== undefined && minor > last) return published(input, version, minor);
    if (minor !== undefined && minor >= first) return upstream(spec, version, minor);
    if (minor === undefined)
      return notMet(
        `This release of the operator does not support Kubernetes ${version || 'of an unknown version'}, the version of EKS cluster ${cluster.name}. Upgrade the operator`,
      );
    const remedy = pinned === undefined ? 'Upgrade the cluster' : `Set ${pinOf(input)} to a newer version`;
    return notMet(
      `EKS does not support ${serverOf(spec)} with Kubernetes ${version}, only with 1.${first} or newer. ${remedy}, or create a pool with another windowsVersion`,
    );
  },
};

function published({ spec, facts, region }: CheckInput, version: string, minor: number): Answer | undefined {
  return given(facts, 'ami', (exists) =>
    exists
      ? upstream(spec, version, minor)
      : notMet(
          `EKS publishes no AMI of ${serverOf(spec)} ${nodeGroupIn(spec).edition} for Kubernetes ${version} in ${region}. Wait until it does, set nodeGroup.kubernetesVersion to an older version, or create a pool with another windowsVersion`,
        ),
  );
}

/** Warns when the Kubernetes project no longer supports the Windows version: EKS continues to publish AMIs of it. */
function upstream(spec: CheckInput['spec'], version: string, minor: number): Answer {
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

/** Kubernetes supports kubelets that are up to three minor versions older than the API server: https://kubernetes.io/releases/version-skew-policy/#kubelet */
const SKEW = 3;

function isTooOld(pinned: string, version: string): boolean {
  const [minor, ofCluster] = [minorNumber(pinned), minorNumber(version)];
  return minor !== undefined && ofCluster !== undefined && ofCluster - minor > SKEW;
}

function behindOf({ spec, cluster }: Pick<CheckInput, 'spec' | 'cluster'>, pinned: string): string {
  const { name, kubernetesVersion } = cluster;
  return `${pinOf({ spec })} pins Kubernetes ${pinned}, but EKS cluster ${name} runs ${kubernetesVersion}. Kubernetes supports nodes that are up to ${SKEW} minor versions older than the control plane. Set ${pinOf({ spec })} to a newer version`;
}

/** The field that pins the Kubernetes version. */
function pinOf({ spec }: Pick<CheckInput, 'spec'>): string {
  return nodeGroupIn(spec).kubernetesVersion ? 'nodeGroup.kubernetesVersion' : 'nodeGroup.releaseVersion';
}
