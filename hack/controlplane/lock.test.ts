import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { withLock } from './lock.ts';

describe('a lock', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-lock-'));
    path = join(folder, 'lock');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const options = (timeoutMs = 20_000, onWait: (holder: string) => void = () => undefined) => ({ timeoutMs, onWait });
  const hold = (pid: number, host = hostname()) => writeFile(path, JSON.stringify({ pid, host }));
  /** The ID of a process that has just exited. */
  const deadPid = () => spawnSync('true').pid;

  it('has one holder at a time, and is deleted afterwards', async () => {
    let inside = 0;
    const work = async () => {
      inside++;
      await setImmediate();
      assert.equal(inside, 1);
      inside--;
      return existsSync(path);
    };
    assert.deepEqual(await Promise.all([1, 2, 3].map(() => withLock(path, options(), work))), [true, true, true]);
    assert.equal(existsSync(path), false);
  });

  it('is released when the work fails', async () => {
    const work = () => Promise.reject(new Error('broken'));
    await assert.rejects(withLock(path, options(), work), /broken/);
    assert.equal(existsSync(path), false);
  });

  it('names the process that holds it', async () => {
    const content = await withLock(path, options(), () => readFile(path, 'utf8'));
    assert.deepEqual(JSON.parse(content), { pid: process.pid, host: hostname() });
  });

  it('is waited for until the deadline, and its holder is reported', async () => {
    await hold(process.pid);
    const holders: string[] = [];
    const late = withLock(
      path,
      options(500, (holder) => holders.push(holder)),
      () => assert.fail('worked'),
    );
    await assert.rejects(late, /^DeadlineError: Waited 1 s for .*lock/);
    assert.deepEqual(holders, [`process ${process.pid} on ${hostname()}`]);
  });

  it('of a process that has exited is taken over', async () => {
    await hold(deadPid());
    assert.equal(await withLock(path, options(), async () => 'done'), 'done');
  });

  it('of a process on another machine is respected while it is recent, and taken over when it is old', async () => {
    await hold(deadPid(), 'elsewhere.example');
    await assert.rejects(
      withLock(path, options(300), () => assert.fail('worked')),
      /DeadlineError/,
    );
    const old = new Date(Date.now() - 120_000);
    await utimes(path, old, old);
    assert.equal(await withLock(path, options(), async () => 'done'), 'done');
  });

  it('is respected if its holder has not written its name yet', async () => {
    await writeFile(path, '');
    await assert.rejects(
      withLock(path, options(300), () => assert.fail('worked')),
      /DeadlineError/,
    );
  });

  it('is no longer waited for when the signal aborts', async () => {
    await hold(process.pid);
    const stop = new AbortController();
    const waiting = withLock(
      path,
      { ...options(), signal: stop.signal, onWait: () => stop.abort(new Error('enough')) },
      () => assert.fail('worked'),
    );
    await assert.rejects(waiting, (error: Error) => error.message === 'enough' || error.cause === stop.signal.reason);
  });
});
