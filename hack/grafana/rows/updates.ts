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

interface Progress {
  readonly title: string;
  readonly asks: string;
  readonly alerts: string[];
  readonly steps?: Steps;
}

/** The pools with a second node group for this purpose, with its stage and age. */
function progress(purpose: 'replacement' | 'canary', { title, asks, alerts, steps }: Progress): PanelBuilder {
  return table(
    {
      title,
      asks,
      alerts,
      queries: [
        { expr: ofPools(`windowspool_${purpose}_in_progress`) },
        { expr: `time() - ${ofPools(`windowspool_${purpose}_start_timestamp_seconds`)}` },
      ],
    },
    [
      { field: 'pool', title: 'Pool', link: TO_POOL },
      { field: 'stage', title: 'Stage' },
      { field: 'Value #B', title: 'Age', unit: 's', ...(steps && { steps }) },
    ],
  );
}

/** Of the chosen pools. */
export function updates(): PanelBuilder[] {
  return [
    table(
      {
        title: 'Updates in progress',
        asks: 'Which updates are in progress in EKS, and since when? An update that takes hours usually waits for pods that cannot be evicted.',
        alerts: ['WindowsPoolUpdateStuck'],
        queries: [
          { expr: ofPools('windowspool_update_in_progress') },
          { expr: `time() - ${ofPools('windowspool_update_start_timestamp_seconds')}` },
          { expr: `time() - ${ofPools('windowspool_disruption_reservation_start_timestamp_seconds')}` },
          {
            expr: `${ofPools('windowspool_nodes_max_unavailable')} and on (pool) ${ofPools('windowspool_update_in_progress')}`,
          },
        ],
      },
      [
        { field: 'pool', title: 'Pool', link: TO_POOL },
        { field: 'type', title: 'Update' },
        { field: 'Value #B', title: 'Age', unit: 's', steps: UPDATE_AGE },
        { field: 'Value #C', title: 'Budget held for', unit: 's' },
        { field: 'Value #D', title: 'Nodes at a time' },
      ],
    ),
    progress('replacement', {
      title: 'Replacements of node groups',
      asks: 'Which node groups are replaced by a new one, at which stage, and since when? A replacement that takes hours usually waits for nodes that fail verification, or for pods that cannot be evicted.',
      alerts: ['WindowsPoolReplacementStuck'],
      steps: UPDATE_AGE,
    }),
    progress('canary', {
      title: 'Canaries',
      asks: 'On which pools is a version tried on a canary, at which stage, and since when? If it fails, the pool is not updated to this version.',
      alerts: ['WindowsPoolStalled'],
    }),
    bars(
      {
        title: 'Age of the AMI release',
        asks: 'How old are the Windows patches on the nodes? AWS publishes a release with new patches every month.',
        alerts: ['WindowsPoolReleaseOld'],
        unit: 's',
        width: 12,
        queries: [
          {
            expr: `time() - ${ofPools('windowspool_node_group_release_timestamp_seconds')}`,
            legend: '{{pool}}',
          },
        ],
      },
      { steps: AGE, none: 'unknown' },
    ),
    bars(
      {
        title: 'Time until the AMI becomes private',
        asks: 'How long can a pool start nodes from its AMI release? After that, scaling up and replacing nodes fail.',
        alerts: ['WindowsPoolAmiNearEnd'],
        unit: 's',
        width: 12,
        queries: [
          {
            expr: `${ofPools('windowspool_node_group_release_end_timestamp_seconds')} - time()`,
            legend: '{{pool}}',
          },
        ],
      },
      { steps: TIME_LEFT, none: 'unknown' },
    ),
    table(
      {
        title: 'Releases',
        asks: 'Which release does each node group run, and how old is it compared to the newest one?',
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
          title: 'Behind newest release',
          unit: 's',
          steps: ['green', [1, 'yellow'], [90 * DAY, 'red']],
        },
      ],
    ),
    graph({
      title: 'Disruption budget',
      asks: 'Is the disruption budget used up, so that other pools wait? The budget is the number of pools whose nodes may be replaced at the same time: --max-pools-updating.',
      queries: [
        { expr: `sum(${ofPools('windowspool_disruption_reservation')})`, legend: 'pools' },
        { expr: `max(${ofOperator('windowspool_disruption_budget_pools')})`, legend: 'budget' },
      ],
    }),
  ];
}
