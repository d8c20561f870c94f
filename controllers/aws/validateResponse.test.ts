/** The adapters of AWS with any answer: each returns a value that the domain can use, or an error. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { realClock } from '../runtime/clock.ts';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import { anyJson, spoilt } from '../windowspool/testing/anyJson.ts';
import { newNodeGroup, samplePool } from '../windowspool/testing/fixtures.ts';
import * as autoScalingClient from './autoScalingClient.ts';
import * as ec2Client from './ec2Client.ts';
import * as eksClient from './eksClient.ts';
import { toCallError } from './errors.ts';
import * as iamClient from './iamClient.ts';
import { createAwsPorts } from './ports.ts';
import { AwsRateLimiter } from './rateLimiter.ts';
import * as ssmClient from './ssmClient.ts';
import { checkedAnswer } from './validateResponse.ts';

const ANSWERS = 200;

const { signal } = new AbortController();
const at = new Date('2026-03-01T12:00:00Z');
const tags = [{ Key: 'aws:autoscaling:groupName', Value: 'eks-web' }];
const nodegroup = {
  nodegroupName: 'web',
  nodegroupArn: 'arn:aws:eks:eu-west-1:111122223333:nodegroup/prod/web/0a1b',
  status: 'ACTIVE',
  amiType: 'WINDOWS_CORE_2022_x86_64',
  capacityType: 'SPOT',
  instanceTypes: ['m5.large'],
  subnets: ['subnet-0a000000'],
  nodeRole: 'arn:aws:iam::111122223333:role/windows-nodes',
  diskSize: 50,
  launchTemplate: { id: 'lt-1', name: 'windows', version: '2' },
  version: '1.36',
  releaseVersion: '1.36-2026.02.11',
  scalingConfig: { minSize: 3, maxSize: 5, desiredSize: 3 },
  updateConfig: { maxUnavailable: 1, maxUnavailablePercentage: 33, updateStrategy: 'MINIMAL' },
  labels: { team: 'web' },
  taints: [{ key: 'os', value: 'windows', effect: 'NO_SCHEDULE' }],
  tags: { 'winpool.dev/pool': 'web' },
  health: { issues: [{ code: 'Unknown', message: 'It broke.', resourceIds: ['i-1'] }] },
  resources: { autoScalingGroups: [{ name: 'eks-web-0a1b' }] },
  createdAt: at,
  modifiedAt: at,
};
const errors = [{ errorCode: 'NodeCreationFailure', errorMessage: 'It broke.', resourceIds: ['i-1'] }];
const update = { id: 'u-1', type: 'ConfigUpdate', status: 'Failed', createdAt: at, errors };
const cluster = {
  name: 'prod',
  arn: 'arn:aws:eks:eu-west-1:111122223333:cluster/prod',
  status: 'ACTIVE',
  version: '1.36',
  resourcesVpcConfig: { vpcId: 'vpc-1', clusterSecurityGroupId: 'sg-1' },
  kubernetesNetworkConfig: { ipFamily: 'ipv4' },
  accessConfig: { authenticationMode: 'API' },
  computeConfig: { enabled: false },
  certificateAuthority: { data: 'YQ==' },
};
const addon = {
  status: 'ACTIVE',
  configurationValues: '{"enableWindowsIpam":"true"}',
  health: { issues: [{ code: 'Unknown', message: 'It broke.' }] },
  modifiedAt: at,
};
const data = {
  InstanceType: 'm5.large',
  IamInstanceProfile: { Name: 'x' },
  InstanceMarketOptions: { MarketType: 'spot' },
  NetworkInterfaces: [{ SubnetId: 'subnet-1' }],
  HibernationOptions: { Configured: true },
  ImageId: 'ami-1',
  BlockDeviceMappings: [
    {
      DeviceName: '/dev/sda1',
      Ebs: { VolumeSize: 100, VolumeType: 'gp3', Encrypted: true, Iops: 3_000, Throughput: 125, KmsKeyId: 'alias/a' },
    },
  ],
  MetadataOptions: { HttpTokens: 'required', HttpPutResponseHopLimit: 1 },
  SecurityGroupIds: ['sg-1'],
  TagSpecifications: [{ ResourceType: 'instance', Tags: [{ Key: 'team', Value: 'web' }] }],
};
const launchSettings = {
  disk: { sizeGiB: 100, type: 'gp3', encrypted: true },
  httpTokens: 'Required',
  httpPutResponseHopLimit: 1,
  securityGroups: ['sg-1'],
  instanceTags: { team: 'web' },
} as const;
const ownTemplate = {
  LaunchTemplateId: 'lt-1',
  LaunchTemplateName: 'winpool/prod/web',
  DefaultVersionNumber: 1,
  Tags: [{ Key: 'winpool.dev/pool', Value: 'web' }],
};
const template = {
  LaunchTemplateId: 'lt-1',
  LaunchTemplateName: 'windows',
  VersionNumber: 2,
  VersionDescription: 'a hash',
  LaunchTemplateData: data,
};
const scalingGroup = {
  AutoScalingGroupName: 'eks-web',
  Tags: tags,
  Instances: [{ InstanceId: 'i-1', LifecycleState: 'InService' }],
};

/** A healthy answer of each operation. */
const healthy: Readonly<Record<string, object>> = {
  DescribeNodegroup: { nodegroup },
  CreateNodegroup: { nodegroup },
  UpdateNodegroupConfig: { update },
  UpdateNodegroupVersion: { update },
  DescribeUpdate: { update },
  DeleteNodegroup: { nodegroup },
  ListNodegroups: { nodegroups: ['web'], nextToken: null },
  DescribeCluster: { cluster },
  DescribeAddon: { addon },
  UpdateAddon: { update },
  DescribeAccessEntry: { accessEntry: { type: 'EC2_WINDOWS' } },
  DescribeInstanceTypes: {
    InstanceTypes: [
      {
        InstanceType: 'm5.large',
        ProcessorInfo: { SupportedArchitectures: ['x86_64'] },
        NetworkInfo: { Ipv4AddressesPerInterface: 10 },
        Hypervisor: 'nitro',
      },
    ],
  },
  DescribeInstanceTypeOfferings: { InstanceTypeOfferings: [{ InstanceType: 'm5.large', Location: 'eu-west-1a' }] },
  DescribeSubnets: {
    Subnets: [{ SubnetId: 'subnet-1', AvailabilityZone: 'eu-west-1a', AvailableIpAddressCount: 9, Tags: tags }],
    NextToken: null,
  },
  DescribeInstances: {
    Reservations: [
      {
        Instances: [
          { InstanceId: 'i-1', PrivateDnsName: 'ip-1', LaunchTime: at, State: { Name: 'running' }, Tags: tags },
        ],
      },
    ],
    NextToken: null,
  },
  DescribeLaunchTemplateVersions: { LaunchTemplateVersions: [template] },
  DescribeLaunchTemplates: { LaunchTemplates: [ownTemplate] },
  CreateLaunchTemplate: { LaunchTemplate: ownTemplate },
  CreateLaunchTemplateVersion: { LaunchTemplateVersion: template },
  DeleteLaunchTemplateVersions: {
    UnsuccessfullyDeletedLaunchTemplateVersions: [
      { VersionNumber: 2, ResponseError: { Code: 'launchTemplateVersionDoesNotExist', Message: 'It does not exist.' } },
    ],
  },
  DeleteLaunchTemplate: { LaunchTemplate: ownTemplate },
  DescribeSecurityGroups: {
    SecurityGroups: [{ GroupId: 'sg-1', VpcId: 'vpc-1', Tags: [{ Key: 'a', Value: 'b' }] }],
    NextToken: null,
  },
  DescribeImages: { Images: [{ Name: 'Windows_Server-2022-English-Core-EKS_Optimized-1.36-2026.02.11' }] },
  GetParameter: { Parameter: { Value: 'ami-1' } },
  ListAttachedRolePolicies: { AttachedPolicies: [{ PolicyName: 'x' }], IsTruncated: false, Marker: null },
  DescribeAutoScalingGroups: { AutoScalingGroups: [scalingGroup], NextToken: null },
  TerminateInstanceInAutoScalingGroup: { Activity: {} },
};

