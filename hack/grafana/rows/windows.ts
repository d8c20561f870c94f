/** The Windows of the nodes, from windows_exporter. */
import { ofAllNodes, ofNodes, ofPools, rate } from '../expressions.ts';
import { graph, type PanelBuilder, stat, table } from '../panels.ts';

const DRIVES = /[A-Z]:/;

/** Of the nodes of one pool. */
export function windows(): PanelBuilder[] {
  return [...scraped(), ...machine(), ...containers()];
}

function scraped(): PanelBuilder[] {
  const nodes = `sum(${ofPools('windowspool_nodes')})`;
  const shown = `count(count by (node) (${ofAllNodes('windows_memory_physical_total_bytes')}))`;
  const failures = ofNodes('windows_exporter_collector_success');
  return [
    stat(
      {
        title: 'Nodes without windows_exporter',
        asks: 'How many nodes are missing in the panels of this row, because they do not run windows_exporter or Prometheus cannot scrape it? Counts all nodes of the pool, regardless of the variable Node.',
        alerts: ['WindowsPoolExporterMissing'],
        width: 6,
        height: 7,
        queries: [{ expr: `${nodes} - (${shown} or vector(0))` }],
      },
      { steps: ['green', [1, 'yellow']], none: 'no such pool' },
    ),
    table(
      {
        title: 'Failing collectors',
        asks: 'Which collectors of windows_exporter fail, so that panels of this row have gaps?',
        width: 6,
        height: 7,
        queries: [{ expr: `min by (node, collector) (${failures}) == 0` }],
      },
      [
        { field: 'node', title: 'Node' },
        { field: 'collector', title: 'Collector' },
      ],
    ),
  ];
}

function machine(): PanelBuilder[] {
  const free = ofNodes('windows_logical_disk_free_bytes', { volume: DRIVES });
  const size = ofNodes('windows_logical_disk_size_bytes', { volume: DRIVES });
  return [
    graph(
      {
        title: 'CPU',
        asks: 'Which nodes are busy? Shows the share of time in which the cores were not idle.',
        unit: 'percentunit',
        width: 12,
        height: 7,
        queries: [
          {
            expr: `1 - avg by (node) (${rate(ofNodes('windows_cpu_time_total', { mode: 'idle' }))})`,
            legend: '{{node}}',
          },
        ],
      },
      { max: 1 },
    ),
    graph(
      {
        title: 'Physical memory in use',
        asks: 'Which nodes run out of memory? Windows has no OOM killer: it pages, which slows down everything on the node.',
        unit: 'percentunit',
        queries: [
          {
            expr: `1 - max by (node) (${ofNodes('windows_memory_physical_free_bytes')}) / max by (node) (${ofNodes('windows_memory_physical_total_bytes')})`,
            legend: '{{node}}',
          },
        ],
      },
      { max: 1 },
    ),
    graph(
      {
        title: 'Committed memory',
        asks: 'How close are nodes to their commit limit, which is physical memory plus page files? At the limit, memory allocations fail and processes may crash.',
        alerts: ['WindowsPoolNodeCommitMemoryHigh'],
        unit: 'percentunit',
        queries: [
          {
            expr: `max by (node) (${ofNodes('windows_memory_committed_bytes')}) / max by (node) (${ofNodes('windows_memory_commit_limit')})`,
            legend: '{{node}}',
          },
        ],
      },
      { max: 1 },
    ),
    graph(
      {
        title: 'Disk usage',
        asks: 'Which volumes are nearly full? Windows images are large; the kubelet removes unused images above 85%.',
        alerts: ['WindowsPoolNodeDiskSpaceLow'],
        unit: 'percentunit',
        queries: [
          {
            expr: `1 - max by (node, volume) (${free}) / max by (node, volume) (${size})`,
            legend: '{{node}} {{volume}}',
          },
        ],
      },
      { max: 1 },
    ),
    ...network(),
  ];
}

function network(): PanelBuilder[] {
  const perNode = (series: string) => `sum by (node) (${rate(series)})`;
  return [
    graph({
      title: 'Network',
      asks: 'How much data do the nodes receive and send?',
      unit: 'Bps',
      width: 12,
      queries: [
        { expr: perNode(ofNodes('windows_net_bytes_received_total')), legend: '{{node}} in' },
        { expr: perNode(ofNodes('windows_net_bytes_sent_total')), legend: '{{node}} out' },
      ],
    }),
    graph({
      title: 'Dropped packets',
      asks: 'Do nodes drop packets? Check the network limits of the instance type, and the security groups.',
      unit: 'pps',
      width: 12,
      queries: [
        { expr: perNode(ofNodes('windows_net_packets_received_discarded_total')), legend: '{{node}} in' },
        { expr: perNode(ofNodes('windows_net_packets_outbound_discarded_total')), legend: '{{node}} out' },
      ],
    }),
  ];
}

function containers(): PanelBuilder[] {
  return [
    graph({
      title: 'Containers',
      asks: 'How many containers run on each node?',
      queries: [{ expr: `max by (node) (${ofNodes('windows_container_count')})`, legend: '{{node}}' }],
    }),
    graph({
      title: 'CPU of containers (top 10)',
      asks: 'Which containers use the most CPU? Unit: cores.',
      queries: [
        {
          expr: `topk(10, sum by (namespace, pod, container) (${rate(ofNodes('windows_container_cpu_usage_seconds_total'))}))`,
          legend: '{{namespace}}/{{pod}} {{container}}',
        },
      ],
    }),
    graph({
      title: 'Memory of containers (top 10)',
      asks: 'Which containers use the most memory? Shows the private working set, which the memory limit applies to.',
      unit: 'bytes',
      queries: [
        {
          expr: `topk(10, sum by (namespace, pod, container) (${ofNodes('windows_container_memory_usage_private_working_set_bytes')}))`,
          legend: '{{namespace}}/{{pod}} {{container}}',
        },
      ],
    }),
  ];
}
