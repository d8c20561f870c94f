import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ControllerHooks } from './controller.ts';
import type { ReflectorHooks } from './reflector.ts';
import type { Workqueue, WorkqueueHooks } from './workqueue.ts';

/** controller-runtime's buckets of the reconcile time (pkg/internal/controller/metrics). */
const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 1.75,
  2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
/** controller-runtime's buckets of the queue's times: 10 ns to 1000 s, by tens (pkg/internal/metrics/workqueue.go). */
const QUEUE_BUCKETS = Array.from({ length: 12 }, (_, index) => 10 ** (index - 8));

/** The hooks that feed the metrics; each part of the engine takes its own. */
export interface EngineMetrics {
  /** For the Controller of this name. */
  controller(name: string, workers: number): ControllerHooks;
  /** Shows the work that runs in this queue; call it once the Controller is made. */
  observeQueue(name: string, queue: Pick<Workqueue, 'unfinished'>): void;
  /** For the Reflector of this name. */
  reflector(name: string): ReflectorHooks;
  /** For the LeaderElector of this Lease. */
  leaderElection(name: string): { leading(isLeader: boolean): void };
  /** A request to the API server was answered; `code` is `<error>` where no answer came, as in client-go. */
  request(code: string, method: string, host: string): void;
}

/**
 * The engine's metrics, under the names that dashboards and alerts for Go controllers know (controller-runtime, client-go).
 * What has not happened yet is shown as 0, so that rates work from the first event.
 */
export function createEngineMetrics(registry: Registry): EngineMetrics {
  const instruments = new Instruments(registry);
  const queues = new Map<string, Pick<Workqueue, 'unfinished'>>();
  showRunningWork(instruments, queues);
  const workqueue = workqueueMetrics(instruments);
  const requests = instruments.counter(
    'rest_client_requests_total',
    'Requests to the API server',
    'code',
    'method',
    'host',
  );
  const leader = instruments.gauge('leader_election_master_status', '1 while this process leads', 'name');
  return {
    controller: controllerMetrics(instruments, workqueue),
    observeQueue: (name, queue) => void queues.set(name, queue),
    reflector: reflectorMetrics(instruments),
    leaderElection: (name) => {
      leader.set({ name }, 0);
      return { leading: (isLeader) => leader.set({ name }, isLeader ? 1 : 0) };
    },
    request: (code, method, host) => requests.inc({ code, method, host }),
  };
}

function controllerMetrics(
  instruments: Instruments,
  workqueue: (name: string) => WorkqueueHooks,
): EngineMetrics['controller'] {
  const total = instruments.counter(
    'controller_runtime_reconcile_total',
    'Reconciles by result',
    'controller',
    'result',
  );
  const errors = instruments.counter(
    'controller_runtime_reconcile_errors_total',
    'Reconciles that failed',
    'controller',
  );
  const seconds = instruments.histogram(
    'controller_runtime_reconcile_time_seconds',
    'How long reconciles took',
    RECONCILE_BUCKETS,
    'controller',
  );
  const active = instruments.gauge('controller_runtime_active_workers', 'Reconciles that run now', 'controller');
  const most = instruments.gauge(
    'controller_runtime_max_concurrent_reconciles',
    'Reconciles that may run at once',
    'controller',
  );
  return (controller, workers) => {
    most.set({ controller }, workers);
    active.set({ controller }, 0);
    errors.inc({ controller }, 0);
    for (const result of ['success', 'requeue_after', 'requeue', 'error']) total.inc({ controller, result }, 0);
    return {
      queue: workqueue(controller),
      started: () => active.inc({ controller }),
      ended: (result, tookMs) => {
        active.dec({ controller });
        total.inc({ controller, result });
        if (result === 'error') errors.inc({ controller });
        seconds.observe({ controller }, tookMs / 1000);
      },
    };
  };
}

function workqueueMetrics(instruments: Instruments): (name: string) => WorkqueueHooks {
  const depth = instruments.gauge('workqueue_depth', 'Keys that wait', 'name');
  const adds = instruments.counter('workqueue_adds_total', 'Keys that were added', 'name');
  const retries = instruments.counter('workqueue_retries_total', 'Keys that were retried', 'name');
  const waited = instruments.histogram(
    'workqueue_queue_duration_seconds',
    'How long keys waited',
    QUEUE_BUCKETS,
    'name',
  );
  const worked = instruments.histogram(
    'workqueue_work_duration_seconds',
    'How long the work took',
    QUEUE_BUCKETS,
    'name',
  );
  return (name) => {
    depth.set({ name }, 0);
    adds.inc({ name }, 0);
    retries.inc({ name }, 0);
    return {
      added: () => adds.inc({ name }),
      depth: (waiting) => depth.set({ name }, waiting),
      taken: (waitedMs) => waited.observe({ name }, waitedMs / 1000),
      finished: (workedMs) => worked.observe({ name }, workedMs / 1000),
      retried: () => retries.inc({ name }),
    };
  };
}

/** Work that hangs shows while it hangs, not when it is over. */
function showRunningWork(instruments: Instruments, queues: ReadonlyMap<string, Pick<Workqueue, 'unfinished'>>): void {
  const collect = (gauge: Gauge<'name'>, join: (running: readonly number[]) => number): void => {
    for (const [name, queue] of queues) gauge.set({ name }, join(queue.unfinished()) / 1000);
  };
  const sum = (running: readonly number[]): number => running.reduce((total, ms) => total + ms, 0);
  const longest = (running: readonly number[]): number => Math.max(0, ...running);
  instruments.collected('workqueue_unfinished_work_seconds', 'Time so far of all work that runs', (gauge) =>
    collect(gauge, sum),
  );
  instruments.collected(
    'workqueue_longest_running_processor_seconds',
    'Time so far of the longest work that runs',
    (gauge) => collect(gauge, longest),
  );
}

function reflectorMetrics(instruments: Instruments): (name: string) => ReflectorHooks {
  const lists = instruments.counter(
    'reflector_lists_total',
    'Complete lists that came in, watch lists included',
    'name',
  );
  const items = instruments.gauge('reflector_items_in_list', 'Items of the last complete list', 'name');
  const watches = instruments.counter('reflector_watches_total', 'Watches that were begun', 'name');
  const events = instruments.counter('reflector_events_total', 'Watch events that came in, without bookmarks', 'name');
  const failures = instruments.counter('reflector_failures_total', 'Lists and watches that failed', 'name');
  return (name) => {
    for (const counter of [lists, watches, events, failures]) counter.inc({ name }, 0);
    return {
      listed: (count) => {
        lists.inc({ name });
        items.set({ name }, count);
      },
      watchStarted: () => watches.inc({ name }),
      events: (count) => events.inc({ name }, count),
      failed: () => failures.inc({ name }),
    };
  };
}

/** prom-client's constructors in one line each. */
class Instruments {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  counter<L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: this.#registers });
  }

  gauge<L extends string>(name: string, help: string, ...labelNames: L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: this.#registers });
  }

  histogram<L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]): Histogram<L> {
    return new Histogram({ name, help, buckets, labelNames, registers: this.#registers });
  }

  /** A gauge that is set when it is asked for. */
  collected(name: string, help: string, collect: (gauge: Gauge<'name'>) => void): void {
    const gauge: Gauge<'name'> = new Gauge({
      name,
      help,
      labelNames: ['name'],
      registers: this.#registers,
      collect: () => collect(gauge),
    });
  }
}
