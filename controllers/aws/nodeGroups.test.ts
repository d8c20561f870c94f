import assert from 'node:assert/strict';
import type { Nodegroup, Update } from '@aws-sdk/client-eks';
import { realClock } from '../runtime/clock.ts';
import type { ConfigChange, VersionChange } from '../windowspool/ports/eks.ts';
import { desiredNodeGroup } from '../windowspool/providers/eks/nodeGroup.ts';
import { sampleGroup, samplePool } from '../windowspool/testing/fixtures.ts';
import type { EksCall } from './calls.ts';
import { EksNodeGroups, fromEks } from './nodeGroups.ts';
import { AwsRateLimiter } from './rateLimiter.ts';

const { signal } = new AbortController();

/** The adapter over an EKS that records inputs and returns or throws this. */
function recorded(answer: unknown) {
  const calls: [string, unknown][] = [];
  const eks = (async (operation, input) => {
    calls.push([operation, input]);
    if (answer instanceof Error) throw answer;
    return answer;
  }) as EksCall;
  return { calls, groups: new EksNodeGroups('prod', eks, new AwsRateLimiter(() => undefined, realClock)) };
}

function gone(message: string, name = 'ResourceNotFoundException'): Error {
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode: 404 } });
}

const pool = samplePool({
  nodeGroup: { capacityType: 'Spot' },
  taints: [
    { key: 'gpu', effect: 'NoExecute' },
    { key: 'team', value: 'web', effect: 'PreferNoSchedule' },
  ],
});
const desired = desiredNodeGroup(pool);
const group = sampleGroup(pool, { healthIssues: [{ code: 'Unknown', message: 'm', resourceIds: ['i-1'] }] });

/** `group` as EKS describes it. */
const reported: Nodegroup = {
  nodegroupName: 'web',
  nodegroupArn: group.arn,
  clusterName: 'prod',
  status: 'ACTIVE',
  amiType: 'WINDOWS_CORE_2022_x86_64',
  capacityType: 'SPOT',
  instanceTypes: ['m5.large'],
  subnets: ['subnet-0a000000', 'subnet-0b000000'],
  nodeRole: desired.nodeRoleArn,
  diskSize: 50,
  version: '1.36',
  releaseVersion: '1.36-2026.02.11',
  scalingConfig: { minSize: 3, maxSize: 5, desiredSize: 3 },
  updateConfig: { maxUnavailable: 1 },
  labels: { ...desired.labels },
  taints: [
    { key: 'os', value: 'windows', effect: 'NO_SCHEDULE' },
    { key: 'gpu', effect: 'NO_EXECUTE' },
    { key: 'team', value: 'web', effect: 'PREFER_NO_SCHEDULE' },
  ],
  tags: { ...desired.tags, 'aws:cloudformation:stack-name': 'x' },
  health: { issues: [{ code: 'Unknown' as never, message: 'm', resourceIds: ['i-1'] }] },
  resources: { autoScalingGroups: [{ name: 'eks-web-0a1b' }] },
  modifiedAt: new Date(group.modifiedAt),
};

describe('a node group of EKS', () => {
  it('is the group in the domain’s words, without the tags of AWS', () => assert.deepEqual(fromEks(reported), group));

  it('tells a share of its nodes, and the strategy', () => {
    const { update } = fromEks({
      ...reported,
      updateConfig: { maxUnavailablePercentage: 33, updateStrategy: 'MINIMAL' },
    });
    assert.deepEqual(update, { maxUnavailable: '33%', strategy: 'Minimal' });
  });

  it('that was just created has no resources, labels and taints', () => {
    const { resources: _, labels: __, taints: ___, modifiedAt: ____, ...created } = reported;
    const want = { ...group, labels: {}, taints: [], autoScalingGroups: [], modifiedAt: 5_000 };
    assert.deepEqual(fromEks({ ...created, createdAt: new Date(5_000) }), want);
  });

  it('of which EKS says nothing is empty', () => {
    assert.deepEqual(fromEks({}), {
      name: '',
      arn: '',
      status: 'CREATING',
      amiType: '',
      capacityType: 'OnDemand',
      instanceTypes: [],
      subnets: [],
      nodeRoleArn: '',
      diskSizeGiB: undefined,
      launchTemplate: undefined,
      kubernetesVersion: undefined,
      releaseVersion: undefined,
      scaling: { min: 0, max: 0, desired: 0 },
      labels: {},
      taints: [],
      update: { strategy: 'Default' },
      tags: {},
      healthIssues: [],
      autoScalingGroups: [],
      modifiedAt: 0,
    });
  });

  it('has health issues without what changes at every try', () => {
    const message = 'UnauthorizedOperation: You are not authorized. Encoded authorization failure message: AbC123';
    const { healthIssues } = fromEks({
      ...reported,
      health: { issues: [{ code: 'AsgInstanceLaunchFailures', message }] },
    });
    assert.deepEqual(healthIssues, [
      { code: 'AsgInstanceLaunchFailures', message: 'UnauthorizedOperation: You are not authorized.', resourceIds: [] },
    ]);
  });
});

