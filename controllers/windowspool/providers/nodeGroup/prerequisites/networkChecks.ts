/** Checks on the assignment of pod addresses: https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html */

import type { CallResult } from '../../../ports/callResult.ts';
import type { Addon } from '../../../ports/prerequisites.ts';
import type { CheckInput, PrerequisiteCheck, PrerequisiteResult } from '../model/prerequisiteFacts.ts';
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
  const value = cniConfig.value?.[IPAM_KEY];
  const found = !cniConfig.value
    ? 'does not exist'
    : value === undefined
      ? `does not set ${IPAM_KEY}`
      : `has ${IPAM_KEY}: ${JSON.stringify(value)}`;
  const off = `Windows IPAM is disabled, so pods get no IP addresses. ConfigMap kube-system/amazon-vpc-cni ${found}${lastWriterOf(facts)}.`;
  if (!offer) return failed(`${off} ${remedy(cniAddon, cluster.name, cniConfig.value !== undefined)}`);
  const move = nextIpamMove(facts, offer);
  if (move.kind === 'blocked') return failed(`${off} ${move.why}`);
  return { kind: 'failed', message: `${off} ${describeMove(move, cluster.name)}`, passes: true };
}

/** What the operator does, or waits for. */
function describeMove(move: Exclude<IpamMove, { kind: 'blocked' }>, cluster: string): string {
  if (move.kind === 'wait') return `${move.why}. The operator waits`;
  const owner = move.kind === 'updateAddon' ? `the vpc-cni add-on of cluster ${cluster}` : 'the ConfigMap';
  return `The operator enables it in ${owner} (--enable-windows-ipam)`;
}

const VALUE = '{"enableWindowsIpam":"true"}';
const PATCH = `kubectl -n kube-system patch configmap amazon-vpc-cni --type merge -p '{"data":{"${IPAM_KEY}":"true"}}'`;
const CREATE = `kubectl -n kube-system create configmap amazon-vpc-cni --from-literal ${IPAM_KEY}=true`;

/** How to enable Windows IPAM at the owner of the setting. `exists`: whether the ConfigMap exists. */
function remedy(addon: CallResult<Addon | undefined> | undefined, cluster: string, exists: boolean): string {
  const change = `et ${IPAM_KEY}: "true" in the ConfigMap (${exists ? PATCH : CREATE})`;
  if (!addon?.ok)
    return `If the vpc-cni add-on is installed, set its configuration value ${VALUE}. Otherwise, s${change}`;
  if (!addon.value) return `The vpc-cni add-on is not installed. S${change}`;
  if (addon.value.windowsIpam)
    return `The vpc-cni add-on of cluster ${cluster} enables it and is ${addon.value.status}, but another user changed the ConfigMap. S${change}`;
  return `The vpc-cni add-on of cluster ${cluster} manages the ConfigMap. Add ${VALUE} to the configuration values of the add-on; do not patch the ConfigMap`;
}

/** Ensures that the legacy controller is not in the cluster: it disables the one in the control plane of EKS. */
function noLegacyController({ facts }: CheckInput): PrerequisiteResult | undefined {
  return given(facts, 'legacyController', (exists) =>
    exists
      ? failed(
          'Deployment kube-system/vpc-resource-controller exists. It is obsolete, and disables the VPC resource controller in the control plane. Delete it (kubectl -n kube-system delete deployment vpc-resource-controller vpc-admission-webhook --ignore-not-found)',
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
      `IAM role ${role} of cluster ${cluster.name} does not have the policy ${CONTROLLER_POLICY}, with which EKS assigns IP addresses to Windows nodes and pods. ` +
        `Unless another policy grants the same permissions, attach it (aws iam attach-role-policy --role-name ${role} --policy-arn arn:${partition}:iam::aws:policy/${CONTROLLER_POLICY})`,
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
          `MutatingWebhookConfiguration vpc-resource-mutating-webhook does not exist in cluster ${cluster.name}. EKS creates it with the cluster. Without it, Windows pods do not request an IP address. ` +
            'Restore it from another cluster with the CA bundle of this cluster, or contact AWS Support. Until then, set the limit vpc.amazonaws.com/PrivateIPv4Address: 1 in Windows pods',
        ),
  );
}

/** Checks on pod addresses, by importance. */
export const networkChecks: readonly PrerequisiteCheck[] = [
  { reason: 'WindowsIPAMDisabled', about: 'Windows IPAM', section: 'windows-ipam', look: windowsIpam },
  {
    reason: 'LegacyResourceController',
    about: 'the legacy VPC resource controller',
    section: 'legacy-controllers',
    look: noLegacyController,
  },
  {
    reason: 'ClusterRolePolicyMissing',
    about: 'the policies of the cluster role',
    section: 'cluster-role',
    look: clusterRolePolicy,
  },
  { reason: 'PodWebhookMissing', about: 'the webhook for Windows pods', section: 'pod-webhook', look: podWebhook },
];
