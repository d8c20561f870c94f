import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { GATE_TAINT } from '../../controllers/windowspool/nodes/nodeTaints.ts';
import { sampleNode, sampleNodes } from '../../controllers/windowspool/testing/fixtures.ts';
import type { LintedRuntimeClass } from '../../controllers/workloads/lint.ts';
import { assertGolden } from '../../test/goldenText.ts';
import { diagnosisLines, diagnosisOf, type Evidence } from './diagnose.ts';
import { plain } from './text.ts';

const runtimeClasses: readonly LintedRuntimeClass[] = [
  {
    metadata: { name: 'windows-2022' },
    handler: 'runhcs-wcow-process',
    scheduling: { nodeSelector: { 'kubernetes.io/os': 'windows', 'node.kubernetes.io/windows-build': '10.0.20348' } },
  },
];
const SELECTOR = { 'kubernetes.io/os': 'windows', 'node.kubernetes.io/windows-build': '10.0.20348' };
const TOLERATIONS = [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }];
const LIMITS = { limits: { memory: '1Gi', 'vpc.amazonaws.com/PrivateIPv4Address': '1' } };

function podWith(spec: object = {}, status: object = {}): Wire<V1Pod> {
  const containers = [{ name: 'app', image: 'example.com/app:ltsc2022', resources: LIMITS }];
  return {
    metadata: { name: 'app', namespace: 'shop', uid: 'u' },
    spec: { runtimeClassName: 'windows-2022', nodeSelector: SELECTOR, tolerations: TOLERATIONS, containers, ...spec },
    status: { phase: 'Pending', ...status },
  };
}

function evidence(change: Partial<Evidence> = {}): Evidence {
  return { pod: podWith(), runtimeClasses, nodes: sampleNodes(3), warnings: [], ...change };
}

const [node = sampleNode()] = sampleNodes(1);
const on2025 = sampleNode({ labels: { ...node.labels, 'node.kubernetes.io/windows-build': '10.0.26100' } });
const gated = sampleNode({
  name: 'ip-10-0-1-9',
  labels: { ...node.labels, 'winpool.dev/pool': 'web' },
  taints: [...node.taints, GATE_TAINT],
  verified: { status: 'False', reason: 'RevisionTooLow', message: 'WindowsPool web: runs 10.0.20348.1.' },
});
const waiting = (reason: string, message: string) => ({
  containerStatuses: [{ name: 'app', state: { waiting: { reason, message } } }],
});
const placed = { nodeName: node.name };

