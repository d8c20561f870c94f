import assert from 'node:assert/strict';
import type { WindowsPool } from '../api.gen.ts';
import type { DisruptionReservation } from '../model/disruption.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { Outcome } from '../model/outcome.ts';
import type { CallResult } from '../ports/callResult.ts';
import type { NodeGroup, NodeGroupUpdate } from '../ports/eks.ts';
import { nodeGroupConditions } from '../providers/eks/conditions.ts';
import {
  CLUSTER_ARN,
  knownStatus,
  MINUTE,
  NEXT,
  NOW,
  type ObservedStateChange,
  sampleError,
  sampleGroup,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleState,
  settings,
} from '../testing/fixtures.ts';
import { otherAuthority } from '../testing/sights.ts';
import { DisruptionBudget } from './disruptionBudget.ts';
import { Fleet } from './fleet.ts';
import { nextReservation, reservationFor } from './reservation.ts';

const CLAIM: DisruptionReservation = {
  cause: 'Upgrade',
  target: 't',
  change: `release ${NEXT}`,
  since: '2026-03-01T11:00:00Z',
};
const GRACE_END = '2026-03-01T12:15:00Z';
const { signal } = new AbortController();

const reserving = (
  reservation: DisruptionReservation | undefined = CLAIM,
  update?: 'ConfigUpdate' | 'VersionUpdate',
): WindowsPool => {
  const known = knownStatus(update && { update: { id: 'u-1', type: update, target: 't', status: 'InProgress' } });
  return samplePool({}, { status: { ...known, ...(reservation && { disruption: reservation }) } });
};
const unreserved = (update?: 'ConfigUpdate' | 'VersionUpdate'): WindowsPool => {
  const { disruption: _none, ...status } = reserving(CLAIM, update).status ?? {};
  return samplePool({}, { status });
};
const groupIs = (change: Partial<NodeGroup>) =>
  ({ group: { kind: 'seen', group: sampleGroup(samplePool(), change) } }) as const;
const joining = [...sampleNodes(2), sampleNode({ name: 'ip-9', ready: 'False', createdAt: NOW - MINUTE })];
const ended: NodeGroupUpdate = { id: 'u-1', type: 'VersionUpdate', status: 'Successful', createdAt: 0, errors: [] };

function outcomeOf(change: ObservedStateChange): Outcome {
  return { after: sampleState(change), done: [], accepted: undefined, left: [], released: false };
}

