/** The dashboard of all clusters: which need attention, which lack patches, and which Windows versions end. */
import { ofFleet, ofFleetOperators } from '../expressions.ts';
import { TO_CLUSTER, TO_POOL_OF_CLUSTER } from '../links.ts';
import { bars, graph, NONE_IS_GOOD, type PanelBuilder, type Steps, stat, table } from '../panels.ts';
import { firingAlerts } from './summary.ts';

const DAY = 24 * 60 * 60;
/** AWS publishes a release with the patches of the month every month. */
const PATCHED_DAYS = 45;
const SHARE: Steps = ['red', [0.8, 'yellow'], [0.95, 'green']];
const NEUTRAL: Steps = ['blue'];
const SUPPORT_LEFT: Steps = ['red', [180 * DAY, 'yellow'], [2 * 365 * DAY, 'green']];
const RELEASE_AGE: Steps = ['green', [PATCHED_DAYS * DAY, 'yellow'], [90 * DAY, 'red']];
const ONE_VALUE = ['pool'] as const;

const notReady = ofFleet('windowspool_status_condition', ['pool'], { type: 'Ready', status: ['False', 'Unknown'] });
const stalled = ofFleet('windowspool_status_condition', ['pool'], { type: 'Stalled', status: 'True' });
const info = ofFleet('windowspool_info', ONE_VALUE);
const nodes = `sum by (cluster, pool) (${ofFleet('windowspool_nodes', ['pool', 'state'])})`;
const verified = ofFleet('windowspool_nodes', ONE_VALUE, { state: 'verified' });
const desired = ofFleet('windowspool_nodes_desired', ONE_VALUE);
const release = ofFleet('windowspool_node_group_release_timestamp_seconds', ONE_VALUE);
const newest = ofFleet('windowspool_node_group_latest_release_timestamp_seconds', ONE_VALUE);
const spot = ofFleet('windowspool_node_group_info', ONE_VALUE, { capacity_type: 'Spot' });
const ended = ofFleet('windowspool_windows_version_end_timestamp_seconds', ONE_VALUE);
const versions = ofFleet('windowspool_info', ['pool', 'windows_version']);

/** The nodes of pools whose release is known, and of those the ones that lack patches although a newer release exists. */
const released = `(${nodes} and on (cluster, pool) ${release})`;
const unpatched = `(${nodes} and on (cluster, pool) (${release} < on (cluster, pool) ${newest}) < time() - ${PATCHED_DAYS} * ${DAY})`;
const onSpot = `(${nodes} and on (cluster, pool) ${spot})`;

/** The share of `part` in `all`, in each cluster or in all of them: 0 if there is no part, and no value if there are no nodes. */
function share(part: string, all: string, by: 'cluster' | ''): string {
  const sum = (series: string) => (by === '' ? `sum(${series})` : `sum by (${by}) (${series})`);
  return `(${sum(part)} or ${sum(all)} * 0) / (${sum(all)} > 0)`;
}

const patchedShare = (by: 'cluster' | '') => `1 - ${share(unpatched, released, by)}`;

/** The first screen. */
export function clusterSummary(): PanelBuilder[] {
  const figure = { width: 4, height: 4 };
  return [
    stat(
      {
        ...figure,
        title: 'Clusters',
        asks: 'How many clusters run the operator? A cluster is missing if Prometheus receives no metrics of its operator.',
        alerts: ['WindowsPoolOperatorDown'],
        queries: [{ expr: `count(count by (cluster) (${ofFleetOperators('windowspool_build_info')}))` }],
      },
      { steps: NEUTRAL, none: 'no operator' },
    ),
    stat(
      {
        ...figure,
        title: 'Pools not Ready',
        asks: 'How many pools of all clusters are not Ready? The table below lists them.',
        alerts: ['WindowsPoolNotReady', 'WindowsPoolCreationStuck'],
        queries: [{ expr: `sum(${notReady})` }],
      },
      { steps: NONE_IS_GOOD, none: 'no pools' },
    ),
    stat(
      {
        ...figure,
        title: 'Stalled pools',
        asks: 'How many pools of all clusters are Stalled, so that the operator cannot apply their spec until you fix the cause?',
        alerts: ['WindowsPoolStalled'],
        queries: [{ expr: `sum(${stalled})` }],
      },
      { steps: NONE_IS_GOOD },
    ),
    stat(
      {
        ...figure,
        title: 'Firing alerts',
        asks: 'How many of the alerts in config/prometheus fire in all clusters? Always 0 if the rules are not installed.',
        queries: [{ expr: `count(${firingAlerts(false)}) or vector(0)` }],
      },
      { steps: NONE_IS_GOOD },
    ),
    stat(
      {
        ...figure,
        title: 'Patched nodes',
        asks: `Which share of the nodes has recent Windows patches? Counts nodes of node groups whose AMI release is at most ${PATCHED_DAYS} days old, or the newest one.`,
        alerts: ['WindowsPoolReleaseOld'],
        unit: 'percentunit',
        queries: [{ expr: patchedShare('') }],
      },
      { steps: SHARE, none: 'unknown' },
    ),
    stat(
      {
        ...figure,
        title: 'Spot nodes',
        asks: 'Which share of the nodes is Spot capacity, which AWS can reclaim?',
        unit: 'percentunit',
        queries: [{ expr: share(onSpot, nodes, '') }],
      },
      { steps: NEUTRAL, none: 'no nodes' },
    ),
    clusterTable(),
    unreadyPools(),
  ];
}

