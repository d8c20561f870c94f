import { known } from '../../../testing/answers.ts';
import { type CheckRow, checkTable } from '../../../testing/checkTable.ts';
import { samplePool, sampleTemplate } from '../../../testing/fixtures.ts';
import {
  DISK_100,
  launchSettingsFor,
  launchSettingsPool,
  ownTemplate,
  ownTemplateVersion,
} from '../../../testing/launchSettingsScenes.ts';
import { sampleFacts, sampleInput, sampleSecurityGroup, unasked } from '../../../testing/prerequisites.ts';
import type { OwnTemplateView } from '../model/checkFacts.ts';

const testChecks = checkTable('checks/launchTemplateChecks');

const template = (launchTemplate: object, rest: object = {}) =>
  samplePool({ nodeGroup: { instanceTypes: undefined, diskSizeGiB: undefined, launchTemplate, ...rest } } as never)
    .spec;

const WINDOWS = template({ name: 'windows', version: '$Latest' });

/** The input for a pool with a template with these settings. */
const templateInput = (settings: object, facts: Parameters<typeof sampleFacts>[0] = {}) =>
  sampleInput({
    spec: WINDOWS,
    facts: sampleFacts({
      launchTemplate: known(sampleTemplate('7', { instanceType: 'm5.large', ...settings })),
      ...facts,
    }),
  });

const own = ownTemplate([launchSettingsFor(DISK_100)]);

const ofGroup = (id: string) => ({ id, name: 'winpool/prod/web', version: '3' });

const ownView = (change: Partial<OwnTemplateView>): OwnTemplateView => ({
  name: 'winpool/prod/web',
  ownerTags: { 'winpool.dev/pool': 'web', 'winpool.dev/usable-by': 'prod' },
  found: undefined,
  isOwn: false,
  ofGroup: undefined,
  unlike: undefined,
  ...change,
});

/** The input for a pool that sets launch settings, with two security groups. */
const ownInput = (ownTemplate?: OwnTemplateView, change: Parameters<typeof sampleFacts>[0] = {}) =>
  sampleInput({
    spec: launchSettingsPool({ securityGroups: [{ id: 'sg-0a000000' }, { tags: { tier: 'windows' } }] }).spec,
    facts: sampleFacts(change),
    ownTemplate,
  });

/** What a message says about the launch template of the node group that was deleted. */
const LOST_TEMPLATE = ['winpool/prod/web', 'lt-1', 'version 3', 'metadataOptions', 'securityGroups', 'instanceTags'];

