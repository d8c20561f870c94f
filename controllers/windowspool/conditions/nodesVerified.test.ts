import { knownStatus, MINUTE, NOW, sampleNode, sampleNodes, samplePool, sampleState } from '../testing/fixtures.ts';
import { group, joiningFor, recorded, type Shown, truthTable, wrongNode } from '../testing/truthTable.ts';

const check = truthTable('conditions/NodesVerified');

describe('a rolling update or growth of a Ready pool', () => {
  const five = group({ scaling: { minSize: 3, maxSize: 5, desiredSize: 5 } });
  const young = sampleNode({ name: 'ip-9', createdAt: NOW - MINUTE, ready: 'False', readyReason: 'KubeletNotReady' });
  check([
    [
      'is Reconciling while EKS updates the group',
      sampleState(group({ status: 'UPDATING' })),
      {
        NodeGroupReady: ['True Updating', 'web'],
        Reconciling: ['True Updating', 'web'],
      },
    ],
    ['is not Reconciling while the group grows', sampleState(five), { NodesVerified: ['Unknown Joining', '3 of 5'] }],
    [
      'is not Reconciling while new nodes become Ready',
      sampleState({
        ...group({ scaling: { minSize: 3, maxSize: 5, desiredSize: 4 } }),
        nodes: [...sampleNodes(3), young],
      }),
      {
        Ready: ['True EnoughNodesVerified', '3 of 4'],
        NodesVerified: ['Unknown Joining', '1 node', 'ip-9', 'KubeletNotReady'],
      },
    ],
    [
      'lacks no nodes while every instance is younger than the join grace',
      sampleState({
        pool: samplePool({}, { status: joiningFor(20) }),
        ...five,
        instances: [1, 2, 3, 4, 5].map((i) => ({ id: `i-${i}`, privateDnsName: '', launchedAt: NOW - MINUTE })),
      }),
      { NodesVerified: ['Unknown Joining', '3 of 5'] },
    ],
  ]);
});

describe('a pool with the desired size 0', () => {
  const none = samplePool({ nodeGroup: { scaling: { minSize: 0, maxSize: 5 } } }, { status: knownStatus() });
  check([
    [
      'is Ready without nodes',
      sampleState({ pool: none, nodes: [] }),
      {
        Ready: ['True NoNodes'],
        NodesVerified: ['True NoNodes'],
      },
    ],
  ]);
});

describe('NodesVerified names failing nodes', () => {
  const none = samplePool(
    { nodeGroup: { scaling: { minSize: 0, maxSize: 5, desiredSize: 1 } } },
    { status: knownStatus() },
  );
  check([
    [
      'and Ready stays True with enough verified nodes',
      sampleState({ nodes: [...sampleNodes(3), wrongNode('ip-9')] }),
      {
        Ready: ['True EnoughNodesVerified', '3 of 4'],
        NodesVerified: ['False WrongBuild', '1 of 4', 'ip-9', '2025', '10.0.26100', '2022', '10.0.20348'],
      },
    ],
    [
      'and Ready is False with fewer verified nodes than minSize',
      sampleState({ nodes: [...sampleNodes(1), wrongNode('ip-8'), wrongNode('ip-9')] }),
      {
        Ready: ['False WrongBuild', '1 of 3 required', '2 of 3', 'ip-8', '2025', '10.0.26100', '2022'],
        NodesVerified: ['False WrongBuild', '2 of 3', 'ip-8', '2025', '10.0.26100', '2022', '10.0.20348'],
      },
    ],
    [
      'and Ready is False when no node is verified, even if minSize is 0',
      sampleState({ pool: none, nodes: [wrongNode('ip-9')] }),
      {
        Ready: ['False WrongBuild', '0 of 1 required', '1 of 1', 'ip-9', '2025', '10.0.26100', '2022'],
        NodesVerified: ['False WrongBuild', '1 of 1', 'ip-9', '2025', '10.0.26100', '2022', '10.0.20348'],
      },
    ],
    [
      'and counts nodes with different failures',
      sampleState({
        nodes: [
          ...sampleNodes(3),
          ...['ip-6', 'ip-7', 'ip-8'].map(wrongNode),
          sampleNode({ name: 'ip-9', taints: [] }),
        ],
      }),
      {
        Ready: ['True EnoughNodesVerified', '3 of 7'],
        NodesVerified: ['False NodesFailing', '4 of 7', 'ip-6', '2025', '10.0.26100', '2022', '10.0.20348'],
      },
    ],
    [
      'and stays True when nodes have only warnings',
      sampleState({
        pool: samplePool({ verification: { policy: 'Report', minimumReservedMemory: '2Gi' } }),
        nodes: [...sampleNodes(2), sampleNode({ name: 'ip-9', capacity: { memory: '7Gi' } })],
      }),
      {
        NodesVerified: [
          'True AllVerified',
          '3 nodes',
          '1 node',
          'ip-9',
          '1024Mi',
          'verification.minimumReservedMemory',
          '2Gi',
        ],
      },
    ],
  ]);
});

