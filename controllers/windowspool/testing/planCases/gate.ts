/** Verification.policy Gate: how it comes, what it holds and how it is left. */
import type { WindowsPool } from '../../api.gen.ts';
import { GATE_TAINT_KEY } from '../../labels.ts';
import { GATE_TAINT } from '../../nodes/nodeTaints.ts';
import { desiredFields, entriesOf } from '../../providers/eks/applied.ts';
import { knownStatus, sampleNode, samplePool, sampleState } from '../fixtures.ts';
import { seen, unseen } from '../sights.ts';
import { HOLD, LABEL, mislabelled, wrong } from './faultyNodes.ts';
import type { PlanCase } from './planCase.ts';
import { sending } from './steps.ts';

const GATE = `${GATE_TAINT_KEY}:NoSchedule`;
const os = sampleNode().taints;
const gated = samplePool({ verification: { policy: 'Gate' } });
/** The pool with the memory of one whose group was made from another spec. */
const remembering = (of: WindowsPool, as: WindowsPool): WindowsPool => ({
  ...of,
  status: knownStatus({ applied: entriesOf(desiredFields(as)) }),
});
const reporting = samplePool();
const withGate = seen({}, gated);
const newcomer = sampleNode({ taints: [...os, GATE_TAINT] });
const wrongNewcomer = { ...wrong, taints: newcomer.taints };
const RELEASE = `correct the taints of node ${newcomer.name}: remove ${GATE}`;
const SENDING_GATE = sending(`taint ${GATE}`);

export const gateCases: readonly PlanCase[] = [
  {
    name: 'a verified node is let through the gate',
    observed: sampleState({ pool: remembering(gated, gated), group: withGate, nodes: [newcomer] }),
    want: [RELEASE],
  },
  {
    name: 'a node that is not verified stays at the gate',
    observed: sampleState({ pool: remembering(gated, gated), group: withGate, nodes: [wrongNewcomer] }),
    want: [],
  },
  {
    name: 'a node that is labelled in this run is looked at anew before it is let through',
    observed: sampleState({
      pool: remembering(gated, gated),
      group: withGate,
      nodes: [{ ...mislabelled, taints: newcomer.taints }],
    }),
    want: [LABEL],
  },
  {
    name: 'a node that fails after its release is quarantined',
    observed: sampleState({ pool: remembering(gated, gated), group: withGate, nodes: [wrong] }),
    want: [HOLD],
  },
  {
    name: 'the group gets the taint when the policy becomes Gate',
    observed: sampleState({ pool: remembering(gated, reporting), group: seen() }),
    want: [SENDING_GATE, `update node group web: taints set ${GATE}`],
  },
  {
    name: 'the group loses the taint first when the gate is left, and what is not verified stays at it until then',
    observed: sampleState({
      pool: remembering(reporting, gated),
      group: withGate,
      nodes: [newcomer, { ...wrongNewcomer, name: 'wrong' }],
    }),
    want: [SENDING_GATE, `update node group web: taints remove ${GATE}`, RELEASE],
  },
  {
    name: 'the nodes lose the taint once the group has lost it',
    observed: sampleState({ pool: remembering(reporting, reporting), group: seen(), nodes: [wrongNewcomer] }),
    want: [RELEASE],
  },
  {
    name: 'nodes stay at a gate of which only the memory tells, while AWS cannot be reached',
    observed: sampleState({
      pool: remembering(reporting, gated),
      group: unseen(),
      nodes: [wrongNewcomer],
    }),
    want: [],
  },
  {
    name: 'a taint of the gate that nobody remembers is taken from the group',
    observed: sampleState({ group: withGate, nodes: [] }),
    want: [`update node group web: taints remove ${GATE}`],
  },
];
