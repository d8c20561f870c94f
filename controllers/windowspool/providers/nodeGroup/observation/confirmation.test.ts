import assert from 'node:assert/strict';
import type { WindowsPool } from '../../../api/api.gen.ts';
import { planFor } from '../../../plan.ts';
import type { CallResult } from '../../../ports/callResult.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import { waitOf } from '../../../rules/ruleChains.ts';
import {
  knownStatus,
  LEAVING,
  MINUTE,
  NOW,
  sampleError,
  sampleGroup,
  samplePool,
  sampleState,
  settings,
} from '../../../testing/fixtures.ts';
import { drainScene, replacementScene, SHRUNK } from '../../../testing/replacementScenes.ts';
import { unconfirmed, unseen } from '../../../testing/sights.ts';
import type { ObservedNodeGroup } from '../model/groupState.ts';
import { certaintyOf, knownMain, knownSecond, observedGroup } from './confirmation.ts';

type Answer = CallResult<NodeGroup | undefined>;

const owned: Answer = { ok: true, value: sampleGroup() };
const untagged: Answer = { ok: true, value: sampleGroup(samplePool(), { tags: {} }) };
const broken: Answer = { ok: true, value: sampleGroup(samplePool(), { status: 'CREATE_FAILED' }) };
const absent: Answer = { ok: true, value: undefined };
const failed: Answer = { ok: false, error: sampleError('unavailable') };
const noCluster: Answer = { ok: false, error: sampleError('gone') };

const fresh = samplePool({}, { metadata: { finalizers: [] } });
const lost = samplePool();
const neverTied = samplePool({}, { status: { nodeGroup: { name: 'web' } } });
const known = samplePool({}, { status: knownStatus() });
const brokenBefore = samplePool({}, { status: knownStatus({ status: 'CREATE_FAILED' }) });
const beingDeleted = samplePool({}, { status: knownStatus({ status: 'DELETING' }) });
const { status: _gone, ...withoutStatus } = knownStatus().nodeGroup ?? { name: 'web' };
const missing = samplePool({}, { status: { ...knownStatus(), nodeGroup: withoutStatus } });
const leaving = (pool: WindowsPool): WindowsPool => ({ ...pool, metadata: { ...pool.metadata, ...LEAVING } });
const recorded = (change: object) => replacementScene({ record: { arn: 'arn:1', status: 'ACTIVE', ...change } }).pool;

/** The kind of a view, and how sure it is: `unconfirmed: seenOnce absent`. */
function inWords(view: ObservedNodeGroup): string {
  const certainty = certaintyOf(view);
  return `${view.kind}: ${certainty.kind}${'contradiction' in certainty ? ` ${certainty.contradiction}` : ''}`;
}