describe('the checks of the launch template', () => {
  testChecks([
    ['a template with the tags of the pool', ownInput(ownView({ found: own.template, isOwn: true })), []],
    ['a template that is still to be created', ownInput(ownView({})), []],
    [
      "a template that is not the pool's",
      ownInput(ownView({ found: own.template })),
      [
        [
          'LaunchTemplateNotOwned',
          'winpool/prod/web',
          'lt-0e1f2a3b',
          'winpool.dev/pool=web',
          'winpool.dev/usable-by=prod',
          'aws ec2 delete-launch-template',
        ],
      ],
    ],
    [
      'the template of the node group',
      ownInput(ownView({ found: own.template, isOwn: true, ofGroup: ofGroup('lt-0e1f2a3b') })),
      [],
    ],
    ['a node group with another template', ownInput(ownView({ ofGroup: { ...ofGroup('lt-1'), name: 'mine' } })), []],
    ...[undefined, own.template].map(
      (found): CheckRow => [
        `a template of the node group that was deleted${found ? ' and recreated' : ''}`,
        ownInput(ownView({ found, isOwn: true, ofGroup: ofGroup('lt-1') })),
        [['LaunchTemplateNotFound', ...LOST_TEMPLATE]],
      ],
    ),
    [
      'a template of the node group that was deleted, if another node group may replace it',
      {
        ...ownInput(ownView({ ofGroup: ofGroup('lt-1') })),
        spec: samplePool({ nodeGroup: { immutableChangePolicy: 'Replace' } }).spec,
      },
      [['LaunchTemplateNotFound (warning)', ...LOST_TEMPLATE]],
    ],
    [
      'a template of the node group that was deleted, if another node group may replace it and a canary is due',
      {
        ...ownInput(ownView({ ofGroup: ofGroup('lt-1') })),
        spec: samplePool({ nodeGroup: { immutableChangePolicy: 'Replace' } }).spec,
        canaryNodes: 1,
      },
      [['LaunchTemplateNotFound', ...LOST_TEMPLATE]],
    ],
    [
      'a version that is not as the operator wrote it',
      ownInput(
        ownView({
          found: own.template,
          isOwn: true,
          unlike: ownTemplateVersion('2', launchSettingsFor(DISK_100), { others: ['UserData', 'KeyName'] }),
        }),
      ),
      [
        [
          'LaunchTemplateInvalid',
          'winpool/prod/web',
          'UserData',
          'KeyName',
          'aws ec2 describe-launch-template-versions',
        ],
      ],
    ],
    [
      'user data that nodes cannot get',
      sampleInput({ userDataProblem: 'The user data of the nodes is too long. Use fewer labels.' }),
      [['LaunchTemplateInvalid']],
    ],
    [
      'a template with an existing instance type',
      sampleInput({
        spec: WINDOWS,
        facts: sampleFacts({ launchTemplate: known(sampleTemplate('7', { instanceType: 'm5.large' })) }),
      }),
      [],
    ],
    [
      'a template that does not exist',
      sampleInput({ spec: WINDOWS, facts: sampleFacts({ launchTemplate: known(undefined) }) }),
      [['LaunchTemplateNotFound', 'windows', '$Latest', 'eu-west-1', 'nodeGroup.launchTemplate']],
    ],
    [
      'a template whose ID does not exist',
      sampleInput({
        spec: template({ id: 'lt-0a1b2c3d', version: 7 }),
        facts: sampleFacts({ launchTemplate: known(undefined) }),
      }),
      [['LaunchTemplateNotFound', 'lt-0a1b2c3d', 'version 7', 'eu-west-1', 'nodeGroup.launchTemplate']],
    ],
    [
      'a template of an existing node group that was deleted',
      sampleInput({ spec: WINDOWS, facts: sampleFacts({ launchTemplate: known(undefined) }), creating: false }),
      [
        [
          'LaunchTemplateNotFound',
          'windows',
          '$Latest',
          'eu-west-1',
          'nodeGroup.launchTemplate.version',
          'nodeGroup.immutableChangePolicy: Replace',
        ],
      ],
    ],
    [
      'a template with settings that EKS rejects, and an instance type that the pool sets, too',
      sampleInput({
        spec: template({ name: 'windows', version: '$Latest' }, { instanceTypes: ['m5.large'] }),
        facts: sampleFacts({
          launchTemplate: known(
            sampleTemplate('7', {
              instanceType: 'm5.xlarge',
              forbidden: [
                { field: 'ImageId', value: 'ami-1' },
                { field: 'HibernationOptions', value: 'Configured' },
              ],
            }),
          ),
        }),
      }),
      [
        [
          'LaunchTemplateInvalid',
          'lt-0a1b2c3d',
          'ImageId',
          'ami-1',
          'windowsVersion',
          'nodeGroup.edition',
          'nodeGroup.releaseVersion',
        ],
      ],
    ],
    [
      'a template with user data for Linux, and a root volume that is smaller than the AMI',
      templateInput({ linuxUserData: 'a MIME document', rootVolume: { sizeGiB: 20 } }),
      [['LaunchTemplateInvalid', 'lt-0a1b2c3d', 'a MIME document', '<powershell>', '/dev/sda1', '20 GiB', '50']],
    ],
    [
      'a template whose user data ends before that of EKS',
      templateInput({ hasUserData: true, earlyEnd: { command: 'exit', line: 9 } }),
      [['LaunchTemplateInvalid (warning)', 'version 7', 'windows', 'exit in line 9', 'script block']],
    ],
    [
      'a template whose user data restarts the node',
      templateInput({ hasUserData: true, earlyEnd: { command: 'a restart', line: 9 } }),
      [['LaunchTemplateInvalid (warning)', 'version 7', 'windows', 'a restart in line 9', 'Remove the restart']],
    ],
    ['a template with the cluster security group', templateInput({ securityGroups: ['sg-0a000000', 'sg-1'] }), []],
    [
      'a template whose security groups cannot reach the control plane',
      templateInput({ securityGroups: ['sg-1'] }, { controlPlaneRules: known([sampleSecurityGroup()]) }),
      [['LaunchTemplateInvalid', 'lt-0a1b2c3d', 'sg-1', 'TCP port 443', 'Add sg-0a000000']],
    ],
    [
      'a template whose security groups can reach it',
      templateInput(
        { securityGroups: ['sg-1'] },
        {
          controlPlaneRules: known([
            sampleSecurityGroup({
              inbound: [{ protocol: 'tcp', ports: { from: 443, to: 443 }, groups: ['sg-1'], hasAddresses: false }],
            }),
          ]),
        },
      ),
      [],
    ],
    [
      'a template of such groups, if the rules of the control plane cannot be read',
      templateInput({ securityGroups: ['sg-1'] }, { controlPlaneRules: unasked() }),
      [['LaunchTemplateInvalid (unknown)', 'ec2:DescribeSecurityGroups']],
    ],
    [
      'a template of such groups, if a security group of the control plane was not found',
      templateInput({ securityGroups: ['sg-1'] }, { controlPlaneRules: known([]) }),
      [],
    ],
    [
      'a template without an instance type, if the pool has none either',
      sampleInput({ spec: WINDOWS, facts: sampleFacts({ launchTemplate: known(sampleTemplate('7')) }) }),
      [['LaunchTemplateInvalid', 'windows', 'lt-0a1b2c3d', 'nodeGroup.instanceTypes']],
    ],
    [
      'a template with an instance type that does not exist',
      sampleInput({
        spec: WINDOWS,
        facts: sampleFacts({ launchTemplate: known(sampleTemplate('7', { instanceType: 'm5.small' })) }),
      }),
      [['InstanceTypeUnsupported', 'm5.small', 'eu-west-1']],
    ],
  ]);
});
