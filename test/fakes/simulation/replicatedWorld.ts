/**
 * The world of two replicas: one API server and one AWS, a Lease, and caches and reads that lag behind. An observer checks what takes effect.
 *
 *   Replica --call--> pause? --> fence --> on the way? --> ReplicatedWorld: observer, API server, AWS (now, or as it was)
 *      ^--- ReplicaCaches <--lag--- changes of objects ---'
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { SimulatedClock } from '../../../controllers/runtime/testing/simulatedClock.ts';
import { SimulatedLease } from '../../../controllers/runtime/testing/simulatedLease.ts';
import type { WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import type { TaintChange } from '../../../controllers/windowspool/model/poolNodesView.ts';
import type { CallResult } from '../../../controllers/windowspool/ports/callResult.ts';
import type { NodeRecord } from '../../../controllers/windowspool/ports/nodes.ts';
import type { RuntimeClass } from '../../../controllers/windowspool/ports/runtimeClasses.ts';
import type { Deps } from '../../../controllers/windowspool/reconcile.ts';
import { machine } from '../../../controllers/windowspool/testing/existingScenes.ts';
import { flat } from '../../../controllers/windowspool/testing/fakeCalls.ts';
import type { OperationName } from '../localaws/wire/operations.ts';
import { LocalAwsWorld } from './localAwsWorld.ts';
import type { GroupView } from './nodeInvariants.ts';
import type { ProcessClock } from './processClock.ts';
import { isWriteCall, Replica } from './replica.ts';
import type { ObjectChange, ReplicaCaches } from './replicaCaches.ts';
import { REMEMBERED_MS, StaleReads } from './staleReads.ts';

/** A second of the local AWS stands for 20 s here, so that a lag of a minute is as long as it is for the real EKS. */
const SPEED = 1 / 20;
/** How long a process takes to start. */
const RESTART_MS = 3_000;
/** A taint of other users on the existing nodes. */
export const FOREIGN_TAINT = { key: 'theirs', value: 'yes', effect: 'NoSchedule' } as const;
/** The nodes of the pool of existing nodes. */
export const HOSTS = ['host-1', 'host-2'] as const;

/** A call that has arrived. */
interface Arrival {
  readonly isLate: boolean;
  /** Violations, which count if the call is accepted. */
  readonly found: string[];
}

/** What runs: code of a process, or one of its calls. */
interface Running {
  readonly process: Replica;
  readonly arrival?: Arrival;
}

