import assert from 'node:assert/strict';
import type { Nodegroup, Update, WarmPoolConfig } from '@aws-sdk/client-eks';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type { ConfigChange, NodeGroups, VersionChange, WarmPool } from '../windowspool/ports/eks.ts';
import { newNodeGroup, sampleGroup, samplePool } from '../windowspool/testing/fixtures.ts';
import type { EksCall } from './calls.ts';
import { createNodeGroups, fromEks } from './nodeGroups.ts';
import { callsOf } from './testing/callsOf.ts';

const { signal } = new AbortController();

/** The adapter over an EKS that records inputs and returns or throws this. */
function recorded(answer: unknown) {
  const calls: [string, unknown][] = [];
  const eks = callsOf(async (operation, input) => {
    calls.push([operation, input]);
    if (answer instanceof Error) throw answer;
    return answer;
  });
  return { calls, groups: createNodeGroups('prod', eks) };
}

function gone(message: string, name = 'ResourceNotFoundException'): Error {
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode: 404 } });
}

const pool = samplePool({
  nodeGroup: { capacityType: 'Spot' },
  taints: [
    { key: 'gpu', effect: 'NoSchedule' },
    { key: 'team', value: 'web', effect: 'PreferNoSchedule' },
  ],
});
const desired = newNodeGroup(pool);
const group = sampleGroup(pool, { healthIssues: [{ code: 'Unknown', message: 'm', resourceIds: ['i-1'] }] });

/** `group` as EKS describes it. */
const described: Nodegroup = {
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
    { key: 'gpu', effect: 'NO_SCHEDULE' },
    { key: 'team', value: 'web', effect: 'PREFER_NO_SCHEDULE' },
  ],
  tags: { ...desired.tags, 'aws:cloudformation:stack-name': 'x' },
  health: { issues: [{ code: 'Unknown' as never, message: 'm', resourceIds: ['i-1'] }] },
  resources: { autoScalingGroups: [{ name: 'eks-web-0a1b' }] },
  createdAt: new Date(group.createdAt),
  modifiedAt: new Date(group.modifiedAt),
};

describe('an EKS node group', () => {
  it('is mapped to the types of the domain, without the tags of AWS', () =>
    assert.deepEqual(fromEks(described), group));

  it('has a percentage of unavailable nodes and the update strategy', () => {
    const { update } = fromEks({
      ...described,
      updateConfig: { maxUnavailablePercentage: 33, updateStrategy: 'MINIMAL' },
    });
    assert.deepEqual(update, { maxUnavailable: '33%', strategy: 'Minimal' });
  });

  const warmPools: readonly (readonly [string, WarmPoolConfig | undefined, WarmPool | undefined])[] = [
    ['no warm pool', undefined, undefined],
    ['no warm pool if it is disabled', { enabled: false, minSize: 2 }, undefined],
    [
      'a warm pool with its settings',
      { enabled: true, minSize: 1, maxGroupPreparedCapacity: 4, poolState: 'HIBERNATED', reuseOnScaleIn: true },
      { minSize: 1, maxGroupPreparedCapacity: 4, poolState: 'Hibernated', reuseOnScaleIn: true },
    ],
    [
      'a warm pool whose state is spelled as in the user guide',
      { enabled: true, poolState: 'Running' as never },
      { minSize: 0, maxGroupPreparedCapacity: undefined, poolState: 'Running', reuseOnScaleIn: false },
    ],
    [
      'a warm pool without a capacity, as EC2 Auto Scaling has it',
      { enabled: true, maxGroupPreparedCapacity: -1 },
      { minSize: 0, maxGroupPreparedCapacity: undefined, poolState: 'Stopped', reuseOnScaleIn: false },
    ],
    [
      'a warm pool with the defaults of EKS',
      {},
      { minSize: 0, maxGroupPreparedCapacity: undefined, poolState: 'Stopped', reuseOnScaleIn: false },
    ],
  ];
  for (const [what, warmPoolConfig, want] of warmPools) {
    it(`has ${what}`, () =>
      assert.deepEqual(fromEks({ ...described, ...(warmPoolConfig && { warmPoolConfig }) }).warmPool, want));
  }

  it('has no resources, labels and taints if it was just created', () => {
    const { resources: _, labels: __, taints: ___, modifiedAt: ____, ...created } = described;
    const want = { ...group, labels: {}, taints: [], autoScalingGroups: [], createdAt: 5_000, modifiedAt: 5_000 };
    assert.deepEqual(fromEks({ ...created, createdAt: new Date(5_000) }), want);
  });

  it('is empty if EKS returns no fields', () => {
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
      scaling: { minSize: 0, maxSize: 0, desiredSize: 0 },
      labels: {},
      taints: [],
      update: { strategy: 'Default' },
      warmPool: undefined,
      tags: {},
      healthIssues: [],
      autoScalingGroups: [],
      createdAt: 0,
      modifiedAt: 0,
    });
  });

  it('has health issues without the parts that change with each attempt', () => {
    const message = 'UnauthorizedOperation: You are not authorized. Encoded authorization failure message: AbC123';
    const { healthIssues } = fromEks({
      ...described,
      health: { issues: [{ code: 'AsgInstanceLaunchFailures', message }] },
    });
    assert.deepEqual(healthIssues, [
      { code: 'AsgInstanceLaunchFailures', message: 'UnauthorizedOperation: You are not authorized.', resourceIds: [] },
    ]);
  });
});

