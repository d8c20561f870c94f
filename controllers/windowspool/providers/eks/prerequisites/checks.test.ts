import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type {
  CheckInput,
  MachineTemplateView,
  PrerequisiteFacts,
  SelectedImage,
} from '../../../model/prerequisites.ts';
import type { Image, ScriptSource } from '../../../ports/prerequisites.ts';
import { type PrerequisiteReason, prerequisiteReasons } from '../../../reasons.ts';
import { known } from '../../../testing/answers.ts';
import { sampleCluster, sampleError, samplePool, sampleTemplate } from '../../../testing/fixtures.ts';
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
import { checks, examine } from './checks.ts';
import { PERMISSIONS } from './facts.ts';
import { missingAccessEntry } from './roleChecks.ts';

/** The results other than met, one per line. */
function unmet(input: CheckInput): string[] {
  const { failed, warned, ignored, unknown, notes } = examine(input);
  return [
    ...notes.map((note) => `(note) ${note}`),
    ...warned.map(({ check, result }) => `${check.reason} (warning): ${result.message}`),
    ...ignored.map(({ check, result }) => `${check.reason} (ignored): ${result.message}`),
    ...failed.map(({ check, result }) => `${check.reason}: ${result.message}${result.passes ? ' (passes)' : ''}`),
    ...unknown.map(({ check, result }) => `${check.reason}? ${result.message}`),
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
const AUTO_MODE = 'EKS cluster prod runs in Auto Mode, whose nodes cannot run Windows';
const IPAM_OFF =
  'WindowsIPAMDisabled: Windows IPAM is disabled, so pods get no IP addresses. ConfigMap kube-system/amazon-vpc-cni';
const PATCH = `(kubectl -n kube-system patch configmap amazon-vpc-cni --type merge -p '{"data":{"enable-windows-ipam":"true"}}')`;
const CREATE = '(kubectl -n kube-system create configmap amazon-vpc-cni --from-literal enable-windows-ipam=true)';
const HAS_FALSE = 'has enable-windows-ipam: "false".';

const CUSTOM_SPEC = machinePool(AMI_1).spec;
const linux = { ...windows, groups: windows.groups.slice(0, 2) };
const ONLY_AWS_AUTH = sampleCluster({ authenticationMode: 'CONFIG_MAP' });
const NO_ENTRY = sampleFacts({ accessEntry: known(undefined) });
const CREATE_ENTRY = `aws eks create-access-entry --cluster-name prod --principal-arn ${ROLE} --type EC2_WINDOWS`;
const ENTRY_FOLLOWS = `(note) Node role ${ROLE} has no access entry in cluster prod yet: EKS creates one of type EC2_WINDOWS with the node group. The operator checks it again then.`;
const LACKING = `NodeAccessInvalid: ConfigMap kube-system/aws-auth of cluster prod maps node role ${ROLE} without eks:kube-proxy-windows. Add it to the groups of the role in mapRoles`;
const SHARED = known([{ group: 'linux', nodeRoleArn: ROLE }]);
const SHARED_WORKS = `NodeRoleShared (warning): Node role ${ROLE} is also the role of Linux node group linux. This works while ConfigMap kube-system/aws-auth maps the role to the groups of both operating systems (system:bootstrappers, system:nodes and eks:kube-proxy-windows) and the role has no access entry. Prefer a role for Windows nodes only`;

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

type Row = readonly [what: string, input: CheckInput, want: readonly string[]];

const tables: Readonly<Record<string, readonly Row[]>> = {
  'of the cluster': [
    ['a cluster that meets all prerequisites', sampleInput(), []],
    [
      'a cluster that is being upgraded',
      sampleInput({ cluster: sampleCluster({ status: 'UPDATING' }) }),
      [
        'ClusterNotActive: EKS cluster prod is UPDATING. EKS creates node groups only in an ACTIVE cluster. The operator waits (passes)',
      ],
    ],
    [
      'a cluster that failed',
      sampleInput({ cluster: sampleCluster({ status: 'FAILED' }) }),
      [
        'ClusterNotActive: EKS cluster prod is FAILED. EKS creates node groups only in an ACTIVE cluster. Check its health (aws eks describe-cluster --name prod --query cluster.health)',
      ],
    ],
    [
      'a cluster that is being upgraded if the node group exists',
      sampleInput({ cluster: sampleCluster({ status: 'UPDATING' }), creating: false }),
      [],
    ],
    [
      'an IPv6 cluster',
      sampleInput({ cluster: sampleCluster({ ipFamily: 'ipv6' }) }),
      [
        'UnsupportedIPFamily: EKS cluster prod has IP family ipv6. Windows nodes need ipv4, and EKS cannot change the IP family of a cluster. Use another cluster',
      ],
    ],
    [
      'a cluster in Auto Mode without the vpc-cni add-on',
      sampleInput({ cluster: sampleCluster({ autoMode: true }) }),
      [
        `AutoModeUnsupported: ${AUTO_MODE}. A node group in this cluster can, but it needs the vpc-cni add-on, which is not installed. Install it (aws eks create-addon --cluster-name prod --addon-name vpc-cni --configuration-values '{"enableWindowsIpam":"true"}')`,
      ],
    ],
    [
      'a cluster in Auto Mode with the vpc-cni add-on',
      sampleInput({
        cluster: sampleCluster({ autoMode: true }),
        facts: sampleFacts({ cniAddon: addon(true) }),
      }),
      [
        `AutoModeUnsupported (warning): ${AUTO_MODE}. The node group of the pool can, and needs the vpc-cni add-on, which is installed. Do not remove the add-on`,
      ],
    ],
    [
      'a cluster in Auto Mode whose add-ons cannot be read',
      sampleInput({ cluster: sampleCluster({ autoMode: true }), facts: sampleFacts({ cniAddon: unasked() }) }),
      [
        `AutoModeUnsupported (warning): ${AUTO_MODE}. The node group of the pool can, and needs the vpc-cni add-on. Do not remove the add-on`,
      ],
    ],
    [
      'a cluster in GovCloud',
      sampleInput({
        cluster: sampleCluster({ arn: 'arn:aws-us-gov:eks:us-gov-west-1:111122223333:cluster/prod' }),
        region: 'us-gov-west-1',
      }),
      [
        'UnsupportedRegion (warning): Region us-gov-west-1 is in partition aws-us-gov. EKS documents Windows node groups only for commercial Regions. If EKS rejects the node group, create a self-managed node group and a pool of existingNodes',
      ],
    ],
    [
      'a cluster without a Linux node that accepts pods',
      sampleInput({ facts: sampleFacts({ linuxNode: known(false) }) }),
      [
        'NoLinuxNode: The cluster has no Linux node that accepts pods, and CoreDNS runs only on Linux. Add a Linux node group or a Fargate profile for kube-system, or uncordon a node (kubectl uncordon NODE)',
      ],
    ],
  ],
  "of the pool's own launch template": [
    ['a template with the tags of the pool', ownInput(ownView({ found: own.template, isOwn: true })), []],
    ['a template that is still to be created', ownInput(ownView({})), []],
    [
      "a template that is not the pool's",
      ownInput(ownView({ found: own.template })),
      [
        'LaunchTemplateNotOwned: Launch template winpool/prod/web (lt-0e1f2a3b) exists but does not have the tags winpool.dev/pool=web and winpool.dev/usable-by=prod, so the operator does not change it. If the pool may use it, set the tags. Otherwise, delete it (aws ec2 delete-launch-template --launch-template-id lt-0e1f2a3b)',
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
        [
          'LaunchTemplateNotFound: Launch template winpool/prod/web (lt-1), from which the node group was created, was deleted. The node group keeps the settings of version 3, and its ami, kubelet, disk, metadataOptions, securityGroups, instanceTags and userData cannot change. To change them, set nodeGroup.replacement: BlueGreen, or create another pool',
        ],
      ],
    ),
    [
      'a template of the node group that was deleted, if another node group may replace it',
      {
        ...ownInput(ownView({ ofGroup: ofGroup('lt-1') })),
        spec: samplePool({ nodeGroup: { replacement: 'BlueGreen' } }).spec,
      },
      [
        'LaunchTemplateNotFound (warning): Launch template winpool/prod/web (lt-1), from which the node group was created, was deleted. The node group keeps the settings of version 3. When its ami, kubelet, disk, metadataOptions, securityGroups, instanceTags or userData change, a second node group replaces it (nodeGroup.replacement: BlueGreen)',
      ],
    ],
    [
      'a template of the node group that was deleted, if another node group may replace it and a canary is due',
      {
        ...ownInput(ownView({ ofGroup: ofGroup('lt-1') })),
        spec: samplePool({ nodeGroup: { replacement: 'BlueGreen' } }).spec,
        canaryNodes: 1,
      },
      [
        'LaunchTemplateNotFound: Launch template winpool/prod/web (lt-1), from which the node group was created, was deleted. The node group keeps the settings of version 3, but no canary can be created from a deleted template. To update the node group, change its ami, kubelet, disk, metadataOptions, securityGroups, instanceTags or userData: a second node group replaces it (nodeGroup.replacement: BlueGreen). Or remove nodeGroup.update.canary',
      ],
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
        'LaunchTemplateInvalid: Version 2 of launch template winpool/prod/web does not have the settings that the operator wrote. It also sets UserData and KeyName. Check who created it (aws ec2 describe-launch-template-versions --launch-template-name winpool/prod/web), and delete that version',
      ],
    ],
    [
      'user data that nodes cannot get',
      sampleInput({ userDataProblem: 'The user data of the nodes is too long. Use fewer labels.' }),
      ['LaunchTemplateInvalid: The user data of the nodes is too long. Use fewer labels'],
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
      [
        'SecurityGroupNotFound: No security group of VPC vpc-0a1b2c3d matches sg-0a000000 and tag tier=windows. Correct nodeGroup.securityGroups',
      ],
    ],
    ['a script that nodes can run', scriptInput({ keys: ['a.ps1'], text: 'Write-Host a' }), []],
    [
      'a ConfigMap that does not exist',
      scriptInput({}),
      [
        'UserDataNotFound: ConfigMap winpool-system/windows, which nodeGroup.userData names, does not exist. Create it (kubectl -n winpool-system create configmap windows --from-file=a.ps1=FILE.ps1)',
      ],
    ],
    [
      'a script that is not PowerShell alone',
      scriptInput({ keys: ['a.ps1'], text: '<script>dir</script>' }),
      [
        'UserDataInvalid: Key a.ps1 of ConfigMap winpool-system/windows contains the tag <script>, which would end or change the user data. Remove it: only commands belong there',
      ],
    ],
    [
      'a script that cannot be read',
      ownInput(undefined, { userData: unasked() }),
      ['UserDataNotFound? missing permission get configmaps in the namespace of the operator'],
    ],
  ],
  'of the custom AMI': [
    ['an AMI that fits', imageInput({}), []],
    [
      'an AMI whose name does not show its version, before the node group is created',
      imageInput({ name: 'golden-17' }),
      [
        '(note) The name of AMI ami-0a000001 (golden-17) does not show its Windows Server version. The verification of the first node shows whether it fits windowsVersion.',
      ],
    ],
    ['such an AMI afterwards', { ...imageInput({ name: 'golden-17' }), creating: false, groupStatus: 'ACTIVE' }, []],
    [
      'an AMI that does not exist',
      imageInput(undefined),
      [
        'AMIInvalid: AMI ami-0a000001 does not exist in eu-west-1, or is not shared with this account. Correct nodeGroup.ami, or share the AMI',
      ],
    ],
    [
      'an AMI of Linux',
      imageInput({ isWindows: false }),
      [
        'AMIInvalid: AMI ami-0a000001 (Windows_Server-2022-English-Core-Golden-17) is not an AMI of Windows. Set nodeGroup.ami to one that was made from an EKS-optimized Windows AMI',
      ],
    ],
    [
      'an AMI that is still being made',
      imageInput({ state: 'pending', name: '' }),
      [
        'AMIInvalid: AMI ami-0a000001 is pending, so no instance can start from it. Wait until it is available (aws ec2 describe-images --image-ids ami-0a000001), or set nodeGroup.ami to another one',
      ],
    ],
    [
      'an AMI of another architecture',
      imageInput({ architecture: 'arm64', name: '' }),
      [
        'AMIInvalid: AMI ami-0a000001 has the architecture arm64, and Windows nodes need x86_64. Set nodeGroup.ami to another AMI',
      ],
    ],
    [
      'an AMI of another Windows version',
      imageInput({ name: 'golden-win2019-3' }),
      [
        'AMIInvalid: AMI ami-0a000001 (golden-win2019-3) is an AMI of Windows Server 2019, and windowsVersion is Windows2022. Set nodeGroup.ami to an AMI of Windows Server 2022, or create a pool with another windowsVersion',
      ],
    ],
    [
      'an AMI of the node group that was deregistered',
      { ...imageInput({}, { id: 'ami-0a000009', found: undefined }), creating: false, groupStatus: 'ACTIVE' },
      [
        'AMIInvalid: AMI ami-0a000009 of the node group was deregistered, so no new node can start. Set nodeGroup.ami to another AMI',
      ],
    ],
    ['a parameter with the ID of an AMI', parameterInput('ami-0a000001'), []],
    [
      'a parameter that does not exist',
      parameterInput(undefined),
      [
        'AMIInvalid: SSM parameter /windowspool/golden does not exist in eu-west-1. Create it with the ID of an AMI as its value, or correct nodeGroup.ami.ssmParameter',
      ],
    ],
    [
      'a parameter with something else',
      parameterInput('lat"est'),
      [
        'AMIInvalid: The value of SSM parameter /windowspool/golden is not the ID of an AMI, such as ami-0123456789abcdef0. Correct the value (aws ssm get-parameter --name /windowspool/golden), or nodeGroup.ami.ssmParameter',
      ],
    ],
    [
      'a parameter that cannot be read',
      { ...parameterInput(undefined), facts: sampleFacts({ imageParameter: unasked() }) },
      ['AMIInvalid? missing permission ssm:GetParameter'],
    ],
    [
      'an AMI that cannot be read',
      sampleInput({ spec: CUSTOM_SPEC, facts: sampleFacts({ image: unasked() }) }),
      ['AMIInvalid? missing permission ec2:DescribeImages'],
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
      [
        'LaunchTemplateNotFound: Launch template windows with version $Latest does not exist in eu-west-1. Correct nodeGroup.launchTemplate',
      ],
    ],
    [
      'a template whose ID does not exist',
      sampleInput({
        spec: template({ id: 'lt-0a1b2c3d', version: 7 }),
        facts: sampleFacts({ launchTemplate: known(undefined) }),
      }),
      [
        'LaunchTemplateNotFound: Launch template lt-0a1b2c3d with version 7 does not exist in eu-west-1. Correct nodeGroup.launchTemplate',
      ],
    ],
    [
      'a template of an existing node group that was deleted',
      sampleInput({ spec: WINDOWS, facts: sampleFacts({ launchTemplate: known(undefined) }), creating: false }),
      [
        'LaunchTemplateNotFound: Launch template windows with version $Latest does not exist in eu-west-1. The node group keeps its version. Correct nodeGroup.launchTemplate.version. If the template was deleted, set nodeGroup.replacement: BlueGreen and another template',
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
        'LaunchTemplateInvalid: Version 7 of launch template windows (lt-0a1b2c3d) cannot be used: it sets ImageId (ami-1), which EKS does not accept. Remove it: windowsVersion, nodeGroup.edition and nodeGroup.releaseVersion select the AMI, or nodeGroup.ami; it sets HibernationOptions (Configured), which EKS does not accept. Remove it; both it (m5.xlarge) and nodeGroup.instanceTypes (m5.large) set instance types. Remove one of them',
      ],
    ],
    [
      'a template without an instance type, if the pool has none either',
      sampleInput({ spec: WINDOWS, facts: sampleFacts({ launchTemplate: known(sampleTemplate('7')) }) }),
      [
        'LaunchTemplateInvalid: Version 7 of launch template windows (lt-0a1b2c3d) cannot be used: neither it nor nodeGroup.instanceTypes sets an instance type. Set one of them',
      ],
    ],
    [
      'a template with an instance type that does not exist',
      sampleInput({
        spec: WINDOWS,
        facts: sampleFacts({ launchTemplate: known(sampleTemplate('7', { instanceType: 'm5.small' })) }),
      }),
      [
        'InstanceTypeUnsupported: Instance type m5.small does not exist in eu-west-1. Set other instance types in the launch template',
      ],
    ],
  ],
  'of the network': [
    [
      'Windows IPAM that is disabled, without the vpc-cni add-on',
      sampleInput({ facts: sampleFacts({ cniConfig: off }) }),
      [
        `${IPAM_OFF} ${HAS_FALSE} The vpc-cni add-on is not installed. Set enable-windows-ipam: "true" in the ConfigMap ${PATCH}`,
      ],
    ],
    [
      'Windows IPAM that was never enabled',
      sampleInput({ facts: sampleFacts({ cniConfig: known({}) }) }),
      [
        `${IPAM_OFF} does not set enable-windows-ipam. The vpc-cni add-on is not installed. Set enable-windows-ipam: "true" in the ConfigMap ${PATCH}`,
      ],
    ],
    [
      'Windows IPAM that is disabled in the vpc-cni add-on',
      sampleInput({ facts: sampleFacts({ cniConfig: off, cniAddon: addon(false) }) }),
      [
        `${IPAM_OFF} ${HAS_FALSE} The vpc-cni add-on of cluster prod manages the ConfigMap. Add {"enableWindowsIpam":"true"} to the configuration values of the add-on; do not patch the ConfigMap`,
      ],
    ],
    [
      'Windows IPAM that is enabled in the vpc-cni add-on and not in the ConfigMap',
      sampleInput({
        facts: sampleFacts({ cniConfig: known(undefined), cniAddon: addon(true, 'DEGRADED') }),
      }),
      [
        `${IPAM_OFF} does not exist. The vpc-cni add-on of cluster prod enables it and is DEGRADED, but another user changed the ConfigMap. Set enable-windows-ipam: "true" in the ConfigMap ${CREATE}`,
      ],
    ],
    [
      'Windows IPAM that is disabled, if the add-on cannot be read',
      sampleInput({ facts: sampleFacts({ cniConfig: off, cniAddon: unasked() }) }),
      [
        `${IPAM_OFF} ${HAS_FALSE} If the vpc-cni add-on is installed, set its configuration value {"enableWindowsIpam":"true"}. Otherwise, set enable-windows-ipam: "true" in the ConfigMap ${PATCH}`,
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
      [
        'LegacyResourceController: Deployment kube-system/vpc-resource-controller exists. It is obsolete, and disables the VPC resource controller in the control plane. Delete it (kubectl -n kube-system delete deployment vpc-resource-controller vpc-admission-webhook --ignore-not-found)',
      ],
    ],
  ],
  'of the cluster role': [
    [
      'a role without the policy of the VPC resource controller',
      sampleInput({ facts: sampleFacts({ clusterRolePolicies: known(['AmazonEKSClusterPolicy', 'ours']) }) }),
      [
        'ClusterRolePolicyMissing (warning): IAM role eks-cluster of cluster prod does not have the policy AmazonEKSVPCResourceController, with which EKS assigns IP addresses to Windows nodes and pods. Unless another policy grants the same permissions, attach it (aws iam attach-role-policy --role-name eks-cluster --policy-arn arn:aws:iam::aws:policy/AmazonEKSVPCResourceController)',
      ],
    ],
    [
      'a role with a path in another partition',
      sampleInput({
        cluster: sampleCluster({ roleArn: 'arn:aws-cn:iam::111122223333:role/eks/prod-cluster' }),
        facts: sampleFacts({ clusterRolePolicies: known([]) }),
      }),
      [
        'ClusterRolePolicyMissing (warning): IAM role prod-cluster of cluster prod does not have the policy AmazonEKSVPCResourceController, with which EKS assigns IP addresses to Windows nodes and pods. Unless another policy grants the same permissions, attach it (aws iam attach-role-policy --role-name prod-cluster --policy-arn arn:aws-cn:iam::aws:policy/AmazonEKSVPCResourceController)',
      ],
    ],
    [
      'a role whose policies cannot be listed',
      sampleInput({ facts: sampleFacts({ clusterRolePolicies: unasked() }) }),
      ['ClusterRolePolicyMissing? missing permission iam:ListAttachedRolePolicies'],
    ],
  ],
  'of the webhook for Windows pods': [
    [
      'a webhook that does not exist',
      sampleInput({ facts: sampleFacts({ podWebhook: known(false) }) }),
      [
        'PodWebhookMissing (warning): MutatingWebhookConfiguration vpc-resource-mutating-webhook does not exist in cluster prod. EKS creates it with the cluster. Without it, Windows pods do not request an IP address. Restore it from another cluster with the CA bundle of this cluster, or contact AWS Support. Until then, set the limit vpc.amazonaws.com/PrivateIPv4Address: 1 in Windows pods',
      ],
    ],
  ],
  'of the node role': [
    [
      'a role whose access entry is for Linux nodes',
      sampleInput({ facts: sampleFacts({ accessEntry: known({ type: 'EC2_LINUX' }) }) }),
      [
        `NodeAccessInvalid: The access entry of node role ${ROLE} in cluster prod has type EC2_LINUX: with it, kube-proxy on Windows nodes lacks permissions, and the nodes run no pods. EKS cannot change the type of an entry. Set nodeGroup.nodeRole to a role that only Windows nodes use`,
      ],
    ],
    [
      'a role whose access entry is not for nodes, although aws-auth maps it correctly',
      sampleInput({
        facts: sampleFacts({ accessEntry: known({ type: 'STANDARD' }), roleMappings: known([windows]) }),
        creating: false,
      }),
      [
        `NodeAccessInvalid: The access entry of node role ${ROLE} in cluster prod has type STANDARD: with it, Windows nodes cannot join. EKS cannot change the type of an entry. Set nodeGroup.replacement: BlueGreen, and nodeGroup.nodeRole to a role that only Windows nodes use`,
      ],
    ],
    ['a role without access, before the node group is created', sampleInput({ facts: NO_ENTRY }), [ENTRY_FOLLOWS]],
    [
      'a role without access, while the node group is created',
      sampleInput({ facts: NO_ENTRY, creating: false, groupStatus: 'CREATING' }),
      [ENTRY_FOLLOWS],
    ],
    ...['ACTIVE', 'DEGRADED', 'UPDATING', 'CREATE_FAILED'].map(
      (groupStatus): Row => [
        `a role without access, if the node group is ${groupStatus}`,
        sampleInput({ facts: NO_ENTRY, creating: groupStatus === 'CREATE_FAILED', groupStatus }),
        [
          `NodeAccessInvalid: Node role ${ROLE} has no access entry in cluster prod, so its nodes cannot join. Create it (${CREATE_ENTRY}), or set nodeGroup.accessEntry: Create`,
        ],
      ],
    ),
    [
      'a role without access, in a cluster that has only access entries',
      sampleInput({ cluster: sampleCluster({ authenticationMode: 'API' }), facts: NO_ENTRY }),
      [ENTRY_FOLLOWS],
    ],
    [
      'a role that aws-auth maps as a Linux role, before the node group is created',
      sampleInput({ facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([linux]) }) }),
      [
        `NodeAccessInvalid (warning): ConfigMap kube-system/aws-auth of cluster prod maps node role ${ROLE} without eks:kube-proxy-windows, and the role has no access entry. EKS usually creates one of type EC2_WINDOWS with the node group. To be sure, create it (${CREATE_ENTRY})`,
      ],
    ],
    [
      'a role that aws-auth maps as a Linux role, if the node group exists',
      sampleInput({
        facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([linux]) }),
        groupStatus: 'ACTIVE',
      }),
      [LACKING],
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
      [LACKING],
    ],
    [
      'a role that aws-auth does not map, before the node group is created, in a cluster without access entries',
      sampleInput({
        cluster: ONLY_AWS_AUTH,
        managesAccessEntry: true,
        facts: { ...without('accessEntry'), roleMappings: known([]) },
      }),
      [
        `(note) Node role ${ROLE} is not in ConfigMap kube-system/aws-auth of cluster prod yet: EKS adds it with the node group. The operator checks it again then.`,
      ],
    ],
    [
      'a role that aws-auth does not map, if the node group exists, in a cluster without access entries',
      sampleInput({
        cluster: ONLY_AWS_AUTH,
        groupStatus: 'ACTIVE',
        facts: { ...without('accessEntry'), roleMappings: known([]) },
      }),
      [
        `NodeAccessInvalid: ConfigMap kube-system/aws-auth of cluster prod does not map node role ${ROLE}, so its nodes cannot join. Map it to the groups system:bootstrappers, system:nodes and eks:kube-proxy-windows`,
      ],
    ],
    [
      'a role without access and a custom AMI, before the node group is created',
      sampleInput({ spec: CUSTOM_SPEC, facts: NO_ENTRY }),
      [
        `NodeAccessInvalid: Node role ${ROLE} has no access entry in cluster prod, and with a custom AMI, EKS grants it the access of Linux nodes, with which Windows nodes run no pods. Create it (${CREATE_ENTRY}), or set nodeGroup.accessEntry: Create`,
      ],
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
      [
        `NodeAccessInvalid: Node role ${ROLE} has no access entry in cluster prod, and with a custom AMI, EKS grants it the access of Linux nodes, with which Windows nodes run no pods. Create it (${CREATE_ENTRY}), or set nodeGroup.accessEntry: Create`,
      ],
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
        `NodeAccessInvalid: ConfigMap kube-system/aws-auth of cluster prod does not map node role ${ROLE}, and with a custom AMI, EKS grants it the access of Linux nodes, with which Windows nodes run no pods. Add to its mapRoles: {rolearn: ${ROLE}, username: system:node:{{EC2PrivateDNSName}}, groups: [system:bootstrappers, system:nodes, eks:kube-proxy-windows]}`,
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
      ['NodeAccessInvalid? missing permission get configmaps kube-system/aws-auth'],
    ],
    [
      'a role if Linux nodes cannot be listed',
      sampleInput({
        facts: sampleFacts({
          linuxRoles: { ok: false, error: sampleError('denied', { operation: 'list nodes' }) },
        }),
      }),
      ['NodeRoleShared? missing permission list nodes'],
    ],
    [
      'a role if the node group of Linux nodes cannot be described',
      sampleInput({
        facts: sampleFacts({
          linuxRoles: { ok: false, error: sampleError('denied', { operation: 'DescribeNodegroup' }) },
        }),
      }),
      ['NodeRoleShared? missing permission eks:DescribeNodegroup'],
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
      [
        `NodeRoleShared: Node role ${ROLE} is also the role of Linux node group linux. Its access entry in cluster prod has the groups of only one operating system. Set nodeGroup.nodeRole to a role that only Windows nodes use`,
      ],
    ],
    [
      'a role that a Linux node group also has, in a cluster that has only access entries',
      sampleInput({
        cluster: sampleCluster({ authenticationMode: 'API' }),
        facts: { ...sampleFacts({ accessEntry: unasked(), linuxRoles: SHARED }) },
      }),
      [
        `NodeRoleShared: Node role ${ROLE} is also the role of Linux node group linux. Its access entry in cluster prod has the groups of only one operating system. Set nodeGroup.nodeRole to a role that only Windows nodes use`,
        'NodeAccessInvalid? missing permission eks:DescribeAccessEntry',
      ],
    ],
    [
      'a role that a Linux node group also has, if aws-auth has the groups of both',
      sampleInput({
        facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([windows]), linuxRoles: SHARED }),
      }),
      [SHARED_WORKS],
    ],
    [
      'a role that a Linux node group also has, in a cluster that has only aws-auth',
      sampleInput({
        cluster: sampleCluster({ authenticationMode: 'CONFIG_MAP' }),
        facts: { ...without('accessEntry'), roleMappings: known([windows]), linuxRoles: SHARED },
      }),
      [SHARED_WORKS],
    ],
    [
      'a role that a Linux node group also has, if its access entry cannot be read',
      sampleInput({ facts: sampleFacts({ accessEntry: unasked(), linuxRoles: SHARED }) }),
      [SHARED_WORKS, 'NodeAccessInvalid? missing permission eks:DescribeAccessEntry'],
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
      [
        'InstanceTypeUnsupported: Instance type m5.small does not exist in eu-west-1. Instance type m6g.large is arm64, and Windows nodes need x86_64. Instance type one.address has no IP addresses for pods. Set other instance types in nodeGroup.instanceTypes',
      ],
    ],
    [
      'types that are offered in none of the zones',
      sampleInput({ facts: sampleFacts({ offerings: known([{ instanceType: 'm5.large', zone: 'eu-west-1c' }]) }) }),
      [
        "InstanceTypeNotOffered: EC2 does not offer m5.large in the zones of the pool's subnets (eu-west-1a and eu-west-1b). Use subnets in other zones of eu-west-1, or other instance types",
      ],
    ],
    [
      'types that are not offered in one of the zones',
      sampleInput({ facts: sampleFacts({ offerings: known([{ instanceType: 'm5.large', zone: 'eu-west-1a' }]) }) }),
      [
        "InstanceTypeNotOffered: EC2 offers none of the pool's instance types (m5.large) in eu-west-1b, where subnet-0b000000 is. Remove this subnet, or add an instance type that is offered there",
      ],
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
      ['SubnetNotFound: No subnet matches subnet-0b000000 in eu-west-1. Correct nodeGroup.subnets'],
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
      [
        'TooFewAddresses (warning): Subnets subnet-0a000000 and subnet-0b000000 together have too few free IP addresses to scale to nodeGroup.scaling.maxSize: 5 more nodes need at least 20 (50 when full of pods). Each pod uses one secondary IP address (prefix delegation is disabled). Add a subnet, or lower maxSize from 5',
      ],
    ],
    ...(
      [
        // Of each node, 4 addresses, of which a warm instance already has one.
        ['that have none yet', { minSize: 2 }, 0, 21, '5 more nodes and 2 instances of the warm pool need at least 22'],
        ['that exist', { minSize: 2 }, 3, 18, '5 more nodes and 2 instances of the warm pool need at least 19'],
        ['that become the nodes', { minSize: 0 }, 5, 14, '5 more nodes need at least 15'],
        [
          'beyond maxSize',
          { minSize: 0, maxPreparedCapacity: 8 },
          5,
          17,
          '5 more nodes and 3 instances of the warm pool need at least 18',
        ],
      ] as const
    ).map(
      ([what, sizes, warmInstances, freeAddresses, need]) =>
        [
          `too few addresses for a warm pool and its instances ${what}`,
          sampleInput({
            spec: samplePool({
              nodeGroup: {
                subnets: [{ id: 'subnet-0a000000' }],
                scaling: { minSize: 0, maxSize: 5 },
                warmPool: { poolState: 'Stopped', reuse: false, ...sizes },
              },
            }).spec,
            warmInstances,
            facts: sampleFacts({
              subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses, tags: {} }]),
            }),
          }),
          [
            `TooFewAddresses (warning): Subnet subnet-0a000000 has too few free IP addresses to scale to nodeGroup.scaling.maxSize: ${need} (50 when full of pods). Each pod uses one secondary IP address (prefix delegation is disabled). Add a subnet, or lower maxSize from 5${need.includes('warm') ? ' or the sizes of warmPool' : ''}`,
          ],
        ] as const,
    ),
    ...(
      [
        ['minSize', { minSize: 3, maxSize: 5 }, '3 more nodes need at least 12 (30', 'minSize from 3'],
        [
          'desiredSize',
          { minSize: 0, maxSize: 5, desiredSize: 4 },
          '4 more nodes need at least 16 (40',
          'desiredSize from 4',
        ],
      ] as const
    ).map(
      ([what, scaling, need, lower]) =>
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
          [
            `TooFewAddresses: Subnets subnet-0a000000 and subnet-0b000000 together have 11 free IP addresses, and ${need} when full of pods). Each pod uses one secondary IP address (prefix delegation is disabled). Add a subnet, or lower nodeGroup.scaling.${lower}`,
          ],
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
      [
        'TooFewAddresses: Subnet subnet-0a000000 has 10 free IP addresses, and 4 more nodes need at least 16 (40 when full of pods). Each pod uses one secondary IP address (prefix delegation is disabled). Add a subnet, or lower the size of the current node group from 4',
      ],
    ],
    [
      'room for a second node group',
      sampleInput({ facts: sampleFacts({ nodeGroups: known(Array.from({ length: 29 }, String)) }) }),
      [],
    ],
    [
      'as many node groups as EKS allows by default',
      sampleInput({ facts: sampleFacts({ nodeGroups: known(Array.from({ length: 30 }, String)) }) }),
      [
        'NodeGroupQuotaReached: Cluster prod has 30 node groups or more, and by default EKS allows 30. The replacement of the node group needs one more. Delete an unused node group, or, if the quota "Managed node groups per cluster" of the account is higher, add NodeGroupQuotaReached to the annotation winpool.dev/ignore-prerequisites',
      ],
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
      [
        'TooFewAddresses (warning): Subnet subnet-0a000000 has too few free IP addresses to scale to nodeGroup.scaling.maxSize: 1 more node needs at least 4 (10 when full of pods). Each pod uses one secondary IP address (prefix delegation is disabled). Add a subnet, or lower maxSize from 1',
      ],
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
      [
        'TooFewAddresses (warning): Subnet subnet-0a000000 has too few free IP addresses to scale to nodeGroup.scaling.maxSize: 1 more node needs at least 4 (10 when full of pods). Each pod uses one secondary IP address (prefix delegation is disabled). Free addresses, or lower maxSize from 1',
      ],
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
        'TooFewAddresses: Subnet subnet-0a000000 has 1 free IP address, and 3 more nodes need at least 51. Prefix delegation is enabled: a node uses contiguous /28 blocks of 16 addresses; a fragmented subnet may have no free block. Add a subnet, or lower nodeGroup.scaling.minSize from 3',
        'InstanceTypeUnsupported? missing permission ec2:DescribeInstanceTypes',
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
        'TooFewAddresses (warning): Subnets subnet-0a000000 and subnet-0b000000 together have too few free IP addresses to scale to nodeGroup.scaling.maxSize: 5 more nodes need at least 20 (725 when full of pods). Prefix delegation is enabled: a node uses contiguous /28 blocks of 16 addresses, except on m4.large, which is not based on Nitro; a fragmented subnet may have no free block. ConfigMap kube-system/amazon-vpc-cni has an invalid value that is ignored: warm-prefix-target is "two", expected a non-negative integer. Add a subnet, or lower maxSize from 5',
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
      ['LegacyResourceController? DescribeAddon failed: the call was throttled'],
    ],
  ],
};

