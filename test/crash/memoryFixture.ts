/** A crash fixture without processes: one pool in the world in memory, on a clock that moves only when the operator waits. */
import assert from 'node:assert/strict';
import type { V1RuntimeClass } from '@kubernetes/client-node';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { type Deps, reconcile } from '../../controllers/windowspool/reconcile.ts';
import { samplePool } from '../../controllers/windowspool/testing/fixtures.ts';
import type { Switches } from '../fakes/localaws/switches.ts';
import { conditionLines } from '../fakes/testenv/testEnv.ts';
import type { TimedRequest } from './crashPoints.ts';
import { BUSY, type CrashFixture, emptyHistory, groupsOf, record, templatesOf } from './fixture.ts';
import { MemoryWorld } from './memoryWorld.ts';
import { type CrashPoint, OperatorKilled, RequestGate } from './requestGate.ts';

const MINUTE = 60_000;
/** More than any creation, drain or retry takes. */
const LIMIT_MS = 180 * MINUTE;
/** A pool that runs more often than this is in a hot loop. */
const MOST_TURNS = 500;
/** Longer than the longest poll interval of a pool, shorter than the resync interval. */
const QUIET_MS = MINUTE;
const STILL = 0.001;
const { signal } = new AbortController();

/** A running operator. */
interface Operator {
  readonly deps: Deps;
  /** When it reconciles the pool next without an event, in epoch milliseconds. */
  due: number;
  /** Failed runs in a row. */
  failures: number;
  /** The versions of all objects when it last ran. */
  versions: string | undefined;
}

export class MemoryFixture implements CrashFixture {
  readonly world: MemoryWorld;
  readonly gate: RequestGate;
  readonly name: string;
  readonly history = emptyHistory();
  retained = false;
  /** How many node groups the pool may have at a time. */
  mostGroups = 1;
  /** What was wrong at some moment. */
  readonly violations: string[] = [];
  /** Returns what is wrong now, checked after each request. */
  check: () => readonly string[] = () => [];
  #operator: Operator | undefined;
  #isHeld = false;

