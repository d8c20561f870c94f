/** A scenario that is repeated with a crash of the operator at each of its calls. */
import assert from 'node:assert/strict';
import type { Deps } from '../reconcile.ts';
import { Crash, type FakeWorld } from './fakeWorld.ts';

interface Scenario {
  /** A world right before the calls that count. */
  readonly prepare: () => Promise<{ readonly world: FakeWorld; readonly deps: Deps }>;
  /** Runs the operator until the scenario is over. */
  readonly finish: (world: FakeWorld, deps: Deps) => Promise<void>;
  /** Asserts the result. `where`: the call of the crash, for messages. */
  readonly check: (world: FakeWorld, where: string) => void;
  /** The scenario must make more calls than this. */
  readonly moreThan: number;
}

/** Crashes the operator before and after each call of the scenario, starts it again, and checks the result. */
export async function crashAtEach({ prepare, finish, check, moreThan }: Scenario): Promise<void> {
  const { world: whole, deps } = await prepare();
  const before = whole.calls.length;
  await finish(whole, deps);
  const calls = whole.calls.length - before;
  assert.ok(calls > moreThan, `only ${calls} calls`);
  for (const when of ['before', 'after'] as const)
    for (let at = 0; at < calls; at++) {
      const { world, deps: first } = await prepare();
      world.crash = { at: world.calls.length + at, when };
      const crashed = await finish(world, first).catch((error: unknown) => error);
      assert.ok(crashed === undefined || crashed instanceof Crash, String(crashed));
      world.crash = undefined;
      await finish(world, world.start());
      check(world, `${when} call ${at}`);
    }
}
