/** What happens to replicas, to reads and to nodes, beside the actions of a life with one operator. */
import fc from 'fast-check';
import type { WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import { existingPool } from '../../../controllers/windowspool/testing/fixtures.ts';
import { type Action, action, pool } from './action.ts';
import { newPool } from './actions.ts';
import { actionsOfLife, populated } from './anyLife.ts';
import { nodeActions } from './nodeActions.ts';
import { ODD_ANSWER_NAMES } from './oddAnswers.ts';
import type { Hold } from './replica.ts';
import { FOREIGN_TAINT, type ReplicatedWorld } from './replicatedWorld.ts';
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

const oddAnswers: fc.Arbitrary<ReplicaAction> = fc
  .tuple(fc.constantFrom(...ODD_ANSWER_NAMES), fc.nat(20))
  .map(([name, read]) =>
    action(`the ${read}. answer that can be odd: ${name}`, { run: (world) => world.oddAnswers.begin({ name, read }) }),
  );

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
      { weight: 2, arbitrary: one(oddAnswers) },
      { weight: 1, arbitrary: one(flaps) },
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
