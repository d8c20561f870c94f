import type { NodeGroupSpec } from '../../../api/api.gen.ts';
import type { Image } from '../../../ports/prerequisites.ts';
import { known } from '../../../testing/answers.ts';
import { checkTable } from '../../../testing/checkTable.ts';
import { AMI_1, launchSettingsPool } from '../../../testing/launchSettingsScenes.ts';
import { sampleFacts, sampleImage, sampleInput, unasked } from '../../../testing/prerequisites.ts';
import { AUTOMATIC } from '../../../testing/upgradeScenes.ts';

const testChecks = checkTable('checks/customAmiCheck');

const CUSTOM_SPEC = launchSettingsPool(AMI_1).spec;

/** A pool with a custom AMI that EC2 has with these changes, or does not have. */
const imageInput = (change: Partial<Image> | undefined) => {
  const value = { id: AMI_1.ami.id, found: change && sampleImage(change) };
  return sampleInput({ spec: CUSTOM_SPEC, facts: sampleFacts({ image: known(value) }) });
};

/** A pool with these settings, whose node group has an AMI that EC2 does not find. */
const gone = (nodeGroup: Partial<NodeGroupSpec>) => {
  const value = { id: AMI_1.ami.id, found: sampleImage(), ofGroup: { id: 'ami-0a000009', found: undefined } };
  const facts = sampleFacts({ imageParameter: known(AMI_1.ami.id), image: known(value) });
  return sampleInput({ spec: launchSettingsPool(nodeGroup).spec, facts, creating: false, groupStatus: 'ACTIVE' });
};

/** A pool that follows a parameter with this value. */
const parameterInput = (value: string | undefined) =>
  sampleInput({
    spec: launchSettingsPool({ ami: { ssmParameter: '/windowspool/golden' } }).spec,
    facts: sampleFacts({ imageParameter: known(value) }),
  });

describe('the checks of the custom AMI', () => {
  testChecks([
    ['an AMI that fits', imageInput({}), []],
    [
      'an AMI whose name does not show its version, before the node group is created',
      imageInput({ name: 'golden-17' }),
      [['note', 'ami-0a000001', 'golden-17', 'windowsVersion']],
    ],
    ['such an AMI afterwards', { ...imageInput({ name: 'golden-17' }), creating: false, groupStatus: 'ACTIVE' }, []],
    [
      'an AMI that does not exist',
      imageInput(undefined),
      [['AMIInvalid', 'ami-0a000001', 'eu-west-1', 'nodeGroup.ami']],
    ],
    [
      'an AMI of Linux',
      imageInput({ isWindows: false }),
      [['AMIInvalid', 'ami-0a000001', 'Windows_Server-2022-English-Core-Golden-17', 'nodeGroup.ami', 'EKS-optimized']],
    ],
    [
      'an AMI that is still being made',
      imageInput({ state: 'pending', name: '' }),
      [['AMIInvalid', 'aws ec2 describe-images --image-ids ami-0a000001', 'nodeGroup.ami']],
    ],
    [
      'an AMI of another architecture',
      imageInput({ architecture: 'arm64', name: '' }),
      [['AMIInvalid', 'ami-0a000001', 'arm64', 'x86_64', 'nodeGroup.ami']],
    ],
    [
      'an AMI of another Windows version',
      imageInput({ name: 'golden-win2019-3' }),
      [['AMIInvalid', 'ami-0a000001', 'golden-win2019-3', 'windowsVersion', 'Windows2022', 'nodeGroup.ami']],
    ],
    [
      'an AMI with a larger root volume than the nodes',
      imageInput({ rootVolumeGiB: 80 }),
      [['AMIInvalid', 'ami-0a000001', '80 GiB', 'nodeGroup.disk.sizeGiB is 50', 'at least 80']],
    ],
    [
      'an AMI of the node group that is gone, before the update to that of the spec',
      gone({ ...AMI_1 }),
      [['AMIInvalid (warning)', 'ami-0a000009', 'private or deregistered', 'ami-0a000001']],
    ],
    [
      'an AMI of the node group that is gone, before an automatic update',
      gone({ kubelet: {}, ...AUTOMATIC }),
      [['AMIInvalid (warning)', 'ami-0a000009', 'private or deregistered', 'ami-0a000001', 'UpToDate']],
    ],
    [
      'an AMI of the node group that is gone, with policy Manual',
      gone({ kubelet: {} }),
      [['AMIInvalid', 'ami-0a000009', 'nodeGroup.update.policy: Automatic', 'nodeGroup.ami.id: ami-0a000001']],
    ],
    ['a parameter with the ID of an AMI', parameterInput('ami-0a000001'), []],
    [
      'a parameter that does not exist',
      parameterInput(undefined),
      [['AMIInvalid', '/windowspool/golden', 'eu-west-1', 'nodeGroup.ami.ssmParameter']],
    ],
    [
      'a parameter with something else',
      parameterInput('lat"est'),
      [
        [
          'AMIInvalid',
          'ami-0123456789abcdef0',
          'aws ssm get-parameter --name /windowspool/golden',
          'nodeGroup.ami.ssmParameter',
        ],
      ],
    ],
    [
      'a parameter that cannot be read',
      { ...parameterInput(undefined), facts: sampleFacts({ imageParameter: unasked() }) },
      [['AMIInvalid (unknown)', 'ssm:GetParameter']],
    ],
    [
      'an AMI that cannot be read',
      sampleInput({ spec: CUSTOM_SPEC, facts: sampleFacts({ image: unasked() }) }),
      [['AMIInvalid (unknown)', 'ec2:DescribeImages']],
    ],
  ]);
});