const commands: Readonly<Record<string, unknown>> = {
  ...eksClient,
  ...ec2Client,
  ...ssmClient,
  ...iamClient,
  ...autoScalingClient,
};

/** What a client returns for a response of the operation. */
function answerOf(operation: string, response: unknown): Readonly<Record<string, unknown>> {
  const Command = commands[`${operation}Command`] as new (input: object) => object;
  return checkedAnswer(new Command({}), response as Readonly<Record<string, unknown>>);
}

/** The adapters over an AWS that gives these answers. `onCall` gets the operations. */
function adapters(answers: Readonly<Record<string, unknown>>, onCall = (_operation: string) => {}) {
  const call = async (operation: string): Promise<never> => {
    onCall(operation);
    return answerOf(operation, answers[operation]) as never;
  };
  const endless = { perSecond: 1e9, burst: 1e9 };
  const rates = { eks: endless, ec2: endless, ssm: endless, iam: endless, autoscaling: endless };
  const limiter = new AwsRateLimiter(() => undefined, realClock, { rates });
  const clients = { eks: call, ec2: call, ssm: call, iam: call, autoScaling: call };
  return createAwsPorts('prod', clients, limiter, async () => '');
}

type Adapters = ReturnType<typeof adapters>;
const windows = { year: '2022', edition: 'Core' } as const;
const seen = { status: 'ACTIVE', windowsIpam: false, issues: [], modifiedAt: at.getTime() };
const change = { kubernetesVersion: '1.36', force: false };
const calls: Readonly<Record<string, (aws: Adapters) => Promise<CallResult<unknown>>>> = {
  'the description of a node group': ({ nodeGroups }) => nodeGroups.describe('web', signal),
  'a created node group': ({ nodeGroups }) => nodeGroups.create(newNodeGroup(samplePool()), 't', signal),
  'a changed configuration': ({ nodeGroups }) => nodeGroups.updateConfig('web', {}, 't', signal),
  'a changed version': ({ nodeGroups }) => nodeGroups.updateVersion('web', change, 't', signal),
  'an update': ({ nodeGroups }) => nodeGroups.describeUpdate('web', 'u-1', signal),
  'a deleted node group': ({ nodeGroups }) => nodeGroups.delete('web', signal),
  'a cluster': ({ clusters }) => clusters.describe(signal),
  'an add-on': ({ addons }) => addons.find('vpc-cni', signal),
  'a changed add-on': ({ addons }) => addons.configure('vpc-cni', { a: 'b' }, seen, 't', signal),
  'an access entry': ({ accessEntries }) => accessEntries.find('arn', signal),
  'instance types': ({ capacity }) => capacity.instanceTypes(['m5.large'], signal),
  offerings: ({ capacity }) => capacity.offerings(['m5.large'], signal),
  subnets: ({ capacity }) => capacity.subnets([{ id: 'subnet-1' }, { tags: { a: 'b' } }], 'vpc-1', signal),
  'security groups': ({ securityGroups }) =>
    securityGroups.selectedBy([{ id: 'sg-1' }, { tags: { a: 'b' } }], 'vpc-1', signal),
  "the operator's launch template": ({ ownTemplates }) => ownTemplates.find('winpool/prod/web', signal),
  'a created launch template': ({ ownTemplates }) =>
    ownTemplates.create({ name: 'winpool/prod/web', tags: {}, launchSettings, description: '' }, 't', signal),
  'a new version of a launch template': ({ ownTemplates }) =>
    ownTemplates.addVersion('lt-1', { launchSettings, description: '' }, 't', signal),
  'deleted versions of a launch template': ({ ownTemplates }) => ownTemplates.deleteVersions('lt-1', ['2'], signal),
  'a deleted launch template': ({ ownTemplates }) => ownTemplates.delete('lt-1', signal),
  'an instance': ({ instances }) => instances.find('i-1', signal),
  'the instances of a scaling group': ({ instances }) => instances.ofScalingGroup('eks-web', signal),
  'a launch template': ({ launchTemplates }) => launchTemplates.find({ id: 'lt-1', version: '2' }, signal),
  'the AMI in a parameter': ({ images }) => images.idIn('/golden', signal),
  'an AMI': ({ images }) => images.find('ami-1', signal),
  'the newest release': ({ releases }) => releases.newest(windows, '1.36', signal),
  'whether a release exists': ({ releases }) => releases.exists(windows, '1.36', signal),
  'the policies of a role': ({ roles }) => roles.policiesOf('windows-nodes', signal),
  'the tags of scaling groups': ({ scalingGroups }) => scalingGroups.list(signal),
  'the lifecycle of an instance': ({ scalingGroups }) => scalingGroups.lifecycleOf('eks-web', 'i-1', signal),
  'a terminated instance': ({ scalingGroups }) => scalingGroups.terminateInstance('i-1', false, signal),
};

