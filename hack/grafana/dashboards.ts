/**
 * The Grafana dashboards. In the classic model, which the SDK calls deprecated: it is the one that Grafana reads from a folder or a sidecar's
 * ConfigMap in all versions since 10.
 */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  DashboardBuilder,
  DashboardCursorSync,
  RowBuilder,
  type VariableModel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { FLEET, POOL, toDashboard } from './links.ts';
import type { PanelBuilder } from './panels.ts';
import { aws } from './rows/aws.ts';
import { causes } from './rows/causes.ts';
import { nodes } from './rows/nodes.ts';
import { operator } from './rows/operator.ts';
import { allPoolsSummary, poolSummary } from './rows/summary.ts';
import { terminating } from './rows/terminating.ts';
import { updates } from './rows/updates.ts';
import { windows } from './rows/windows.ts';
import { commonVariables, onePool, somePools } from './variables.ts';

const TAG = 'windowspool';

interface Plan {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly link: readonly [title: string, uid: string];
  readonly variables: readonly Builder<VariableModel>[];
  /** In the order in which they are read. */
  readonly rows: Readonly<Record<string, readonly PanelBuilder[]>>;
}

const common = () => ({
  Nodes: nodes(),
  'Updates and AMI releases': updates(),
  'Prerequisites and node group health': causes(),
  'Node replacement and removal': terminating(),
});

const fleet: Plan = {
  uid: FLEET,
  title: 'WindowsPools / Fleet',
  description: 'All WindowsPools of a cluster: which need attention, and why?',
  link: ['Pool dashboard', POOL],
  variables: [...commonVariables(), somePools()],
  rows: { Overview: allPoolsSummary(), ...common(), 'AWS API': aws(), Operator: operator() },
};

const pool: Plan = {
  uid: POOL,
  title: 'WindowsPools / Pool',
  description: 'One WindowsPool, and Windows on its nodes.',
  link: ['Fleet dashboard', FLEET],
  variables: [...commonVariables(), ...onePool()],
  rows: { Overview: poolSummary(), ...common(), 'Windows on the nodes (windows_exporter)': windows() },
};

/** The dashboards as JSON, by the names of their files. */
export function dashboards(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [fleet, pool].map((plan) => [`${plan.uid}.json`, `${JSON.stringify(assemble(plan).build(), null, 2)}\n`]),
  );
}

function assemble({ uid, title, description, link, variables, rows }: Plan): DashboardBuilder {
  const board = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([TAG])
    .time({ from: 'now-6h', to: 'now' })
    .refresh('1m')
    .tooltip(DashboardCursorSync.Crosshair)
    .link(toDashboard(...link))
    .variables([...variables]);
  let id = 0;
  for (const [name, panels] of Object.entries(rows)) {
    board.withRow(new RowBuilder(name).id(++id));
    for (const panel of panels) board.withPanel(panel.id(++id));
  }
  return board;
}
