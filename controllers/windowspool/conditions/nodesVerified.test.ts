import { knownStatus, MINUTE, NOW, sampleNode, sampleNodes, samplePool, sampleState } from '../testing/fixtures.ts';
import { check, group, OTHER_BUILD, type Shown, since, wrongNode } from '../testing/truthTable.ts';

const MOVE = 'Drain and end the node, and check the AMI.';

describe('a rolling update or growth of a Ready pool: Ready stays True', () => {
  const five = group({ scaling: { min: 3, max: 5, desired: 5 } });
  const young = sampleNode({ name: 'ip-9', createdAt: NOW - MINUTE, ready: 'False', readyReason: 'KubeletNotReady' });
  check([
    [
      'Reconciling while EKS updates',
      sampleState(group({ status: 'UPDATING' })),
      {
        NodeGroupReady: 'True Updating: EKS is updating node group web.',
        Reconciling: 'True Updating: EKS is updating node group web.',
      },
    ],
    [
      'growth is not called Reconciling',
      sampleState(five),
      { NodesVerified: 'Unknown Joining: 3 of 5 nodes joined; waiting for 2.' },
    ],
    [
      'nor are nodes that joined a moment ago',
      sampleState({ ...group({ scaling: { min: 3, max: 5, desired: 4 } }), nodes: [...sampleNodes(3), young] }),
      {
        Ready: 'True Verified: 3 of 4 nodes verified.',
        NodesVerified:
          'Unknown Joining: 1 node joined and is not complete yet: ip-9 is not Ready (False, KubeletNotReady).',
      },
    ],
    [
      'growth that lasts is no alarm while every instance is younger than the join grace',
      sampleState({
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
      sampleState({ pool: none, nodes: [] }),
      {
        Ready: 'True NoNodes: The pool wants no nodes.',
        NodesVerified: 'True NoNodes: The pool has no nodes and wants none.',
      },
    ],
  ]);
});

describe('one bad node of many: NodesVerified names it, Ready falls with the last that must be', () => {
  const one = `False WrongBuild: 1 of 4 nodes fails verification: ip-9 ${OTHER_BUILD}. ${MOVE}`;
  const none = samplePool({ scaling: { min: 0, max: 5, desired: 1 } }, { status: knownStatus() });
  check([
    [
      'Ready stays True with enough others',
      sampleState({ nodes: [...sampleNodes(3), wrongNode('ip-9')] }),
      { Ready: 'True Verified: 3 of 4 nodes verified.', NodesVerified: one },
    ],
    [
      'Ready is False with fewer than scaling.min',
      sampleState({ nodes: [...sampleNodes(1), wrongNode('ip-8'), wrongNode('ip-9')] }),
      {
        Ready: `False WrongBuild: 1 node of the 3 that the pool must have is verified. 2 of 3 nodes fail verification: ip-8 ${OTHER_BUILD}; ip-9 ${OTHER_BUILD}. ${MOVE}`,
        NodesVerified: `False WrongBuild: 2 of 3 nodes fail verification: ip-8 ${OTHER_BUILD}; ip-9 ${OTHER_BUILD}. ${MOVE}`,
      },
    ],
    [
      'Ready is False when none is verified, though scaling.min is 0',
      sampleState({ pool: none, nodes: [wrongNode('ip-9')] }),
      {
        Ready: `False WrongBuild: 0 nodes of the 1 that the pool must have are verified. 1 of 1 node fails verification: ip-9 ${OTHER_BUILD}. ${MOVE}`,
        NodesVerified: `False WrongBuild: 1 of 1 node fails verification: ip-9 ${OTHER_BUILD}. ${MOVE}`,
      },
    ],
    [
      'many nodes with different failures are counted',
      sampleState({
        nodes: [
          ...sampleNodes(3),
          ...['ip-6', 'ip-7', 'ip-8'].map(wrongNode),
          sampleNode({ name: 'ip-9', taints: [] }),
        ],
      }),
      {
        Ready: 'True Verified: 3 of 7 nodes verified.',
        NodesVerified: `False NodesFailing: 4 of 7 nodes fail verification: ip-6 ${OTHER_BUILD}; ip-7 ${OTHER_BUILD}; ip-8 ${OTHER_BUILD} and 1 more. Look at status.failingNodes.`,
      },
    ],
    [
      'a warning is told and harms nothing',
      sampleState({
        pool: samplePool({ verification: { policy: 'Report', minimumReservedMemory: '2Gi' } }),
        nodes: [...sampleNodes(2), sampleNode({ name: 'ip-9', capacity: { memory: '7Gi' } })],
      }),
      {
        NodesVerified:
          'True AllVerified: 3 nodes verified. 1 node with a warning, such as ip-9 reserves 1024Mi of memory for the system, less than verification.minimumReservedMemory 2Gi: set memory limits on its pods, because EKS passes no kubelet arguments to its Windows AMIs.',
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
    ['are missing', sampleState(late), lacking(missing + look)],
    [
      'are named by their instances',
      sampleState({
        ...late,
        instances: [...joinedIds, 'i-new', 'i-late'].map((id) => instance(id, id === 'i-new' ? 1 : 20)),
      }),
      lacking(`${missing}Running and not joined: i-late. ${look}`),
    ],
    [
      'have no instance at all',
      sampleState({ ...late, instances: joinedIds.map((id) => instance(id, 60)) }),
      lacking(`${missing}No running instance waits to join: look at the activity of the scaling group.`),
    ],
    [
      'stay missing until they come',
      sampleState({ ...late, pool: samplePool({}, { status: since(1, 'NodesMissing') }) }),
      lacking(missing + look),
    ],
    [
      'are on their way before that',
      sampleState({ ...late, pool: samplePool({}, { status: since(14, 'Joining') }) }),
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