describe('the prerequisite checks', () => {
  for (const [title, rows] of Object.entries(tables)) {
    describe(title, () => {
      for (const [what, input, want] of rows)
        it(`${want.length === 0 ? 'accept' : 'report'} ${what}`, () => assert.deepEqual(unmet(input), want));
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

    it('report an unsupported pair with a remedy', () => {
      assert.deepEqual(
        [...of('Windows2025', '1.34'), ...of('Windows2025', '1.37'), ...of('Windows2025', '2.1')],
        [
          'UnsupportedVersion: EKS does not support Windows Server 2025 with Kubernetes 1.34, only with 1.35 or newer. Upgrade the cluster, or create a pool with another windowsVersion',
          'UnsupportedVersion: EKS publishes no AMI of Windows Server 2025 Core for Kubernetes 1.37 in eu-west-1. Wait until it does, set nodeGroup.kubernetesVersion to an older version, or create a pool with another windowsVersion',
          'UnsupportedVersion: This release of the operator does not support Kubernetes 2.1, the version of EKS cluster prod. Upgrade the operator',
        ],
      );
    });

    it('block nothing if SSM denies the call or cannot be reached', () => {
      exists = { ok: false, error: sampleError('denied', { operation: 'ssm:GetParameter' }) };
      const denied = of('Windows2025', '1.37');
      exists = { ok: false, error: sampleError('unavailable', { operation: 'GetParameter' }) };
      assert.deepEqual(
        [...denied, ...of('Windows2025', '1.37')],
        [
          'UnsupportedVersion? missing permission ssm:GetParameter',
          `UnsupportedVersion? GetParameter failed: ${sampleError('unavailable').message.replace(/\.$/, '')}`,
        ],
      );
    });

    it('warn if EKS publishes an AMI for a pair that the Kubernetes project no longer supports', () => {
      exists = known(true);
      for (const version of ['1.35', '1.36', '1.37'])
        assert.deepEqual(of('Windows2019', version), [
          `UnsupportedVersion (warning): The Kubernetes project supports Windows Server 2019 up to 1.34, and the nodes have ${version}. EKS still publishes an AMI. Plan to move the workload to a pool with another windowsVersion`,
        ]);
    });
  });

  describe('of pinned versions', () => {
    const of = (pins: { kubernetesVersion?: string; releaseVersion?: string }) =>
      unmet(sampleInput({ spec: samplePool({ windowsVersion: 'Windows2025', nodeGroup: pins }).spec }));

    it('accept the version of the control plane and slightly older ones', () => {
      for (const pins of [{ kubernetesVersion: '1.36' }, { releaseVersion: '1.35-2026.01.22' }])
        assert.deepEqual(of(pins), []);
    });

    it('report whether to change the pin or the control plane', () => {
      assert.deepEqual(
        [...of({ kubernetesVersion: '1.37' }), ...of({ releaseVersion: '1.34-2026.01.22' })],
        [
          'UnsupportedVersion: nodeGroup.kubernetesVersion pins Kubernetes 1.37, but EKS cluster prod runs 1.36. Nodes must not be newer than the control plane. Upgrade the cluster first, or pin 1.36 or older',
          'UnsupportedVersion: EKS does not support Windows Server 2025 with Kubernetes 1.34, only with 1.35 or newer. Set nodeGroup.releaseVersion to a newer version, or create a pool with another windowsVersion',
        ],
      );
    });
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
