/** What happens to replicas, to reads and to nodes that lie, beside the actions of a life with one operator. */
import fc from 'fast-check';
import { nodeRecordOf } from '../../../controllers/kubernetes/nodes.ts';
import type { WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import {
  CORDONED_ANNOTATION,
  NODE_GROUP_LABEL,
  POOL_KEY,
  REMEDIATION_ANNOTATION,
} from '../../../controllers/windowspool/api/labels.ts';
import type { NodeRecord } from '../../../controllers/windowspool/ports/nodes.ts';
import { existingPool } from '../../../controllers/windowspool/testing/fixtures.ts';
import { nodeFor, readyCondition } from '../localaws/nodes/nodeObject.ts';
import { type Action, action, POOLS, pool } from './action.ts';
import { actionsOfLife, newPool, populated } from './actions.ts';
import { nodeActions } from './nodeActions.ts';
import type { Hold } from './replica.ts';
import { FOREIGN_TAINT, HOSTS, type ReplicatedWorld } from './replicatedWorld.ts';
import { MOST_LAG_MS } from './staleReads.ts';

type ReplicaAction = Action<ReplicatedWorld>;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The name of the pool of existing nodes. */
const EXISTING = 'hosts';

/** Longer than the lease, so that the other replica leads when the process continues. */
const pauseMs = fc.constantFrom(20 * SECOND, 45 * SECOND, 3 * MINUTE, 15 * MINUTE);
const kind = fc.constantFrom('stopped' as const, 'suspended' as const);

const MOMENTS: Readonly<Record<Hold['moment'], string>> = {
  before: 'is paused right before',
  sent: 'is paused, with its request on the way, at',
  endsBefore: 'ends right before',
  endsAfter: 'ends right after',
};

const holds: fc.Arbitrary<ReplicaAction> = fc
  .record({
    call: fc.integer({ min: 1, max: 12 }),
    of: fc.constantFrom('calls' as const, 'writes' as const, 'writes' as const),
    moment: fc.constantFrom<Hold['moment']>('before', 'before', 'before', 'sent', 'endsBefore', 'endsAfter'),
    ms: pauseMs,
    kind,
  })
  .map((hold) => ({ ...hold, call: hold.of === 'writes' ? Math.ceil(hold.call / 4) : hold.call }))
  .map((hold) =>
    action(
      `the leader ${MOMENTS[hold.moment]} one of its ${hold.of}, the ${hold.call}., for ${hold.ms / SECOND} s (${hold.kind})`,
      {
        run: ({ leader }) => leader?.hold(hold),
      },
    ),
  );

const pauses: fc.Arbitrary<ReplicaAction> = fc.tuple(fc.nat(1), pauseMs, kind).map(([slot, ms, how]) =>
  action(`replica ${slot} is paused for ${ms / SECOND} s (${how})`, {
    run: ({ replicas }) => replicas[slot]?.clock.pause(ms, how),
  }),
);

const outages: fc.Arbitrary<ReplicaAction> = fc
  .tuple(fc.nat(1), fc.constantFrom('down' as const, 'lost' as const, 'hangs' as const, 'deaf' as const, undefined))
  .map(([slot, outage]) =>
    action(`requests of replica ${slot} for the lease: ${outage ?? 'work again'}`, {
      run: ({ replicas }) => {
        const replica = replicas[slot];
        if (replica) Object.assign(replica.leaseOutage, { kind: outage });
      },
    }),
  );

const lagMs = fc.constantFrom(0, 5 * SECOND, 20 * SECOND, MOST_LAG_MS, MOST_LAG_MS);
const lags: readonly fc.Arbitrary<ReplicaAction>[] = [
  lagMs.map((ms) =>
    action(`caches lag by ${ms / SECOND} s`, {
      run: (world) => {
        world.cacheLagMs = ms;
      },
    }),
  ),
  lagMs.map((ms) =>
    action(`reads of AWS lag by up to ${ms / SECOND} s`, {
      run: ({ staleReads }) => {
        staleReads.lagMs = ms;
      },
    }),
  ),
];

/** The fields of a Node that a kubelet can write. Its taints it can only set at its registration: the admission plugin NodeRestriction. */
const KUBELET_FIELDS = [
  'labels',
  'annotations',
  'ownership',
  'ready',
  'readyReason',
  'verified',
  'verifiedSince',
  'kernelVersion',
  'containerRuntimeVersion',
  'runtimeHandlers',
  'kubeletVersion',
  'operatingSystem',
  'architecture',
  'addresses',
  'capacity',
  'allocatable',
  'unreadable',
] as const;

interface Lie {
  readonly labels?: object;
  readonly annotations?: object;
  readonly status?: object;
}

const OWNERSHIP = 'winpool.dev/ownership';
const forged = JSON.stringify({ pool: EXISTING, gated: false, labels: {}, taints: [FOREIGN_TAINT] });
/** An own key, as JSON.parse makes it. */
const proto = JSON.parse('{"__proto__": "1", "": "1", "constructor": "1"}') as object;

const nodeInfo = (change: object) => ({ nodeInfo: { operatingSystem: 'windows', architecture: 'amd64', ...change } });
const KERNELS = [
  '10.0.99999.1',
  '10.0.17763',
  '',
  '../../etc/passwd',
  '10.0.20348.'.repeat(2_000),
  '\u001b[2J\n10.0.20348.1',
  'NaN.0.0.0',
];
const lies: fc.Arbitrary<readonly [string, Lie]> = fc.oneof(
  fc
    .constantFrom(...KERNELS)
    .map(
      (kernelVersion) =>
        [`the kernel ${JSON.stringify(kernelVersion.slice(0, 20))}`, { status: nodeInfo({ kernelVersion }) }] as const,
    ),
  fc
    .constantFrom(...POOLS, 'nobody')
    .map((name) => [`the node group ${name}`, { labels: { [NODE_GROUP_LABEL]: name } }] as const),
  fc.constantFrom(...POOLS, EXISTING).map((name) => [`the pool ${name}`, { labels: { [POOL_KEY]: name } }] as const),
  fc.constant([
    'an ownership record that names the taint of others',
    { annotations: { [OWNERSHIP]: forged } },
  ] as const),
  fc
    .constantFrom('by-operator', 'before', '')
    .map((by) => [`the cordon of ${by || 'nobody'}`, { annotations: { [CORDONED_ANNOTATION]: by } }] as const),
  fc.constant(['that it is not to be remediated', { annotations: { [REMEDIATION_ANNOTATION]: 'off' } }] as const),
  fc
    .constantFrom('True', 'False', 'Maybe')
    .map(
      (status) =>
        [
          `winpool.dev/Verified=${status}`,
          { status: { conditions: [{ type: 'winpool.dev/Verified', status, reason: 'Forged', message: 'x' }] } },
        ] as const,
    ),
  fc.constant([
    'odd keys',
    { labels: proto, annotations: proto, status: { capacity: proto, allocatable: proto } },
  ] as const),
  fc.constant([
    'no addresses, a list of text as capacity',
    { status: { addresses: [], capacity: ['8'], allocatable: null } },
  ] as const),
);

const liars: fc.Arbitrary<ReplicaAction> = fc
  .tuple(fc.constantFrom(...POOLS, ...POOLS, EXISTING), fc.nat(3), lies)
  .map(([name, index, [what, lie]]) =>
    action(`node ${index} of ${name} reports ${what}`, {
      run: (world) => {
        const nodes =
          name === EXISTING
            ? world.nodes.filter((each) => HOSTS.some((host) => host === each.name))
            : world.nodesOf(name);
        const node = nodes[index % nodes.length];
        if (node) world.setNode(withLie(world, node, lie));
      },
    }),
  );

/** The node as its kubelet reports it with the lie, decoded as from the API server. */
function withLie(
  { cloud: { state } }: ReplicatedWorld,
  node: NodeRecord,
  { labels, annotations, status }: Lie,
): NodeRecord {
  const instance = [...state.instances.values()].find(({ nodeName }) => nodeName === node.name);
  const honest: { readonly status?: object } = instance
    ? nodeFor(state, instance)
    : { status: nodeInfo({ kernelVersion: node.kernelVersion }) };
  const conditions = [readyCondition(node.ready === 'True', state.timeline.now())];
  const decoded = nodeRecordOf({
    metadata: {
      name: node.name,
      uid: node.uid,
      resourceVersion: node.resourceVersion,
      creationTimestamp: new Date(node.createdAt).toISOString(),
      labels: merged(node.labels, labels),
      annotations: merged({ ...node.annotations, [OWNERSHIP]: node.ownership ?? '' }, annotations),
    },
    status: {
      conditions,
      ...honest.status,
      // Other controllers add resources to those of the kubelet.
      capacity: node.capacity,
      allocatable: node.allocatable,
      ...status,
      ...(status && 'conditions' in status && { conditions: [...conditions, ...(status.conditions as object[])] }),
    },
  });
  const kept: Partial<NodeRecord> =
    status && 'conditions' in status ? {} : { verified: node.verified, verifiedSince: node.verifiedSince };
  return { ...node, ...Object.fromEntries(KUBELET_FIELDS.map((field) => [field, decoded[field]])), ...kept };
}

/** As a spread, with own keys such as `__proto__`. */
function merged(a: object, b: object = {}): object {
  return Object.fromEntries([...Object.entries(a), ...Object.entries(b)]);
}

const flaps: fc.Arbitrary<ReplicaAction> = fc
  .tuple(pool, fc.nat(3), fc.integer({ min: 2, max: 9 }))
  .map(([name, index, times]) =>
    action(`node ${index} of ${name} flaps ${times} times`, {
      run: (world) => {
        const nodes = world.nodesOf(name);
        const node = nodes[index % nodes.length];
        for (let time = 0; node && time < times; time++)
          world.clock.after(time * 700, () => world.setReady(node.name, time % 2 === 1));
      },
      passes: 10 * SECOND,
    }),
  );

const hosts: readonly fc.Arbitrary<ReplicaAction>[] = [
  fc.subarray(['gpu', 'team', FOREIGN_TAINT.key]).map((keys) =>
    action(`taints of ${EXISTING}: ${keys}`, {
      run: (world) => {
        const before = world.pools.get(EXISTING);
        // With another effect than the taint of others: the pool has never set what the node has.
        const taints = keys.map((key) => ({ key, value: 'yes', effect: 'PreferNoSchedule' as const }));
        if (before && !before.metadata.deletionTimestamp) world.apply({ ...before, spec: { ...before.spec, taints } });
      },
    }),
  ),
  fc.constant(action(`delete ${EXISTING}`, { run: (world: ReplicatedWorld) => world.remove(EXISTING) })),
  fc.constant(
    action(`apply ${EXISTING}`, {
      run: (world: ReplicatedWorld) => {
        if (!world.pools.has(EXISTING)) world.apply(newExistingPool());
      },
    }),
  ),
];

/** The pool of existing nodes. */
function newExistingPool(): WindowsPool {
  return existingPool({}, { metadata: { name: EXISTING, uid: `uid-${EXISTING}`, finalizers: [], generation: 0 } });
}

const time: fc.Arbitrary<ReplicaAction> = fc
  .constantFrom(SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE)
  .map((ms) => action(`${ms / SECOND} s pass`, { passes: ms }));

const one = (arbitrary: fc.Arbitrary<ReplicaAction>): fc.Arbitrary<readonly ReplicaAction[]> =>
  arbitrary.map((each) => [each]);

/** Something happens to the leader while it works on a change. */
const held: fc.Arbitrary<readonly ReplicaAction[]> = fc.tuple(
  holds,
  fc.oneof({ weight: 2, arbitrary: nodeActions }, { weight: 3, arbitrary: actionsOfLife }),
  time,
);

const some: fc.Arbitrary<readonly ReplicaAction[]> = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: held },
      { weight: 3, arbitrary: one(time) },
      { weight: 5, arbitrary: one(fc.oneof(nodeActions, actionsOfLife)) },
      { weight: 1, arbitrary: one(pauses) },
      { weight: 1, arbitrary: one(outages) },
      { weight: 5, arbitrary: one(fc.oneof(...lags)) },
      { weight: 3, arbitrary: one(fc.oneof(liars, liars, flaps)) },
      { weight: 1, arbitrary: one(fc.oneof(...hosts)) },
    ),
    { minLength: 4, maxLength: 16 },
  )
  .map((parts) => parts.flat());

/** The actions of a life with two replicas: most start with three nodes in each pool. */
export const anyReplicatedLife: fc.Arbitrary<readonly ReplicaAction[]> = fc
  .tuple(fc.constantFrom(true, true, false), some)
  .map(([isPopulated, actions]) => [
    action('the first pools', {
      run: (world: ReplicatedWorld) => {
        world.apply(newPool('web'));
        world.apply(newExistingPool());
      },
      passes: 30 * SECOND,
    }),
    ...(isPopulated ? populated : []),
    ...actions,
  ]);
