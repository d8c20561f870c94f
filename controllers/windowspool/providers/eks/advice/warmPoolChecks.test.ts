import type { WarmPoolSpec } from '../../../api.gen.ts';
import type { InstanceType } from '../../../ports/prerequisites.ts';
import { planned, testAdvice, withTemplate } from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';

const type = (name: string, hibernates?: boolean, memoryMiB?: number): InstanceType => ({
  name,
  architectures: ['x86_64'],
  addressesPerInterface: 10,
  ...(hibernates !== undefined && { hibernates }),
  ...(memoryMiB !== undefined && { memoryMiB }),
});
const instanceTypes = known([
  type('m5.large', true, 8_192),
  type('m5.xlarge', true, 16_384),
  type('m5.2xlarge', true, 32_768),
  type('g4dn.xlarge', false, 16_384),
  type('m5.unknown'),
]);
const warmPool = (poolState: WarmPoolSpec['poolState']) => ({ warmPool: { minSize: 1, poolState, reuse: false } });

/** A pool with a warm pool on these instance types. */
const on = (
  types: readonly string[],
  { isEncrypted = true, poolState = 'Hibernated' as WarmPoolSpec['poolState'] } = {},
) =>
  planned(
    { instanceTypes, encryptsVolumes: known(isEncrypted) },
    { nodeGroup: { instanceTypes: [...types], ...warmPool(poolState) } },
  );
/** The same with a launch template, which has the instance type. */
const template = (instanceType: string, isEncrypted: boolean) =>
  withTemplate(
    { rootVolume: { sizeGiB: 100, isEncrypted }, instanceType },
    { instanceTypes, encryptsVolumes: known(false) },
    { nodeGroup: { instanceTypes: undefined, ...warmPool('Hibernated') } },
  );

const IS = 'HibernationUnavailable: nodeGroup.warmPool.poolState is Hibernated, and EC2 cannot hibernate';

describe('advice about hibernation', () => {
  testAdvice([
    ['no warm pool', planned(), []],
    ['another state', on(['m5.2xlarge'], { poolState: 'Stopped' }), []],
    ['types that EC2 can hibernate', on(['m5.large', 'm5.xlarge']), []],
    ['types of which EC2 reports nothing, and types that do not exist', on(['m5.unknown', 'm5.none']), []],
    [
      'types that EC2 cannot hibernate, or not with Windows',
      on(['m5.large', 'm5.2xlarge', 'g4dn.xlarge']),
      [`${IS} Windows on m5.2xlarge and g4dn.xlarge. Set it to Stopped or Running.`],
    ],
    ['an encrypted volume', template('m5.large', true), []],
    [
      'a volume that is not encrypted',
      template('m5.large', false),
      [
        `${IS} instances whose root volume is not encrypted. Set it to Stopped or Running, or encrypt new volumes (aws ec2 enable-ebs-encryption-by-default --region eu-west-1).`,
        'RootVolumeNotEncrypted: EC2 does not encrypt new volumes in eu-west-1, and version 7 of launch template windows does not encrypt the root volume (/dev/sda1). The kubelet writes the Secrets of pods to the root volume in plain text. Enable encryption by default (aws ec2 enable-ebs-encryption-by-default --region eu-west-1), or encrypt the volume in the launch template. Both apply to new nodes.',
      ],
    ],
    [
      'the type of a launch template',
      template('m5.2xlarge', true),
      [`${IS} Windows on m5.2xlarge. Set it to Stopped or Running.`],
    ],
  ]);
});
