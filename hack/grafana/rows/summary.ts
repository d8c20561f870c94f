/** The first row of the dashboards of a cluster and of a pool: the overall health. */
import { runbooks, TO_RUNBOOK } from '../alerts.ts';
import { ofPools } from '../expressions.ts';
import { TO_POOL } from '../links.ts';
import { NONE_IS_GOOD, type PanelBuilder, type Steps, stat, table, timeline } from '../panels.ts';

const HOUR = 60 * 60;
const DAY = 24 * HOUR;

const notReady = ofPools('windowspool_status_condition', { type: 'Ready', status: ['False', 'Unknown'] });
const stalled = ofPools('windowspool_status_condition', { type: 'Stalled', status: 'True' });
const joining = ofPools('windowspool_nodes', { state: 'joining' });
const failing = ofPools('windowspool_nodes', { state: 'failing' });
const statusAge = `time() - ${ofPools('windowspool_status_confirmed_timestamp_seconds')}`;

/** The firing alerts, of the selected pools or of all. Alerts about the operator have no pool, and those about absent series have no cluster. */
export function firingAlerts(ofPools: boolean): string {
  const names = Object.keys(runbooks).join('|');
  return `ALERTS{cluster=~"$cluster|", alertname=~"${names}", alertstate="firing"${ofPools ? ', pool=~"$pool|"' : ''}}`;
}

const alerts = firingAlerts(true);

/** A status is confirmed at least once in each --resync-interval, ten minutes by default. */
const AGE_OF_STATUS: Steps = ['green', [30 * 60, 'yellow'], [60 * 60, 'red']];

/** Of all pools of a cluster. */
export function allPoolsSummary(): PanelBuilder[] {
  return [
    stat(
      {
        title: 'Pools not Ready',
        asks: 'How many pools are not Ready, because they have too few verified nodes or no usable RuntimeClass? The table below lists them.',
        alerts: ['WindowsPoolNotReady', 'WindowsPoolCreationStuck'],
        width: 4,
        height: 4,
        // The sum of values that exist for every pool: without an operator it has no value instead of 0.
        queries: [{ expr: `sum(max by (pool) (${notReady}))` }],
      },
      { steps: NONE_IS_GOOD, none: 'no pools' },
    ),
    alertsFiring(4),
    unverifiedNodes(8),
    oldestStatus(4),
    stat(
      {
        title: 'Stalled pools',
        asks: 'How many pools are Stalled, so that the operator cannot apply their spec until you fix the cause? The message of the condition Stalled has the next step.',
        alerts: ['WindowsPoolStalled'],
        width: 4,
        height: 4,
        queries: [{ expr: `sum(${stalled})` }],
      },
      { steps: NONE_IS_GOOD },
    ),
    poolTable(),
    alertTable(),
  ];
}

/** Of one pool. */
export function poolSummary(): PanelBuilder[] {
  return [
    stat(
      {
        title: 'Ready',
        asks: 'Does the pool have enough verified nodes and a usable RuntimeClass? `kubectl describe windowspool` shows the message of the condition.',
        alerts: ['WindowsPoolNotReady'],
        width: 4,
        height: 4,
        queries: [{ expr: ofPools('windowspool_status_condition', { type: 'Ready', status: 'True' }) }],
      },
      {
        steps: ['red', [1, 'green']],
        none: 'no such pool',
        text: { '0': { text: 'not Ready', color: 'red' }, '1': { text: 'Ready', color: 'green' } },
      },
    ),
    alertsFiring(4),
    unverifiedNodes(8),
    oldestStatus(4),
    stat(
      {
        title: 'Paused',
        asks: 'Is the pool paused, so that the operator changes nothing?',
        alerts: ['WindowsPoolPausedLong'],
        width: 4,
        height: 4,
        queries: [{ expr: ofPools('windowspool_paused') }],
      },
      {
        steps: ['green', [1, 'blue']],
        text: { '0': { text: 'no', color: 'green' }, '1': { text: 'paused', color: 'blue' } },
      },
    ),
    conditionHistory(),
    reasonTable(),
    alertTable(),
  ];
}

function alertsFiring(width: number): PanelBuilder {
  return stat(
    {
      title: 'Firing alerts',
      asks: 'How many of the alerts in config/prometheus fire? Always 0 if the rules are not installed.',
      width,
      height: 4,
      queries: [{ expr: `count(${alerts}) or vector(0)` }],
    },
    { steps: NONE_IS_GOOD },
  );
}

