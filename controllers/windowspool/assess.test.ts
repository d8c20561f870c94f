import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { WindowsPoolStatus } from './api.gen.ts';
import { type Assessment, assess } from './assess.ts';
import { configTargetOf } from './nodeGroup.ts';
import type { NodeGroup } from './ports.ts';
import { reasons } from './reasons.ts';
import type { Situation } from './situation.ts';
import {
  CLUSTER_ARN,
  knownStatus,
  MINUTE,
  NOW,
  sampleGroup,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleRuntimeClass,
  sampleSituation,
  sampleTrouble,
  settings,
} from './testing/fixtures.ts';
import { LEAVING, otherAuthority } from './testing/planCases.ts';
import { randomSituation } from './testing/randomSituation.ts';

type Shown = Readonly<Record<string, string>>;

/** Every condition in one line: status, reason and message. */
function shown(s: Situation): Shown {
  return Object.fromEntries(
    Object.entries(assess(s) as unknown as Record<string, Assessment['Ready']>).map(([type, finding]) => [
      type,
      `${finding.status} ${finding.reason}: ${finding.message}`,
    ]),
  );
}

const HEALTHY = {
  Ready: 'True Verified: 3 of 3 nodes verified.',
  PrerequisitesMet: 'True Met: The operator runs in EKS cluster prod and may do what the pool needs.',
  NodeGroupReady: 'True Active: Node group web is ACTIVE.',
  RuntimeClassReady: 'True Available: Pods with runtimeClassName: windows-2022 run on Windows build 10.0.20348.',
  NodesVerified: 'True AllVerified: 3 nodes verified.',
};
const NO_NODES_YET = 'False Pending: Nodes join when there is a node group.';
const OTHER_BUILD = 'runs build 10.0.26100 (Windows Server 2025) and the pool needs 10.0.20348 (Windows2022)';

const pool = samplePool({}, { status: knownStatus() });

function group(change: Partial<NodeGroup>, of = pool): Pick<Situation, 'group'> {
  return { group: { kind: 'seen', group: sampleGroup(of, change) } };
}

function since(minutes: number, reason: string): WindowsPoolStatus {
  const lastTransitionTime = new Date(NOW - minutes * MINUTE).toISOString();
  return {
    ...knownStatus(),
    conditions: [{ type: 'NodesVerified', status: 'Unknown', reason, message: '', lastTransitionTime }],
  };
}

function wrongNode(name: string) {
  const labels = { ...sampleNode().labels, 'node.kubernetes.io/windows-build': '10.0.26100' };
  return sampleNode({ name, kernelVersion: '10.0.26100.32230', labels });
}

/** A line of the truth table: what is true, and the conditions that differ from those of a healthy pool. */
type Line = readonly [name: string, situation: Situation, differing: Shown];

function check(lines: readonly Line[]): void {
  for (const [name, situation, differing] of lines) {
    it(name, () => assert.deepEqual(shown(situation), { ...HEALTHY, ...differing }));
  }
}

/** Ready and the condition that stops it say the same. */
function stalled(type: string, finding: string): Shown {
  const rest = finding.slice(finding.indexOf(' '));
  return { Ready: `False${rest}`, [type]: finding, Stalled: `True${rest}` };
}

function working(type: string, finding: string): Shown {
  const rest = finding.slice(finding.indexOf(' '));
  return { Ready: `False${rest}`, [type]: finding, Reconciling: `True${rest}` };
}

const NOT_CREATED = 'False Creating: Node group web is about to be created.';
const absent = { group: { kind: 'absent' }, nodes: [] } as const;

