/** Runs a life: actions and the operator take turns on one simulated clock. */
import { type Deps, reconcile } from '../../../controllers/windowspool/reconcile.ts';
import { Crash } from '../../../controllers/windowspool/testing/fakeWorld.ts';
import { type Action, POOLS } from './action.ts';
import { healed, newPool, retry } from './actions.ts';
import { hasFailed } from './complaints.ts';
import { LocalAwsWorld } from './localAwsWorld.ts';

const MINUTE = 60_000;
/** Longer than any backoff, resync and rollout together. */
const LONG = 120 * MINUTE;
/** A multiple of LONG: the longest drains of all nodes of two pools. */
const MOST_DRAINING = 9;
/** A pool that runs more often than that in two hours is in a hot loop. */
const MOST_RUNS = 3_000;
const { signal } = new AbortController();

export class Life {
  readonly world = new LocalAwsWorld();
  #deps: Deps = this.world.start();
  /** When each pool runs next. */
  readonly #due = new Map<string, number>();
  readonly #tries = new Map<string, number>();

  /** Takes the actions one after the other, and runs the operator in between. */
  async live(actions: readonly Action[]): Promise<void> {
    this.world.apply(newPool('web'));
    await this.#wakeAll();
    for (const { run, passes } of actions) {
      run?.(this.world);
      await this.#wakeAll();
      if (passes !== undefined) await this.pass(passes);
    }
  }

  /** Ends all faults, and lets time pass until nothing remains to be done. */
  async settle(): Promise<void> {
    endFaults(this.world);
    await this.pass(LONG);
    // A user reads what failed, and retries.
    for (const name of POOLS) if (hasFailed(this.world)) retry(this.world, name);
    await this.#wakeAll();
    await this.pass(LONG);
    // A drain takes up to the time-out of the spec, and nodes are drained one after the other.
    for (let more = 0; more < MOST_DRAINING && this.#isDraining(); more++) await this.pass(LONG);
  }

  #isDraining(): boolean {
    return [...this.world.pools.values()].some(({ status }) => (status?.disruption?.nodes ?? []).length > 0);
  }

  /** Lets time pass; the operator runs when a pool is due, and when nodes change. */
  async pass(ms: number): Promise<void> {
    const { world } = this;
    const end = world.now + ms;
    for (let runs = 0; ; runs++) {
      if (runs > MOST_RUNS) throw new Error(`the operator runs more than ${MOST_RUNS} times in ${ms / MINUTE} minutes`);
      const next = Math.min(end, ...this.#due.values(), world.cloud.state.timeline.nextDue() ?? end);
      const nodes = world.nodes;
      world.pass(Math.max(0, next - world.now));
      if (world.nodes !== nodes) await this.#wakeAll();
      for (const [name, at] of this.#due) if (at <= world.now) await this.#run(name);
      if (world.now >= end) return;
    }
  }

  async #wakeAll(): Promise<void> {
    for (const name of POOLS) await this.#run(name);
  }

  /** Reconciles a pool, and again while its own writes trigger it. */
  async #run(name: string): Promise<void> {
    for (let run = 0; run < 10; run++) {
      const before = this.#footprint();
      const next = await this.#once(name);
      if (next !== undefined) this.#due.set(name, this.world.now + next);
      else this.#due.delete(name);
      if (this.#footprint() === before) return;
    }
  }

  /** Milliseconds until the pool is requeued. A crashed process restarts at once. */
  async #once(name: string): Promise<number | undefined> {
    try {
      const next = await reconcile(name, this.#deps, signal);
      if (next.kind === 'requeue') {
        const tries = (this.#tries.get(name) ?? 0) + 1;
        this.#tries.set(name, tries);
        return Math.min(1_000 * 2 ** tries, 5 * MINUTE);
      }
      this.#tries.delete(name);
      return next.kind === 'requeueAfter' ? next.ms : undefined;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      this.#deps = this.world.start();
      return 0;
    }
  }

  #footprint(): string {
    const { pools, nodes, runtimeClasses } = this.world;
    const versions = [...pools.values()].map(({ metadata }) => metadata.resourceVersion);
    return JSON.stringify([
      versions,
      nodes.map(({ name, resourceVersion }) => [name, resourceVersion]),
      [...runtimeClasses],
    ]);
  }
}

/** Ends all faults: what fails afterwards, a user has to correct. */
export function endFaults(world: LocalAwsWorld): void {
  const { faults, state } = world.cloud;
  world.callsLeft = Number.POSITIVE_INFINITY;
  world.oddAnswers.end();
  faults.calls.clear();
  world.workload.isKept = false;
  for (const { name } of world.nodes) world.setReady(name, true);
  for (const plans of Object.values(state.plans)) plans.length = 0;
  for (const name of POOLS) healed(world, name);
}
