import assert from 'node:assert/strict';
import type { NodeGroup } from '../../../ports/eks.ts';
import {
  knownStatus,
  LEAVING,
  NEXT,
  NOW,
  outcomeOf,
  sampleError,
  sampleGroup,
  samplePool,
  sampleRuntimeClass,
  sampleState,
} from '../../../testing/fixtures.ts';
import { assertMentions } from '../../../testing/goldenTexts.ts';
import { unconfirmed } from '../../../testing/sights.ts';
import { group, pool, truthTable, working } from '../../../testing/truthTable.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { nodeGroupConditions } from './nodeGroupConditions.ts';

const check = truthTable('conditions/NodeGroupReady');

const retained = samplePool({ deletionPolicy: 'Retain' }, { metadata: LEAVING, status: knownStatus() });

describe('a node group of which one answer contradicts what was known', () => {
  const known = samplePool({}, { status: knownStatus() });
  const deleted = samplePool({}, { metadata: LEAVING, status: knownStatus() });
  const again = 'reads it again';
  check([
    ['changes no condition', sampleState({ group: unconfirmed('absent', sampleGroup()) }), {}],
    ['changes no condition when it has no tag', sampleState({ group: unconfirmed('unowned', sampleGroup()) }), {}],
    [
      'at the start does not change what the nodes show',
      sampleState({ pool: known, group: unconfirmed() }),
      {
        NodeGroupReady: ['Unknown Unconfirmed', 'web', again],
        Reconciling: ['True Unconfirmed', 'web', again],
      },
    ],
    [
      'is read again before its deleted pool is forgotten',
      sampleState({ pool: deleted, group: unconfirmed('absent', sampleGroup()), nodes: [] }),
      {
        ...working('NodeGroupReady', ['False Deleting', 'web', 'does not exist', again]),
        NodesVerified: ['Unknown Joining', '3 nodes'],
      },
    ],
    [
      'is read again before its deleted pool is forgotten, when it has no tag',
      sampleState({ pool: deleted, group: unconfirmed('unowned', sampleGroup()) }),
      working('NodeGroupReady', ['False Deleting', 'web', 'winpool.dev/pool=web', again]),
    ],
  ]);
});

describe('a node group that cannot be read', () => {
  const error = sampleError('unavailable');
  const away = (seconds: number, last?: NodeGroup): Pick<EksState, 'group'> => ({
    group: { kind: 'unreachable', error, since: NOW - seconds * 1_000, last },
  });
  const cluster = {
    kind: 'unreachable',
    since: NOW,
    error: sampleError('unavailable', { operation: 'DescribeCluster' }),
  } as const;
  check([
    ['changes no condition for a minute', sampleState(away(59, sampleGroup())), {}],
    [
      'is reported after a minute, and the pool stays Ready',
      sampleState(away(60, sampleGroup())),
      {
        NodeGroupReady: ['Unknown AWSUnavailable', 'web', 'DescribeNodegroup', 'the call was unavailable', 'ACTIVE'],
        Reconciling: ['True AWSUnavailable', 'web', 'DescribeNodegroup', 'the call was unavailable', 'ACTIVE'],
      },
    ],
    [
      'at the start does not change what the nodes show',
      sampleState({ ...away(0), cluster }),
      {
        PrerequisitesMet: ['Unknown AWSUnavailable', 'DescribeCluster', 'the call was unavailable'],
        NodeGroupReady: ['Unknown AWSUnavailable', 'web', 'DescribeNodegroup', 'the call was unavailable'],
        Reconciling: ['True AWSUnavailable', 'DescribeCluster', 'the call was unavailable'],
      },
    ],
    [
      'has a workaround for a deleted pool, also when only the cluster cannot be read',
      sampleState({ pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }), cluster }),
      {
        ...working('NodeGroupReady', [
          'False Deleting',
          'web',
          'DescribeCluster',
          'the call was unavailable',
          'deletionPolicy',
        ]),
        PrerequisitesMet: ['Unknown AWSUnavailable', 'DescribeCluster', 'the call was unavailable'],
      },
    ],
    [
      'has a workaround for a deleted pool',
      sampleState({
        pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }),
        ...away(0, sampleGroup()),
      }),
      working('NodeGroupReady', [
        'False Deleting',
        'web',
        'DescribeNodegroup',
        'the call was unavailable',
        'deletionPolicy',
      ]),
    ],
  ]);
});