describe('creating, updating, deleting: Ready is False with what is waited for, and Reconciling', () => {
  check([
    [
      'about to be created',
      sampleSituation({ ...absent }),
      { ...working('NodeGroupReady', NOT_CREATED), NodesVerified: NO_NODES_YET },
    ],
    [
      'being created',
      sampleSituation({ ...group({ status: 'CREATING' }), nodes: [] }),
      {
        ...working('NodeGroupReady', 'False Creating: EKS is creating node group web.'),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'created, and no node has joined',
      sampleSituation({ nodes: [] }),
      {
        Ready:
          'False Joining: 0 nodes of the 3 that the pool must have are verified. 0 of 3 nodes joined; waiting for 3.',
        NodesVerified: 'Unknown Joining: 0 of 3 nodes joined; waiting for 3.',
        Reconciling:
          'True Joining: 0 nodes of the 3 that the pool must have are verified. 0 of 3 nodes joined; waiting for 3.',
      },
    ],
    [
      'the last of the first nodes is not complete',
      sampleSituation({
        nodes: [
          ...sampleNodes(2),
          sampleNode({ name: 'ip-9', createdAt: NOW - MINUTE, ready: 'False', readyReason: '' }),
        ],
      }),
      {
        Ready:
          'False Joining: 2 nodes of the 3 that the pool must have are verified. 1 node joined and is not complete yet: ip-9 is not Ready (False).',
        NodesVerified: 'Unknown Joining: 1 node joined and is not complete yet: ip-9 is not Ready (False).',
        Reconciling:
          'True Joining: 2 nodes of the 3 that the pool must have are verified. 1 node joined and is not complete yet: ip-9 is not Ready (False).',
      },
    ],
    [
      'somebody deletes the group of a pool that lives',
      sampleSituation(group({ status: 'DELETING' })),
      working('NodeGroupReady', 'False Deleting: Node group web is being deleted. It is created anew when it is gone.'),
    ],
    [
      'the pool is deleted',
      sampleSituation({
        pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }),
        ...group({ status: 'DELETING' }),
      }),
      working('NodeGroupReady', 'False Deleting: Node group web is being deleted.'),
    ],
    [
      'the RuntimeClass is missing',
      sampleSituation({ runtimeClass: undefined }),
      working('RuntimeClassReady', 'False Pending: RuntimeClass windows-2022 is about to be made.'),
    ],
    [
      'the RuntimeClass could not be written',
      sampleSituation({
        runtimeClass: undefined,
        troubles: [
          { step: 'createRuntimeClass', trouble: sampleTrouble('unavailable', { operation: 'create runtimeclasses' }) },
        ],
      }),
      working('RuntimeClassReady', 'False Failed: create runtimeclasses failed: the call was unavailable.'),
    ],
    [
      'another writer was faster: no news',
      sampleSituation({
        runtimeClass: undefined,
        troubles: [{ step: 'createRuntimeClass', trouble: sampleTrouble('conflict') }],
      }),
      working('RuntimeClassReady', 'False Pending: RuntimeClass windows-2022 is about to be made.'),
    ],
  ]);
});

describe('a rolling update or growth of a Ready pool: Ready stays True', () => {
  const five = group({ scaling: { min: 3, max: 5, desired: 5 } });
  const young = sampleNode({ name: 'ip-9', createdAt: NOW - MINUTE, ready: 'False', readyReason: 'KubeletNotReady' });
  check([
    [
      'Reconciling while EKS updates',
      sampleSituation(group({ status: 'UPDATING' })),
      {
        NodeGroupReady: 'True Updating: EKS is updating node group web.',
        Reconciling: 'True Updating: EKS is updating node group web.',
      },
    ],
    [
      'growth is not called Reconciling',
      sampleSituation(five),
      { NodesVerified: 'Unknown Joining: 3 of 5 nodes joined; waiting for 2.' },
    ],
    [
      'nor are nodes that joined a moment ago',
      sampleSituation({ ...group({ scaling: { min: 3, max: 5, desired: 4 } }), nodes: [...sampleNodes(3), young] }),
      {
        Ready: 'True Verified: 3 of 4 nodes verified.',
        NodesVerified:
          'Unknown Joining: 1 node joined and is not complete yet: ip-9 is not Ready (False, KubeletNotReady).',
      },
    ],
    [
      'growth that lasts is no alarm while every instance is younger than the join grace',
      sampleSituation({
        pool: samplePool({}, { status: since(20, 'Joining') }),
        ...five,
        instances: [1, 2, 3, 4, 5].map((i) => ({ id: `i-${i}`, privateDnsName: '', launchedAt: NOW - MINUTE })),
      }),
      { NodesVerified: 'Unknown Joining: 3 of 5 nodes joined; waiting for 2.' },
    ],
  ]);
});