describe('what a request for a node group shows', () => {
  const first = (pool: WindowsPool, answer: Answer, known = knownMain(pool)) =>
    observedGroup(pool, known, answer, undefined, { settings, now: NOW });

  const rows: readonly (readonly [title: string, WindowsPool, Answer, want: string])[] = [
    ['the group of the pool', known, owned, 'seen: seen'],
    ['no group, of a pool that had none', fresh, absent, 'absent: seen'],
    ['no group, of a pool that had one', known, absent, 'unconfirmed: seenOnce absent'],
    ['no group, of a pool whose group was being deleted', beingDeleted, absent, 'absent: seen'],
    ['no group, of a pool whose group is known to be gone', missing, absent, 'absent: seen'],
    ['a group of others, of a pool that had none', fresh, untagged, 'seen: seen'],
    ['no group, of a pool that lost its status', lost, absent, 'unconfirmed: seenOnce absent'],
    ['a group of others, of a pool that lost its status', lost, untagged, 'unconfirmed: seenOnce unowned'],
    ['a group of others, of a pool that had its own', known, untagged, 'unconfirmed: seenOnce unowned'],
    [
      'a group of others, of a pool whose group was being deleted',
      beingDeleted,
      untagged,
      'unconfirmed: seenOnce unowned',
    ],
    [
      'a group that failed to be created, of a pool that had its own',
      known,
      broken,
      'unconfirmed: seenOnce groupFailed',
    ],
    ['a group that failed to be created, as status has it', brokenBefore, broken, 'seen: seen'],
    ['a group that failed to be created, of a deleted pool', leaving(known), broken, 'seen: seen'],
    ['nothing, because it failed', known, failed, 'unreachable: unknown'],
    ['no cluster', known, noCluster, 'unreachable: unknown'],
    ['no group, of a deleted pool that was never tied to a cluster', leaving(neverTied), absent, 'absent: seen'],
    ['no group, of a deleted pool that lost its status', leaving(lost), absent, 'unconfirmed: seenOnce absent'],
    ['no group, of a deleted pool that may have one', leaving(missing), absent, 'unconfirmed: seenOnce absent'],
    [
      'no group, of a deleted pool whose group was being deleted',
      leaving(beingDeleted),
      absent,
      'unconfirmed: seenOnce absent',
    ],
    ['a group of others, of a deleted pool', leaving(known), untagged, 'unconfirmed: seenOnce unowned'],
    ['no cluster, of a deleted pool', leaving(known), noCluster, 'unreachable: seenOnce clusterAbsent'],
  ];
  for (const [title, pool, answer, want] of rows)
    it(`is ${want}: ${title}`, () => assert.equal(inWords(first(pool, answer)), want));

  const others: readonly (readonly [title: string, record: object, Answer, want: string])[] = [
    ['no second group, which existed', {}, absent, 'unconfirmed: seenOnce absent'],
    ['no second group, which was being deleted', { status: 'DELETING' }, absent, 'unconfirmed: seenOnce absent'],
    [
      'no second group, which is known to be gone',
      { absenceStartTime: new Date(NOW).toISOString() },
      absent,
      'absent: seen',
    ],
    ['no second group, which may never have been created', { arn: undefined }, absent, 'absent: seen'],
    ['a group of others with the name of the old one', {}, untagged, 'unconfirmed: seenOnce unowned'],
  ];
  for (const [title, record, answer, want] of others)
    it(`is ${want}: ${title}`, () => {
      const pool = recorded(record);
      assert.equal(inWords(first(pool, answer, knownSecond(pool))), want);
    });

  it('is unconfirmed: seenOnce absent: no other group, of a pool that lost its status', () => {
    assert.equal(inWords(first(lost, absent, knownSecond(lost))), 'unconfirmed: seenOnce absent');
  });

  it('cannot be read for want of permission since the first denied request, and not since an outage before it', () => {
    const denied: Answer = { ok: false, error: sampleError('denied') };
    let view: ObservedNodeGroup | undefined;
    const since = ([failed, denied, denied, failed] as const).map((answer, index) => {
      view = observedGroup(known, knownMain(known), answer, view, { settings, now: NOW + index });
      return view.kind === 'unreachable' && view.since - NOW;
    });
    assert.deepEqual(since, [0, 1, 1, 1]);
  });

  it('has the group as it was observed before, until the answer is confirmed', () => {
    const group = sampleGroup();
    let view: ObservedNodeGroup = { kind: 'seen', group };
    const look = (answer: Answer, now: number) => {
      view = observedGroup(known, knownMain(known), answer, view, { settings, now });
      return [inWords(view), 'last' in view ? view.last : undefined];
    };
    assert.deepEqual(look(absent, NOW), ['unconfirmed: seenOnce absent', group]);
    assert.deepEqual(look(failed, NOW + 5_000), ['unreachable: unknown', group]);
    assert.deepEqual(look(absent, NOW + 10_000), ['unconfirmed: seenOnce absent', group]);
    assert.deepEqual(look(absent, NOW + 20_000), ['absent: confirmed absent', undefined]);
    assert.deepEqual(look(absent, NOW + 21_000), ['absent: confirmed absent', undefined]);
    assert.deepEqual(look(owned, NOW + 22_000), ['seen: seen', undefined]);
  });

  for (const [pollMs, confirmMs] of [
    [10 * MINUTE, 10_000],
    [1_000, 1_000],
  ] as const) {
    it(`is confirmed after ${confirmMs} ms with a poll interval of ${pollMs} ms`, () => {
      const before = unconfirmed();
      const look = (now: number) =>
        inWords(observedGroup(known, knownMain(known), absent, before, { settings: { ...settings, pollMs }, now }));
      assert.deepEqual(
        [look(NOW + confirmMs - 1), look(NOW + confirmMs)],
        ['unconfirmed: seenOnce absent', 'absent: confirmed absent'],
      );
    });
  }
});

