/** The expected values of the panels of the dashboards, computed from the output of kubectl. */
import type { V1Node } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';

/** The observed state at a time: the pools that a dashboard shows, and the Windows nodes. */
export interface Facts {
  readonly pools: readonly WindowsPool[];
  readonly nodes: readonly Stored<V1Node>[];
  /** The labels of the firing alerts, about these pools or about none. */
  readonly alerts: readonly Readonly<Record<string, string>>[];
  /** In seconds since 1970. */
  readonly now: number;
}

/** One series: its labels and its value. */
export type Row = readonly [labels: Readonly<Record<string, string>>, value: number];

/** The series of each query of a panel. */
type Expectation = (facts: Facts) => readonly (readonly Row[])[];

/** Of --max-pools-updating in the suite. */
export const BUDGET = 2;

const DAY = 24 * 60 * 60;
const nameOf = ({ metadata }: WindowsPool) => metadata.name;
const conditionsOf = ({ status }: WindowsPool) => status?.conditions ?? [];
const has = (pool: WindowsPool, type: string, status: string) =>
  conditionsOf(pool).some((condition) => condition.type === type && condition.status === status);
const seconds = (time: string) => Date.parse(time) / 1000;

/** A number for each pool that has it. */
function each(pools: readonly WindowsPool[], value: (pool: WindowsPool) => number | undefined): Row[] {
  return pools.flatMap((pool) => {
    const found = value(pool);
    return found === undefined ? [] : [[{ pool: nameOf(pool) }, found] as const];
  });
}

/** The sum over pools; no series where no pool has a value. */
function sum(pools: readonly WindowsPool[], value: (pool: WindowsPool) => number | undefined): Row[] {
  const rows = each(pools, value);
  return rows.length === 0 ? [] : [[{}, total(rows)]];
}

const total = (rows: readonly Row[]) => rows.reduce((subtotal, [, value]) => subtotal + value, 0);

/** The number of each name. */
function count(label: string, names: readonly string[]): Row[] {
  return [...Map.groupBy(names, (name) => name)].map(([name, same]) => [{ [label]: name }, same.length]);
}

const updating = ({ pools }: Facts) =>
  pools.flatMap((pool) => {
    const update = pool.status?.nodeGroup?.update;
    return update?.status === 'InProgress' ? [{ pool: nameOf(pool), update }] : [];
  });

/** Seconds since the pool is paused. */
function sincePause(pool: WindowsPool, now: number): number | undefined {
  const pause = conditionsOf(pool).find(({ type }) => type === 'Paused');
  return pause && now - seconds(pause.lastTransitionTime);
}

/** The terminating nodes: none of the suite's is drained. */
function leaving({ pools }: Facts) {
  return pools.flatMap((pool) => {
    const reason = conditionsOf(pool).find(({ type }) => type === 'Disrupting')?.reason;
    const entries = (pool.status?.disruption?.nodes ?? []).map(
      ({ operation, reason: why = 'Requested', startTime, terminationAcceptedTime }) => {
        const stage =
          terminationAcceptedTime !== undefined ? 'ending' : reason === 'DrainBlocked' ? 'blocked' : 'draining';
        return { operation, reason: why, since: startTime, stage };
      },
    );
    return entries.length === 0 ? [] : [{ pool: nameOf(pool), entries }];
  });
}

/** The day in the name of an AMI release, such as 1.36-2026.03.11. */
function dayOf(release: string | undefined): number | undefined {
  const [, day] = /(\d{4}\.\d{2}\.\d{2})$/.exec(release ?? '') ?? [];
  return day === undefined ? undefined : seconds(`${day.replaceAll('.', '-')}T00:00:00Z`);
}

