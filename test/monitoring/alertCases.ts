/** When each alert fires, and when it does not: input for `promtool test rules`. Time begins in 1970. */

export interface AlertCase {
  readonly alert: string;
  /** The case, as the end of "fires ...". */
  readonly when: string;
  /** The interval between two samples, and between two evaluations, such as 1m. */
  readonly interval?: string;
  /** Series and their values in promtool's notation: `0x3 1` is 0, 0, 0, 0, 1. */
  readonly series: Readonly<Record<string, string>>;
  /** Times at which it does not fire: right before it fires, and when the cause is gone. */
  readonly quiet: readonly string[];
  /** The time at which it fires first. Absent: it never fires. */
  readonly fires?: {
    readonly at: string;
    /** Later times at which it still fires with the same texts. */
    readonly on?: readonly string[];
    readonly labels?: Readonly<Record<string, string>>;
    /** What Prometheus writes for the value in its texts. */
    readonly value?: string;
  };
}

const IS = (type: string) => `windowspool_status_condition{pool="web",type="${type}",status="True"}`;
const REASON = (type: string, reason: string) =>
  `windowspool_status_condition_reason{pool="web",type="${type}",reason="${reason}"}`;
const READY = IS('Ready');
const MET = IS('PrerequisitesMet');
const VERIFIED = 'windowspool_nodes{pool="web",state="verified"}';
const MIN = 'windowspool_nodes_min{pool="web"}';
const INFO = 'windowspool_info{pool="web",windows_version="Windows2022",source="existingNodes"}';
const GATED = (labels = '') => `windowspool_info{pool="web",verification_policy="Gate"${labels}}`;
const FIRST_READY = 'windowspool_first_ready_timestamp_seconds{pool="web"}';
const CREATED = 'windowspool_created_timestamp_seconds{pool="web"}';
const DELETION = 'windowspool_deletion_timestamp_seconds{pool="web"}';
const PAUSED = 'windowspool_paused{pool="web"}';
const GROUP = (status: string) => `windowspool_node_group_status{pool="web",status="${status}"}`;
const CERTIFICATE = (what: 'expiration' | 'not_before', instance = 'a') =>
  `windowspool_metrics_certificate_${what}_timestamp_seconds{namespace="winpool-system",instance="${instance}"}`;
const JOB = 'job="windowspool-operator"';
const KERNEL = (version: string) => `windowspool_nodes_by_kernel{pool="web",kernel_version="${version}"}`;
const CALLS = (result: string) =>
  `windowspool_aws_requests_total{service="eks",operation="DescribeNodegroup",result="${result}"}`;
const UP = (instance: string) => `up{job="windowspool-operator",instance="${instance}"}`;
const UP_IN = (cluster: string) => `up{job="windowspool-operator",instance="a",cluster="${cluster}"}`;
const LEADS = (instance: string) =>
  `leader_election_master_status{job="windowspool-operator",name="windowspool-operator",instance="${instance}"}`;
const COMMITTED = (node: string) => `windows_memory_committed_bytes{pool="web",node="${node}"}`;
const COMMIT_LIMIT = (node: string, pool = 'web') => `windows_memory_commit_limit{pool="${pool}",node="${node}"}`;
const VOLUME = (what: 'free' | 'size', volume: string) =>
  `windows_logical_disk_${what}_bytes{pool="web",node="ip-1",volume="${volume}"}`;
const web = { pool: 'web' };

