/** The engine's metrics. Names are those of controller-runtime and client-go, which dashboards and alerts know. */
import type { MetricCatalogue } from './metricDefinition.ts';

const CONTROLLER = { controller: { bounds: 'names of controllers: windowspool' } };
const QUEUE = { name: { bounds: 'names of work queues: windowspool' } };
const REFLECTOR = {
  name: { bounds: 'kinds of objects that are watched: windowspools, nodes, runtimeclasses, configmaps' },
};

/** controller-runtime's buckets of the reconcile time (pkg/internal/controller/metrics). */
const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 1.75,
  2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
/** controller-runtime's buckets of workqueue durations: powers of ten from 10 ns to 1000 s (pkg/internal/metrics/workqueue.go). */
const QUEUE_BUCKETS = Array.from({ length: 12 }, (_, index) => 10 ** (index - 8));

/** Every metric of the engine. */
export const engineMetrics = {
  controller_runtime_reconcile_total: {
    type: 'counter',
    help: 'Reconciles by result.',
    labels: { ...CONTROLLER, result: { values: ['success', 'requeue_after', 'requeue', 'error'] } },
  },
  controller_runtime_reconcile_errors_total: {
    type: 'counter',
    help: 'Reconciles that failed.',
    labels: CONTROLLER,
  },
  controller_runtime_reconcile_time_seconds: {
    type: 'histogram',
    help: 'How long reconciles took.',
    labels: CONTROLLER,
    buckets: RECONCILE_BUCKETS,
  },
  controller_runtime_active_workers: { type: 'gauge', help: 'Reconciles that run now.', labels: CONTROLLER },
  controller_runtime_max_concurrent_reconciles: {
    type: 'gauge',
    help: 'Reconciles that may run at once.',
    labels: CONTROLLER,
  },
  workqueue_depth: { type: 'gauge', help: 'Keys that wait.', labels: QUEUE },
  workqueue_adds_total: { type: 'counter', help: 'Keys that were added.', labels: QUEUE },
  workqueue_retries_total: { type: 'counter', help: 'Keys that were retried.', labels: QUEUE },
  workqueue_queue_duration_seconds: {
    type: 'histogram',
    help: 'How long keys waited.',
    labels: QUEUE,
    buckets: QUEUE_BUCKETS,
  },
  workqueue_work_duration_seconds: {
    type: 'histogram',
    help: 'How long the work took.',
    labels: QUEUE,
    buckets: QUEUE_BUCKETS,
  },
  workqueue_unfinished_work_seconds: { type: 'gauge', help: 'Time so far of all work that runs.', labels: QUEUE },
  workqueue_longest_running_processor_seconds: {
    type: 'gauge',
    help: 'Time so far of the longest work that runs.',
    labels: QUEUE,
  },
  reflector_lists_total: {
    type: 'counter',
    help: 'Complete lists that came in, watch lists included.',
    labels: REFLECTOR,
  },
  reflector_items_in_list: { type: 'gauge', help: 'Items of the last complete list.', labels: REFLECTOR },
  reflector_watches_total: { type: 'counter', help: 'Watches that were begun.', labels: REFLECTOR },
  reflector_events_total: {
    type: 'counter',
    help: 'Watch events that came in, without bookmarks.',
    labels: REFLECTOR,
  },
  reflector_failures_total: { type: 'counter', help: 'Lists and watches that failed.', labels: REFLECTOR },
  reflector_failing: {
    type: 'gauge',
    help: 'Watches that failed, and have brought nothing since: what the operator knows of these objects is old.',
    labels: REFLECTOR,
  },
  rest_client_requests_total: {
    type: 'counter',
    help: 'Requests to the API server; the code is <error> where no answer came.',
    labels: {
      code: { bounds: 'HTTP status codes' },
      method: { values: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
      host: { bounds: 'the one API server' },
    },
  },
  leader_election_master_status: {
    type: 'gauge',
    help: '1 while this process leads.',
    labels: { name: { bounds: 'the one Lease' } },
  },
} as const satisfies MetricCatalogue;
