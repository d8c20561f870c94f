/**
 * The metrics of windows_exporter in the dashboards, with the labels of its collectors: names as of 0.30, which renamed those of memory
 * (https://github.com/prometheus-community/windows_exporter, internal/collector). All collectors except `container` run by default.
 */
import type { MetricCatalogue } from '../../controllers/runtime/metricDefinition.ts';

const volume = { bounds: 'volumes, such as C:' };
const nic = { bounds: 'network interfaces' };
const ofContainer = {
  container_id: { bounds: 'running containers' },
  namespace: { bounds: 'namespaces' },
  pod: { bounds: 'pods' },
  container: { bounds: 'names of containers' },
};

/** Metrics of windows_exporter. */
export const windowsMetrics = {
  windows_cpu_time_total: {
    type: 'counter',
    help: 'Time that a core spent in a mode.',
    labels: {
      core: { bounds: 'cores' },
      mode: { values: ['c1', 'c2', 'c3', 'dpc', 'idle', 'interrupt', 'privileged', 'user'] },
    },
  },
  windows_memory_physical_total_bytes: { type: 'gauge', help: 'Physical memory.', labels: {} },
  windows_memory_physical_free_bytes: { type: 'gauge', help: 'Physical memory that is free.', labels: {} },
  windows_memory_committed_bytes: { type: 'gauge', help: 'Virtual memory that is promised.', labels: {} },
  windows_memory_commit_limit: { type: 'gauge', help: 'Virtual memory that can be promised.', labels: {} },
  windows_logical_disk_size_bytes: { type: 'gauge', help: 'Size of a volume.', labels: { volume } },
  windows_logical_disk_free_bytes: { type: 'gauge', help: 'Free bytes of a volume.', labels: { volume } },
  windows_net_bytes_received_total: { type: 'counter', help: 'Bytes that came in.', labels: { nic } },
  windows_net_bytes_sent_total: { type: 'counter', help: 'Bytes that went out.', labels: { nic } },
  windows_net_packets_received_discarded_total: {
    type: 'counter',
    help: 'Packets dropped when received.',
    labels: { nic },
  },
  windows_net_packets_outbound_discarded_total: {
    type: 'counter',
    help: 'Packets dropped when sent.',
    labels: { nic },
  },
  windows_container_count: { type: 'gauge', help: 'Running containers.', labels: {} },
  windows_container_cpu_usage_seconds_total: { type: 'counter', help: 'CPU time of a container.', labels: ofContainer },
  windows_container_memory_usage_private_working_set_bytes: {
    type: 'gauge',
    help: 'Memory of a container that it shares with no other.',
    labels: ofContainer,
  },
  windows_exporter_collector_success: {
    type: 'gauge',
    help: '1 where a collector succeeded.',
    labels: { collector: { bounds: 'collectors' } },
  },
} as const satisfies MetricCatalogue;
