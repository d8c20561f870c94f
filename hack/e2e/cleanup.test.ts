import assert from 'node:assert/strict';
import { Cleanup } from './cleanup.ts';

const never = new AbortController().signal;
const made = (what: string, remove: (signal: AbortSignal) => Promise<void>, timeoutMs = 1_000) => ({
  what,
  remove,
  timeoutMs,
  commands: [`remove ${what}`],
});
/** Ignores its signal. */
const stuck = () => new Promise<void>(() => undefined);

describe('the cleanup of a run', () => {
  it('removes the latest first, and continues after a failure', async () => {
    const removed: string[] = [];
    const cleanup = new Cleanup();
    for (const what of ['first', 'second', 'third'])
      cleanup.note(
        made(what, async () => {
          if (what === 'second') throw new Error('denied');
          removed.push(what);
        }),
      );
    const left = await cleanup.run(() => undefined, never);
    assert.deepEqual(removed, ['third', 'first']);
    assert.deepEqual(left, [{ what: 'second', why: 'denied', commands: ['remove second'] }]);
  });

  it('skips a removal that exceeds its time-out', async () => {
    const cleanup = new Cleanup();
    cleanup.note(made('slow', stuck, 10));
    const [left] = await cleanup.run(() => undefined, never);
    assert.match(left?.why ?? '', /timeout/);
  });

  it('lists everything that remains when it is aborted', async () => {
    const cleanup = new Cleanup();
    const ending = new AbortController();
    cleanup.note(made('first', stuck, 60_000));
    cleanup.note(
      made(
        'second',
        () => {
          ending.abort(new Error('given up'));
          return stuck();
        },
        60_000,
      ),
    );
    const left = await cleanup.run(() => undefined, ending.signal);
    assert.deepEqual(
      left.map(({ what, why }) => [what, why]),
      [
        ['second', 'given up'],
        ['first', 'given up'],
      ],
    );
  });

  it('removes nothing twice', async () => {
    let count = 0;
    const cleanup = new Cleanup();
    cleanup.note(
      made('once', async () => {
        count += 1;
      }),
    );
    await cleanup.run(() => undefined, never);
    await cleanup.run(() => undefined, never);
    assert.equal(count, 1);
  });
});
