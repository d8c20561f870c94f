/** Pools, and what is shown of them: status, events, metrics. */
import type { WindowsPool, WindowsPoolStatus } from '../api.gen.ts';
import type { CounterSample, GaugeSample, TimeSample } from '../metricCatalogue.ts';
import type { CallResult } from './callResult.ts';
import type { NodeRecord } from './nodes.ts';

export interface Pools {
  /** From the cache. */
  get(name: string): WindowsPool | undefined;
  /** From the API server, past every cache; undefined when it is gone. */
  read(name: string, signal: AbortSignal): Promise<CallResult<WindowsPool | undefined>>;
  /** All pools, from the API server, past every cache. */
  list(signal: AbortSignal): Promise<CallResult<readonly WindowsPool[]>>;
  addFinalizer(pool: WindowsPool, signal: AbortSignal): Promise<CallResult<WindowsPool>>;
  removeFinalizer(pool: WindowsPool, signal: AbortSignal): Promise<CallResult<void>>;
  /** Replaces the status, only if nobody changed the pool since it was read. */
  writeStatus(pool: WindowsPool, status: WindowsPoolStatus, signal: AbortSignal): Promise<CallResult<WindowsPool>>;
}

export interface Event {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly message: string;
}

/** Kubernetes events. Never blocks and never fails a reconcile. */
export interface Events {
  publish(pool: WindowsPool, event: Event): void;
  /** An event about a node, for those who look at that alone. */
  publishOnNode(node: Pick<NodeRecord, 'name' | 'uid'>, event: Event): void;
}

/** What is shown of pools as metrics. Never fails. */
export interface Metrics {
  /** Replaces all gauges of a pool but its times. */
  show(pool: string, samples: readonly GaugeSample[]): void;
  /** Sets a time of a pool. */
  stamp(pool: string, sample: TimeSample): void;
  /** Sets a time of a pool that has none yet. */
  stampFirst(pool: string, sample: TimeSample): void;
  /** Adds to a counter of a pool. */
  add(pool: string, samples: readonly CounterSample[]): void;
  /** Takes away everything that is shown of a pool. */
  drop(pool: string): void;
}