const situations: Readonly<Record<string, Evidence>> = {
  runs: evidence({ pod: podWith(placed, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }) }),
  'selects another build': evidence({ nodes: [on2025] }),
  'waits for a node that is not verified': evidence({
    nodes: [gated],
    warnings: ['FailedScheduling: 0/2 nodes are available: 1 node(s) had untolerated taint(s).'],
  }),
  'is not scheduled, and the user may read neither nodes nor events': {
    ...evidence({
      pod: podWith(
        {},
        {
          conditions: [
            { type: 'PodScheduled', status: 'False', message: '0/2 nodes are available: 2 Insufficient memory.' },
          ],
        },
      ),
    }),
    nodes: undefined,
  },
  'does not tolerate the taint of Windows nodes': evidence({ pod: podWith({ tolerations: [] }) }),
  'has no Windows node': evidence({ nodes: [] }),
  'waits for a cordoned node, and one that is not Ready': evidence({
    nodes: [sampleNode({ unschedulable: true }), sampleNode({ name: 'ip-10-0-1-8', ready: 'Unknown' })],
  }),
  'has an image of another build': evidence({
    pod: podWith(
      { ...placed, containers: [{ name: 'app', image: 'example.com/app:ltsc2019', resources: LIMITS }] },
      waiting(
        'CreateContainerError',
        'hcs::CreateComputeSystem app: The container operating system does not match the host operating system. (0xc0370101)',
      ),
    ),
  }),
  'has an image newer than its node': evidence({
    pod: podWith(placed, waiting('CreateContainerError', 'hcs: 0xc0370106')),
  }),
  'has no IP address': evidence({
    pod: podWith(
      { ...placed, containers: [{ name: 'app', image: 'app', resources: {} }] },
      waiting('ContainerCreating', ''),
    ),
    warnings: [
      'FailedCreatePodSandBox: failed to parse Kubernetes args: pod does not have label vpc.amazonaws.com/PrivateIPv4Address',
    ],
  }),
  'has a RuntimeClass with a handler that does not exist': evidence({
    pod: podWith(placed, waiting('ContainerCreating', '')),
    warnings: ['FailedCreatePodSandBox: no runtime for "docker" is configured'],
  }),
  'has an image that cannot be pulled': evidence({
    pod: podWith(placed, waiting('ImagePullBackOff', 'Back-off pulling image')),
  }),
  'has an image without a variant for its node': evidence({
    pod: podWith(
      { ...placed, containers: [{ name: 'app', image: 'example.com/app:ltsc2025', resources: LIMITS }] },
      waiting('ImagePullBackOff', 'Back-off pulling image: ErrImagePull: no match for platform in manifest: not found'),
    ),
  }),
  'has no IP address because the subnet is full': evidence({
    pod: podWith(placed, waiting('ContainerCreating', '')),
    warnings: [
      'FailedCreatePodSandBox: pod does not have label vpc.amazonaws.com/PrivateIPv4Address',
      'ResourceAllocationFailed: the specified subnet does not have enough free cidr blocks, will retry in 2m0s',
    ],
  }),
  'finds all addresses of the nodes taken': evidence({
    pod: podWith(
      {},
      {
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            message: '0/3 nodes are available: 3 Insufficient vpc.amazonaws.com/PrivateIPv4Address.',
          },
        ],
      },
    ),
  }),
  'waits for nodes in a state that a taint says': evidence({
    nodes: [
      ['a', 'readiness.k8s.io/network'],
      ['b', 'node.kubernetes.io/disk-pressure'],
      ['c', 'karpenter.sh/disrupted'],
      ['d', 'ebs.csi.aws.com/agent-not-ready'],
      ['e', 'node.cloudprovider.kubernetes.io/uninitialized'],
      ['f', 'team.example.com/gpu'],
    ].map(([name = '', key = '']) =>
      sampleNode({ name, taints: [...node.taints, { key, effect: 'NoSchedule' as const }] }),
    ),
  }),
  'was evicted': evidence({
    pod: podWith(placed, {
      phase: 'Failed',
      reason: 'Evicted',
      message: 'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ',
    }),
  }),
  'crashes with exit codes of Windows': evidence({
    pod: podWith(placed, {
      containerStatuses: [
        {
          name: 'app',
          state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s restarting failed container' } },
          lastState: { terminated: { exitCode: -1073741515, reason: 'Error' } },
        },
      ],
    }),
  }),
  'does not start for a reason that only the kubelet knows': evidence({
    pod: podWith(placed, waiting('CreateContainerConfigError', 'secret "tls" not found')),
  }),
  'is a Linux pod on a Windows node': evidence({
    pod: podWith({ ...placed, runtimeClassName: undefined, nodeSelector: {}, tolerations: [{ operator: 'Exists' }] }),
  }),
  'selects nothing of Windows': evidence({ pod: podWith({ runtimeClassName: undefined, nodeSelector: {} }) }),
  'has no events yet': evidence({ pod: podWith(placed) }),
  'fails for a reason that is unknown here': evidence({
    pod: podWith(placed),
    warnings: ['FailedMount: the volume does not exist', 'BackOff: earlier'],
  }),
};

describe('kubectl windowspool diagnose', () => {
  it('shows why a pod does not run, and what to do', async () => {
    const texts = Object.entries(situations).map(([name, each]) =>
      [`# a pod that ${name}`, ...diagnosisLines(diagnosisOf(each), 80, plain)].join('\n'),
    );
    await assertGolden('plugin/diagnose', `${texts.join('\n\n')}\n`);
  });

  it('finds a cause for each pod that has one', () => {
    for (const [name, each] of Object.entries(situations))
      assert.equal(diagnosisOf(each).causes.length === 0, ['runs', 'has no events yet'].includes(name), name);
  });
});
