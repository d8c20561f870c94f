/** Pods that do not run on Windows, with what `kubectl windowspool diagnose` reads about them. */
import type { V1Pod } from '@kubernetes/client-node';
import type { Wire } from '../../../controllers/kubernetes/objects.ts';
import { GATE_TAINT } from '../../../controllers/windowspool/nodes/nodeTaints.ts';
import { sampleNode, sampleNodes } from '../../../controllers/windowspool/testing/fixtures.ts';
import type { LintedRuntimeClass } from '../../../controllers/workloads/lint.ts';
import type { Evidence } from '../diagnosis.ts';

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

/** A pod of the RuntimeClass windows-2022. */
export function podWith(spec: object = {}, status: object = {}): Wire<V1Pod> {
  const containers = [{ name: 'app', image: 'example.com/app:ltsc2022', resources: LIMITS }];
  return {
    metadata: { name: 'app', namespace: 'shop', uid: 'u' },
    spec: { runtimeClassName: 'windows-2022', nodeSelector: SELECTOR, tolerations: TOLERATIONS, containers, ...spec },
    status: { phase: 'Pending', ...status },
  };
}

/** Three good nodes, no events, and what `change` sets. */
export function evidence(change: Partial<Evidence> = {}): Evidence {
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
/** The status of a pod whose container waits. */
export const waiting = (reason: string, message: string) => ({
  containerStatuses: [{ name: 'app', state: { waiting: { reason, message } } }],
});
/** The spec of a pod with a node. */
export const placed = { nodeName: node.name };
/** The status of a pod whose container runs. */
export const runs = {
  phase: 'Running',
  podIP: '10.0.1.77',
  containerStatuses: [{ name: 'app', state: { running: { startedAt: '2026-11-24T10:00:00Z' } } }],
};
const crashed = (exitCode: number, reason = 'Error') => ({
  containerStatuses: [
    {
      name: 'app',
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s restarting failed container' } },
      lastState: { terminated: { exitCode, reason } },
    },
  ],
});
const unscheduled = (message: string) => ({
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
});
const silent = sampleNode({
  ready: 'Unknown',
  readyReason: 'NodeStatusUnknown',
  readyMessage: 'Kubelet stopped posting node status.',
});
const deleted = { deletionTimestamp: '2026-11-24T09:00:00Z' };

/** Pods in need of a diagnosis, by what follows "a pod that". Golden of `diagnose`, and examples in docs/operate/symptoms.md. */
export const podSituations = {
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
  'waits for its image': evidence({
    pod: podWith(placed, waiting('ContainerCreating', '')),
    warnings: ['Pulling: Pulling image "example.com/app:ltsc2022"'],
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
  'finds no address on a node of an instance type that is not supported': evidence({
    pod: podWith({}, unscheduled('0/1 nodes are available: 1 Insufficient vpc.amazonaws.com/PrivateIPv4Address.')),
    nodes: [sampleNode({ allocatable: { memory: '6291456Ki' } })],
    nodeWarnings: [
      {
        node: 'other',
        text: 'Unsupported: The instance type m9.other is not supported yet by the vpc resource controller',
      },
      {
        node: sampleNode().name,
        text: 'Unsupported: The instance type m9.xlarge is not supported yet by the vpc resource controller',
      },
    ],
  }),
  'has no IP address, and only the events of its node say why': evidence({
    pod: podWith(placed, waiting('ContainerCreating', '')),
    warnings: ['FailedCreatePodSandBox: pod does not have label vpc.amazonaws.com/PrivateIPv4Address'],
    nodeWarnings: [
      { node: node.name, text: 'InsufficientCidrBlocks: The specified subnet does not have enough free cidr blocks' },
    ],
  }),
  'waits for nodes in a state that a taint says': evidence({
    nodes: [
      ['a', 'readiness.k8s.io/network'],
      ['b', 'node.kubernetes.io/disk-pressure'],
      ['c', 'karpenter.sh/disrupted'],
      ['d', 'ebs.csi.aws.com/agent-not-ready'],
      ['e', 'node.cloudprovider.kubernetes.io/uninitialized'],
      ['f', 'team.example.com/gpu'],
      ['g', 'karpenter.sh/unregistered'],
      ['h', 'node.kubernetes.io/os'],
      ['i', 'node-role.kubernetes.io/control-plane'],
      ['j', 'node.kubernetes.io/network-unavailable'],
    ].map(([name = '', key = '']) =>
      sampleNode({ name, taints: [...node.taints, { key, effect: 'NoSchedule' as const }] }),
    ),
  }),
  'was evicted': evidence({
    nodes: [{ ...node, ready: 'False', readyReason: 'KubeletNotReady', readyMessage: 'node is shutting down' }],
    pod: podWith(placed, {
      phase: 'Failed',
      containerStatuses: [{ name: 'app', state: { terminated: { exitCode: 137, reason: 'Error' } } }],
      reason: 'Evicted',
      message: 'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ',
    }),
  }),
  'crashes with exit codes of Windows': evidence({ pod: podWith(placed, crashed(-1073741515)) }),
  'crashes with an exit code of its program': evidence({
    pod: podWith(placed, crashed(1)),
    warnings: ['BackOff: Back-off restarting failed container app in pod app_shop(u)'],
  }),
  'crashes with a message of its program that quotes an error of Windows': evidence({
    pod: podWith(placed, {
      containerStatuses: [
        {
          name: 'app',
          state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s restarting failed container' } },
          lastState: {
            terminated: { exitCode: 2, reason: 'Error', message: 'starting\nThere is not enough space on the disk.\n' },
          },
        },
      ],
    }),
  }),
  'does not start, and its last state says why': evidence({
    pod: podWith(placed, {
      containerStatuses: [
        {
          name: 'app',
          state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s restarting failed container' } },
          lastState: {
            terminated: {
              exitCode: 128,
              reason: 'StartError',
              message: 'failed to create containerd task: context deadline exceeded: unknown',
            },
          },
        },
      ],
    }),
  }),
  'was lost by containerd': evidence({ pod: podWith(placed, crashed(255, 'Unknown')) }),
  'runs a program that ends': evidence({ pod: podWith(placed, crashed(0, 'Completed')) }),
  'listens later than its probe asks': evidence({
    pod: podWith(placed, runs),
    warnings: [
      'Unhealthy: Readiness probe failed: Get "http://10.0.1.77:80/": dial tcp 10.0.1.77:80: connectex: No connection could be made because the target machine actively refused it.',
    ],
  }),
  'runs, and had other problems before it started': evidence({
    pod: podWith(placed, runs),
    warnings: [
      'Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503',
      'Failed: Failed to pull image "example.com/app:ltsc2022": 429 Too Many Requests: toomanyrequests',
      'FailedMount: MountVolume.SetUp failed for volume "tls" : secret "tls" not found',
      'FailedScheduling: 0/3 nodes are available: 1 Insufficient vpc.amazonaws.com/PrivateIPv4Address',
    ],
  }),
  'runs, and is not ready': evidence({
    pod: podWith(placed, {
      ...runs,
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'ContainersNotReady',
          message: 'containers with unready status: [app]',
        },
      ],
    }),
  }),
  'stays in Terminating while it is Ready, on a node whose kubelet is silent': evidence({
    pod: {
      ...podWith({ nodeName: silent.name }, { ...runs, conditions: [{ type: 'Ready', status: 'True' }] }),
      metadata: { ...podWith().metadata, ...deleted },
    },
    nodes: [silent],
  }),
  'waits for a readiness gate': evidence({
    pod: podWith(placed, {
      ...runs,
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'ReadinessGatesNotReady',
          message: 'corresponding condition of pod readiness gate "target-health.elbv2.k8s.aws/web" does not exist.',
        },
      ],
    }),
  }),
  'cannot resolve a name': evidence({
    pod: podWith(placed, runs),
    warnings: ['Unhealthy: Readiness probe failed: curl: (6) Could not resolve host: cart.shop'],
  }),
  'cannot log on with its gMSA': evidence({
    pod: podWith(
      placed,
      waiting('CreateContainerError', 'hcs::CreateComputeSystem app: The user name or password is incorrect. (0x52e)'),
    ),
  }),
  'finds the page file of its node full': evidence({
    pod: podWith(
      placed,
      waiting(
        'RunContainerError',
        'failed to create shim task: hcs::CreateComputeSystem app: The paging file is too small for this operation to complete. (0x5af)',
      ),
    ),
  }),
  'gets no memory': evidence({ pod: podWith(placed, crashed(0xc000012d | 0)) }),
  'is on a node whose kubelet is silent': evidence({
    pod: podWith({ nodeName: silent.name }, runs),
    nodes: [silent],
    warnings: ['NodeNotReady: Node is not ready'],
  }),
  'is on a node that no longer exists': evidence({ pod: podWith({ nodeName: 'ip-10-0-9-9' }, runs) }),
  'is kept by a finalizer': evidence({
    pod: {
      ...podWith(placed, {
        phase: 'Running',
        containerStatuses: [{ name: 'app', state: { terminated: { exitCode: 0 } } }],
      }),
      metadata: { ...podWith().metadata, ...deleted, finalizers: ['example.com/hold'] },
    },
  }),
  'stays in Terminating, because its network cannot be removed': evidence({
    pod: { ...podWith(placed, runs), metadata: { ...podWith().metadata, ...deleted } },
    warnings: [
      'FailedKillPod: error killing pod: failed to "KillPodSandbox": hcnDeleteNamespace failed in Win32: The specified request is unsupported. (0x803b0015)',
      'FailedMount: MountVolume.SetUp failed for volume "tls" : secret "tls" not found',
    ],
  }),
  'has scheduling gates': evidence({
    pod: podWith({ schedulingGates: [{ name: 'kueue.x-k8s.io/admission' }] }),
    nodes: [],
  }),
  'gets no node from Karpenter': evidence({
    pod: podWith({}, unscheduled("0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.")),
    nodes: [],
    warnings: [
      'FailedScheduling: Failed to schedule pod, incompatible with nodepool "windows", no instance type satisfied resources {"vpc.amazonaws.com/PrivateIPv4Address":"1"}',
    ],
  }),
  'gets no node from the cluster-autoscaler': evidence({
    pod: podWith({}, unscheduled('0/3 nodes are available: 1 Insufficient memory.')),
    warnings: ["NotTriggerScaleUp: pod didn't trigger scale-up: 1 max node group size reached"],
  }),
  'has a volume in another zone': evidence({
    pod: podWith({}, unscheduled('0/3 nodes are available: 3 node(s) had volume node affinity conflict.')),
  }),
  'does not start for a reason that only the kubelet knows': evidence({
    pod: podWith(placed, waiting('CreateContainerConfigError', 'secret "tls" not found')),
  }),
  'is a Linux pod that the registry refuses on a Linux node': evidence({
    pod: podWith(
      { runtimeClassName: undefined, nodeSelector: { 'kubernetes.io/os': 'linux' }, nodeName: 'linux-1' },
      waiting('ImagePullBackOff', 'no match for platform in manifest: not found'),
    ),
  }),
  'does not select Windows, and is on a Windows node': evidence({
    pod: podWith({ ...placed, runtimeClassName: undefined, nodeSelector: {}, tolerations: [{ operator: 'Exists' }] }),
  }),
  'selects nothing of Windows': evidence({ pod: podWith({ runtimeClassName: undefined, nodeSelector: {} }) }),
  'has no events yet': evidence({ pod: podWith(placed) }),
  'fails for a reason that is unknown here': evidence({
    pod: podWith(placed),
    warnings: ['FailedMount: the volume does not exist', 'BackOff: earlier'],
  }),
} satisfies Readonly<Record<string, Evidence>>;
