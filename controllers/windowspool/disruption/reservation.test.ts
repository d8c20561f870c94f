import assert from 'node:assert/strict';
import type { WindowsPool } from '../api/api.gen.ts';
import type { DisruptionReservation } from '../model/disruption.ts';
import type { CallResult } from '../ports/callResult.ts';
import type { NodeGroup, NodeGroupUpdate } from '../ports/eks.ts';
import { nodeGroupConditions } from '../providers/nodeGroup/conditions/nodeGroupConditions.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import { nextReservation } from '../providers/nodeGroup/versions/updateReservation.ts';
import { releaseFailuresIn } from '../providers/providers.ts';
import { derive } from '../testing/derived.ts';
import {
  CLUSTER_ARN,
  knownStatus,
  LEAVING,
  MINUTE,
  NEXT,
  NOW,
  type ObservedStateChange,
  outcomeOf,
  sampleError,
  sampleGroup,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleState,
  settings,
} from '../testing/fixtures.ts';
import { assertMentions } from '../testing/goldenTexts.ts';
import { drainScene } from '../testing/replacementScenes.ts';
import { otherAuthority } from '../testing/sights.ts';
import { DisruptionBudget } from './disruptionBudget.ts';
import { PoolRegistry } from './poolRegistry.ts';

const RESERVATION: DisruptionReservation = {
  reason: 'Update' as const,
  target: 't',
  change: `release ${NEXT}`,
  startTime: '2026-03-01T11:00:00Z',
};
const GRACE_END = '2026-03-01T12:15:00Z';
const { signal } = new AbortController();

const leaving = (pool: WindowsPool): WindowsPool => ({ ...pool, metadata: { ...pool.metadata, ...LEAVING } });
const reserving = (
  reservation: DisruptionReservation | undefined = RESERVATION,
  update?: 'ConfigUpdate' | 'VersionUpdate',
): WindowsPool => {
  const known = knownStatus(update && { update: { id: 'u-1', type: update, target: 't', status: 'InProgress' } });
  return samplePool({}, { status: { ...known, ...(reservation && { disruption: reservation }) } });
};
const unreserved = (update?: 'ConfigUpdate' | 'VersionUpdate'): WindowsPool => {
  const { disruption: _none, ...status } = reserving(RESERVATION, update).status ?? {};
  return samplePool({}, { status });
};
const groupIs = (change: Partial<NodeGroup>) =>
  ({ group: { kind: 'seen', group: sampleGroup(samplePool(), change) } }) as const;
const joining = [...sampleNodes(2), sampleNode({ name: 'ip-9', ready: 'False', createdAt: NOW - MINUTE })];
const ended: NodeGroupUpdate = { id: 'u-1', type: 'VersionUpdate', status: 'Successful', createdAt: 0, errors: [] };

