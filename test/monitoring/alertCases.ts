/** What must be so for each alert to fire, and to be quiet: input for `promtool test rules`. Time begins at 1970. */

export interface AlertCase {
  readonly alert: string;
  /** What is tested, as the end of "fires ...". */
  readonly when: string;
  /** Between two samples, such as 1m; also between two evaluations. */
  readonly interval?: string;
  /** Series and their values in promtool's notation: `0x3 1` is 0, 0, 0, 0, 1. */
  readonly series: Readonly<Record<string, string>>;
  /** Times at which it is quiet: right before it fires, and when the cause is gone. */
  readonly quiet: readonly string[];
  /** The time at which it fires first, and its message then. Absent: never. */
  readonly fires?: {
    readonly at: string;
    /** Later times at which it still fires with the same message. */
    readonly on?: readonly string[];
    readonly labels?: Readonly<Record<string, string>>;
    readonly summary: string;
    readonly description: string;
  };
}

const READY = 'windowspool_status_condition{pool="web",type="Ready",status="True"}';
const MET = 'windowspool_status_condition{pool="web",type="PrerequisitesMet",status="True"}';
const JOB = 'job="windowspool-operator"';
const KERNEL = (version: string) => `windowspool_nodes_by_kernel{pool="web",kernel_version="${version}"}`;
const CALLS = (result: string) =>
  `windowspool_aws_requests_total{service="eks",operation="DescribeNodegroup",result="${result}"}`;
const UP = (instance: string) => `up{job="windowspool-operator",instance="${instance}"}`;
const UP_IN = (cluster: string) => `up{job="windowspool-operator",instance="a",cluster="${cluster}"}`;
const LEADS = (instance: string) =>
  `leader_election_master_status{job="windowspool-operator",name="windowspool-operator",instance="${instance}"}`;
const web = { pool: 'web' };

