import {
  planned,
  running,
  runningMachine,
  testAdvice,
  withMachine,
  withTemplate,
} from '../../../testing/adviceStates.ts';
import { known } from '../../../testing/answers.ts';
import { DISK_100 } from '../../../testing/machineScenes.ts';

const OFF = { encryptsVolumes: known(false) };
const PLAIN_TEXT =
  'The kubelet writes the Secrets of pods to the root volume in plain text. Enable encryption by default (aws ec2 enable-ebs-encryption-by-default --region eu-west-1)';

describe('advice about the encryption of volumes', () => {
  const encrypted = { rootVolume: { sizeGiB: 100, isEncrypted: true } };
  const open = { rootVolume: { sizeGiB: 100, isEncrypted: false } };
  const off = { disk: { sizeGiB: 100, type: 'gp3', encrypted: false } } as const;
  testAdvice([
    ['an account that encrypts new volumes', planned(), []],
    ['a launch template that encrypts the root volume', withTemplate(encrypted, OFF), []],
    ['a launch template that does not, in an account that encrypts new volumes', withTemplate(open), []],
    ['the disk of a pool that sets its machine', withMachine(DISK_100, OFF), []],
    [
      'a disk that the pool does not encrypt',
      withMachine(off, OFF),
      [
        `RootVolumeNotEncrypted: EC2 does not encrypt new volumes in eu-west-1, and nodeGroup.disk.encrypted is false. ${PLAIN_TEXT}, or set nodeGroup.disk.encrypted: true. Both apply to new nodes.`,
      ],
    ],
    [
      'such a disk of a group that exists',
      runningMachine(off, OFF),
      [
        `RootVolumeNotEncrypted: EC2 does not encrypt new volumes in eu-west-1, and nodeGroup.disk.encrypted is false. ${PLAIN_TEXT}, which applies to new nodes, or set nodeGroup.disk.encrypted: true, which replaces all nodes.`,
      ],
    ],
    [
      'new volumes that are not encrypted',
      planned(OFF),
      [
        `RootVolumeNotEncrypted: EC2 does not encrypt new volumes in eu-west-1. ${PLAIN_TEXT}, or set nodeGroup.disk (not diskSizeGiB), which encrypts the root volume. Both apply to new nodes.`,
      ],
    ],
    [
      'new volumes of a group that exists, which can get no launch template',
      running(OFF),
      [
        `RootVolumeNotEncrypted: EC2 does not encrypt new volumes in eu-west-1. ${PLAIN_TEXT}. This applies to new nodes.`,
      ],
    ],
    [
      'a launch template that does not encrypt the root volume',
      withTemplate({ rootVolume: { sizeGiB: 100 } }, OFF),
      [
        `RootVolumeNotEncrypted: EC2 does not encrypt new volumes in eu-west-1, and version 7 of launch template windows does not encrypt the root volume (/dev/sda1). ${PLAIN_TEXT}, or encrypt the volume in the launch template. Both apply to new nodes.`,
      ],
    ],
  ]);
});

describe('advice about the size of volumes', () => {
  const full =
    'for Windows and all images and containers, and an image based on Server Core needs several GiB. When the volume is full, the kubelet deletes images and evicts pods.';
  testAdvice([
    ['100 GiB', planned(), []],
    ['100 GiB of a pool that sets its machine', withMachine(DISK_100), []],
    [
      'the default of a pool that sets its machine',
      withMachine({ instanceTags: { team: 'web' } }),
      [`RootVolumeSmall: The root volume has 50 GiB ${full} Set nodeGroup.disk.sizeGiB to at least 100.`],
    ],
    [
      'such a pool whose group exists',
      runningMachine({ disk: { ...DISK_100.disk, sizeGiB: 60 } }),
      [
        `RootVolumeSmall: The root volume has 60 GiB ${full} Set nodeGroup.disk.sizeGiB to at least 100, which replaces all nodes.`,
      ],
    ],
    ['100 GiB in a launch template', withTemplate({ rootVolume: { sizeGiB: 100 } }), []],
    [
      'the default of EKS',
      planned({}, { nodeGroup: { diskSizeGiB: undefined } }),
      [`RootVolumeSmall: The root volume has 50 GiB ${full} Set nodeGroup.diskSizeGiB to at least 100.`],
    ],
    [
      'a group that exists',
      running({}, { nodeGroup: { diskSizeGiB: 99 } }),
      [
        `RootVolumeSmall: The root volume has 99 GiB ${full} EKS cannot change the disk size of a node group: set nodeGroup.replacement: BlueGreen, and nodeGroup.diskSizeGiB to at least 100.`,
      ],
    ],
    [
      'a launch template that leaves the size of the AMI',
      withTemplate({}),
      [
        `RootVolumeSmall: The root volume has 50 GiB ${full} Set the VolumeSize of /dev/sda1 in version 7 of launch template windows to at least 100.`,
      ],
    ],
  ]);
});