describe('a share of the disruption budget', () => {
  const FOREIGN_UPDATE = {
    reason: 'Update' as const,
    change: 'an update that the operator did not start',
    startTime: '2026-03-01T12:00:00Z',
  };
  type Case = readonly [string, ObservedStateChange, DisruptionReservation | undefined];
  const table: readonly Case[] = [
    ['is held while EKS replaces nodes', { pool: reserving(), ...groupIs({ status: 'UPDATING' }) }, RESERVATION],
    ['is held until the end of the update is known', { pool: reserving(RESERVATION, 'VersionUpdate') }, RESERVATION],
    [
      'is held for the join grace when the result of the update cannot be read',
      {
        pool: reserving(RESERVATION, 'VersionUpdate'),
        errors: [{ at: NOW, step: 'describeUpdate', error: sampleError('denied') }],
      },
      { ...RESERVATION, deadline: GRACE_END },
    ],
    [
      'is released after the join grace even if the result is still unknown',
      {
        pool: reserving({ ...RESERVATION, deadline: '2026-03-01T12:00:00Z' }, 'VersionUpdate'),
        errors: [{ at: NOW, step: 'describeUpdate', error: sampleError('denied') }],
      },
      undefined,
    ],
    [
      'gets the whole join grace again when EKS continues',
      { pool: reserving({ ...RESERVATION, deadline: GRACE_END }), ...groupIs({ status: 'UPDATING' }) },
      RESERVATION,
    ],
    [
      'gets no more of it while EKS changes what replaces no nodes',
      { pool: reserving({ ...RESERVATION, deadline: GRACE_END }, 'ConfigUpdate'), ...groupIs({ status: 'UPDATING' }) },
      { ...RESERVATION, deadline: GRACE_END },
    ],
    [
      'is released when all nodes are verified',
      { pool: reserving(RESERVATION, 'VersionUpdate'), update: ended },
      undefined,
    ],
    ['is released when its update never started and is no longer due', { pool: reserving() }, undefined],
    [
      'is held for the join grace while a new node joins',
      { pool: reserving(RESERVATION, 'VersionUpdate'), update: ended, nodes: joining },
      { ...RESERVATION, deadline: GRACE_END },
    ],
    [
      'is held for the join grace while a node is missing',
      { pool: reserving(RESERVATION, 'VersionUpdate'), update: ended, nodes: sampleNodes(2) },
      { ...RESERVATION, deadline: GRACE_END },
    ],
    [
      'is not held longer when more nodes join',
      { pool: reserving({ ...RESERVATION, deadline: '2026-03-01T12:05:00Z' }), nodes: joining },
      { ...RESERVATION, deadline: '2026-03-01T12:05:00Z' },
    ],
    [
      'is released at the end of the join grace',
      { pool: reserving({ ...RESERVATION, deadline: '2026-03-01T12:00:00Z' }), nodes: joining },
      undefined,
    ],
    [
      'is held when it is unknown whether EKS received the call',
      {
        pool: reserving(),
        errors: [{ at: NOW, step: 'updateNodeGroupVersion', error: sampleError('unavailable') }],
      },
      RESERVATION,
    ],
    [
      'is released when EKS refused the update',
      { pool: reserving(), errors: [{ at: NOW, step: 'updateNodeGroupVersion', error: sampleError('refused') }] },
      undefined,
    ],
    ...(['refused', 'denied', 'busy', 'throttled', 'limit', 'unknown'] as const).map(
      (kind): Case => [
        `is released when the call was ${kind}, also while nodes are missing`,
        {
          pool: reserving(),
          nodes: sampleNodes(2),
          errors: [{ at: NOW, step: 'updateNodeGroupVersion', error: sampleError(kind) }],
        },
        undefined,
      ],
    ),
    [
      'is held then for the rest of the previous join grace',
      {
        pool: reserving({ ...RESERVATION, deadline: GRACE_END }),
        nodes: joining,
        errors: [{ at: NOW, step: 'updateNodeGroupVersion', error: sampleError('denied') }],
      },
      { ...RESERVATION, deadline: GRACE_END },
    ],
    [
      'is held while AWS cannot be read',
      {
        pool: reserving(),
        group: { kind: 'unreachable', error: sampleError('throttled'), since: NOW, last: undefined },
      },
      RESERVATION,
    ],
    ['is released when the group is gone', { pool: reserving(), group: { kind: 'absent' } }, undefined],
    [
      'is held while the group is being deleted, because one answer does not prove that',
      { pool: reserving(), ...groupIs({ status: 'DELETING' }) },
      RESERVATION,
    ],
    [
      'is released when the group is deleted with the pool',
      { pool: leaving(reserving()), ...groupIs({ status: 'DELETING' }) },
      undefined,
    ],
    [
      'is released when the pool no longer manages the group',
      { pool: reserving(), ...groupIs({ tags: {} }) },
      undefined,
    ],
    [
      'is released in another cluster, because it would be held forever',
      { pool: reserving(), ...groupIs({ status: 'UPDATING' }), cluster: otherAuthority },
      undefined,
    ],
    [
      'is taken for an update of another client',
      { pool: unreserved(), ...groupIs({ status: 'UPDATING' }) },
      FOREIGN_UPDATE,
    ],
    [
      'is not taken for an update that replaces no node',
      { pool: unreserved('ConfigUpdate'), ...groupIs({ status: 'UPDATING' }) },
      undefined,
    ],
    ['is not taken without an update', { pool: unreserved() }, undefined],
  ];
  for (const [name, change, want] of table) {
    it(name, () => assert.deepEqual(nextReservation(outcomeOf(sampleState(change))), want));
  }

  it('is held between the nodes of a group that is drained, for the join grace', () => {
    const between = { reason: 'NodeReplacement', startTime: '2026-03-01T11:00:00Z' } as const;
    const next = (disruption: DisruptionReservation) => nextReservation(outcomeOf(drainScene({ disruption })));
    assert.deepEqual(next(between), { ...between, deadline: GRACE_END });
    assert.equal(next({ ...between, deadline: '2026-03-01T12:00:00Z' }), undefined);
  });
});

describe('a pool that waits for its share', () => {
  const s: EksDerived = sampleState({
    pool: samplePool({ nodeGroup: { releaseVersion: NEXT } }, { status: knownStatus() }),
    ...groupIs({}),
    otherPools: { disrupted: ['api'], failures: [] },
  });

  it('is Ready, and names the other pools in Reconciling', () => {
    const { Ready, Reconciling, NodeGroupReady } = nodeGroupConditions(outcomeOf(s));
    assert.deepEqual(
      [Ready.status, NodeGroupReady.message, Reconciling?.reason],
      ['True', 'Node group web is ACTIVE.', 'WaitingForBudget'],
    );
    assertMentions(Reconciling?.message, 'api', '--max-pools-updating=1');
  });

  it('does not wait while fewer pools than allowed replace nodes, or while it is paused', () => {
    const reasons = [
      { ...s, settings: { ...settings, maxPoolsUpdating: 2 } },
      { ...s, pool: { ...s.pool, spec: { ...s.pool.spec, paused: true } } },
    ].map((observed) => nodeGroupConditions(outcomeOf(derive(observed))).UpToDate.reason);
    assert.deepEqual(reasons, ['UpdatePending', 'UpdatePending']);
  });
});