/** What is compared with a spec, so that it is not cleaned. */
const COMPARED = ['tags', 'labels', 'userData'];
/** What is longer than a name, in characters. */
const LONG: Readonly<Record<string, number>> = { certificateAuthority: 16_384, userData: 24_000 };

/** Asserts that numbers are finite and texts are bounded and clean, except for those that are compared with a spec. */
function assertUsable(value: unknown, isClean = true, most = 2_048): void {
  if (typeof value === 'number') assert.ok(Number.isFinite(value));
  if (typeof value === 'string') {
    assert.ok(value.length <= most, `${value.length} characters`);
    if (isClean) assert.doesNotMatch(value, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\bundefined\b|\[object/u);
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value))
    assertUsable(inner, isClean && !COMPARED.includes(name), LONG[name] ?? most);
}

const long = 'x'.repeat(100_000);
const odd = fc.oneof(
  anyJson,
  fc.constantFrom(long, '\u001b[31m\u202e\n', Number.NaN, 1e300, new Date(Number.NaN), new Date(8.64e15)),
  fc.constantFrom([null], Array(5_000).fill({}), Array(5_000).fill('x'), Object.fromEntries([['__proto__', {}]])),
);

describe('an answer of AWS about', () => {
  for (const [what, read] of Object.entries(calls)) {
    it(`${what} is read if it is healthy`, async () => {
      const answer = await read(adapters(healthy));
      assert.ok(answer.ok, JSON.stringify(answer));
      assertUsable(answer, !what.startsWith('the tags'));
    });

    it(`${what} is a value or an error, whatever it is`, async () => {
      const answer = (name: string) =>
        fc.oneof({ weight: 9, arbitrary: spoilt(fc.constant(healthy[name] ?? {}), odd) }, odd);
      const called = new Set<string>();
      await read(adapters(healthy, (name) => called.add(name)));
      const answers = fc.record(Object.fromEntries([...called].map((name) => [name, answer(name)])));
      await fc.assert(
        fc.asyncProperty(answers, async (odds) =>
          assertUsable(await read(adapters({ ...healthy, ...odds })), !what.startsWith('the tags')),
        ),
        { numRuns: ANSWERS },
      );
    });
  }
});

