/** Runs a life of two replicas, then ends all faults and waits until every pool is as specified or reports why not. */
import { type Action, POOLS } from './action.ts';
import { retry } from './actions.ts';
import { complaintsOf, hasFailed } from './complaints.ts';
import { endFaults } from './life.ts';
import { FOREIGN_TAINT, HOSTS, ReplicatedWorld } from './replicatedWorld.ts';

const MINUTE = 60_000;
/** Between two actions for which no time passes. */
const MOMENT_MS = 100;
/** How long the pools have after the faults. */
const MOST_SETTLING_MS = 6 * 60 * MINUTE;
const ROUND_MS = 10 * MINUTE;

export class ReplicatedLife {
  readonly world = new ReplicatedWorld();

  /** Takes the actions one after the other. */
  async live(actions: readonly Action<ReplicatedWorld>[]): Promise<void> {
    for (const { run, passes = MOMENT_MS } of actions) {
      run?.(this.world);
      await this.world.elapse(passes);
    }
  }

  /** Ends all faults, and lets time pass until nothing is wrong. Returns what is still wrong, and every violation. */
  async settle(): Promise<string[]> {
    const { world } = this;
    this.#endFaults();
    let complaints: readonly string[] = [];
    for (let passed = 0; passed < MOST_SETTLING_MS; passed += ROUND_MS) {
      await world.elapse(ROUND_MS);
      complaints = [...complaintsOf(world), ...this.#foreignTaints()];
      if (world.violations.length > 0 || complaints.length === 0) break;
      // A user reads what failed, and retries.
      if (passed === 12 * ROUND_MS && hasFailed(world)) for (const name of POOLS) retry(world, name);
    }
    world.stop();
    return [...complaints];
  }

  #endFaults(): void {
    const { world } = this;
    endFaults(world);
    world.cacheLagMs = 0;
    world.staleReads.lagMs = 0;
    for (const replica of world.replicas) {
      replica.hold(undefined);
      replica.clock.resume();
      delete replica.leaseOutage.kind;
    }
    for (const { name } of world.nodes) world.setReady(name, true);
  }

  #foreignTaints(): string[] {
    const lost = this.world.nodes.filter(
      ({ name, taints }) =>
        HOSTS.some((host) => host === name) &&
        !taints.some(({ key, effect }) => key === FOREIGN_TAINT.key && effect === FOREIGN_TAINT.effect),
    );
    return lost.map(({ name }) => `the taint of others is gone from ${name}`);
  }
}