/** By the title of the panel. */
export const fromKubectl: Readonly<Record<string, Expectation>> = {
  'Pools not Ready': ({ pools }) => [sum(pools, (pool) => Number(!has(pool, 'Ready', 'True')))],
  'Stalled pools': ({ pools }) => [
    pools.some((pool) => has(pool, 'Stalled', 'True'))
      ? sum(pools, (pool) => Number(has(pool, 'Stalled', 'True')))
      : [],
  ],
  'Firing alerts': ({ alerts }) => [[[{}, alerts.length]]],
  Alerts: ({ alerts }) => {
    const shown = alerts.map(({ alertname = '', severity = '', pool }) => ({
      alertname,
      severity,
      ...(pool && { pool }),
    }));
    return [[...Map.groupBy(shown, (labels) => JSON.stringify(labels)).values()].map(([labels = {}]) => [labels, 1])];
  },
  'Unverified nodes': ({ pools }) => [
    sum(pools, ({ status }) => status?.nodes?.failing),
    sum(pools, ({ status }) => status?.nodes?.joining),
  ],
  Pools: ({ pools, now }) => [
    pools.map((pool) => {
      const reason = conditionsOf(pool).find(({ type }) => type === 'Ready')?.reason ?? '';
      const source = pool.spec.nodeGroup ? 'nodeGroup' : 'existingNodes';
      return [{ pool: nameOf(pool), windows_version: pool.spec.windowsVersion, source, reason }, 1];
    }),
    each(pools, ({ status }) => status?.nodes?.total),
    each(pools, ({ status }) => status?.nodes?.verified),
    each(pools, ({ status }) => status?.nodes?.failing),
    each(pools, ({ status }) => status?.nodes?.desired),
    each(pools, (pool) => sincePause(pool, now)),
    [],
  ],
  Ready: ({ pools }) => [
    pools.map((pool) => [{ pool: nameOf(pool), type: 'Ready', status: 'True' }, Number(has(pool, 'Ready', 'True'))]),
  ],
  Paused: ({ pools }) => [each(pools, ({ spec }) => Number(spec.paused))],
  Conditions: ({ pools }) => [
    pools.flatMap((pool) =>
      conditionsOf(pool).map(({ type, status }): Row => [{ type }, ['False', 'True', 'Unknown'].indexOf(status)]),
    ),
  ],
  Reasons: ({ pools }) => [
    pools.flatMap((pool) =>
      conditionsOf(pool).map(({ type, reason }): Row => [{ pool: nameOf(pool), type, reason }, 1]),
    ),
  ],
  'Nodes by state': ({ pools }) => [
    (['verified', 'joining', 'failing'] as const).map((state) => [
      { state },
      total(each(pools, ({ status }) => status?.nodes?.[state])),
    ]),
  ],
  'Desired and Ready nodes': ({ pools }) => [
    sum(pools, ({ status }) => status?.nodes?.desired),
    sum(pools, ({ status }) => status?.nodes?.ready),
    sum(pools, ({ spec }) => spec.nodeGroup?.scaling.minSize),
    sum(pools, ({ spec }) => spec.nodeGroup?.scaling.maxSize),
    sum(pools, ({ status }) => status?.nodeGroup?.warmPool?.instances),
    sum(pools, ({ status }) => status?.karpenter?.withoutNode),
    sum(pools, ({ status }) => status?.karpenter?.drifted),
    sum(pools, ({ status }) => status?.machines?.withoutNode),
    sum(pools, ({ status }) => status?.machines?.outdated),
  ],
  'Nodes by kernel version': ({ pools }) => {
    const builds = pools.flatMap(({ status }) => status?.builds ?? []);
    const groups = Map.groupBy(builds, ({ kernelVersion }) => kernelVersion);
    return [
      [...groups].map(([kernel_version, same]) => [
        { kernel_version },
        same.reduce((subtotal, { nodes }) => subtotal + nodes, 0),
      ]),
    ];
  },
  'Failed checks': ({ pools }) => [
    count(
      'reason',
      pools.flatMap(({ status }) => (status?.failingNodes ?? []).map(({ reason }) => reason)),
    ),
  ],
  'Gated and quarantined nodes': ({ pools }) => [
    sum(pools, ({ status }) => status?.nodes?.gated),
    sum(pools, ({ status }) => status?.nodes?.quarantined),
    sum(pools, ({ status }) => status?.revisions?.belowMinimum),
  ],
  'Updates in progress': (facts) => [
    updating(facts).map(({ pool, update }) => [{ pool, type: update.type }, 1]),
    updating(facts).map(({ pool, update }) => [
      { pool, type: update.type },
      facts.now - seconds(update.startedAt ?? ''),
    ]),
    each(facts.pools, ({ status }) => status?.disruption && facts.now - seconds(status.disruption.startTime)),
    // Nothing sets disruption.maxUnavailable.
    updating(facts).map(({ pool }) => [{ pool }, 1]),
  ],
  'Age of the AMI release': ({ pools, now }) => [
    each(pools, ({ status }) => {
      const day = dayOf(status?.nodeGroup?.releaseVersion);
      return day === undefined ? undefined : now - day;
    }),
  ],
  Releases: ({ pools }) => [
    pools.flatMap((pool): Row[] => {
      const group = pool.status?.nodeGroup;
      if (group?.status === undefined) return [];
      const { name: node_group, amiType: ami_type = '', kubernetesVersion = '', releaseVersion = '' } = group;
      const versions = { kubernetes_version: kubernetesVersion, release_version: releaseVersion };
      const capacity_type = pool.spec.nodeGroup?.capacityType ?? '';
      return [[{ pool: nameOf(pool), node_group, ami_type, capacity_type, ...versions }, 1]];
    }),
    each(pools, ({ status }) => {
      const [newest, own] = [dayOf(status?.nodeGroup?.latestReleaseVersion), dayOf(status?.nodeGroup?.releaseVersion)];
      return newest === undefined || own === undefined ? undefined : newest - own;
    }),
  ],
  'Disruption budget': ({ pools }) => [
    sum(pools, ({ status }) => (status?.nodeGroup ? Number(status.disruption !== undefined) : undefined)),
    [[{}, BUDGET]],
  ],
  'Node group health issues': ({ pools }) => [
    pools.flatMap((pool) =>
      count(
        'code',
        (pool.status?.nodeGroup?.healthIssues ?? []).map(({ code }) => code),
      ).map(([labels, value]): Row => [{ pool: nameOf(pool), ...labels }, value]),
    ),
  ],
  'Node group status': ({ pools }) => [
    pools.flatMap((pool) => {
      const status = pool.status?.nodeGroup?.status;
      return status === undefined ? [] : [[{ pool: nameOf(pool), status }, 1] as const];
    }),
  ],
  'Pod IP addresses': ({ pools, nodes }) => [
    each(pools, (pool) =>
      nodes
        .filter(({ metadata }) => metadata.labels?.['eks.amazonaws.com/nodegroup'] === pool.status?.nodeGroup?.name)
        .reduce((so, { status }) => so + Number(status.allocatable?.['vpc.amazonaws.com/PrivateIPv4Address'] ?? 0), 0),
    ).filter(([, value]) => value > 0),
  ],
  'Pools with leaving nodes': (facts) => [
    leaving(facts).flatMap(({ pool, entries }) =>
      [...Map.groupBy(entries, ({ operation, reason, stage }) => `${operation} ${reason} ${stage}`).values()].map(
        (same): Row => {
          const [{ operation = '', reason = '', stage = '' } = {}] = same;
          return [{ pool, operation, reason, stage }, same.length];
        },
      ),
    ),
    leaving(facts).map(({ pool, entries }) => [
      { pool },
      facts.now - Math.min(...entries.map(({ since }) => seconds(since))),
    ]),
    [],
  ],
  'Leaving nodes by stage': (facts) => [
    count(
      'stage',
      leaving(facts).flatMap(({ entries }) => entries.map(({ stage }) => stage)),
    ),
  ],
  Advice: ({ pools }) => [
    pools.flatMap((pool) =>
      (pool.status?.checks ?? [])
        .filter(({ severity }) => severity === 'Advice')
        .map(({ reason }): Row => [{ pool: nameOf(pool), reason }, 1]),
    ),
  ],
  'Nodes without windows_exporter': ({ pools }) => [
    sum(pools, ({ status }) => (status?.nodes?.total === undefined ? undefined : status.nodes.total - 2)),
  ],
};

