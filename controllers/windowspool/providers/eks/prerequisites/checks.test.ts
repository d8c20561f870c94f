import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { CheckInput, PrerequisiteFacts } from '../../../model/prerequisites.ts';
import { type PrerequisiteReason, prerequisiteReasons } from '../../../reasons.ts';
import { known } from '../../../testing/answers.ts';
import { sampleCluster, sampleError, samplePool, sampleTemplate } from '../../../testing/fixtures.ts';
import { randomFacts, sampleAddon, sampleFacts, sampleInput, unasked } from '../../../testing/prerequisites.ts';
import { checks, examine } from './checks.ts';
import { PERMISSIONS } from './facts.ts';
import { missingAccessEntry } from './roleChecks.ts';

/** What is not met, a line each. */
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
const AUTO_MODE = 'EKS cluster prod runs in Auto Mode, whose own nodes cannot run Windows';
const IPAM_OFF = 'WindowsIPAMDisabled: Windows IPAM is off, so pods get no addresses.';
const HAS_FALSE = 'ConfigMap kube-system/amazon-vpc-cni has enable-windows-ipam: "false".';

const linux = { ...windows, groups: windows.groups.slice(0, 2) };
const ONLY_AWS_AUTH = sampleCluster({ authenticationMode: 'CONFIG_MAP' });
const NO_ENTRY = sampleFacts({ accessEntry: known(undefined) });
const CREATE_ENTRY = `aws eks create-access-entry --cluster-name prod --principal-arn ${ROLE} --type EC2_WINDOWS`;
const ENTRY_FOLLOWS = `(note) Node role ${ROLE} has no access entry in cluster prod yet: EKS creates one of type EC2_WINDOWS with the node group. It is checked again then.`;
const LACKING = `NodeAccessWrong: ConfigMap kube-system/aws-auth of cluster prod maps node role ${ROLE} without eks:kube-proxy-windows. Add it to the groups of the role in mapRoles`;
const SHARED = known([{ group: 'linux', nodeRoleArn: ROLE }]);
const SHARED_WORKS = `NodeRoleShared (warning): Node role ${ROLE} is also the role of Linux node group linux. This works while ConfigMap kube-system/aws-auth gives the role the groups of both (system:bootstrappers, system:nodes and eks:kube-proxy-windows) and the role has no access entry. Prefer an IAM role for Windows nodes only`;

type Row = readonly [what: string, input: CheckInput, want: readonly string[]];

