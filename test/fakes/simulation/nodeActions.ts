/** Actions of users and faults on single nodes and their pods. */
import fc from 'fast-check';
import {
  CORDONED_ANNOTATION,
  EXCLUDE_FROM_DRAIN_ANNOTATION,
  REMEDIATION_ANNOTATION,
  REMOVE_ANNOTATION,
  REPLACE_ANNOTATION,
} from '../../../controllers/windowspool/api/labels.ts';
import type { NodeRecord } from '../../../controllers/windowspool/ports/nodes.ts';
import { type Action, action, edits, ofPool, pool, top } from './action.ts';
import type { LocalAwsWorld } from './localAwsWorld.ts';
import type { PodKind } from './workload.ts';

/** An action on one node of a pool, if it has any. */
function ofNode(what: string, run: (world: LocalAwsWorld, node: NodeRecord) => void): fc.Arbitrary<Action> {
  return fc.tuple(pool, fc.nat(3)).map(([name, index]) =>
    action(`${what} node ${index} of ${name}`, {
      run: (world) => {
        const nodes = world.nodesOf(name);
        const node = nodes[index % nodes.length];
        if (node) run(world, node);
      },
    }),
  );
}

/** Like kubectl annotate: sets these annotations, and keeps only those of the operator. */
const annotate = (what: string, annotations: Readonly<Record<string, string>>): fc.Arbitrary<Action> =>
  ofNode(what, (world, node) => {
    const { [CORDONED_ANNOTATION]: mark } = node.annotations;
    world.setNode({
      ...node,
      annotations: { ...annotations, ...(mark !== undefined && { [CORDONED_ANNOTATION]: mark }) },
    });
  });

const REPLACE = { [REPLACE_ANNOTATION]: 'true' };
const REMOVE = { [REMOVE_ANNOTATION]: 'true' };
const EXCLUDE = { [EXCLUDE_FROM_DRAIN_ANNOTATION]: 'true' };

const annotations: readonly fc.Arbitrary<Action>[] = [
  annotate('replace', REPLACE),
  annotate('replace', REPLACE),
  annotate('remove', REMOVE),
  annotate('replace or remove', { ...REPLACE, ...REMOVE }),
  annotate('replace at once', { ...REPLACE, ...EXCLUDE }),
  annotate('remove at once', { ...REMOVE, ...EXCLUDE }),
  annotate('spare', { [REMEDIATION_ANNOTATION]: 'off' }),
  annotate('let stay', {}),
  ofNode('cordon', (world, node) => world.setNode({ ...node, unschedulable: true })),
  ofNode('uncordon', (world, node) => world.setNode({ ...node, unschedulable: false })),
];

const failures: readonly fc.Arbitrary<Action>[] = [
  ofNode('not Ready:', (world, { name }) => world.setReady(name, false)),
  ofNode('Ready again:', (world, { name }) => world.setReady(name, true)),
  ofPool('a node that is never Ready comes to', ({ cloud }, name) =>
    cloud.faults.nextNode({ group: name, notReady: true }),
  ),
  ofPool('an instance that never joins comes to', ({ cloud }, name) =>
    cloud.faults.nextNode({ group: name, neverJoins: true }),
  ),
];

const lands = (what: string, kind: PodKind): fc.Arbitrary<Action> =>
  ofNode(`a pod ${what} lands on`, ({ workload }, { name }) => workload.place(name, kind));

const pods: readonly fc.Arbitrary<Action>[] = [
  fc.boolean().map((isKept) =>
    action(`the PodDisruptionBudget ${isKept ? 'keeps' : 'releases'} all pods`, {
      run: ({ workload }) => Object.assign(workload, { isKept }),
    }),
  ),
  lands('without a controller', {}),
  lands('that tolerates a cordon', { controller: 'ReplicaSet', toleratesCordon: true }),
  lands('with an emptyDir volume', { controller: 'ReplicaSet', emptyDir: true }),
];

const spec: readonly fc.Arbitrary<Action>[] = [
  edits(
    'the remediation',
    fc
      .option(
        fc.record({
          policy: fc.constant('Replace' as const),
          unhealthyAfter: fc.constantFrom('1m', '15m'),
          maxUnhealthy: fc.constantFrom(1, 2, '40%', '100%'),
        }),
      )
      .map((remediation) => ({ remediation: _before, ...rest }) => ({
        ...rest,
        ...(remediation && { remediation }),
      })),
  ),
  edits(
    'the drain',
    fc
      .record({
        timeout: fc.constantFrom('1m', '15m', '3h'),
        podsWithEmptyDir: fc.constantFrom('Evict' as const, 'Block' as const),
        podsWithoutController: fc.constantFrom('Evict' as const, 'Block' as const),
      })
      .map((drain) => top({ disruption: { maxUnavailable: 1, drain } })),
  ),
];

/** All of them. */
export const nodeActions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.oneof(...annotations) },
  { weight: 2, arbitrary: fc.oneof(...failures) },
  { weight: 2, arbitrary: fc.oneof(...pods) },
  { weight: 2, arbitrary: fc.oneof(...spec) },
);
