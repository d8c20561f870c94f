/** Nodes that go one by one: because of an annotation, or of remediation. */
import { ofPools, rate, seriesOfPools } from '../expressions.ts';
import { TO_POOL } from '../links.ts';
import { graph, type PanelBuilder, type Steps, table } from '../panels.ts';

const MINUTE = 60;
/** Longer than the pods of most have to end; a drain has its own time-out, disruption.drain.timeout. */
const AGE: Steps = ['green', [15 * MINUTE, 'yellow'], [60 * MINUTE, 'red']];
const STAGES = { draining: 'blue', blocked: 'orange', ending: 'purple', drained: 'green' } as const;

/** Of the chosen pools. */
export function terminating(): PanelBuilder[] {
  return [
    table(
      {
        title: 'Pools with nodes that leave',
        asks: 'Where do nodes go now, since when, and what holds them up? NodesLeaving of the pool names them, and the pods that block.',
        unit: 'none',
        width: 8,
        queries: [
          { expr: `${ofPools('windowspool_nodes_leaving')} > 0` },
          { expr: `time() - ${ofPools('windowspool_nodes_leaving_start_timestamp_seconds')}` },
          { expr: `${ofPools('windowspool_nodes_waiting_to_leave')} > 0` },
        ],
      },
      [
        { field: 'pool', title: 'Pool', link: TO_POOL },
        { field: 'operation', title: 'Operation' },
        { field: 'stage', title: 'Stage' },
        { field: 'Value #A', title: 'Nodes' },
        { field: 'Value #B', title: 'Oldest', unit: 's', steps: AGE },
        { field: 'Value #C', title: 'Waiting' },
      ],
    ),
    graph(
      {
        title: 'Nodes that leave by stage',
        asks: 'Do drains get on? Blocked for long: a PodDisruptionBudget lets no pod go, or a pod has nobody to make it again.',
        alerts: ['WindowsDrainStuck'],
        unit: 'none',
        width: 8,
        queries: [{ expr: `sum by (stage) (${ofPools('windowspool_nodes_leaving')})`, legend: '{{stage}}' }],
      },
      { stacked: true, colors: STAGES },
    ),
    graph({
      title: 'Evictions',
      asks: 'Are pods evicted, or do their budgets refuse it? A blocked one is tried again every few seconds.',
      unit: 'cps',
      width: 8,
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
      title: 'Instances ended',
      asks: 'How many nodes did the operator end, and why? Counted since it started; remediation that goes on and on means that new nodes fail, too.',
      unit: 'none',
      width: 8,
      queries: [
        { expr: `sum by (operation) (${ofPools('windowspool_instances_ended_total')})`, legend: '{{operation}}' },
      ],
    }),
    graph({
      title: 'Drains given up',
      asks: 'How many nodes stayed although they were to go, and why? Counted since the operator started. The annotation of the node says it, too.',
      unit: 'none',
      width: 8,
      queries: [{ expr: `sum by (reason) (${ofPools('windowspool_drains_given_up_total')})`, legend: '{{reason}}' }],
    }),
    graph({
      title: 'Remediation held back',
      asks: 'In how many pools do more nodes fail than remediation.maxUnhealthy allows, so that none is replaced? Then it is not the nodes: look at why they fail.',
      alerts: ['WindowsRemediationShortCircuited'],
      unit: 'none',
      width: 8,
      queries: [{ expr: `sum(${ofPools('windowspool_remediation_short_circuited')})`, legend: 'pools' }],
    }),
  ];
}
