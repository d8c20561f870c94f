import assert from 'node:assert/strict';
import type { Outcome } from '../act.ts';
import type { Situation } from '../situation.ts';
import { sampleTrouble } from '../testing/fixtures.ts';
import { cordoned, leaving, node, podOn, REPLACE, scene } from '../testing/nodeScenes.ts';
import { seriesOf } from '../testing/shownMetrics.ts';
import { leavingCounts, leavingSamples } from './leavingSamples.ts';
import type { BlockedPod } from './leavingSight.ts';

const BEGAN = Date.parse('2026-03-01T11:58:00Z') / 1_000;
const remediation = { unhealthyAfter: '15m', maxUnhealthy: 1 };
const kept: BlockedPod = { node: 'a', namespace: 'shop', name: 'cart-0', budget: 'cart' };
const a = node('a', cordoned);

/** The node a has a pod that a budget keeps, b ends, and c of another kind of pool is drained. */
function busy(): Situation {
  const entries = [
    leaving('a'),
    leaving('b', { operation: 'Remove', ended: '2026-03-01T11:59:00Z' }),
    leaving('c', { operation: 'Remediate', drained: 'x' }),
  ];
  const sight = { entry: leaving('a'), node: { ok: true, value: a }, pods: { ok: true, value: [podOn()] } } as const;
  return scene({
    nodes: [a, node('b'), node('c')],
    entries,
    rest: { operations: { fresh: true, nextAt: 0, nodes: [sight], blocked: [kept] } },
  });
}

const shown = (s: Situation) => Object.fromEntries(leavingSamples(s).map(seriesOf));

describe('the metrics of nodes that go', () => {
  it('show how far each is, and since when the first goes that is not done', () => {
    assert.deepEqual(shown(busy()), {
      'windowspool_nodes_leaving{operation="Replace",stage="blocked"}': 1,
      'windowspool_nodes_leaving{operation="Remove",stage="ending"}': 1,
      'windowspool_nodes_leaving{operation="Remediate",stage="drained"}': 1,
      windowspool_nodes_waiting_to_leave: 0,
      windowspool_nodes_leaving_start_timestamp_seconds: BEGAN,
    });
  });

  it('show nodes that wait for their turn', () => {
    const orders = { orders: REPLACE };
    const s = scene({ nodes: [node('a', orders), node('b', orders), node('c')], entries: [leaving('a')] });
    assert.deepEqual(shown(s), {
      'windowspool_nodes_leaving{operation="Replace",stage="draining"}': 1,
      windowspool_nodes_waiting_to_leave: 1,
      windowspool_nodes_leaving_start_timestamp_seconds: BEGAN,
    });
  });

  it('say 1 while remediation is short-circuited, 0 while it works, and nothing where there is none', () => {
    const failing = ['a', 'b'].map((name) => node(name, { taints: [] }));
    const circuit = (nodes: readonly ReturnType<typeof node>[], spec = {}) =>
      shown(scene({ nodes: [...nodes, node('c')], spec })).windowspool_remediation_short_circuited;
    assert.deepEqual(
      [circuit(failing, { remediation }), circuit([], { remediation }), circuit(failing)],
      [1, 0, undefined],
    );
  });

  it('count evictions by what became of them, instances that end, and drains that are given up', () => {
    const after = busy();
    const evictions = [podOn(), podOn({ name: 'cart-1' }), podOn({ name: 'cart-2' })];
    const [entry, other] = [leaving('b', { operation: 'Remove' }), leaving('i-9', { operation: 'Remediate' })];
    const restored = (value?: string) => ({
      kind: 'restoreNode',
      node: a,
      ...(value && { answer: { key: 'k', value } }),
    });
    const done = [
      { kind: 'evictPods', node: a, evictions: evictions.map((pod) => ({ pod, gracePeriodSeconds: 30 })) },
      { kind: 'endInstance', node: node('b'), entry, scalingGroups: [], target: 'uid-b' },
      { kind: 'endLateInstance', entry: other, scalingGroups: [], target: other.uid },
      ...[restored('timed-out'), restored('refused'), restored()],
    ] as Outcome['done'];
    const trouble = { at: after.now, step: 'evictPods', trouble: sampleTrouble('unavailable') };
    const told = { after: { ...after, troubles: [trouble, { ...trouble, at: after.now - 1 }] }, done };
    const counts = leavingCounts({ ...told, accepted: undefined, left: [], released: false });
    assert.deepEqual(Object.fromEntries(counts.map(seriesOf)), {
      'windowspool_evictions_total{result="accepted"}': 2,
      'windowspool_evictions_total{result="blocked"}': 1,
      'windowspool_evictions_total{result="failed"}': 1,
      'windowspool_instances_ended_total{operation="Remove"}': 1,
      'windowspool_instances_ended_total{operation="Remediate"}': 1,
      'windowspool_drains_given_up_total{reason="timed-out"}': 1,
      'windowspool_drains_given_up_total{reason="refused"}': 1,
      'windowspool_drains_given_up_total{reason="withdrawn"}': 1,
    });
  });
});