/** For values that the status does not contain: a minimum and a maximum for the one series, or for all of them. */
export const within: Readonly<Record<string, readonly [least: number, most: number]>> = {
  'Oldest status': [0, 60],
  'Time until the AMI becomes private': [-20 * 365 * DAY, 122 * DAY],
  'Missing subnet IP addresses': [0, 1000],
  'Prerequisites that need attention': [1, 1],
  Drift: [1, 20],
  'Short-circuited remediation': [0, 0],
  'AWS calls': [0, 100],
  'Duration of AWS calls (p99)': [0.001, 60],
  'Wait for the rate limiter (p99)': [0, 60],
  Leaders: [1, 1],
  Replicas: [0, 3600],
  Reconciliations: [0, 1000],
  'Reconcile and queue time (p99)': [0, 60],
  'Work queue': [0, 100],
  Watches: [0, 1000],
  'Requests to the API server': [0, 1000],
  Memory: [1e6, 1e9],
  'CPU and event loop': [0, 10],
  CPU: [0.2, 0.3],
  'Failing collectors': [0, 0],
  'Physical memory in use': [0.375, 0.375],
  'Committed memory': [0.25, 0.25],
  'Disk usage': [0.6, 0.6],
  Network: [500, 8_000],
  'Dropped packets': [0, 4],
  Containers: [4, 4],
  'CPU of containers (top 10)': [0.5, 2],
  'Memory of containers (top 10)': [209_715_200, 2 * 209_715_200],
};

/** These can be empty: such events are rare in the suite. */
export const empty: readonly string[] = [
  'Evictions',

  'Check warnings',
  'Images of new nodes',
  'Smoke tests of new nodes',
  'Throttling',
  'Failed AWS calls',
  'Terminated instances',
  'Abandoned drains',
  'Replacements of node groups',
  'Canaries',
];
