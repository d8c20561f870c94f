import { advises, met, notMet } from '../../../checks/check.ts';
import type { InstanceType } from '../../../ports/prerequisites.ts';
import { joined } from '../../../util/words.ts';
import type { CheckInput } from '../model/checkFacts.ts';
import { instanceTypesOf, resolvedTemplate, templateIn } from '../versions/userLaunchTemplate.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';
import { rootVolumeOf } from './rootVolumeChecks.ts';

/** The most memory with which EC2 hibernates Windows: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/hibernating-prerequisites.html */
const MOST_MIB = 16 * 1024;

function hibernates({ nodeGroup }: CheckInput['spec']): boolean {
  return nodeGroup?.warmPool?.poolState === 'Hibernated';
}

/** EC2 must be able to hibernate the instances of a warm pool with this state: the same page. */
export const hibernation: NodeGroupCheck = {
  ...advises('HibernationUnavailable', 'hibernation'),
  needs: ['instanceFeatures', 'encryptsVolumes', 'launchTemplate'],
  concerns: hibernates,
  evaluate(input) {
    const { spec, facts } = input;
    if (!hibernates(spec)) return met;
    const template = resolvedTemplate(facts);
    if (templateIn(spec) && !template) return undefined;
    return given(facts, 'instanceFeatures', (found) => {
      const types = instanceTypesOf(spec, template).flatMap((name) => found.find((type) => type.name === name) ?? []);
      const without = types.filter((type) => !isHibernated(type)).map(({ name }) => name);
      if (without.length > 0)
        return notMet(
          `nodeGroup.warmPool.poolState is Hibernated, and EC2 cannot hibernate Windows on ${joined(without)}. Set it to Stopped or Running`,
        );
      if (rootVolumeOf(input)?.isEncrypted) return met;
      return given(facts, 'encryptsVolumes', (always) =>
        always
          ? met
          : notMet(
              `nodeGroup.warmPool.poolState is Hibernated, and EC2 cannot hibernate instances whose root volume is not encrypted`,
              `Set it to Stopped or Running, or encrypt new volumes: aws ec2 enable-ebs-encryption-by-default --region ${input.region}`,
            ),
      );
    });
  },
};

function isHibernated({ hibernates: isSupported = true, memoryMiB = 0 }: InstanceType): boolean {
  return isSupported && memoryMiB <= MOST_MIB;
}
