/** The actions for the comparison of the fronts. */
import fc from 'fast-check';
import type { Faults } from '../faults.ts';
import { nodeRoleArn } from '../network.ts';
import type { LocalAwsState } from '../state.ts';
import { sampleGroup } from '../testing/fixtures.ts';
import type { OperationName } from './operations.ts';

/** A step of a test: a call, time that passes, or a fault. */
export type Action =
  | { readonly kind: 'call'; readonly operation: OperationName; readonly input: object }
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'fault'; readonly arm: (faults: Faults) => void; readonly name: string };

const name = fc.constantFrom('web', 'db');
const token = fc.constantFrom('token-1', 'token-2', 'token-3');
const label = fc.constantFrom('a', 'b', 'kubernetes.io/x', 'eks.amazonaws.com/x');
const taint = fc.record(
  {
    key: fc.constantFrom('os', 'x'),
    value: fc.constantFrom('', 'windows'),
    effect: fc.constantFrom('NO_SCHEDULE', 'NO_EXECUTE', 'NoSchedule'),
  },
  { requiredKeys: ['key', 'effect'] },
);
const size = fc.integer({ min: -1, max: 6 });
const sizes = fc.record({ minSize: size, desiredSize: size, maxSize: size }, { requiredKeys: [] });
const labels = fc.dictionary(label, fc.constantFrom('1', '2', ''));
const call = (operation: OperationName, input: fc.Arbitrary<object>): fc.Arbitrary<Action> =>
  input.map((value) => ({ kind: 'call', operation, input: value }));
const ofGroup = (rest: Record<string, fc.Arbitrary<unknown>>, requiredKeys: string[] = []) =>
  fc
    .tuple(name, fc.record(rest, { requiredKeys }))
    .map(([nodegroupName, more]) => ({ clusterName: 'demo', nodegroupName, ...more }));

// Placeholders for the objects that exist at the time of a call.
const someGroup = 'GROUP';
const someInstance = 'INSTANCE';

/** An input with its placeholders replaced. */
export function filledIn(input: object, { groups, instances }: LocalAwsState): object {
  const group = groups.get('web')?.autoScalingGroup ?? 'none';
  const instance = [...instances.keys()].at(-1) ?? 'i-1';
  return JSON.parse(JSON.stringify(input).replaceAll(someGroup, group).replaceAll(someInstance, instance));
}

const parameter = (year: string) =>
  `/aws/service/ami-windows-latest/Windows_Server-${year}-English-Core-EKS_Optimized-1.36/image_id`;