export const alertCases: readonly AlertCase[] = [
  {
    alert: 'WindowsPoolNotReady',
    when: 'after half an hour, and not before',
    series: { [READY]: '0x34 1x10', 'windowspool_paused{pool="web"}': '0x45' },
    quiet: ['29m', '40m'],
    fires: {
      at: '30m',
      labels: web,
      summary: 'Windows pool web is not Ready.',
      description: 'WindowsPool web has not been Ready for 30 minutes. Its condition Ready says why and what to do.',
    },
  },
  {
    alert: 'WindowsPoolNotReady',
    when: 'on while another operator takes over, and does not wait anew then',
    series: { [READY]: '0x34 stale _x3 0x10 1x10' },
    quiet: ['29m', '55m'],
    fires: {
      at: '30m',
      on: ['36m', '38m', '39m', '48m'],
      labels: web,
      summary: 'Windows pool web is not Ready.',
      description: 'WindowsPool web has not been Ready for 30 minutes. Its condition Ready says why and what to do.',
    },
  },
  {
    alert: 'WindowsPoolNotReady',
    when: 'never for a pool that is paused',
    series: { [READY]: '0x60', 'windowspool_paused{pool="web"}': '1x60' },
    quiet: ['30m', '60m'],
  },
  {
    alert: 'WindowsPoolStalled',
    when: 'after 5 minutes',
    series: { 'windowspool_status_condition{pool="web",type="Stalled",status="True"}': '1x9 _x10' },
    quiet: ['4m', '21m'],
    fires: {
      at: '5m',
      labels: web,
      summary: 'Windows pool web waits for a human.',
      description:
        'WindowsPool web is Stalled. The operator tries nothing more until somebody changes something. The condition Stalled says what.',
    },
  },
  {
    alert: 'WindowsPoolStalled',
    when: 'never for a pool that is paused',
    series: {
      'windowspool_status_condition{pool="web",type="Stalled",status="True"}': '1x30',
      'windowspool_paused{pool="web"}': '1x30',
    },
    quiet: ['5m', '30m'],
  },
  {
    alert: 'WindowsPoolPrerequisitesNotMet',
    when: 'after half an hour, of a pool that is Ready, too',
    series: { [MET]: '0x34 1x10', [READY]: '1x45', 'windowspool_paused{pool="web"}': '0x45' },
    quiet: ['29m', '40m'],
    fires: {
      at: '30m',
      labels: web,
      summary: 'Windows pool web misses a prerequisite, or it cannot be looked at.',
      description:
        'For 30 minutes, a prerequisite of WindowsPool web has been missing or could not be looked at. Nodes that run may go on; new ones may not come. Condition PrerequisitesMet says what to do.',
    },
  },
  {
    alert: 'WindowsPoolPrerequisitesNotMet',
    when: 'never for a pool that is paused, nor for what could not be checked once in ten minutes',
    series: {
      [MET]: '0x60',
      'windowspool_paused{pool="web"}': '1x60',
      'windowspool_status_condition{pool="new",type="PrerequisitesMet",status="True"}': '1 0x9 1 0x9 1 0x9 1 0x30',
    },
    quiet: ['30m', '60m'],
  },
  {
    alert: 'WindowsNodesUnverified',
    when: 'after a quarter of an hour, for failing nodes and not for joining ones',
    series: {
      'windowspool_nodes{pool="web",state="failing"}': '2x19 0x10',
      'windowspool_nodes{pool="web",state="verified"}': '3x29',
      'windowspool_nodes{pool="new",state="joining"}': '5x29',
      'windowspool_nodes{pool="new",state="failing"}': '0x29',
    },
    quiet: ['14m', '25m'],
    fires: {
      at: '15m',
      labels: web,
      summary: '2 of the nodes of Windows pool web fail verification.',
      description:
        '2 of the nodes of WindowsPool web have failed a check for 15 minutes. status.failingNodes names them.',
    },
  },
  {
    alert: 'WindowsPoolMixedBuilds',
    when: 'after 6 hours',
    interval: '10m',
    series: { [KERNEL('10.0.20348.2762')]: '2x50', [KERNEL('10.0.20348.3091')]: '1x40 0x10' },
    quiet: ['350m', '420m'],
    fires: {
      at: '360m',
      labels: web,
      summary: 'Windows pool web has 2 kernel versions.',
      description:
        'The nodes of WindowsPool web have run 2 different Windows kernel versions for 6 hours, and no update is on its way.',
    },
  },
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
    alert: 'WindowsAmiNearEnd',
    when: '21 days before the end and an hour later, until a release with a later end is there',
    // 22 days, then 100.
    series: { 'windowspool_node_group_release_end_timestamp_seconds{pool="web"}': '1900800x1510 8640000x20' },
    quiet: ['1440m', '1500m', '1516m'],
    fires: {
      at: '1501m',
      labels: web,
      summary: 'The AMI of Windows pool web ends in 20d 22h 59m 0s.',
      description:
        'About four months after its release AWS makes an AMI private. New nodes of WindowsPool web cannot start then. Update it to a newer release.',
    },
  },
  {
    alert: 'WindowsReleaseOld',
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
    fires: {
      at: '1466h',
      labels: web,
      summary: 'Windows pool web misses the patches of a month.',
      description:
        'The AMI release of WindowsPool web is older than 60 days, and a newer one is out. It is of 1970-01-02 00:00:00 +0000 UTC.',
    },
  },
  {
    alert: 'WindowsUpdateStuck',
    when: 'after an hour and half an hour for each node, until the update ends',
    series: {
      'windowspool_update_start_timestamp_seconds{pool="web",type="VersionUpdate"}': '0x130 _x10',
      'windowspool_nodes_desired{pool="web"}': '2x140',
    },
    quiet: ['120m', '125m', '142m'],
    fires: {
      at: '126m',
      labels: web,
      summary: 'The update of Windows pool web does not end.',
      description:
        'An update of the node group of WindowsPool web has run for 2h 6m 0s, longer than an hour and half an hour for each node.',
    },
  },
  {
    alert: 'WindowsNodeGroupDegraded',
    when: 'after 10 minutes',
    series: {
      'windowspool_node_group_status{pool="web",status="DEGRADED"}': '1x14 _x10',
      'windowspool_node_group_status{pool="web",status="ACTIVE"}': '_x15 1x10',
    },
    quiet: ['9m', '26m'],
    fires: {
      at: '10m',
      labels: { ...web, status: 'DEGRADED' },
      summary: 'The node group of Windows pool web is DEGRADED.',
      description:
        'EKS says that the node group of WindowsPool web is DEGRADED. Its nodes may run on, and new ones may not come.',
    },
  },
  {
    alert: 'WindowsNodeGroupHealthIssue',
    when: 'after 10 minutes, by code',
    series: { 'windowspool_node_group_health_issues{pool="web",code="InsufficientFreeAddresses"}': '1x14 _x10' },
    quiet: ['9m', '26m'],
    fires: {
      at: '10m',
      labels: { ...web, code: 'InsufficientFreeAddresses' },
      summary: 'EKS reports InsufficientFreeAddresses for Windows pool web.',
      description:
        'The node group of WindowsPool web has the health issue InsufficientFreeAddresses. status.nodeGroup.healthIssues has what EKS says of it.',
    },
  },
  {
    alert: 'WindowsDrainStuck',
    when: 'after 10 minutes, for nodes that are blocked and not for others',
    series: {
      'windowspool_nodes_leaving{pool="web",operation="Replace",stage="blocked"}': '1x14 _x10',
      'windowspool_nodes_leaving{pool="new",operation="Replace",stage="draining"}': '1x40',
    },
    quiet: ['9m', '26m'],
    fires: {
      at: '10m',
      labels: web,
      summary: '1 of the nodes of Windows pool web cannot be drained.',
      description:
        'For 10 minutes, pods on 1 of the nodes of WindowsPool web have not let themselves be evicted. Condition NodesLeaving names them.',
    },
  },
  {
    alert: 'WindowsRemediationShortCircuited',
    when: 'after a quarter of an hour',
    series: { 'windowspool_remediation_short_circuited{pool="web"}': '1x19 0x10' },
    quiet: ['14m', '25m'],
    fires: {
      at: '15m',
      labels: web,
      summary: 'Too many nodes of Windows pool web fail to be replaced by themselves.',
      description:
        'More nodes of WindowsPool web have failed for a quarter of an hour than remediation.maxUnhealthy allows, so none is replaced. They may have one cause.',
    },
  },
  {
    alert: 'WindowsOperatorThrottled',
    when: 'after a quarter of an hour with more than a tenth',
    series: { [CALLS('throttled')]: '0+3x20 60x20', [CALLS('ok')]: '0+17x40' },
    quiet: ['15m', '26m'],
    fires: {
      at: '16m',
      summary: 'AWS throttles the operator of Windows pools.',
      description:
        "AWS has refused 15% of the operator's calls for a quarter of an hour, because the account makes too many. Changes of pools take longer.",
    },
  },
  {
    alert: 'WindowsOperatorThrottled',
    when: 'never with less',
    series: { [CALLS('throttled')]: '0+1x60', [CALLS('ok')]: '0+10x60' },
    quiet: ['20m', '60m'],
  },
  {
    alert: 'WindowsOperatorDown',
    when: 'after 5 minutes without any replica',
    series: { [UP('a')]: '1x5 0x10 1x10', [UP('b')]: '1x5 0x20' },
    quiet: ['10m', '17m'],
    fires: {
      at: '11m',
      summary: 'The operator of Windows pools is down.',
      description:
        'No replica of the operator has been scraped for 5 minutes. Nodes run on; no new node leaves the gate, and no pool changes.',
    },
  },
  {
    alert: 'WindowsOperatorDown',
    when: 'also when there is not even a target, until there is one',
    series: { [UP('a')]: '_x10 1x10' },
    quiet: ['4m', '11m'],
    fires: {
      at: '5m',
      summary: 'The operator of Windows pools is down.',
      description:
        'No replica of the operator has been scraped for 5 minutes. Nodes run on; no new node leaves the gate, and no pool changes.',
    },
  },
  {
    alert: 'WindowsOperatorDown',
    when: 'for one of several clusters, whose operator does not answer',
    series: { [UP_IN('north')]: '1x30', [UP_IN('south')]: '1x5 0x10 1x10' },
    quiet: ['10m', '17m'],
    fires: {
      at: '11m',
      labels: { cluster: 'south' },
      summary: 'The operator of Windows pools is down.',
      description:
        'No replica of the operator has been scraped for 5 minutes. Nodes run on; no new node leaves the gate, and no pool changes.',
    },
  },
  {
    alert: 'WindowsOperatorNoLeader',
    when: 'after 5 minutes, and not while one of two leads',
    series: { [LEADS('a')]: '0x30', [LEADS('b')]: '1x9 0x9 1x10' },
    quiet: ['9m', '14m', '20m'],
    fires: {
      at: '15m',
      summary: 'No operator of Windows pools leads.',
      description:
        'Replicas of the operator run, and none has led for 5 minutes. No new node leaves the gate, and no pool changes.',
    },
  },
  {
    alert: 'WindowsOperatorCacheStale',
    when: 'after 10 minutes, and not for watches that work again before, nor for the ConfigMaps of pools',
    series: {
      [`reflector_failing{${JOB},name="nodes"}`]: '0x4 1x14 0x10',
      [`reflector_failing{${JOB},name="windowspools"}`]: '1x9 0 1x9 0x10',
      [`reflector_failing{${JOB},name="configmaps"}`]: '1x30',
    },
    quiet: ['14m', '20m'],
    fires: {
      at: '15m',
      on: ['19m'],
      labels: { name: 'nodes' },
      summary: 'The operator of Windows pools does not see the nodes of the cluster.',
      description:
        "The operator's watch of nodes has failed for 10 minutes. What it knows of them is old, and so is what pools and metrics say.",
    },
  },
  {
    alert: 'WindowsPoolStatusStale',
    when: 'after three times the longest interval between two looks, and 5 minutes',
    series: {
      'windowspool_status_confirmed_timestamp_seconds{pool="web"}': '0x40 2400x10',
      'windowspool_status_confirmed_timestamp_seconds{pool="new"}': '0+600x50',
      windowspool_longest_look_interval_seconds: '600x50',
    },
    quiet: ['30m', '35m', '46m'],
    fires: {
      at: '36m',
      labels: web,
      summary: 'The status of Windows pool web is stale.',
      description:
        'The operator has not been able to write or confirm the status of WindowsPool web for 36m 0s. What it shows may not be true any more.',
    },
  },
];
