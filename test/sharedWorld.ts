/**
 * One test environment for all cluster suites: starting it takes seconds, and pools of different names do not interfere. A suite that needs an
 * operator calls `withOperator`; the operator runs only during that suite.
 */

import { waitFor } from '../hack/controlplane/wait.ts';
import type { Switches } from '../hack/localaws/switches.ts';
import type { OperatorProcess } from '../hack/testenv/operatorProcess.ts';
import { startTestEnv, type TestEnv } from '../hack/testenv/testEnv.ts';

/** How many times faster than by default its AWS runs. */
const SPEED = 4;

let started: Promise<TestEnv> | undefined;

/** The environment, started at the first call. */
export function theWorld(): Promise<TestEnv> {
  started ??= startTestEnv({ speed: SPEED, log: (line) => console.log(`    ${line}`) });
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
    if (this.currentTest?.state === 'failed' && started) await makeGood(await started);
  },
  afterAll: endWorld,
};

/** Flags under which nothing takes long. */
const HASTY = [
  '--poll-interval=200ms',
  '--retry-base=50ms',
  '--retry-max=1s',
  '--leader-elect=false',
  '--log-level=debug',
];

export interface OperatorFixture {
  readonly world: TestEnv;
  operator: OperatorProcess;
  /** Starts another operator with the same flags, after the last one ended. */
  restart(): Promise<void>;
}

/** Runs an operator during the suite that calls this, and deletes all pools at its end; the result is complete when its tests run. */
export function withOperator(...flags: readonly string[]): OperatorFixture {
  const stage = {
    async restart() {
      stage.operator = await stage.world.operator([...HASTY, ...flags]).ready();
    },
  } as OperatorFixture & { world: TestEnv };
  before(async function () {
    this.timeout(600_000);
    stage.world = await theWorld();
    await stage.restart();
  });
  after(async () => {
    if (!stage.world) return;
    try {
      await makeGood(stage.world);
      // Pools are deleted while an operator runs that removes their finalizers.
      await stage.world.kubectl('delete', 'windowspools', '--all', '--timeout=50s');
    } finally {
      // With this one at work the next suite would have two.
      await stage.operator?.stop();
    }
    await noneLeft(stage.world);
  });
  return stage;
}

/** Reverts what a failed test may have left, and what would block the deletion of a pool. */
async function makeGood(world: TestEnv): Promise<void> {
  const { faults } = world.cloud;
  faults.speed({ speed: SPEED });
  faults.restoreAction();
  faults.calls.clear();
  const query = '{.items[?(@.spec.paused==true)].metadata.name}';
  const paused = await world.kubectl('get', 'windowspools', '-o', `jsonpath=${query}`);
  for (const name of paused.split(' ').filter(Boolean)) await world.patchPool(name, { paused: false });
}

/** The garbage collector ends the RuntimeClasses of pools that are gone; the next suite must not find them. */
async function noneLeft(world: TestEnv): Promise<void> {
  const left = () =>
    world.kubectl('get', 'runtimeclasses', '-l', 'app.kubernetes.io/managed-by=windowspool-operator', '-o', 'name');
  await waitFor(async () => (await left()) === '', {
    what: 'the RuntimeClasses of the suite to end',
    timeoutMs: 45_000,
  });
}

/** Lets nothing in the local AWS come to its end; returns how to go on. */
export function slowed({ cloud }: Pick<TestEnv, 'cloud'>): () => void {
  const { speed } = cloud.state.timeline;
  cloud.faults.speed({ speed: 0.001 });
  return () => cloud.faults.speed({ speed });
}

/** Makes the local AWS answer an open question in another way; returns how to take that back. */
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
