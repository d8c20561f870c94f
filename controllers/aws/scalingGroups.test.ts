import assert from 'node:assert/strict';
import { createScalingGroups, membersOf } from './scalingGroups.ts';
import { callsOf } from './testing/callsOf.ts';

const { signal } = new AbortController();

/** The adapter over an Auto Scaling that returns these in order. */
function over(...answers: readonly unknown[]) {
  const calls: [string, unknown][] = [];
  const call = async (operation: string, input: unknown) => {
    calls.push([operation, input]);
    const answer = answers[calls.length - 1] ?? {};
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return {
    calls,
    groups: createScalingGroups('prod', callsOf(call)),
    members: membersOf(callsOf(call)),
  };
}

describe('the scaling groups of a cluster', () => {
  it('are listed by the tag of EKS, page by page, with their tags, instances, launch templates and the size of their warm pools', async () => {
    const { calls, groups } = over(
      {
        AutoScalingGroups: [
          {
            AutoScalingGroupName: 'eks-a',
            Tags: [{ Key: 'k', Value: 'v' }],
            MixedInstancesPolicy: {
              LaunchTemplate: { LaunchTemplateSpecification: { LaunchTemplateId: 'lt-1', Version: '2' } },
            },
            Instances: [
              {
                InstanceId: 'i-1',
                LifecycleState: 'InService',
                LaunchTemplate: { LaunchTemplateId: 'lt-1', Version: '1' },
              },
              { InstanceId: 'i-2', LifecycleState: 'Warmed:Stopped' },
            ],
            WarmPoolSize: 4,
          },
        ],
        NextToken: 'more',
      },
      {
        AutoScalingGroups: [
          { AutoScalingGroupName: 'eks-b', LaunchTemplate: { LaunchTemplateId: 'lt-2', Version: '7' } },
        ],
      },
    );
    const value = {
      'eks-a': { tags: { k: 'v' }, instances: ['i-1'], templateVersions: ['lt-1 1', 'lt-1 2'], warmInstances: 4 },
      'eks-b': { tags: {}, instances: [], templateVersions: ['lt-2 7'], warmInstances: 0 },
    };
    assert.deepEqual(await groups.list(signal), { ok: true, value });
    const input = {
      Filters: [{ Name: 'tag:eks:cluster-name', Values: ['prod'] }],
      IncludeInstances: true,
      MaxRecords: 100,
    };
    assert.deepEqual(calls, [
      ['DescribeAutoScalingGroups', input],
      ['DescribeAutoScalingGroups', { ...input, NextToken: 'more' }],
    ]);
  });

  it('are an error if there are more than 20 pages, not a shorter list', async () => {
    const more = { AutoScalingGroups: [{ AutoScalingGroupName: 'eks-a' }], NextToken: 'more' };
    const { calls, groups } = over(...Array.from({ length: 30 }, () => more));
    const result = await groups.list(signal);
    assert.deepEqual(result.ok || [result.error.operation, result.error.code], [
      'DescribeAutoScalingGroups',
      'TooManyPages',
    ]);
    assert.equal(calls.length, 20);
  });

  it('have the lifecycle state of an instance', async () => {
    const Instances = [{ InstanceId: 'i-1', LifecycleState: 'Terminating:Wait' }, { InstanceId: 'i-2' }];
    const { calls, groups } = over({ AutoScalingGroups: [{ AutoScalingGroupName: 'eks-a', Instances }] });
    assert.deepEqual(await groups.lifecycleOf('eks-a', 'i-1', signal), { ok: true, value: 'Terminating:Wait' });
    assert.deepEqual(calls, [
      ['DescribeAutoScalingGroups', { AutoScalingGroupNames: ['eks-a'], IncludeInstances: true }],
    ]);
    assert.deepEqual(await over({}).groups.lifecycleOf('eks-a', 'i-1', signal), { ok: true, value: undefined });
  });

  it('count instances that are in service, pending or terminating, but none of a warm pool', async () => {
    const states = ['InService', 'Pending', 'Pending:Wait', 'Terminating:Wait', 'Standby'];
    const others = [
      'Warmed:Running',
      'Warmed:Stopped',
      'Warmed:Pending:Wait',
      'Warmed:Terminating',
      'Detached',
      'Terminated',
    ];
    const Instances = [...states, ...others, undefined].map((LifecycleState, i) => ({
      InstanceId: `i-${i}`,
      LifecycleState,
    }));
    const { calls, members } = over({ AutoScalingGroups: [{ AutoScalingGroupName: 'eks-a', Instances }] });
    assert.deepEqual(await members('eks-a', signal), { ok: true, value: states.map((_, i) => `i-${i}`) });
    assert.deepEqual(calls, [
      ['DescribeAutoScalingGroups', { AutoScalingGroupNames: ['eks-a'], IncludeInstances: true }],
    ]);
    assert.deepEqual(await over({}).members('eks-a', signal), { ok: true, value: [] });
  });

  it('terminate an instance, and shrink the group or not', async () => {
    const { calls, groups } = over();
    await groups.terminateInstance('i-1', false, signal);
    await groups.terminateInstance('i-2', true, signal);
    assert.deepEqual(calls, [
      ['TerminateInstanceInAutoScalingGroup', { InstanceId: 'i-1', ShouldDecrementDesiredCapacity: false }],
      ['TerminateInstanceInAutoScalingGroup', { InstanceId: 'i-2', ShouldDecrementDesiredCapacity: true }],
    ]);
  });

  it('are an error if a call fails', async () => {
    const failure = Object.assign(new Error('no'), { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } });
    const answers = [
      await over(failure).groups.list(signal),
      await over(failure).groups.lifecycleOf('eks-a', 'i-1', signal),
      await over(failure).members('eks-a', signal),
      await over(failure).groups.terminateInstance('i-1', false, signal),
    ];
    assert.deepEqual(
      answers.map((answer) => !answer.ok && answer.error.kind),
      answers.map(() => 'denied'),
    );
  });
});