describe('a share of the disruption budget', () => {
  const STRANGER = {
    cause: 'Upgrade',
    change: 'an update that the operator did not begin',
    since: '2026-03-01T12:00:00Z',
  };
  type Case = readonly [string, ObservedStateChange, DisruptionReservation | undefined];
  const table: readonly Case[] = [
    ['is held while EKS replaces nodes', { pool: reserving(), ...groupIs({ status: 'UPDATING' }) }, CLAIM],
    ['is held until the end of the update is known', { pool: reserving(CLAIM, 'VersionUpdate') }, CLAIM],
    [
      'is held for the join grace where EKS does not tell how the update ended',
      {
        pool: reserving(CLAIM, 'VersionUpdate'),
        errors: [{ at: NOW, step: 'describeUpdate', error: sampleError('denied') }],
      },
      { ...CLAIM, settlesBy: GRACE_END },
    ],
    [
      'ends then, although nobody knows more',
      {
        pool: reserving({ ...CLAIM, settlesBy: '2026-03-01T12:00:00Z' }, 'VersionUpdate'),
        errors: [{ at: NOW, step: 'describeUpdate', error: sampleError('denied') }],
      },
      undefined,
    ],
    [
      'has its whole join grace again when EKS goes on',
      { pool: reserving({ ...CLAIM, settlesBy: GRACE_END }), ...groupIs({ status: 'UPDATING' }) },
      CLAIM,
    ],
    ['ends when all nodes are there and judged', { pool: reserving(CLAIM, 'VersionUpdate'), update: ended }, undefined],
    ['ends when its update never began, and is not wanted any more', { pool: reserving() }, undefined],
    [
      'is held for the join grace while a new node joins',
      { pool: reserving(CLAIM, 'VersionUpdate'), update: ended, nodes: joining },
      { ...CLAIM, settlesBy: GRACE_END },
    ],
    [
      'is held as long while a node is missing',
      { pool: reserving(CLAIM, 'VersionUpdate'), update: ended, nodes: sampleNodes(2) },
      { ...CLAIM, settlesBy: GRACE_END },
    ],
    [
      'is not held longer because more nodes join',
      { pool: reserving({ ...CLAIM, settlesBy: '2026-03-01T12:05:00Z' }), nodes: joining },
      { ...CLAIM, settlesBy: '2026-03-01T12:05:00Z' },
    ],
    [
      'ends with the join grace',
      { pool: reserving({ ...CLAIM, settlesBy: '2026-03-01T12:00:00Z' }), nodes: joining },
      undefined,
    ],
    [
      'is held when nobody knows whether EKS got the call',
      {
        pool: reserving(),
        errors: [{ at: NOW, step: 'updateNodeGroupVersion', error: sampleError('unavailable') }],
      },
      CLAIM,
    ],
    [
      'ends when EKS refused',
      { pool: reserving(), errors: [{ at: NOW, step: 'updateNodeGroupVersion', error: sampleError('refused') }] },
      undefined,
    ],
    ...(['refused', 'denied', 'busy', 'throttled', 'limit', 'unknown'] as const).map(
      (kind): Case => [
        `ends when the call was ${kind}, also while nodes are missing`,
        {
          pool: reserving(),
          nodes: sampleNodes(2),
          errors: [{ at: NOW, step: 'updateNodeGroupVersion', error: sampleError(kind) }],
        },
        undefined,
      ],
    ),
    [
      'is held then for what is left of the one before',
      {
        pool: reserving({ ...CLAIM, settlesBy: GRACE_END }),
        nodes: joining,
        errors: [{ at: NOW, step: 'updateNodeGroupVersion', error: sampleError('denied') }],
      },
      { ...CLAIM, settlesBy: GRACE_END },
    ],
    [
      'is held while AWS cannot be asked',
      {
        pool: reserving(),
        group: { kind: 'unreachable', error: sampleError('throttled'), since: NOW, last: undefined },
      },
      CLAIM,
    ],
    ['ends with the group', { pool: reserving(), group: { kind: 'absent' } }, undefined],
    ['ends when the group goes', { pool: reserving(), ...groupIs({ status: 'DELETING' }) }, undefined],
    ['ends when the group is not the pool’s any more', { pool: reserving(), ...groupIs({ tags: {} }) }, undefined],
    [
      'ends in another cluster, where nobody will ever end it',
      { pool: reserving(), ...groupIs({ status: 'UPDATING' }), cluster: otherAuthority },
      undefined,
    ],
    ['is taken for an update of somebody else', { pool: unreserved(), ...groupIs({ status: 'UPDATING' }) }, STRANGER],
    [
      'is not taken for an update that replaces no node',
      { pool: unreserved('ConfigUpdate'), ...groupIs({ status: 'UPDATING' }) },
      undefined,
    ],
    ['is not taken for nothing', { pool: unreserved() }, undefined],
  ];
  for (const [name, change, want] of table) {
    it(name, () => assert.deepEqual(nextReservation(outcomeOf(change)), want));
  }
});

it('a share that is claimed while the nodes of the last update join ends no later should the next one not begin', () => {
  const s = sampleState({ pool: reserving({ ...CLAIM, settlesBy: GRACE_END }) });
  const change = { kubernetesVersion: '1.36', releaseVersion: NEXT, force: false };
  assert.deepEqual(reservationFor(s, change, 'another'), {
    cause: 'Upgrade',
    target: 'another',
    change: `release ${NEXT}`,
    since: '2026-03-01T12:00:00Z',
    settlesBy: GRACE_END,
  });
});

describe('a pool that waits for its share', () => {
  const s: ObservedState = sampleState({
    pool: samplePool({ nodeGroup: { releaseVersion: NEXT } }, { status: knownStatus() }),
    ...groupIs({}),
    fleet: { disrupted: ['api'], failures: [] },
  });

  it('is Ready, and says in Reconciling for whom it waits', () => {
    const { Ready, Reconciling, NodeGroupReady } = nodeGroupConditions(s);
    assert.deepEqual(
      [Ready.status, NodeGroupReady.message, Reconciling?.reason],
      ['True', 'Node group web is ACTIVE.', 'WaitingForBudget'],
    );
    assert.match(Reconciling?.message ?? '', /api loses nodes now, and --max-pools-updating is 1\.$/);
  });

  it('waits for nobody while fewer than allowed lose nodes, or while it is paused', () => {
    const reasons = [
      { ...s, settings: { ...settings, maxPoolsUpdating: 2 } },
      { ...s, pool: { ...s.pool, spec: { ...s.pool.spec, paused: true } } },
    ].map((observed) => nodeGroupConditions(observed).UpToDate.reason);
    assert.deepEqual(reasons, ['Outdated', 'Outdated']);
  });
});