describe('a state that ends without user action does not stall the pool', () => {
  const issue = { code: 'InsufficientFreeAddresses', message: 'Subnet subnet-1 is full.', resourceIds: ['subnet-1'] };
  const retain = samplePool({}, { metadata: LEAVING, status: knownStatus() });
  check([
    [
      'a degraded group with enough verified nodes',
      sampleState(group({ status: 'DEGRADED', healthIssues: [issue] })),
      {
        NodeGroupReady: [
          'False Degraded',
          'web',
          'DEGRADED',
          'InsufficientFreeAddresses',
          'Subnet subnet-1 is full',
          'aws ec2 describe-subnets',
          'nodeGroup.scaling.maxSize',
        ],
      },
    ],
    [
      'an active group with a health issue',
      sampleState(group({ healthIssues: [{ ...issue, resourceIds: [] }] })),
      {
        NodeGroupReady: ['True Active', 'web', 'ACTIVE', 'InsufficientFreeAddresses', 'Subnet subnet-1 is full'],
      },
    ],
    [
      'a group that another client updates',
      sampleState({ errors: [{ at: NOW, step: 'updateConfig', error: sampleError('busy') }] }),
      {},
    ],
    [
      'a throttled update',
      sampleState({
        errors: [
          {
            at: NOW,
            step: 'updateConfig',
            error: sampleError('throttled', { operation: 'UpdateNodegroupConfig' }),
          },
        ],
      }),
      {
        NodeGroupReady: ['Unknown AWSUnavailable', 'UpdateNodegroupConfig', 'web', 'the call was throttled'],
        Reconciling: ['True AWSUnavailable', 'UpdateNodegroupConfig', 'web', 'the call was throttled'],
      },
    ],
    [
      'a RuntimeClass that existed before and fits',
      sampleState({ runtimeClass: sampleRuntimeClass(pool, { managed: false, owners: [] }) }),
      {
        RuntimeClassReady: ['True Unmanaged', 'windows-2022'],
      },
    ],
    [
      'a deletion that EKS failed to finish',
      sampleState({ pool: retain, ...group({ status: 'DELETE_FAILED', healthIssues: [issue] }) }),
      working('NodeGroupReady', [
        'False DeleteFailed',
        'web',
        'InsufficientFreeAddresses',
        'Subnet subnet-1 is full',
        'aws ec2 describe-subnets',
        'nodeGroup.scaling.maxSize',
        'deletionPolicy',
      ]),
    ],
    [
      'a deletion that EKS refused',
      sampleState({
        pool: retain,
        errors: [{ at: NOW, step: 'deleteNodeGroup', error: sampleError('refused', { operation: 'DeleteNodegroup' }) }],
      }),
      working('NodeGroupReady', ['False Deleting', 'web', 'DeleteNodegroup', 'the call was refused', 'deletionPolicy']),
    ],
    [
      'a deletion with a foreign RuntimeClass of the name',
      sampleState({
        pool: retain,
        runtimeClass: sampleRuntimeClass(pool, { managed: false, owners: [], handler: 'other' }),
      }),
      {
        ...working('NodeGroupReady', ['False Deleting', 'web']),
        RuntimeClassReady: ['False NotOwned', 'windows-2022', 'runhcs-wcow-process', 'runtimeClass.name'],
      },
    ],
    [
      'a deleted pool that retains its group',
      sampleState({ pool: retained }),
      working('NodeGroupReady', ['False Retained', 'web']),
    ],
    [
      'a deleted pool that retains a group that EKS is updating',
      sampleState({ pool: retained, ...group({ status: 'UPDATING' }) }),
      working('NodeGroupReady', ['False Retained', 'web', 'UPDATING']),
    ],
    [
      'a deleted pool that retains a group that cannot be read',
      sampleState({
        pool: retained,
        group: { kind: 'unreachable', error: sampleError('throttled'), since: NOW, last: undefined },
      }),
      working('NodeGroupReady', ['False Retained', 'web', 'DescribeNodegroup', 'the call was throttled']),
    ],
  ]);
});

describe('a DEGRADED node group', () => {
  const messageWith = (step: 'updateConfig' | 'updateAddon') => {
    const errors = [{ at: NOW, step, error: sampleError('busy') }];
    return nodeGroupConditions(outcomeOf(sampleState({ ...group({ status: 'DEGRADED' }), errors }))).NodeGroupReady
      .message;
  };

  it('names the update that EKS does not accept, and not one of the vpc-cni add-on', () => {
    assert.match(messageWith('updateConfig'), /EKS accepts no update/);
    assert.doesNotMatch(messageWith('updateAddon'), /EKS accepts no update/);
  });
});

describe('a change of an ACTIVE node group', () => {
  const grown = samplePool({ nodeGroup: { scaling: { maxSize: 9 } } }, { status: knownStatus() });
  const newer = samplePool({ nodeGroup: { releaseVersion: NEXT } }, { status: knownStatus() });
  const update = { id: 'u-1', type: 'ConfigUpdate', target: 'x', status: 'InProgress' };
  const waiting = samplePool(grown.spec, { status: knownStatus({ update }) });
  const edited = group({ scaling: { minSize: 3, maxSize: 9, desiredSize: 3 } });
  const correction = sampleState(edited).due.config?.target ?? '';
  const reverted = samplePool({}, { status: knownStatus({ update: { ...update, target: correction } }) });
  const ended = { id: 'u-1', type: 'ConfigUpdate', status: 'Successful', errors: [], createdAt: NOW } as const;
  const others = { otherPools: { disrupted: ['api'], failures: [] } };
  const cases: Readonly<Record<string, readonly [EksDerived, pending: string | undefined]>> = {
    'is under way when its settings are sent': [sampleState({ pool: grown, ...group({}) }), 'maxSize 9'],
    'is under way when the release is sent': [sampleState({ pool: newer, ...group({}) }), NEXT],
    'is under way while the result of the last update is awaited': [
      sampleState({ pool: waiting, ...group({}) }),
      'maxSize 9',
    ],
    'is under way when another client has reverted it, until it is corrected': [
      sampleState({ pool: reverted, ...edited, update: ended }),
      'maxSize 5',
    ],
    'is not under way while the release waits for other pools': [
      sampleState({ pool: newer, ...group({}), ...others }),
      undefined,
    ],
    'is not under way while the pool is paused': [
      sampleState({ pool: samplePool({ ...grown.spec, paused: true }, { status: knownStatus() }), ...group({}) }),
      undefined,
    ],
    'is not under way when the EKS cluster does not exist any more': [
      sampleState({ pool: grown, ...group({}), cluster: { kind: 'absent' } }),
      undefined,
    ],
  };
  for (const [title, [s, pending]] of Object.entries(cases))
    it(title, () => {
      const { working, message } = nodeGroupConditions(outcomeOf(s)).NodeGroupReady;
      assert.equal(working === true, pending !== undefined, message);
      if (pending) assertMentions(message, pending);
    });
});