const create = fc
  .tuple(
    name,
    token,
    fc.record(
      {
        scalingConfig: sizes,
        labels,
        taints: fc.array(taint, { maxLength: 2 }),
        diskSize: size,
        tags: fc.constant({}),
        releaseVersion: fc.constant('1.36-2026.03.17'),
        launchTemplate: fc.constant({ name: 'mine', version: '$Latest' }),
        updateConfig: fc.constant({ maxUnavailable: 2, updateStrategy: 'MINIMAL' as const }),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([nodegroupName, clientRequestToken, changes]) => ({
    ...sampleGroup({ nodegroupName, clientRequestToken }),
    ...changes,
  }));

/** All kinds of steps. */
export const actions: fc.Arbitrary<Action>[] = [
  call('CreateNodegroup', create),
  call(
    'CreateNodegroup',
    ofGroup({}).map((group) => sampleGroup(group)),
  ),
  call('DescribeNodegroup', ofGroup({})),
  call('DeleteNodegroup', ofGroup({})),
  call('UpdateNodegroupConfig', ofGroup({ clientRequestToken: token, scalingConfig: sizes }, ['clientRequestToken'])),
  call(
    'UpdateNodegroupConfig',
    ofGroup({ labels: fc.record({ addOrUpdateLabels: labels, removeLabels: fc.array(label) }, { requiredKeys: [] }) }),
  ),
  call(
    'UpdateNodegroupConfig',
    ofGroup({
      taints: fc.record({ addOrUpdateTaints: fc.array(taint), removeTaints: fc.array(taint) }, { requiredKeys: [] }),
    }),
  ),
  call(
    'UpdateNodegroupVersion',
    ofGroup({
      version: fc.constantFrom('1.35', '1.36', '1.38'),
      releaseVersion: fc.constantFrom('1.36-2026.03.17', '1.36-2026.04.18'),
      force: fc.boolean(),
      clientRequestToken: token,
    }),
  ),
  call('DescribeImages', fc.record({ MaxResults: fc.constantFrom(4, 5) }, { requiredKeys: [] })),
  call(
    'DescribeLaunchTemplateVersions',
    fc.record(
      { LaunchTemplateName: fc.constantFrom('mine', 'none'), Versions: fc.subarray(['$Latest', '$Default', '1', '9']) },
      { requiredKeys: ['LaunchTemplateName'] },
    ),
  ),
  call(
    'DescribeLaunchTemplates',
    fc.record({ LaunchTemplateNames: fc.subarray(['mine', 'none']) }, { requiredKeys: [] }),
  ),
  call('DescribeAutoScalingGroups', fc.record({ MaxRecords: fc.constantFrom(0, 1, 9) }, { requiredKeys: [] })),
  call(
    'SetDesiredCapacity',
    size.map((DesiredCapacity) => ({ AutoScalingGroupName: someGroup, DesiredCapacity })),
  ),
  call(
    'CreateOrUpdateTags',
    fc
      .constantFrom('a', 'aws:b')
      .map((Key) => ({ Tags: [{ ResourceId: someGroup, Key, Value: 'ü&<', PropagateAtLaunch: true }] })),
  ),
  call('DeleteTags', fc.constant({ Tags: [{ ResourceId: someGroup, ResourceType: 'auto-scaling-group', Key: 'a' }] })),
  call(
    'TerminateInstanceInAutoScalingGroup',
    fc.boolean().map((shrink) => ({ InstanceId: someInstance, ShouldDecrementDesiredCapacity: shrink })),
  ),
  call('GetParameter', fc.record({ Name: fc.constantFrom(parameter('2022'), parameter('2016')) })),
  call(
    'ListNodegroups',
    fc.record(
      { clusterName: fc.constantFrom('demo', 'other'), maxResults: fc.integer({ min: 0, max: 2 }) },
      { requiredKeys: ['clusterName'] },
    ),
  ),
  call(
    'DescribeUpdate',
    name.map((nodegroupName) => ({ name: 'demo', nodegroupName, updateId: 'none' })),
  ),
  call('DescribeCluster', fc.constant({ name: 'demo' })),
  call(
    'DescribeInstances',
    fc.record(
      { MaxResults: fc.constantFrom(4, 5), Filters: fc.constant([{ Name: 'tag:eks:nodegroup-name', Values: ['w*'] }]) },
      { requiredKeys: [] },
    ),
  ),
  call(
    'DescribeInstanceTypes',
    fc.record({ InstanceTypes: fc.subarray(['m5.large', 't3.large']) }, { requiredKeys: [] }),
  ),
  call('DescribeSubnets', fc.constant({})),
  call('DescribeSecurityGroups', fc.record({ MaxResults: fc.constantFrom(4, 5) }, { requiredKeys: [] })),
  call('GetEbsEncryptionByDefault', fc.constant({})),
  call(
    'DescribeInstanceTypeOfferings',
    fc.record(
      {
        LocationType: fc.constantFrom('availability-zone', 'region', 'outpost'),
        Filters: fc.constant([{ Name: 'instance-type', Values: ['m5.*', 't4g.medium'] }]),
        MaxResults: fc.constantFrom(4, 5),
      },
      { requiredKeys: [] },
    ),
  ),
  call('DescribeAddon', fc.constant({ clusterName: 'demo', addonName: 'vpc-cni' })),
  call('DescribeAccessEntry', fc.constant({ clusterName: 'demo', principalArn: nodeRoleArn })),
  call(
    'CreateAccessEntry',
    fc.record(
      {
        clusterName: fc.constant('demo'),
        principalArn: fc.constantFrom(nodeRoleArn, 'arn:aws:iam::111122223333:role/none'),
        type: fc.constantFrom('EC2_WINDOWS', 'EC2_LINUX'),
        clientRequestToken: token,
      },
      { requiredKeys: ['clusterName', 'principalArn', 'clientRequestToken'] },
    ),
  ),
  call(
    'TagResource',
    fc.constant({ resourceArn: 'arn:aws:eks:us-west-2:111122223333:nodegroup/demo/web/none', tags: { a: 'ü/ %' } }),
  ),
  fc.integer({ min: 0, max: 40 }).map((tenths) => ({ kind: 'wait', seconds: tenths / 10 })),
  fc.integer({ min: 0, max: 40 }).map((tenths) => ({ kind: 'wait', seconds: tenths / 10 })),
  fc.constant({ kind: 'fault', name: 'throttle', arm: (faults) => faults.calls.throttle() }),
  fc.constant({ kind: 'fault', name: 'html', arm: (faults) => faults.calls.html() }),
  fc.constant({
    kind: 'fault',
    name: 'createFailure',
    arm: (faults) => faults.createFailure({ issues: [{ code: 'Unknown', message: 'm' }] }),
  }),
  fc.constant({
    kind: 'fault',
    name: 'updateFailure',
    arm: (faults) => faults.updateFailure({ errors: [], degraded: true }),
  }),
  fc.constant({
    kind: 'fault',
    name: 'addon',
    arm: (faults) => faults.addon({ name: 'vpc-cni', configurationValues: '{"enableWindowsIpam":"true"}' }),
  }),
  fc.constant({ kind: 'fault', name: 'no entry', arm: (faults) => faults.accessEntry({ exists: false }) }),
  fc.constant({
    kind: 'fault',
    name: 'offering',
    arm: (faults) => faults.offering({ instanceType: 'm5.large', zones: [] }),
  }),
  fc.constant({
    kind: 'fault',
    name: 'release',
    arm: (faults) => faults.release({ date: '2026.03.17', public: false }),
  }),
  fc.constant({
    kind: 'fault',
    name: 'launchTemplate',
    arm: (faults) => faults.launchTemplate({ name: 'mine', data: { EbsOptimized: true } }),
  }),
  fc.constant({ kind: 'fault', name: 'blockDrain', arm: (faults) => faults.blockDrain() }),
  fc
    .constantFrom(
      'eks:UpdateNodegroupVersion',
      'ssm:GetParameter',
      'autoscaling:SetDesiredCapacity',
      'ec2:DescribeInstances',
    )
    .map((action) => ({
      kind: 'fault',
      name: `no ${action}`,
      arm: (faults) => faults.removeAction({ action }),
    })),
  fc.constant({
    kind: 'fault',
    name: 'cluster',
    arm: (faults) => faults.cluster({ ipFamily: 'ipv6', authenticationMode: 'CONFIG_MAP', autoMode: true }),
  }),
  fc.constant({ kind: 'fault', name: 'neverJoins', arm: (faults) => faults.nextNode({ neverJoins: true }) }),
];
