/** Records what the operator does in a simulated life: its runs, calls, statuses and events, in order. */
import type { Deps } from '../../controllers/windowspool/reconcile.ts';
import type { MemoryCloud } from '../../test/fakes/localaws/memory.ts';
import type { Action } from '../../test/fakes/simulation/action.ts';
import type { LocalAwsWorld } from '../../test/fakes/simulation/localAwsWorld.ts';
import type { Json, Observation } from './entry.ts';
import { digest, fieldsOf, named } from './plain.ts';
import { statusChange } from './statusChange.ts';

/** The ports to the API server. Calls to AWS are recorded where they arrive, with the bodies that the adapters send. */
const CLUSTER_PORTS = [
  'pools',
  'budget',
  'nodes',
  'nodePods',
  'drains',
  'evictions',
  'runtimeClasses',
  'system',
  'userScripts',
  'instanceLists',
  'events',
] as const satisfies readonly (keyof Deps)[];

const STATUS_WRITES = ['pools.writeStatus', 'budget.reserve'];

/** What a call returned, as far as it is recorded; undefined if only its success matters. */
type AnswerOf = (result: unknown) => Json | undefined;

export class LifeRecord {
  readonly observations: Observation[] = [];
  readonly #world: LocalAwsWorld;
  /** When each pool ran last in each process. */
  readonly #lastRuns = new Map<string, number>();
  readonly #clouds = new WeakSet<MemoryCloud>();
  #processes = 0;

  constructor(world: LocalAwsWorld) {
    this.#world = world;
    this.observe(world.cloud);
  }

  /** The same action, which is recorded with the world as it leaves it. */
  action<W extends LocalAwsWorld>(action: Action<W>): Action<W> {
    const run = (world: W): void => {
      action.run?.(world);
      this.observations.push({ kind: 'action', name: action.name, data: { world: digest(worldOf(world)) } });
    };
    return { ...action, run };
  }

  /** Records the calls that arrive at this AWS from now on. */
  observe(cloud: MemoryCloud): void {
    if (this.#clouds.has(cloud)) return;
    this.#clouds.add(cloud);
    const send = cloud.send.bind(cloud);
    const recorded: typeof send = (operation, input, signal) => {
      const { nodegroupName: of } = input as { readonly nodegroupName?: string };
      const call = { kind: 'call', name: operation, ...(of && { of }), data: fieldsOf(input) } as const;
      return this.#answered(call, send(operation, input, signal), digestOfAnswer);
    };
    cloud.send = recorded;
  }

  /** The ports of a process that starts. */
  process(deps: Deps): Deps {
    this.#processes += 1;
    const process = this.#processes;
    const ports = CLUSTER_PORTS.map((name) => [name, this.#port(name, deps[name], process)]);
    return { ...deps, ...Object.fromEntries(ports) };
  }

  #port<P extends object>(port: string, target: P, process: number): P {
    return new Proxy(target, {
      get: (_target, key) => {
        const method: unknown = Reflect.get(target, key);
        if (typeof method !== 'function') return method;
        return (...args: readonly object[]): unknown => {
          const call = `${port}.${String(key)}`;
          if (call === 'pools.get') this.#begin(`${args[0]} in process ${process}`);
          if (port === 'events') this.#event(args);
          const result: unknown = method.apply(target, args);
          return result instanceof Promise ? this.#answered(callOf(call, args), result, refusal) : result;
        };
      },
    });
  }

  /** A run begins when it reads its pool from the cache. */
  #begin(of: string): void {
    const { now } = this.#world;
    const [last, before] = [this.observations.at(-1), this.#lastRuns.get(of)];
    // It reads it twice.
    if (last?.kind === 'run' && last.of === of && before === now) return;
    this.#lastRuns.set(of, now);
    this.observations.push({ kind: 'run', name: 'run', of, data: before === undefined ? {} : { after: now - before } });
  }

  #event([subject, event]: readonly object[]): void {
    const { reason: name, ...data } = fieldsOf(event ?? {});
    this.observations.push({ kind: 'event', name: String(name), of: named(subject ?? {}) ?? '', data });
  }

  /** Records a call, and later its answer with it. */
  async #answered<T>(call: Observation, result: Promise<T>, answerOf: AnswerOf): Promise<T> {
    const at = this.observations.push(call) - 1;
    const add = (answer: Json | undefined): void => {
      if (answer !== undefined) this.observations[at] = { ...call, answer };
    };
    try {
      const value = await result;
      add(answerOf(value));
      return value;
    } catch (error) {
      add((error as Error).name);
      throw error;
    }
  }
}

/** A call of a port of the API server. Its first argument is often the object, or its name. */
function callOf(name: string, args: readonly (object | string)[]): Observation {
  const [first, second] = args;
  const of = typeof first === 'object' ? named(first) : first;
  if (STATUS_WRITES.includes(name)) {
    const { status } = first as { readonly status?: object };
    return { kind: 'status', name: 'status', of: of ?? '', data: statusChange(status, Object(second)) };
  }
  return {
    kind: 'call',
    name,
    ...(of !== undefined && { of }),
    data: fieldsOf({ ...args.slice(of === undefined ? 0 : 1) }, named),
  };
}

function digestOfAnswer(result: unknown): Json {
  const { $metadata: _, ...answer } = result as { readonly $metadata?: object };
  return digest(answer);
}

function refusal(result: unknown): Json | undefined {
  const { ok, error } = (result ?? {}) as { readonly ok?: boolean; readonly error?: { readonly kind: string } };
  return ok === false ? (error?.kind ?? '') : undefined;
}

/** What the operator can read, except what it has written to statuses: these are compared. */
function worldOf({ pools, nodes, nodePods, runtimeClasses, cloud }: LocalAwsWorld): object {
  const specs = [...pools.values()].map(({ metadata: { resourceVersion: _, ...metadata }, spec }) => ({
    metadata,
    spec,
  }));
  const versionless = nodes.map(({ resourceVersion: _, ...node }) => node);
  return { specs, nodes: versionless, nodePods, runtimeClasses, aws: cloud.state };
}
