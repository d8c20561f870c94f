import { met, notMet, required } from '../../../checks/check.ts';
import { joined } from '../../../util/words.ts';
import { describeTerm } from '../desired/subnets.ts';
import { hasTags, securityGroupTerms } from '../launchTemplate/launchSettings.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';

/** Ensures that the security groups exist: EKS reports a missing one only after 20 minutes. */
export const securityGroups: NodeGroupCheck = {
  ...required('SecurityGroupNotFound', 'security-groups', 'the security groups'),
  needs: ['securityGroups'],
  evaluate: ({ spec, facts, cluster }) =>
    given(facts, 'securityGroups', (found) => {
      const missing = securityGroupTerms(spec).filter(
        ({ id, tags = {} }) => !found.some((group) => (id === undefined ? hasTags(group.tags, tags) : group.id === id)),
      );
      if (missing.length === 0) return met;
      return notMet(
        `No security group of VPC ${cluster.vpcId} matches ${joined(missing.map(describeTerm))}. Correct nodeGroup.securityGroups`,
      );
    }),
};
