import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { type PrerequisiteReason, prerequisiteReasons } from '../../../api/reasons.ts';
import type { Image, ScriptSource } from '../../../ports/prerequisites.ts';
import { known } from '../../../testing/answers.ts';
import { sampleCluster, sampleError, samplePool, sampleTemplate } from '../../../testing/fixtures.ts';
import { type Brief, textTable } from '../../../testing/goldenTexts.ts';
import {
  AMI_1,
  DISK_100,
  machineFor,
  machinePool,
  machineTemplate,
  machineVersion,
} from '../../../testing/machineScenes.ts';
import {
  randomFacts,
  sampleAddon,
  sampleFacts,
  sampleImage,
  sampleInput,
  sampleSecurityGroup,
  unasked,
} from '../../../testing/prerequisites.ts';
import type { CheckInput, MachineTemplateView, PrerequisiteFacts, SelectedImage } from '../model/prerequisiteFacts.ts';
import { PERMISSIONS } from './facts.ts';
import { checks, examine } from './prerequisiteChecks.ts';
import { missingAccessEntry } from './roleChecks.ts';

const check = textTable('prerequisites');

/** The results other than met, as `reason (grade): message`. */
function unmet(input: CheckInput): string[] {
  const { failed, warned, ignored, unknown, notes } = examine(input);
  return [
    ...notes.map((note) => `note: ${note}`),
    ...warned.map(({ check, result }) => `${check.reason} (warning): ${result.message}`),
    ...ignored.map(({ check, result }) => `${check.reason} (ignored): ${result.message}`),
    ...failed.map(({ check, result }) => `${check.reason}: ${result.message}${result.passes ? ' (passes)' : ''}`),
    ...unknown.map(({ check, result }) => `${check.reason} (unknown): ${result.message}`),
  ];
}

