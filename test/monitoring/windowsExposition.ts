/** The metrics of windows_exporter 0.31 on a node with two cores, a volume, an interface and a container: its names, labels and format, limited to what dashboards use. */

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Type, name, and for each series its labels, its value and its increase per second. */
type Recorded = readonly [
  type: 'gauge' | 'counter',
  name: string,
  ...series: (readonly [labels: string, value: number, perSecond?: number])[],
];

const GIB = 2 ** 30;
const CONTAINER =
  'container="web",container_id="containerd://3f2c1d0b9a8877665544332211ffeeddccbbaa99887766554433221100ffeedd",namespace="default",pod="web-5d8f7c9b6d-x2k4q"';
const NIC = 'nic="Amazon Elastic Network Adapter"';

/** A quarter of the time of each core is not idle. */
const recorded: readonly Recorded[] = [
  ['gauge', 'windows_container_count', ['', 4]],
  ['counter', 'windows_container_cpu_usage_seconds_total', [CONTAINER, 812.5, 0.5]],
  ['gauge', 'windows_container_memory_usage_private_working_set_bytes', [CONTAINER, 209_715_200]],
  [
    'counter',
    'windows_cpu_time_total',
    ...['0,0', '0,1'].flatMap((core) => [
      [`core="${core}",mode="dpc"`, 12.4, 0] as const,
      [`core="${core}",mode="idle"`, 90_310.2, 0.75] as const,
      [`core="${core}",mode="interrupt"`, 9.1, 0] as const,
      [`core="${core}",mode="privileged"`, 1_204.6, 0.1] as const,
      [`core="${core}",mode="user"`, 3_011.9, 0.15] as const,
    ]),
  ],
  [
    'gauge',
    'windows_exporter_collector_success',
    ['collector="container"', 1],
    ['collector="cpu"', 1],
    ['collector="logical_disk"', 0],
    ['collector="memory"', 1],
    ['collector="net"', 1],
  ],
  ['gauge', 'windows_logical_disk_free_bytes', ['volume="C:"', 20 * GIB], ['volume="HarddiskVolume1"', 1_048_576]],
  ['gauge', 'windows_logical_disk_size_bytes', ['volume="C:"', 50 * GIB], ['volume="HarddiskVolume1"', 104_857_600]],
  ['gauge', 'windows_memory_commit_limit', ['', 20 * GIB]],
  ['gauge', 'windows_memory_committed_bytes', ['', 5 * GIB]],
  ['gauge', 'windows_memory_physical_free_bytes', ['', 10 * GIB]],
  ['gauge', 'windows_memory_physical_total_bytes', ['', 16 * GIB]],
  ['counter', 'windows_net_bytes_received_total', [NIC, 5.311e9, 4_000]],
  ['counter', 'windows_net_bytes_sent_total', [NIC, 1.207e9, 1_000]],
  ['counter', 'windows_net_packets_outbound_discarded_total', [NIC, 0, 0]],
  ['counter', 'windows_net_packets_received_discarded_total', [NIC, 17, 2]],
];

/** The text after this many seconds. */
export function windowsExposition(seconds: number): string {
  const lines = recorded.flatMap(([type, name, ...series]) => [
    `# TYPE ${name} ${type}`,
    ...series.map(
      ([labels, value, perSecond = 0]) => `${name}${labels && `{${labels}}`} ${value + perSecond * seconds}`,
    ),
  ]);
  return `${lines.join('\n')}\n`;
}

/** Serves it on loopback like the exporter of a node. `change` is applied to each response. */
export async function serveWindowsExposition(
  change: (text: string) => string = (text) => text,
): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const from = performance.now();
  const server: Server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    response.end(change(windowsExposition((performance.now() - from) / 1000)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
