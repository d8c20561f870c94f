/** Nodes that the operator terminates because of an annotation or of remediation. */
import { ofPools, rate, seriesOfPools } from '../expressions.ts';
import { TO_POOL } from '../links.ts';
import { graph, type PanelBuilder, type Steps, table } from '../panels.ts';

const MINUTE = 60;
/** Longer than the grace period of most pods; a drain has its own time-out, disruption.drain.timeout. */
const AGE: Steps = ['green', [15 * MINUTE, 'yellow'], [60 * MINUTE, 'red']];
const STAGES = { draining: 'blue', blocked: 'orange', ending: 'purple', drained: 'green' } as const;

/** Of the chosen pools. */
export function terminating(): PanelBuilder[] {
  return [
    table(
      {
        title: 'Pools with leaving nodes',
        asks: 'Which pools have nodes that are being replaced or removed, and since when? The condition Disrupting of the pool names the nodes, and the pods that block a drain.',
        queries: [
          { expr: `${ofPools('windowspool_nodes_leaving')} > 0` },
          { expr: `time() - ${ofPools('windowspool_nodes_leaving_start_timestamp_seconds')}` },
          { expr: `${ofPools('windowspool_nodes_waiting_to_leave')} > 0` },
        ],
      },
      [
        { field: 'pool', title: 'Pool', link: TO_POOL },
        { field: 'operation', title: 'Operation' },
        { field: 'reason', title: 'Reason' },
        { field: 'stage', title: 'Stage' },
        { field: 'Value #A', title: 'Nodes' },
        { field: 'Value #B', title: 'Oldest', unit: 's', steps: AGE },
        { field: 'Value #C', title: 'Waiting' },
      ],
    ),
    graph(
      {
        title: 'Leaving nodes by stage',
        asks: 'Do drains make progress? If a drain is blocked for a long time, a PodDisruptionBudget allows no eviction, or a pod has no controller.',
        alerts: ['WindowsPoolDrainStuck'],
        queries: [{ expr: `sum by (stage) (${ofPools('windowspool_nodes_leaving')})`, legend: '{{stage}}' }],
      },
      { stacked: true, colors: STAGES },
    ),
    graph({
      title: 'Evictions',
      asks: 'Are pods evicted, or do PodDisruptionBudgets block their eviction? The operator retries a blocked eviction every 5 seconds.',
      unit: 'cps',
      queries: [
        { expr: `sum by (result) (${rate(seriesOfPools('windowspool_evictions_total'))})`, legend: '{{result}}' },
      ],
    }),
    ...ends(),
  ];
}

function ends(): PanelBuilder[] {
  return [
    graph({
      title: 'Terminated instances',
      asks: 'How many instances did the operator terminate since it started, and why? If remediation continues for a long time, new nodes fail as well.',
      queries: [
        {
          expr: `sum by (operation, reason) (${ofPools('windowspool_instances_ended_total')})`,
          legend: '{{operation}} {{reason}}',
        },
      ],
    }),
    graph({
      title: 'Abandoned drains',
      asks: 'How many drains did the operator abandon since it started, and why? The value of the annotation of the node shows the reason as well.',
      queries: [{ expr: `sum by (reason) (${ofPools('windowspool_drains_aborted_total')})`, legend: '{{reason}}' }],
    }),
    graph({
      title: 'Short-circuited remediation',
      asks: 'In how many pools do more nodes fail than remediation.maxUnhealthy allows, so that the operator replaces none? The nodes probably have one common cause: check the failed checks.',
      alerts: ['WindowsPoolRemediationShortCircuited'],
      queries: [{ expr: `sum(${ofPools('windowspool_remediation_short_circuited')})`, legend: 'pools' }],
    }),
  ];
}
