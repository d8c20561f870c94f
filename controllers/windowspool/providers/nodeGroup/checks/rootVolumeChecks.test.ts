import {
  adviceTable,
  planned,
  running,
  runningLaunchSettings,
  withLaunchSettings,
  withTemplate,
} from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';
import { DISK_100 } from '../../../testing/launchSettingsScenes.ts';

const testAdvice = adviceTable('checks/rootVolumeChecks');

const OFF = { encryptsVolumes: known(false) };

describe('advice about the encryption of volumes', () => {
  const encrypted = { rootVolume: { sizeGiB: 100, isEncrypted: true } };
  const open = { rootVolume: { sizeGiB: 100, isEncrypted: false } };
  const off = { disk: { sizeGiB: 100, type: 'gp3', encrypted: false } } as const;
  testAdvice([
    ['an account that encrypts new volumes', planned(), []],
    ['a launch template that encrypts the root volume', withTemplate(encrypted, OFF), []],
    ['a launch template that does not, in an account that encrypts new volumes', withTemplate(open), []],
    ['the disk of a pool that sets launch settings', withLaunchSettings(DISK_100, OFF), []],
    [
      'a disk that the pool does not encrypt',
      withLaunchSettings(off, OFF),
      [
        [
          'RootVolumeNotEncrypted',
          'aws ec2 enable-ebs-encryption-by-default --region eu-west-1',
          'nodeGroup.disk.encrypted: true',
        ],
      ],
    ],
    [
      'such a disk of a group that exists',
      runningLaunchSettings(off, OFF),
      [
        [
          'RootVolumeNotEncrypted',
          'aws ec2 enable-ebs-encryption-by-default --region eu-west-1',
          'nodeGroup.disk.encrypted: true',
        ],
      ],
    ],
    [
      'new volumes that are not encrypted',
      planned(OFF),
      [
        [
          'RootVolumeNotEncrypted',
          'aws ec2 enable-ebs-encryption-by-default --region eu-west-1',
          'nodeGroup.disk',
          'diskSizeGiB',
        ],
      ],
    ],
    [
      'new volumes of a group that exists, which can get no launch template',
      running(OFF),
      [['RootVolumeNotEncrypted', 'aws ec2 enable-ebs-encryption-by-default --region eu-west-1']],
    ],
    [
      'a launch template that does not encrypt the root volume',
      withTemplate({ rootVolume: { sizeGiB: 100 } }, OFF),
      [
        [
          'RootVolumeNotEncrypted',
          'version 7',
          'windows',
          '/dev/sda1',
          'aws ec2 enable-ebs-encryption-by-default --region eu-west-1',
        ],
      ],
    ],
  ]);
});

describe('advice about the size of volumes', () => {
  testAdvice([
    ['100 GiB', planned(), []],
    ['100 GiB of a pool that sets launch settings', withLaunchSettings(DISK_100), []],
    [
      'the default of a pool that sets launch settings',
      withLaunchSettings({ instanceTags: { team: 'web' } }),
      [['RootVolumeSmall', '50 GiB', 'nodeGroup.disk.sizeGiB', '100']],
    ],
    [
      'such a pool whose group exists',
      runningLaunchSettings({ disk: { ...DISK_100.disk, sizeGiB: 60 } }),
      [['RootVolumeSmall', '60 GiB', 'nodeGroup.disk.sizeGiB', '100']],
    ],
    ['100 GiB in a launch template', withTemplate({ rootVolume: { sizeGiB: 100 } }), []],
    [
      'the default of EKS',
      planned({}, { nodeGroup: { diskSizeGiB: undefined } }),
      [['RootVolumeSmall', '50 GiB', 'nodeGroup.diskSizeGiB', '100']],
    ],
    [
      'a group that exists',
      running({}, { nodeGroup: { diskSizeGiB: 99 } }),
      [['RootVolumeSmall', '99 GiB', 'nodeGroup.immutableChangePolicy: Replace', 'nodeGroup.diskSizeGiB', '100']],
    ],
    [
      'a launch template that leaves the size of the AMI',
      withTemplate({}),
      [['RootVolumeSmall', '50 GiB', 'VolumeSize', '/dev/sda1', 'version 7', 'windows', '100']],
    ],
  ]);
});
