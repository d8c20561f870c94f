import { met, notMet, required } from '../../../checks/check.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';

/**
 * The quota "Managed node groups per cluster", which can be raised, and which no API of EKS returns:
 * https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html
 */
const DEFAULT_QUOTA = 30;

/** Ensures that there can be a second node group before it replaces the first: EKS would reject its creation. */
export const nodeGroupQuota: NodeGroupCheck = {
  ...required('NodeGroupQuotaReached', 'node-group-quota', 'the number of node groups'),
  needs: ['nodeGroups'],
  evaluate: ({ facts, cluster: { name } }) =>
    given(facts, 'nodeGroups', (groups) =>
      groups.length < DEFAULT_QUOTA
        ? met
        : notMet(
            `Cluster ${name} has ${DEFAULT_QUOTA} node groups or more, and by default EKS allows ${DEFAULT_QUOTA}. The replacement of the node group needs one more. Delete an unused node group, or, if the quota "Managed node groups per cluster" of the account is higher, add NodeGroupQuotaReached to the annotation winpool.dev/ignore-prerequisites`,
          ),
    ),
};
