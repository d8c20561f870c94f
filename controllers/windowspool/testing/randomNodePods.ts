/** The operator's pods on nodes in any state, as kubelets and users may report and change them. */
import fc from 'fast-check';
import type { WindowsPool, WindowsPoolSpec } from '../api/api.gen.ts';
import { podName } from '../nodePods/attempts.ts';
import { pullKey, testKey } from '../nodePods/preparation.ts';
import type { NodePod, NodePodPurpose, NodePodsView, SeenContainer } from '../ports/nodePods.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { MINUTE, NOW, sampleError, sampleNodePod } from './fixtures.ts';

const REASONS = [
  '',
  'ContainerCreating',
  'ErrImagePull',
  'CreateContainerError',
  'StartError',
  'ContainerStatusUnknown',
  'x'.repeat(256),
];

/** A container in any state. */
const randomContainer: fc.Arbitrary<SeenContainer> = fc.record({
  name: fc.constantFrom('pull', 'service'),
  hasImage: fc.boolean(),
  state: fc.oneof(
    fc.constant({ kind: 'running' as const }),
    fc.record({
      kind: fc.constant('waiting' as const),
      reason: fc.constantFrom(...REASONS),
      message: fc.constantFrom('', 'not found', 'y'.repeat(1_024)),
    }),
    fc.record({
      kind: fc.constant('ended' as const),
      exitCode: fc.constantFrom(0, 6, 128, -1),
      reason: fc.constantFrom(...REASONS),
      message: fc.constantFrom('', 'The system cannot find the file specified.'),
    }),
  ),
});

/** A pod in any state, with this name on this node. */
export function randomNodePod(fixed: Partial<NodePod>): fc.Arbitrary<NodePod> {
  const ago = fc.integer({ min: 0, max: 120 * MINUTE }).map((ms) => NOW - ms);
  return fc
    .record({
      createdAt: ago,
      changedAt: ago,
      deleting: fc.boolean(),
      retry: fc.constantFrom('', '1'),
      phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed', 'Unknown', ''),
      reason: fc.constantFrom('', 'DeadlineExceeded', 'Evicted'),
      isScheduled: fc.boolean(),
      unscheduled: fc.constantFrom('', '0/3 nodes are available.'),
      containers: fc.array(randomContainer, { maxLength: 2 }),
    })
    .map((change) => sampleNodePod({ ...change, ...fixed }));
}

/** The names of pods that the pool may have on a node, with their purposes; also of one whose spec has changed since. */
function namesOn(node: NodeRecord, { requiredImages = [], imagePrePull, smokeTest }: WindowsPoolSpec['verification']) {
  const attempts = (purpose: NodePodPurpose, key: string) =>
    [1, 2, 3].map((attempt) => ({ purpose, name: podName(purpose, key, attempt) }));
  return [
    { purpose: 'image-pull', name: podName('image-pull', `former-${node.uid}`, 1) },
    ...(imagePrePull
      ? requiredImages.flatMap((image) => attempts('image-pull', pullKey(node, image, imagePrePull)))
      : []),
    ...(smokeTest ? attempts('smoke-test', testKey(node, smokeTest)) : []),
  ];
}

/** The pods of a pool on its nodes. */
export function randomNodePods(
  { spec, metadata }: WindowsPool,
  nodes: readonly NodeRecord[],
): fc.Arbitrary<NodePodsView> {
  const named = nodes.flatMap((node) =>
    namesOn(node, spec.verification).map((name) => ({
      ...name,
      node: node.name,
      nodeUid: node.uid,
      pool: metadata.name,
    })),
  );
  const pods = fc
    .subarray(named, { maxLength: Math.min(named.length, 20) })
    .chain((some) => fc.tuple(...some.map(randomNodePod)))
    .map((seen) => ({ kind: 'seen' as const, pods: seen }));
  const unknown = fc.constantFrom(
    { kind: 'unknown' as const },
    { kind: 'unknown' as const, error: sampleError('denied') },
  );
  return fc.oneof({ weight: 4, arbitrary: pods }, { weight: 1, arbitrary: unknown });
}