function unverifiedNodes(width: number): PanelBuilder {
  return stat(
    {
      title: 'Unverified nodes',
      asks: 'How many nodes fail verification, or have joined but are not verified yet? `kubectl describe windowspool` lists the failing nodes.',
      alerts: ['WindowsPoolNodesUnverified'],
      width,
      height: 4,
      queries: [
        { expr: `sum(${failing})`, legend: 'failing' },
        { expr: `sum(${joining})`, legend: 'joining' },
      ],
    },
    { steps: ['green', [1, 'orange']], none: 'no pools' },
  );
}

function oldestStatus(width: number): PanelBuilder {
  return stat(
    {
      title: 'Oldest status',
      asks: 'Is the status of all pools up to date? Shows the longest time since the operator wrote or confirmed a status, which it does at least once per --resync-interval.',
      alerts: ['WindowsPoolStatusStale'],
      unit: 's',
      width,
      height: 4,
      queries: [{ expr: `max(${statusAge})` }],
    },
    { steps: AGE_OF_STATUS, none: 'no pools' },
  );
}

function poolTable(): PanelBuilder {
  const reason = ofPools('windowspool_status_condition_reason', { type: 'Ready' });
  return table(
    {
      title: 'Pools',
      asks: 'Which pools are not Ready, and why? Which are paused or being deleted? Click a pool to open its dashboard.',
      width: 16,
      height: 9,
      queries: [
        {
          expr: `max by (pool, windows_version, source) (${ofPools('windowspool_info')}) * on (pool) group_left (reason) ${reason}`,
        },
        { expr: `sum by (pool) (${ofPools('windowspool_nodes')})` },
        { expr: `sum by (pool) (${ofPools('windowspool_nodes', { state: 'verified' })})` },
        { expr: `sum by (pool) (${failing})` },
        { expr: ofPools('windowspool_nodes_desired') },
        { expr: `time() - ${ofPools('windowspool_paused_start_timestamp_seconds')}` },
        { expr: `time() - ${ofPools('windowspool_deletion_timestamp_seconds')}` },
      ],
    },
    [
      { field: 'pool', title: 'Pool', link: TO_POOL },
      { field: 'reason', title: 'Reason of Ready' },
      { field: 'windows_version', title: 'Windows' },
      { field: 'source', title: 'Node source' },
      { field: 'Value #E', title: 'Desired' },
      { field: 'Value #B', title: 'Nodes' },
      { field: 'Value #C', title: 'Verified' },
      { field: 'Value #D', title: 'Failing', steps: NONE_IS_GOOD },
      { field: 'Value #F', title: 'Paused for', unit: 's', steps: ['blue', [DAY, 'yellow']] },
      { field: 'Value #G', title: 'Deleting for', unit: 's', steps: ['blue', [HOUR, 'yellow']] },
    ],
    'no pools',
  );
}

function alertTable(): PanelBuilder {
  return table(
    {
      title: 'Alerts',
      asks: 'Which alerts fire, and for which pool? Click an alert to open its runbook.',
      height: 9,
      queries: [{ expr: `max by (alertname, severity, pool) (${alerts})` }],
    },
    [
      { field: 'alertname', title: 'Alert', link: TO_RUNBOOK },
      { field: 'severity', title: 'Severity' },
      { field: 'pool', title: 'Pool', link: TO_POOL },
    ],
  );
}

const FALSE_IS_BAD = {
  '0': { text: 'False', color: 'red' },
  '1': { text: 'True', color: 'green' },
  '2': { text: 'Unknown', color: 'text' },
} as const;
const TRUE_IS_NEWS = { '0': { text: 'False', color: 'green' }, '1': { text: 'True', color: 'blue' } } as const;
const TRUE_IS_BAD = { '0': { text: 'False', color: 'green' }, '1': { text: 'True', color: 'red' } } as const;

function conditionHistory(): PanelBuilder {
  const is = (status: 'True' | 'Unknown') => `max by (type) (${ofPools('windowspool_status_condition', { status })})`;
  return timeline(
    {
      title: 'Conditions',
      asks: 'Since when does each condition have its status? A gap means that the pool does not have the condition.',
      width: 10,
      height: 9,
      queries: [{ expr: `${is('True')} + 2 * ${is('Unknown')}`, legend: '{{type}}' }],
    },
    FALSE_IS_BAD,
    { Stalled: TRUE_IS_BAD, Reconciling: TRUE_IS_NEWS, Paused: TRUE_IS_NEWS, Disrupting: TRUE_IS_NEWS },
  );
}

function reasonTable(): PanelBuilder {
  return table(
    {
      title: 'Reasons',
      asks: 'What is the reason of each condition? docs/reference/reasons.md explains each reason and what to do.',
      alerts: ['WindowsPoolStalled'],
      width: 6,
      height: 9,
      queries: [{ expr: ofPools('windowspool_status_condition_reason') }],
    },
    [
      { field: 'type', title: 'Condition' },
      { field: 'reason', title: 'Reason' },
    ],
    'no such pool',
  );
}
