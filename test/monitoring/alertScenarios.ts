/**
 * What one cause makes fire, from its beginning to its end: the series of all metrics that the operator shows then, in promtool's notation.
 */

/** The series of a scenario: by their names, or by the rest after `windowspool_`. */
type Series = Readonly<Record<string, string>>;

export interface Scenario {
  readonly what: string;
  readonly series: Series;
  /** Minutes between two samples. Default: 1. */
  readonly step?: number;
  /** In minutes. */
  readonly length: number;
  /** `ALERT/severity` that fire at any time, each with the first minute of every fifth in which it fires. */
  readonly fires: Readonly<Record<string, number>>;
}

const day = 24 * 60;
const type = (name: string, status = 'True') => `status_condition{type="${name}",status="${status}"}`;
const reasonOf = (name: string, reason: string) => `status_condition_reason{type="${name}",reason="${reason}"}`;
const group = (status: string) => `node_group_status{status="${status}"}`;
const nodes = (state: string) => `nodes{state="${state}"}`;

/** The metrics with the label of the pool, and its namespace, as Prometheus adds it. */
function ofWeb(series: Series): Series {
  const named = Object.entries(series).map(([name, values]) => {
    const [, metric = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(name) ?? [];
    const all = ['namespace="winpool-system"', 'pool="web"', ...(labels ? [labels] : [])];
    return [`windowspool_${metric}{${all.join(',')}}`, values];
  });
  return Object.fromEntries(named);
}

/** A pool of three nodes that has been Ready since it was an hour old. */
const settled: Series = {
  'info{windows_version="Windows2022",source="nodeGroup",verification_policy="Report"}': '1x600',
  created_timestamp_seconds: '-86400x600',
  first_ready_timestamp_seconds: '-82800x600',
  paused: '0x600',
  [type('Ready')]: '1x600',
  [reasonOf('Ready', 'EnoughNodesVerified')]: '1x600',
  [type('PrerequisitesMet')]: '1x600',
  [reasonOf('PrerequisitesMet', 'Met')]: '1x600',
  [reasonOf('NodesVerified', 'AllNodesVerified')]: '1x600',
  [nodes('verified')]: '3x600',
  [nodes('joining')]: '0x600',
  [nodes('failing')]: '0x600',
  nodes_desired: '3x600',
  nodes_min: '2x600',
  nodes_max: '5x600',
  nodes_max_unavailable: '1x600',
  [group('ACTIVE')]: '1x600',
};

/** A pool that has never been Ready. */
function created(minutes: number): Series {
  const { first_ready_timestamp_seconds: _never, ...rest } = settled;
  return {
    ...rest,
    created_timestamp_seconds: `0x${minutes}`,
    [type('Ready')]: `0x${minutes}`,
    [reasonOf('Ready', 'EnoughNodesVerified')]: '_',
    [nodes('verified')]: `0x${minutes}`,
    [group('ACTIVE')]: '_',
  };
}

/** The nodes leave after a quarter of an hour. */
function deleted(minutes: number, others: Series = {}): Series {
  const gone = (before: string, since: string) => `${before}x9 ${since}x${minutes - 1} stale`;
  const rest = Object.entries(settled).map(([name, values]) => [name, `${values.split('x')[0]}x${9 + minutes} stale`]);
  return {
    ...Object.fromEntries(rest),
    deletion_timestamp_seconds: `_x10 600x${minutes - 1} stale`,
    [type('Ready')]: gone('1', '0'),
    [reasonOf('Ready', 'EnoughNodesVerified')]: '1x9 stale',
    [reasonOf('Ready', 'Deleting')]: `_x10 1x${minutes - 1} stale`,
    [nodes('verified')]: `3x24 0x${minutes - 15} stale`,
    [group('ACTIVE')]: '1x9 stale',
    [group('DELETING')]: `_x10 1x${minutes - 1} stale`,
    ...others,
  };
}

/** EKS tries for 20 minutes; the operator waits for 15, then the deletion takes 5. */
const FAILURES = 6;
const cycle = (creating: string, failed: string, deleting: string) =>
  Array.from({ length: FAILURES }, () => `${creating}x19 ${failed}x14 ${deleting}x4`).join(' ');

export const scenarios: readonly Scenario[] = [
  {
    what: 'a new pool, whose nodes are verified after 50 minutes',
    length: 120,
    series: {
      ...created(120),
      [type('Ready')]: '0x49 1x70',
      first_ready_timestamp_seconds: '_x50 3000x70',
      [reasonOf('Ready', 'Creating')]: '1x49 stale',
      [nodes('verified')]: '0x49 3x70',
      [group('CREATING')]: '1x49 stale',
      [group('ACTIVE')]: '_x50 1x70',
    },
    fires: {},
  },
  {
    what: 'a new pool, whose nodes never join',
    length: 240,
    series: {
      ...created(240),
      [reasonOf('Ready', 'Joining')]: '1x40 stale',
      [reasonOf('Ready', 'NodesMissing')]: '_x41 1x199',
      [group('ACTIVE')]: '_x20 1x220',
    },
    fires: { 'WindowsPoolCreationStuck/warning': 65 },
  },
  {
    what: 'a new pool, whose node group EKS fails to create again and again',
    length: 240,
    series: {
      ...created(240),
      [reasonOf('Ready', 'Creating')]: cycle('1', '_', '_'),
      [reasonOf('Ready', 'CreateFailed')]: cycle('_', '1', '_'),
      [reasonOf('Ready', 'Deleting')]: cycle('_', '_', '1'),
      [type('Stalled')]: cycle('_', '1', '_'),
      [reasonOf('Stalled', 'CreateFailed')]: cycle('_', '1', '_'),
      [group('CREATING')]: cycle('1', '_', '_'),
      [group('CREATE_FAILED')]: cycle('_', '1', '_'),
      [group('DELETING')]: cycle('_', '_', '1'),
      'node_group_health_issues{code="NodeCreationFailure"}': cycle('_', '1', '1'),
    },
    fires: { 'WindowsPoolNodeGroupCreateFailed/warning': 25 },
  },
  {
    what: 'a pool that has no node for a day after its creation',
    length: 2 * day,
    step: 5,
    series: {
      ...created(600),
      [reasonOf('Ready', 'NodesMissing')]: '1x600',
    },
    fires: {
      'WindowsPoolCreationStuck/warning': 65,
      'WindowsPoolNodesMissing/warning': day + 5,
      'WindowsPoolNotReady/critical': day + 5,
    },
  },
  {
    what: 'an upgrade from a version that did not record when an old pool was Ready, while the pool lacks nodes',
    length: 240,
    series: {
      ...created(240),
      created_timestamp_seconds: '-864000x240',
      [reasonOf('Ready', 'NodesMissing')]: '1x240',
    },
    fires: { 'WindowsPoolNodesMissing/warning': 30, 'WindowsPoolNotReady/critical': 30 },
  },
  {
    what: 'a pool that is paused from its creation until its second day, and gets its nodes half an hour later',
    length: 2 * day,
    step: 5,
    series: {
      ...created(600),
      paused: '1x399 0x200',
      paused_start_timestamp_seconds: '0x399 stale',
      [type('Ready')]: '0x406 1x193',
      first_ready_timestamp_seconds: '_x407 122100x193',
      [reasonOf('Ready', 'Creating')]: '1x406 stale',
      [nodes('verified')]: '0x406 3x193',
      nodes_desired: '_x407 3x193',
    },
    fires: { 'WindowsPoolPausedLong/warning': day + 10 },
  },
  {
    what: 'a deletion that takes 50 minutes',
    length: 120,
    series: deleted(50),
    fires: {},
  },
  {
    what: 'a deletion that EKS cannot complete',
    length: 240,
    series: deleted(200, {
      [group('DELETING')]: '_x10 1x30 stale',
      [group('DELETE_FAILED')]: '_x41 1x168 stale',
      [type('Stalled')]: '_x41 1x168 stale',
      [reasonOf('Stalled', 'DeleteFailed')]: '_x41 1x168 stale',
      'node_group_health_issues{code="Ec2SecurityGroupDeletionFailure"}': '_x41 1x168 stale',
    }),
    fires: { 'WindowsPoolDeletionStuck/warning': 55 },
  },
  {
    what: 'a pause of two days',
    length: 2 * day,
    step: 5,
    series: { ...settled, paused: '0x1 1x600', paused_start_timestamp_seconds: '_x2 600x600' },
    fires: { 'WindowsPoolPausedLong/warning': day + 20 },
  },
  {
    what: 'a paused pool that loses two of its three nodes',
    length: 240,
    series: {
      ...settled,
      paused: '1x300',
      paused_start_timestamp_seconds: '0x300',
      [type('Ready')]: '1x29 0x270',
      [reasonOf('Ready', 'EnoughNodesVerified')]: '1x29 stale',
      [reasonOf('Ready', 'NodesFailing')]: '_x30 1x270',
      [reasonOf('NodesVerified', 'AllNodesVerified')]: '1x29 stale',
      [reasonOf('NodesVerified', 'NotReady')]: '_x30 1x270',
      [nodes('verified')]: '3x29 1x270',
      [nodes('failing')]: '0x29 2x270',
    },
    fires: { 'WindowsPoolNodesUnverified/warning': 45, 'WindowsPoolNotReady/critical': 60 },
  },
  {
    what: 'a pool of five nodes, of which EC2 cannot start two',
    length: 240,
    series: { ...settled, nodes_desired: '3x29 5x270', [nodes('verified')]: '3x300' },
    fires: { 'WindowsPoolNodesMissing/warning': 60 },
  },
  {
    what: 'a pool that grows by one node every 20 minutes, each of which joins within 15',
    length: 240,
    series: {
      ...settled,
      nodes_desired: Array.from({ length: 13 }, (_, n) => `${3 + n}x19`).join(' '),
      [nodes('verified')]: Array.from({ length: 13 }, (_, n) => `${2 + n}x14 ${3 + n}x4`).join(' '),
    },
    fires: {},
  },
  ...[
    [5, 1],
    [50, 10],
  ].map(
    ([size = 0, limit = 0]): Scenario => ({
      what: `an update of ${size} nodes, ${limit} at a time, that does not end`,
      length: 300,
      series: {
        ...settled,
        [nodes('verified')]: `${size}x600`,
        nodes_desired: `${size}x600`,
        nodes_max_unavailable: `${limit}x600`,
        [group('ACTIVE')]: '1x9 stale',
        [group('UPDATING')]: '_x10 1x600',
        'update_in_progress{type="VersionUpdate"}': '_x10 1x600',
        'update_start_timestamp_seconds{type="VersionUpdate"}': '_x10 600x600',
      },
      fires: { 'WindowsPoolUpdateStuck/warning': 10 + 60 + 30 * (size / limit) + 10 },
    }),
  ),
];

/** The series of a scenario as promtool reads them. */
export function seriesOf({ series }: Scenario): Series {
  return { 'up{job="windowspool-operator",namespace="winpool-system"}': '1x600', ...ofWeb(series) };
}