describe('the disruption budget', () => {
  const named = (name: string): WindowsPool => samplePool({}, { metadata: { name } });

  /** The API server: each call takes a turn of the event loop, so that reservations could overlap. */
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
    budget.reserve(named(name), { disruption: RESERVATION }, signal);

  for (const limit of [1, 2, 3]) {
    it(`grants ${limit} of five concurrent reservations, and the others get the names of the holders`, async () => {
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
        `--max-pools-updating (${limit}) is reached by WindowsPools ${who}`,
      ]);
    });
  }

  it('survives a restart of the operator', async () => {
    const server = new Server('a', 'b');
    assert.equal((await reservation(new DisruptionBudget(server, 1), 'a')).ok, true);
    const next = new DisruptionBudget(server, 1);
    assert.deepEqual([(await reservation(next, 'b')).ok, (await reservation(next, 'a')).ok], [false, true]);
  });

  it('is not blocked by a reservation that failed or was aborted', async () => {
    const server = new Server('a', 'b', 'c');
    const budget = new DisruptionBudget(server, 1);
    server.fails = 'list';
    assert.equal((await reservation(budget, 'a')).ok, false);
    server.fails = 'writeStatus';
    assert.equal((await reservation(budget, 'a')).ok, false);
    server.fails = undefined;
    await assert.rejects(budget.reserve(named('b'), { disruption: RESERVATION }, AbortSignal.abort()), /abort/i);
    assert.equal((await reservation(budget, 'c')).ok, true);
  });
});

describe('the registry of pools', () => {
  const free = samplePool({}, { metadata: { name: 'api' }, status: { cluster: { name: 'prod', arn: CLUSTER_ARN } } });
  const held: WindowsPool = { ...free, status: { disruption: RESERVATION } };

  it('shows a pool the other pools that replace nodes', () => {
    const registry = new PoolRegistry(releaseFailuresIn);
    registry.follow(undefined, held);
    assert.deepEqual([registry.seenBy('web', NOW).disrupted, registry.seenBy('api', NOW).disrupted], [['api'], []]);
  });

  const ends: readonly (readonly [string, WindowsPool | undefined])[] = [
    ['is done', free],
    ['is deleted', undefined],
  ];
  for (const [how, after] of ends) {
    it(`triggers only the waiting pools, once, when the other pool ${how}`, () => {
      const registry = new PoolRegistry(releaseFailuresIn);
      const woken: string[] = [];
      registry.onRelease((name) => woken.push(name));
      registry.follow(undefined, held);
      registry.seenBy('web', NOW);
      registry.seenBy('batch', NOW);
      registry.stopWaiting('batch');
      registry.follow(held, held);
      assert.deepEqual(woken, []);
      registry.follow(held, after);
      registry.follow(after, held);
      registry.follow(held, after);
      assert.deepEqual([woken, registry.seenBy('web', NOW).disrupted], [['web'], []]);
    });
  }

  it('lets the pools that have waited go first, until they have had their turn, wait no more, or a minute has passed', () => {
    const web = samplePool();
    const holding = (pool: WindowsPool): WindowsPool => ({ ...pool, status: { disruption: RESERVATION } });
    const released = () => {
      const registry = new PoolRegistry(releaseFailuresIn);
      const woken: string[] = [];
      registry.onRelease((name) => woken.push(name));
      registry.follow(undefined, held);
      registry.seenBy('web', NOW);
      registry.follow(held, free);
      assert.deepEqual([registry.seenBy('web', NOW).disrupted, registry.seenBy('api', NOW).disrupted], [[], ['web']]);
      woken.length = 0;
      return { registry, woken };
    };
    const taken = released();
    taken.registry.follow(web, holding(web));
    taken.registry.follow(holding(web), web);
    assert.deepEqual([taken.registry.seenBy('api', NOW).disrupted, taken.woken.includes('api')], [[], true]);
    const idle = released();
    idle.registry.needNoTurn('web');
    assert.deepEqual([idle.registry.seenBy('api', NOW).disrupted, idle.woken], [[], ['api']]);
    const left = released();
    left.registry.stopWaiting('web');
    assert.deepEqual([left.registry.seenBy('api', NOW).disrupted, left.woken], [[], ['api']]);
    const { registry } = released();
    assert.equal(registry.seenBy('api', NOW + 59_000).until, NOW + 60_000);
    assert.deepEqual(registry.seenBy('api', NOW + 60_000).disrupted, []);
  });
});