const tables: Readonly<Record<string, readonly Row[]>> = {
  'the cluster': [
    ['in which nothing is missing', sampleInput(), []],
    [
      'that is being upgraded',
      sampleInput({ cluster: sampleCluster({ status: 'UPDATING' }) }),
      [
        'ClusterNotActive: EKS cluster prod is UPDATING, and EKS makes no node group before it is ACTIVE. Wait (passes)',
      ],
    ],
    [
      'that has failed',
      sampleInput({ cluster: sampleCluster({ status: 'FAILED' }) }),
      [
        "ClusterNotActive: EKS cluster prod is FAILED and EKS makes no node group in it. Look at the cluster's health in EKS",
      ],
    ],
    [
      'that is being upgraded while the group lives',
      sampleInput({ cluster: sampleCluster({ status: 'UPDATING' }), creating: false }),
      [],
    ],
    [
      'of IPv6',
      sampleInput({ cluster: sampleCluster({ ipFamily: 'ipv6' }) }),
      [
        'UnsupportedIPFamily: EKS cluster prod is of IP family ipv6, and Windows nodes need ipv4. The family of a cluster cannot change: use another cluster',
      ],
    ],
    [
      'in Auto Mode',
      sampleInput({ cluster: sampleCluster({ autoMode: true }) }),
      [
        `AutoModeUnsupported: ${AUTO_MODE}. A node group beside it needs the vpc-cni add-on, which is not installed. Install it: aws eks create-addon --cluster-name prod --addon-name vpc-cni --configuration-values '{"enableWindowsIpam":"true"}'`,
      ],
    ],
    [
      'in Auto Mode with the vpc-cni add-on',
      sampleInput({
        cluster: sampleCluster({ autoMode: true }),
        facts: sampleFacts({ cniAddon: addon(true) }),
      }),
      [
        `AutoModeUnsupported (warning): ${AUTO_MODE}. The node group of the pool brings them, and needs the vpc-cni add-on, which is installed. Keep the add-on`,
      ],
    ],
    [
      'in Auto Mode, and nobody may say whether it has the add-on',
      sampleInput({ cluster: sampleCluster({ autoMode: true }), facts: sampleFacts({ cniAddon: unasked() }) }),
      [
        `AutoModeUnsupported (warning): ${AUTO_MODE}. The node group of the pool brings them, and needs the vpc-cni add-on. Keep the add-on`,
      ],
    ],
    [
      'in GovCloud',
      sampleInput({
        cluster: sampleCluster({ arn: 'arn:aws-us-gov:eks:us-gov-west-1:111122223333:cluster/prod' }),
        region: 'us-gov-west-1',
      }),
      [
        'UnsupportedRegion (warning): Region us-gov-west-1 is in the partition aws-us-gov, and EKS documents Windows node groups for the commercial Regions only. When EKS refuses the node group, use existingNodes with a self-managed group',
      ],
    ],
    [
      'without a Linux node that takes pods',
      sampleInput({ facts: sampleFacts({ linuxNode: known(false) }) }),
      [
        'NoLinuxNode: The cluster has no Linux node that takes pods, and CoreDNS runs nowhere else. Add a Linux node group or a Fargate profile for kube-system, or uncordon a node',
      ],
    ],
  ],
  'the launch template': [
    [
      'that names a type which EC2 knows',
      sampleInput({
        spec: WINDOWS,
        facts: sampleFacts({ launchTemplate: known(sampleTemplate('7', { instanceType: 'm5.large' })) }),
      }),
      [],
    ],
    [
      'that does not exist',
      sampleInput({ spec: WINDOWS, facts: sampleFacts({ launchTemplate: known(undefined) }) }),
      [
        'LaunchTemplateNotFound: EC2 knows no launch template windows with version $Latest in eu-west-1. Put nodeGroup.launchTemplate right',
      ],
    ],
    [
      'that does not exist under its id',
      sampleInput({
        spec: template({ id: 'lt-0a1b2c3d', version: 7 }),
        facts: sampleFacts({ launchTemplate: known(undefined) }),
      }),
      [
        'LaunchTemplateNotFound: EC2 knows no launch template lt-0a1b2c3d with version 7 in eu-west-1. Put nodeGroup.launchTemplate right',
      ],
    ],
    [
      'that is gone from a group that lives',
      sampleInput({ spec: WINDOWS, facts: sampleFacts({ launchTemplate: known(undefined) }), creating: false }),
      [
        'LaunchTemplateNotFound: EC2 knows no launch template windows with version $Latest in eu-west-1. The node group keeps the version that it has. Put nodeGroup.launchTemplate.version right; when the template is gone, only another WindowsPool can have another one',
      ],
    ],
    [
      'with what EKS does not take, and two instance types',
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
        'LaunchTemplateUnfit: Launch template windows (lt-0a1b2c3d) cannot be used in version 7: it sets ImageId (ami-1), which EKS does not take. Leave it out: the AMI follows spec.windowsVersion, spec.nodeGroup.edition and spec.nodeGroup.releaseVersion; it sets HibernationOptions (Configured), which EKS does not take. Leave it out; it sets InstanceType (m5.xlarge), and spec.nodeGroup.instanceTypes says m5.large. Leave one of them out',
      ],
    ],
    [
      'without an instance type, as the pool is',
      sampleInput({ spec: WINDOWS, facts: sampleFacts({ launchTemplate: known(sampleTemplate('7')) }) }),
      [
        'LaunchTemplateUnfit: Launch template windows (lt-0a1b2c3d) cannot be used in version 7: neither it nor spec.nodeGroup.instanceTypes names an instance type. Name one in either of them',
      ],
    ],
    [
      'with a type that EC2 does not know',
      sampleInput({
        spec: WINDOWS,
        facts: sampleFacts({ launchTemplate: known(sampleTemplate('7', { instanceType: 'm5.small' })) }),
      }),
      [
        'InstanceTypeUnsupported: EC2 knows no instance type m5.small in eu-west-1. Name other types in nodeGroup.instanceTypes',
      ],
    ],
  ],
  'the network': [
    [
      'with IPAM off, and no add-on',
      sampleInput({ facts: sampleFacts({ cniConfig: off }) }),
      [
        `${IPAM_OFF} ${HAS_FALSE} The vpc-cni add-on is not installed: set enable-windows-ipam: "true" in the ConfigMap`,
      ],
    ],
    [
      'with IPAM never switched on',
      sampleInput({ facts: sampleFacts({ cniConfig: known({}) }) }),
      [
        `${IPAM_OFF} ConfigMap kube-system/amazon-vpc-cni has enable-windows-ipam: "". The vpc-cni add-on is not installed: set enable-windows-ipam: "true" in the ConfigMap`,
      ],
    ],
    [
      'with IPAM off, which the add-on owns',
      sampleInput({ facts: sampleFacts({ cniConfig: off, cniAddon: addon(false) }) }),
      [
        `${IPAM_OFF} ${HAS_FALSE} The vpc-cni add-on of cluster prod owns it: add {"enableWindowsIpam":"true"} to the add-on's configuration values instead of patching the ConfigMap`,
      ],
    ],
    [
      'with IPAM on in the add-on and not in the ConfigMap',
      sampleInput({
        facts: sampleFacts({ cniConfig: known(undefined), cniAddon: addon(true, 'DEGRADED') }),
      }),
      [
        `${IPAM_OFF} There is no ConfigMap kube-system/amazon-vpc-cni. The vpc-cni add-on of cluster prod enables it and is DEGRADED, and another user changed the ConfigMap: set enable-windows-ipam: "true" in the ConfigMap again`,
      ],
    ],
    [
      'with IPAM off, and nobody may say who owns it',
      sampleInput({ facts: sampleFacts({ cniConfig: off, cniAddon: unasked() }) }),
      [
        `${IPAM_OFF} ${HAS_FALSE} Where the vpc-cni add-on is installed, set its configuration value {"enableWindowsIpam":"true"}; elsewhere set enable-windows-ipam: "true" in the ConfigMap`,
      ],
    ],
    ['with IPAM on in the ConfigMap alone', sampleInput({ facts: sampleFacts({ cniAddon: addon(false) }) }), []],
    [
      'with a ConfigMap that may not be read and IPAM on in the add-on',
      sampleInput({ facts: sampleFacts({ cniConfig: unasked(), cniAddon: addon(true) }) }),
      [],
    ],
    [
      'with the old controller',
      sampleInput({ facts: sampleFacts({ legacyController: known(true) }) }),
      [
        'LegacyResourceController: Deployment kube-system/vpc-resource-controller is there: it is the old way to Windows addresses and disables the one in EKS. Delete it, and the Deployment vpc-admission-webhook with it',
      ],
    ],
  ],
  'the role of the cluster': [
    [
      'without the policy of the VPC resource controller',
      sampleInput({ facts: sampleFacts({ clusterRolePolicies: known(['AmazonEKSClusterPolicy', 'ours']) }) }),
      [
        'ClusterRolePolicyMissing (warning): IAM role eks-cluster of cluster prod does not have the policy AmazonEKSVPCResourceController, with which EKS gives Windows nodes and pods their addresses. Unless another policy of the role grants the same, attach it: aws iam attach-role-policy --role-name eks-cluster --policy-arn arn:aws:iam::aws:policy/AmazonEKSVPCResourceController',
      ],
    ],
    [
      'in another partition, with a path',
      sampleInput({
        cluster: sampleCluster({ roleArn: 'arn:aws-cn:iam::111122223333:role/eks/prod-cluster' }),
        facts: sampleFacts({ clusterRolePolicies: known([]) }),
      }),
      [
        'ClusterRolePolicyMissing (warning): IAM role prod-cluster of cluster prod does not have the policy AmazonEKSVPCResourceController, with which EKS gives Windows nodes and pods their addresses. Unless another policy of the role grants the same, attach it: aws iam attach-role-policy --role-name prod-cluster --policy-arn arn:aws-cn:iam::aws:policy/AmazonEKSVPCResourceController',
      ],
    ],
    [
      'of which nobody may list the policies',
      sampleInput({ facts: sampleFacts({ clusterRolePolicies: unasked() }) }),
      ['ClusterRolePolicyMissing? it needs iam:ListAttachedRolePolicies'],
    ],
  ],
  'the webhook of Windows pods': [
    [
      'that somebody deleted',
      sampleInput({ facts: sampleFacts({ podWebhook: known(false) }) }),
      [
        'PodWebhookMissing (warning): MutatingWebhookConfiguration vpc-resource-mutating-webhook does not exist in cluster prod. EKS creates it with the cluster; it makes Windows pods request their address. Restore it from another cluster with the CA bundle of this one, or ask AWS Support; until then set the limit vpc.amazonaws.com/PrivateIPv4Address: 1 in Windows pods',
      ],
    ],
  ],
  'the node role': [
    [
      'whose access entry is for Linux',
      sampleInput({ facts: sampleFacts({ accessEntry: known({ type: 'EC2_LINUX' }) }) }),
      [
        `NodeAccessWrong: The access entry of node role ${ROLE} in cluster prod is of type EC2_LINUX: kube-proxy of Windows nodes lacks its permissions with it, and they run no pods. The type of an entry cannot change. Create the pool with a role that no other nodes use; or, if none do, delete the entry and create it again: ${CREATE_ENTRY}`,
      ],
    ],
    [
      'whose access entry is for people, although aws-auth would be right',
      sampleInput({
        facts: sampleFacts({ accessEntry: known({ type: 'STANDARD' }), roleMappings: known([windows]) }),
      }),
      [
        `NodeAccessWrong: The access entry of node role ${ROLE} in cluster prod is of type STANDARD: Windows nodes cannot join with it. The type of an entry cannot change. Create the pool with a role that no other nodes use; or, if none do, delete the entry and create it again: ${CREATE_ENTRY}`,
      ],
    ],
    ['without access, before the group is created', sampleInput({ facts: NO_ENTRY }), [ENTRY_FOLLOWS]],
    [
      'without access, while the group is created',
      sampleInput({ facts: NO_ENTRY, creating: false, groupStatus: 'CREATING' }),
      [ENTRY_FOLLOWS],
    ],
    ...['ACTIVE', 'DEGRADED', 'UPDATING', 'CREATE_FAILED'].map(
      (groupStatus): Row => [
        `without access, with a group that is ${groupStatus}`,
        sampleInput({ facts: NO_ENTRY, creating: groupStatus === 'CREATE_FAILED', groupStatus }),
        [
          `NodeAccessWrong: Node role ${ROLE} has no access entry in cluster prod, so its nodes cannot join. Create it: ${CREATE_ENTRY}; or set nodeGroup.manageAccessEntry: true`,
        ],
      ],
    ),
    [
      'without access in a cluster that knows only access entries',
      sampleInput({ cluster: sampleCluster({ authenticationMode: 'API' }), facts: NO_ENTRY }),
      [ENTRY_FOLLOWS],
    ],
    [
      'without an entry that aws-auth maps as a Linux role, before the group is created',
      sampleInput({ facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([linux]) }) }),
      [
        `NodeAccessWrong (warning): ConfigMap kube-system/aws-auth of cluster prod maps node role ${ROLE} without eks:kube-proxy-windows, and the role has no access entry. EKS usually creates one of type EC2_WINDOWS with the node group. To be sure, create it: ${CREATE_ENTRY}`,
      ],
    ],
    [
      'without an entry that aws-auth maps as a Linux role, with a group',
      sampleInput({
        facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([linux]) }),
        groupStatus: 'ACTIVE',
      }),
      [LACKING],
    ],
    [
      'without access, which the operator makes',
      sampleInput({ managesAccessEntry: true, facts: sampleFacts({ accessEntry: known(undefined) }) }),
      [],
    ],
    [
      'that aws-auth maps',
      sampleInput({ facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([windows]) }) }),
      [],
    ],
    [
      'that aws-auth maps without its path',
      sampleInput({
        spec: samplePool({ nodeGroup: { nodeRoleArn: 'arn:aws:iam::111122223333:role/eks/windows-nodes' } }).spec,
        facts: { ...without('accessEntry'), roleMappings: known([windows]) },
      }),
      [],
    ],
    [
      'that aws-auth maps as a Linux role, where access entries do not exist',
      sampleInput({ cluster: ONLY_AWS_AUTH, facts: { ...without('accessEntry'), roleMappings: known([linux]) } }),
      [LACKING],
    ],
    [
      'that aws-auth does not map before the group is created, where access entries do not exist',
      sampleInput({
        cluster: ONLY_AWS_AUTH,
        managesAccessEntry: true,
        facts: { ...without('accessEntry'), roleMappings: known([]) },
      }),
      [
        `(note) Node role ${ROLE} is not in ConfigMap kube-system/aws-auth of cluster prod yet: EKS adds it with the node group. It is checked again then.`,
      ],
    ],
    [
      'that aws-auth does not map, with a group, where access entries do not exist',
      sampleInput({
        cluster: ONLY_AWS_AUTH,
        groupStatus: 'ACTIVE',
        facts: { ...without('accessEntry'), roleMappings: known([]) },
      }),
      [
        `NodeAccessWrong: ConfigMap kube-system/aws-auth of cluster prod does not map node role ${ROLE}, so its nodes cannot join. Map it to the groups system:bootstrappers, system:nodes and eks:kube-proxy-windows`,
      ],
    ],
    [
      'of which aws-auth may not be read',
      sampleInput({ facts: sampleFacts({ accessEntry: known(undefined), roleMappings: unasked() }) }),
      ['NodeAccessWrong? it needs get configmaps kube-system/aws-auth'],
    ],
    [
      'of which the Linux nodes may not be listed',
      sampleInput({
        facts: sampleFacts({
          linuxRoles: { ok: false, error: sampleError('denied', { operation: 'list nodes' }) },
        }),
      }),
      ['NodeRoleShared? it needs list nodes'],
    ],
    [
      'of which the group of the Linux nodes may not be looked at',
      sampleInput({
        facts: sampleFacts({
          linuxRoles: { ok: false, error: sampleError('denied', { operation: 'DescribeNodegroup' }) },
        }),
      }),
      ['NodeRoleShared? it needs eks:DescribeNodegroup'],
    ],
    [
      'that a Linux group has, too',
      sampleInput({
        facts: sampleFacts({
          linuxRoles: known([
            { group: 'linux', nodeRoleArn: ROLE },
            { group: 'system', nodeRoleArn: 'other' },
          ]),
        }),
      }),
      [
        `NodeRoleShared: Node role ${ROLE} is also the role of Linux node group linux. Its access entry in cluster prod fits only one of the two operating systems. Create the pool with an IAM role of its own in nodeGroup.nodeRoleArn`,
      ],
    ],
    [
      'that a Linux group has, too, in a cluster that knows only access entries',
      sampleInput({
        cluster: sampleCluster({ authenticationMode: 'API' }),
        facts: { ...sampleFacts({ accessEntry: unasked(), linuxRoles: SHARED }) },
      }),
      [
        `NodeRoleShared: Node role ${ROLE} is also the role of Linux node group linux. Its access entry in cluster prod fits only one of the two operating systems. Create the pool with an IAM role of its own in nodeGroup.nodeRoleArn`,
        'NodeAccessWrong? it needs eks:DescribeAccessEntry',
      ],
    ],
    [
      'that a Linux group has, too, where aws-auth has the groups of both',
      sampleInput({
        facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([windows]), linuxRoles: SHARED }),
      }),
      [SHARED_WORKS],
    ],
    [
      'that a Linux group has, too, in a cluster that knows only aws-auth',
      sampleInput({
        cluster: sampleCluster({ authenticationMode: 'CONFIG_MAP' }),
        facts: { ...without('accessEntry'), roleMappings: known([windows]), linuxRoles: SHARED },
      }),
      [SHARED_WORKS],
    ],
    [
      'that a Linux group has, too, and nobody may say whether it has an access entry',
      sampleInput({ facts: sampleFacts({ accessEntry: unasked(), linuxRoles: SHARED }) }),
      [SHARED_WORKS, 'NodeAccessWrong? it needs eks:DescribeAccessEntry'],
    ],
  ],
  'instance types': [
    [
      'that do not exist, are of another architecture, and have no addresses',
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
        'InstanceTypeUnsupported: EC2 knows no instance type m5.small in eu-west-1, instance type m6g.large is arm64 and Windows nodes are x86_64 and instance type one.address has 1 address a network interface and none of them for pods. Name other types in nodeGroup.instanceTypes',
      ],
    ],
    [
      'that are offered in none of the zones',
      sampleInput({ facts: sampleFacts({ offerings: known([{ instanceType: 'm5.large', zone: 'eu-west-1c' }]) }) }),
      [
        "InstanceTypeNotOffered: EC2 offers m5.large in none of the zones of the pool's subnets (eu-west-1a and eu-west-1b). Use subnets in other zones of eu-west-1, or other instance types",
      ],
    ],
    [
      'that are not offered in one of the zones',
      sampleInput({ facts: sampleFacts({ offerings: known([{ instanceType: 'm5.large', zone: 'eu-west-1a' }]) }) }),
      [
        "InstanceTypeNotOffered: EC2 offers none of the pool's instance types (m5.large) in eu-west-1b, where subnet-0b000000 is. Leave out what lies there, or add a type that is offered there",
      ],
    ],
    [
      'of which each zone has another',
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
  'the subnets': [
    [
      'of which one does not exist',
      sampleInput({
        facts: sampleFacts({ subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 251 }]) }),
      }),
      ['SubnetNotFound: EC2 knows no subnet subnet-0b000000 in eu-west-1. Put nodeGroup.subnets right'],
    ],
    [
      'with too few addresses for five nodes of four addresses each',
      sampleInput({
        facts: sampleFacts({
          subnets: known([
            { id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 18 },
            { id: 'subnet-0b000000', zone: 'eu-west-1b', freeAddresses: 1 },
          ]),
        }),
      }),
      [
        'TooFewAddresses (warning): Subnets subnet-0a000000 and subnet-0b000000 together have too few free addresses for the pool to grow to scaling.max: 5 more nodes take at least 20 (50 when they are full of pods). Each pod takes one secondary IP address (prefix delegation is off). Add a subnet, or lower scaling.max from 5',
      ],
    ],
    ...(
      [
        ['the least nodes', { min: 3, max: 5 }, '3 more nodes take at least 12 (30', 'scaling.min from 3'],
        [
          'the desired nodes',
          { min: 0, max: 5, desired: 4 },
          '4 more nodes take at least 16 (40',
          'scaling.desired from 4',
        ],
      ] as const
    ).map(
      ([what, scaling, take, lower]) =>
        [
          `with too few addresses for ${what}`,
          sampleInput({
            spec: samplePool({ scaling }).spec,
            facts: sampleFacts({
              subnets: known([
                { id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 10 },
                { id: 'subnet-0b000000', zone: 'eu-west-1b', freeAddresses: 1 },
              ]),
            }),
          }),
          [
            `TooFewAddresses: Subnets subnet-0a000000 and subnet-0b000000 together have 11 free addresses: ${take} when they are full of pods). Each pod takes one secondary IP address (prefix delegation is off). Add a subnet, or lower ${lower}`,
          ],
        ] as const,
    ),
    [
      'without an address for a pool that begins with no node',
      sampleInput({
        spec: samplePool({ nodeGroup: { subnets: [{ id: 'subnet-0a000000' }] }, scaling: { min: 0, max: 1 } }).spec,
        facts: sampleFacts({ subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 0 }]) }),
      }),
      [
        'TooFewAddresses (warning): Subnet subnet-0a000000 has too few free addresses for the pool to grow to scaling.max: 1 more node takes at least 4 (10 when they are full of pods). Each pod takes one secondary IP address (prefix delegation is off). Add a subnet, or lower scaling.max from 1',
      ],
    ],
    [
      'with enough, because some nodes are there',
      sampleInput({
        instances: 1,
        facts: sampleFacts({
          subnets: known([
            { id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 16 },
            { id: 'subnet-0b000000', zone: 'eu-west-1b', freeAddresses: 0 },
          ]),
        }),
      }),
      [],
    ],
    [
      'with one address, and prefixes of 16 for pods',
      sampleInput({
        spec: samplePool({ nodeGroup: { subnets: [{ id: 'subnet-0a000000' }] } }).spec,
        facts: sampleFacts({
          cniConfig: known({ 'enable-windows-ipam': 'true', 'enable-windows-prefix-delegation': 'true' }),
          instanceTypes: unasked(),
          subnets: known([{ id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 1 }]),
        }),
      }),
      [
        'TooFewAddresses: Subnet subnet-0a000000 has 1 free address: 3 more nodes take at least 51. Prefix delegation is on: a node takes contiguous /28 blocks of 16 addresses; a fragmented subnet may have none left. Add a subnet, or lower scaling.min from 3',
        'InstanceTypeUnsupported? it needs ec2:DescribeInstanceTypes',
      ],
    ],
  ],
  'the settings of addresses': [
    [
      'with prefixes that some instance types do not take, and a target that is ignored',
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
            { id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 18 },
            { id: 'subnet-0b000000', zone: 'eu-west-1b', freeAddresses: 1 },
          ]),
        }),
      }),
      [
        'TooFewAddresses (warning): Subnets subnet-0a000000 and subnet-0b000000 together have too few free addresses for the pool to grow to scaling.max: 5 more nodes take at least 20 (725 when they are full of pods). Prefix delegation is on: a node takes contiguous /28 blocks of 16 addresses, except on m4.large, which EC2 does not run on Nitro; a fragmented subnet may have none left. In ConfigMap kube-system/amazon-vpc-cni, warm-prefix-target is "two" and must be a whole number from 0; it is ignored. Add a subnet, or lower scaling.max from 5',
      ],
    ],
    [
      'that say true in another word',
      sampleInput({ facts: sampleFacts({ cniConfig: known({ 'enable-windows-ipam': 'True' }) }) }),
      [],
    ],
  ],
  'what could not be found out': [
    ['is not looked at where nobody asked', sampleInput({ facts: { complete: false } }), []],
    [
      'names what failed',
      sampleInput({ facts: sampleFacts({ legacyController: unasked('throttled') }) }),
      ['LegacyResourceController? DescribeAddon failed: the call was throttled'],
    ],
  ],
};

