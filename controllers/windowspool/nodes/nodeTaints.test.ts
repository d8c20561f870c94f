import assert from 'node:assert/strict';
import fc from 'fast-check';
import { GATE_TAINT_KEY, QUARANTINE_TAINT_KEY } from '../api/labels.ts';
import type { NodeCheck } from '../api/reasons.ts';
import type { TaintPolicy, VerificationResult } from '../model/poolNodesView.ts';
import type { Taint } from '../ports/nodes.ts';
import { sampleNode } from '../testing/fixtures.ts';
import { desiredTaints, GATE_TAINT, isGated, taintChangeFor } from './nodeTaints.ts';

const REPORT: TaintPolicy = { gate: false, quarantine: false };
const QUARANTINE: TaintPolicy = { gate: false, quarantine: true };
const GATE: TaintPolicy = { gate: true, quarantine: true };
/** The policy is no longer Gate, and the taint is still on the group. */
const LEAVING: TaintPolicy = { gate: true, quarantine: false };

const os: Taint = { key: 'os', value: 'windows', effect: 'NoSchedule' };
const quarantine = (value: string): Taint => ({ key: QUARANTINE_TAINT_KEY, value, effect: 'NoSchedule' });
const readiness: Taint = { key: 'readiness.k8s.io/winpool', effect: 'NoSchedule' };
const none: readonly Taint[] = [];

function result(
  taints: readonly Taint[],
  state: VerificationResult['state'],
  reason: NodeCheck = 'WrongBuild',
): VerificationResult {
  const finding = { reason, message: 'is not as it must be' };
  const failures = state === 'verified' ? [] : [finding];
  return { node: sampleNode({ taints }), state, failures, warnings: state === 'verified' ? [finding] : [] };
}

describe('the taint changes of a node', () => {
  type Row = readonly [string, VerificationResult, TaintPolicy, set: readonly Taint[], remove: readonly Taint[]];
  const table: readonly Row[] = [
    ['are none with policy Report, even if it fails', result([os], 'failing'), REPORT, none, none],
    [
      'remove the quarantine with policy Report',
      result([os, quarantine('WrongBuild')], 'failing'),
      REPORT,
      none,
      [quarantine('WrongBuild')],
    ],
    ['remove the gate taint with policy Report', result([os, GATE_TAINT], 'failing'), REPORT, none, [GATE_TAINT]],
    ['quarantine a failing node', result([os], 'failing'), QUARANTINE, [quarantine('WrongBuild')], none],
    [
      'are none if it already has the quarantine',
      result([os, quarantine('WrongBuild')], 'failing'),
      QUARANTINE,
      none,
      none,
    ],
    [
      'replace the reason if it fails for another',
      result([quarantine('NotReady')], 'failing'),
      QUARANTINE,
      [quarantine('WrongBuild')],
      none,
    ],
    [
      'remove the quarantine when it passes',
      result([quarantine('NotReady'), os], 'verified'),
      QUARANTINE,
      none,
      [quarantine('NotReady')],
    ],
    ['do not quarantine for a warning', result([os], 'verified'), QUARANTINE, none, none],
    ['do not quarantine a joining node', result([os], 'joining', 'NotReady'), QUARANTINE, none, none],
    ['are none while a gated node joins', result([os, GATE_TAINT], 'joining', 'NotReady'), GATE, none, none],
    ['are none while a gated node fails', result([os, GATE_TAINT], 'failing'), GATE, none, none],
    ['remove the gate taint when it is verified', result([os, GATE_TAINT], 'verified'), GATE, none, [GATE_TAINT]],
    [
      'remove the gate taint again when EKS adds it to existing nodes',
      result([GATE_TAINT, os], 'verified'),
      GATE,
      none,
      [GATE_TAINT],
    ],
    ['quarantine a node that fails after its release', result([os], 'failing'), GATE, [quarantine('WrongBuild')], none],
    [
      'keep only the gate taint if it has both',
      result([quarantine('NotReady'), GATE_TAINT], 'failing'),
      GATE,
      none,
      [quarantine('NotReady')],
    ],
    [
      'do not add the gate taint to a node that joined without it',
      result([os], 'joining', 'NotReady'),
      GATE,
      none,
      none,
    ],
    [
      'are none for a failing node while the group still has the gate taint after a policy change',
      result([GATE_TAINT], 'failing'),
      LEAVING,
      none,
      none,
    ],
    [
      'release a verified node while the group still has the gate taint after a policy change',
      result([GATE_TAINT], 'verified'),
      LEAVING,
      none,
      [GATE_TAINT],
    ],
    [
      'remove a gate taint with any value',
      result([{ ...GATE_TAINT, value: 'x' }], 'verified'),
      GATE,
      none,
      [{ ...GATE_TAINT, value: 'x' }],
    ],
    [
      'keep a gate taint with another value while the node fails',
      result([{ ...GATE_TAINT, value: 'x' }], 'failing'),
      GATE,
      none,
      none,
    ],
    ['are none for the taint of a NodeReadinessRule', result([os, readiness], 'verified'), GATE, none, none],
    [
      'quarantine a failing node also if it has the taint of a NodeReadinessRule',
      result([os, readiness], 'failing'),
      GATE,
      [quarantine('WrongBuild')],
      none,
    ],
    [
      'keep a taint with the key of the gate and another effect',
      result([{ ...GATE_TAINT, effect: 'NoExecute' }], 'verified'),
      GATE,
      none,
      none,
    ],
  ];
  for (const [what, seen, policy, set, remove] of table) {
    it(what, () => {
      const expected = set.length + remove.length > 0 ? { set, remove } : undefined;
      assert.deepEqual(taintChangeFor(seen, policy), expected);
    });
  }
});

