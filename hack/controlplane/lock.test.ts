import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { withLock } from './lock.ts';

describe('a lock', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-lock-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const options = (timeoutMs = 20_000, onWait: () => void = () => undefined) => ({ timeoutMs, onWait });

  /** Another process that holds the lock. */
  async function holder() {
    const program = `
      import { withLock } from ${JSON.stringify(new URL('lock.ts', import.meta.url).href)};
      const work = () => new Promise(() => { console.log('works'); setInterval(() => undefined, 1000); });
      await withLock(${JSON.stringify(folder)}, { timeoutMs: 20_000, onWait: () => undefined }, work);`;
    const other = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(other.stdout, 'data');
    return other;
  }

  it('has one holder at a time', async () => {
    let inside = 0;
    const work = async () => {
      inside++;
      await setImmediate();
      assert.equal(inside, 1);
      inside--;
      return 'done';
    };
    const done = await Promise.all([1, 2, 3].map(() => withLock(folder, options(), work)));
    assert.deepEqual(done, ['done', 'done', 'done']);
  });

  it('is released when the work fails', async () => {
    const work = () => Promise.reject(new Error('broken'));
    await assert.rejects(withLock(folder, options(), work), /broken/);
    assert.equal(await withLock(folder, options(), async () => 'done'), 'done');
  });

  it('of another process is waited for until the deadline, which is reported, and released when that is killed', async () => {
    const other = await holder();
    try {
      let waits = 0;
      const late = withLock(
        folder,
        options(3_000, () => waits++),
        () => assert.fail('worked'),
      );
      await assert.rejects(late, /^DeadlineError: Waited 3 s for the lock of /);
      assert.equal(waits, 1);
    } finally {
      other.kill('SIGKILL');
    }
    assert.equal(await withLock(folder, options(), async () => 'done'), 'done');
  });

  it('is no longer waited for when the signal aborts', async () => {
    const stop = new AbortController();
    const waiting = () =>
      withLock(folder, { ...options(), signal: stop.signal, onWait: () => stop.abort() }, () => assert.fail('worked'));
    await withLock(folder, options(), () => assert.rejects(waiting(), { name: 'AbortError' }));
  });
});
