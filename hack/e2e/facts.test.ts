import assert from 'node:assert/strict';
import type { AutoScalingGroupNamesType } from '@aws-sdk/client-auto-scaling';
import type { DescribeImagesRequest, DescribeInstancesRequest } from '@aws-sdk/client-ec2';
import type { DescribeAccessEntryRequest } from '@aws-sdk/client-eks';
import type { GetParameterRequest } from '@aws-sdk/client-ssm';
import { nodeRoleArn } from '../../test/fakes/localaws/network.ts';
import { switchTable } from '../../test/fakes/localaws/switches.ts';
import { openPolicy, sampleCluster } from '../../test/fakes/localaws/testing/fixtures.ts';
import { memoryCloud } from '../../test/fakes/localaws/testing/testClock.ts';
import { active } from '../../test/fakes/localaws/testing/testGroup.ts';
import { accessOf, answerScalingGroup, releasesOf } from './facts.ts';
import { Answers } from './questions.ts';
import type { Run } from './run.ts';

const never = new AbortController().signal;

for (const warmInstances of switchTable.warmInstances)
  describe(`the answer about a warm pool whose instances are ${warmInstances} among the members`, () => {
    async function runWith(describeWarmPool: () => Promise<object>) {
      const { cloud, clock } = memoryCloud({ policy: openPolicy, switches: { warmInstances } });
      await active(cloud, clock);
      cloud.faults.warmPool({ group: 'web', size: 2 });
      const aws = {
        autoScaling: {
          describeAutoScalingGroups: (input: AutoScalingGroupNamesType) =>
            cloud.send('DescribeAutoScalingGroups', input),
          describeWarmPool,
        },
        ec2: { describeInstances: (input: DescribeInstancesRequest) => cloud.send('DescribeInstances', input) },
      };
      const answers = new Answers();
      const run = { aws, answers } as unknown as Run;
      const { nodegroup = {} } = await cloud.send('DescribeNodegroup', {
        clusterName: sampleCluster.name,
        nodegroupName: 'web',
      });
      return { run, nodegroup, cloud, answers };
    }

    it('has its instances and their tags', async () => {
      const { run, nodegroup, cloud, answers } = await runWith(async () => ({
        Instances: [...cloud.state.instances.values()]
          .filter(({ warm }) => warm)
          .map(({ id }) => ({ InstanceId: id, LifecycleState: 'Warmed:Running' })),
      }));
      await answerScalingGroup(run, nodegroup, never);
      assert.deepEqual(answers.all().warmPool.answer, {
        state: 'Running',
        size: 2,
        lifecycleStates: ['Warmed:Running', 'Warmed:Running'],
        listedAmongMembers: warmInstances === 'listed',
        instance: { keys: ['aws:autoscaling:groupName', 'eks:cluster-name', 'eks:nodegroup-name'], others: 0 },
      });
      assert.equal(answers.all().scalingGroupTags.state, 'answered');
    });

    it('is open if the instances cannot be read', async () => {
      const denied = Object.assign(new Error('words'), { name: 'AccessDenied', $fault: 'client', $metadata: {} });
      const { run, nodegroup, answers } = await runWith(() => Promise.reject(denied));
      await answerScalingGroup(run, nodegroup, never);
      const { state, why } = answers.all().warmPool;
      assert.deepEqual([state, why], ['unknown', 'DescribeWarmPool: AccessDenied: words']);
    });
  });

describe('the access of a role', () => {
  function accessWith(mapRoles: string) {
    const { cloud } = memoryCloud({ policy: openPolicy });
    cloud.faults.accessEntry({ exists: false });
    const describeAccessEntry = (input: DescribeAccessEntryRequest) => cloud.send('DescribeAccessEntry', input);
    const run = {
      aws: { eks: { describeAccessEntry } },
      kubectl: { get: async () => ({ data: { mapRoles } }) },
      settings: { clusterName: sampleCluster.name },
    };
    return accessOf(run as unknown as Run, nodeRoleArn.replace(':role/', ':role/path/'), never);
  }

  it('is found in aws-auth without the path of the role', async () => {
    const { entryType, awsAuthGroups } = await accessWith(`- rolearn: ${nodeRoleArn}\n  groups: [system:nodes]`);
    assert.deepEqual([entryType, awsAuthGroups], [undefined, ['system:nodes']]);
  });

  it('is absent in empty mappings', async () => {
    assert.equal((await accessWith('- \n- {}')).awsAuthGroups, undefined);
  });

  it('has the position of an error in aws-auth', async () => {
    assert.match(String((await accessWith('- [')).awsAuthGroups), /^malformed: /);
  });
});

describe('the answers about the images of EKS', () => {
  const expected = { exists: { release_version: '1.36-2026.04.18' }, missing: 'missing' };
  for (const releaseParameter of switchTable.releaseParameter)
    it(`have their owner and their age, and the release in SSM, if its parameter ${releaseParameter === 'exists' ? 'exists' : 'is missing'}`, async () => {
      const { cloud } = memoryCloud({ policy: openPolicy, switches: { releaseParameter } });
      const aws = {
        ec2: { describeImages: (input: DescribeImagesRequest) => cloud.send('DescribeImages', input) },
        ssm: { getParameter: (input: GetParameterRequest) => cloud.send('GetParameter', input) },
      };
      const answers = new Answers();
      const run = { aws, answers, settings: { windowsVersion: 'Windows2022' } };
      assert.equal((await releasesOf(run as unknown as Run, '1.36', never)).newest, '1.36-2026.04.18');
      assert.deepEqual(answers.all().releaseParameter.answer, expected[releaseParameter]);
      assert.partialDeepStrictEqual(answers.all().images.answer, { owner: 'amazon', number: 3 });
    });
});