const ROLE = 'arn:aws:iam::111122223333:role/windows-nodes';
const windows = { roleArn: ROLE, groups: ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'] };
const facts = sampleFacts();
const without = (...names: readonly (keyof typeof PERMISSIONS)[]) =>
  Object.fromEntries(Object.entries(facts).filter(([name]) => !names.includes(name as never))) as typeof facts;
const off = known({ 'enable-windows-ipam': 'false' });
const addon = (windowsIpam: boolean, status = 'ACTIVE') => known(sampleAddon({ status, windowsIpam }));
const types = (...instanceTypes: string[]) => samplePool({ nodeGroup: { instanceTypes } }).spec;
const template = (launchTemplate: object, rest: object = {}) =>
  samplePool({ nodeGroup: { instanceTypes: undefined, diskSizeGiB: undefined, launchTemplate, ...rest } } as never)
    .spec;
const WINDOWS = template({ name: 'windows', version: '$Latest' });
const x86 = (name: string, addressesPerInterface = 10) => ({ name, architectures: ['x86_64'], addressesPerInterface });

const CUSTOM_SPEC = machinePool(AMI_1).spec;
const linux = { ...windows, groups: windows.groups.slice(0, 2) };
const ONLY_AWS_AUTH = sampleCluster({ authenticationMode: 'CONFIG_MAP' });
const NO_ENTRY = sampleFacts({ accessEntry: known(undefined) });
const SHARED = known([{ group: 'linux', nodeRoleArn: ROLE }]);

const own = machineTemplate([machineFor(DISK_100)]);
const ofGroup = (id: string) => ({ id, name: 'winpool/prod/web', version: '3' });
const ownView = (change: Partial<MachineTemplateView>): MachineTemplateView => ({
  name: 'winpool/prod/web',
  ownerTags: { 'winpool.dev/pool': 'web', 'winpool.dev/usable-by': 'prod' },
  found: undefined,
  isOwn: false,
  ofGroup: undefined,
  unlike: undefined,
  ...change,
});
/** The input for a pool that sets its machine, with two security groups. */
const ownInput = (machineTemplate?: MachineTemplateView, change: Parameters<typeof sampleFacts>[0] = {}) =>
  sampleInput({
    spec: machinePool({ securityGroups: [{ id: 'sg-0a000000' }, { tags: { tier: 'windows' } }] }).spec,
    facts: sampleFacts(change),
    machineTemplate,
  });

/** A pool with a custom AMI that EC2 has with these changes, or does not have. */
const imageInput = (change: Partial<Image> | undefined, ofGroup?: SelectedImage['ofGroup']) => {
  const value = { id: AMI_1.ami.id, found: change && sampleImage(change), ...(ofGroup && { ofGroup }) };
  return sampleInput({ spec: CUSTOM_SPEC, facts: sampleFacts({ image: known(value) }) });
};

/** The input for a pool with a script in this ConfigMap. */
const scriptInput = (source: Partial<ScriptSource>) => {
  const userData = { configMap: 'windows', key: 'a.ps1', phase: 'BeforeBootstrap' } as const;
  const found = { namespace: 'winpool-system', keys: undefined, text: undefined, isBinary: false, ...source };
  const facts = sampleFacts({ userData: known(found) });
  return sampleInput({ spec: machinePool({ userData }).spec, facts });
};

/** A pool that follows a parameter with this value. */
const parameterInput = (value: string | undefined) =>
  sampleInput({
    spec: machinePool({ ami: { ssmParameter: '/windowspool/golden' } }).spec,
    facts: sampleFacts({ imageParameter: known(value) }),
  });

/** What a message says about the launch template of the node group that was deleted. */
const LOST_TEMPLATE = ['winpool/prod/web', 'lt-1', 'version 3', 'metadataOptions', 'securityGroups', 'instanceTags'];

type Row = readonly [what: string, input: CheckInput, want: readonly Brief[]];

const tables: Readonly<Record<string, readonly Row[]>> = {
  'of the cluster': [
    ['a cluster that meets all prerequisites', sampleInput(), []],
    [
      'a cluster that is being upgraded',
      sampleInput({ cluster: sampleCluster({ status: 'UPDATING' }) }),
      [['ClusterNotActive', 'prod', 'UPDATING', 'ACTIVE', '(passes)']],
    ],
    [
      'a cluster that failed',
      sampleInput({ cluster: sampleCluster({ status: 'FAILED' }) }),
      [['ClusterNotActive', 'FAILED', 'ACTIVE', 'aws eks describe-cluster --name prod --query cluster.health']],
    ],
    [
      'a cluster that is being upgraded if the node group exists',
      sampleInput({ cluster: sampleCluster({ status: 'UPDATING' }), creating: false }),
      [],
    ],
    [
      'an IPv6 cluster',
      sampleInput({ cluster: sampleCluster({ ipFamily: 'ipv6' }) }),
      [['UnsupportedIPFamily', 'prod', 'ipv6', 'ipv4']],
    ],
    [
      'a cluster in Auto Mode without the vpc-cni add-on',
      sampleInput({ cluster: sampleCluster({ autoMode: true }) }),
      [['AutoModeUnsupported', 'prod', 'vpc-cni', 'aws eks create-addon']],
    ],
    [
      'a cluster in Auto Mode with the vpc-cni add-on',
      sampleInput({
        cluster: sampleCluster({ autoMode: true }),
        facts: sampleFacts({ cniAddon: addon(true) }),
      }),
      [['AutoModeUnsupported (warning)', 'prod', 'vpc-cni']],
    ],
    [
      'a cluster in Auto Mode whose add-ons cannot be read',
      sampleInput({ cluster: sampleCluster({ autoMode: true }), facts: sampleFacts({ cniAddon: unasked() }) }),
      [['AutoModeUnsupported (warning)', 'prod', 'vpc-cni']],
    ],
    [
      'a cluster in GovCloud',
      sampleInput({
        cluster: sampleCluster({ arn: 'arn:aws-us-gov:eks:us-gov-west-1:111122223333:cluster/prod' }),
        region: 'us-gov-west-1',
      }),
      [['UnsupportedRegion (warning)', 'us-gov-west-1', 'aws-us-gov', 'existingNodes']],
    ],
    [
      'a cluster without a Linux node that accepts pods',
      sampleInput({ facts: sampleFacts({ linuxNode: known(false) }) }),
      [['NoLinuxNode', 'kubectl uncordon NODE']],
    ],
  ],
  "of the pool's own launch template": [
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
      (found): Row => [
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
          unlike: machineVersion('2', machineFor(DISK_100), { others: ['UserData', 'KeyName'] }),
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
      'security groups that exist',
      ownInput(undefined, { securityGroups: known([sampleSecurityGroup({ tags: { tier: 'windows', a: 'b' } })]) }),
      [],
    ],
    [
      'security groups that do not exist',
      ownInput(undefined, {
        securityGroups: known([sampleSecurityGroup({ id: 'sg-0b000000', tags: { tier: 'linux' } })]),
      }),
      [['SecurityGroupNotFound', 'vpc-0a1b2c3d', 'sg-0a000000', 'tier=windows', 'nodeGroup.securityGroups']],
    ],
    ['a script that nodes can run', scriptInput({ keys: ['a.ps1'], text: 'Write-Host a' }), []],
    [
      'a ConfigMap that does not exist',
      scriptInput({}),
      [['UserDataNotFound', 'winpool-system/windows', 'nodeGroup.userData', 'kubectl -n winpool-system']],
    ],
    [
      'a script that is not PowerShell alone',
      scriptInput({ keys: ['a.ps1'], text: '<script>dir</script>' }),
      [['UserDataInvalid', 'a.ps1', 'winpool-system/windows', '<script>']],
    ],
    [
      'a script that cannot be read',
      ownInput(undefined, { userData: unasked() }),
      [['UserDataNotFound (unknown)', 'get configmaps in']],
    ],
  ],
  'of the custom AMI': [
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
  ],
  'of the launch template': [
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
  ],
  'of the network': [
    [
      'Windows IPAM that is disabled, without the vpc-cni add-on',
      sampleInput({ facts: sampleFacts({ cniConfig: off }) }),
      [['WindowsIPAMDisabled', 'kube-system/amazon-vpc-cni', 'enable-windows-ipam', 'kubectl -n kube-system']],
    ],
    [
      'Windows IPAM that was never enabled',
      sampleInput({ facts: sampleFacts({ cniConfig: known({}) }) }),
      [['WindowsIPAMDisabled', 'kube-system/amazon-vpc-cni', 'enable-windows-ipam', 'kubectl -n kube-system']],
    ],
    [
      'Windows IPAM that is disabled in the vpc-cni add-on',
      sampleInput({ facts: sampleFacts({ cniConfig: off, cniAddon: addon(false) }) }),
      [
        [
          'WindowsIPAMDisabled',
          'kube-system/amazon-vpc-cni',
          'enable-windows-ipam',
          'prod',
          '{"enableWindowsIpam":"true"}',
        ],
      ],
    ],
    [
      'Windows IPAM that is enabled in the vpc-cni add-on and not in the ConfigMap',
      sampleInput({
        facts: sampleFacts({ cniConfig: known(undefined), cniAddon: addon(true, 'DEGRADED') }),
      }),
      [
        [
          'WindowsIPAMDisabled',
          'kube-system/amazon-vpc-cni',
          'prod',
          'DEGRADED',
          'enable-windows-ipam',
          'kubectl -n kube-system',
        ],
      ],
    ],
    [
      'Windows IPAM that is disabled, if the add-on cannot be read',
      sampleInput({ facts: sampleFacts({ cniConfig: off, cniAddon: unasked() }) }),
      [
        [
          'WindowsIPAMDisabled',
          'kube-system/amazon-vpc-cni',
          'enable-windows-ipam',
          '{"enableWindowsIpam":"true"}',
          'kubectl -n kube-system',
        ],
      ],
    ],
    [
      'Windows IPAM that is enabled only in the ConfigMap',
      sampleInput({ facts: sampleFacts({ cniAddon: addon(false) }) }),
      [],
    ],
    [
      'Windows IPAM that is enabled in the add-on, if the ConfigMap cannot be read',
      sampleInput({ facts: sampleFacts({ cniConfig: unasked(), cniAddon: addon(true) }) }),
      [],
    ],
    [
      'the legacy VPC resource controller',
      sampleInput({ facts: sampleFacts({ legacyController: known(true) }) }),
      [['LegacyResourceController', 'kube-system/vpc-resource-controller', 'kubectl -n kube-system']],
    ],
  ],
  'of the cluster role': [
    [
      'a role without the policy of the VPC resource controller',
      sampleInput({ facts: sampleFacts({ clusterRolePolicies: known(['AmazonEKSClusterPolicy', 'ours']) }) }),
      [['ClusterRolePolicyMissing (warning)', 'prod', 'AmazonEKSVPCResourceController', 'aws iam attach-role-policy']],
    ],
    [
      'a role with a path in another partition',
      sampleInput({
        cluster: sampleCluster({ roleArn: 'arn:aws-cn:iam::111122223333:role/eks/prod-cluster' }),
        facts: sampleFacts({ clusterRolePolicies: known([]) }),
      }),
      [['ClusterRolePolicyMissing (warning)', 'prod', 'AmazonEKSVPCResourceController', 'aws iam attach-role-policy']],
    ],
    [
      'a role whose policies cannot be listed',
      sampleInput({ facts: sampleFacts({ clusterRolePolicies: unasked() }) }),
      [['ClusterRolePolicyMissing (unknown)', 'iam:ListAttachedRolePolicies']],
    ],
  ],
  'of the webhook for Windows pods': [
    [
      'a webhook that does not exist',
      sampleInput({ facts: sampleFacts({ podWebhook: known(false) }) }),
      [
        [
          'PodWebhookMissing (warning)',
          'MutatingWebhookConfiguration',
          'vpc-resource-mutating-webhook',
          'prod',
          'vpc.amazonaws.com/PrivateIPv4Address',
        ],
      ],
    ],
  ],
  'of the node role': [
    [
      'a role whose access entry is for Linux nodes',
      sampleInput({ facts: sampleFacts({ accessEntry: known({ type: 'EC2_LINUX' }) }) }),
      [['NodeAccessInvalid', ROLE, 'prod', 'EC2_LINUX', 'nodeGroup.nodeRole']],
    ],
    [
      'a role whose access entry is not for nodes, although aws-auth maps it correctly',
      sampleInput({
        facts: sampleFacts({ accessEntry: known({ type: 'STANDARD' }), roleMappings: known([windows]) }),
        creating: false,
      }),
      [['NodeAccessInvalid', ROLE, 'prod', 'nodeGroup.immutableChangePolicy: Replace', 'nodeGroup.nodeRole']],
    ],
    [
      'a role without access, before the node group is created',
      sampleInput({ facts: NO_ENTRY }),
      [['note', ROLE, 'prod', 'EC2_WINDOWS']],
    ],
    [
      'a role without access, while the node group is created',
      sampleInput({ facts: NO_ENTRY, creating: false, groupStatus: 'CREATING' }),
      [['note', ROLE, 'prod', 'EC2_WINDOWS']],
    ],
    ...['ACTIVE', 'DEGRADED', 'UPDATING', 'CREATE_FAILED'].map(
      (groupStatus): Row => [
        `a role without access, if the node group is ${groupStatus}`,
        sampleInput({ facts: NO_ENTRY, creating: groupStatus === 'CREATE_FAILED', groupStatus }),
        [
          [
            'NodeAccessInvalid',
            ROLE,
            'prod',
            'aws eks create-access-entry',
            'nodeGroup.accessEntryManagement: Operator',
          ],
        ],
      ],
    ),
    [
      'a role without access, in a cluster that has only access entries',
      sampleInput({ cluster: sampleCluster({ authenticationMode: 'API' }), facts: NO_ENTRY }),
      [['note', ROLE, 'prod', 'EC2_WINDOWS']],
    ],
    [
      'a role that aws-auth maps as a Linux role, before the node group is created',
      sampleInput({ facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([linux]) }) }),
      [
        [
          'NodeAccessInvalid (warning)',
          'kube-system/aws-auth',
          'prod',
          ROLE,
          'eks:kube-proxy-windows',
          'EC2_WINDOWS',
          'aws eks create-access-entry',
        ],
      ],
    ],
    [
      'a role that aws-auth maps as a Linux role, if the node group exists',
      sampleInput({
        facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([linux]) }),
        groupStatus: 'ACTIVE',
      }),
      [['NodeAccessInvalid', 'kube-system/aws-auth', 'prod', ROLE, 'eks:kube-proxy-windows', 'mapRoles']],
    ],
    [
      'a role whose access entry the operator creates',
      sampleInput({ managesAccessEntry: true, facts: sampleFacts({ accessEntry: known(undefined) }) }),
      [],
    ],
    [
      'a role that aws-auth maps',
      sampleInput({ facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([windows]) }) }),
      [],
    ],
    [
      'a role that aws-auth maps without its path',
      sampleInput({
        spec: samplePool({ nodeGroup: { nodeRole: 'arn:aws:iam::111122223333:role/eks/windows-nodes' } }).spec,
        facts: { ...without('accessEntry'), roleMappings: known([windows]) },
      }),
      [],
    ],
    [
      'a role that aws-auth maps as a Linux role, in a cluster without access entries',
      sampleInput({ cluster: ONLY_AWS_AUTH, facts: { ...without('accessEntry'), roleMappings: known([linux]) } }),
      [['NodeAccessInvalid', 'kube-system/aws-auth', 'prod', ROLE, 'eks:kube-proxy-windows', 'mapRoles']],
    ],
    [
      'a role that aws-auth does not map, before the node group is created, in a cluster without access entries',
      sampleInput({
        cluster: ONLY_AWS_AUTH,
        managesAccessEntry: true,
        facts: { ...without('accessEntry'), roleMappings: known([]) },
      }),
      [['note', ROLE, 'kube-system/aws-auth', 'prod']],
    ],
    [
      'a role that aws-auth does not map, if the node group exists, in a cluster without access entries',
      sampleInput({
        cluster: ONLY_AWS_AUTH,
        groupStatus: 'ACTIVE',
        facts: { ...without('accessEntry'), roleMappings: known([]) },
      }),
      [
        [
          'NodeAccessInvalid',
          'kube-system/aws-auth',
          'prod',
          ROLE,
          'system:bootstrappers',
          'system:nodes',
          'eks:kube-proxy-windows',
        ],
      ],
    ],
    [
      'a role without access and a custom AMI, before the node group is created',
      sampleInput({ spec: CUSTOM_SPEC, facts: NO_ENTRY }),
      [['NodeAccessInvalid', ROLE, 'prod', 'aws eks create-access-entry', 'nodeGroup.accessEntryManagement: Operator']],
    ],
    [
      'such a role if the operator creates the entry',
      sampleInput({ spec: CUSTOM_SPEC, facts: NO_ENTRY, managesAccessEntry: true }),
      [],
    ],
    [
      'such a role that aws-auth maps, if EKS may create an entry that takes precedence',
      sampleInput({
        spec: CUSTOM_SPEC,
        facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([windows]) }),
      }),
      [['NodeAccessInvalid', ROLE, 'prod', 'aws eks create-access-entry', 'nodeGroup.accessEntryManagement: Operator']],
    ],
    [
      'such a role that aws-auth maps, once the node group exists',
      sampleInput({
        spec: CUSTOM_SPEC,
        creating: false,
        groupStatus: 'ACTIVE',
        facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([windows]) }),
      }),
      [],
    ],
    [
      'such a role that aws-auth does not map, in a cluster without access entries',
      sampleInput({
        spec: CUSTOM_SPEC,
        cluster: ONLY_AWS_AUTH,
        facts: { ...without('accessEntry'), roleMappings: known([]) },
      }),
      [
        [
          'NodeAccessInvalid',
          'kube-system/aws-auth',
          'prod',
          ROLE,
          'mapRoles',
          'system:node:{{EC2PrivateDNSName}}',
          'system:bootstrappers',
        ],
      ],
    ],
    [
      'such a role that aws-auth maps, in a cluster without access entries',
      sampleInput({
        spec: CUSTOM_SPEC,
        cluster: ONLY_AWS_AUTH,
        facts: { ...without('accessEntry'), roleMappings: known([windows]) },
      }),
      [],
    ],
    [
      'a role if aws-auth cannot be read',
      sampleInput({ facts: sampleFacts({ accessEntry: known(undefined), roleMappings: unasked() }) }),
      [['NodeAccessInvalid (unknown)', 'get configmaps kube-system/aws-auth']],
    ],
    [
      'a role if Linux nodes cannot be listed',
      sampleInput({
        facts: sampleFacts({
          linuxRoles: { ok: false, error: sampleError('denied', { operation: 'list nodes' }) },
        }),
      }),
      [['NodeRoleShared (unknown)']],
    ],
    [
      'a role if the node group of Linux nodes cannot be described',
      sampleInput({
        facts: sampleFacts({
          linuxRoles: { ok: false, error: sampleError('denied', { operation: 'DescribeNodegroup' }) },
        }),
      }),
      [['NodeRoleShared (unknown)', 'eks:DescribeNodegroup']],
    ],
    [
      'a role that a Linux node group also has',
      sampleInput({
        facts: sampleFacts({
          linuxRoles: known([
            { group: 'linux', nodeRoleArn: ROLE },
            { group: 'system', nodeRoleArn: 'other' },
          ]),
        }),
      }),
      [['NodeRoleShared', ROLE, 'linux', 'prod', 'nodeGroup.nodeRole']],
    ],
    [
      'a role that a Linux node group also has, in a cluster that has only access entries',
      sampleInput({
        cluster: sampleCluster({ authenticationMode: 'API' }),
        facts: { ...sampleFacts({ accessEntry: unasked(), linuxRoles: SHARED }) },
      }),
      [
        ['NodeRoleShared', ROLE, 'linux', 'prod', 'nodeGroup.nodeRole'],
        ['NodeAccessInvalid (unknown)', 'eks:DescribeAccessEntry'],
      ],
    ],
    [
      'a role that a Linux node group also has, if aws-auth has the groups of both',
      sampleInput({
        facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([windows]), linuxRoles: SHARED }),
      }),
      [
        [
          'NodeRoleShared (warning)',
          ROLE,
          'linux',
          'kube-system/aws-auth',
          'system:bootstrappers',
          'system:nodes',
          'eks:kube-proxy-windows',
        ],
      ],
    ],
    [
      'a role that a Linux node group also has, in a cluster that has only aws-auth',
      sampleInput({
        cluster: sampleCluster({ authenticationMode: 'CONFIG_MAP' }),
        facts: { ...without('accessEntry'), roleMappings: known([windows]), linuxRoles: SHARED },
      }),
      [
        [
          'NodeRoleShared (warning)',
          ROLE,
          'linux',
          'kube-system/aws-auth',
          'system:bootstrappers',
          'system:nodes',
          'eks:kube-proxy-windows',
        ],
      ],
    ],
    [
      'a role that a Linux node group also has, if its access entry cannot be read',
      sampleInput({ facts: sampleFacts({ accessEntry: unasked(), linuxRoles: SHARED }) }),
      [
        [
          'NodeRoleShared (warning)',
          ROLE,
          'linux',
          'kube-system/aws-auth',
          'system:bootstrappers',
          'system:nodes',
          'eks:kube-proxy-windows',
        ],
        ['NodeAccessInvalid (unknown)', 'eks:DescribeAccessEntry'],
      ],
    ],
  ],
  'of the instance types': [
    [
      'types that do not exist, have another architecture, or have no addresses for pods',
      sampleInput({
        spec: types('m5.small', 'm6g.large', 'one.address'),
        facts: sampleFacts({
          instanceTypes: known([
            { name: 'm6g.large', architectures: ['arm64'], addressesPerInterface: 10 },
            x86('one.address', 1),
          ]),
          offerings: known([
            { instanceType: 'm6g.large', zone: 'eu-west-1a' },
            { instanceType: 'one.address', zone: 'eu-west-1b' },
          ]),
        }),
      }),
      [['InstanceTypeUnsupported', 'm5.small', 'eu-west-1', 'm6g.large', 'arm64', 'x86_64', 'one.address']],
    ],
    [
      'types that are offered in none of the zones',
      sampleInput({ facts: sampleFacts({ offerings: known([{ instanceType: 'm5.large', zone: 'eu-west-1c' }]) }) }),
      [['InstanceTypeNotOffered', 'm5.large', 'eu-west-1a', 'eu-west-1b']],
    ],
    [
      'types that are not offered in one of the zones',
      sampleInput({ facts: sampleFacts({ offerings: known([{ instanceType: 'm5.large', zone: 'eu-west-1a' }]) }) }),
      [['InstanceTypeNotOffered', 'm5.large', 'eu-west-1b', 'subnet-0b000000']],
    ],
    [
      'types of which each zone offers another',
      sampleInput({
        spec: types('m5.large', 'm5.xlarge'),
        facts: sampleFacts({
          instanceTypes: known([x86('m5.large'), x86('m5.xlarge', 15)]),
          offerings: known([
            { instanceType: 'm5.large', zone: 'eu-west-1a' },
            { instanceType: 'm5.xlarge', zone: 'eu-west-1b' },
          ]),
        }),
      }),
      [],
    ],
  ],
  'of the subnets': [
    [
      'a subnet that does not exist',
      sampleInput({
        facts: sampleFacts({
          subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 251, tags: {} }]),
        }),
      }),
      [['SubnetNotFound', 'subnet-0b000000', 'eu-west-1', 'nodeGroup.subnets']],
    ],
    [
      'too few addresses for five nodes with four addresses each',
      sampleInput({
        facts: sampleFacts({
          subnets: known([
            { id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 18, tags: {} },
            { id: 'subnet-0b000000', zone: 'eu-west-1b', freeAddresses: 1, tags: {} },
          ]),
        }),
      }),
      [['TooFewAddresses (warning)', 'subnet-0a000000', 'subnet-0b000000', 'nodeGroup.scaling.maxSize: 5']],
    ],
    ...(
      [
        // Of each node, 4 addresses, of which a warm instance already has one.
        ['that have none yet', { minSize: 2 }, 0, 21, 'at least 22', '2 instances'],
        ['that exist', { minSize: 2 }, 3, 18, 'at least 19', '2 instances'],
        ['that become the nodes', { minSize: 0 }, 5, 14, 'at least 15'],
        ['beyond maxSize', { minSize: 0, maxGroupPreparedCapacity: 8 }, 5, 17, 'at least 18', '3 instances'],
      ] as const
    ).map(
      ([what, sizes, warmInstances, freeAddresses, ...need]) =>
        [
          `too few addresses for a warm pool and its instances ${what}`,
          sampleInput({
            spec: samplePool({
              nodeGroup: {
                subnets: [{ id: 'subnet-0a000000' }],
                scaling: { minSize: 0, maxSize: 5 },
                warmPool: { poolState: 'Stopped', reuseOnScaleIn: false, ...sizes },
              },
            }).spec,
            warmInstances,
            facts: sampleFacts({
              subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses, tags: {} }]),
            }),
          }),
          [['TooFewAddresses (warning)', 'subnet-0a000000', 'nodeGroup.scaling.maxSize: 5', '5 more nodes', ...need]],
        ] as const,
    ),
    ...(
      [
        ['minSize', { minSize: 3, maxSize: 5 }, '3 more nodes', 'at least 12', '30', 'minSize from 3'],
        [
          'desiredSize',
          { minSize: 0, maxSize: 5, desiredSize: 4 },
          '4 more nodes',
          'at least 16',
          '40',
          'desiredSize from 4',
        ],
      ] as const
    ).map(
      ([what, scaling, ...need]) =>
        [
          `too few addresses for ${what}`,
          sampleInput({
            spec: samplePool({ nodeGroup: { scaling } }).spec,
            facts: sampleFacts({
              subnets: known([
                { id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 10, tags: {} },
                { id: 'subnet-0b000000', zone: 'eu-west-1b', freeAddresses: 1, tags: {} },
              ]),
            }),
          }),
          [['TooFewAddresses', 'subnet-0a000000', 'subnet-0b000000', '11 free IP addresses', ...need]],
        ] as const,
    ),
    [
      'too few addresses for as many nodes as the node group has that is replaced',
      sampleInput({
        sizeToReplace: 4,
        spec: samplePool({ nodeGroup: { subnets: [{ id: 'subnet-0a000000' }], scaling: { minSize: 1, maxSize: 5 } } })
          .spec,
        facts: sampleFacts({
          subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 10, tags: {} }]),
        }),
      }),
      [['TooFewAddresses', 'subnet-0a000000', '10 free IP addresses', '4 more']],
    ],
    [
      'room for a second node group',
      sampleInput({ facts: sampleFacts({ nodeGroups: known(Array.from({ length: 29 }, String)) }) }),
      [],
    ],
    [
      'as many node groups as EKS allows by default',
      sampleInput({ facts: sampleFacts({ nodeGroups: known(Array.from({ length: 30 }, String)) }) }),
      [['NodeGroupQuotaReached', 'prod', '30 node', 'NodeGroupQuotaReached', 'winpool.dev/ignore-prerequisites']],
    ],
    [
      'no free address for a pool that starts without nodes',
      sampleInput({
        spec: samplePool({ nodeGroup: { subnets: [{ id: 'subnet-0a000000' }], scaling: { minSize: 0, maxSize: 1 } } })
          .spec,
        facts: sampleFacts({
          subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 0, tags: {} }]),
        }),
      }),
      [['TooFewAddresses (warning)', 'subnet-0a000000', 'nodeGroup.scaling.maxSize: 1']],
    ],
    [
      'no free address for a node group that exists',
      sampleInput({
        creating: false,
        spec: samplePool({ nodeGroup: { subnets: [{ id: 'subnet-0a000000' }], scaling: { minSize: 0, maxSize: 1 } } })
          .spec,
        facts: sampleFacts({
          subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 0, tags: {} }]),
        }),
      }),
      [['TooFewAddresses (warning)', 'subnet-0a000000', 'nodeGroup.scaling.maxSize: 1']],
    ],
    [
      'enough addresses, because some nodes exist',
      sampleInput({
        instances: 1,
        facts: sampleFacts({
          subnets: known([
            { id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 16, tags: {} },
            { id: 'subnet-0b000000', zone: 'eu-west-1b', freeAddresses: 0, tags: {} },
          ]),
        }),
      }),
      [],
    ],
    [
      'one free address with prefix delegation',
      sampleInput({
        spec: samplePool({ nodeGroup: { subnets: [{ id: 'subnet-0a000000' }] } }).spec,
        facts: sampleFacts({
          cniConfig: known({ 'enable-windows-ipam': 'true', 'enable-windows-prefix-delegation': 'true' }),
          instanceTypes: unasked(),
          subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 1, tags: {} }]),
        }),
      }),
      [
        ['TooFewAddresses', 'subnet-0a000000', '3 more', '/28', 'nodeGroup.scaling.minSize'],
        ['InstanceTypeUnsupported (unknown)', 'ec2:DescribeInstanceTypes'],
      ],
    ],
  ],
  'of the address settings': [
    [
      'prefix delegation that some instance types do not support, and an invalid target',
      sampleInput({
        spec: types('m5.large', 'm4.large'),
        facts: sampleFacts({
          cniConfig: known({
            'enable-windows-ipam': 'true',
            'enable-windows-prefix-delegation': 'true',
            'warm-prefix-target': 'two',
          }),
          instanceTypes: known([x86('m5.large'), { ...x86('m4.large'), isNitro: false }]),
          offerings: known(
            ['m5.large', 'm4.large'].flatMap((instanceType) =>
              ['eu-west-1a', 'eu-west-1b'].map((zone) => ({ instanceType, zone })),
            ),
          ),
          subnets: known([
            { id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 18, tags: {} },
            { id: 'subnet-0b000000', zone: 'eu-west-1b', freeAddresses: 1, tags: {} },
          ]),
        }),
      }),
      [
        [
          'TooFewAddresses (warning)',
          'subnet-0a000000',
          'subnet-0b000000',
          'nodeGroup.scaling.maxSize: 5',
          '725',
          '/28',
          'm4.large',
        ],
      ],
    ],
    [
      'another spelling of true',
      sampleInput({ facts: sampleFacts({ cniConfig: known({ 'enable-windows-ipam': 'True' }) }) }),
      [],
    ],
  ],
  'of facts that could not be read': [
    ['facts that were not needed', sampleInput({ facts: { complete: false } }), []],
    [
      'the failed call',
      sampleInput({ facts: sampleFacts({ legacyController: unasked('throttled') }) }),
      [['LegacyResourceController (unknown)', 'DescribeAddon', 'the call was throttled']],
    ],
  ],
};