describe('an answer', () => {
  const cases: readonly [what: string, operation: string, answer: unknown, problem: string][] = [
    [
      'a text for a list',
      'DescribeNodegroup',
      { nodegroup: { taints: 'os' } },
      'nodegroup.taints: a string instead of a list',
    ],
    ['a number for an object', 'DescribeNodegroup', { nodegroup: 5 }, 'nodegroup: a number instead of an object'],
    ['a list for an object', 'DescribeCluster', { cluster: [] }, 'cluster: a list instead of an object'],
    [
      'null for an item',
      'DescribeNodegroup',
      { nodegroup: { taints: [null] } },
      'nodegroup.taints: an item that is null',
    ],
    [
      'a number for a tag',
      'DescribeNodegroup',
      { nodegroup: { tags: { a: 5 } } },
      'nodegroup.tags: a number instead of a string',
    ],
    [
      'a name that is too long',
      'DescribeNodegroup',
      { nodegroup: { status: long } },
      'nodegroup.status: 100000 characters, more than 64',
    ],
    [
      'an instance ID that status could not record',
      'DescribeInstances',
      { Reservations: [{ Instances: [{ InstanceId: 'i'.repeat(65) }] }] },
      'Reservations[].Instances[].InstanceId: 65 characters, more than 64',
    ],
    [
      'an instance ID of a scaling group that status could not record',
      'DescribeAutoScalingGroups',
      { AutoScalingGroups: [{ Instances: [{ InstanceId: 'i'.repeat(65) }] }] },
      'AutoScalingGroups[].Instances[].InstanceId: 65 characters, more than 64',
    ],
    [
      'too many subnets',
      'DescribeNodegroup',
      { nodegroup: { subnets: Array(51).fill('x') } },
      'nodegroup.subnets: 51 items, more than 50',
    ],
    [
      'a time that is none',
      'DescribeUpdate',
      { update: { createdAt: new Date(Number.NaN) } },
      'update.createdAt: a time outside the years 0 to 9999',
    ],
    [
      'a parameter that SSM could not have',
      'GetParameter',
      { Parameter: { Value: long } },
      'Parameter.Value: 100000 characters, more than 8192',
    ],
    ['no object', 'DescribeUpdate', '<html>', 'a string instead of an object'],
  ];
  for (const [what, operation, answer, problem] of cases) {
    it(`with ${what} is an error that says so`, () => {
      assert.throws(
        () => answerOf(operation, answer),
        (thrown) => {
          const { message, ...error } = toCallError(operation, thrown);
          assert.deepEqual(error, { kind: 'unavailable', operation, code: 'MalformedResponse' });
          assert.ok(message.startsWith(`AWS responded with ${problem}. `), message);
          return true;
        },
      );
    });
  }

  it('can have null for what is absent, and more than the SDK knows', () => {
    const answer = { nodegroup: { status: 'ACTIVE', taints: null, later: 1 }, $metadata: { attempts: 2 } };
    assert.deepEqual(answerOf('DescribeNodegroup', answer), {
      nodegroup: { status: 'ACTIVE' },
      $metadata: { attempts: 2 },
    });
  });

  it('keeps the keys of tags, whatever they are', () => {
    const tagsOf = JSON.parse('{"__proto__": "a", "": "b", "constructor": "c"}');
    const { nodegroup } = answerOf('DescribeNodegroup', { nodegroup: { tags: tagsOf } });
    assert.deepEqual(Object.entries((nodegroup as { tags: object }).tags), Object.entries(tagsOf));
  });
});
