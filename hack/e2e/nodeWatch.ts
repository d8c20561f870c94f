/** How Windows nodes register: their first watch event, and the times of later labels and taints. */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { VERIFIED_CONDITION } from '../../controllers/windowspool/api/labels.ts';
import type { Kubectl } from './kubectl.ts';

/** The fields of a Node that a run reads. */
export interface Node {
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly creationTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly taints?: readonly { readonly key: string; readonly effect: string }[] };
  readonly status?: {
    readonly capacity?: Readonly<Record<string, string>>;
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly runtimeHandlers?: readonly { readonly name?: string; readonly features?: unknown }[];
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly nodeInfo?: { readonly kernelVersion?: string; readonly containerRuntimeVersion?: string };
  };
}

/** Whether the operator has verified the node. */
export const isVerified = ({ status }: Node): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === VERIFIED_CONDITION && value === 'True') ?? false;

/** How a node registered. */
export interface Registration {
  /** Keys in the first event. */
  readonly labels: readonly string[];
  readonly taints: readonly string[];
  /** Keys of later events, with the seconds after the first event. */
  readonly later: Record<string, number>;
  /** Seconds from the first event to Ready. */
  readySeconds?: number;
  readonly at: number;
}

/** How nodes registered, read from watch events. */
export class Registrations {
  readonly #nodes = new Map<string, Registration>();
  readonly #before = new Set<string>();

  /** Marks a node as existing: it is not a registration. */
  ignore(name: string): void {
    this.#before.add(name);
  }

  /** Processes a watch event, at `now` in milliseconds. */
  see({ type, object }: NodeEvent, now: number): void {
    const { name, labels = {} } = object.metadata;
    if (labels['kubernetes.io/os'] !== 'windows' || type === 'DELETED' || this.#before.has(name)) return;
    const keys = Object.keys(labels);
    const taints = (object.spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
    const seen = this.#nodes.get(name);
    if (seen === undefined) {
      this.#nodes.set(name, { labels: keys, taints, later: {}, at: now });
      return;
    }
    const seconds = Math.round((now - seen.at) / 1_000);
    for (const key of [...keys, ...taints])
      if (!seen.labels.includes(key) && !seen.taints.includes(key)) seen.later[key] ??= seconds;
    if (object.status?.conditions?.some(({ type: kind, status }) => kind === 'Ready' && status === 'True'))
      seen.readySeconds ??= seconds;
  }

  /** The registration of that node; undefined without an event of it. */
  of(name: string): Registration | undefined {
    return this.#nodes.get(name);
  }
}

/** A watch event of a Node. */
interface NodeEvent {
  readonly type: string;
  readonly object: Node;
}

/** A watch of all nodes, which includes nodes without the labels of their group. */
export class NodeWatch {
  readonly registrations = new Registrations();
  /** How often the watch was restarted: nodes that registered in between have a later first event. */
  interruptions = 0;
  readonly #kubectl: Kubectl;
  #child: ChildProcess | undefined;
  #stopped = false;

  constructor(kubectl: Kubectl) {
    this.#kubectl = kubectl;
  }

  /** Starts. Existing nodes are not registrations. */
  async start(signal: AbortSignal): Promise<void> {
    for (const { metadata } of await this.#kubectl.list<Node>('nodes', [], signal))
      this.registrations.ignore(metadata.name);
    this.#follow();
  }

  stop(): void {
    this.#stopped = true;
    this.#child?.kill();
  }

  #see(line: string): void {
    try {
      this.registrations.see(JSON.parse(line), Date.now());
    } catch (error) {
      // The end of a watch may truncate its last line.
      if (!(error instanceof SyntaxError)) throw error;
    }
  }

  #follow(): void {
    const args = ['get', 'nodes', '--watch', '--output-watch-events', '--output=json'];
    const child = this.#kubectl.follow(args);
    this.#child = child;
    // kubectl prints one event per line.
    if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => this.#see(line));
    child.on('error', () => undefined);
    child.on('close', () => {
      if (this.#stopped) return;
      this.interruptions += 1;
      setTimeout(() => this.#stopped || this.#follow(), 1_000).unref();
    });
  }
}
