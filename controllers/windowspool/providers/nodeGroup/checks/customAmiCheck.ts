import { type Answer, met, metWith, notMet, required, warning } from '../../../checks/check.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { shellWord } from '../../../util/words.ts';
import {
  describeImage,
  followsImage,
  imageFault,
  imageParameterIn,
  isImageId,
  yearIn,
} from '../launchTemplate/image.ts';
import type { CheckInput } from '../model/checkFacts.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';

/** Ensures that there is an AMI, and that the nodes can use it. */
export const customAmi: NodeGroupCheck = {
  ...required('AMIInvalid', 'custom-ami', 'the custom AMI'),
  needs: ['imageParameter', 'image'],
  evaluate: (input) => isNamed(input) ?? runsPool(input),
};

/** Ensures that the parameter has the ID of an AMI. */
function isNamed({ spec, cluster, facts, region }: CheckInput): Answer | undefined {
  const parameter = imageParameterIn(spec, { kind: 'seen', cluster });
  const remedy = nodeGroupIn(spec).ami
    ? 'Create it with the ID of an AMI as its value, or correct nodeGroup.ami.ssmParameter'
    : 'Set nodeGroup.ami, or remove nodeGroup.kubelet';
  return given(facts, 'imageParameter', (value) => {
    if (value !== undefined && isImageId(value)) return undefined;
    if (value === undefined) return notMet(`SSM parameter ${parameter} does not exist in ${region}. ${remedy}`);
    // The value is not shown: who may read the pool may not be allowed to read every parameter that the operator may.
    return notMet(
      `The value of SSM parameter ${parameter} is not the ID of an AMI, such as ami-0123456789abcdef0. Correct the value (aws ssm get-parameter --name ${shellWord(parameter ?? '')}), or nodeGroup.ami.ssmParameter`,
    );
  });
}

/** Ensures that nodes can start from the AMI, and run the Windows version of the pool. The node shows for certain which version it runs. */
function runsPool({ spec, facts, region, creating }: CheckInput): Answer | undefined {
  return given(facts, 'image', ({ id, found, ofGroup }) => {
    if (!found)
      return notMet(
        `AMI ${id} does not exist in ${region}, is private, or is not shared with this account. Correct nodeGroup.ami, or share the AMI`,
      );
    const fault = imageFault(spec, found);
    if (fault !== undefined) return notMet(fault);
    if (ofGroup && !ofGroup.found) return goneFrom(spec, ofGroup.id, id);
    if (!creating || yearIn(found) !== undefined) return met;
    return metWith(
      `The name of ${describeImage(found)} does not show its Windows Server version. The verification of the first node shows whether it fits windowsVersion`,
    );
  });
}

/** The AMI of the group is gone, and the spec selects another one. Nothing is to be done if the group gets that without a user. */
function goneFrom(spec: CheckInput['spec'], ofGroup: string, selected: string): Answer {
  const found = `AMI ${ofGroup} of the node group is private or deregistered, so no new node can start`;
  if (!followsImage(spec)) return warning(`${found} before the update to AMI ${selected}`);
  if (nodeGroupIn(spec).update.policy === 'Automatic')
    return warning(`${found} before the automatic update to AMI ${selected}. See UpToDate for when it starts`);
  return notMet(`${found}. Set nodeGroup.update.policy: Automatic, or nodeGroup.ami.id: ${selected}`);
}