describe('the prerequisites', () => {
  for (const [title, rows] of Object.entries(tables)) {
    describe(title, () => {
      for (const [what, input, want] of rows) it(what, () => assert.deepEqual(unmet(input), want));
    });
  }

  describe('Kubernetes and Windows versions', () => {
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
    it('go together in the pairs of the table, and beyond it where EKS has an AMI', () => {
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

    it('are named with what to do', () => {
      assert.deepEqual(
        [...of('Windows2025', '1.34'), ...of('Windows2025', '1.37'), ...of('Windows2025', '2.1')],
        [
          'UnsupportedVersion: Kubernetes 1.34 does not go with Windows Server 2025, which EKS supports from 1.35. Upgrade the cluster, or create the pool with another windowsVersion',
          'UnsupportedVersion: EKS publishes no AMI of Windows Server 2025 Core for Kubernetes 1.37 in eu-west-1. Wait until it does, pin an older version in nodeGroup.kubernetesVersion, or create the pool with another windowsVersion',
          'UnsupportedVersion: Kubernetes 2.1 does not go with Windows Server 2025, which EKS supports from 1.35. Use a release of the operator that knows this version, or create the pool with another windowsVersion',
        ],
      );
    });

    it('are not known, and block nothing, where SSM denies the question or cannot be reached', () => {
      exists = { ok: false, error: sampleError('denied', { operation: 'ssm:GetParameter' }) };
      const denied = of('Windows2025', '1.37');
      exists = { ok: false, error: sampleError('unavailable', { operation: 'GetParameter' }) };
      assert.deepEqual(
        [...denied, ...of('Windows2025', '1.37')],
        [
          'UnsupportedVersion? it needs ssm:GetParameter',
          `UnsupportedVersion? GetParameter failed: ${sampleError('unavailable').message.replace(/\.$/, '')}`,
        ],
      );
    });

    it('are a warning where EKS publishes what the Kubernetes project no longer supports', () => {
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

    it('are met by what the control plane has, and by what is a little older', () => {
      for (const pins of [{ kubernetesVersion: '1.36' }, { releaseVersion: '1.35-2026.01.22' }])
        assert.deepEqual(of(pins), []);
    });

    it('tell which of the two is to be moved', () => {
      assert.deepEqual(
        [...of({ kubernetesVersion: '1.37' }), ...of({ releaseVersion: '1.34-2026.01.22' })],
        [
          'UnsupportedVersion: spec.nodeGroup pins Kubernetes 1.37, and EKS cluster prod has 1.36: nodes must not be newer than the control plane. Upgrade the cluster first, or pin 1.36 or older',
          'UnsupportedVersion: Kubernetes 1.34 does not go with Windows Server 2025, which EKS supports from 1.35. Pin a newer version in spec.nodeGroup, or create the pool with another windowsVersion',
        ],
      );
    });
  });

  it('fail never because something could not be found out', () => {
    fc.assert(
      fc.property(randomFacts, fc.boolean(), fc.nat({ max: 5 }), (random, managesAccessEntry, instances) => {
        const input = sampleInput({ facts: random, managesAccessEntry, instances });
        const { failed } = examine(input);
        // Where everything that could not be found out turns out well, what failed before fails still.
        const rest = Object.fromEntries(
          Object.entries(random).filter(([, fact]) => typeof fact === 'boolean' || fact.ok),
        );
        const lucky = examine({ ...input, facts: { ...rest, complete: random.complete } });
        const reasons = lucky.failed.map(({ check }) => check.reason);
        return failed.every(({ check }) => reasons.includes(check.reason) || check.reason === 'TooFewAddresses');
      }),
    );
  });

  it('hold nothing back that the user asked to ignore, and are still shown', () => {
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

  it('name a right for everything that may be denied', () => {
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

  it('have one reason and one section in the docs each, which names the reason', () => {
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

describe('the access entry that the operator makes', () => {
  const rows: readonly (readonly [string, Partial<CheckInput>, string | undefined])[] = [
    ['is that of the node role', { facts: sampleFacts({ accessEntry: known(undefined) }) }, ROLE],
    ['is not made twice', { facts: sampleFacts() }, undefined],
    [
      'is not made without the wish',
      { managesAccessEntry: false, facts: sampleFacts({ accessEntry: known(undefined) }) },
      undefined,
    ],
    ['is not made blindly', { facts: sampleFacts({ accessEntry: unasked() }) }, undefined],
    [
      'is not made where aws-auth is enough',
      { facts: sampleFacts({ accessEntry: known(undefined), roleMappings: known([windows]) }) },
      undefined,
    ],
  ];
  for (const [what, change, want] of rows) {
    it(what, () => assert.equal(missingAccessEntry(sampleInput({ managesAccessEntry: true, ...change })), want));
  }
});
