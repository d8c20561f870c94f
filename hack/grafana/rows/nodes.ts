/** Nodes: their states, their failures, and their Windows versions. */
import { ofPools } from '../expressions.ts';
import { bars, graph, NONE_IS_GOOD, type PanelBuilder } from '../panels.ts';

/** The colour of each state. */
const STATES = { verified: 'green', joining: 'blue', failing: 'red' } as const;

/** The nodes of all selected pools. */
export function nodes(): PanelBuilder[] {
  const sum = (series: string) => `sum(${series})`;
  return [
    graph(
      {
        title: 'Nodes by state',
        asks: 'How many nodes are verified, joining or failing? If nodes stay joining or failing, check why they fail, then the health of the node group.',
        queries: [{ expr: `sum by (state) (${ofPools('windowspool_nodes')})`, legend: '{{state}}' }],
      },
      { stacked: true, colors: STATES },
    ),
    graph({
      title: 'Desired and Ready nodes',
      alerts: ['WindowsPoolNodesMissing'],
      asks: 'Does the pool have the desired number of nodes, and are they Ready in Kubernetes? Warm: instances that wait beside the node group. For nodes that are Ready but not verified, see the other panels of this row.',
      queries: [
        { expr: sum(ofPools('windowspool_nodes_desired')), legend: 'desired' },
        { expr: sum(ofPools('windowspool_nodes_ready')), legend: 'Ready' },
        { expr: sum(ofPools('windowspool_nodes_min')), legend: 'minSize' },
        { expr: sum(ofPools('windowspool_nodes_max')), legend: 'maxSize' },
        { expr: sum(ofPools('windowspool_warm_instances')), legend: 'warm' },
        {
          expr: sum(ofPools('windowspool_node_claims', { state: 'withoutNode' })),
          legend: 'NodeClaims without a node',
        },
        { expr: sum(ofPools('windowspool_node_claims_drifted')), legend: 'Drifted NodeClaims' },
        { expr: sum(ofPools('windowspool_machines', { state: 'withoutNode' })), legend: 'Machines without a node' },
        { expr: sum(ofPools('windowspool_machines_outdated')), legend: 'Machines of an earlier template' },
      ],
    }),
    graph(
      {
        title: 'Nodes by kernel version',
        asks: 'Which Windows builds and patch levels do the nodes run, and how far is an update? Several versions for a long time: an update is stuck, or nodes join with another AMI.',
        alerts: ['WindowsPoolMixedBuilds'],
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
        title: 'Failed checks',
        asks: 'Which checks do nodes fail? docs/reference/reasons.md explains each reason and what to do.',
        alerts: ['WindowsPoolNodesUnverified'],
        queries: [{ expr: `sum by (reason) (${ofPools('windowspool_node_failures')})`, legend: '{{reason}}' }],
      },
      { steps: NONE_IS_GOOD },
    ),
    bars(
      {
        title: 'Check warnings',
        asks: 'Which checks warn about nodes that are verified nevertheless?',
        queries: [{ expr: `sum by (reason) (${ofPools('windowspool_node_warnings')})`, legend: '{{reason}}' }],
      },
      { steps: ['green', [1, 'yellow']] },
    ),
    graph({
      title: 'Gated and quarantined nodes',
      asks: 'How many nodes have the taint of the gate or of the quarantine, so that no pods are scheduled to them? How many are below verification.minimumRevision?',
      queries: [
        { expr: sum(ofPools('windowspool_nodes_gated')), legend: 'gated' },
        { expr: sum(ofPools('windowspool_nodes_quarantined')), legend: 'quarantined' },
        { expr: sum(ofPools('windowspool_nodes_below_minimum_revision')), legend: 'below minimumRevision' },
      ],
    }),
    graph({
      title: 'Images of new nodes',
      asks: 'How many images does the operator still have to pull before it verifies new nodes (verification.imagePrePull)? Failed: the condition winpool.dev/Verified of the nodes has the cause.',
      width: 12,
      queries: [{ expr: `sum by (state) (${ofPools('windowspool_image_pulls')})`, legend: '{{state}}' }],
    }),
    graph({
      title: 'Smoke tests of new nodes',
      asks: 'How many new nodes have not passed the smoke test (verification.smokeTest)? Failed: the condition winpool.dev/Verified of the nodes has the check and the cause.',
      width: 12,
      queries: [{ expr: `sum by (state) (${ofPools('windowspool_smoke_tests')})`, legend: '{{state}}' }],
    }),
  ];
}