describe('describe', () => {
  it('reads the group of the cluster', async () => {
    const { calls, groups } = recorded({ nodegroup: described });
    assert.deepEqual(await groups.describe('web', signal), { ok: true, value: group });
    assert.deepEqual(calls, [['DescribeNodegroup', { clusterName: 'prod', nodegroupName: 'web' }]]);
  });

  it('returns no group if it does not exist', async () => {
    const { groups } = recorded(gone('No node group found for name: web.'));
    assert.deepEqual(await groups.describe('web', signal), { ok: true, value: undefined });
  });

  it('returns an error if the cluster does not exist', async () => {
    const answer = await recorded(gone('No cluster found for name: prod.')).groups.describe('web', signal);
    assert.equal(!answer.ok && answer.error.kind, 'gone');
  });
});

describe('create', () => {
  it('sends all fields in the format of EKS', async () => {
    const { calls, groups } = recorded({ nodegroup: described });
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
          taints: described.taints,
          tags: desired.tags,
          clientRequestToken: 'token',
        },
      ],
    ]);
  });

  it('sends neither an AMI type nor versions for a custom AMI', async () => {
    const { calls, groups } = recorded({ nodegroup: described });
    const custom = { ami: { id: 'ami-0a000001' }, diskSizeGiB: undefined };
    await groups.create(newNodeGroup(samplePool({ nodeGroup: custom })), 'token', signal);
    const [[, input] = []] = calls;
    const sent = input as Record<string, unknown>;
    assert.deepEqual(
      ['amiType', 'version', 'releaseVersion', 'diskSize'].filter((member) => member in sent),
      [],
    );
  });

  it('sends the update settings of the spec', async () => {
    const { calls, groups } = recorded({ nodegroup: described });
    await groups.create(newNodeGroup(samplePool({ disruption: { maxUnavailable: 2 } })), 'token', signal);
    assert.deepEqual(
      calls.map(([, input]) => (input as Nodegroup).updateConfig),
      [{ maxUnavailable: 2 }],
    );
  });

  it('sends the warm pool of the spec', async () => {
    const { calls, groups } = recorded({ nodegroup: described });
    const warmPool = { minSize: 1, poolState: 'Stopped', reuseOnScaleIn: true } as const;
    await groups.create(newNodeGroup(samplePool({ nodeGroup: { warmPool } })), 'token', signal);
    assert.deepEqual(
      calls.map(([, input]) => (input as Nodegroup).warmPoolConfig),
      [{ enabled: true, minSize: 1, maxGroupPreparedCapacity: 5, poolState: 'STOPPED', reuseOnScaleIn: true }],
    );
  });

  it('sends pinned versions', async () => {
    const { calls, groups } = recorded({ nodegroup: described });
    const pinned = samplePool({ nodeGroup: { kubernetesVersion: '1.35', releaseVersion: '1.35-2026.01.22' } });
    await groups.create(newNodeGroup(pinned), 'token', signal);
    const sent = calls.map(([, input]) => input as Nodegroup);
    assert.deepEqual(
      sent.map(({ version, releaseVersion }) => [version, releaseVersion]),
      [['1.35', '1.35-2026.01.22']],
    );
  });

  it('uses On-Demand capacity by default', async () => {
    const { calls, groups } = recorded({ nodegroup: described });
    await groups.create(newNodeGroup(samplePool()), 'token', signal);
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
        taints: {
          set: [{ key: 'gpu', effect: 'NoSchedule' }],
          remove: [{ key: 'x', value: '', effect: 'NoExecute' }],
        },
      },
      {
        taints: {
          addOrUpdateTaints: [{ key: 'gpu', effect: 'NO_SCHEDULE' }],
          removeTaints: [{ key: 'x', effect: 'NO_EXECUTE' }],
        },
      },
    ],
    [
      { taints: { set: [], remove: [{ key: 'x', effect: 'NoExecute' }] } },
      { taints: { removeTaints: [{ key: 'x', effect: 'NO_EXECUTE' }] } },
    ],
    [{ update: { maxUnavailable: '2' } }, { updateConfig: { maxUnavailable: 2 } }],
    [
      { update: { maxUnavailable: '33%', strategy: 'Minimal' } },
      { updateConfig: { maxUnavailablePercentage: 33, updateStrategy: 'MINIMAL' } },
    ],
    [{ update: { strategy: 'Default' } }, { updateConfig: { updateStrategy: 'DEFAULT' } }],
    [{ scaling: { maxSize: 9 } }, { scalingConfig: { maxSize: 9 } }],
    [
      { warmPool: { minSize: 0, maxGroupPreparedCapacity: 3, poolState: 'Running', reuseOnScaleIn: false } },
      {
        warmPoolConfig: {
          enabled: true,
          minSize: 0,
          maxGroupPreparedCapacity: 3,
          poolState: 'RUNNING',
          reuseOnScaleIn: false,
        },
      },
    ],
    [{ warmPool: 'Removed' }, { warmPoolConfig: { enabled: false } }],
    [
      { scaling: { minSize: 0, maxSize: 9, desiredSize: 0 } },
      { scalingConfig: { minSize: 0, maxSize: 9, desiredSize: 0 } },
    ],
  ];
  for (const [change, want] of table) {
    it(`sends only the differences: ${JSON.stringify(want)}`, async () => {
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
    [
      { launchTemplate: { id: 'lt-0e1f2a3b', version: '2' }, force: false },
      { launchTemplate: { id: 'lt-0e1f2a3b', version: '2' }, force: false },
    ],
  ];
  for (const [change, want] of table) {
    it(`sends only the requested versions: ${JSON.stringify(want)}`, async () => {
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
  it('returns the errors without the parts that change with each attempt', async () => {
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

  it('returns no update if it does not exist', async () => {
    const answer = gone('No update found for ID: u-1');
    const result = await recorded(answer).groups.describeUpdate('web', 'u-1', signal);
    assert.deepEqual(result, { ok: true, value: undefined });
  });
});

describe('names', () => {
  const pages = (count: number) =>
    callsOf(async (_operation, { nextToken = '0' }: { nextToken?: string }) => {
      const page = Number(nextToken);
      return { nodegroups: [`group-${page}`], ...(page + 1 < count && { nextToken: String(page + 1) }) };
    });
  const namesOf = (eks: EksCall) => createNodeGroups('prod', eks).names(signal);

  it('returns the names of every page', async () => {
    assert.deepEqual(await namesOf(pages(2)), { ok: true, value: ['group-0', 'group-1'] });
  });

  it('returns an error if there are too many pages, and not a part of them', async () => {
    const result = await namesOf(pages(21));
    assert.equal(result.ok ? 'ok' : result.error.code, 'TooManyPages');
  });
});

describe('delete', () => {
  it('succeeds, also if the group does not exist', async () => {
    for (const answer of [{ nodegroup: described }, gone('No node group found for name: web.')]) {
      const { calls, groups } = recorded(answer);
      assert.deepEqual(await groups.delete('web', signal), { ok: true, value: undefined });
      assert.deepEqual(calls, [['DeleteNodegroup', { clusterName: 'prod', nodegroupName: 'web' }]]);
    }
  });

  it('returns an error while EKS changes the group', async () => {
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

  it('return an error if the group does not exist', async () => {
    const answer = await recorded(gone('gone', 'NotFoundException')).groups.tag('arn', { a: '1' }, signal);
    assert.equal(!answer.ok && answer.error.kind, 'gone');
  });
});

describe('a response without the requested object', () => {
  const { signal: live } = new AbortController();
  const partial = [
    {},
    { nodegroup: {} },
    { nodegroup: { nodegroupName: 'web', nodegroupArn: 'arn' } },
    { update: { id: 'u-1' } },
  ];
  const calls: Readonly<Record<string, (groups: NodeGroups) => Promise<CallResult<unknown>>>> = {
    describe: (groups) => groups.describe('web', live),
    describeUpdate: (groups) => groups.describeUpdate('web', 'u-1', live),
    updateConfig: (groups) => groups.updateConfig('web', { scaling: { minSize: 1 } }, 'token', live),
  };
  for (const [name, call] of Object.entries(calls)) {
    it(`is an error of ${name}, and does not say that the object is gone`, async () => {
      for (const answer of partial) {
        const result = await call(recorded(answer).groups);
        assert.equal(!result.ok && `${result.error.kind} ${result.error.code}`, 'unavailable MalformedResponse');
      }
    });
  }
});
