/** The operator's pods on nodes in any state, as kubelets and users may report and change them. */
import fc from 'fast-check';
import type { WindowsPool } from '../api.gen.ts';
import { podName } from '../nodePods/attempts.ts';
import { pullKey } from '../nodePods/preparation.ts';
import type { NodePod, NodePodsView, SeenContainer } from '../ports/nodePods.ts';
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
  name: fc.constantFrom('pull', 'other'),
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
      exitCode: fc.constantFrom(0, 1, 128, -1),
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

/** The pods of a pool on its nodes. */
export function randomNodePods(
  { spec, metadata }: WindowsPool,
  nodes: readonly NodeRecord[],
): fc.Arbitrary<NodePodsView> {
  const { requiredImages = [], imagePrePull } = spec.verification;
  const named = nodes.flatMap((node) => {
    const images = imagePrePull ? requiredImages : [];
    const keys = images.map((image) => (imagePrePull ? pullKey(node, image, imagePrePull) : ''));
    const names = keys.flatMap((key) => [podName('image-pull', key, 1), podName('image-pull', key, 2)]);
    return ['image-pull-former-1', ...names].map((name) => ({
      name: name === 'image-pull-former-1' ? `${name}-${node.uid}` : name,
      node: node.name,
      nodeUid: node.uid,
      pool: metadata.name,
    }));
  });
  const pods = fc
    .subarray(named, { maxLength: Math.min(named.length, 20) })
    .chain((some) => fc.tuple(...some.map(randomNodePod)))
    .map((seen) => ({ kind: 'seen' as const, pods: seen }));
  return fc.oneof(
    { weight: 4, arbitrary: pods },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        { kind: 'unknown' as const },
        { kind: 'unknown' as const, error: sampleError('denied') },
      ),
    },
  );
}