export const alertCases: readonly AlertCase[] = [
  {
    alert: 'WindowsPoolNotReady',
    when: 'critically after half an hour with too few verified nodes, and not before',
    series: {
      [READY]: '0x34 1x10',
      [REASON('Ready', 'CreateFailed')]: '1x34 stale',
      [REASON('Ready', 'EnoughNodesVerified')]: '_x35 1x10',
      [VERIFIED]: '1x34 2x10',
      [MIN]: '2x45',
      [FIRST_READY]: '-600x45',
      [PAUSED]: '0x45',
    },
    quiet: ['29m', '40m'],
    fires: { at: '30m', on: ['39m'], labels: { ...web, reason: 'CreateFailed', severity: 'critical' } },
  },
  {
    alert: 'WindowsPoolNotReady',
    when: 'after half an hour although the reason changes, with the last one',
    series: {
      [READY]: '0x50',
      [REASON('Ready', 'Creating')]: '1x19 stale',
      [REASON('Ready', 'CreateFailed')]: '_x20 1x30',
      [VERIFIED]: '0x50',
      [MIN]: '2x50',
      [FIRST_READY]: '-600x50',
    },
    quiet: ['29m'],
    fires: { at: '30m', labels: { ...web, reason: 'CreateFailed' } },
  },
  {
    alert: 'WindowsPoolNotReady',
    when: 'with the new reason alone 5 minutes after the reason changed',
    series: {
      [READY]: '0x50',
      [REASON('Ready', 'Creating')]: '1x39 stale',
      [REASON('Ready', 'CreateFailed')]: '_x40 1x10',
      [VERIFIED]: '0x50',
      [MIN]: '2x50',
      [FIRST_READY]: '-600x50',
    },
    quiet: ['29m'],
    fires: { at: '46m', labels: { ...web, reason: 'CreateFailed' } },
  },
  {
    alert: 'WindowsPoolNotReady',
    when: 'for existing nodes none of which is verified',
    series: {
      [READY]: '0x40',
      [REASON('Ready', 'NoNodesFound')]: '1x40',
      [VERIFIED]: '0x40',
      [INFO]: '1x40',
      [FIRST_READY]: '-600x40',
    },
    quiet: ['29m'],
    fires: { at: '30m', labels: { ...web, reason: 'NoNodesFound' } },
  },
  {
    alert: 'WindowsPoolNotReady',
    when: 'with a warning if enough nodes are verified',
    series: {
      [READY]: '0x34 1x10',
      [REASON('Ready', 'NotOwned')]: '1x34 stale',
      [VERIFIED]: '2x45',
      [MIN]: '2x45',
      [FIRST_READY]: '-600x45',
    },
    quiet: ['29m', '40m'],
    fires: { at: '30m', labels: { ...web, reason: 'NotOwned', severity: 'warning' } },
  },
  {
    alert: 'WindowsPoolNotReady',
    when: 'on while another replica becomes the leader, and does not start again then',
    series: {
      [READY]: '0x34 stale _x3 0x10 1x10',
      [REASON('Ready', 'Creating')]: '1x34 stale _x3 1x10 stale',
      [VERIFIED]: '0x34 stale _x3 0x20',
      [MIN]: '2x34 stale _x3 2x20',
      [FIRST_READY]: '-600x34 stale _x3 -600x20',
    },
    quiet: ['29m', '55m'],
    fires: { at: '30m', on: ['36m', '38m', '39m', '48m'], labels: { ...web, reason: 'Creating' } },
  },
  {
    alert: 'WindowsPoolNotReady',
    when: 'of a paused pool that lacks nodes',
    series: {
      [READY]: '0x40',
      [REASON('Ready', 'NodesMissing')]: '1x40',
      [VERIFIED]: '0x40',
      [MIN]: '2x40',
      [FIRST_READY]: '-600x40',
      [PAUSED]: '1x40',
    },
    quiet: ['29m'],
    fires: { at: '30m', labels: { ...web, reason: 'NodesMissing', severity: 'critical' } },
  },
  {
    alert: 'WindowsPoolNotReady',
    when: 'never with a warning for a pool that is paused, nor for one that is being deleted',
    series: {
      [READY]: '0x60',
      [REASON('Ready', 'NotOwned')]: '1x60',
      [VERIFIED]: '2x60',
      [MIN]: '2x60',
      [FIRST_READY]: '-600x60',
      [PAUSED]: '1x60',
      'windowspool_status_condition{pool="leaves",type="Ready",status="True"}': '0x60',
      'windowspool_status_condition_reason{pool="leaves",type="Ready",reason="Deleting"}': '1x60',
      'windowspool_nodes{pool="leaves",state="verified"}': '0x60',
      'windowspool_nodes_min{pool="leaves"}': '2x60',
      'windowspool_first_ready_timestamp_seconds{pool="leaves"}': '-600x60',
      'windowspool_deletion_timestamp_seconds{pool="leaves"}': '0x60',
    },
    quiet: ['30m', '60m'],
  },
  {
    alert: 'WindowsPoolNotReady',
    when: 'never for a pool that was never Ready, nor for one that was Ready within half an hour, nor for one that is gone',
    series: {
      [READY]: '0x60',
      [REASON('Ready', 'Creating')]: '1x60',
      [VERIFIED]: '0x60',
      [MIN]: '2x60',
      'windowspool_first_ready_timestamp_seconds{pool="new"}': '-600x60',
      'windowspool_first_ready_timestamp_seconds{pool="gone"}': '-600x25 stale',
      'windowspool_status_condition{pool="new",type="Ready",status="True"}': '1 0x24 1 0x24 1 0x10',
      'windowspool_status_condition_reason{pool="new",type="Ready",reason="Updating"}': '1x60',
      'windowspool_status_condition{pool="gone",type="Ready",status="True"}': '0x25 stale',
      'windowspool_status_condition_reason{pool="gone",type="Ready",reason="Deleting"}': '1x25 stale',
      'windowspool_nodes{pool="gone",state="verified"}': '0x25 stale',
    },
    quiet: ['30m', '45m', '60m'],
  },
  {
    alert: 'WindowsPoolCreationStuck',
    when: 'an hour after the creation of a pool that was never Ready, until it is, with the last reason',
    series: {
      [CREATED]: '0x90',
      [REASON('Ready', 'Creating')]: '1x39 stale',
      [REASON('Ready', 'Joining')]: '_x40 1x40 stale',
      [REASON('Ready', 'EnoughNodesVerified')]: '_x81 1x10',
      [FIRST_READY]: '_x81 4860x10',
    },
    quiet: ['60m', '87m'],
    fires: { at: '61m', on: ['80m'], labels: { ...web, reason: 'Joining' } },
  },
  {
    alert: 'WindowsPoolCreationStuck',
    when: 'never for a pool that is paused or being deleted',
    series: {
      [CREATED]: '0x120',
      [REASON('Ready', 'Paused')]: '1x120',
      [PAUSED]: '1x120',
      'windowspool_created_timestamp_seconds{pool="leaves"}': '0x120',
      'windowspool_status_condition_reason{pool="leaves",type="Ready",reason="Deleting"}': '1x120',
      'windowspool_deletion_timestamp_seconds{pool="leaves"}': '0x120',
    },
    quiet: ['61m', '120m'],
  },
  {
    alert: 'WindowsPoolNodeGroupCreateFailed',
    when: 'after 5 minutes, on while the operator retries, and not after the creation succeeded',
    series: {
      [INFO]: '1x120',
      [GROUP('CREATE_FAILED')]: '1x14 stale',
      [GROUP('DELETING')]: '_x15 1x4 stale',
      [GROUP('CREATING')]: '_x25 1x19 stale',
      [GROUP('ACTIVE')]: '_x45 1x75',
    },
    quiet: ['4m', '51m'],
    fires: { at: '5m', on: ['15m', '22m', '44m'], labels: web },
  },
  {
    alert: 'WindowsPoolNodeGroupCreateFailed',
    when: 'never for a pool that is paused, being deleted, or gone',
    series: {
      [INFO]: '1x60',
      [GROUP('CREATE_FAILED')]: '1x60',
      [PAUSED]: '1x60',
      'windowspool_info{pool="leaves"}': '1x60',
      'windowspool_node_group_status{pool="leaves",status="CREATE_FAILED"}': '1x60',
      'windowspool_deletion_timestamp_seconds{pool="leaves"}': '0x60',
      'windowspool_info{pool="gone"}': '1x3 stale',
      'windowspool_node_group_status{pool="gone",status="CREATE_FAILED"}': '1x3 stale',
    },
    quiet: ['5m', '30m'],
  },
  {
    alert: 'WindowsPoolDeletionStuck',
    when: 'an hour and 10 minutes after it was requested, until the pool is gone',
    series: { [DELETION]: '0x80 stale', [GROUP('DELETING')]: '1x80 stale' },
    quiet: ['70m', '87m'],
    fires: { at: '71m', labels: web, value: '1h 11m 0s' },
  },
  {
    alert: 'WindowsPoolDeletionStuck',
    when: '10 minutes after EKS failed to delete the node group',
    series: { [DELETION]: '0x40', [GROUP('DELETING')]: '1x19 stale', [GROUP('DELETE_FAILED')]: '_x20 1x20' },
    quiet: ['29m'],
    fires: { at: '30m', labels: web, value: '30m 0s' },
  },
  {
    alert: 'WindowsPoolPausedLong',
    when: 'a day after the pause began, also when the operator restarts, until it ends',
    interval: '5m',
    series: { 'windowspool_paused_start_timestamp_seconds{pool="web"}': '0x200 stale _x5 0x90 stale' },
    quiet: ['1440m', '1495m'],
    fires: { at: '1450m', labels: web, value: '1d 0h 10m 0s' },
  },
  {
    alert: 'WindowsPoolStalled',
    when: 'after 5 minutes',
    series: { [IS('Stalled')]: '1x9 stale', [REASON('Stalled', 'UpdateFailed')]: '1x9 stale' },
    quiet: ['4m', '15m'],
    fires: { at: '5m', labels: { ...web, reason: 'UpdateFailed' } },
  },
  {
    alert: 'WindowsPoolStalled',
    when: 'never for a pool that is paused',
    series: {
      [IS('Stalled')]: '1x30',
      [REASON('Stalled', 'UpdateFailed')]: '1x30',
      [PAUSED]: '1x30',
    },
    quiet: ['5m', '30m'],
  },
  {
    alert: 'WindowsPoolPrerequisitesNotMet',
    when: 'after half an hour, of a pool that is Ready, too, with the last reason',
    series: {
      [MET]: '0x34 1x10',
      [REASON('PrerequisitesMet', 'NotChecked')]: '1x9 stale',
      [REASON('PrerequisitesMet', 'NoLinuxNode')]: '_x10 1x24 stale',
      [READY]: '1x45',
      [PAUSED]: '0x45',
    },
    quiet: ['29m', '40m'],
    fires: { at: '30m', labels: { ...web, reason: 'NoLinuxNode' } },
  },
  {
    alert: 'WindowsPoolPrerequisitesNotMet',
    when: 'never for a pool that is paused, nor for what could not be checked once in ten minutes',
    series: {
      [MET]: '0x60',
      [REASON('PrerequisitesMet', 'NoLinuxNode')]: '1x60',
      [PAUSED]: '1x60',
      'windowspool_status_condition{pool="new",type="PrerequisitesMet",status="True"}': '1 0x9 1 0x9 1 0x9 1 0x30',
      'windowspool_status_condition_reason{pool="new",type="PrerequisitesMet",reason="NotChecked"}': '1x64',
    },
    quiet: ['30m', '60m'],
  },
  {
    alert: 'WindowsPoolNodesUnverified',
    when: 'after a quarter of an hour, for failing nodes and not for joining ones',
    series: {
      'windowspool_nodes{pool="web",state="failing"}': '1x9 2x9 0x10',
      'windowspool_nodes{pool="web",state="verified"}': '3x29',
      [REASON('NodesVerified', 'WrongBuild')]: '1x9 stale',
      [REASON('NodesVerified', 'NodesFailing')]: '_x10 1x9 stale',
      'windowspool_nodes{pool="new",state="joining"}': '5x29',
      'windowspool_nodes{pool="new",state="failing"}': '0x29',
      'windowspool_status_condition_reason{pool="new",type="NodesVerified",reason="Joining"}': '1x29',
    },
    quiet: ['14m', '25m'],
    fires: { at: '15m', labels: { ...web, reason: 'NodesFailing' }, value: '2' },
  },
  {
    alert: 'WindowsPoolExporterMissing',
    when: 'for the nodes of a pool without metrics, and for no node of a pool in a cluster without windows_exporter',
    series: {
      'windowspool_nodes{pool="web",state="verified"}': '3x60',
      'windowspool_nodes{pool="seen",state="verified"}': '1x60',
      'windowspool_nodes{pool="elsewhere",state="verified",cluster="b"}': '3x60',
      [COMMIT_LIMIT('ip-1')]: '1x60',
      [COMMIT_LIMIT('ip-2')]: '_x40 1x20',
      [COMMIT_LIMIT('ip-3')]: '_x40 1x20',
      [COMMIT_LIMIT('ip-9', 'seen')]: '1x60',
    },
    // The recorded series of another group may be a sample older or not.
    quiet: ['29m', '45m'],
    fires: { at: '32m', labels: web, value: '2' },
  },
  {
    alert: 'WindowsPoolExporterMissing',
    when: 'not in a cluster where no node has windows_exporter',
    series: {
      'windowspool_nodes{pool="web",state="verified"}': '3x60',
      'windows_memory_commit_limit{node="db-1"}': '1x60',
    },
    quiet: ['45m'],
  },
  {
    alert: 'WindowsPoolNodeCommitMemoryHigh',
    when: 'after 10 minutes above 90% of the commit limit, for that node',
    series: {
      [COMMITTED('ip-1')]: '19x15 10x20',
      [COMMIT_LIMIT('ip-1')]: '20x40',
      [COMMITTED('ip-2')]: '18x40',
      [COMMIT_LIMIT('ip-2')]: '20x40',
    },
    quiet: ['9m', '25m'],
    fires: { at: '10m', labels: { ...web, node: 'ip-1' }, value: '95%' },
  },
  {
    alert: 'WindowsPoolNodeDiskSpaceLow',
    when: 'after a quarter of an hour with less than 15% free on a drive',
    series: {
      [VOLUME('free', 'C:')]: '5x20 25x20',
      [VOLUME('size', 'C:')]: '50x40',
      [VOLUME('free', 'HarddiskVolume1')]: '0x40',
      [VOLUME('size', 'HarddiskVolume1')]: '50x40',
    },
    quiet: ['14m', '30m'],
    fires: { at: '15m', labels: { ...web, node: 'ip-1', volume: 'C:' }, value: '10%' },
  },
  {
    alert: 'WindowsPoolNodesMissing',
    when: 'after half an hour with fewer nodes than desired, joining ones included, until they have joined',
    series: {
      'windowspool_nodes_desired{pool="web"}': '5x80',
      [VERIFIED]: '5x9 2x80',
      'windowspool_nodes{pool="web",state="joining"}': '0x9 1x39 3x40',
      [FIRST_READY]: '-600x80',
    },
    quiet: ['38m', '56m'],
    fires: { at: '39m', labels: web, value: '2' },
  },
  ...['update_in_progress', 'replacement_in_progress', 'canary_in_progress', 'deletion_timestamp_seconds'].map(
    (metric): AlertCase => ({
      alert: 'WindowsPoolNodesMissing',
      when: `never for a pool with windowspool_${metric}`,
      series: {
        'windowspool_nodes_desired{pool="web"}': '5x80',
        [VERIFIED]: '2x80',
        [FIRST_READY]: '-600x80',
        [`windowspool_${metric}{pool="web"}`]: '1x80',
      },
      quiet: ['40m', '80m'],
    }),
  ),
  {
    alert: 'WindowsPoolNodesMissing',
    when: 'never while nodes are replaced one after the other, nor for a pool that was never Ready',
    series: {
      'windowspool_nodes_desired{pool="web"}': '3x120',
      [VERIFIED]: '3x4 2x14 3x4 2x14 3x4 2x14 3x4 2x14 3x4 2x14',
      [FIRST_READY]: '-600x120',
      'windowspool_nodes_desired{pool="new"}': '3x120',
      'windowspool_nodes{pool="new",state="verified"}': '0x120',
    },
    quiet: ['40m', '60m', '80m'],
  },
  {
    alert: 'WindowsPoolMixedBuilds',
    when: 'after 6 hours',
    interval: '10m',
    series: { [KERNEL('10.0.20348.2762')]: '2x50', [KERNEL('10.0.20348.3091')]: '1x40 0x10' },
    quiet: ['350m', '420m'],
    fires: { at: '360m', labels: web, value: '2' },
  },
  ...[['replacement', 'draining'] as const, ['canary', 'waiting'] as const].map(
    ([operation, stage]): AlertCase => ({
      alert: 'WindowsPoolMixedBuilds',
      when: `never during a ${operation}, which can take days`,
      interval: '10m',
      series: {
        [KERNEL('10.0.20348.2762')]: '2x50',
        [KERNEL('10.0.20348.3091')]: '1x50',
        [`windowspool_${operation}_in_progress{pool="web",stage="${stage}"}`]: '1x50',
      },
      quiet: ['360m', '500m'],
    }),
  ),
  {
    alert: 'WindowsPoolMixedBuilds',
    when: 'never during an update, nor for one kernel version in two pools',
    interval: '10m',
    series: {
      [KERNEL('10.0.20348.2762')]: '2x50',
      [KERNEL('10.0.20348.3091')]: '1x50',
      'windowspool_update_in_progress{pool="web",type="VersionUpdate"}': '1x50',
      'windowspool_nodes_by_kernel{pool="one",kernel_version="10.0.20348.2762"}': '2x50',
      'windowspool_nodes_by_kernel{pool="two",kernel_version="10.0.26100.1"}': '2x50',
    },
    quiet: ['360m', '500m'],
  },
  {
    alert: 'WindowsPoolAmiNearEnd',
    when: '21 days before the end and an hour later, until a release with a later end is there',
    // 22 days, then 100.
    series: { 'windowspool_node_group_release_end_timestamp_seconds{pool="web"}': '1900800x1510 8640000x20' },
    quiet: ['1440m', '1500m', '1516m'],
    fires: { at: '1501m', labels: web, value: 'in 20d 22h 59m 0s' },
  },
  {
    alert: 'WindowsPoolReleaseOld',
    when: 'when the release is 60 days old and an hour later, though a newer one comes each month, until the pool has that',
    interval: '1h',
    // Of the second day; new ones of the third, the 32nd and the 62nd.
    series: {
      'windowspool_node_group_release_timestamp_seconds{pool="web"}': '86400x1475 5270400x20',
      'windowspool_node_group_latest_release_timestamp_seconds{pool="web"}': '172800x743 2678400x719 5270400x32',
      'windowspool_node_group_release_timestamp_seconds{pool="new"}': '172800x1495',
      'windowspool_node_group_latest_release_timestamp_seconds{pool="new"}': '172800x1495',
    },
    quiet: ['1464h', '1465h', '1478h'],
    fires: { at: '1466h', labels: web, value: '1970-01-02 00:00:00 +0000 UTC' },
  },
  {
    alert: 'WindowsPoolUpdateStuck',
    when: 'after an hour and half an hour for each round of maxUnavailable nodes, until the update ends',
    series: {
      'windowspool_update_start_timestamp_seconds{pool="web",type="VersionUpdate"}': '0x130 _x10',
      'windowspool_nodes_desired{pool="web"}': '7x140',
      'windowspool_nodes_max_unavailable{pool="web"}': '4x140',
    },
    quiet: ['120m', '125m', '142m'],
    fires: { at: '126m', labels: web, value: '2h 6m 0s' },
  },
  {
    alert: 'WindowsPoolReplacementStuck',
    when: 'after an hour and half an hour for each node, if one is replaced at a time, until it is complete',
    series: {
      'windowspool_replacement_start_timestamp_seconds{pool="web"}': '0x190 _x10',
      'windowspool_nodes_desired{pool="web"}': '4x200',
      'windowspool_nodes_max_unavailable{pool="web"}': '1x200',
    },
    quiet: ['180m', '185m', '202m'],
    fires: { at: '186m', labels: web, value: '3h 6m 0s' },
  },
  {
    alert: 'WindowsPoolNodeGroupDegraded',
    when: 'after 10 minutes',
    series: {
      'windowspool_node_group_status{pool="web",status="DEGRADED"}': '1x14 _x10',
      'windowspool_node_group_status{pool="web",status="ACTIVE"}': '_x15 1x10',
    },
    quiet: ['9m', '26m'],
    fires: { at: '10m', labels: { ...web, status: 'DEGRADED' } },
  },
  {
    alert: 'WindowsPoolNodeGroupHealthIssue',
    when: 'after 10 minutes, by code',
    series: { 'windowspool_node_group_health_issues{pool="web",code="InsufficientFreeAddresses"}': '1x14 _x10' },
    quiet: ['9m', '26m'],
    fires: { at: '10m', labels: { ...web, code: 'InsufficientFreeAddresses' } },
  },
  {
    alert: 'WindowsPoolDrainStuck',
    when: 'after 10 minutes, for nodes that are blocked and not for others',
    series: {
      'windowspool_nodes_leaving{pool="web",operation="Replace",reason="Requested",stage="blocked"}': '1x14 _x10',
      'windowspool_nodes_leaving{pool="new",operation="Replace",reason="Requested",stage="draining"}': '1x40',
    },
    quiet: ['9m', '26m'],
    fires: { at: '10m', labels: web, value: '1' },
  },
  {
    alert: 'WindowsPoolDrainStuck',
    when: 'also between two attempts to drain a canary',
    series: {
      'windowspool_nodes_leaving{pool="web",operation="DrainNodeGroup",reason="Requested",stage="blocked"}':
        '1x4 _x15 1x4 _x20',
      'windowspool_canary_in_progress{pool="web",stage="draining"}': '1x4 stale _x14 1x4 stale',
      'windowspool_canary_in_progress{pool="web",stage="blocked"}': '_x5 1x14 stale _x4 1x5 stale',
      'windowspool_canary_in_progress{pool="new",stage="draining"}': '1x40',
    },
    quiet: ['9m', '40m'],
    fires: { at: '10m', on: ['20m', '29m'], labels: web, value: '1' },
  },
  {
    alert: 'WindowsPoolRemediationShortCircuited',
    when: 'after a quarter of an hour',
    series: { 'windowspool_remediation_short_circuited{pool="web"}': '1x19 0x10' },
    quiet: ['14m', '25m'],
    fires: { at: '15m', labels: web },
  },
  {
    alert: 'WindowsPoolOperatorThrottled',
    when: 'after a quarter of an hour with more than a tenth',
    series: { [CALLS('throttled')]: '0+3x20 60x20', [CALLS('ok')]: '0+17x40' },
    quiet: ['15m', '26m'],
    fires: { at: '16m', value: '15%' },
  },
  {
    alert: 'WindowsPoolOperatorThrottled',
    when: 'never with less',
    series: { [CALLS('throttled')]: '0+1x60', [CALLS('ok')]: '0+10x60' },
    quiet: ['20m', '60m'],
  },
  {
    alert: 'WindowsPoolOperatorDown',
    when: 'after 5 minutes without any replica',
    series: { [UP('a')]: '1x5 0x10 1x10', [UP('b')]: '1x5 0x20' },
    quiet: ['10m', '17m'],
    fires: { at: '11m', labels: { severity: 'warning' } },
  },
  {
    alert: 'WindowsPoolOperatorDown',
    when: 'also when there is not even a target, until there is one',
    series: { [UP('a')]: '_x10 1x10' },
    quiet: ['4m', '11m'],
    fires: { at: '5m', labels: { severity: 'warning' } },
  },
  {
    alert: 'WindowsPoolOperatorDown',
    when: 'critically in the cluster with a gated pool, whose metrics end with the operator',
    series: {
      [UP_IN('north')]: '1x5 0x20',
      [UP_IN('south')]: '1x30',
      [GATED(',cluster="north"')]: '1x5 stale',
    },
    quiet: ['10m'],
    fires: { at: '11m', labels: { cluster: 'north', severity: 'critical' } },
  },
  {
    alert: 'WindowsPoolOperatorDown',
    when: 'for one of several clusters, whose operator does not answer',
    series: { [UP_IN('north')]: '1x30', [UP_IN('south')]: '1x5 0x10 1x10' },
    quiet: ['10m', '17m'],
    fires: { at: '11m', labels: { cluster: 'south', severity: 'warning' } },
  },
  {
    alert: 'WindowsPoolOperatorDown',
    when: 'critically with the cluster of a gated pool, of which not even a target is left, and not with a warning, too',
    series: {
      [UP_IN('north')]: '1x5 stale',
      [GATED(',cluster="north",namespace="winpool-system"')]: '1x5 stale',
    },
    quiet: ['10m'],
    fires: { at: '11m', labels: { cluster: 'north', namespace: 'winpool-system', severity: 'critical' } },
  },
  ...[
    { pool: 'a gated pool', severity: 'critical', series: { [GATED(',cluster="north"')]: '1x5 stale' } },
    { pool: 'no gated pool', severity: 'warning', series: {} },
  ].map(
    ({ pool, severity, series }): AlertCase => ({
      alert: 'WindowsPoolOperatorDown',
      when: `for one of two clusters, whose target disappears, with ${pool}`,
      series: { [UP_IN('north')]: '1x5 stale _x9 1x10', [UP_IN('south')]: '1x30', ...series },
      quiet: ['10m', '17m'],
      fires: { at: '11m', labels: { cluster: 'north', severity } },
    }),
  ),
  {
    alert: 'WindowsPoolOperatorDown',
    when: 'critically for more than a day, while nodes of a gated pool keep their taint',
    interval: '5m',
    series: { [UP_IN('north')]: '1 0x900', [GATED(',cluster="north"')]: '1 stale' },
    quiet: ['5m'],
    fires: { at: '10m', on: ['1500m', '4320m'], labels: { cluster: 'north', severity: 'critical' } },
  },
  {
    alert: 'WindowsPoolOperatorNoLeader',
    when: 'after 5 minutes, and not while one of two leads',
    series: { [LEADS('a')]: '0x30', [LEADS('b')]: '1x9 0x9 1x10' },
    quiet: ['9m', '14m', '20m'],
    fires: { at: '15m', labels: { severity: 'warning' } },
  },
  {
    alert: 'WindowsPoolOperatorNoLeader',
    when: 'critically with a gated pool',
    series: { [LEADS('a')]: '1x9 0x9', [GATED()]: '1x9 stale' },
    quiet: ['14m'],
    fires: { at: '15m', labels: { severity: 'critical' } },
  },
  {
    alert: 'WindowsPoolOperatorCertificateExpiring',
    when: 'when a fifth of the lifetime is left and a quarter of an hour later, until it is renewed',
    // Valid for 10 hours, and then for 10 more.
    series: {
      [CERTIFICATE('not_before')]: '0x500 30000x20',
      [CERTIFICATE('expiration')]: '36000x500 66000x20',
    },
    quiet: ['480m', '495m', '507m'],
    fires: { at: '496m', labels: { namespace: 'winpool-system' }, value: 'expires in 1h 44m 0s' },
  },
  {
    alert: 'WindowsPoolOperatorCertificateExpiring',
    when: 'for a replica that still serves the old certificate, while another has the new one',
    series: {
      [CERTIFICATE('not_before', 'a')]: '0x520',
      [CERTIFICATE('expiration', 'a')]: '36000x520',
      [CERTIFICATE('not_before', 'b')]: '24000x520',
      [CERTIFICATE('expiration', 'b')]: '60000x520',
    },
    quiet: ['480m', '495m'],
    fires: { at: '496m', labels: { namespace: 'winpool-system' }, value: 'expires in 1h 44m 0s' },
  },
  {
    alert: 'WindowsPoolOperatorCacheStale',
    when: 'after 10 minutes, and not for watches that work again before, nor for the ConfigMaps of pools',
    series: {
      [`reflector_failing{${JOB},name="nodes"}`]: '0x4 1x14 0x10',
      [`reflector_failing{${JOB},name="windowspools"}`]: '1x9 0 1x9 0x10',
      [`reflector_failing{${JOB},name="configmaps"}`]: '1x30',
    },
    quiet: ['14m', '20m'],
    fires: { at: '15m', on: ['19m'], labels: { name: 'nodes' } },
  },
  {
    alert: 'WindowsPoolOperatorCrdMismatch',
    when: 'after 30 minutes, and not during an upgrade',
    series: { [`windowspool_crd_version_mismatch{${JOB},namespace="winpool-system"}`]: '1x10 0x10 1x60' },
    quiet: ['10m', '51m'],
    fires: { at: '52m', labels: { namespace: 'winpool-system' } },
  },
  {
    alert: 'WindowsPoolStatusStale',
    when: 'after three times the longest interval between two reads, and 5 minutes',
    series: {
      'windowspool_status_confirmed_timestamp_seconds{pool="web"}': '0x40 2400x10',
      'windowspool_status_confirmed_timestamp_seconds{pool="new"}': '0+600x50',
      windowspool_reconcile_interval_max_seconds: '600x50',
    },
    quiet: ['30m', '35m', '46m'],
    fires: { at: '36m', labels: web, value: '36m 0s' },
  },
];
