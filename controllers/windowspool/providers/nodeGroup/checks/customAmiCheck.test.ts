import type { Image } from '../../../ports/prerequisites.ts';
import { known } from '../../../testing/answers.ts';
import { checkTable } from '../../../testing/checkTable.ts';
import { AMI_1, launchSettingsPool } from '../../../testing/launchSettingsScenes.ts';
import { sampleFacts, sampleImage, sampleInput, unasked } from '../../../testing/prerequisites.ts';
import type { SelectedImage } from '../model/checkFacts.ts';

const testChecks = checkTable('checks/customAmiCheck');

const CUSTOM_SPEC = launchSettingsPool(AMI_1).spec;

/** A pool with a custom AMI that EC2 has with these changes, or does not have. */
const imageInput = (change: Partial<Image> | undefined, ofGroup?: SelectedImage['ofGroup']) => {
  const value = { id: AMI_1.ami.id, found: change && sampleImage(change), ...(ofGroup && { ofGroup }) };
  return sampleInput({ spec: CUSTOM_SPEC, facts: sampleFacts({ image: known(value) }) });
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
      'an AMI of the node group that was deregistered',
      { ...imageInput({}, { id: 'ami-0a000009', found: undefined }), creating: false, groupStatus: 'ACTIVE' },
      [['AMIInvalid', 'ami-0a000009', 'nodeGroup.ami']],
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
