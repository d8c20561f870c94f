import assert from 'node:assert/strict';
import fc from 'fast-check';
import { GATE_TAINT_KEY, QUARANTINE_TAINT_KEY } from '../labels.ts';
import type { TaintPolicy, VerificationResult } from '../model/poolNodes.ts';
import type { Taint } from '../ports/nodes.ts';
import type { NodeCheck } from '../reasons.ts';
import { sampleNode } from '../testing/fixtures.ts';
import { desiredTaints, GATE_TAINT, isGated, taintChangeFor } from './nodeTaints.ts';

const REPORT: TaintPolicy = { gate: false, quarantine: false };
const QUARANTINE: TaintPolicy = { gate: false, quarantine: true };
const GATE: TaintPolicy = { gate: true, quarantine: true };
/** The gate is left, and its taint is still on the group. */
const LEAVING: TaintPolicy = { gate: true, quarantine: false };

const os: Taint = { key: 'os', value: 'windows', effect: 'NoSchedule' };
const quarantine = (value: string): Taint => ({ key: QUARANTINE_TAINT_KEY, value, effect: 'NoSchedule' });
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

describe('what a node gets and loses', () => {
  type Row = readonly [string, VerificationResult, TaintPolicy, set: readonly Taint[], remove: readonly Taint[]];
  const table: readonly Row[] = [
    ['nothing under Report, though it fails', result([os], 'failing'), REPORT, none, none],
    [
      'no quarantine any more under Report',
      result([os, quarantine('WrongBuild')], 'failing'),
      REPORT,
      none,
      [quarantine('WrongBuild')],
    ],
    ['no gate any more under Report', result([os, GATE_TAINT], 'failing'), REPORT, none, [GATE_TAINT]],
    ['quarantine when it fails', result([os], 'failing'), QUARANTINE, [quarantine('WrongBuild')], none],
    ['nothing while it has its quarantine', result([os, quarantine('WrongBuild')], 'failing'), QUARANTINE, none, none],
    [
      'another reason when it fails for another',
      result([quarantine('NotReady')], 'failing'),
      QUARANTINE,
      [quarantine('WrongBuild')],
      none,
    ],
    [
      'no quarantine any more when it passes',
      result([quarantine('NotReady'), os], 'verified'),
      QUARANTINE,
      none,
      [quarantine('NotReady')],
    ],
    ['no quarantine for a mere warning', result([os], 'verified'), QUARANTINE, none, none],
    ['no quarantine while it joins', result([os], 'joining', 'NotReady'), QUARANTINE, none, none],
    ['nothing while it is at the gate and joins', result([os, GATE_TAINT], 'joining', 'NotReady'), GATE, none, none],
    ['nothing while it is at the gate and fails', result([os, GATE_TAINT], 'failing'), GATE, none, none],
    ['release once it is verified', result([os, GATE_TAINT], 'verified'), GATE, none, [GATE_TAINT]],
    ['release again when EKS taints living nodes', result([GATE_TAINT, os], 'verified'), GATE, none, [GATE_TAINT]],
    ['quarantine when it fails after its release', result([os], 'failing'), GATE, [quarantine('WrongBuild')], none],
    [
      'the gate alone where it has both',
      result([quarantine('NotReady'), GATE_TAINT], 'failing'),
      GATE,
      none,
      [quarantine('NotReady')],
    ],
    ['nothing of a gate that it was not born with', result([os], 'joining', 'NotReady'), GATE, none, none],
    [
      'nothing while the group that leaves the gate has its taint',
      result([GATE_TAINT], 'failing'),
      LEAVING,
      none,
      none,
    ],
    [
      'release while the group that leaves the gate has its taint',
      result([GATE_TAINT], 'verified'),
      LEAVING,
      none,
      [GATE_TAINT],
    ],
    [
      'release whatever value somebody gave the taint',
      result([{ ...GATE_TAINT, value: 'x' }], 'verified'),
      GATE,
      none,
      [{ ...GATE_TAINT, value: 'x' }],
    ],
    ['nothing for a gate with another value', result([{ ...GATE_TAINT, value: 'x' }], 'failing'), GATE, none, none],
    [
      "nothing of somebody's taint with another effect",
      result([{ ...GATE_TAINT, effect: 'NoExecute' }], 'verified'),
      GATE,
      none,
      none,
    ],
  ];
  for (const [what, seen, policy, set, remove] of table) {
    it(what, () => {
      const wanted = set.length + remove.length > 0 ? { set, remove } : undefined;
      assert.deepEqual(taintChangeFor(seen, policy), wanted);
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

/** The node after the change, as the API server makes it. */
function changed(seen: VerificationResult, policy: TaintPolicy): VerificationResult {
  const { node } = seen;
  const { set, remove } = taintChangeFor(seen, policy) ?? { set: [], remove: [] };
  const kept = node.taints.filter(
    ({ key, effect }) => ![...set, ...remove].some((t) => t.key === key && t.effect === effect),
  );
  return { ...seen, node: { ...node, taints: [...kept, ...set] } };
}

describe('whatever taints a node has', () => {
  it('one change is enough, and the next one is none', () => {
    fc.assert(
      fc.property(anyResult, anyPolicy, (seen, policy) => {
        assert.equal(taintChangeFor(changed(seen, policy), policy), undefined);
      }),
    );
  });

  it('the taints of others are left as they are, in their order', () => {
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

  it('no node at the gate is released before it is verified, while the gate stands', () => {
    fc.assert(
      fc.property(anyResult, fc.constantFrom(GATE, LEAVING), (seen, policy) => {
        const isReleased = isGated(seen.node) && !isGated(changed(seen, policy).node);
        assert.equal(isReleased, isGated(seen.node) && seen.state === 'verified');
      }),
    );
  });

  it('a node has one taint of the operator at most, with a value that a label could have', () => {
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
  it('have the prefixes that the cluster-autoscaler knows, and the length that EKS takes', () => {
    assert.match(GATE_TAINT_KEY, /^startup-taint\.cluster-autoscaler\.kubernetes\.io\/[a-z-]+$/);
    assert.match(QUARANTINE_TAINT_KEY, /^status-taint\.cluster-autoscaler\.kubernetes\.io\/[a-z-]+$/);
    assert.ok(GATE_TAINT_KEY.length <= 63);
  });
});
