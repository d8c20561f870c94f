/** Nodes: how many are in which state, what is wrong with them, and which Windows they run. */
import { ofPools } from '../expressions.ts';
import { bars, graph, NONE_IS_GOOD, type PanelBuilder } from '../panels.ts';

/** The colour of each state. */
const STATES = { verified: 'green', joining: 'blue', failing: 'red' } as const;

/** The nodes of the chosen pools, together. */
export function nodes(): PanelBuilder[] {
  const sum = (series: string) => `sum(${series})`;
  return [
    graph(
      {
        title: 'Nodes by state',
        asks: 'How many nodes are verified, joining or failing, and what is desired? Verified below desired for long: look at failing nodes, then at the health of the group.',
        unit: 'none',
        width: 8,
        queries: [{ expr: `sum by (state) (${ofPools('windowspool_nodes')})`, legend: '{{state}}' }],
      },
      { stacked: true, colors: STATES },
    ),
    graph({
      title: 'Desired and Ready',
      asks: 'Does the pool have the nodes that it should have, and are they Ready in Kubernetes? What lies between Ready and verified is in the other panels.',
      unit: 'none',
      width: 8,
      queries: [
        { expr: sum(ofPools('windowspool_nodes_desired')), legend: 'desired' },
        { expr: sum(ofPools('windowspool_nodes_ready')), legend: 'Ready' },
        { expr: sum(ofPools('windowspool_nodes_min')), legend: 'min' },
        { expr: sum(ofPools('windowspool_nodes_max')), legend: 'max' },
      ],
    }),
    graph(
      {
        title: 'Nodes by kernel version',
        asks: 'Which Windows builds and patch levels run, and how far is an update? Several versions for long: an update is stuck, or nodes join with another AMI.',
        alerts: ['WindowsPoolMixedBuilds'],
        unit: 'none',
        width: 8,
        queries: [
          {
            expr: `sum by (kernel_version) (${ofPools('windowspool_nodes_by_kernel')})`,
            legend: '{{kernel_version}}',
          },
        ],
      },
      { stacked: true },
    ),
    bars(
      {
        title: 'Why nodes fail',
        asks: 'Which checks do nodes fail? docs/conditions.md says what each reason means and what to do.',
        alerts: ['WindowsNodesUnverified'],
        unit: 'none',
        width: 8,
        queries: [{ expr: `sum by (reason) (${ofPools('windowspool_node_failures')})`, legend: '{{reason}}' }],
      },
      { steps: NONE_IS_GOOD },
    ),
    bars(
      {
        title: 'Warnings',
        asks: 'Which checks warn about nodes that count as verified all the same?',
        unit: 'none',
        width: 8,
        queries: [{ expr: `sum by (reason) (${ofPools('windowspool_node_warnings')})`, legend: '{{reason}}' }],
      },
      { steps: ['green', [1, 'yellow']] },
    ),
    graph({
      title: 'Kept from pods',
      asks: 'How many nodes take no pods because they wait at the gate or are in quarantine, and how many are below the patch floor?',
      unit: 'none',
      width: 8,
      queries: [
        { expr: sum(ofPools('windowspool_nodes_gated')), legend: 'at the gate' },
        { expr: sum(ofPools('windowspool_nodes_quarantined')), legend: 'in quarantine' },
        { expr: sum(ofPools('windowspool_nodes_below_minimum_revision')), legend: 'below minimumRevision' },
      ],
    }),
  ];
}
