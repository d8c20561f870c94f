/** Checks on the EKS cluster, beside its version. */

import { met, notMet, notMetYet, required, warning, warns } from '../../../checks/check.ts';
import { IP_FAMILY, ipFamilyAnswer } from '../../../checks/ipFamily.ts';
import type { NodeGroupCheck } from './nodeGroupCheck.ts';

/** Transient statuses. */
const CHANGING = ['PENDING', 'CREATING', 'UPDATING'];

/** Ensures that EKS accepts a node group: it rejects one in a cluster that is not ACTIVE. Existing groups are not affected. */
export const clusterStatus: NodeGroupCheck = {
  ...required('ClusterNotActive', 'cluster-status', 'the status of the cluster'),
  evaluate({ cluster, creating }) {
    const { name, status } = cluster;
    if (status === 'ACTIVE' || !creating) return met;
    const found = `EKS cluster ${name} is ${status}. EKS creates node groups only in an ACTIVE cluster`;
    return CHANGING.includes(status)
      ? notMetYet(`${found}. The operator waits`)
      : notMet(
          found,
          `Check the health of the cluster: aws eks describe-cluster --name ${name} --query cluster.health`,
        );
  },
};

/**
 * Ensures that the cluster uses IPv4. Windows nodes do not support IPv6:
 * https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html
 */
export const ipFamily: NodeGroupCheck = {
  ...IP_FAMILY,
  evaluate: ({ cluster }) => ipFamilyAnswer(cluster),
};

/**
 * Ensures that a cluster in Auto Mode can run Windows. Its own nodes run Bottlerocket:
 * https://github.com/aws/containers-roadmap/issues/2528. Managed node groups beside them can run Windows, and need the add-ons that Auto
 * Mode replaces on its own nodes: https://docs.aws.amazon.com/eks/latest/userguide/eks-add-ons.html#addon-consider-auto
 */
export const autoMode: NodeGroupCheck = {
  ...required('AutoModeUnsupported', 'auto-mode', 'Auto Mode'),
  explains: ['NoPodAddresses'],
  needs: ['cniAddon'],
  evaluate({ cluster, facts: { cniAddon } }) {
    if (!cluster.autoMode) return met;
    const found = `EKS cluster ${cluster.name} runs in Auto Mode, whose nodes cannot run Windows`;
    if (cniAddon?.ok && !cniAddon.value)
      return notMet(
        `${found}. A node group in this cluster can, but it needs the vpc-cni add-on, which is not installed`,
        `Install the add-on: aws eks create-addon --cluster-name ${cluster.name} --addon-name vpc-cni --configuration-values '{"enableWindowsIpam":"true"}'`,
      );
    return warning(
      `${found}. The node group of the pool can, and needs the vpc-cni add-on${cniAddon?.ok ? ', which is installed' : ''}. Do not remove the add-on`,
    );
  },
};

/**
 * Ensures that the Region is in the partition aws, not in one such as `arn:aws-us-gov:eks:...`. "Windows AMI types are only supported for
 * commercial AWS Regions": amiType in the model of EKS.
 */
export const region: NodeGroupCheck = {
  ...warns('UnsupportedRegion', 'region', 'the Region'),
  explains: ['AmiIdNotFound'],
  evaluate({ cluster, region }) {
    const partition = cluster.arn.split(':')[1] ?? '';
    if (partition === '' || partition === 'aws') return met;
    return warning(
      `Region ${region} is in partition ${partition}. EKS documents Windows node groups only for commercial Regions. If EKS rejects the node group, create a self-managed node group and a pool of existingNodes`,
    );
  },
};
