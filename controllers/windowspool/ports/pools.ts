/** Pools, and what is reported about them: status, events, metrics. */
import type { WindowsPool, WindowsPoolStatus } from '../api/api.gen.ts';
import type { CounterSample, GaugeSample, TimeSample } from '../api/metricCatalogue.ts';
import type { CallResult } from './callResult.ts';
import type { NodeRecord } from './nodes.ts';

/** WindowsPools in the API server. */
export interface Pools {
  /** From the cache. */
  get(name: string): WindowsPool | undefined;
  /** From the API server, uncached; undefined when it is deleted. */
  read(name: string, signal: AbortSignal): Promise<CallResult<WindowsPool | undefined>>;
  /** All pools, from the API server, uncached. */
  list(signal: AbortSignal): Promise<CallResult<readonly WindowsPool[]>>;
  addFinalizer(pool: WindowsPool, signal: AbortSignal): Promise<CallResult<WindowsPool>>;
  removeFinalizer(pool: WindowsPool, signal: AbortSignal): Promise<CallResult<void>>;
  /** Replaces the status; fails if the pool changed since it was read. */
  writeStatus(pool: WindowsPool, status: WindowsPoolStatus, signal: AbortSignal): Promise<CallResult<WindowsPool>>;
}

/** The content of a Kubernetes event. */
export interface Event {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly message: string;
}

/** Kubernetes events. Publishing never blocks and never fails a reconcile. */
export interface Events {
  publish(pool: WindowsPool, event: Event): void;
  /** Publishes an event on a node of the pool, for those who watch only the node. */
  publishOnNode(pool: WindowsPool, node: Pick<NodeRecord, 'name' | 'uid'>, event: Event): void;
}

/** The metrics of pools. Never fails. */
export interface Metrics {
  /** Replaces all gauges of a pool except timestamps. */
  show(pool: string, samples: readonly GaugeSample[]): void;
  /** Sets a timestamp of a pool. */
  stamp(pool: string, sample: TimeSample): void;
  /** Sets a timestamp of a pool unless it has one. */
  stampFirst(pool: string, sample: TimeSample): void;
  /** Adds to a counter of a pool. */
  add(pool: string, samples: readonly CounterSample[]): void;
  /** Removes all series of a pool. */
  drop(pool: string): void;
}

/** Where events are published, and what they count. */
export interface EventSinks {
  readonly events: Events;
  readonly metrics: Metrics;
}
