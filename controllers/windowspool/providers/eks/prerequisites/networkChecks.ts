/** Checks on the assignment of pod addresses: https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html */

import type { CheckInput, PrerequisiteCheck, PrerequisiteResult } from '../../../model/prerequisites.ts';
import type { CallResult } from '../../../ports/callResult.ts';
import type { Addon } from '../../../ports/prerequisites.ts';
import { IPAM_KEY, isIpamOn } from './addressMode.ts';
import { failed, given, met, unknown, warning } from './check.ts';
import { type IpamMove, lastWriterOf, nextIpamMove } from './windowsIpam.ts';

/**
 * Ensures that pods get addresses. The VPC resource controller reads only the ConfigMap. When the vpc-cni add-on is installed, it writes
 * that ConfigMap, and its next update reverts a patch by anyone else.
 */
function windowsIpam({ facts, cluster, windowsIpam: offer }: CheckInput): PrerequisiteResult | undefined {
  const { cniConfig, cniAddon } = facts;
  if (!cniConfig) return undefined;
  // The setting of the add-on is sufficient when the ConfigMap cannot be read.
  if (!cniConfig.ok) return cniAddon?.ok && cniAddon.value?.windowsIpam ? met : unknown('cniConfig', cniConfig.error);
  if (isIpamOn(cniConfig.value)) return met;
  const found = cniConfig.value
    ? `ConfigMap kube-system/amazon-vpc-cni has ${IPAM_KEY}: ${JSON.stringify(cniConfig.value[IPAM_KEY] ?? '')}`
    : 'There is no ConfigMap kube-system/amazon-vpc-cni';
  const off = `Windows IPAM is off, so pods get no addresses. ${found}${lastWriterOf(facts)}.`;
  if (!offer) return failed(`${off} ${remedy(cniAddon, cluster.name)}`);
  const move = nextIpamMove(facts, offer);
  if (move.kind === 'blocked') return failed(`${off} ${move.why}`);
  return { kind: 'failed', message: `${off} ${describeMove(move, cluster.name)}`, passes: true };
}

/** What the operator does, or waits for. */
function describeMove(move: Exclude<IpamMove, { kind: 'blocked' }>, cluster: string): string {
  if (move.kind === 'wait') return `${move.why}. Wait`;
  const owner = move.kind === 'updateAddon' ? `the vpc-cni add-on of cluster ${cluster}` : 'the ConfigMap';
  return `The operator enables it in ${owner} (--enable-windows-ipam)`;
}

const VALUE = '{"enableWindowsIpam":"true"}';
const PATCH = `set ${IPAM_KEY}: "true" in the ConfigMap`;

/** How to enable Windows IPAM at the owner of the setting. */
function remedy(addon: CallResult<Addon | undefined> | undefined, cluster: string): string {
  if (!addon?.ok)
    return `Where the vpc-cni add-on is installed, set its configuration value ${VALUE}; elsewhere ${PATCH}`;
  if (!addon.value) return `The vpc-cni add-on is not installed: ${PATCH}`;
  if (addon.value.windowsIpam)
    return `The vpc-cni add-on of cluster ${cluster} enables it and is ${addon.value.status}, and another user changed the ConfigMap: ${PATCH} again`;
  return `The vpc-cni add-on of cluster ${cluster} owns it: add ${VALUE} to the add-on's configuration values instead of patching the ConfigMap`;
}

/** Ensures that the old controller is not in the cluster: it disables the one in the control plane of EKS. */
function noLegacyController({ facts }: CheckInput): PrerequisiteResult | undefined {
  return given(facts, 'legacyController', (exists) =>
    exists
      ? failed(
          'Deployment kube-system/vpc-resource-controller is there: it is the old way to Windows addresses and disables the one in EKS. Delete it, and the Deployment vpc-admission-webhook with it',
        )
      : met,
  );
}

/**
 * Ensures that EKS may assign addresses to nodes. The VPC resource controller acts as the role of the cluster, and a missing policy is the most
 * frequent cause of nodes without addresses
 * (https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/master/docs/troubleshooting.md#missing-iam-permissions-on-the-cluster-role).
 * A warning, because a custom or inline policy can grant the same, which only IAM can evaluate.
 */
function clusterRolePolicy({ facts, cluster }: CheckInput): PrerequisiteResult | undefined {
  return given(facts, 'clusterRolePolicies', (policies) => {
    if (policies.includes(CONTROLLER_POLICY)) return met;
    const role = roleName(cluster.roleArn);
    const [, partition = 'aws'] = cluster.roleArn.split(':');
    return warning(
      `IAM role ${role} of cluster ${cluster.name} does not have the policy ${CONTROLLER_POLICY}, with which EKS gives Windows nodes and pods their addresses. ` +
        `Unless another policy of the role grants the same, attach it: aws iam attach-role-policy --role-name ${role} --policy-arn arn:${partition}:iam::aws:policy/${CONTROLLER_POLICY}`,
    );
  });
}

const CONTROLLER_POLICY = 'AmazonEKSVPCResourceController';

/** The name of a role in IAM: the end of its ARN, without the path. */
export function roleName(arn: string): string {
  return arn.split('/').at(-1) ?? '';
}

/**
 * Ensures that Windows pods request an address: the webhook of EKS adds the limit to pods with the nodeSelector kubernetes.io/os=windows
 * (https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/master/docs/troubleshooting.md#verify-pod-has-the-resource-limits). A warning,
 * because nodes work without it, and pods can request the address themselves.
 */
function podWebhook({ facts, cluster }: CheckInput): PrerequisiteResult | undefined {
  return given(facts, 'podWebhook', (exists) =>
    exists
      ? met
      : warning(
          `MutatingWebhookConfiguration vpc-resource-mutating-webhook does not exist in cluster ${cluster.name}. EKS creates it with the cluster; it makes Windows pods request their address. ` +
            'Restore it from another cluster with the CA bundle of this one, or ask AWS Support; until then set the limit vpc.amazonaws.com/PrivateIPv4Address: 1 in Windows pods',
        ),
  );
}

/** Checks on pod addresses, by importance. */
export const networkChecks: readonly PrerequisiteCheck[] = [
  { reason: 'WindowsIPAMDisabled', about: 'Windows IPAM', section: 'windows-ipam', look: windowsIpam },
  {
    reason: 'LegacyResourceController',
    about: 'the old VPC resource controller',
    section: 'legacy-controllers',
    look: noLegacyController,
  },
  {
    reason: 'ClusterRolePolicyMissing',
    about: 'the policies of the cluster role',
    section: 'cluster-role',
    look: clusterRolePolicy,
  },
  { reason: 'PodWebhookMissing', about: 'the webhook of Windows pods', section: 'pod-webhook', look: podWebhook },
];