describe('the disruption budget', () => {
  const named = (name: string): WindowsPool => samplePool({}, { metadata: { name } });

  /** The API server: each call takes a turn of the event loop, so that claims could overlap. */
  class Server {
    readonly pools = new Map<string, WindowsPool>();
    writes = 0;
    fails: 'list' | 'writeStatus' | undefined;
    constructor(...names: readonly string[]) {
      for (const name of names) this.pools.set(name, named(name));
    }
    async list(): Promise<CallResult<readonly WindowsPool[]>> {
      const seen = [...this.pools.values()];
      await new Promise(setImmediate);
      return this.fails === 'list' ? { ok: false, error: sampleError('denied') } : { ok: true, value: seen };
    }
    async writeStatus(pool: WindowsPool, status: NonNullable<WindowsPool['status']>): Promise<CallResult<WindowsPool>> {
      await new Promise(setImmediate);
      if (this.fails === 'writeStatus') return { ok: false, error: sampleError('unavailable') };
      this.writes += 1;
      const value = { ...pool, status };
      this.pools.set(pool.metadata.name, value);
      return { ok: true, value };
    }
  }

  const reservation = (budget: DisruptionBudget, name: string) =>
    budget.reserve(named(name), { disruption: CLAIM }, signal);

  for (const limit of [1, 2, 3]) {
    it(`lets ${limit} of five that ask at once go, and tells the others who`, async () => {
      const names = ['a', 'b', 'c', 'd', 'e'];
      const server = new Server(...names);
      const budget = new DisruptionBudget(server, limit);
      const answers = await Promise.all(names.map((name) => reservation(budget, name)));
      assert.deepEqual(
        answers.map(({ ok }) => ok),
        names.map((_, i) => i < limit),
      );
      assert.equal(server.writes, limit);
      const last = answers.at(-1);
      const who = ['a', 'a and b', 'a, b and c'][limit - 1];
      assert.deepEqual(last?.ok === false && [last.error.kind, last.error.message], [
        'conflict',
        `as many pools as allowed lose nodes: ${who}`,
      ]);
    });
  }

  it('is kept by the next operator: it counts what the last one left', async () => {
    const server = new Server('a', 'b');
    assert.equal((await reservation(new DisruptionBudget(server, 1), 'a')).ok, true);
    const next = new DisruptionBudget(server, 1);
    assert.deepEqual([(await reservation(next, 'b')).ok, (await reservation(next, 'a')).ok], [false, true]);
  });

  it('is not held up by a claim that failed or was given up', async () => {
    const server = new Server('a', 'b', 'c');
    const budget = new DisruptionBudget(server, 1);
    server.fails = 'list';
    assert.equal((await reservation(budget, 'a')).ok, false);
    server.fails = 'writeStatus';
    assert.equal((await reservation(budget, 'a')).ok, false);
    server.fails = undefined;
    await assert.rejects(budget.reserve(named('b'), { disruption: CLAIM }, AbortSignal.abort()), /abort/i);
    assert.equal((await reservation(budget, 'c')).ok, true);
  });
});

describe('the fleet', () => {
  const free = samplePool({}, { metadata: { name: 'api' }, status: { cluster: { name: 'prod', arn: CLUSTER_ARN } } });
  const held: WindowsPool = { ...free, status: { disruption: CLAIM } };

  it('shows a pool the others that lose nodes', () => {
    const fleet = new Fleet();
    fleet.follow(undefined, held);
    assert.deepEqual([fleet.seenBy('web').disrupted, fleet.seenBy('api').disrupted], [['api'], []]);
  });

  const ends: readonly (readonly [string, WindowsPool | undefined])[] = [
    ['is done', free],
    ['is gone', undefined],
  ];
  for (const [how, after] of ends) {
    it(`wakes those that wait when the other ${how}, once, and nobody else`, () => {
      const fleet = new Fleet();
      const woken: string[] = [];
      fleet.onRelease((name) => woken.push(name));
      fleet.follow(undefined, held);
      fleet.seenBy('web');
      fleet.seenBy('batch');
      fleet.rest('batch');
      fleet.follow(held, held);
      assert.deepEqual(woken, []);
      fleet.follow(held, after);
      fleet.follow(after, held);
      fleet.follow(held, after);
      assert.deepEqual([woken, fleet.seenBy('web').disrupted], [['web'], []]);
    });
  }
});
