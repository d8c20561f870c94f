/** Checks on the VPC resource controller of EKS, which gives pods their addresses. */

import { met, notMet, required, warning, warns } from '../../../checks/check.ts';
import { roleName } from '../../../nodes/nodeRole.ts';
import { shellWord } from '../../../util/words.ts';
import { given, type NodeGroupCheck, type SystemCheck } from './nodeGroupCheck.ts';

/** Ensures that the legacy controller is not in the cluster: it disables the one in the control plane of EKS. */
export const legacyController: SystemCheck = {
  ...required('LegacyResourceController', 'legacy-controllers', 'the legacy VPC resource controller'),
  explains: ['NoPodAddresses'],
  needs: ['legacyController'],
  evaluate: ({ facts }) =>
    given(facts, 'legacyController', (exists) =>
      exists
        ? notMet(
            'Deployment kube-system/vpc-resource-controller exists. It is obsolete, and disables the VPC resource controller in the control plane',
            'Delete the Deployment: kubectl -n kube-system delete deployment vpc-resource-controller vpc-admission-webhook --ignore-not-found',
          )
        : met,
    ),
};

/**
 * Ensures that EKS may assign addresses to nodes. The VPC resource controller acts as the role of the cluster, and a missing policy is the most
 * frequent cause of nodes without addresses
 * (https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/master/docs/troubleshooting.md#missing-iam-permissions-on-the-cluster-role).
 * A warning, because a custom or inline policy can grant the same, which only IAM can evaluate.
 */
export const clusterRole: NodeGroupCheck = {
  ...warns('ClusterRolePolicyMissing', 'cluster-role', 'the policies of the cluster role'),
  explains: ['NoPodAddresses'],
  needs: ['clusterRolePolicies'],
  evaluate: ({ facts, cluster }) =>
    given(facts, 'clusterRolePolicies', (policies) => {
      if (policies.includes(CONTROLLER_POLICY)) return met;
      const role = roleName(cluster.roleArn);
      const [, partition = 'aws'] = cluster.roleArn.split(':');
      return warning(
        `IAM role ${role} of cluster ${cluster.name} does not have the policy ${CONTROLLER_POLICY}, with which EKS assigns IP addresses to Windows nodes and pods`,
        `Unless another policy grants the same permissions, attach the policy: aws iam attach-role-policy --role-name ${shellWord(role)} --policy-arn arn:${partition}:iam::aws:policy/${CONTROLLER_POLICY}`,
      );
    }),
};

const CONTROLLER_POLICY = 'AmazonEKSVPCResourceController';

/**
 * Ensures that Windows pods request an address: the webhook of EKS adds the limit to pods with the nodeSelector kubernetes.io/os=windows
 * (https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/master/docs/troubleshooting.md#verify-pod-has-the-resource-limits). A warning,
 * because nodes work without it, and pods can request the address themselves.
 */
export const podWebhook: SystemCheck = {
  ...warns('PodWebhookMissing', 'pod-webhook', 'the webhook for Windows pods'),
  needs: ['podWebhook'],
  evaluate: ({ facts, cluster }) =>
    given(facts, 'podWebhook', (exists) =>
      exists
        ? met
        : warning(
            `MutatingWebhookConfiguration vpc-resource-mutating-webhook does not exist in cluster ${cluster.name}. EKS creates it with the cluster. Without it, Windows pods do not request an IP address. ` +
              'Restore it from another cluster with the CA bundle of this cluster, or contact AWS Support. Until then, set the limit vpc.amazonaws.com/PrivateIPv4Address: 1 in Windows pods',
          ),
    ),
};
