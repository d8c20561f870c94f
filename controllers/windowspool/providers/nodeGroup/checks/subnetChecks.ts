/** Checks on the subnets. */

import { advises, met, notMet, required, warning, warns } from '../../../checks/check.ts';
import { joined } from '../../../util/words.ts';
import { describeTerm, selects, subnetTerms } from '../desired/subnets.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';

/** Ensures that each item of the spec selects a subnet. */
export const subnets: NodeGroupCheck = {
  ...required('SubnetNotFound', 'subnets', 'the subnets'),
  explains: ['NodesMissing', 'Ec2SubnetNotFound', 'Ec2SubnetInvalidConfiguration', 'InvalidSubnetID'],
  needs: ['subnets'],
  evaluate: ({ spec, facts, region, cluster }) =>
    given(facts, 'subnets', (found) => {
      const missing = subnetTerms(spec).filter((term) => !found.some((subnet) => selects(term, subnet)));
      if (missing.length === 0) return met;
      const where = missing.some(({ tags }) => tags) ? `in VPC ${cluster.vpcId}` : `in ${region}`;
      return notMet(`No subnet matches ${joined(missing.map(describeTerm))} ${where}. Correct nodeGroup.subnets`);
    }),
};

/** Reports subnets that match the tags of the spec since the group was created: EKS cannot change the subnets of a group. */
export const newSubnets: NodeGroupCheck = {
  ...warns('SubnetNotUsed', 'new-subnets', 'unused subnets'),
  needs: ['subnets'],
  evaluate({ facts, groupSubnets }) {
    if (!groupSubnets) return undefined;
    return given(facts, 'subnets', (found) => {
      const unused = found.map(({ id }) => id).filter((id) => !groupSubnets.includes(id));
      if (unused.length === 0) return met;
      return warning(
        `${joined(unused)} ${unused.length === 1 ? 'matches' : 'match'} nodeGroup.subnets but ${unused.length === 1 ? 'is' : 'are'} not used, because EKS cannot change the subnets of a node group. To use ${unused.length === 1 ? 'it' : 'them'}, set nodeGroup.immutableChangePolicy: Replace and select ${unused.length === 1 ? 'it' : 'them'} by ID, or create another pool`,
      );
    });
  },
};

/**
 * The subnets should be in several zones: EC2 Auto Scaling distributes the nodes over the zones of the subnets, and launches them in the others if one
 * fails (https://docs.aws.amazon.com/autoscaling/ec2/userguide/auto-scaling-benefits.html#arch-AutoScalingMultiAZ).
 */
export const subnetZones: NodeGroupCheck = {
  ...advises('SubnetsInOneZone', 'availability-zones'),
  needs: ['subnetZones'],
  evaluate: ({ spec, facts, groupSubnets }) =>
    given(facts, 'subnetZones', (found) => {
      // The zone of a subnet that is not found is not known; the check of the subnets reports it.
      if (!groupSubnets && subnetTerms(spec).some((term) => !found.some((subnet) => selects(term, subnet)))) return met;
      const subnets = groupSubnets ? found.filter(({ id }) => groupSubnets.includes(id)) : found;
      const [zone, ...others] = new Set(subnets.map((subnet) => subnet.zone));
      if (zone === undefined || others.length > 0) return met;
      const ids = joined(subnets.map(({ id }) => id));
      const are =
        subnets.length === 1 ? `Subnet ${ids} is the only subnet of the pool` : `Subnets ${ids} are all in one zone`;
      const remedy = groupSubnets
        ? 'EKS cannot change the subnets of a node group: to use several zones, set nodeGroup.immutableChangePolicy: Replace and other subnets'
        : 'Add a subnet of another zone to nodeGroup.subnets';
      return notMet(`${are}. If zone ${zone} fails, the pool has no nodes. ${remedy}`);
    }),
};
