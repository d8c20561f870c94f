/** The operator itself. */
import { ofOperator, ofProcess, quantile, rate } from '../expressions.ts';
import { graph, type PanelBuilder, stat, table } from '../panels.ts';

const CONTROLLER = { controller: 'windowspool' } as const;
const QUEUE = { name: 'windowspool' } as const;

/** Of all replicas. */
export function operator(): PanelBuilder[] {
  return [
    stat(
      {
        title: 'Leaders',
        asks: 'Is exactly one replica the leader? Without a leader, no pool is reconciled. For a moment after a change of the leader, two may be shown.',
        alerts: ['WindowsPoolOperatorNoLeader'],
        width: 4,
        height: 8,
        queries: [{ expr: `sum(${ofOperator('leader_election_master_status')})` }],
      },
      { steps: ['red', [1, 'green'], [2, 'yellow']], none: 'no operator' },
    ),
    table(
      {
        title: 'Replicas',
        asks: 'Which replicas run which version, and since when?',
        alerts: ['WindowsPoolOperatorDown', 'WindowsPoolOperatorCrdMismatch', 'WindowsPoolOperatorCertificateExpiring'],
        queries: [
          { expr: `max by (instance, version, node_version) (${ofOperator('windowspool_build_info')})` },
          { expr: `time() - max by (instance) (${ofProcess('process_start_time_seconds')})` },
        ],
      },
      [
        { field: 'instance', title: 'Replica' },
        { field: 'version', title: 'Version' },
        { field: 'node_version', title: 'Node.js' },
        { field: 'Value #B', title: 'Uptime', unit: 's' },
      ],
      'no operator',
    ),
    ...work(),
    ...resources(),
  ];
}

function work(): PanelBuilder[] {
  return [
    graph({
      title: 'Reconciliations',
      asks: 'Does the operator reconcile pools, and does it succeed? Errors are bugs, or the API server is not available: check the log.',
      unit: 'ops',
      width: 12,
      queries: [
        {
          expr: `sum by (result) (${rate(ofOperator('controller_runtime_reconcile_total', CONTROLLER))})`,
          legend: '{{result}}',
        },
      ],
    }),
    graph({
      title: 'Reconcile and queue time (p99)',
      asks: 'How long does a pool wait in the queue, and how long does a reconciliation take? Includes calls to AWS.',
      unit: 's',
      queries: [
        { expr: quantile(0.99, 'controller_runtime_reconcile_time_seconds'), legend: 'reconcile' },
        { expr: quantile(0.99, 'workqueue_queue_duration_seconds'), legend: 'queue' },
      ],
    }),
    graph({
      title: 'Work queue',
      asks: 'Does work pile up? If pools wait while all workers are busy, raise --workers.',
      queries: [
        { expr: `sum(${ofOperator('workqueue_depth', QUEUE)})`, legend: 'waiting pools' },
        { expr: `sum(${ofOperator('controller_runtime_active_workers', CONTROLLER)})`, legend: 'busy workers' },
        {
          expr: `max(${ofOperator('controller_runtime_max_concurrent_reconciles', CONTROLLER)})`,
          legend: 'workers',
        },
      ],
    }),
    graph({
      title: 'Watches',
      asks: 'Does the operator receive changes from the cluster? Repeated failures mean that its cache is stale: check its permissions and the API server.',
      alerts: ['WindowsPoolOperatorCacheStale'],
      unit: 'cps',
      queries: [
        { expr: `sum by (name) (${rate(ofOperator('reflector_failures_total'))})`, legend: 'failures of {{name}}' },
        { expr: `sum by (name) (${rate(ofOperator('reflector_events_total'))})`, legend: 'events of {{name}}' },
      ],
    }),
  ];
}

function resources(): PanelBuilder[] {
  return [
    graph({
      title: 'Requests to the API server',
      asks: 'How many requests does the operator send, and which ones fail?',
      unit: 'reqps',
      queries: [
        {
          expr: `sum by (method, code) (${rate(ofOperator('rest_client_requests_total'))})`,
          legend: '{{method}} {{code}}',
        },
      ],
    }),
    graph({
      title: 'Memory',
      asks: 'Does the memory usage stay below the limit of the container?',
      unit: 'bytes',
      queries: [
        { expr: `max by (instance) (${ofProcess('process_resident_memory_bytes')})`, legend: '{{instance}} resident' },
        { expr: `max by (instance) (${ofProcess('nodejs_heap_size_used_bytes')})`, legend: '{{instance}} heap' },
      ],
    }),
    graph({
      title: 'CPU and event loop',
      asks: 'Is the process busy or blocked? A high event loop lag delays the renewal of the Lease, so that the replica can lose the leadership.',
      unit: 's',
      queries: [
        {
          expr: `sum by (instance) (${rate(ofProcess('process_cpu_seconds_total'))})`,
          legend: '{{instance}} CPU seconds per second',
        },
        {
          expr: `max by (instance) (${ofProcess('nodejs_eventloop_lag_p99_seconds')})`,
          legend: '{{instance}} event loop lag (p99)',
        },
      ],
    }),
  ];
}
