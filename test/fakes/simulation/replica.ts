/** One replica of the operator in a simulated world: the real leader election, fence, controller and reconciliation, on its own clock. */
import { Controller } from '../../../controllers/runtime/controller.ts';
import { LeaderElector, LeadershipLost } from '../../../controllers/runtime/leaderElection.ts';
import type { LeaseClient, Logger } from '../../../controllers/runtime/ports.ts';
import { silentLog } from '../../../controllers/runtime/testing/silentLog.ts';
import type { SimulatedClock } from '../../../controllers/runtime/testing/simulatedClock.ts';
import type { Outage, SimulatedLease } from '../../../controllers/runtime/testing/simulatedLease.ts';
import type { CallResult } from '../../../controllers/windowspool/ports/callResult.ts';
import { type Deps, reconcile } from '../../../controllers/windowspool/reconcile.ts';
import { isAwsCall } from '../../../controllers/windowspool/testing/fakeCalls.ts';
import { Crash } from '../../../controllers/windowspool/testing/fakeWorld.ts';
import { sampleError } from '../../../controllers/windowspool/testing/fixtures.ts';
import { type PauseKind, ProcessClock } from './processClock.ts';
import { type Objects, ReplicaCaches } from './replicaCaches.ts';

/** The defaults of the flags. */
const WORKERS = 4;
const RECONCILE_TIMEOUT_MS = 120_000;
const RETRY_BASE_MS = 1_000;
const RETRY_MAX_MS = 300_000;
const GRACE_MS = 4_000;

/**
 * What happens at a call: the process is paused right before it, or after the fence has let it pass. Then the call arrives when the pause is over.
 * Or the process ends, before or after the call.
 */
export interface Hold {
  /** Counted from the call after this one, in the calls that it concerns. */
  readonly call: number;
  readonly of: 'calls' | 'writes';
  readonly moment: 'before' | 'sent' | 'endsBefore' | 'endsAfter';
  readonly ms: number;
  readonly kind: PauseKind;
}

/** What a replica needs of its world. */
interface Host {
  readonly clock: SimulatedClock;
  readonly lease: SimulatedLease;
  readonly tally: { stoppedByFence: number };
  /** The ports of one process. */
  depsOf(caches: ReplicaCaches, clock: ProcessClock): Deps;
  /** What a new cache lists. */
  objects(): Objects;
  /** Runs work whose calls are those of the process. */
  asProcess<T>(process: Replica, work: () => Promise<T>): Promise<T>;
  /** Starts another process in the place of one that has ended. */
  replace(replica: Replica): void;
  /** Records a violation of an invariant. */
  broken(text: string): void;
}

/** Whether a call changes something. */
export function isWriteCall(call: string): boolean {
  return !/^(?:read|list|get) |^(?:Describe|List|Get)/.test(call);
}

export class Replica {
  readonly clock: ProcessClock;
  /** How its requests for the lease fail. */
  readonly leaseOutage: { kind?: Outage } = {};
  readonly caches: ReplicaCaches;
  readonly identity: string;
  readonly #world: Host;
  readonly #elector: LeaderElector;
  readonly #controller: Controller;
  readonly #deps: Deps;
  #hold: (Hold & { left: number }) | undefined;

