import assert from 'node:assert/strict';
import type { CallErrorKind } from '../../../controllers/windowspool/ports/callResult.ts';
import { sampleError } from '../../../controllers/windowspool/testing/fixtures.ts';
import { action } from './action.ts';
import { complaintsOf } from './complaints.ts';
import { Life } from './life.ts';
import { PATHS, type Path, settled } from './paths.ts';

const MINUTE = 60_000;
/** Longer than the grace of every condition. */
const FAILS_MS = 23 * MINUTE;
const KINDS = ['denied', 'unavailable'] as const satisfies readonly CallErrorKind[];
const CAUSE = 'the cause in the log';
/** The cause, or what says more: the permission that is missing, or what may have happened although the call failed. */
const TOLD = new RegExp(`${CAUSE}|AccessDenied|AWS has not confirmed`);
/** Without these, there is no status to say it in. The metric windowspool_status_confirmed_timestamp_seconds shows it. */
const UNSAYABLE: readonly string[] = ['read pool', 'write status'];

/** The calls of the path, each once. */
async function callsOf({ before = [], path }: Path): Promise<readonly string[]> {
  const life = new Life();
  const begin = action('calls', { run: ({ calls }) => calls.splice(0) });
  await life.live([settled('the pool'), ...before, begin, path]);
  return [...new Set(life.world.calls)].filter((call) => !UNSAYABLE.includes(call));
}

/** What the pools and their events say after a call has failed for a long time; undefined if nothing waits for it. */
async function said({ before = [], path }: Path, call: string, kind: CallErrorKind): Promise<string | undefined> {
  const life = new Life();
  const fail = action('failure', {
    run: (world) => {
      world.fails = (each) => {
        return each === call ? { ...sampleError(kind), message: CAUSE } : undefined;
      };
    },
  });
  const { run } = path;
  await life.live([settled('the pool'), ...before, fail, action(path.name, { ...(run && { run }), passes: FAILS_MS })]);
  const { pools, events } = life.world;
  return complaintsOf(life.world).length === 0
    ? undefined
    : JSON.stringify([[...pools.values()].map(({ status }) => status), events]);
}

describe('a call that fails for long', () => {
  for (const [what, path] of Object.entries(PATHS)) {
    it(`is the cause that the pool names, during ${what}`, async function () {
      this.timeout(0);
      const silent: string[] = [];
      for (const call of await callsOf(path))
        for (const kind of KINDS)
          if (TOLD.test((await said(path, call, kind)) ?? CAUSE) === false) silent.push(`${call} ${kind}`);
      assert.deepEqual(silent, []);
    });
  }
});