describe('a group of which one answer contradicts what was known', () => {
  const until = NOW + 10_000;
  const wait = (message: string) => ({ reason: 'Unconfirmed', on: 'read', until, progress: true, message });
  const again = 'The operator reads it again before it changes anything.';

  it('is waited for when the main group is absent', () => {
    const { steps, decisions } = planFor(sampleState({ pool: known, group: unconfirmed('absent', sampleGroup()) }));
    assert.deepEqual(steps, []);
    assert.deepEqual(waitOf(decisions, 'nodeGroup'), wait(`EKS no longer finds node group web. ${again}`));
  });

  it('is waited for when the status was lost, which does not say that there was a group', () => {
    const { decisions } = planFor(sampleState({ pool: lost, group: unconfirmed('absent') }));
    assert.deepEqual(waitOf(decisions, 'nodeGroup'), wait(`EKS does not find node group web. ${again}`));
  });

  it('is waited for when the main group is not owned, also if it could be adopted', () => {
    const adopting = samplePool({ nodeGroup: { adoption: 'IfUnowned' } }, { status: knownStatus() });
    const { steps, decisions } = planFor(sampleState({ pool: adopting, group: unconfirmed('unowned', sampleGroup()) }));
    assert.deepEqual(steps, []);
    const message = `Node group web no longer has the tag winpool.dev/pool=web. ${again}`;
    assert.deepEqual(waitOf(decisions, 'nodeGroup'), wait(message));
  });

  for (const contradiction of ['absent', 'unowned'] as const) {
    it(`is waited for, and stays in status, when the new group is ${contradiction}`, () => {
      const old = unconfirmed(contradiction, sampleGroup(samplePool(), SHRUNK));
      const { steps, decisions } = planFor(replacementScene({ record: { arn: 'arn:1' }, old }));
      assert.deepEqual(steps, []);
      for (const chain of ['nodeGroup', 'secondNodeGroup'] as const)
        assert.deepEqual([waitOf(decisions, chain)?.reason, waitOf(decisions, chain)?.until], ['Unconfirmed', until]);
    });
  }

  for (const [answer, old] of [
    ['odd answer', unconfirmed('absent')],
    ['error', unseen('throttled')],
  ] as const) {
    it(`keeps its nodes cordoned during a drain if the first read after a restart gets an ${answer}`, () => {
      assert.deepEqual(planFor(drainScene({ record: { arn: 'arn:1' }, old })).steps, []);
    });
  }

  it('does not end the deletion of the pool when it is the new group', () => {
    const old = unconfirmed('absent');
    const s = replacementScene({ metadata: LEAVING, record: { arn: 'arn:1' }, old, main: 'absent', nodes: [] });
    const { steps, decisions } = planFor(s);
    assert.deepEqual([steps, waitOf(decisions, 'deletion')?.reason], [[], 'Deleting']);
  });

  it('delays the release of a retained second group', () => {
    const spec = { deletionPolicy: 'Retain' as const };
    const s = replacementScene({ spec, metadata: LEAVING, record: { arn: 'arn:1' }, old: unconfirmed('unowned') });
    const { steps, decisions } = planFor(s);
    assert.deepEqual([steps, waitOf(decisions, 'deletion')?.until], [[], until]);
  });
});
