/** Updates in flight, and how old the AMI releases are. */
import { ofOperator, ofPools } from '../expressions.ts';
import { TO_POOL } from '../links.ts';
import { bars, graph, type PanelBuilder, type Steps, table } from '../panels.ts';

const DAY = 24 * 60 * 60;
const HOUR = 60 * 60;
/** Windows gets patches once a month; AWS makes the AMI of a release private after four. */
const AGE: Steps = ['green', [45 * DAY, 'yellow'], [90 * DAY, 'red']];
const TIME_LEFT: Steps = ['red', [14 * DAY, 'yellow'], [30 * DAY, 'green']];
const UPDATE_AGE: Steps = ['green', [2 * HOUR, 'yellow'], [6 * HOUR, 'red']];

/** Of the chosen pools. */
export function updates(): PanelBuilder[] {
  return [
    table(
      {
        title: 'Updates in flight',
        asks: 'What does EKS change now, and since when? An update that takes hours usually waits for pods that cannot be evicted.',
        alerts: ['WindowsUpdateStuck'],
        unit: 'none',
        width: 8,
        queries: [
          { expr: ofPools('windowspool_update_in_progress') },
          { expr: `time() - ${ofPools('windowspool_update_start_timestamp_seconds')}` },
          { expr: `time() - ${ofPools('windowspool_disruption_claim_start_timestamp_seconds')}` },
        ],
      },
      [
        { field: 'pool', title: 'Pool', link: TO_POOL },
        { field: 'type', title: 'Update' },
        { field: 'Value #B', title: 'Age', unit: 's', steps: UPDATE_AGE },
        { field: 'Value #C', title: 'May lose nodes since', unit: 's' },
      ],
    ),
    bars(
      {
        title: 'Age of the AMI release',
        asks: 'How old are the patches on the nodes? An update to the newest release brings the patches of the month.',
        alerts: ['WindowsReleaseOld'],
        unit: 's',
        width: 8,
        queries: [
          {
            expr: `time() - ${ofPools('windowspool_node_group_release_timestamp_seconds')}`,
            legend: '{{pool}}',
          },
        ],
      },
      { steps: AGE, none: 'not known' },
    ),
    bars(
      {
        title: 'Until the AMI is private',
        asks: 'How long can a pool still start nodes from its AMI release? After that it does not grow, and a node that fails is not replaced.',
        alerts: ['WindowsAmiNearEnd'],
        unit: 's',
        width: 8,
        queries: [
          {
            expr: `${ofPools('windowspool_node_group_release_end_timestamp_seconds')} - time()`,
            legend: '{{pool}}',
          },
        ],
      },
      { steps: TIME_LEFT, none: 'not known' },
    ),
    table(
      {
        title: 'Releases',
        asks: 'What do the node groups run, and how far behind the newest release are they?',
        unit: 'none',
        width: 16,
        queries: [
          { expr: ofPools('windowspool_node_group_info') },
          {
            expr: `${ofPools('windowspool_node_group_latest_release_timestamp_seconds')} - ${ofPools('windowspool_node_group_release_timestamp_seconds')}`,
          },
        ],
      },
      [
        { field: 'pool', title: 'Pool', link: TO_POOL },
        { field: 'node_group', title: 'Node group' },
        { field: 'ami_type', title: 'AMI type' },
        { field: 'kubernetes_version', title: 'Kubernetes' },
        { field: 'release_version', title: 'Release' },
        {
          field: 'Value #B',
          title: 'Behind the newest',
          unit: 's',
          steps: ['green', [1, 'yellow'], [90 * DAY, 'red']],
        },
      ],
    ),
    graph({
      title: 'Pools that may lose nodes now',
      asks: 'Is the disruption budget used up, so that other pools wait for their turn? --max-pools-updating sets it.',
      unit: 'none',
      width: 8,
      queries: [
        { expr: `sum(${ofPools('windowspool_disruption_claim')})`, legend: 'pools' },
        { expr: `max(${ofOperator('windowspool_disruption_budget_pools')})`, legend: 'budget' },
      ],
    }),
  ];
}
