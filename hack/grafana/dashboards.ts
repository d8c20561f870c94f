/**
 * The Grafana dashboards. In the classic model, which the SDK calls deprecated: it is the one that Grafana reads from a folder or a sidecar's
 * ConfigMap in all versions since 10.
 */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  DashboardBuilder,
  DashboardCursorSync,
  type DashboardLink,
  RowBuilder,
  type VariableModel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { CLUSTER, FLEET, POOL, toDashboard, toOtherScope } from './links.ts';
import type { PanelBuilder } from './panels.ts';
import { aws } from './rows/aws.ts';
import { causes } from './rows/causes.ts';
import { clusterSummary, fleetCapacity, fleetOperators, patches, windowsVersions } from './rows/clusters.ts';
import { nodes } from './rows/nodes.ts';
import { operator } from './rows/operator.ts';
import { allPoolsSummary, poolSummary } from './rows/summary.ts';
import { terminating } from './rows/terminating.ts';
import { updates } from './rows/updates.ts';
import { windows } from './rows/windows.ts';
import { commonVariables, fleetVariables, onePool, somePools } from './variables.ts';

const TAG = 'windowspool';

interface Plan {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly links: readonly Builder<DashboardLink>[];
  readonly variables: readonly Builder<VariableModel>[];
  /** The interval between two refreshes, and the time that is shown. */
  readonly refresh: string;
  readonly from: string;
  /** In the order in which they are read. All but the first are collapsed, so that their queries run when they are opened. */
  readonly rows: Readonly<Record<string, readonly PanelBuilder[]>>;
}

const common = () => ({
  Nodes: nodes(),
  'Updates and AMI releases': updates(),
  'Prerequisites and node group health': causes(),
  'Node replacement and removal': terminating(),
});

/** Its queries read the series of all clusters: states of pools that last for less than five minutes are of no interest there. */
const fleet: Plan = {
  uid: FLEET,
  title: 'WindowsPools / Fleet',
  description:
    'The WindowsPools of all clusters: which clusters need attention, which lack patches, and which Windows versions end?',
  links: [toOtherScope('Cluster dashboard', CLUSTER)],
  variables: fleetVariables(),
  refresh: '5m',
  from: 'now-24h',
  rows: {
    Overview: clusterSummary(),
    'Windows versions': windowsVersions(),
    'Windows patches': patches(),
    Capacity: fleetCapacity(),
    Operators: fleetOperators(),
  },
};

const cluster: Plan = {
  uid: CLUSTER,
  title: 'WindowsPools / Cluster',
  description: 'All WindowsPools of a cluster: which need attention, and why?',
  links: [toOtherScope('Fleet dashboard', FLEET), toDashboard('Pool dashboard', POOL)],
  variables: [...commonVariables(), somePools()],
  refresh: '1m',
  from: 'now-6h',
  rows: { Overview: allPoolsSummary(), ...common(), 'AWS API': aws(), Operator: operator() },
};

const pool: Plan = {
  uid: POOL,
  title: 'WindowsPools / Pool',
  description: 'One WindowsPool, and Windows on its nodes.',
  links: [toDashboard('Cluster dashboard', CLUSTER)],
  variables: [...commonVariables(), ...onePool()],
  refresh: '1m',
  from: 'now-6h',
  rows: { Overview: poolSummary(), ...common(), 'Windows on the nodes (windows_exporter)': windows() },
};

/** The dashboards as JSON, by the names of their files. */
export function dashboards(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [fleet, cluster, pool].map((plan) => [`${plan.uid}.json`, `${JSON.stringify(assemble(plan).build(), null, 2)}\n`]),
  );
}

function assemble({ uid, title, description, links, variables, refresh, from, rows }: Plan): DashboardBuilder {
  const board = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([TAG])
    .time({ from, to: 'now' })
    .refresh(refresh)
    .tooltip(DashboardCursorSync.Crosshair)
    .links([...links])
    .variables([...variables]);
  let id = 0;
  for (const [index, [name, panels]] of Object.entries(rows).entries()) {
    const isOpen = index === 0;
    const row = new RowBuilder(name).id(++id).collapsed(!isOpen);
    const numbered = panels.map((panel) => panel.id(++id));
    if (!isOpen) for (const panel of numbered) row.withPanel(panel);
    board.withRow(row);
    if (isOpen) for (const panel of numbered) board.withPanel(panel);
  }
  return board;
}