  constructor(name: string, switches: Partial<Switches> = {}) {
    this.name = name;
    this.gate = new RequestGate(async (kind) => this.#check(kind));
    this.world = new MemoryWorld(this.gate, switches, (entry) => record(this.history, this.world.cloud, name, entry));
  }

  get held(): boolean {
    return this.#isHeld;
  }

  set held(isHeld: boolean) {
    this.#isHeld = isHeld;
    this.world.cloud.faults.speed({ speed: isHeld ? STILL : 1 });
  }

  start(): void {
    this.#operator ??= { deps: this.world.start(), due: 0, failures: 0, versions: undefined };
  }

  async ready(): Promise<void> {
    this.start();
  }

  async kill(): Promise<void> {
    if (!this.#operator) return;
    this.#operator = undefined;
    this.world.kill();
  }

  async apply(manifest: object): Promise<void> {
    const { spec } = manifest as Pick<WindowsPool, 'spec'>;
    const metadata = { name: this.name, uid: `uid-${this.name}`, finalizers: [], generation: 0 };
    this.world.apply(samplePool(spec, { metadata }));
  }

  async delete(): Promise<void> {
    this.world.remove(this.name);
  }

  async until(what: string, predicate: (pool: WindowsPool | undefined) => boolean): Promise<WindowsPool | undefined> {
    const end = this.world.now + LIMIT_MS;
    for (let turn = 0; turn < MOST_TURNS && this.world.now <= end; turn++) {
      const pool = this.world.pools.get(this.name);
      if (predicate(pool)) return pool;
      await this.#turn();
    }
    const pool = this.world.pools.get(this.name);
    throw new Error(`pool ${this.name} does not come ${what}: ${conditionLines(pool)}\n${JSON.stringify(pool)}`);
  }

  async settle(): Promise<void> {
    for (let steps = 0; this.groups().some(({ status = '' }) => BUSY.includes(status)); steps++) {
      assert.ok(steps < MOST_TURNS, 'EKS does not come to an end');
      this.#pass(this.#untilNextEvent());
    }
  }

  /** Lets the operator work until it only waits for the next resync. */
  async quiet(): Promise<void> {
    for (let turn = 0; turn < MOST_TURNS; turn++) {
      if (this.#isQuiet()) return;
      await this.#turn();
    }
    throw new Error(`the operator does not rest: ${JSON.stringify(this.world.pools.get(this.name)?.status)}`);
  }

  /** Returns the requests that `act` causes until `end` is reached and nothing more comes. */
  async recordRequests(act: () => Promise<void>, end: () => Promise<void>): Promise<readonly TimedRequest[]> {
    const first = this.world.arrivals.length;
    this.gate.begin();
    await act();
    await end();
    await this.quiet();
    const requests = this.gate.end();
    return requests.map((request, index) => ({ request, at: this.world.arrivals[first + index] ?? 0 }));
  }

  /** Runs `act`, kills the operator at the point, and starts another. Returns whether the point was reached. */
  async crash(point: CrashPoint, act: () => Promise<void>): Promise<boolean> {
    this.gate.killAt(point, () => this.kill());
    await act();
    for (let turn = 0; turn < MOST_TURNS && this.gate.armed; turn++) await this.#turn();
    const wasSent = !this.gate.armed;
    this.gate.end();
    this.start();
    return wasSent;
  }

  groups() {
    return groupsOf(this.world.cloud, this.name);
  }

  async runtimeClass(): Promise<Wire<V1RuntimeClass> | undefined> {
    const found = this.world.runtimeClasses.get(this.name);
    const ownerReferences =
      found?.owners.map((owner) => ({ apiVersion: 'winpool.dev/v1alpha1', kind: 'WindowsPool', ...owner })) ?? [];
    return found && { handler: found.handler, metadata: { name: found.name, ownerReferences } };
  }

  /** Fails if something was wrong at any moment. */
  assertClean(): void {
    assert.deepEqual([...this.violations, ...this.world.violations], []);
  }

  /** The operator runs if something has changed or its time has come; otherwise time passes. */
  async #turn(): Promise<void> {
    const operator = this.#operator;
    assert.ok(operator, 'no operator runs');
    if (operator.versions !== this.#versions() || operator.due <= this.world.now) await this.#run(operator);
    else this.#pass(Math.min(operator.due - this.world.now, this.#untilNextEvent()));
  }

  async #run(operator: Operator): Promise<void> {
    operator.versions = this.#versions();
    try {
      const next = await reconcile(this.name, operator.deps, signal);
      operator.failures = next.kind === 'requeue' ? operator.failures + 1 : 0;
      const waits = { done: Number.POSITIVE_INFINITY, requeue: Math.min(1_000 * 2 ** operator.failures, 5 * MINUTE) };
      operator.due = this.world.now + (next.kind === 'requeueAfter' ? next.ms : waits[next.kind]);
    } catch (error) {
      // Only a killed operator is cut off from its requests.
      if (!(error instanceof OperatorKilled) || this.#operator === operator) throw error;
    }
    await this.world.stopped();
  }

  #isQuiet(): boolean {
    const operator = this.#operator;
    const { now } = this.world;
    return (
      operator?.versions === this.#versions() && operator.due > now + QUIET_MS && this.#untilNextEvent() > QUIET_MS
    );
  }

  /** How long nothing happens in AWS, in milliseconds. */
  #untilNextEvent(): number {
    return (this.world.cloud.state.timeline.nextDue() ?? Number.POSITIVE_INFINITY) - this.world.now;
  }

  #pass(ms: number): void {
    this.world.pass(Math.max(0, Math.min(ms, LIMIT_MS)));
  }

  #versions(): string {
    const { pools, nodes, runtimeClasses } = this.world;
    const versions = [...pools.values()].map(({ metadata }) => [metadata.resourceVersion, metadata.generation]);
    return JSON.stringify([versions, nodes.map((node) => [node.name, node.resourceVersion]), [...runtimeClasses]]);
  }

  /** What must be true at every moment: not too many groups, at most one launch template, and none without a pool that its finalizer holds. */
  #check(kind: string): void {
    const groups = this.groups();
    const templates = templatesOf(this.world.cloud, this.name);
    const finalizers = this.world.pools.get(this.name)?.metadata.finalizers ?? [];
    const mayExist = this.retained || finalizers.length > 0;
    const wrong = [
      ...(groups.length > this.mostGroups ? [`there were ${groups.length} groups`] : []),
      ...(templates.length > 1 ? [`there were launch templates ${templates}`] : []),
      ...(groups.length > 0 && !mayExist ? ['the group existed and the pool had no finalizer'] : []),
      ...(templates.length > 0 && !mayExist ? ['the launch template existed and the pool had no finalizer'] : []),
      ...this.check(),
    ];
    this.violations.push(...wrong.map((what) => `after ${kind} ${what}`));
  }
}
