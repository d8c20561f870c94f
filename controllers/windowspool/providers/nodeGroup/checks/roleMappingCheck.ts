import { advises, met, notMet } from '../../../checks/check.ts';
import { roleArnOf, sameRole } from '../../../nodes/nodeRole.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { count, joined } from '../../../util/words.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';

/**
 * Nodes outside managed node groups should not depend on the mapping of the node role in aws-auth: EKS removes it with the last managed node group that uses the
 * role, and such nodes are then no longer Ready (https://docs.aws.amazon.com/eks/latest/userguide/delete-managed-node-group.html,
 * https://github.com/aws/containers-roadmap/issues/755). Which role a node has cannot be seen in the cluster.
 */
export const roleMapping: NodeGroupCheck = {
  ...advises('RoleMappingShared', 'role-mapping'),
  needs: ['unmanagedNodes', 'roleMappings', 'accessEntry'],
  evaluate({ spec, cluster, facts }) {
    const { accessEntry, roleMappings } = facts;
    const role = roleArnOf(nodeGroupIn(spec).nodeRole, cluster);
    if (spec.deletionPolicy === 'Retain' || cluster.authenticationMode === 'API') return met;
    if (!roleMappings?.ok) return undefined;
    const isMapped = roleMappings.value.some(({ roleArn }) => sameRole(roleArn, role));
    if (!isMapped || (accessEntry?.ok && accessEntry.value)) return met;
    return given(facts, 'unmanagedNodes', (nodes) => {
      if (nodes.length === 0) return met;
      const [verb, these] = nodes.length === 1 ? ['is', 'this node'] : ['are', 'these nodes'];
      return notMet(
        `ConfigMap kube-system/aws-auth maps node role ${role}, and ${count(nodes.length, 'node')} ${verb} in no managed node group: ${joined(nodes, 3)}. EKS removes the mapping when the last managed node group that uses the role is deleted. If ${these} ${nodes.length === 1 ? 'has' : 'have'} the same role, ${nodes.length === 1 ? 'it is' : 'they are'} then no longer Ready. Before you delete the pool, give ${these} another role, or set deletionPolicy: Retain`,
      );
    });
  },
};