describe('desired is 0: Ready is True', () => {
  const none = samplePool({ scaling: { min: 0, max: 5 } }, { status: knownStatus() });
  check([
    [
      'and NodesVerified is True, NoNodes',
      sampleSituation({ pool: none, nodes: [] }),
      {
        Ready: 'True NoNodes: The pool has no nodes and wants none.',
        NodesVerified: 'True NoNodes: The pool has no nodes and wants none.',
      },
    ],
  ]);
});

describe('one bad node of many: NodesVerified names it, Ready falls with the last that must be', () => {
  const one = `False WrongBuild: 1 of 4 nodes fails verification: ip-9 ${OTHER_BUILD}.`;
  const none = samplePool({ scaling: { min: 0, max: 5, desired: 1 } }, { status: knownStatus() });
  check([
    [
      'Ready stays True with enough others',
      sampleSituation({ nodes: [...sampleNodes(3), wrongNode('ip-9')] }),
      { Ready: 'True Verified: 3 of 4 nodes verified.', NodesVerified: one },
    ],
    [
      'Ready is False with fewer than scaling.min',
      sampleSituation({ nodes: [...sampleNodes(1), wrongNode('ip-8'), wrongNode('ip-9')] }),
      {
        Ready: `False WrongBuild: 1 node of the 3 that the pool must have is verified. 2 of 3 nodes fail verification: ip-8 ${OTHER_BUILD}; ip-9 ${OTHER_BUILD}.`,
        NodesVerified: `False WrongBuild: 2 of 3 nodes fail verification: ip-8 ${OTHER_BUILD}; ip-9 ${OTHER_BUILD}.`,
      },
    ],
    [
      'Ready is False when none is verified, though scaling.min is 0',
      sampleSituation({ pool: none, nodes: [wrongNode('ip-9')] }),
      {
        Ready: `False WrongBuild: 0 nodes of the 1 that the pool must have are verified. 1 of 1 node fails verification: ip-9 ${OTHER_BUILD}.`,
        NodesVerified: `False WrongBuild: 1 of 1 node fails verification: ip-9 ${OTHER_BUILD}.`,
      },
    ],
    [
      'many nodes with different failures are counted',
      sampleSituation({
        nodes: [
          ...sampleNodes(3),
          ...['ip-6', 'ip-7', 'ip-8'].map(wrongNode),
          sampleNode({ name: 'ip-9', taints: [] }),
        ],
      }),
      {
        Ready: 'True Verified: 3 of 7 nodes verified.',
        NodesVerified: `False NodesFailing: 4 of 7 nodes fail verification: ip-6 ${OTHER_BUILD}; ip-7 ${OTHER_BUILD}; ip-8 ${OTHER_BUILD} and 1 more (status.failingNodes).`,
      },
    ],
    [
      'a warning is told and harms nothing',
      sampleSituation({
        nodes: [...sampleNodes(2), sampleNode({ name: 'ip-9', capacity: { memory: '7Gi' } })],
      }),
      {
        NodesVerified:
          'True AllVerified: 3 nodes verified. 1 node with a warning, such as ip-9 reserves 1.0 GiB of memory for the system; Windows needs at least 2.',
      },
    ],
  ]);
});

