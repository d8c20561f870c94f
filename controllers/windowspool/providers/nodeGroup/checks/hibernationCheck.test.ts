import type { WarmPoolSpec } from '../../../api/api.gen.ts';
import type { InstanceType } from '../../../ports/prerequisites.ts';
import { adviceTable, planned, withTemplate } from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';

const testAdvice = adviceTable('checks/hibernationCheck');

const type = (name: string, hibernates?: boolean, memoryMiB?: number): InstanceType => ({
  name,
  architectures: ['x86_64'],
  addressesPerInterface: 10,
  ...(hibernates !== undefined && { hibernates }),
  ...(memoryMiB !== undefined && { memoryMiB }),
});
const instanceFeatures = known([
  type('m5.large', true, 8_192),
  type('m5.xlarge', true, 16_384),
  type('m5.2xlarge', true, 32_768),
  type('g4dn.xlarge', false, 16_384),
  type('m5.unknown'),
]);
const warmPool = (poolState: WarmPoolSpec['poolState']) => ({
  warmPool: { minSize: 1, poolState, reuseOnScaleIn: false },
});

/** A pool with a warm pool on these instance types. */
const on = (
  types: readonly string[],
  { isEncrypted = true, poolState = 'Hibernated' as WarmPoolSpec['poolState'] } = {},
) =>
  planned(
    { instanceFeatures, encryptsVolumes: known(isEncrypted) },
    { nodeGroup: { instanceTypes: [...types], ...warmPool(poolState) } },
  );
/** The same with a launch template, which has the instance type. */
const template = (instanceType: string, isEncrypted: boolean) =>
  withTemplate(
    { rootVolume: { sizeGiB: 100, isEncrypted }, instanceType },
    { instanceFeatures, encryptsVolumes: known(false) },
    { nodeGroup: { instanceTypes: undefined, ...warmPool('Hibernated') } },
  );

describe('advice about hibernation', () => {
  testAdvice([
    ['no warm pool', planned(), []],
    ['another state', on(['m5.2xlarge'], { poolState: 'Stopped' }), []],
    ['types that EC2 can hibernate', on(['m5.large', 'm5.xlarge']), []],
    ['types of which EC2 reports nothing, and types that do not exist', on(['m5.unknown', 'm5.none']), []],
    [
      'types that EC2 cannot hibernate, or not with Windows',
      on(['m5.large', 'm5.2xlarge', 'g4dn.xlarge']),
      [['HibernationUnavailable', 'nodeGroup.warmPool.poolState', 'm5.2xlarge', 'g4dn.xlarge']],
    ],
    ['an encrypted volume', template('m5.large', true), []],
    [
      'a volume that is not encrypted',
      template('m5.large', false),
      [
        [
          'HibernationUnavailable',
          'nodeGroup.warmPool.poolState',
          'aws ec2 enable-ebs-encryption-by-default --region eu-west-1',
        ],
        [
          'RootVolumeNotEncrypted',
          'version 7',
          'windows',
          '/dev/sda1',
          'aws ec2 enable-ebs-encryption-by-default --region eu-west-1',
        ],
      ],
    ],
    [
      'the type of a launch template',
      template('m5.2xlarge', true),
      [['HibernationUnavailable', 'nodeGroup.warmPool.poolState', 'm5.2xlarge']],
    ],
  ]);
});
