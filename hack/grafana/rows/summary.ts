/** The first row of both dashboards: is anything wrong? */
import { runbooks, TO_RUNBOOK } from '../alerts.ts';
import { ofPools } from '../expressions.ts';
import { TO_POOL } from '../links.ts';
import { NONE_IS_GOOD, type PanelBuilder, type Steps, stat, table, timeline } from '../panels.ts';

const notReady = ofPools('windowspool_status_condition', { type: 'Ready', status: ['False', 'Unknown'] });
const stalled = ofPools('windowspool_status_condition', { type: 'Stalled', status: 'True' });
const joining = ofPools('windowspool_nodes', { state: 'joining' });
const failing = ofPools('windowspool_nodes', { state: 'failing' });
const statusAge = `time() - ${ofPools('windowspool_status_confirmed_timestamp_seconds')}`;

/** Those about the operator have no pool, and one about what is absent has no cluster. */
const alerts = `ALERTS{cluster=~"$cluster|", alertname=~"${Object.keys(runbooks).join('|')}", alertstate="firing", pool=~"$pool|"}`;

/** A status is confirmed at least once in each --resync-interval, ten minutes by default. */
const AGE_OF_STATUS: Steps = ['green', [30 * 60, 'yellow'], [60 * 60, 'red']];

/** Of all pools. */
export function fleetSummary(): PanelBuilder[] {
  return [
    stat(
      {
        title: 'Pools not Ready',
        asks: 'How many pools do not do what they are for? The table below names them.',
        alerts: ['WindowsPoolNotReady'],
        unit: 'none',
        width: 4,
        height: 4,
        // The sum of values that are there for every pool: without an operator there is no number, and not a good one.
        queries: [{ expr: `sum(max by (pool) (${notReady}))` }],
      },
      { steps: NONE_IS_GOOD, none: 'no pools' },
    ),
    alertsFiring(4),
    unverifiedNodes(8),
    oldestStatus(4),
    stat(
      {
        title: 'Pools that wait for a human',
        asks: 'How many pools are Stalled: nothing goes on until somebody acts? Their reason says what to do.',
        alerts: ['WindowsPoolStalled'],
        unit: 'none',
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
        asks: 'Does the pool do what it is for? `kubectl describe windowspool` shows the message of the condition.',
        alerts: ['WindowsPoolNotReady'],
        unit: 'none',
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
        asks: 'Does the operator only look, because somebody paused the pool?',
        unit: 'none',
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
      title: 'Alerts firing',
      asks: 'How many of the alerts of config/prometheus fire? Where those rules are not installed this is always 0.',
      unit: 'none',
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
      title: 'Nodes not verified',
      asks: 'Are there nodes that fail a check, or that joined and have not passed yet? `kubectl describe windowspool` names those that fail.',
      alerts: ['WindowsNodesUnverified'],
      unit: 'none',
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
      asks: 'Is what the status says still true? How long ago was it last found to be right? It is looked at once in each --resync-interval.',
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
      asks: 'Which pool is it, and what keeps it from being Ready? A click on its name opens it.',
      unit: 'none',
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
      ],
    },
    [
      { field: 'pool', title: 'Pool', link: TO_POOL },
      { field: 'reason', title: 'Ready says' },
      { field: 'windows_version', title: 'Windows' },
      { field: 'source', title: 'Nodes from' },
      { field: 'Value #E', title: 'Desired' },
      { field: 'Value #B', title: 'Nodes' },
      { field: 'Value #C', title: 'Verified' },
      { field: 'Value #D', title: 'Failing', steps: NONE_IS_GOOD },
    ],
    'no pools',
  );
}

function alertTable(): PanelBuilder {
  return table(
    {
      title: 'Firing',
      asks: 'Which alerts fire, and for which pool? A click on one opens its runbook.',
      unit: 'none',
      width: 8,
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
      asks: 'Since when is which condition as it is? A condition that the pool does not have leaves a gap.',
      unit: 'none',
      width: 10,
      height: 9,
      queries: [{ expr: `${is('True')} + 2 * ${is('Unknown')}`, legend: '{{type}}' }],
    },
    FALSE_IS_BAD,
    { Stalled: TRUE_IS_BAD, Reconciling: TRUE_IS_NEWS, Paused: TRUE_IS_NEWS, NodesLeaving: TRUE_IS_NEWS },
  );
}

function reasonTable(): PanelBuilder {
  return table(
    {
      title: 'Reasons',
      asks: 'What do the conditions say? docs/conditions.md tells what each reason means and what to do.',
      alerts: ['WindowsPoolStalled'],
      unit: 'none',
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