describe('nodes that do not join within the join grace', () => {
  const late = { pool: samplePool({}, { status: since(15, 'Joining') }), nodes: sampleNodes(2) };
  const missing = '2 of 3 nodes joined and 1 did not within 15 minutes. ';
  const look = 'Look at the kubelet of such an instance, and at the access entry of the node role (type EC2_WINDOWS).';
  const lacking = (message: string): Shown => ({
    Ready: `False NodesMissing: 2 nodes of the 3 that the pool must have are verified. ${message}`,
    NodesVerified: `False NodesMissing: ${message}`,
  });
  const instance = (id: string, minutes: number) => ({ id, privateDnsName: '', launchedAt: NOW - minutes * MINUTE });
  const joinedIds = sampleNodes(2).map(({ providerID }) => providerID.split('/').at(-1) ?? '');
  check([
    ['are missing', sampleSituation(late), lacking(missing + look)],
    [
      'are named by their instances',
      sampleSituation({
        ...late,
        instances: [...joinedIds, 'i-new', 'i-late'].map((id) => instance(id, id === 'i-new' ? 1 : 20)),
      }),
      lacking(`${missing}Running and not joined: i-late. ${look}`),
    ],
    [
      'have no instance at all',
      sampleSituation({ ...late, instances: joinedIds.map((id) => instance(id, 60)) }),
      lacking(`${missing}No running instance waits to join: look at the activity of the scaling group.`),
    ],
    [
      'stay missing until they come',
      sampleSituation({ ...late, pool: samplePool({}, { status: since(1, 'NodesMissing') }) }),
      lacking(missing + look),
    ],
    [
      'are on their way before that',
      sampleSituation({ ...late, pool: samplePool({}, { status: since(14, 'Joining') }) }),
      {
        Ready:
          'False Joining: 2 nodes of the 3 that the pool must have are verified. 2 of 3 nodes joined; waiting for 1.',
        NodesVerified: 'Unknown Joining: 2 of 3 nodes joined; waiting for 1.',
        Reconciling:
          'True Joining: 2 nodes of the 3 that the pool must have are verified. 2 of 3 nodes joined; waiting for 1.',
      },
    ],
  ]);
});

describe('a right that is missing leaves Ready as it is', () => {
  const denied = sampleTrouble('denied', {
    operation: 'UpdateNodegroupConfig',
    message: 'not authorized to perform: eks:Update',
  });
  const met =
    "False AccessDenied: AWS denied UpdateNodegroupConfig: not authorized to perform: eks:Update. Grant the right to the operator's role; config/aws/iam-policy.json has all of them.";
  const forbidden = sampleTrouble('denied', { operation: 'patch nodes', message: 'nodes "ip-9" is forbidden' });
  const rbac =
    'AccessDenied: The API server denied patch nodes: nodes "ip-9" is forbidden. Grant the right to the operator\'s ServiceAccount; config/rbac has all of them.';
  check([
    [
      'while the group is there',
      sampleSituation({ troubles: [{ step: 'updateConfig', trouble: denied }] }),
      {
        PrerequisitesMet: met,
        NodeGroupReady:
          'Unknown AccessDenied: UpdateNodegroupConfig of node group web failed: not authorized to perform: eks:Update.',
        Reconciling: met.replace('False', 'True'),
      },
    ],
    [
      'and is named where only the API server can give it',
      sampleSituation({ troubles: [{ step: 'labelNode', trouble: forbidden }] }),
      { PrerequisitesMet: `False ${rbac}`, Reconciling: `True ${rbac}` },
    ],
    [
      'but nothing is created without it',
      sampleSituation({ ...absent, troubles: [{ step: 'createNodeGroup', trouble: denied }] }),
      {
        Ready: met,
        PrerequisitesMet: met,
        NodeGroupReady:
          'False AccessDenied: UpdateNodegroupConfig of node group web failed: not authorized to perform: eks:Update.',
        NodesVerified: NO_NODES_YET,
        Reconciling: met.replace('False', 'True'),
      },
    ],
  ]);
});

