/** The rules about deletion, RuntimeClasses and nodes as a table. */
import type { WindowsPool } from '../api.gen.ts';
import { GATE_TAINT_KEY, QUARANTINE_TAINT_KEY } from '../labels.ts';
import { entriesOf, wantedFields } from '../nodeGroup/applied.ts';
import { GATE_TAINT } from '../nodes/nodeTaints.ts';
import { buildOf, WINDOWS_BUILD_LABEL } from '../nodes/windows.ts';
import {
  CLUSTER_ARN,
  knownStatus,
  MINUTE,
  NOW,
  sampleGroup,
  sampleNode,
  samplePool,
  sampleRuntimeClass,
  sampleSituation,
  sampleTrouble,
} from './fixtures.ts';
import { LEAVING, otherAuthority, type PlanCase, seen } from './planCases.ts';

const leaving = samplePool({}, { metadata: LEAVING, status: knownStatus() });
const unreachable = { kind: 'unreachable', trouble: sampleTrouble('unavailable') } as const;
const DELETE = 'delete node group web: the pool is deleted';

export const deletionCases: readonly PlanCase[] = [
  {
    name: 'the group of a deleted pool goes first',
    situation: sampleSituation({ pool: leaving }),
    want: [DELETE],
  },
  ...(['CREATING', 'UPDATING', 'DEGRADED', 'CREATE_FAILED', 'DELETE_FAILED'] as const).map((status) => ({
    name: `the group of a deleted pool goes while it is ${status}`,
    situation: sampleSituation({ pool: leaving, group: seen({ status }) }),
    want: [DELETE],
  })),
  {
    name: 'a deleted pool stays while its group is being deleted',
    situation: sampleSituation({ pool: leaving, group: seen({ status: 'DELETING' }) }),
    want: [],
  },
  {
    name: 'a deleted pool stays while its group cannot be looked at',
    situation: sampleSituation({
      pool: leaving,
      group: { ...unreachable, since: NOW, last: undefined },
    }),
    want: [],
  },
  {
    name: 'a deleted pool goes once its group is gone',
    situation: sampleSituation({ pool: leaving, group: { kind: 'absent' }, nodes: [] }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool goes when its cluster is gone, for the group went with it',
    situation: sampleSituation({
      pool: leaving,
      cluster: { kind: 'absent' },
      group: { kind: 'unreachable', trouble: sampleTrouble('gone'), since: NOW, last: sampleGroup() },
      nodes: [],
    }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool stays while its nodes are Ready, whatever EKS says of the cluster',
    situation: sampleSituation({
      pool: leaving,
      cluster: { kind: 'absent' },
      group: { kind: 'unreachable', trouble: sampleTrouble('gone'), since: NOW, last: sampleGroup() },
    }),
    want: [],
  },
  {
    name: 'a deletion that failed is not tried again at once',
    situation: sampleSituation({ pool: leaving, group: seen({ status: 'DELETE_FAILED', modifiedAt: NOW - MINUTE }) }),
    want: [],
  },
  {
    name: 'a deleted pool goes and leaves a foreign group of its name',
    situation: sampleSituation({ pool: leaving, group: seen({ tags: { 'winpool.dev/pool': 'api' } }) }),
    want: ['removeFinalizer'],
  },
  {
    name: 'a deleted pool that only other finalizers hold is left alone',
    situation: sampleSituation({
      pool: { ...leaving, metadata: { ...leaving.metadata, finalizers: ['example.com/backup'] } },
    }),
    want: [],
  },
  {
    name: 'nothing is deleted in a cluster with another certificate authority',
    situation: sampleSituation({ pool: leaving, cluster: otherAuthority }),
    want: [],
  },
  {
    name: 'a pool is not let go because another cluster has no such group',
    situation: sampleSituation({ pool: leaving, cluster: otherAuthority, group: { kind: 'absent' }, nodes: [] }),
    want: [],
  },
  {
    name: 'nothing is deleted while the cluster is not proven to be ours',
    situation: sampleSituation({ pool: leaving, cluster: unreachable }),
    want: [],
  },
];

const pool = samplePool({}, { status: knownStatus() });
const own = samplePool(
  { runtimeClass: { scope: 'Pool', handler: 'runhcs-wcow-hypervisor' } },
  { status: { ...knownStatus(), runtimeClass: { name: 'web' } } },
);
const unmanaged = samplePool({ runtimeClass: { manage: false } }, { status: knownStatus() });
const api = { name: 'api', uid: 'uid-api' };
const web = { name: 'web', uid: 'uid-web' };

export const runtimeClassCases: readonly PlanCase[] = [
  {
    name: 'a missing RuntimeClass is created',
    situation: sampleSituation({ pool, runtimeClass: undefined }),
    want: ['create RuntimeClass windows-2022'],
  },
  {
    name: 'a pool that manages no RuntimeClass creates none',
    situation: sampleSituation({ pool: unmanaged, runtimeClass: undefined }),
    want: [],
  },
  {
    name: 'a RuntimeClass of another pool is shared',
    situation: sampleSituation({ pool, runtimeClass: sampleRuntimeClass(pool, { owners: [api] }) }),
    want: ['apply RuntimeClass windows-2022'],
  },
  {
    name: 'a RuntimeClass that somebody changed is put right',
    situation: sampleSituation({ pool, runtimeClass: sampleRuntimeClass(pool, { tolerations: [] }) }),
    want: ['apply RuntimeClass windows-2022'],
  },
  {
    name: 'a RuntimeClass that was there before is never written to',
    situation: sampleSituation({
      pool,
      runtimeClass: sampleRuntimeClass(pool, { managed: false, owners: [], tolerations: [] }),
    }),
    want: [],
  },
  {
    name: 'a RuntimeClass that is being deleted is not written to',
    situation: sampleSituation({
      pool,
      runtimeClass: sampleRuntimeClass(pool, { deleting: true, owners: [] }),
    }),
    want: [],
  },
  {
    name: 'another handler is reached by deleting the RuntimeClass',
    situation: sampleSituation({
      pool: own,
      runtimeClass: sampleRuntimeClass(own, { handler: 'runhcs-wcow-process' }),
    }),
    want: ['delete RuntimeClass web'],
  },
  {
    name: 'a RuntimeClass with another handler that other pools use is left',
    situation: sampleSituation({
      pool: own,
      runtimeClass: sampleRuntimeClass(own, { handler: 'runhcs-wcow-process', owners: [web, api] }),
    }),
    want: [],
  },
  {
    name: 'two pools that choose one name for different RuntimeClasses do not fight',
    situation: sampleSituation({
      pool: own,
      runtimeClass: sampleRuntimeClass(own, { tolerations: [], owners: [api] }),
    }),
    want: [],
  },
  {
    name: 'the RuntimeClass that the spec no longer names is deleted when nobody else owns it',
    situation: sampleSituation({ pool: own, formerRuntimeClass: sampleRuntimeClass(pool) }),
    want: ['delete RuntimeClass windows-2022'],
  },
  {
    name: 'the RuntimeClass that the spec no longer names stays with its other owners, and the new one is made',
    situation: sampleSituation({
      pool: own,
      runtimeClass: undefined,
      formerRuntimeClass: sampleRuntimeClass(pool, { owners: [web, api] }),
    }),
    want: ['give up ownership of RuntimeClass windows-2022', 'create RuntimeClass web'],
  },
  {
    name: 'a former RuntimeClass that is not ours, or goes already, is left',
    situation: sampleSituation({
      pool: unmanaged,
      runtimeClass: undefined,
      formerRuntimeClass: sampleRuntimeClass(pool, { deleting: true }),
    }),
    want: [],
  },
  {
    name: 'a former RuntimeClass of other pools is left',
    situation: sampleSituation({
      pool: unmanaged,
      runtimeClass: undefined,
      formerRuntimeClass: sampleRuntimeClass(pool, { owners: [api] }),
    }),
    want: [],
  },
];

const { [WINDOWS_BUILD_LABEL]: _, ...unlabelled } = sampleNode().labels;
const stale = sampleNode({ labels: { ...unlabelled, [WINDOWS_BUILD_LABEL]: buildOf('Windows2019') } });
const LABEL = `label node ${stale.name} with node.kubernetes.io/windows-build=10.0.20348`;

const QUARANTINE = 'status-taint.cluster-autoscaler.kubernetes.io/winpool-quarantine:NoSchedule';
const strict = samplePool({ verification: { policy: 'Quarantine' } }, { status: knownStatus() });
const wrong = sampleNode({
  kernelVersion: '10.0.26100.1',
  labels: { ...sampleNode().labels, [WINDOWS_BUILD_LABEL]: '10.0.26100' },
});
const held = sampleNode({
  taints: [...sampleNode().taints, { key: QUARANTINE_TAINT_KEY, value: 'WrongBuild', effect: 'NoSchedule' }],
});
const HOLD = `correct the taints of node ${wrong.name}: set ${QUARANTINE}`;
const LET_GO = `correct the taints of node ${held.name}: remove ${QUARANTINE}`;

const GATE = `${GATE_TAINT_KEY}:NoSchedule`;
const os = sampleNode().taints;
const gated = samplePool({ verification: { policy: 'Gate' } });
const known = (of: WindowsPool, as: WindowsPool): WindowsPool => ({
  ...of,
  status: knownStatus({ applied: entriesOf(wantedFields(as)) }),
});
const reporting = samplePool();
const withGate = { kind: 'seen', group: sampleGroup(gated) } as const;
const newcomer = sampleNode({ taints: [...os, GATE_TAINT] });
const wrongNewcomer = { ...wrong, taints: newcomer.taints };
const RELEASE = `correct the taints of node ${newcomer.name}: remove ${GATE}`;
const SENDING_GATE = `remember web of ${CLUSTER_ARN}: sending taint ${GATE}`;

/** Verification.policy Gate: how it comes, what it holds and how it is left. */
const gateCases: readonly PlanCase[] = [
  {
    name: 'a verified node is let through the gate',
    situation: sampleSituation({ pool: known(gated, gated), group: withGate, nodes: [newcomer] }),
    want: [RELEASE],
  },
  {
    name: 'a node that is not verified stays at the gate',
    situation: sampleSituation({ pool: known(gated, gated), group: withGate, nodes: [wrongNewcomer] }),
    want: [],
  },
  {
    name: 'a node that is labelled in this run is looked at anew before it is let through',
    situation: sampleSituation({
      pool: known(gated, gated),
      group: withGate,
      nodes: [{ ...stale, taints: newcomer.taints }],
    }),
    want: [LABEL],
  },
  {
    name: 'a node that fails after its release is quarantined',
    situation: sampleSituation({ pool: known(gated, gated), group: withGate, nodes: [wrong] }),
    want: [HOLD],
  },
  {
    name: 'the group gets the taint when the policy becomes Gate',
    situation: sampleSituation({ pool: known(gated, reporting), group: seen() }),
    want: [SENDING_GATE, `update node group web: taints set ${GATE}`],
  },
  {
    name: 'the group loses the taint first when the gate is left, and what is not verified stays at it until then',
    situation: sampleSituation({
      pool: known(reporting, gated),
      group: withGate,
      nodes: [newcomer, { ...wrongNewcomer, name: 'wrong' }],
    }),
    want: [SENDING_GATE, `update node group web: taints remove ${GATE}`, RELEASE],
  },
  {
    name: 'the nodes lose the taint once the group has lost it',
    situation: sampleSituation({ pool: known(reporting, reporting), group: seen(), nodes: [wrongNewcomer] }),
    want: [RELEASE],
  },
  {
    name: 'nodes stay at a gate of which only the memory tells, while AWS cannot be reached',
    situation: sampleSituation({
      pool: known(reporting, gated),
      group: { ...unreachable, since: NOW, last: undefined },
      nodes: [wrongNewcomer],
    }),
    want: [],
  },
  {
    name: 'a taint of the gate that nobody remembers is taken from the group',
    situation: sampleSituation({ pool, group: withGate, nodes: [] }),
    want: [`update node group web: taints remove ${GATE}`],
  },
];

export const taintCases: readonly PlanCase[] = [
  ...gateCases,
  {
    name: 'a node that fails is quarantined',
    situation: sampleSituation({ pool: strict, nodes: [wrong] }),
    want: [HOLD],
  },
  {
    name: 'a node that fails is left alone under Report',
    situation: sampleSituation({ pool, nodes: [wrong] }),
    want: [],
  },
  {
    name: 'a node that passes again is let go',
    situation: sampleSituation({ pool: strict, nodes: [held] }),
    want: [LET_GO],
  },
  {
    name: 'no node stays quarantined under Report',
    situation: sampleSituation({
      pool,
      nodes: [{ ...held, kernelVersion: wrong.kernelVersion, labels: wrong.labels }],
    }),
    want: [LET_GO],
  },
  {
    name: 'a node that is labelled in this run is looked at anew before it is quarantined',
    situation: sampleSituation({ pool: strict, nodes: [stale] }),
    want: [LABEL],
  },
  {
    name: 'nodes are quarantined while AWS cannot be reached',
    situation: sampleSituation({
      pool: strict,
      nodes: [wrong],
      cluster: unreachable,
      group: { ...unreachable, since: NOW, last: undefined },
    }),
    want: [HOLD],
  },
  {
    name: 'the nodes of a foreign group are not quarantined',
    situation: sampleSituation({ pool: strict, nodes: [wrong], group: seen({ tags: {} }) }),
    want: [],
  },
  {
    name: 'no node is quarantined when the cluster is another',
    situation: sampleSituation({ pool: strict, nodes: [wrong], cluster: otherAuthority }),
    want: [],
  },
];

const fresh = sampleNode({ verified: undefined });
const FRESH = `${fresh.name}: True ChecksPassed`;

export const verdictCases: readonly PlanCase[] = [
  {
    name: 'a node that passes is told once',
    situation: sampleSituation({ pool, nodes: [sampleNode({ name: 'known' }), fresh] }),
    want: [],
    told: [FRESH],
  },
  {
    name: 'a node that fails or joins is told why',
    situation: sampleSituation({
      pool,
      nodes: [{ ...wrong, name: 'failing' }, sampleNode({ name: 'joining', ready: 'False', createdAt: NOW - MINUTE })],
    }),
    want: [],
    told: ['failing: False WrongBuild', 'joining: Unknown Joining'],
  },
  {
    name: 'a node that is labelled in this run is told later',
    situation: sampleSituation({ pool, nodes: [stale] }),
    want: [LABEL],
    told: [],
  },
  {
    name: 'the nodes of a foreign group are told nothing',
    situation: sampleSituation({ pool, nodes: [fresh], group: seen({ tags: {} }) }),
    want: [],
    told: [],
  },
  {
    name: 'no node is told anything when the cluster is another',
    situation: sampleSituation({ pool, nodes: [fresh], cluster: otherAuthority }),
    want: [],
    told: [],
  },
  {
    name: 'nodes that go with their group are told nothing',
    situation: sampleSituation({ pool: leaving }),
    want: [DELETE],
    told: [],
  },
];

export const nodeCases: readonly PlanCase[] = [
  {
    name: 'a stale windows-build label is corrected',
    situation: sampleSituation({ pool, nodes: [stale] }),
    want: [LABEL],
  },
  {
    name: 'a missing windows-build label is added',
    situation: sampleSituation({ pool, nodes: [sampleNode({ labels: unlabelled })] }),
    want: [LABEL],
  },
  {
    name: 'a node of another build is labelled with the build that it has',
    situation: sampleSituation({ pool, nodes: [sampleNode({ kernelVersion: '10.0.26100.1' })] }),
    want: [LABEL.replace('20348', '26100')],
  },
  {
    name: 'a node that goes, or whose kernel is unknown, is left alone',
    situation: sampleSituation({
      pool,
      nodes: [sampleNode({ ...stale, deleting: true }), sampleNode({ ...stale, kernelVersion: '5.10.0' })],
    }),
    want: [],
  },
  {
    name: 'the nodes of a foreign group are left alone',
    situation: sampleSituation({ pool, nodes: [stale], group: seen({ tags: {} }) }),
    want: [],
  },
  {
    name: 'the nodes of a group that was foreign when it was last seen are left alone',
    situation: sampleSituation({
      pool,
      nodes: [stale],
      group: { ...unreachable, since: NOW, last: sampleGroup(pool, { tags: {} }) },
    }),
    want: [],
  },
  {
    name: 'nodes are left alone when the cluster is another',
    situation: sampleSituation({ pool, nodes: [stale], cluster: otherAuthority }),
    want: [],
  },
  {
    name: 'labels are corrected while AWS cannot be reached',
    situation: sampleSituation({
      pool,
      nodes: [stale],
      cluster: unreachable,
      group: { ...unreachable, since: NOW, last: undefined },
    }),
    want: [LABEL],
  },
];
