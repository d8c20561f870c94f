import assert from 'node:assert/strict';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { estimate } from './cost.ts';
import { longestMs, newRun, type Run, type Step, takeSteps, until } from './run.ts';
import { readCommand, type Settings } from './settings.ts';

const never = new AbortController().signal;

function settingsWith(more: NodeJS.ProcessEnv = {}): Settings {
  const env = { E2E_ACCOUNT: '111122223333', CLUSTER_NAME: 'my-cluster', AWS_REGION: 'eu-west-1' };
  const command = readCommand(['--read-only'], { ...env, ...more });
  assert.equal(command.kind, 'run');
  return command.settings;
}

/** Stands in for the operator's process; `stop` ends only with `kill`. */
function stuckOperator() {
  const killed = Promise.withResolvers<void>();
  const calls: string[] = [];
  const operator = {
    stop: () => {
      calls.push('stop');
      return killed.promise;
    },
    kill: async () => {
      calls.push('kill');
      killed.resolve();
    },
  };
  return { operator: operator as unknown as NonNullable<Run['operator']>, calls };
}

const step = (run: Step['run'], more: Partial<Step> = {}): Step => ({ name: 'Do it', timeoutMs: 60_000, run, ...more });

describe('the steps of a run', () => {
  it('leave no credentials on this machine', async () => {
    const run = await newRun(
      settingsWith(),
      [step(({ folder }) => writeFile(join(folder, 'kubeconfig'), ''))],
      () => {},
    );
    const { state } = await takeSteps(run, never, never);
    assert.equal(state, 'passed');
    await assert.rejects(access(run.folder), /ENOENT/);
  });

  it('fail at the time-out with what they waited for', async () => {
    const { timeout } = AbortSignal;
    const wait = step((run, signal) =>
      until(
        run,
        signal,
        async () => undefined,
        () => 'Node win-1 is not ready.',
      ),
    );
    const run = await newRun(settingsWith({ E2E_TIMEOUT_FACTOR: '0.1' }), [wait, step(assert.fail)], () => undefined);
    try {
      AbortSignal.timeout = () => timeout.call(AbortSignal, 20);
      const { state, steps } = await takeSteps(run, never, never);
      const message = 'not done within 30 s. Node win-1 is not ready.';
      assert.partialDeepStrictEqual([state, steps], ['failed', [{ state: 'failed', message }]]);
      assert.equal(steps.length, 1);
    } finally {
      AbortSignal.timeout = timeout;
    }
  });

  it('kill the operator when the cleanup is skipped', async () => {
    const { operator, calls } = stuckOperator();
    const stop = new AbortController();
    const giveUp = new AbortController();
    const start = step(async (run) => {
      run.operator = operator;
      run.cleanup.note({
        what: 'the pool',
        timeoutMs: 60_000,
        commands: ['kubectl delete'],
        remove: () => {
          giveUp.abort(new Error('Given up.'));
          return new Promise(() => undefined);
        },
      });
      stop.abort(new Error('Stopped.'));
      stop.signal.throwIfAborted();
    });
    const run = await newRun(settingsWith(), [start], () => undefined);
    const { state, left } = await takeSteps(run, stop.signal, giveUp.signal);
    assert.deepEqual([state, left.map(({ what }) => what)], ['stopped', ['the pool']]);
    assert.equal(calls[0], 'kill');
    await assert.rejects(access(run.folder), /ENOENT/);
  });
});

describe('the maximum duration of a run', () => {
  const steps = [
    step(async () => undefined, { cleanupMs: 120_000 }),
    step(async () => undefined, { timeoutMs: 1_000 }),
  ];

  it('is the sum of its time-outs, those of the cleanup included', () => {
    assert.equal(longestMs({ settings: settingsWith(), steps }), 60_000 + 120_000 + 30_000);
    assert.equal(longestMs({ settings: settingsWith({ E2E_TIMEOUT_FACTOR: '2' }), steps }), 120_000 + 240_000 + 30_000);
  });

  it('is the maximum in the estimate', () => {
    assert.match(estimate('life', 'm5.large', 6.2), / USD 2\.26 .* USD 5\.26 \(7 hours\)\.$/);
    assert.match(estimate('machine', 'm5.large', 4.5), / USD 1\.50 .* USD 3\.76 \(5 hours\)\.$/);
    assert.match(estimate('life', 'x9.huge', 6.2), /for 7 hours\. The price of x9\.huge is not known/);
  });
});