describe('AWS that cannot be looked at', () => {
  const trouble = sampleTrouble('unavailable');
  const away = (seconds: number, last?: NodeGroup): Pick<Situation, 'group'> => ({
    group: { kind: 'unreachable', trouble, since: NOW - seconds * 1_000, last },
  });
  const unknown =
    "AWSUnavailable: Node group web can't be looked at: DescribeNodegroup failed: the call was unavailable.";
  const cluster = {
    kind: 'unreachable',
    trouble: sampleTrouble('unavailable', { operation: 'DescribeCluster' }),
  } as const;
  check([
    ['changes nothing for a minute', sampleSituation(away(59, sampleGroup())), {}],
    [
      'is told after a minute, and the pool stays Ready',
      sampleSituation(away(60, sampleGroup())),
      {
        NodeGroupReady: `Unknown ${unknown} It was ACTIVE when it was last seen.`,
        Reconciling: `True ${unknown} It was ACTIVE when it was last seen.`,
      },
    ],
    [
      'at the start leaves what the nodes say',
      sampleSituation({ ...away(0), cluster }),
      {
        Ready: 'False AWSUnavailable: DescribeCluster failed: the call was unavailable.',
        PrerequisitesMet: 'Unknown AWSUnavailable: DescribeCluster failed: the call was unavailable.',
        NodeGroupReady: `Unknown ${unknown}`,
        Reconciling: 'True AWSUnavailable: DescribeCluster failed: the call was unavailable.',
      },
    ],
    [
      'for a deleted pool names the way out',
      sampleSituation({
        pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }),
        ...away(0, sampleGroup()),
      }),
      working(
        'NodeGroupReady',
        'False Deleting: Node group web is being deleted. DescribeNodegroup failed: the call was unavailable. It is tried again; deletionPolicy: Retain lets the pool go without it.',
      ),
    ],
  ]);
});

describe('paused: the conditions are as observed, and Paused', () => {
  const pause = (how: string, going = '') =>
    `True Paused: Nothing is changed because ${how}.${going} status.pendingSteps says what would be done.`;
  check([
    [
      'by the spec',
      sampleSituation({ pool: samplePool({ paused: true }, { status: knownStatus() }) }),
      { Paused: pause('spec.paused is true') },
    ],
    [
      'by the annotation',
      sampleSituation({
        pool: samplePool({}, { metadata: { annotations: { 'winpool.dev/paused': 'true' } }, status: knownStatus() }),
      }),
      { Paused: pause('the annotation winpool.dev/paused is true') },
    ],
    [
      'while it is deleted',
      sampleSituation({ pool: samplePool({ paused: true }, { metadata: LEAVING, status: knownStatus() }) }),
      {
        ...working('NodeGroupReady', 'False Deleting: Node group web is being deleted.'),
        Paused: pause('spec.paused is true', ' The deletion waits, too.'),
      },
    ],
  ]);
});

