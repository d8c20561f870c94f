/**
 * One test environment for all cluster suites: starting it takes seconds, and pools of different names do not interfere. A suite that needs an
 * operator calls `withOperator`; the operator runs only during that suite.
 */

import { waitFor } from '../hack/controlplane/wait.ts';
import { isInside } from '../hack/realnode/isolation.ts';
import type { Switches } from './fakes/localaws/switches.ts';
import type { OperatorProcess } from './fakes/testenv/operatorProcess.ts';
import { startTestEnv, type TestEnv } from './fakes/testenv/testEnv.ts';

/** The speed of its AWS, relative to the default. */
const SPEED = 4;

let started: Promise<TestEnv> | undefined;

/** The environment, started at the first call; in namespaces of its own with two real nodes. */
export function theWorld(): Promise<TestEnv> {
  const realNodes = isInside() ? 2 : 0;
  started ??= startTestEnv({ speed: SPEED, realNodes, log: (line) => console.log(`    ${line}`) });
  return started;
}

/** The environment if a suite has asked for it. */
export async function startedWorld(): Promise<TestEnv | undefined> {
  return started?.catch(() => undefined);
}

/** Stops it. */
export async function endWorld(): Promise<void> {
  const world = await startedWorld();
  await world?.stop();
}

/** Root hooks: they clean up after a failed test, and stop the environment when all suites of one mocha are done. */
export const mochaHooks = {
  async afterEach(this: Mocha.Context): Promise<void> {
    if (this.currentTest?.state === 'failed' && started) await resetWorld(await started);
  },
  afterAll: endWorld,
};

/** Flags with short intervals. */
const FAST_FLAGS = [
  '--poll-interval=200ms',
  '--retry-base=50ms',
  '--retry-max=1s',
  '--leader-elect=false',
  '--log-level=debug',
];

export interface OperatorFixture {
  readonly world: TestEnv;
  operator: OperatorProcess;
  /** Starts another operator with the same flags and these, after the last one ended. */
  restart(...more: readonly string[]): Promise<void>;
  /** Waits until the probe returns a value other than undefined or false, and returns that. The error has the operator's log. */
  until<T>(what: string, probe: Parameters<typeof waitFor<T>>[0]): Promise<T>;
}

/** Runs an operator during the suite that calls this, and deletes all pools at its end; the result is complete when its tests run. */
export function withOperator(...flags: readonly string[]): OperatorFixture {
  const fixture = {
    async restart(...more) {
      fixture.operator = await fixture.world.operator([...FAST_FLAGS, ...flags, ...more]).ready();
    },
    until: (what, probe) => waitFor(probe, { what, explain: () => fixture.operator.tail() }),
  } as OperatorFixture & { world: TestEnv };
  before(async function () {
    this.timeout(600_000);
    fixture.world = await theWorld();
    await fixture.restart();
  });
  after(async () => {
    if (!fixture.world) return;
    try {
      await resetWorld(fixture.world);
      // Pools are deleted while an operator runs that removes their finalizers.
      await fixture.world.kubectl('delete', 'windowspools', '--all', '--timeout=50s');
    } finally {
      // If it kept running, the next suite would have two operators.
      await fixture.operator?.stop();
    }
    await waitForNoRuntimeClasses(fixture.world);
  });
  return fixture;
}

/** Reverts what a failed test may have left, and what would block the deletion of a pool. */
async function resetWorld(world: TestEnv): Promise<void> {
  const { faults } = world.cloud;
  faults.speed({ speed: SPEED });
  faults.restoreAction();
  faults.calls.clear();
  faults.staleReads({ seconds: 0 });
  const query = '{.items[?(@.spec.paused==true)].metadata.name}';
  const paused = await world.kubectl('get', 'windowspools', '-o', `jsonpath=${query}`);
  for (const name of paused.split(' ').filter(Boolean)) await world.patchPool(name, { paused: false });
}

/** The garbage collector deletes the RuntimeClasses of deleted pools; the next suite must not find them. */
async function waitForNoRuntimeClasses(world: TestEnv): Promise<void> {
  const left = () =>
    world.kubectl('get', 'runtimeclasses', '-l', 'app.kubernetes.io/managed-by=windowspool-operator', '-o', 'name');
  await waitFor(async () => (await left()) === '', {
    what: 'the RuntimeClasses of the suite to be deleted',
    timeoutMs: 45_000,
  });
}

/** Stops the progress of all operations in the local AWS; returns a function that restores its speed. */
export function freezeAws({ cloud }: Pick<TestEnv, 'cloud'>): () => void {
  const { speed } = cloud.state.timeline;
  cloud.faults.speed({ speed: 0.001 });
  return () => cloud.faults.speed({ speed });
}

/** Sets a switch of the local AWS; returns a function that restores it. */
export function setSwitch<K extends keyof Switches>(
  { cloud }: Pick<TestEnv, 'cloud'>,
  name: K,
  value: Switches[K],
): () => void {
  const switches = cloud.state.switches as Switches;
  const before = switches[name];
  switches[name] = value;
  return () => {
    switches[name] = before;
  };
}
