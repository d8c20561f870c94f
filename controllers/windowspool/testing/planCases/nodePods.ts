/** The pods that the operator runs on new nodes. */
import { GATE_TAINT } from '../../nodes/nodeTaints.ts';
import { desiredFields, entriesOf } from '../../providers/nodeGroup/changes/appliedFields.ts';
import { knownStatus, LEAVING, sampleError, sampleNode, samplePool, sampleState } from '../fixtures.ts';
import {
  CORE,
  CREATING,
  NOT_STARTED,
  newcomer,
  newNode,
  PULL_ERROR,
  PULLED,
  pulling,
  pullName,
  pullPod,
  testing,
  WEB,
} from '../nodePodScenes.ts';
import { otherAuthority, seen } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { DELETE } from './steps.ts';

const pool = samplePool(pulling, { status: knownStatus() });
const leaving = samplePool(pulling, { status: knownStatus(), metadata: LEAVING });
const gated = samplePool({ verification: { ...pulling.verification, policy: 'Gate' } });
const PULL_CORE = `createNodePod ip-new image-pull ${CORE}`;
const PULL_WEB = `createNodePod ip-new image-pull ${WEB}`;
const deletion = (pod: string) => `deleteNodePod ip-new ${pod}`;
const view = (...pods: ReturnType<typeof pullPod>[]) => ({ kind: 'seen' as const, pods });

const scene = (change: Parameters<typeof sampleState>[0]) => sampleState({ pool, nodes: [newcomer], ...change });

export const nodePodCases: readonly PlanCase[] = [
  {
    name: 'the first image is pulled on a new node',
    observed: scene({}),
    want: [PULL_CORE],
    nodeConditions: ['ip-new: Unknown Joining'],
  },
  {
    name: 'an image is pulled on a node behind the gate',
    observed: sampleState({
      pool: { ...gated, status: knownStatus({ applied: entriesOf(desiredFields(gated)) }) },
      group: seen({}, gated),
      nodes: [newNode({ taints: [...newcomer.taints, GATE_TAINT] })],
    }),
    want: [PULL_CORE],
  },
  {
    name: 'the second image waits while the first is pulled',
    observed: scene({ nodePods: view(pullPod(CORE, CREATING)) }),
    want: [],
    waits: { because: 'NodesVerified Joining', until: '10m' },
  },
  {
    name: 'the second image follows when the first is pulled, also if the node does not list it yet',
    observed: scene({ nodePods: view(pullPod(CORE, PULLED)) }),
    want: [PULL_WEB],
  },
  {
    name: 'an image without cmd.exe counts as pulled',
    observed: scene({ nodePods: view(pullPod(CORE, NOT_STARTED)) }),
    want: [PULL_WEB],
  },
  {
    name: 'the pod of an image that the node lists is deleted',
    observed: scene({ nodes: [newNode({ images: [CORE] })], nodePods: view(pullPod(CORE, PULLED)) }),
    want: [deletion(pullName(CORE)), PULL_WEB],
  },
  {
    name: 'the pods stay until the condition of the node says that it has the images',
    observed: scene({ nodePods: view(pullPod(CORE, PULLED), pullPod(WEB, PULLED)) }),
    want: [],
    nodeConditions: ['ip-new: True ChecksPassed'],
  },
  {
    name: 'the pods of a node that has had the images are deleted',
    observed: scene({
      nodes: [sampleNode({ name: 'ip-new' })],
      nodePods: view(pullPod(CORE, PULLED), pullPod(WEB, PULLED)),
    }),
    want: [deletion(pullName(CORE)), deletion(pullName(WEB))],
  },
  {
    name: 'no image is pulled on a node that is not Ready',
    observed: scene({ nodes: [newNode({ ready: 'False' })] }),
    want: [],
    waits: { because: 'NodesVerified Joining', until: '10m' },
  },
  {
    name: 'a pull continues while the node is not Ready',
    observed: scene({ nodes: [newNode({ ready: 'Unknown' })], nodePods: view(pullPod(CORE, CREATING)) }),
    want: [],
    waits: { because: 'NodesVerified Joining', until: '10m' },
  },
  {
    name: 'no pod is left on a cordoned node',
    observed: scene({ nodes: [newNode({ unschedulable: true })], nodePods: view(pullPod(CORE, CREATING)) }),
    want: [deletion(pullName(CORE))],
  },
  {
    name: 'a pod that is being deleted is not deleted again, and the next waits for it',
    observed: scene({ nodePods: view(pullPod(CORE, { ...CREATING, deleting: true })) }),
    want: [],
    waits: { because: 'NodesVerified Joining', until: '10m' },
  },
  {
    name: 'a pod whose node is not in the pool is deleted',
    observed: scene({
      nodes: [sampleNode()],
      nodePods: view(pullPod(CORE, { ...CREATING, nodeUid: 'former' })),
    }),
    want: [deletion(pullName(CORE))],
  },
  {
    name: 'the pods are deleted when the pool no longer pulls images',
    observed: sampleState({ nodes: [newcomer], nodePods: view(pullPod(CORE, CREATING)) }),
    want: [deletion(pullName(CORE))],
  },
  {
    name: 'a pull that fails is left to the kubelet',
    observed: scene({ nodePods: view(pullPod(CORE, PULL_ERROR)) }),
    want: [],
    nodeConditions: ['ip-new: Unknown Joining'],
  },
  {
    name: 'a new node is tested',
    observed: sampleState({ pool: samplePool(testing, { status: knownStatus() }), nodes: [newcomer] }),
    want: ['createNodePod ip-new smoke-test'],
    nodeConditions: ['ip-new: Unknown Joining'],
  },
  {
    name: 'no pod is created or deleted while the pods cannot be listed',
    observed: scene({ nodePods: { kind: 'unknown', error: sampleError('denied') } }),
    want: [],
    waits: { because: 'NodesVerified Joining', until: '10m' },
  },
  {
    name: 'no pod is created in another cluster',
    observed: scene({ cluster: otherAuthority }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10m' },
  },
  {
    name: 'no pod is created on nodes of a group that the pool does not manage',
    observed: scene({ group: seen({ tags: {} }) }),
    want: [],
    waits: { because: 'NodeGroupReady NotOwned', until: '10m' },
  },
  {
    name: 'a deleted pool leaves no pods behind',
    observed: sampleState({ pool: leaving, nodes: [newcomer], nodePods: view(pullPod(CORE, CREATING)) }),
    want: [deletion(pullName(CORE)), DELETE],
  },
  {
    name: 'the finalizer of a deleted pool does not wait for pods that are being deleted',
    observed: sampleState({
      pool: leaving,
      group: { kind: 'absent' },
      nodes: [],
      nodePods: view(pullPod(CORE, { deleting: true })),
    }),
    want: ['removeFinalizer'],
  },
];
