/** The engine's metrics. Names are those of controller-runtime and client-go, which dashboards and alerts know. */
import { counter, gauge, histogram, type MetricCatalogue } from './metricDefinition.ts';

const CONTROLLER = { controller: { bounds: 'names of controllers: windowspool' } };
const QUEUE = { name: { bounds: 'names of work queues: windowspool' } };
const REFLECTOR = {
  name: { bounds: 'watched resources: windowspools, nodes, runtimeclasses, configmaps' },
};

/** controller-runtime's buckets of the reconcile time (pkg/internal/controller/metrics). */
const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 1.75,
  2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
/** controller-runtime's buckets of workqueue durations: powers of ten from 10 ns to 1000 s (pkg/internal/metrics/workqueue.go). */
const QUEUE_BUCKETS = Array.from({ length: 12 }, (_, index) => 10 ** (index - 8));

/** All metrics of the engine. */
export const engineMetrics = {
  controller_runtime_reconcile_total: counter('Reconciliations by result.', {
    ...CONTROLLER,
    result: { values: ['success', 'requeue_after', 'requeue', 'error'] },
  }),
  controller_runtime_reconcile_errors_total: counter('Failed reconciliations.', CONTROLLER),
  controller_runtime_reconcile_time_seconds: histogram('Duration of reconciliations.', CONTROLLER, RECONCILE_BUCKETS),
  controller_runtime_active_workers: gauge('Reconciliations in progress.', CONTROLLER),
  controller_runtime_max_concurrent_reconciles: gauge('Maximum number of concurrent reconciliations.', CONTROLLER),
  workqueue_depth: gauge('Keys in the work queue.', QUEUE),
  workqueue_adds_total: counter('Keys added to the work queue.', QUEUE),
  workqueue_retries_total: counter('Retried keys.', QUEUE),
  workqueue_queue_duration_seconds: histogram('Time that keys waited in the work queue.', QUEUE, QUEUE_BUCKETS),
  workqueue_work_duration_seconds: histogram('Time to process a key.', QUEUE, QUEUE_BUCKETS),
  workqueue_unfinished_work_seconds: gauge('Total processing time so far of the keys in progress.', QUEUE),
  workqueue_longest_running_processor_seconds: gauge('Longest processing time so far of a key in progress.', QUEUE),
  reflector_lists_total: counter('Complete lists, including watch lists.', REFLECTOR),
  reflector_items_in_list: gauge('Items in the last complete list.', REFLECTOR),
  reflector_watches_total: counter('Started watches.', REFLECTOR),
  reflector_events_total: counter('Watch events, without bookmarks.', REFLECTOR),
  reflector_failures_total: counter('Failed lists and watches.', REFLECTOR),
  reflector_unreadable_objects_total: counter(
    'Objects in lists and watches that the operator could not read. It left them out; the log names them.',
    REFLECTOR,
  ),
  reflector_failing: gauge(
    'Watches that failed and have not received anything since: the cache of these objects is stale.',
    REFLECTOR,
  ),
  rest_client_requests_total: counter('Requests to the API server. The code is <error> if there was no response.', {
    code: { bounds: 'HTTP status codes' },
    method: { values: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
    host: { bounds: 'the API server' },
  }),
  leader_election_master_status: gauge('1 while this process is the leader, otherwise 0.', {
    name: { bounds: 'the Lease' },
  }),
} as const satisfies MetricCatalogue;
