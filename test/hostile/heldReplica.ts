/** A replica whose requests a test can hold on their way, so that it can be stopped at a known point. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { waitFor } from '../../hack/controlplane/wait.ts';
import type { ApiProxy } from '../engine/apiProxy.ts';
import type { LocalAws } from '../fakes/localaws/localAws.ts';
import type { CallEntry } from '../fakes/localaws/wire/callLog.ts';
import { describeWrite } from '../fakes/testenv/audit.ts';
import type { OperatorOptions, OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { type Moment, startMarkingProxy } from './markingProxy.ts';
import { writesOfOperators } from './replicas.ts';

const MARK = 'held-replica';

/** A request that is held when it is sent for the first time. */
export interface Hold {
  /**
   * The method and URL of a request without its query, such as `PATCH /api/v1/nodes/a`; or, with a query or of AWS, the beginning of it, such as
   * `DescribeNodegroup {"clusterName":"demo"`.
   */
  readonly request: string;
  readonly moment: Moment;
}

interface Armed extends Hold {
  text: string | undefined;
  readonly released: PromiseWithResolvers<void>;
}

export class HeldReplica implements AsyncDisposable {
  readonly #cloud: LocalAws;
  readonly #armed: Armed[] = [];
  /** Every request in the order of its arrival. */
  readonly requests: string[] = [];
  #proxy: ApiProxy | undefined;
  #process: OperatorProcess | undefined;

  private constructor(cloud: LocalAws) {
    this.#cloud = cloud;
  }

  /** Starts it, with more environment variables and flags for Node. Its requests to the API server and its calls to AWS carry the mark. */
  static async start(
    world: TestEnv,
    flags: readonly string[],
    { environment, ...more }: Pick<OperatorOptions, 'environment' | 'nodeFlags'> = {},
  ): Promise<HeldReplica> {
    const replica = new HeldReplica(world.cloud);
    replica.#proxy = await startMarkingProxy(world, MARK, (text) => replica.#arrive(text));
    const holds = new WeakMap<CallEntry, (moment: Moment) => Promise<void>>();
    world.cloud.setGate(async (entry, phase) => {
      if (!isMarked(entry)) return;
      const hold = holds.get(entry) ?? replica.#arrive(textOf(entry));
      holds.set(entry, hold);
      await hold(phase === 'before' ? 'request' : 'response');
    });
    replica.#process = world.operator(flags, {
      credentials: replica.#proxy.kubeconfig,
      ...more,
      environment: { ...environment, AWS_SDK_UA_APP_ID: MARK },
    });
    return replica;
  }

  get process(): OperatorProcess {
    if (!this.#process) throw new Error('it was not started');
    return this.#process;
  }

  /** Holds the first request that matches. */
  arm(hold: Hold): void {
    this.#armed.push({ ...hold, text: undefined, released: Promise.withResolvers() });
  }

  /** Waits until each armed hold has its request. */
  async untilHeld(): Promise<void> {
    const missing = () => this.#armed.filter(({ text }) => text === undefined).map(({ request }) => request);
    await waitFor(() => missing().length === 0, {
      what: 'the requests to be held',
      timeoutMs: 40_000,
      intervalMs: 10,
      explain: () =>
        `not sent: ${missing().join(', ')}\n${this.requests.slice(-40).join('\n')}\n${this.process.tail()}`,
    });
  }

  /** The texts of the requests that are held. */
  held(): string[] {
    return this.#armed.flatMap(({ text }) => text ?? []);
  }

  /** Releases all that is held. Holds nothing else. */
  release(): void {
    for (const { released } of this.#armed) released.resolve();
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    process.kill(this.process.pid, name);
  }

  /** Waits until it is stopped by SIGSTOP. */
  async untilStopped(timeoutMs = 10_000): Promise<void> {
    const isStopped = async () => /\) T /.test(await readFile(`/proc/${this.process.pid}/stat`, 'utf8'));
    const explain = () => this.process.tail();
    await waitFor(isStopped, { what: 'the process to stop', timeoutMs, intervalMs: 5, explain });
  }

  /** Lets it continue after a pause, and waits until it has exited because it lost the lease. */
  async resume(): Promise<void> {
    this.signal('SIGCONT');
    const explain = () => this.process.tail();
    await waitFor(() => !this.process.running, { what: 'the process that was paused to exit', explain });
    assert.equal(await this.process.stop(), 1);
    assert.match(this.process.tail(), /LeadershipLost: the lease was not renewed for/);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    await this.#process?.kill();
    this.#cloud.setGate(() => {});
    await this.#proxy?.[Symbol.asyncDispose]();
  }

  #arrive(text: string): (moment: Moment) => Promise<void> {
    this.requests.push(text);
    return async (moment) => {
      const armed = this.#armed.find((hold) => !hold.text && hold.moment === moment && matches(hold.request, text));
      if (!armed) return;
      armed.text = text;
      await armed.released.promise;
    };
  }
}

/** The text of a call to AWS, as in a hold. */
export function textOf({ operation, input }: Pick<CallEntry, 'operation' | 'input'>): string {
  return `${operation} ${JSON.stringify(input)}`;
}

function matches(request: string, text: string): boolean {
  return /[?{]/.test(request) ? text.startsWith(request) : text.split('?')[0] === request;
}

/** Numbers of requests so far. */
interface Requests {
  readonly calls: number;
  readonly writes: number;
}

/** Which requests of all replicas arrived until now, to compare with those of the held replica after another one led. */
export async function countRequests(world: TestEnv): Promise<Requests> {
  return { calls: world.cloud.calls().length, writes: (await writesOfOperators(world)).length };
}

/** The calls to AWS and the writes to the API server that arrived from the held replica since then. */
export async function sentSince(world: TestEnv, { calls, writes }: Requests): Promise<string[]> {
  return [
    ...world.cloud.calls().slice(calls).filter(isMarked).map(describeCall),
    ...(await writesOfOperators(world)).slice(writes).filter(isMarked).map(describeWrite),
  ].sort();
}

/** The operation of a call to AWS and its result. */
export function describeCall({ operation, result }: CallEntry): string {
  return `${operation}: ${result}`;
}

/** Whether a request or a call is of the held replica. */
export function isMarked({ userAgent }: { readonly userAgent?: string }): boolean {
  return userAgent?.includes(MARK) ?? false;
}
