import type { Gauge, Registry } from 'prom-client';
import type { ControllerHooks } from './controller.ts';
import { engineMetrics } from './metricCatalogue.ts';
import { Instruments as InstrumentsOf } from './metricDefinition.ts';
import type { ReflectorHooks } from './reflector.ts';
import type { Workqueue, WorkqueueHooks } from './workqueue.ts';

type Instruments = InstrumentsOf<typeof engineMetrics>;

/** Hooks for the parts of the engine, which feed the metrics. */
export interface EngineMetrics {
  controller(name: string, workers: number): ControllerHooks;
  /** Call it with the queue of the Controller. */
  observeQueue(name: string, queue: Pick<Workqueue, 'unfinished'>): void;
  reflector(name: string): ReflectorHooks;
  leaderElection(name: string): { leading(isLeader: boolean): void };
  /** Counts a request to the API server. `code` is `<error>` if there was no response, as in client-go. */
  request(code: string, method: string, host: string): void;
}

/** Counters start at 0, so that rates work from the first event. */
export function createEngineMetrics(registry: Registry): EngineMetrics {
  const instruments = new InstrumentsOf(registry, engineMetrics);
  const queues = new Map<string, Pick<Workqueue, 'unfinished'>>();
  showRunningWork(instruments, queues);
  const workqueue = workqueueMetrics(instruments);
  const requests = instruments.counter('rest_client_requests_total');
  const leader = instruments.gauge('leader_election_master_status');
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
  const total = instruments.counter('controller_runtime_reconcile_total');
  const errors = instruments.counter('controller_runtime_reconcile_errors_total');
  const seconds = instruments.histogram('controller_runtime_reconcile_time_seconds');
  const active = instruments.gauge('controller_runtime_active_workers');
  const most = instruments.gauge('controller_runtime_max_concurrent_reconciles');
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
  const depth = instruments.gauge('workqueue_depth');
  const adds = instruments.counter('workqueue_adds_total');
  const retries = instruments.counter('workqueue_retries_total');
  const waited = instruments.histogram('workqueue_queue_duration_seconds');
  const worked = instruments.histogram('workqueue_work_duration_seconds');
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

/** Collected on each scrape, so that reconciles that hang are visible. */
function showRunningWork(instruments: Instruments, queues: ReadonlyMap<string, Pick<Workqueue, 'unfinished'>>): void {
  const collect = (gauge: Gauge<'name'>, join: (running: readonly number[]) => number): void => {
    for (const [name, queue] of queues) gauge.set({ name }, join(queue.unfinished()) / 1000);
  };
  const sum = (running: readonly number[]): number => running.reduce((total, ms) => total + ms, 0);
  const longest = (running: readonly number[]): number => Math.max(0, ...running);
  instruments.collected('workqueue_unfinished_work_seconds', (gauge) => collect(gauge, sum));
  instruments.collected('workqueue_longest_running_processor_seconds', (gauge) => collect(gauge, longest));
}

function reflectorMetrics(instruments: Instruments): (name: string) => ReflectorHooks {
  const lists = instruments.counter('reflector_lists_total');
  const items = instruments.gauge('reflector_items_in_list');
  const watches = instruments.counter('reflector_watches_total');
  const events = instruments.counter('reflector_events_total');
  const failures = instruments.counter('reflector_failures_total');
  const unreadable = instruments.counter('reflector_unreadable_objects_total');
  const failing = instruments.gauge('reflector_failing');
  return (name) => {
    for (const metric of [lists, watches, events, failures, unreadable, failing]) metric.inc({ name }, 0);
    return {
      listed: (count) => {
        lists.inc({ name });
        items.set({ name }, count);
      },
      watchStarted: () => watches.inc({ name }),
      events: (count) => events.inc({ name }, count),
      failed: () => failures.inc({ name }),
      unreadable: () => unreadable.inc({ name }),
      // Several reflectors can share a name.
      failing: (now) => failing.inc({ name }, now ? 1 : -1),
    };
  };
}
