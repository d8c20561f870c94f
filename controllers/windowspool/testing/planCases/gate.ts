/** Verification.policy Gate: how it is enabled, which nodes are gated, and how it is disabled. */
import type { WindowsPool } from '../../api/api.gen.ts';
import { GATE_TAINT_KEY } from '../../api/labels.ts';
import { GATE_TAINT } from '../../nodes/nodeTaints.ts';
import { desiredFields, entriesOf } from '../../providers/nodeGroup/changes/appliedFields.ts';
import { knownStatus, sampleNode, samplePool, sampleState } from '../fixtures.ts';
import { seen, unseen } from '../sights.ts';
import { LABEL, mislabelled, SET_QUARANTINE, wrong } from './faultyNodes.ts';
import type { PlanCase } from './planCase.ts';
import { sending } from './steps.ts';

const GATE = `${GATE_TAINT_KEY}:NoSchedule`;
const os = sampleNode().taints;
const gated = samplePool({ verification: { policy: 'Gate' } });
/** The pool with the status of one whose group was created from another spec. */
const remembering = (of: WindowsPool, as: WindowsPool): WindowsPool => ({
  ...of,
  status: knownStatus({ applied: entriesOf(desiredFields(as)) }),
});
const reporting = samplePool();
const withGate = seen({}, gated);
const newcomer = sampleNode({ taints: [...os, GATE_TAINT] });
const wrongNewcomer = { ...wrong, taints: newcomer.taints };
const RELEASE = `taintNode ${newcomer.name} -startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate:NoSchedule`;
const RULE = 'readiness.k8s.io/web:NoSchedule';
const leftToRule = samplePool({ verification: { policy: 'Gate', readinessTaint: 'readiness.k8s.io/web' } });
const held = sampleNode({ taints: [...os, { key: 'readiness.k8s.io/web', effect: 'NoSchedule' }] });
const SENDING_GATE = sending(`taint ${GATE}`);

export const gateCases: readonly PlanCase[] = [
  {
    name: 'a verified node loses the gate taint',
    observed: sampleState({ pool: remembering(gated, gated), group: withGate, nodes: [newcomer] }),
    want: [RELEASE],
  },
  {
    name: 'a node that is not verified keeps the gate taint',
    observed: sampleState({ pool: remembering(gated, gated), group: withGate, nodes: [wrongNewcomer] }),
    want: [],
    waits: { because: 'NodesVerified WrongBuild', until: '10m' },
  },
  {
    name: 'a node that is labelled in this run is verified again before it loses the gate taint',
    observed: sampleState({
      pool: remembering(gated, gated),
      group: withGate,
      nodes: [{ ...mislabelled, taints: newcomer.taints }],
    }),
    want: [LABEL],
  },
  {
    name: 'a node that fails without the gate taint is quarantined',
    observed: sampleState({ pool: remembering(gated, gated), group: withGate, nodes: [wrong] }),
    want: [SET_QUARANTINE],
  },
  {
    name: 'the group gets the taint when the policy becomes Gate',
    observed: sampleState({ pool: remembering(gated, reporting), group: seen() }),
    want: [SENDING_GATE, `updateConfig web +${GATE}`],
  },
  {
    name: 'the group loses the taint first when the policy changes, and unverified nodes keep it until then',
    observed: sampleState({
      pool: remembering(reporting, gated),
      group: withGate,
      nodes: [newcomer, { ...wrongNewcomer, name: 'wrong' }],
    }),
    want: [
      SENDING_GATE,
      'updateConfig web -startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate:NoSchedule',
      RELEASE,
    ],
  },
  {
    name: 'the nodes lose the taint after the group',
    observed: sampleState({ pool: remembering(reporting, reporting), group: seen(), nodes: [wrongNewcomer] }),
    want: [RELEASE],
  },
  {
    name: 'nodes keep the gate taint while only status shows it, because AWS cannot be read',
    observed: sampleState({
      pool: remembering(reporting, gated),
      group: unseen(),
      nodes: [wrongNewcomer],
    }),
    want: [],
    waits: { because: 'NodeGroupReady AWSUnavailable', until: 'backoff' },
  },
  {
    name: 'a gate taint that status does not record is removed from the group',
    observed: sampleState({ group: withGate, nodes: [] }),
    want: ['updateConfig web -startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate:NoSchedule'],
  },
  {
    name: 'the group has the taint of a NodeReadinessRule instead, and nodes keep it until the rule removes it',
    observed: sampleState({ pool: remembering(leftToRule, leftToRule), group: seen({}, leftToRule), nodes: [held] }),
    want: [],
    waits: { because: 'NodesVerified Joining', until: '10m' },
  },
  {
    name: 'the group gets the taint of the rule in place of the gate taint when the gate is left to it',
    observed: sampleState({ pool: remembering(leftToRule, gated), group: withGate, nodes: [newcomer] }),
    want: [
      sending(`taint ${RULE}`, `taint ${GATE}`),
      `updateConfig web +${RULE} -startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate:NoSchedule`,
      RELEASE,
    ],
  },
  {
    name: 'the group loses the taint of the rule when the gate is no longer left to it',
    observed: sampleState({ pool: remembering(reporting, leftToRule), group: seen({}, leftToRule), nodes: [held] }),
    want: [sending(`taint ${RULE}`), 'updateConfig web -readiness.k8s.io/web:NoSchedule'],
  },
];