describe('describe', () => {
  it('asks for the group of the cluster', async () => {
    const { calls, groups } = recorded({ nodegroup: reported });
    assert.deepEqual(await groups.describe('web', signal), { ok: true, value: group });
    assert.deepEqual(calls, [['DescribeNodegroup', { clusterName: 'prod', nodegroupName: 'web' }]]);
  });

  it('finds no group where EKS knows none', async () => {
    const { groups } = recorded(gone('No node group found for name: web.'));
    assert.deepEqual(await groups.describe('web', signal), { ok: true, value: undefined });
  });

  it('is in trouble where EKS knows no such cluster', async () => {
    const answer = await recorded(gone('No cluster found for name: prod.')).groups.describe('web', signal);
    assert.equal(!answer.ok && answer.error.kind, 'gone');
  });
});

describe('create', () => {
  it('says everything, in EKS’ spelling', async () => {
    const { calls, groups } = recorded({ nodegroup: reported });
    assert.deepEqual(await groups.create(desired, 'token', signal), { ok: true, value: group });
    assert.deepEqual(calls, [
      [
        'CreateNodegroup',
        {
          clusterName: 'prod',
          nodegroupName: 'web',
          amiType: 'WINDOWS_CORE_2022_x86_64',
          capacityType: 'SPOT',
          instanceTypes: ['m5.large'],
          subnets: ['subnet-0a000000', 'subnet-0b000000'],
          nodeRole: desired.nodeRoleArn,
          diskSize: 50,
          scalingConfig: { minSize: 3, maxSize: 5, desiredSize: 3 },
          labels: desired.labels,
          taints: reported.taints,
          tags: desired.tags,
          clientRequestToken: 'token',
        },
      ],
    ]);
  });

  it('says how nodes are replaced where the spec does', async () => {
    const { calls, groups } = recorded({ nodegroup: reported });
    await groups.create(desiredNodeGroup(samplePool({ disruption: { maxUnavailable: 2 } })), 'token', signal);
    assert.deepEqual(
      calls.map(([, input]) => (input as Nodegroup).updateConfig),
      [{ maxUnavailable: 2 }],
    );
  });

  it('says which versions are pinned', async () => {
    const { calls, groups } = recorded({ nodegroup: reported });
    const pinned = samplePool({ nodeGroup: { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.01.22' } });
    await groups.create(desiredNodeGroup(pinned), 'token', signal);
    const sent = calls.map(([, input]) => input as Nodegroup);
    assert.deepEqual(
      sent.map(({ version, releaseVersion }) => [version, releaseVersion]),
      [['1.35', '1.35-2026.01.22']],
    );
  });

  it('buys on demand otherwise', async () => {
    const { calls, groups } = recorded({ nodegroup: reported });
    await groups.create(desiredNodeGroup(samplePool()), 'token', signal);
    assert.deepEqual(
      calls.map(([, input]) => (input as Nodegroup).capacityType),
      ['ON_DEMAND'],
    );
  });
});

describe('updateConfig', () => {
  const update: Update = { id: 'u-1', type: 'ConfigUpdate', status: 'InProgress', createdAt: new Date(5_000) };
  const table: readonly (readonly [ConfigChange, Record<string, unknown>])[] = [
    [{ labels: { set: { a: '1' }, remove: [] } }, { labels: { addOrUpdateLabels: { a: '1' } } }],
    [{ labels: { set: {}, remove: ['b'] } }, { labels: { removeLabels: ['b'] } }],
    [
      {
        taints: { set: [{ key: 'gpu', effect: 'NoSchedule' }], remove: [{ key: 'x', value: '', effect: 'NoExecute' }] },
      },
      {
        taints: {
          addOrUpdateTaints: [{ key: 'gpu', effect: 'NO_SCHEDULE' }],
          removeTaints: [{ key: 'x', effect: 'NO_EXECUTE' }],
        },
      },
    ],
    [
      { taints: { set: [], remove: [{ key: 'x', effect: 'PreferNoSchedule' }] } },
      { taints: { removeTaints: [{ key: 'x', effect: 'PREFER_NO_SCHEDULE' }] } },
    ],
    [{ update: { maxUnavailable: '2' } }, { updateConfig: { maxUnavailable: 2 } }],
    [
      { update: { maxUnavailable: '33%', strategy: 'Minimal' } },
      { updateConfig: { maxUnavailablePercentage: 33, updateStrategy: 'MINIMAL' } },
    ],
    [{ update: { strategy: 'Default' } }, { updateConfig: { updateStrategy: 'DEFAULT' } }],
    [{ scaling: { max: 9 } }, { scalingConfig: { maxSize: 9 } }],
    [{ scaling: { min: 0, max: 9, desired: 0 } }, { scalingConfig: { minSize: 0, maxSize: 9, desiredSize: 0 } }],
  ];
  for (const [change, want] of table) {
    it(`sends only what differs: ${JSON.stringify(want)}`, async () => {
      const { calls, groups } = recorded({ update });
      const answer = await groups.updateConfig('web', change, 'token', signal);
      const input = { clusterName: 'prod', nodegroupName: 'web', ...want, clientRequestToken: 'token' };
      assert.deepEqual(calls, [['UpdateNodegroupConfig', input]]);
      const value = { id: 'u-1', type: 'ConfigUpdate', status: 'InProgress', createdAt: 5_000, errors: [] };
      assert.deepEqual(answer, { ok: true, value });
    });
  }
});

describe('updateVersion', () => {
  const table: readonly (readonly [VersionChange, Record<string, unknown>])[] = [
    [
      { kubernetesVersion: '1.36', force: false },
      { version: '1.36', force: false },
    ],
    [
      { kubernetesVersion: '1.36', releaseVersion: '1.36-2026.03.17', force: true },
      { version: '1.36', releaseVersion: '1.36-2026.03.17', force: true },
    ],
  ];
  for (const [change, want] of table) {
    it(`sends only what is asked for: ${JSON.stringify(want)}`, async () => {
      const { calls, groups } = recorded({ update: { id: 'u-1', type: 'VersionUpdate', status: 'InProgress' } });
      const answer = await groups.updateVersion('web', change, 'token', signal);
      const input = { clusterName: 'prod', nodegroupName: 'web', ...want, clientRequestToken: 'token' };
      assert.deepEqual(calls, [['UpdateNodegroupVersion', input]]);
      const value = { id: 'u-1', type: 'VersionUpdate', status: 'InProgress', createdAt: 0, errors: [] };
      assert.deepEqual(answer, { ok: true, value });
    });
  }
});

describe('describeUpdate', () => {
  it('tells what failed, without what changes at every try', async () => {
    const errors = [
      { errorCode: 'PodEvictionFailure', errorMessage: 'Reached max retries', resourceIds: ['ip-1'] },
      { errorMessage: 'Denied. RequestId: 8a2c1f9e-7b1d-4f6a-9c3e-2d5b8e7f6a1c' },
      {},
    ];
    const { calls, groups } = recorded({ update: { id: 'u-1', type: 'VersionUpdate', status: 'Failed', errors } });
    assert.deepEqual(await groups.describeUpdate('web', 'u-1', signal), {
      ok: true,
      value: {
        id: 'u-1',
        type: 'VersionUpdate',
        status: 'Failed',
        createdAt: 0,
        errors: [
          { code: 'PodEvictionFailure', message: 'Reached max retries', resourceIds: ['ip-1'] },
          { code: 'Unknown', message: 'Denied', resourceIds: [] },
          { code: 'Unknown', message: '', resourceIds: [] },
        ],
      },
    });
    assert.deepEqual(calls, [['DescribeUpdate', { name: 'prod', nodegroupName: 'web', updateId: 'u-1' }]]);
  });

  it('finds none where EKS knows none', async () => {
    for (const answer of [gone('No update found for ID: u-1'), { update: undefined }]) {
      assert.deepEqual(await recorded(answer).groups.describeUpdate('web', 'u-1', signal), {
        ok: true,
        value: undefined,
      });
    }
  });
});

describe('delete', () => {
  it('is done, also when the group is gone already', async () => {
    for (const answer of [{ nodegroup: reported }, gone('No node group found for name: web.')]) {
      const { calls, groups } = recorded(answer);
      assert.deepEqual(await groups.delete('web', signal), { ok: true, value: undefined });
      assert.deepEqual(calls, [['DeleteNodegroup', { clusterName: 'prod', nodegroupName: 'web' }]]);
    }
  });

  it('is in trouble when EKS works on the group', async () => {
    const error = Object.assign(new Error('busy'), {
      name: 'ResourceInUseException',
      $metadata: { httpStatusCode: 409 },
    });
    const answer = await recorded(error).groups.delete('web', signal);
    assert.equal(!answer.ok && answer.error.kind, 'busy');
  });
});

describe('tags', () => {
  it('are set and removed by the ARN of the group', async () => {
    const { calls, groups } = recorded({});
    const answers = [await groups.tag('arn', { a: '1' }, signal), await groups.untag('arn', ['b'], signal)];
    assert.deepEqual(answers, [
      { ok: true, value: undefined },
      { ok: true, value: undefined },
    ]);
    assert.deepEqual(calls, [
      ['TagResource', { resourceArn: 'arn', tags: { a: '1' } }],
      ['UntagResource', { resourceArn: 'arn', tagKeys: ['b'] }],
    ]);
  });

  it('of a group that is gone are trouble', async () => {
    const answer = await recorded(gone('gone', 'NotFoundException')).groups.tag('arn', { a: '1' }, signal);
    assert.equal(!answer.ok && answer.error.kind, 'gone');
  });
});
