import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { createBatches } from './batches.ts';

const { signal } = new AbortController();

/** Calls that are answered one at a time, with their items in capitals. */
function calls({ take = 3 } = {}) {
  const made: string[] = [];
  const held: PromiseWithResolvers<void>[] = [];
  const call = createBatches<string, string>({
    keyOf: (item) => (item.startsWith('other') ? 'other' : ''),
    send: async (items) => {
      made.push(items.join(' '));
      const hold = Promise.withResolvers<void>();
      held.push(hold);
      await hold.promise;
      return items.join(' ').toUpperCase();
    },
    take: (waiting) => Math.min(waiting.length, take),
    isOfSome: (result) => result.includes('BAD'),
    isForAll: (result) => result === 'END',
  });
  return {
    made,
    call,
    answer: async () => {
      held.shift()?.resolve();
      await turn();
    },
    fail: async (error: Error) => {
      held.shift()?.reject(error);
      await turn();
    },
  };
}

describe('calls about several things', () => {
  it('are about all that came while the last one was under way, up to a limit', async () => {
    const { made, call, answer } = calls();
    const results = ['a', 'b', 'c', 'd', 'e'].map((item) => call(item, signal));
    assert.deepEqual(made, ['a']);
    for (let index = 0; index < 3; index++) await answer();
    assert.deepEqual(await Promise.all(results), ['A', 'B C D', 'B C D', 'B C D', 'E']);
    const later = call('f', signal);
    await answer();
    assert.equal(await later, 'F');
    assert.deepEqual(made, ['a', 'b c d', 'e', 'f']);
  });

  it('with another key neither share a call nor wait', async () => {
    const { made, call, answer } = calls();
    const results = ['a', 'other', 'b', 'other too'].map((item) => call(item, signal));
    assert.deepEqual(made, ['a', 'other']);
    for (let index = 0; index < 4; index++) await answer();
    assert.deepEqual(await Promise.all(results), ['A', 'OTHER', 'B', 'OTHER TOO']);
  });

  it('are made for each alone if the result may be due to one of them', async () => {
    const { made, call, answer } = calls();
    const giving = new AbortController();
    const first = call('a', signal);
    const second = assert.rejects(call('b', giving.signal), /stopped/);
    const others = ['bad', 'c'].map((item) => call(item, signal));
    await answer();
    await answer();
    assert.deepEqual(made, ['a', 'b bad c', 'b', 'bad', 'c']);
    giving.abort(new Error('stopped'));
    await second;
    for (let index = 0; index < 3; index++) await answer();
    assert.deepEqual([await first, ...(await Promise.all(others))], ['A', 'BAD', 'C']);
    assert.equal(made.length, 5);
  });

  it('are not made for those that wait if a result is also theirs', async () => {
    const { made, call, answer } = calls({ take: 1 });
    const results = ['end', 'b', 'c'].map((item) => call(item, signal));
    await answer();
    assert.deepEqual(await Promise.all(results), ['END', 'END', 'END']);
    assert.deepEqual(made, ['end']);
  });

  it('are not about an item whose caller gives up while it waits', async () => {
    const { made, call, answer } = calls();
    const giving = new AbortController();
    const first = call('a', signal);
    const second = assert.rejects(call('b', giving.signal), /stopped/);
    const third = call('c', signal);
    giving.abort(new Error('stopped'));
    await second;
    await answer();
    await answer();
    assert.deepEqual([await first, await third], ['A', 'C']);
    assert.deepEqual(made, ['a', 'c']);
    await assert.rejects(call('d', giving.signal), /stopped/);
  });

  it('are repeated for the others if the caller of one gives up', async () => {
    const { made, call, answer, fail } = calls();
    const giving = new AbortController();
    const first = call('a', signal);
    const second = assert.rejects(call('b', giving.signal), /stopped/);
    const third = call('c', signal);
    await answer();
    giving.abort(new Error('stopped'));
    await second;
    await fail(giving.signal.reason);
    await answer();
    assert.deepEqual([await first, await third], ['A', 'C']);
    assert.deepEqual(made, ['a', 'b c', 'c']);
  });

  it('go on after an error, which is that of their callers', async () => {
    const { call, answer, fail } = calls();
    const first = assert.rejects(call('a', signal), /a bug/);
    const second = call('b', signal);
    await fail(new Error('a bug'));
    await first;
    await answer();
    assert.equal(await second, 'B');
  });
});
