import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { createScalingGroupTags } from './scalingGroupTags.ts';
import { callsOf } from './testing/callsOf.ts';

interface Tag {
  readonly ResourceId: string;
  readonly Key: string;
}

const { signal } = new AbortController();
const DONE = { ok: true, value: undefined };

/** An Auto Scaling that fails for calls with one of these groups, and answers after `release`. */
function autoScaling(failing: Readonly<Record<string, string>> = {}) {
  const calls: string[] = [];
  const held: PromiseWithResolvers<void>[] = [];
  const answer = async (operation: string, { Tags }: { readonly Tags: readonly Tag[] }) => {
    calls.push(`${operation} ${Tags.map(({ ResourceId, Key }) => `${ResourceId}/${Key}`).join(' ')}`);
    const hold = Promise.withResolvers<void>();
    held.push(hold);
    await hold.promise;
    const name = Tags.map(({ ResourceId }) => failing[ResourceId]).find(Boolean);
    if (name) throw Object.assign(new Error('no'), { name, $metadata: { httpStatusCode: 400 } });
    return {};
  };
  return {
    calls,
    tags: createScalingGroupTags(callsOf(answer)),
    /** Answers all calls until there is no other. */
    release: async () => {
      for (; held.length > 0; await turn()) held.shift()?.resolve();
    },
    answerNone: () => turn(),
  };
}

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));

describe('tags of scaling groups', () => {
  it('are not propagated to instances, and are removed by key', async () => {
    const calls: [string, unknown][] = [];
    const tags = createScalingGroupTags(callsOf(async (operation, input) => calls.push([operation, input])));
    assert.deepEqual(await tags.setTags('a', { k: 'v' }, signal), DONE);
    assert.deepEqual(await tags.removeTags('a', ['k'], signal), DONE);
    const tag = { ResourceId: 'a', ResourceType: 'auto-scaling-group', Key: 'k' };
    assert.deepEqual(calls, [
      ['CreateOrUpdateTags', { Tags: [{ ...tag, Value: 'v', PropagateAtLaunch: false }] }],
      ['DeleteTags', { Tags: [tag] }],
    ]);
  });

  it('are set with at most 25 in a call', async () => {
    const { tags, calls, release, answerNone } = autoScaling();
    const set = tags.setTags('a', many(30), signal);
    const removed = tags.removeTags('b', Object.keys(many(26)), signal);
    await answerNone();
    await release();
    assert.deepEqual([await set, await removed], [DONE, DONE]);
    assert.deepEqual(calls.map((call) => [call.split(' ')[0], call.split(' ').length - 1]).sort(), [
      ['CreateOrUpdateTags', 25],
      ['CreateOrUpdateTags', 5],
      ['DeleteTags', 1],
      ['DeleteTags', 25],
    ]);
  });

  it('of several groups share a call while an earlier one is under way', async () => {
    const { tags, calls, release, answerNone } = autoScaling();
    const results = ['a', 'b', 'c'].map((group) => tags.setTags(group, { k: 'v' }, signal));
    await answerNone();
    await release();
    assert.deepEqual(await Promise.all(results), [DONE, DONE, DONE]);
    assert.deepEqual(calls, ['CreateOrUpdateTags a/k', 'CreateOrUpdateTags b/k c/k']);
    const later = tags.setTags('d', { k: 'v' }, signal);
    await answerNone();
    await release();
    assert.deepEqual(await later, DONE);
  });

  it('of one group that is refused are an error of that group alone', async () => {
    const { kinds, calls } = await settledOf({ c: 'AccessDenied' }, ['a', 'b', 'c', 'd']);
    assert.deepEqual(kinds, ['ok', 'ok', 'denied', 'ok']);
    assert.equal(calls.length, 5);
  });

  it('are not tried one by one while Auto Scaling throttles, nor those that wait', async () => {
    const groups = ['a', ...Array.from({ length: 30 }, (_, i) => `b${i}`)];
    const { kinds, calls } = await settledOf({ b0: 'Throttling' }, groups);
    assert.deepEqual(kinds, ['ok', ...groups.slice(1).map(() => 'throttled')]);
    assert.equal(calls.length, 2);
  });

  it('are not removed any further after a call that failed', async () => {
    const { tags, calls, release, answerNone } = autoScaling({ a: 'AccessDenied' });
    const removed = tags.removeTags('a', Object.keys(many(30)), signal);
    await answerNone();
    await release();
    const result = await removed;
    assert.deepEqual([result.ok || result.error.kind, calls.length], ['denied', 1]);
  });
});

/** Sets a tag of each group at the same time. */
async function settledOf(failing: Readonly<Record<string, string>>, groups: readonly string[]) {
  const { tags, calls, release, answerNone } = autoScaling(failing);
  const results = groups.map((group) => tags.setTags(group, { k: 'v' }, signal));
  await answerNone();
  await release();
  const kinds = (await Promise.all(results)).map((result) => (result.ok ? 'ok' : result.error.kind));
  return { kinds, calls };
}