describe('nodes that a NodeReadinessRule keeps pods off', () => {
  const held = (name: string) => sampleNode({ name, taints: [...sampleNode().taints, RULE_TAINT] });
  const RULE_TAINT = { key: 'readiness.k8s.io/web', effect: 'NoSchedule' } as const;
  check([
    [
      'do not count as capacity, so that a pool with too few others is not Ready',
      sampleState({ nodes: [...sampleNodes(1), held('ip-8'), held('ip-9')] }),
      {
        Ready: ['False AwaitingReadinessRule', '1 of 3 required', '3 nodes', '2 nodes', 'readiness.k8s.io/'],
        Reconciling: ['True AllVerified', '3 nodes', '2 nodes', 'readiness.k8s.io/'],
        NodesVerified: ['True AllVerified', '3 nodes', '2 nodes', 'readiness.k8s.io/'],
      },
    ],
    [
      'are mentioned while the pool is Ready with the others',
      sampleState({ nodes: [...sampleNodes(3), held('ip-9')] }),
      {
        Ready: ['True EnoughNodesVerified', '4 of 4'],
        NodesVerified: ['True AllVerified', '4 nodes', '1 node', 'readiness.k8s.io/'],
      },
    ],
  ]);
});

describe('nodes that have not joined within the join grace', () => {
  const late = { pool: samplePool({}, { status: joiningFor(15) }), nodes: sampleNodes(2) };
  const lacking = (...args: string[]): Shown => ({
    Ready: ['False NodesMissing', '2 of 3 required', ...args],
    NodesVerified: ['False NodesMissing', '1 of 3', '15 minutes', ...args],
  });
  const instance = (id: string, minutes: number) => ({ id, privateDnsName: '', launchedAt: NOW - minutes * MINUTE });
  const joinedIds = sampleNodes(2).map(({ providerID }) => providerID.split('/').at(-1) ?? '');
  check([
    ['are reported as missing', sampleState(late), lacking('kubelet log')],
    [
      'are named by their instances',
      sampleState({
        ...late,
        instances: [...joinedIds, 'i-new', 'i-late'].map((id) => instance(id, id === 'i-new' ? 1 : 20)),
      }),
      lacking('i-late', 'kubelet log', 'aws ssm start-session --target i-late'),
    ],
    [
      'may have no instance',
      sampleState({ ...late, instances: joinedIds.map((id) => instance(id, 60)) }),
      lacking('activity history'),
    ],
    [
      'are reported as missing until they join',
      sampleState({ ...late, pool: samplePool({}, { status: recorded({ nodesMissing: true }) }) }),
      lacking('kubelet log'),
    ],
    [
      'are joining before that',
      sampleState({ ...late, pool: samplePool({}, { status: joiningFor(14) }) }),
      {
        Ready: ['False Joining', '2 of 3 required'],
        NodesVerified: ['Unknown Joining', '2 of 3'],
        Reconciling: ['True Joining', '2 of 3 required'],
      },
    ],
  ]);
});
