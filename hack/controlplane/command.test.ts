import assert from 'node:assert/strict';
import { runCommand } from './command.ts';

describe('a command', () => {
  const shell = (script: string) => ['-c', script];

  it('returns its output and its exit status', async () => {
    const outcome = await runCommand('sh', shell('cat; echo trouble >&2; exit 3'), {
      stdin: 'input',
      timeoutMs: 20_000,
    });
    assert.deepEqual(outcome, { stdout: 'input', stderr: 'trouble\n', code: 3 });
  });

  it('can ignore its input', async () => {
    const outcome = await runCommand('true', [], { stdin: 'x'.repeat(1_000_000), timeoutMs: 20_000 });
    assert.equal(outcome.code, 0);
  });

  it('has no status if a signal killed it', async () => {
    const outcome = await runCommand('sh', shell('kill -TERM $$'), { timeoutMs: 20_000 });
    assert.equal(outcome.code, null);
  });

  it('is killed at the time-out, with its output so far in the error', async () => {
    const late = runCommand('sh', shell('echo soon >&2; exec sleep 1000'), { timeoutMs: 3000 });
    await assert.rejects(late, /^Error: sh -c .* did not end within 3000 ms: soon$/);
  });

  it('is killed when the signal aborts, and rejects with its reason', async () => {
    const stop = new AbortController();
    const running = runCommand('sleep', ['1000'], { timeoutMs: 20_000, signal: stop.signal });
    stop.abort(new Error('enough'));
    await assert.rejects(running, /enough/);
  });

  it('is an error if it does not exist', async () => {
    await assert.rejects(runCommand('no-such-program', [], { timeoutMs: 20_000 }), { code: 'ENOENT' });
  });
});