const anyTaint: fc.Arbitrary<Taint> = fc.oneof(
  fc.constantFrom(os, { key: 'os', value: 'Windows', effect: 'NoSchedule' } as const, GATE_TAINT),
  fc.constantFrom('WrongBuild', 'NotReady', 'typed by hand').map(quarantine),
  fc.record({
    key: fc.constantFrom('team', GATE_TAINT_KEY, QUARANTINE_TAINT_KEY),
    value: fc.constantFrom('a', 'b'),
    effect: fc.constantFrom('NoSchedule', 'NoExecute', 'PreferNoSchedule'),
  }),
);
const anyTaints = fc.uniqueArray(anyTaint, { selector: ({ key, effect }) => `${key}:${effect}`, maxLength: 6 });
const anyResult = fc
  .tuple(
    anyTaints,
    fc.constantFrom('verified' as const, 'joining' as const, 'failing' as const),
    fc.constantFrom<NodeCheck>('WrongBuild', 'NotReady', 'UnknownKernelVersion'),
  )
  .map((parts) => result(...parts));
const anyPolicy = fc.constantFrom(REPORT, QUARANTINE, GATE, LEAVING);

/** The node after the change, as in the API server. */
function changed(seen: VerificationResult, policy: TaintPolicy): VerificationResult {
  const { node } = seen;
  const { set, remove } = taintChangeFor(seen, policy) ?? { set: [], remove: [] };
  const kept = node.taints.filter(
    ({ key, effect }) => ![...set, ...remove].some((t) => t.key === key && t.effect === effect),
  );
  return { ...seen, node: { ...node, taints: [...kept, ...set] } };
}

describe('with any taints of a node', () => {
  it('one change is sufficient, and the next one is empty', () => {
    fc.assert(
      fc.property(anyResult, anyPolicy, (seen, policy) => {
        assert.equal(taintChangeFor(changed(seen, policy), policy), undefined);
      }),
    );
  });

  it('the taints of other owners are kept in their order', () => {
    const ofOthers = ({ node }: VerificationResult) =>
      node.taints.filter(
        ({ key, effect }) => effect !== 'NoSchedule' || (key !== GATE_TAINT_KEY && key !== QUARANTINE_TAINT_KEY),
      );
    fc.assert(
      fc.property(anyResult, anyPolicy, (seen, policy) => {
        assert.deepEqual(ofOthers(changed(seen, policy)), ofOthers(seen));
      }),
    );
  });

  it('no gated node is released before it is verified, while the policy is Gate', () => {
    fc.assert(
      fc.property(anyResult, fc.constantFrom(GATE, LEAVING), (seen, policy) => {
        const isReleased = isGated(seen.node) && !isGated(changed(seen, policy).node);
        assert.equal(isReleased, isGated(seen.node) && seen.state === 'verified');
      }),
    );
  });

  it('a node has at most one taint of the operator, with a valid label value', () => {
    fc.assert(
      fc.property(anyResult, anyPolicy, (seen, policy) => {
        const desired = desiredTaints(seen, policy);
        assert.ok(desired.length <= 1);
        for (const { value = '' } of desired) assert.match(value, /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/);
      }),
    );
  });
});

describe("the keys of the operator's taints", () => {
  it('have prefixes that the cluster-autoscaler recognizes, and a length that EKS accepts', () => {
    assert.match(GATE_TAINT_KEY, /^startup-taint\.cluster-autoscaler\.kubernetes\.io\/[a-z-]+$/);
    assert.match(QUARANTINE_TAINT_KEY, /^status-taint\.cluster-autoscaler\.kubernetes\.io\/[a-z-]+$/);
    assert.ok(GATE_TAINT_KEY.length <= 63);
  });
});
