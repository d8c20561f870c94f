import { knownStatus, MINUTE, NOW, sampleNode, sampleNodes, samplePool, sampleState } from '../testing/fixtures.ts';
import { check, group, OTHER_BUILD, type Shown, since, wrongNode } from '../testing/truthTable.ts';

const replaceCommand = (node: string) => `Replace it: kubectl annotate node ${node} winpool.dev/replace=true`;

describe('a rolling update or growth of a Ready pool', () => {
  const five = group({ scaling: { minSize: 3, maxSize: 5, desiredSize: 5 } });
  const young = sampleNode({ name: 'ip-9', createdAt: NOW - MINUTE, ready: 'False', readyReason: 'KubeletNotReady' });
  check([
    [
      'is Reconciling while EKS updates the group',
      sampleState(group({ status: 'UPDATING' })),
      {
        NodeGroupReady: 'True Updating: EKS is updating node group web.',
        Reconciling: 'True Updating: EKS is updating node group web.',
      },
    ],
    [
      'is not Reconciling while the group grows',
      sampleState(five),
      { NodesVerified: 'Unknown Joining: 3 of 5 nodes joined, 2 joining.' },
    ],
    [
      'is not Reconciling while new nodes become Ready',
      sampleState({
        ...group({ scaling: { minSize: 3, maxSize: 5, desiredSize: 4 } }),
        nodes: [...sampleNodes(3), young],
      }),
      {
        Ready: 'True Verified: 3 of 4 nodes verified.',
        NodesVerified:
          'Unknown Joining: 1 node joined and is not ready yet: ip-9 is not Ready (False, KubeletNotReady).',
      },
    ],
    [
      'lacks no nodes while every instance is younger than the join grace',
      sampleState({
        pool: samplePool({}, { status: since(20, 'Joining') }),
        ...five,
        instances: [1, 2, 3, 4, 5].map((i) => ({ id: `i-${i}`, privateDnsName: '', launchedAt: NOW - MINUTE })),
      }),
      { NodesVerified: 'Unknown Joining: 3 of 5 nodes joined, 2 joining.' },
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
        Ready: 'True NoNodes: The desired size is 0.',
        NodesVerified: 'True NoNodes: The desired size is 0.',
      },
    ],
  ]);
});

describe('NodesVerified names failing nodes', () => {
  const one = `False WrongBuild: 1 of 4 nodes failed verification: ip-9 ${OTHER_BUILD}. ${replaceCommand('ip-9')}`;
  const none = samplePool(
    { nodeGroup: { scaling: { minSize: 0, maxSize: 5, desiredSize: 1 } } },
    { status: knownStatus() },
  );
  check([
    [
      'and Ready stays True with enough verified nodes',
      sampleState({ nodes: [...sampleNodes(3), wrongNode('ip-9')] }),
      { Ready: 'True Verified: 3 of 4 nodes verified.', NodesVerified: one },
    ],
    [
      'and Ready is False with fewer verified nodes than minSize',
      sampleState({ nodes: [...sampleNodes(1), wrongNode('ip-8'), wrongNode('ip-9')] }),
      {
        Ready: `False WrongBuild: 1 of 3 required nodes verified. 2 of 3 nodes failed verification: ip-8 ${OTHER_BUILD}; ip-9 ${OTHER_BUILD}. ${replaceCommand('ip-8')}`,
        NodesVerified: `False WrongBuild: 2 of 3 nodes failed verification: ip-8 ${OTHER_BUILD}; ip-9 ${OTHER_BUILD}. ${replaceCommand('ip-8')}`,
      },
    ],
    [
      'and Ready is False when no node is verified, even if minSize is 0',
      sampleState({ pool: none, nodes: [wrongNode('ip-9')] }),
      {
        Ready: `False WrongBuild: 0 of 1 required node verified. 1 of 1 node failed verification: ip-9 ${OTHER_BUILD}. ${replaceCommand('ip-9')}`,
        NodesVerified: `False WrongBuild: 1 of 1 node failed verification: ip-9 ${OTHER_BUILD}. ${replaceCommand('ip-9')}`,
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
        Ready: 'True Verified: 3 of 7 nodes verified.',
        NodesVerified: `False NodesFailing: 4 of 7 nodes failed verification: ip-6 ${OTHER_BUILD}; ip-7 ${OTHER_BUILD}; ip-8 ${OTHER_BUILD} and 1 more. See status.failingNodes.`,
      },
    ],
    [
      'and stays True when nodes have only warnings',
      sampleState({
        pool: samplePool({ verification: { policy: 'Report', minimumReservedMemory: '2Gi' } }),
        nodes: [...sampleNodes(2), sampleNode({ name: 'ip-9', capacity: { memory: '7Gi' } })],
      }),
      {
        NodesVerified:
          'True AllVerified: 3 nodes verified. 1 node with a warning, such as ip-9 reserves 1024Mi of memory for the system, less than verification.minimumReservedMemory 2Gi: set nodeGroup.kubelet.systemReserved, or set memory limits on its pods.',
      },
    ],
  ]);
});

