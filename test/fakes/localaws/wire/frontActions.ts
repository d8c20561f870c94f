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

const GROUP_ARN = 'arn:aws:eks:us-west-2:111122223333:nodegroup/demo/web/none';

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

const fault = (name: string, arm: (faults: Faults) => void): fc.Arbitrary<Action> =>
  fc.constant({ kind: 'fault', name, arm });
const optional = (fields: Record<string, fc.Arbitrary<unknown>>) => fc.record(fields, { requiredKeys: [] });
const pageSize = optional({ MaxResults: fc.constantFrom(4, 5) });
const wait = fc.integer({ min: 0, max: 40 }).map((tenths): Action => ({ kind: 'wait', seconds: tenths / 10 }));

/** All kinds of steps: each operation, and the faults that give responses another shape. */
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
    ofGroup({
      labels: optional({ addOrUpdateLabels: labels, removeLabels: fc.array(label) }),
      taints: optional({ addOrUpdateTaints: fc.array(taint), removeTaints: fc.array(taint) }),
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
  call('ListNodegroups', fc.constant({ clusterName: 'demo', maxResults: 1 })),
  call('DescribeUpdate', fc.constant({ name: 'demo', nodegroupName: 'web', updateId: 'none' })),
  call('DescribeCluster', fc.constant({ name: 'demo' })),
  call('DescribeAddon', fc.constant({ clusterName: 'demo', addonName: 'vpc-cni' })),
  call('DescribeAccessEntry', fc.constant({ clusterName: 'demo', principalArn: nodeRoleArn })),
  call(
    'CreateAccessEntry',
    fc
      .constantFrom('EC2_WINDOWS', 'EC2_LINUX')
      .map((type) => ({ clusterName: 'demo', principalArn: nodeRoleArn, type, clientRequestToken: 'token-1' })),
  ),
  call('TagResource', fc.constant({ resourceArn: GROUP_ARN, tags: { a: 'ü/ %' } })),
  call('UntagResource', fc.constant({ resourceArn: GROUP_ARN, tagKeys: ['a'] })),
  call('DescribeImages', pageSize),
  call('DescribeInstances', fc.constant({ Filters: [{ Name: 'tag:eks:nodegroup-name', Values: ['w*'] }] })),
  call('DescribeInstanceTypes', optional({ InstanceTypes: fc.subarray(['m5.large', 't3.large']) })),
  call('DescribeInstanceTypeOfferings', fc.constant({ LocationType: 'availability-zone', MaxResults: 5 })),
  call('DescribeSubnets', fc.constant({})),
  call('DescribeSecurityGroups', pageSize),
  call('GetEbsEncryptionByDefault', fc.constant({})),
  call('DescribeLaunchTemplates', optional({ LaunchTemplateNames: fc.subarray(['mine', 'none']) })),
  call(
    'DescribeLaunchTemplateVersions',
    fc
      .subarray(['$Latest', '$Default', '1', '9'])
      .map((Versions) => ({ LaunchTemplateName: 'mine', ...(Versions.length > 0 && { Versions }) })),
  ),
  call('DescribeAutoScalingGroups', optional({ MaxRecords: fc.constantFrom(0, 1, 9) })),
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
  call(
    'GetParameter',
    fc.constantFrom('2022', '2016').map((year) => ({ Name: parameter(year) })),
  ),
  wait,
  wait,
  fault('throttle', ({ calls }) => calls.throttle()),
  fault('html', ({ calls }) => calls.html()),
  fault('createFailure', (faults) => faults.createFailure({ issues: [{ code: 'Unknown', message: 'm' }] })),
  fault('addon', (faults) => faults.addon({ name: 'vpc-cni', configurationValues: '{"enableWindowsIpam":"true"}' })),
  fault('no entry', (faults) => faults.accessEntry({ exists: false })),
  fault('launchTemplate', (faults) => faults.launchTemplate({ name: 'mine', data: { EbsOptimized: true } })),
  ...['eks:UpdateNodegroupVersion', 'ssm:GetParameter', 'autoscaling:SetDesiredCapacity', 'ec2:DescribeInstances'].map(
    (action) => fault(`no ${action}`, (faults) => faults.removeAction({ action })),
  ),
];
