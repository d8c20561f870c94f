import assert from 'node:assert/strict';
import type { BlockedPod } from '../model/disruption.ts';
import type { Outcome } from '../model/outcome.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import { sampleError } from '../testing/fixtures.ts';
import { cordoned, node, podOn, REPLACE, scene, terminating } from '../testing/nodeScenes.ts';
import { seriesOf } from '../testing/shownMetrics.ts';
import { terminatingNodeCounts, terminatingNodeSamples } from './leavingNodeSamples.ts';

const BEGAN = Date.parse('2026-03-01T11:58:00Z') / 1_000;
const remediation = { policy: 'Replace' as const, unhealthyAfter: '15m', maxUnhealthy: 1 };
const kept: BlockedPod = { node: 'a', namespace: 'shop', name: 'cart-0', budget: 'cart' };
const a = node('a', cordoned);

/** The node a has a pod that a PodDisruptionBudget blocks, b is terminating, and c is drained as in a pool of existing nodes. */
function busy(): EksDerived {
  const entries = [
    terminating('a'),
    terminating('b', { operation: 'Remove', terminationAcceptedTime: '2026-03-01T11:59:00Z' }),
    terminating('c', { operation: 'Replace', reason: 'Unhealthy', drainedTime: 'x' }),
  ];
  const view = { entry: terminating('a'), node: { ok: true, value: a }, pods: { ok: true, value: [podOn()] } } as const;
  return scene({
    nodes: [a, node('b'), node('c')],
    entries,
    rest: { operations: { fresh: true, nextAt: 0, nodes: [view], blocked: [kept] } },
  });
}

const shown = (s: EksDerived) => Object.fromEntries(terminatingNodeSamples(s).map(seriesOf));

describe('the metrics of terminating nodes', () => {
  it('show the stage of each, and the start of the first unfinished one', () => {
    assert.deepEqual(shown(busy()), {
      'windowspool_nodes_leaving{operation="Replace",reason="Requested",stage="blocked"}': 1,
      'windowspool_nodes_leaving{operation="Remove",reason="Requested",stage="ending"}': 1,
      'windowspool_nodes_leaving{operation="Replace",reason="Unhealthy",stage="drained"}': 1,
      windowspool_nodes_waiting_to_leave: 0,
      windowspool_nodes_leaving_start_timestamp_seconds: BEGAN,
    });
  });

  it('show nodes that wait for their turn', () => {
    const annotations = { annotations: REPLACE };
    const s = scene({
      nodes: [node('a', annotations), node('b', annotations), node('c')],
      entries: [terminating('a')],
    });
    assert.deepEqual(shown(s), {
      'windowspool_nodes_leaving{operation="Replace",reason="Requested",stage="draining"}': 1,
      windowspool_nodes_waiting_to_leave: 1,
      windowspool_nodes_leaving_start_timestamp_seconds: BEGAN,
    });
  });

  it('are 1 while remediation is short-circuited, 0 while it is active, and absent unless it replaces nodes', () => {
    const failing = ['a', 'b'].map((name) => node(name, { taints: [] }));
    const circuit = (nodes: readonly ReturnType<typeof node>[], spec = {}) =>
      shown(scene({ nodes: [...nodes, node('c')], spec })).windowspool_remediation_short_circuited;
    assert.deepEqual(
      [
        circuit(failing, { remediation }),
        circuit([], { remediation }),
        circuit(failing, { remediation: { ...remediation, policy: 'Report' } }),
        circuit(failing),
      ],
      [1, 0, undefined, undefined],
    );
  });

  it('count evictions by result, terminated instances, and failed drains', () => {
    const after = busy();
    const evictions = [podOn(), podOn({ name: 'cart-1' }), podOn({ name: 'cart-2' })];
    const [entry, other] = [
      terminating('b', { operation: 'Remove' }),
      terminating('i-9', { operation: 'Replace', reason: 'Unhealthy' }),
    ];
    const restored = (value?: string) => ({
      kind: 'uncordonNode',
      node: a,
      ...(value && { answer: { key: 'k', value } }),
    });
    const done = [
      { kind: 'evictPods', node: a, evictions: evictions.map((pod) => ({ pod, gracePeriodSeconds: 30 })) },
      { kind: 'terminateInstance', node: node('b'), entry, scalingGroups: [], target: 'uid-b' },
      { kind: 'terminateUnregistered', entry: other, scalingGroups: [], target: other.uid },
      ...[restored('timed-out'), restored('refused'), restored(), restored('left')],
    ] as Outcome['done'];
    const error = { at: after.now, step: 'evictPods' as const, error: sampleError('unavailable') };
    const outcome = { after: { ...after, errors: [error, { ...error, at: after.now - 1 }] }, done };
    const counts = terminatingNodeCounts({ ...outcome, skipped: [], accepted: undefined, left: [], released: false });
    assert.deepEqual(Object.fromEntries(counts.map(seriesOf)), {
      'windowspool_evictions_total{result="accepted"}': 2,
      'windowspool_evictions_total{result="blocked"}': 1,
      'windowspool_evictions_total{result="failed"}': 1,
      'windowspool_instances_ended_total{operation="Remove",reason="Requested"}': 1,
      'windowspool_instances_ended_total{operation="Replace",reason="Unhealthy"}': 1,
      'windowspool_drains_aborted_total{reason="timed-out"}': 1,
      'windowspool_drains_aborted_total{reason="refused"}': 1,
      'windowspool_drains_aborted_total{reason="withdrawn"}': 1,
    });
  });
});