describe('nodes that a NodeReadinessRule keeps pods off', () => {
  const held = (name: string) => sampleNode({ name, taints: [...sampleNode().taints, RULE_TAINT] });
  const RULE_TAINT = { key: 'readiness.k8s.io/web', effect: 'NoSchedule' } as const;
  const waiting =
    '3 nodes verified. 2 nodes are gated: no new pods are scheduled there. 2 verified nodes have a taint under readiness.k8s.io/ until NodeReadinessRules remove it: see kubectl describe nodereadinessrules.';
  check([
    [
      'do not count as capacity, so that a pool with too few others is not Ready',
      sampleState({ nodes: [...sampleNodes(1), held('ip-8'), held('ip-9')] }),
      {
        Ready: `False AwaitingReadinessRule: 1 of 3 required nodes accepting pods. ${waiting}`,
        Reconciling: `True AllVerified: ${waiting}`,
        NodesVerified: `True AllVerified: ${waiting}`,
      },
    ],
    [
      'are mentioned while the pool is Ready with the others',
      sampleState({ nodes: [...sampleNodes(3), held('ip-9')] }),
      {
        Ready: 'True Verified: 4 of 4 nodes verified.',
        NodesVerified:
          'True AllVerified: 4 nodes verified. 1 node is gated: no new pods are scheduled there. 1 verified node has a taint under readiness.k8s.io/ until its NodeReadinessRule removes it: see kubectl describe nodereadinessrules.',
      },
    ],
  ]);
});

describe('nodes that have not joined within the join grace', () => {
  const late = { pool: samplePool({}, { status: since(15, 'Joining') }), nodes: sampleNodes(2) };
  const missing = '2 of 3 nodes joined, 1 did not join within 15 minutes. ';
  const remedy = 'Check the kubelet log';
  const lacking = (message: string): Shown => ({
    Ready: `False NodesMissing: 2 of 3 required nodes verified. ${message}`,
    NodesVerified: `False NodesMissing: ${message}`,
  });
  const instance = (id: string, minutes: number) => ({ id, privateDnsName: '', launchedAt: NOW - minutes * MINUTE });
  const joinedIds = sampleNodes(2).map(({ providerID }) => providerID.split('/').at(-1) ?? '');
  check([
    ['are reported as missing', sampleState(late), lacking(`${missing}${remedy}.`)],
    [
      'are named by their instances',
      sampleState({
        ...late,
        instances: [...joinedIds, 'i-new', 'i-late'].map((id) => instance(id, id === 'i-new' ? 1 : 20)),
      }),
      lacking(
        `${missing}Running but not joined: i-late. ${remedy} on the instance: aws ssm start-session --target i-late`,
      ),
    ],
    [
      'may have no instance',
      sampleState({ ...late, instances: joinedIds.map((id) => instance(id, 60)) }),
      lacking(
        `${missing}No running instance is waiting to join. Check the activity history of the Auto Scaling group.`,
      ),
    ],
    [
      'are reported as missing until they join',
      sampleState({ ...late, pool: samplePool({}, { status: since(1, 'NodesMissing') }) }),
      lacking(`${missing}${remedy}.`),
    ],
    [
      'are joining before that',
      sampleState({ ...late, pool: samplePool({}, { status: since(14, 'Joining') }) }),
      {
        Ready: 'False Joining: 2 of 3 required nodes verified. 2 of 3 nodes joined, 1 joining.',
        NodesVerified: 'Unknown Joining: 2 of 3 nodes joined, 1 joining.',
        Reconciling: 'True Joining: 2 of 3 required nodes verified. 2 of 3 nodes joined, 1 joining.',
      },
    ],
  ]);
});