export class ReplicatedWorld extends LocalAwsWorld {
  readonly clock: SimulatedClock;
  readonly lease = new SimulatedLease();
  readonly staleReads: StaleReads;
  /** How long changes take to reach the caches. */
  cacheLagMs = 0;
  /** What was accepted from a process that no longer leads: calls that had passed the fence before its pause. */
  readonly lateWrites: string[] = [];
  /** The violations by such calls. */
  readonly lateViolations: string[] = [];
  /** How often each kind of event happened, to show that lives exercise it. */
  readonly tally = { writes: 0, stoppedByFence: 0, staleReads: 0, terminations: 0 };
  #replicas: readonly Replica[] = [];
  #started = 0;
  readonly #running = new AsyncLocalStorage<Running>();
  #alarm: Disposable | undefined;
  #published = {
    pools: new Map<string, WindowsPool>(),
    nodes: new Map<string, NodeRecord>(),
    classes: new Map<string, RuntimeClass>(),
  };

  constructor() {
    super({ speed: SPEED });
    this.clock = new SimulatedClock(this.now, () => this.#passed());
    this.staleReads = new StaleReads(this.cloud.state, () => this.now);
    this.cloud.state.timeline.onScheduled(() => this.#setAlarm());
    this.nodes = HOSTS.map((name) => ({ ...machine(name, { taints: [FOREIGN_TAINT] }), resourceVersion: this.next() }));
    for (let slot = 0; slot < 2; slot++) this.#replicas = [...this.#replicas, this.#startReplica()];
  }

  /** Lets time pass, in milliseconds. */
  async elapse(ms: number): Promise<void> {
    this.#publish();
    await this.clock.advance(ms);
  }

  /** The process that holds the lease; undefined if it has ended. */
  get leader(): Replica | undefined {
    return this.#replicas.find(({ identity }) => identity === this.lease.lease?.record.holder);
  }

  get replicas(): readonly Replica[] {
    return this.#replicas;
  }

  /** Ends all processes. */
  stop(): void {
    const replicas = this.#replicas;
    this.#replicas = [];
    for (const replica of replicas) replica.end();
  }

  /** What a new cache lists. */
  objects() {
    return { pools: this.pools.values(), nodes: this.nodes, version: String(this.version) };
  }

  /** The ports of one process. */
  depsOf(caches: ReplicaCaches, clock: ProcessClock): Deps {
    const deps = this.start();
    const { pools } = deps;
    const noted = (pool: WindowsPool | undefined): void => {
      if (pool) caches.pools.observeWrite(pool);
    };
    return {
      ...deps,
      now: () => clock.now(),
      pools: {
        ...pools,
        get: (name) => caches.pools.get(name),
        read: async (name, signal) => {
          const answer = await pools.read(name, signal);
          if (answer.ok) noted(answer.value);
          return answer;
        },
      },
      poolRegistry: caches.poolRegistry,
      poolNodesCache: caches.poolNodesCache,
      nodeMembership: caches.nodeMembership,
      drains: {
        podsOn: (node) => this.call('list pods', () => this.workload.podsOn(node)).then(flat),
        evict: (pod, grace) => this.call('evict', () => this.workload.evict(pod, grace)).then(flat),
      },
    };
  }

  /** Runs work whose calls are those of the process. */
  asProcess<T>(process: Replica, work: () => Promise<T>): Promise<T> {
    return this.#running.run({ process }, work);
  }

  /** Starts another process in the place of one that has ended. */
  replace(replica: Replica): void {
    if (!this.#replicas.includes(replica)) return;
    this.clock.after(RESTART_MS, () => {
      if (!this.#replicas.includes(replica)) return;
      const successor = this.#startReplica();
      this.#replicas = this.#replicas.map((each) => (each === replica ? successor : each));
    });
  }

  override broken(text: string): void {
    const arrival = this.#running.getStore()?.arrival;
    if (arrival) arrival.found.push(text);
    else super.broken(text);
  }

  override viewsOf(name: string): readonly GroupView[] {
    // A process that was paused may complete what it began before.
    const since = this.#running.getStore()?.process.clock.pausedSince(REMEMBERED_MS);
    return [...super.viewsOf(name), ...this.staleReads.viewsOf(name, since)];
  }

  protected override async call<T>(call: string, work: () => T | Promise<T>): Promise<CallResult<T>> {
    const process = this.#running.getStore()?.process;
    if (!process) return super.call(call, work);
    return process.send(call, (isLate) =>
      this.#carryOut(call, process, { isLate, found: [] }, () => super.call(call, work)),
    );
  }

  protected override async deliver(operation: string, input: object, signal: AbortSignal): Promise<unknown> {
    const past = isWriteCall(operation) ? undefined : this.staleReads.pick();
    if (!past) return super.deliver(operation, input, signal);
    this.tally.staleReads += 1;
    return past.send(operation as OperationName, input as never, signal);
  }

  protected override taint(seen: NodeRecord, change: TaintChange): CallResult<void> {
    const before = this.nodes.find(({ uid }) => uid === seen.uid);
    const answer = super.taint(seen, change);
    const after = this.nodes.find(({ uid }) => uid === seen.uid);
    if (hasForeignTaint(before) && !hasForeignTaint(after))
      this.broken(`the taint of others is removed from ${seen.name}`);
    return answer;
  }

  /** Each replica has its own caches. */
  protected override deliverNodeEvents(): void {}

  /** Carries out a call that has arrived, and checks it. */
  async #carryOut<T>(
    call: string,
    process: Replica,
    arrival: Arrival,
    work: () => Promise<CallResult<T>>,
  ): Promise<CallResult<T>> {
    let isAccepted = false;
    try {
      const answer = await this.#running.run({ process, arrival }, work);
      isAccepted = answer.ok && (answer.value as { ok?: boolean } | undefined)?.ok !== false;
      return answer;
    } catch (error) {
      // A response that was lost says nothing: the call may have taken effect.
      const { httpStatusCode = 0 } = (error as { $metadata?: { httpStatusCode?: number } }).$metadata ?? {};
      isAccepted = httpStatusCode < 400;
      throw error;
    } finally {
      if (isAccepted && isWriteCall(call)) this.#observe(call, process, arrival);
      this.#publish(process);
    }
  }

  #observe(call: string, process: Replica, { isLate, found }: Arrival): void {
    this.tally.writes += 1;
    if (call.startsWith('Terminate')) this.tally.terminations += 1;
    const holder = this.lease.lease?.record.holder;
    const others = this.#replicas.filter((each) => each !== process && each.mayWrite);
    const isByLeader = holder === process.identity && others.length === 0;
    if (isLate) {
      if (!isByLeader) this.lateWrites.push(call);
      this.lateViolations.push(...found.map((text) => `${call}: ${text}`));
      return;
    }
    for (const text of found) super.broken(text);
    if (!isByLeader) super.broken(`${process.identity} sends ${call}, and ${holder} leads`);
  }

  #startReplica(): Replica {
    this.#started += 1;
    const replica = new Replica(this, `operator-${this.#started}`, (this.#started % 5) / 5);
    void replica.run();
    return replica;
  }

  #passed(): void {
    this.now = this.clock.now();
    this.workload.pass();
    this.staleReads.record();
    this.#publish();
  }

  #setAlarm(): void {
    this.#alarm?.[Symbol.dispose]();
    const at = this.cloud.state.timeline.nextDue();
    if (at === undefined) return;
    this.#alarm = this.clock.after(at - this.clock.now(), () => {
      this.cloud.state.timeline.settle();
      this.#publish();
      this.#setAlarm();
    });
  }

  /** Sends the changes since the last time to all caches. */
  #publish(writer?: Replica): void {
    const { pools, nodes, classes } = this.#published;
    const current = {
      pools: this.pools,
      nodes: new Map(this.nodes.map((node) => [node.name, node])),
      classes: this.runtimeClasses,
    };
    const changes: ObjectChange[] = [
      ...differences(pools, current.pools).map(([, change]) => ({ kind: 'pool' as const, ...change })),
      ...differences(nodes, current.nodes)
        .sort(([, a], [, b]) => Number(a.after?.resourceVersion ?? 0) - Number(b.after?.resourceVersion ?? 0))
        .map(([, change]) => ({ kind: 'node' as const, ...change })),
      ...differences(classes, current.classes).map(([, change]) => ({ kind: 'runtimeClass' as const, ...change })),
    ];
    if (changes.length === 0) return;
    this.#published = { pools: new Map(this.pools), nodes: current.nodes, classes: new Map(this.runtimeClasses) };
    for (const replica of this.#replicas)
      for (const change of changes) replica.caches.receive(change, this.cacheLagMs, replica === writer);
  }
}

interface Difference<T> {
  readonly before: T | undefined;
  readonly after: T | undefined;
}

function differences<T>(before: ReadonlyMap<string, T>, after: ReadonlyMap<string, T>): [string, Difference<T>][] {
  const changed: [string, Difference<T>][] = [];
  for (const [name, value] of after)
    if (before.get(name) !== value) changed.push([name, { before: before.get(name), after: value }]);
  for (const [name, value] of before) if (!after.has(name)) changed.push([name, { before: value, after: undefined }]);
  return changed;
}

function hasForeignTaint(node: NodeRecord | undefined): boolean {
  return node?.taints.some(({ key }) => key === FOREIGN_TAINT.key) === true;
}