describe('nothing but a human helps: Ready is False, and Stalled with the reason', () => {
  const issue = { code: 'NodeCreationFailure', message: 'Instances failed to join', resourceIds: ['i-1', 'i-2'] };
  const failed = (reason: string): WindowsPoolStatus =>
    knownStatus({
      failedTarget: { target: configTargetOf(pool), reason, message: 'EKS refused it', time: '2026-03-01T11:00:00Z' },
    });
  const api = { name: 'api', uid: 'uid-api' };
  const own = samplePool({ runtimeClass: { scope: 'Pool' } }, { status: knownStatus() });
  const foreign = sampleRuntimeClass(pool, { managed: false, owners: [], tolerations: [] });
  const nowhere = samplePool();
  const takenBy = (owners: string) =>
    `False NotOwned: RuntimeClass web says something else than this pool wants${owners}. Choose another runtimeClass.name, or delete it.`;
  const mismatch =
    'Check --cluster-name and --region. Nothing is changed; deletionPolicy: Retain lets a deleted pool go.';
  const elsewhere = `False ClusterMismatch: EKS cluster prod in eu-west-1 has another certificate authority than the API server that the operator uses. ${mismatch}`;
  const refused = sampleTrouble('refused', { operation: 'CreateNodegroup', message: 'Subnet x does not exist' });
  const limit = sampleTrouble('limit', { operation: 'CreateNodegroup', message: 'Quota of 30 is used up.' });
  const again = 'It is tried again after a while, and at once when the spec changes.';
  check([
    [
      'a creation failed',
      sampleSituation({ ...group({ status: 'CREATE_FAILED', healthIssues: [issue] }), nodes: [] }),
      {
        ...stalled(
          'NodeGroupReady',
          'False CreateFailed: EKS could not create node group web: NodeCreationFailure: Instances failed to join (i-1 and i-2). Mend the cause; the group is created anew after a while, and at once when the spec changes.',
        ),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'a creation was refused, told at once',
      sampleSituation({ ...absent, troubles: [{ step: 'createNodeGroup', trouble: refused }] }),
      {
        ...stalled(
          'NodeGroupReady',
          `False CreateRefused: EKS refused to create node group web: Subnet x does not exist. ${again}`,
        ),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'a quota is used up',
      sampleSituation({ ...absent, troubles: [{ step: 'createNodeGroup', trouble: limit }] }),
      {
        ...stalled(
          'NodeGroupReady',
          `False QuotaExceeded: EKS refused to create node group web: Quota of 30 is used up. ${again}`,
        ),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'an update was refused',
      sampleSituation({ pool: samplePool({}, { status: failed('UpdateRefused') }) }),
      stalled('NodeGroupReady', 'False UpdateRefused: EKS refused it. It is not tried again until the spec changes.'),
    ],
    [
      'an update failed, told at once',
      sampleSituation({
        pool: samplePool(
          {},
          {
            status: knownStatus({
              update: { id: 'u-1', type: 'ConfigUpdate', target: configTargetOf(pool), status: 'InProgress' },
            }),
          },
        ),
        update: {
          id: 'u-1',
          type: 'ConfigUpdate',
          status: 'Failed',
          createdAt: NOW,
          errors: [{ code: 'PodEvictionFailure', message: 'Reached max retries' }],
        },
      }),
      stalled(
        'NodeGroupReady',
        'False UpdateFailed: Update u-1 of node group web failed: PodEvictionFailure: Reached max retries. It is not tried again until the spec changes.',
      ),
    ],
    [
      'a deletion failed',
      sampleSituation(group({ status: 'DELETE_FAILED' })),
      stalled(
        'NodeGroupReady',
        'False DeleteFailed: EKS could not delete node group web: EKS gives no reason. It is tried again.',
      ),
    ],
    [
      'a foreign group has the name; its nodes are not counted',
      sampleSituation({ ...group({ tags: {} }), nodes: [] }),
      {
        ...stalled(
          'NodeGroupReady',
          'False NotOwned: A node group web exists that has no tag winpool.dev/pool=web. It is never changed. Set spec.nodeGroup.name to a name that is free, or delete that group.',
        ),
        NodesVerified: NO_NODES_YET,
      },
    ],
    [
      'the group differs in what EKS cannot change',
      sampleSituation(group({ amiType: 'WINDOWS_FULL_2022_x86_64', diskSizeGiB: 100 })),
      stalled(
        'NodeGroupReady',
        'False ImmutableDifference: Node group web differs in what EKS cannot change: AMI type is WINDOWS_FULL_2022_x86_64 and the spec says WINDOWS_CORE_2022_x86_64 and disk size is 100 and the spec says 50. Put the spec right, or create another pool.',
      ),
    ],
    ['the cluster is another', sampleSituation({ cluster: otherAuthority }), stalled('PrerequisitesMet', elsewhere)],
    [
      'the cluster is another and the pool is deleted',
      sampleSituation({ pool: samplePool({}, { metadata: LEAVING, status: knownStatus() }), cluster: otherAuthority }),
      { ...stalled('PrerequisitesMet', elsewhere), NodeGroupReady: 'False Deleting: Node group web is being deleted.' },
    ],
    [
      'the flags name another cluster',
      sampleSituation({ settings: { ...settings, clusterName: 'test' } }),
      stalled(
        'PrerequisitesMet',
        `False ClusterMismatch: The pool's node group was created in ${CLUSTER_ARN}, and the operator works for test in eu-west-1. ${mismatch}`,
      ),
    ],
    [
      'EKS does not know the cluster',
      sampleSituation({ pool: nowhere, cluster: { kind: 'absent' } }),
      stalled(
        'PrerequisitesMet',
        'False ClusterNotFound: EKS does not know a cluster prod in eu-west-1. Check --cluster-name and --region.',
      ),
    ],
    [
      'EKS no longer knows the cluster',
      sampleSituation({ cluster: { kind: 'absent' } }),
      stalled(
        'PrerequisitesMet',
        'False ClusterNotFound: EKS no longer knows a cluster prod in eu-west-1. Check --cluster-name and --region.',
      ),
    ],
    [
      'a foreign RuntimeClass has the name and does not fit',
      sampleSituation({ runtimeClass: foreign }),
      stalled(
        'RuntimeClassReady',
        'False NotOwned: RuntimeClass windows-2022 was there before and does not place pods on this pool: it needs handler runhcs-wcow-process, nodeSelector kubernetes.io/os=windows, kubernetes.io/arch=amd64 and node.kubernetes.io/windows-build=10.0.20348 and a toleration of os=windows:NoSchedule. Delete it and the operator makes its own, or set runtimeClass.scope: Pool.',
      ),
    ],
    [
      'another pool has the name of the RuntimeClass',
      sampleSituation({ pool: own, runtimeClass: sampleRuntimeClass(own, { owners: [api], tolerations: [] }) }),
      stalled('RuntimeClassReady', takenBy(' and belongs to api')),
    ],
    [
      'a RuntimeClass that was left behind has another handler',
      sampleSituation({ pool: own, runtimeClass: sampleRuntimeClass(own, { owners: [], handler: 'other' }) }),
      stalled('RuntimeClassReady', takenBy('')),
    ],
  ]);
});

describe('what helps itself is not Stalled', () => {
  const issue = { code: 'InsufficientFreeAddresses', message: 'Subnet subnet-1 is full.', resourceIds: ['subnet-1'] };
  const leaving = samplePool({}, { metadata: LEAVING, status: knownStatus() });
  const wayOut = 'It is tried again; deletionPolicy: Retain lets the pool go without it.';
  check([
    [
      'a degraded group with enough verified nodes',
      sampleSituation(group({ status: 'DEGRADED', healthIssues: [issue] })),
      {
        NodeGroupReady:
          'False Degraded: Node group web is DEGRADED: InsufficientFreeAddresses: Subnet subnet-1 is full. (subnet-1).',
      },
    ],
    [
      'an active group with a health issue',
      sampleSituation(group({ healthIssues: [{ ...issue, resourceIds: [] }] })),
      {
        NodeGroupReady:
          'True Active: Node group web is ACTIVE. Health issues: InsufficientFreeAddresses: Subnet subnet-1 is full.',
      },
    ],
    [
      'a group on which somebody else works',
      sampleSituation({ troubles: [{ step: 'updateConfig', trouble: sampleTrouble('busy') }] }),
      {},
    ],
    [
      'a throttled update',
      sampleSituation({
        troubles: [
          { step: 'updateConfig', trouble: sampleTrouble('throttled', { operation: 'UpdateNodegroupConfig' }) },
        ],
      }),
      {
        NodeGroupReady:
          'Unknown AWSUnavailable: UpdateNodegroupConfig of node group web failed: the call was throttled.',
        Reconciling: 'True AWSUnavailable: UpdateNodegroupConfig of node group web failed: the call was throttled.',
      },
    ],
    [
      'a RuntimeClass that was there before and fits',
      sampleSituation({ runtimeClass: sampleRuntimeClass(pool, { managed: false, owners: [] }) }),
      { RuntimeClassReady: 'True UsedAsIs: RuntimeClass windows-2022 was there before and fits.' },
    ],
    [
      'a pool that manages no RuntimeClass',
      sampleSituation({ pool: samplePool({ runtimeClass: { manage: false } }, { status: knownStatus() }) }),
      { RuntimeClassReady: 'True NotManaged: The pool manages no RuntimeClass (runtimeClass.manage is false).' },
    ],
    [
      'a deletion that EKS could not finish',
      sampleSituation({ pool: leaving, ...group({ status: 'DELETE_FAILED', healthIssues: [issue] }) }),
      working(
        'NodeGroupReady',
        `False DeleteFailed: EKS could not delete node group web: InsufficientFreeAddresses: Subnet subnet-1 is full. (subnet-1). ${wayOut}`,
      ),
    ],
    [
      'a deletion that EKS refused',
      sampleSituation({
        pool: leaving,
        troubles: [{ step: 'deleteNodeGroup', trouble: sampleTrouble('refused', { operation: 'DeleteNodegroup' }) }],
      }),
      working(
        'NodeGroupReady',
        `False Deleting: Node group web is being deleted. DeleteNodegroup failed: the call was refused. ${wayOut}`,
      ),
    ],
    [
      'a deletion with a foreign RuntimeClass of the name',
      sampleSituation({
        pool: leaving,
        runtimeClass: sampleRuntimeClass(pool, { managed: false, owners: [], handler: 'other' }),
      }),
      {
        ...working('NodeGroupReady', 'False Deleting: Node group web is being deleted.'),
        RuntimeClassReady:
          'False NotOwned: RuntimeClass windows-2022 was there before and does not place pods on this pool: it needs handler runhcs-wcow-process, nodeSelector kubernetes.io/os=windows, kubernetes.io/arch=amd64 and node.kubernetes.io/windows-build=10.0.20348 and a toleration of os=windows:NoSchedule. Delete it and the operator makes its own, or set runtimeClass.scope: Pool.',
      },
    ],
    [
      'a pool that goes without its group',
      sampleSituation({ pool: samplePool({ deletionPolicy: 'Retain' }, { metadata: LEAVING, status: knownStatus() }) }),
      working('NodeGroupReady', 'False Retained: Node group web stays as it is.'),
    ],
  ]);
});

describe('in every situation', () => {
  /** As sigs.k8s.io/cli-utils/pkg/kstatus reads a custom resource. */
  function kstatus({ Ready, Reconciling, Stalled }: Assessment): string[] {
    return [
      ...(Stalled ? ['Failed'] : []),
      ...(Reconciling ? ['InProgress'] : []),
      ...(Ready.status === 'True' && !Reconciling && !Stalled ? ['Current'] : []),
    ];
  }

  it('a pool is never both Reconciling and Stalled, nor Ready and Stalled', () => {
    fc.assert(
      fc.property(randomSituation, (s) => {
        const assessment = assess(s);
        assert.ok(kstatus(assessment).length <= 1, JSON.stringify(assessment));
        assert.ok(!(assessment.Stalled && assessment.Ready.status !== 'False'), JSON.stringify(assessment));
      }),
      { numRuns: 3_000 },
    );
  });

  it('every condition has a reason of the catalogue and a message of whole sentences without request ids', () => {
    fc.assert(
      fc.property(randomSituation, (s) => {
        for (const { reason, message } of Object.values(assess(s))) {
          assert.ok(reason in reasons, reason);
          assert.match(message, /^[A-Z0-9].*\.$/s);
          assert.doesNotMatch(message, /undefined|request ?id|\.\.$|NaN|\[object/i);
        }
      }),
      { numRuns: 3_000 },
    );
  });
});