function clusterTable(): PanelBuilder {
  return table(
    {
      title: 'Clusters by state',
      asks: 'Which clusters need attention? Click a cluster to open its dashboard.',
      width: 14,
      height: 10,
      queries: [
        { expr: `count by (cluster) (${info})` },
        { expr: `sum by (cluster) (${notReady})` },
        { expr: `sum by (cluster) (${nodes})` },
        { expr: `sum by (cluster) (${verified})` },
        { expr: patchedShare('cluster') },
        { expr: share(onSpot, nodes, 'cluster') },
        { expr: `count by (cluster) (${firingAlerts(false)})` },
      ],
    },
    [
      { field: 'cluster', title: 'Cluster', link: TO_CLUSTER },
      { field: 'Value #A', title: 'Pools' },
      { field: 'Value #B', title: 'Not Ready', steps: NONE_IS_GOOD },
      { field: 'Value #C', title: 'Nodes' },
      { field: 'Value #D', title: 'Verified' },
      { field: 'Value #E', title: 'Patched', unit: 'percentunit', steps: SHARE },
      { field: 'Value #F', title: 'Spot', unit: 'percentunit' },
      { field: 'Value #G', title: 'Alerts', steps: NONE_IS_GOOD },
    ],
    'no pools',
  );
}

function unreadyPools(): PanelBuilder {
  const reason = ofFleet('windowspool_status_condition_reason', ['pool', 'reason'], { type: 'Ready' });
  return table(
    {
      title: 'Pools that are not Ready',
      asks: 'Which pools are not Ready, and why? Click a pool to open its dashboard.',
      alerts: ['WindowsPoolNotReady'],
      width: 10,
      height: 10,
      queries: [{ expr: `${reason} and on (cluster, pool) ${notReady} == 1` }],
    },
    [
      { field: 'cluster', title: 'Cluster', link: TO_CLUSTER },
      { field: 'pool', title: 'Pool', link: TO_POOL_OF_CLUSTER },
      { field: 'reason', title: 'Reason of Ready' },
    ],
  );
}

/** How long Microsoft supports the Windows versions, and where they run. */
export function windowsVersions(): PanelBuilder[] {
  const byVersion = (series: string, operation: 'sum' | 'count' | 'max') =>
    `${operation} by (windows_version) (${series} * on (cluster, pool) group_left (windows_version) ${versions})`;
  return [
    table(
      {
        title: 'Versions and end of support',
        asks: 'Which Windows versions run, and until when does Microsoft publish security updates for them (end of extended support)?',
        width: 12,
        queries: [
          { expr: byVersion(info, 'count') },
          { expr: byVersion(nodes, 'sum') },
          { expr: `${byVersion(ended, 'max')} * 1000` },
          { expr: `${byVersion(ended, 'max')} - time()` },
        ],
      },
      [
        { field: 'windows_version', title: 'Windows' },
        { field: 'Value #A', title: 'Pools' },
        { field: 'Value #B', title: 'Nodes' },
        { field: 'Value #C', title: 'End of support', unit: 'dateTimeAsIso' },
        { field: 'Value #D', title: 'Time left', unit: 's', steps: SUPPORT_LEFT },
      ],
      'no pools',
    ),
    table(
      {
        title: 'Versions by cluster',
        asks: 'In which clusters does each Windows version run, and on how many nodes?',
        width: 12,
        queries: [
          {
            expr: `sum by (cluster, windows_version) (${nodes} * on (cluster, pool) group_left (windows_version) ${versions})`,
          },
        ],
      },
      [
        { field: 'cluster', title: 'Cluster', link: TO_CLUSTER },
        { field: 'windows_version', title: 'Windows' },
        { field: 'Value', title: 'Nodes' },
      ],
      'no pools',
    ),
  ];
}

