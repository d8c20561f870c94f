/** Why a pool is not healthy: prerequisites, the health of its group, addresses, and drift from its spec. */
import { ofPools } from '../expressions.ts';
import { TO_POOL } from '../links.ts';
import { bars, graph, NONE_IS_GOOD, type PanelBuilder, table } from '../panels.ts';

/** Of the chosen pools. */
export function causes(): PanelBuilder[] {
  return [
    table(
      {
        title: 'Prerequisites that need attention',
        asks: 'Which prerequisites of pools are not met, ignored, warnings or unknown? Only False prevents the creation of a node group. Unknown: the check failed, for example because the operator lacks a permission. docs/reference/checks.md has the commands.',
        alerts: ['WindowsPoolPrerequisitesNotMet'],
        width: 6,
        queries: [{ expr: ofPools('windowspool_prerequisite') }],
      },
      [
        { field: 'pool', title: 'Pool', link: TO_POOL },
        { field: 'reason', title: 'Prerequisite' },
        { field: 'status', title: 'Status' },
      ],
    ),
    table(
      {
        title: 'Advice',
        asks: 'What would make pools more robust? Advice is no problem: it blocks nothing, and no alert depends on it. docs/reference/advice.md explains each.',
        width: 6,
        queries: [{ expr: ofPools('windowspool_advice') }],
      },
      [
        { field: 'pool', title: 'Pool', link: TO_POOL },
        { field: 'reason', title: 'Advice' },
      ],
    ),
    table(
      {
        title: 'Node group health issues',
        asks: 'Which health issues does EKS report? The condition NodeGroupReady of the pool quotes EKS and has the next step.',
        alerts: ['WindowsPoolNodeGroupHealthIssue'],
        width: 6,
        queries: [{ expr: ofPools('windowspool_node_group_health_issues') }],
      },
      [
        { field: 'pool', title: 'Pool', link: TO_POOL },
        { field: 'code', title: 'Code' },
        { field: 'Value', title: 'Issues' },
      ],
    ),
    table(
      {
        title: 'Node group status',
        asks: 'Which node groups are not ACTIVE? EKS accepts no other change of a node group while an operation is in progress.',
        alerts: ['WindowsPoolNodeGroupDegraded', 'WindowsPoolNodeGroupCreateFailed', 'WindowsPoolDeletionStuck'],
        width: 6,
        queries: [{ expr: ofPools('windowspool_node_group_status') }],
      },
      [
        { field: 'pool', title: 'Pool', link: TO_POOL },
        { field: 'status', title: 'Status in EKS' },
      ],
    ),
    graph({
      title: 'Pod IP addresses',
      asks: 'How many IP addresses do the nodes have for pods? Windows pods get them from the primary network interface of their node.',
      queries: [{ expr: ofPools('windowspool_pod_ip_addresses'), legend: '{{pool}}' }],
    }),
    bars(
      {
        title: 'Missing subnet IP addresses',
        asks: 'Which pools cannot grow to nodeGroup.scaling.maxSize, because their subnets have too few free IP addresses? The operator checks this before it creates a node group, and while a pool has a problem.',
        queries: [
          {
            expr: `clamp_min(${ofPools('windowspool_subnet_needed_ip_addresses')} - ${ofPools('windowspool_subnet_free_ip_addresses')}, 0)`,
            legend: '{{pool}}',
          },
        ],
      },
      { steps: NONE_IS_GOOD, none: 'not checked' },
    ),
    table(
      {
        title: 'Drift',
        asks: 'Which fields of node groups were changed without a change of the spec, and did the operator correct or only report them (nodeGroup.driftPolicy)?',
        queries: [
          { expr: `${ofPools('windowspool_drift_fields')} > 0` },
          { expr: `${ofPools('windowspool_drift_corrected_total')} > 0` },
        ],
      },
      [
        { field: 'pool', title: 'Pool', link: TO_POOL },
        { field: 'part', title: 'Part' },
        { field: 'Value #A', title: 'Reported' },
        { field: 'Value #B', title: 'Corrected' },
      ],
    ),
  ];
}