describe('the prerequisite checks', () => {
  for (const [title, rows] of Object.entries(tables)) {
    describe(title, () => {
      for (const [what, input, want] of rows)
        check(`${want.length === 0 ? 'accept' : 'report'} ${what}`, () => unmet(input), want);
    });
  }

  describe('of Kubernetes and Windows versions', () => {
    let exists: NonNullable<PrerequisiteFacts['ami']>;
    beforeEach(() => {
      exists = known(false);
    });
    const pairs = (version: 'Windows2019' | 'Windows2022' | 'Windows2025') =>
      ['1.22', '1.23', '1.30', '1.34', '1.35', '1.36', '1.37', '', '2.1'].filter(
        (kubernetesVersion) =>
          unmet(
            sampleInput({
              spec: samplePool({ windowsVersion: version }).spec,
              cluster: sampleCluster({ kubernetesVersion }),
              facts: sampleFacts({ ami: exists }),
            }),
          ).length === 0,
      );
    it('accept the pairs in the table, and newer Kubernetes versions for which EKS publishes an AMI', () => {
      const all = () => [pairs('Windows2019'), pairs('Windows2022'), pairs('Windows2025')];
      const listed = [
        ['1.23', '1.30', '1.34'],
        ['1.23', '1.30', '1.34', '1.35', '1.36'],
        ['1.35', '1.36'],
      ];
      assert.deepEqual(all(), listed);
      exists = known(true);
      assert.deepEqual(all(), [listed[0], ...listed.slice(1).map((minors) => [...minors, '1.37'])]);
    });

    const of = (windowsVersion: 'Windows2019' | 'Windows2025', kubernetesVersion: string) =>
      unmet(
        sampleInput({
          spec: samplePool({ windowsVersion }).spec,
          cluster: sampleCluster({ kubernetesVersion }),
          facts: sampleFacts({ ami: exists }),
        }),
      );

    const reports = (what: string, facts: typeof exists, version: Parameters<typeof of>, want: Brief) => {
      const texts = () => {
        exists = facts;
        return of(...version);
      };
      check(what, texts, [want]);
    };
    const denied = sampleError('denied', { operation: 'ssm:GetParameter' });
    const away = sampleError('unavailable', { operation: 'GetParameter' });
    reports(
      'report a pair that EKS does not support',
      known(false),
      ['Windows2025', '1.34'],
      ['UnsupportedVersion', '2025', '1.34', '1.35 or newer'],
    );
    reports(
      'report a pair without an AMI',
      known(false),
      ['Windows2025', '1.37'],
      ['UnsupportedVersion', '2025', '1.37', 'eu-west-1', 'nodeGroup.kubernetesVersion'],
    );
    reports(
      'report a version that this release does not support',
      known(false),
      ['Windows2025', '2.1'],
      ['UnsupportedVersion', '2.1', 'prod'],
    );
    reports(
      'block nothing if SSM denies the call',
      { ok: false, error: denied },
      ['Windows2025', '1.37'],
      ['UnsupportedVersion (unknown)', 'ssm:GetParameter'],
    );
    reports(
      'block nothing if SSM cannot be reached',
      { ok: false, error: away },
      ['Windows2025', '1.37'],
      ['UnsupportedVersion (unknown)', 'GetParameter', 'the call was unavailable'],
    );
    for (const version of ['1.35', '1.36', '1.37'])
      reports(
        `warn if EKS publishes an AMI for ${version}, which the Kubernetes project no longer supports`,
        known(true),
        ['Windows2019', version],
        ['UnsupportedVersion (warning)', '2019', '1.34', version],
      );
  });

  describe('of pinned versions', () => {
    const of = (pins: { kubernetesVersion?: string; releaseVersion?: string }) =>
      unmet(sampleInput({ spec: samplePool({ windowsVersion: 'Windows2025', nodeGroup: pins }).spec }));

    it('accept the version of the control plane and slightly older ones', () => {
      for (const pins of [{ kubernetesVersion: '1.36' }, { releaseVersion: '1.35-2026.01.22' }])
        assert.deepEqual(of(pins), []);
    });

    check('report a pin that is newer than the control plane', () => of({ kubernetesVersion: '1.37' }), [
      ['UnsupportedVersion', 'nodeGroup.kubernetesVersion', '1.37', 'prod', '1.36'],
    ]);
    check('report a pin that EKS does not support', () => of({ releaseVersion: '1.34-2026.01.22' }), [
      ['UnsupportedVersion', '2025', '1.34', '1.35 or newer', 'nodeGroup.releaseVersion'],
    ]);
  });

  it('never fail because a fact could not be read', () => {
    fc.assert(
      fc.property(randomFacts, fc.boolean(), fc.nat({ max: 5 }), (random, managesAccessEntry, instances) => {
        const input = sampleInput({ facts: random, managesAccessEntry, instances });
        const { failed } = examine(input);
        // If the facts that could not be read are good, the same checks still fail.
        const rest = Object.fromEntries(
          Object.entries(random).filter(([, fact]) => typeof fact === 'boolean' || fact.ok),
        );
        const lucky = examine({ ...input, facts: { ...rest, complete: random.complete } });
        const reasons = lucky.failed.map(({ check }) => check.reason);
        return failed.every(({ check }) => reasons.includes(check.reason) || check.reason === 'TooFewAddresses');
      }),
    );
  });

  it('list ignored prerequisites separately', () => {
    fc.assert(
      fc.property(randomFacts, fc.subarray([...prerequisiteReasons]), (random, reasons) => {
        const ignored = new Set(reasons);
        const before = examine(sampleInput({ facts: random }));
        const after = examine(sampleInput({ facts: random, ignored }));
        const named = (list: readonly { readonly check: { readonly reason: PrerequisiteReason } }[]) =>
          list.map(({ check }) => check.reason);
        assert.deepEqual(
          named(after.failed),
          named(before.failed).filter((reason) => !ignored.has(reason)),
        );
        assert.deepEqual(
          named(after.warned),
          named(before.warned).filter((reason) => !ignored.has(reason)),
        );
        assert.deepEqual(
          named(after.ignored).sort(),
          named([...before.failed, ...before.warned, ...before.unknown])
            .filter((reason) => ignored.has(reason))
            .sort(),
        );
        assert.deepEqual(
          named(after.unknown),
          named(before.unknown).filter((reason) => !ignored.has(reason)),
        );
      }),
    );
  });

  it('name the permission for each fact that can be denied', () => {
    for (const fact of Object.keys(PERMISSIONS) as (keyof typeof PERMISSIONS)[]) {
      const denied = sampleFacts({ accessEntry: known(undefined), [fact]: unasked() });
      const cluster = sampleCluster(fact === 'ami' ? { kubernetesVersion: '1.37' } : {});
      const { unknown, failed } = examine(sampleInput({ facts: denied, cluster }));
      if (fact === 'cniAddon' || fact === 'cniConfigOwner') assert.deepEqual(unknown, []);
      else
        assert.ok(
          unknown.some(({ result }) => result.right === PERMISSIONS[fact]),
          fact,
        );
      assert.ok(failed.length <= 1, `${fact}: ${failed.map(({ check }) => check.reason).join()}`);
    }
  });

  it('have one reason and one section in the docs each, and the section names the reason', () => {
    const page = readFileSync(`${import.meta.dirname}/../../../../../docs/prerequisites.md`, 'utf8');
    for (const { reason, section } of checks) {
      const heading = new RegExp(`^## ${section.replaceAll('-', '[ -]')}$`, 'im');
      const at = page.search(heading);
      assert.notEqual(at, -1, `docs/prerequisites.md has no heading ${section}`);
      assert.ok(
        page.slice(at, page.indexOf('\n## ', at + 1)).includes(`\`${reason}\``),
        `${section} names no ${reason}`,
      );
    }
    assert.equal(new Set(checks.map(({ reason }) => reason)).size, checks.length);
    assert.equal(new Set(checks.map(({ section }) => section)).size, checks.length);
  });
});

describe('the access entry that the operator creates', () => {
  const rows: readonly (readonly [string, Partial<CheckInput>, string | undefined])[] = [
    ['is that of the node role', { facts: sampleFacts({ accessEntry: known(undefined) }) }, ROLE],
    ['is not created if it exists', { facts: sampleFacts() }, undefined],
    [
      'is not created unless the spec says so',
      { managesAccessEntry: false, facts: sampleFacts({ accessEntry: known(undefined) }) },
      undefined,
    ],
    ['is not created if it cannot be read', { facts: sampleFacts({ accessEntry: unasked() }) }, undefined],
    [
      'is not created if aws-auth maps the role',
      { facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([windows]) }) },
      undefined,
    ],
  ];
  for (const [what, change, want] of rows) {
    it(what, () => assert.equal(missingAccessEntry(sampleInput({ managesAccessEntry: true, ...change })), want));
  }
});