/** The age of the AMI releases. */
export function patches(): PanelBuilder[] {
  return [
    bars(
      {
        title: 'Patched nodes by cluster',
        asks: 'In which clusters do nodes lack recent Windows patches?',
        alerts: ['WindowsPoolReleaseOld'],
        unit: 'percentunit',
        width: 12,
        queries: [{ expr: `sort(${patchedShare('cluster')})`, legend: '{{cluster}}' }],
      },
      { steps: SHARE, none: 'unknown' },
    ),
    table(
      {
        title: 'Oldest AMI releases',
        asks: 'Which 20 pools have the oldest Windows patches, and when does AWS make their AMI private? After that, no node can be started.',
        alerts: ['WindowsPoolAmiNearEnd'],
        width: 12,
        queries: [
          { expr: `topk(20, time() - ${release})` },
          {
            expr: `${ofFleet('windowspool_node_group_release_end_timestamp_seconds', ONE_VALUE)} - time() and on (cluster, pool) topk(20, time() - ${release})`,
          },
        ],
      },
      [
        { field: 'cluster', title: 'Cluster', link: TO_CLUSTER },
        { field: 'pool', title: 'Pool', link: TO_POOL_OF_CLUSTER },
        { field: 'Value #A', title: 'Age', unit: 's', steps: RELEASE_AGE },
        {
          field: 'Value #B',
          title: 'Private in',
          unit: 's',
          steps: ['red', [14 * DAY, 'yellow'], [30 * DAY, 'green']],
        },
      ],
      'unknown',
    ),
  ];
}

/** Nodes over time. */
export function fleetCapacity(): PanelBuilder[] {
  const capacity = ofFleet('windowspool_node_group_info', ['pool', 'capacity_type']);
  return [
    graph(
      {
        title: 'Nodes by capacity type',
        asks: 'How many nodes run on demand, and how many on Spot capacity? Existing nodes have no capacity type.',
        width: 12,
        queries: [
          {
            expr: `sum by (capacity_type) (${nodes} * on (cluster, pool) group_left (capacity_type) ${capacity})`,
            legend: '{{capacity_type}}',
          },
        ],
      },
      { stacked: true },
    ),
    bars(
      {
        title: 'Spot nodes by cluster',
        asks: 'Which share of the nodes of each cluster is Spot capacity?',
        unit: 'percentunit',
        width: 12,
        queries: [{ expr: `sort_desc(${share(onSpot, nodes, 'cluster')})`, legend: '{{cluster}}' }],
      },
      { steps: NEUTRAL, none: 'no nodes' },
    ),
    graph({
      title: 'Missing nodes by cluster',
      asks: 'In which clusters have fewer nodes joined than desired? During updates and growth, nodes are missing for a short time.',
      alerts: ['WindowsPoolNodesMissing'],
      width: 12,
      queries: [
        { expr: `sum by (cluster) (clamp_min(${desired} - on (cluster, pool) ${nodes}, 0))`, legend: '{{cluster}}' },
      ],
    }),
    graph({
      title: 'Nodes by cluster',
      asks: 'How many Windows nodes does each cluster have?',
      width: 12,
      queries: [{ expr: `sum by (cluster) (${nodes})`, legend: '{{cluster}}' }],
    }),
  ];
}

/** The operators. */
export function fleetOperators(): PanelBuilder[] {
  const age = ofFleet('windowspool_status_confirmed_timestamp_seconds', ONE_VALUE);
  return [
    table(
      {
        title: 'Operators by version',
        asks: 'Which clusters run which version of the operator, with how many replicas and leaders, and how old is the oldest status of a pool?',
        alerts: ['WindowsPoolOperatorNoLeader', 'WindowsPoolStatusStale'],
        width: 24,
        queries: [
          { expr: `count by (cluster, version) (${ofFleetOperators('windowspool_build_info')})` },
          { expr: `sum by (cluster) (${ofFleetOperators('leader_election_master_status')})` },
          { expr: `max by (cluster) (time() - ${age})` },
        ],
      },
      [
        { field: 'cluster', title: 'Cluster', link: TO_CLUSTER },
        { field: 'version', title: 'Version' },
        { field: 'Value #A', title: 'Replicas' },
        { field: 'Value #B', title: 'Leaders', steps: ['red', [1, 'green'], [2, 'yellow']] },
        {
          field: 'Value #C',
          title: 'Oldest status',
          unit: 's',
          steps: ['green', [30 * 60, 'yellow'], [60 * 60, 'red']],
        },
      ],
      'no operator',
    ),
  ];
}