  constructor(world: Host, identity: string, jitter: number) {
    this.#world = world;
    this.identity = identity;
    this.clock = new ProcessClock(world.clock);
    const log = logTo(world, identity);
    this.caches = new ReplicaCaches(this.clock, log);
    this.#deps = world.depsOf(this.caches, this.clock);
    const { clock } = this;
    const leases = this.#leases(world.lease.client(this.leaseOutage));
    this.#elector = new LeaderElector({ leases, identity, clock, log: silentLog, random: () => jitter });
    this.#controller = new Controller({
      name: 'windowspool',
      reconcile: (name, signal) => world.asProcess(this, () => this.#reconcile(name, signal)),
      sources: [this.caches.pools, this.caches.nodes],
      maxConcurrentReconciles: WORKERS,
      timeoutMs: RECONCILE_TIMEOUT_MS,
      graceMs: GRACE_MS,
      clock,
      log,
      newId: () => '',
      backoff: { baseDelayMs: RETRY_BASE_MS, maxDelayMs: RETRY_MAX_MS },
    });
  }

  /** Runs it until it loses the lease or ends. */
  async run(): Promise<void> {
    const { readCache } = this.#deps;
    const wake = (pool: string): void => this.#controller.enqueue(pool);
    this.caches.begin(this.#world.objects(), wake, (pool) => readCache.forget(pool));
    try {
      await this.#elector.run(new AbortController().signal, (leading) => this.#controller.run(leading));
    } catch (error) {
      if (!(error instanceof LeadershipLost)) this.#world.broken(`${this.identity} fails: ${stackOf(error)}`);
    }
    this.end();
  }

  /** Whether its fence lets writes pass. */
  get mayWrite(): boolean {
    try {
      this.#elector.check();
      return !this.clock.hasEnded;
    } catch {
      return false;
    }
  }

  /** Arms a hold; undefined disarms it. */
  hold(hold: Hold | undefined): void {
    this.#hold = hold && { ...hold, left: hold.call };
  }

  /** The process ends, and another one is started in its place. */
  end(): void {
    if (this.clock.hasEnded) return;
    this.clock.end();
    this.#world.replace(this);
  }

  /** Sends a call: right after the fence was checked, `deliver` carries it out. */
  async send<T>(call: string, deliver: (isLate: boolean) => Promise<CallResult<T>>): Promise<CallResult<T>> {
    const isWrite = isWriteCall(call);
    const hold = this.#holdOf(isWrite);
    if (hold?.moment === 'endsBefore') this.end();
    if (hold?.moment === 'before') this.clock.pause(hold.ms, hold.kind);
    await this.clock.running();
    // The client of the API server checks the fence before each write, those of AWS before each call.
    if (isWrite || isAwsCall(call)) {
      try {
        this.#elector.check();
      } catch {
        if (isWrite) this.#world.tally.stoppedByFence += 1;
        return { ok: false, error: sampleError('unavailable', { operation: call }) };
      }
    }
    const isSent = hold?.moment === 'sent';
    if (isSent) {
      this.clock.pause(hold.ms, hold.kind);
      await this.#world.clock.sleep(hold.ms, new AbortController().signal);
    }
    const answer = await deliver(isSent);
    if (hold?.moment === 'endsAfter') this.end();
    await this.clock.running();
    return answer;
  }

  #holdOf(isWrite: boolean): Hold | undefined {
    const hold = this.#hold;
    if (!hold || (hold.of === 'writes' && !isWrite)) return undefined;
    hold.left -= 1;
    if (hold.left > 0) return undefined;
    this.#hold = undefined;
    return hold;
  }

  #leases(client: LeaseClient): LeaseClient {
    const whileRunning = async <T>(request: () => Promise<T>): Promise<T> => {
      await this.clock.running();
      try {
        return await request();
      } finally {
        await this.clock.running();
      }
    };
    return {
      read: (signal) => whileRunning(() => client.read(signal)),
      create: (record, signal) => whileRunning(() => client.create(record, signal)),
      update: (record, version, signal) => whileRunning(() => client.update(record, version, signal)),
    };
  }

  async #reconcile(name: string, signal: AbortSignal): ReturnType<typeof reconcile> {
    try {
      return await reconcile(name, this.#deps, signal);
    } catch (error) {
      if (error instanceof Crash) {
        this.end();
        await this.clock.running();
      }
      if (!signal.aborted) this.#world.broken(`the reconciliation of ${name} throws: ${stackOf(error)}`);
      throw error;
    }
  }
}

/** A listener that fails is a defect; what a reconciliation throws is reported where it is caught. */
function logTo(world: Host, identity: string): Logger {
  const error = (fields: object, message: string): void => {
    if (message !== 'reconcile failed') world.broken(`${identity}: ${message}: ${JSON.stringify(fields)}`);
  };
  const log: Logger = { ...silentLog, error, child: () => log };
  return log;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? String(error.stack) : String(error);
}
