/** What a pool needs and does not have: prerequisites, the health of its group, addresses; and what differs from its spec. */
import { ofPools } from '../expressions.ts';
import { TO_POOL } from '../links.ts';
import { bars, graph, NONE_IS_GOOD, type PanelBuilder, table } from '../panels.ts';

/** Of the chosen pools. */
export function causes(): PanelBuilder[] {
  return [
    table(
      {
        title: 'Prerequisites that are not met',
        asks: 'What does a pool need that the cluster or AWS does not give? docs/prerequisites.md has the commands. Only False keeps a node group from being created. Unknown: the operator lacks the permission to check.',
        alerts: ['WindowsPoolPrerequisitesNotMet'],
        unit: 'none',
        width: 8,
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
        title: 'Health issues of node groups',
        asks: 'What does EKS complain about? NodeGroupReady of the pool quotes EKS and says what to do.',
        alerts: ['WindowsNodeGroupHealthIssue'],
        unit: 'none',
        width: 8,
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
        title: 'Node groups',
        asks: 'Which groups are not ACTIVE? EKS takes no other change of a group on which it works.',
        alerts: ['WindowsNodeGroupDegraded'],
        unit: 'none',
        width: 8,
        queries: [{ expr: ofPools('windowspool_node_group_status') }],
      },
      [
        { field: 'pool', title: 'Pool', link: TO_POOL },
        { field: 'status', title: 'Status in EKS' },
      ],
    ),
    graph({
      title: 'Pod addresses',
      asks: 'How many pods can have an address? Windows pods take theirs from the first network interface of their node.',
      unit: 'none',
      width: 8,
      queries: [{ expr: ofPools('windowspool_pod_ip_addresses'), legend: '{{pool}}' }],
    }),
    bars(
      {
        title: 'Addresses that subnets lack',
        asks: 'Which pool cannot grow to scaling.max, because its subnets have too few free addresses? Asked for before a creation and while something is wrong.',
        unit: 'none',
        width: 8,
        queries: [
          {
            expr: `clamp_min(${ofPools('windowspool_subnet_needed_ip_addresses')} - ${ofPools('windowspool_subnet_free_ip_addresses')}, 0)`,
            legend: '{{pool}}',
          },
        ],
      },
      { steps: NONE_IS_GOOD, none: 'not asked for' },
    ),
    table(
      {
        title: 'Edits behind the back of the spec',
        asks: 'Which fields of node groups did somebody change by hand, and the operator put right or left so (driftPolicy)?',
        unit: 'none',
        width: 8,
        queries: [
          { expr: `${ofPools('windowspool_drift_fields')} > 0` },
          { expr: `${ofPools('windowspool_drift_corrected_total')} > 0` },
        ],
      },
      [
        { field: 'pool', title: 'Pool', link: TO_POOL },
        { field: 'part', title: 'Part' },
        { field: 'Value #A', title: 'Left so' },
        { field: 'Value #B', title: 'Put right' },
      ],
    ),
  ];
}
