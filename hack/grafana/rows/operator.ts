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
        asks: 'Does exactly one replica lead? Without one nothing is done. Shortly after a change there may be two scrapes of it.',
        alerts: ['WindowsOperatorNoLeader'],
        unit: 'none',
        width: 4,
        height: 8,
        queries: [{ expr: `sum(${ofOperator('leader_election_master_status')})` }],
      },
      { steps: ['red', [1, 'green'], [2, 'yellow']], none: 'no operator' },
    ),
    table(
      {
        title: 'Replicas',
        asks: 'Which version runs where, and since when?',
        alerts: ['WindowsOperatorDown'],
        unit: 'none',
        width: 8,
        queries: [
          { expr: `max by (instance, version, node_version) (${ofOperator('windowspool_build_info')})` },
          { expr: `time() - max by (instance) (${ofProcess('process_start_time_seconds')})` },
        ],
      },
      [
        { field: 'instance', title: 'Replica' },
        { field: 'version', title: 'Version' },
        { field: 'node_version', title: 'Node.js' },
        { field: 'Value #B', title: 'Up', unit: 's' },
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
      title: 'Reconciles',
      asks: 'Is work done, and does it succeed? Errors here are bugs or an API server that is away: look into the log.',
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
      title: 'Time of reconciles and in the queue (99 %)',
      asks: 'How long does a pool wait for its turn, and how long does a turn take? Calls to AWS are part of it.',
      unit: 's',
      width: 8,
      queries: [
        { expr: quantile(0.99, 'controller_runtime_reconcile_time_seconds'), legend: 'reconcile' },
        { expr: quantile(0.99, 'workqueue_queue_duration_seconds'), legend: 'queue' },
      ],
    }),
    graph({
      title: 'Queue',
      asks: 'Does work pile up? Busy at the most there may be, with pools that wait: raise --workers.',
      unit: 'none',
      width: 8,
      queries: [
        { expr: `sum(${ofOperator('workqueue_depth', QUEUE)})`, legend: 'pools that wait' },
        { expr: `sum(${ofOperator('controller_runtime_active_workers', CONTROLLER)})`, legend: 'busy' },
        {
          expr: `max(${ofOperator('controller_runtime_max_concurrent_reconciles', CONTROLLER)})`,
          legend: 'busy at most',
        },
      ],
    }),
    graph({
      title: 'Watches',
      asks: 'Does the operator see the cluster? Failures that go on mean a cache that is stale: look at its rights and at the API server.',
      alerts: ['WindowsOperatorCacheStale'],
      unit: 'cps',
      width: 8,
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
      asks: 'How much does the operator ask for and write, and what is refused?',
      unit: 'reqps',
      width: 8,
      queries: [
        {
          expr: `sum by (method, code) (${rate(ofOperator('rest_client_requests_total'))})`,
          legend: '{{method}} {{code}}',
        },
      ],
    }),
    graph({
      title: 'Memory',
      asks: 'Does the memory stay below the limit of the container?',
      unit: 'bytes',
      width: 8,
      queries: [
        { expr: `max by (instance) (${ofProcess('process_resident_memory_bytes')})`, legend: '{{instance}} resident' },
        { expr: `max by (instance) (${ofProcess('nodejs_heap_size_used_bytes')})`, legend: '{{instance}} heap' },
      ],
    }),
    graph({
      title: 'CPU and event loop',
      asks: 'Is the process busy or held up? A long event loop delays the lease, and with it the leadership.',
      unit: 's',
      width: 8,
      queries: [
        {
          expr: `sum by (instance) (${rate(ofProcess('process_cpu_seconds_total'))})`,
          legend: '{{instance}} CPU a second',
        },
        {
          expr: `max by (instance) (${ofProcess('nodejs_eventloop_lag_p99_seconds')})`,
          legend: '{{instance}} event loop (99 %)',
        },
      ],
    }),
  ];
}
