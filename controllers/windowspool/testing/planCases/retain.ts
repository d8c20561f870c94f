/** A pool that goes and leaves its group: deletionPolicy Retain. */
import type { WindowsPoolSpec } from '../../api.gen.ts';
import { GATE_TAINT_KEY } from '../../labels.ts';
import { GATE_TAINT } from '../../nodes/nodeTaints.ts';
import { hashOf } from '../../util/hash.ts';
import {
  knownStatus,
  LEAVING,
  MINUTE,
  NOW,
  sampleGroup,
  sampleNode,
  samplePool,
  sampleRuntimeClass,
  sampleState,
} from '../fixtures.ts';
import { BY_OPERATOR } from '../nodeScenes.ts';
import { otherAuthority, seen, unreachable, unseen } from '../sights.ts';
import type { PlanCase } from './planCase.ts';

const metadata = LEAVING;
const retained = samplePool({ deletionPolicy: 'Retain' }, { metadata, status: knownStatus() });
const ownClass: Partial<WindowsPoolSpec> = {
  deletionPolicy: 'Retain',
  runtimeClass: { ...samplePool().spec.runtimeClass, scope: 'Pool' },
};
const retainedWithOwnClass = samplePool(ownClass, { metadata, status: knownStatus() });

const LABELS = 'update node group web: labels remove winpool.dev/pool, winpool.dev/windows-build';
const TAGS = 'correct the tags of node group web: remove winpool.dev/pool, winpool.dev/created-from';
const AUTOSCALER = "take the cluster-autoscaler's tags from scaling group eks-web-0a1b";
const CLASS = 'give up ownership of RuntimeClass windows-2022';
const GO = 'removeFinalizer';
const sent = { labels: { set: {}, remove: ['winpool.dev/pool', 'winpool.dev/windows-build'] } };

export const retainCases: readonly PlanCase[] = [
  {
    name: 'labels go first, then the tags that prove the ownership, the RuntimeClass and the pool',
    observed: sampleState({
      pool: retained,
      nodes: [sampleNode({ name: 'a' }), sampleNode({ name: 'b', verified: undefined })],
    }),
    want: [LABELS, AUTOSCALER, TAGS, CLASS, GO],
    reported: ['a: nothing'],
  },
  {
    name: 'a node that was to be replaced stays, and takes pods again',
    observed: sampleState({
      pool: retained,
      group: seen({ labels: {} }),
      nodes: [sampleNode({ name: 'a', unschedulable: true, annotations: BY_OPERATOR })],
    }),
    want: ['let node a stay', AUTOSCALER, TAGS, CLASS, GO],
  },
  {
    name: 'the taints of the operator go with the labels, those of the user and os=windows stay',
    observed: sampleState({
      pool: retained,
      group: seen({
        labels: { team: 'web', 'winpool.dev/pool': 'web' },
        taints: [
          { key: 'os', value: 'windows', effect: 'NoSchedule' },
          { key: 'gpu', effect: 'NoExecute' },
          { key: 'winpool.dev/unverified', effect: 'NoSchedule' },
        ],
      }),
    }),
    want: [
      'update node group web: labels remove winpool.dev/pool; taints remove winpool.dev/unverified:NoSchedule',
      AUTOSCALER,
      TAGS,
      CLASS,
      GO,
    ],
  },
  {
    name: "the gate's taint goes from the group, then from the nodes, before the tags by which they are found",
    observed: sampleState({
      pool: { ...retained, spec: { ...retained.spec, verification: { policy: 'Gate' } } },
      group: seen({ labels: {}, taints: [GATE_TAINT] }),
      nodes: [
        sampleNode({ taints: [...sampleNode().taints, GATE_TAINT] }),
        sampleNode({ name: 'odd', kernelVersion: '', taints: [GATE_TAINT] }),
      ],
    }),
    want: [
      `update node group web: taints remove ${GATE_TAINT_KEY}:NoSchedule`,
      `correct the taints of node ${sampleNode().name}: remove ${GATE_TAINT_KEY}:NoSchedule`,
      AUTOSCALER,
      TAGS,
      CLASS,
      GO,
    ],
  },
  {
    name: "no node keeps a taint of the operator once the group has lost the gate's",
    observed: sampleState({
      pool: { ...retained, spec: { ...retained.spec, verification: { policy: 'Gate' } } },
      group: seen({ labels: {} }),
      nodes: [sampleNode({ name: 'odd', kernelVersion: '', taints: [GATE_TAINT] })],
    }),
    want: [`correct the taints of node odd: remove ${GATE_TAINT_KEY}:NoSchedule`, AUTOSCALER, TAGS, CLASS, GO],
  },
  {
    name: 'the label of the pool stays where a RuntimeClass that stays selects it',
    observed: sampleState({ pool: retainedWithOwnClass }),
    want: [
      'update node group web: labels remove winpool.dev/windows-build',
      AUTOSCALER,
      TAGS,
      'give up ownership of RuntimeClass web',
      GO,
    ],
  },
  {
    name: 'labels and taints that are gone need no update; tags of others stay',
    observed: sampleState({
      pool: retained,
      group: seen({ labels: { team: 'web' }, tags: { 'winpool.dev/pool': 'web', backup: 'daily' } }),
    }),
    want: [AUTOSCALER, 'correct the tags of node group web: remove winpool.dev/pool', CLASS, GO],
  },
  {
    name: 'the pool goes when the tags are gone',
    observed: sampleState({ pool: retained, group: seen({ tags: { backup: 'daily' } }) }),
    want: [CLASS, GO],
  },
  {
    name: 'an update that EKS took on and did not do is not sent again',
    observed: sampleState({
      pool: {
        ...retained,
        status: knownStatus({
          update: { id: 'u-1', type: 'ConfigUpdate', target: hashOf({ leaving: sent }), status: 'InProgress' },
        }),
      },
    }),
    want: [AUTOSCALER, TAGS, CLASS, GO],
  },
  ...(['CREATING', 'UPDATING'] as const).map((status) => ({
    name: `a group that is ${status} is waited for`,
    observed: sampleState({ pool: retained, group: seen({ status }) }),
    want: [],
  })),
  {
    name: 'a foreign group that is UPDATING is not waited for',
    observed: sampleState({ pool: retained, group: seen({ status: 'UPDATING', tags: {} }) }),
    want: [CLASS, GO],
  },
  {
    name: 'a DEGRADED group may take the update',
    observed: sampleState({ pool: retained, group: seen({ status: 'DEGRADED' }) }),
    want: [LABELS, AUTOSCALER, TAGS, CLASS, GO],
  },
  {
    name: 'a group that is DEGRADED for long keeps its labels',
    observed: sampleState({ pool: retained, now: NOW + 10 * MINUTE, group: seen({ status: 'DEGRADED' }) }),
    want: [AUTOSCALER, TAGS, CLASS, GO],
  },
  ...(['CREATE_FAILED', 'DELETE_FAILED'] as const).map((status) => ({
    name: `a group that is ${status} takes no update and loses its tags`,
    observed: sampleState({ pool: retained, group: seen({ status }) }),
    want: [AUTOSCALER, TAGS, CLASS, GO],
  })),
  {
    name: 'a group that somebody deletes is left alone',
    observed: sampleState({ pool: retained, group: seen({ status: 'DELETING' }) }),
    want: [CLASS, GO],
  },
  {
    name: 'a pool without a group goes',
    observed: sampleState({ pool: retained, group: { kind: 'absent' }, nodes: [] }),
    want: [CLASS, GO],
  },
  {
    name: 'an AWS that does not answer is asked again for a while',
    observed: sampleState({
      pool: retained,
      group: unseen(),
      now: NOW + 9 * MINUTE,
    }),
    want: [],
  },
  {
    name: 'an AWS that does not answer for long holds up nobody',
    observed: sampleState({
      pool: retained,
      group: unseen(),
      now: NOW + 10 * MINUTE,
    }),
    want: [CLASS, GO],
  },
  {
    name: 'a cluster that cannot be described for a moment is asked again',
    observed: sampleState({ pool: retained, cluster: unreachable() }),
    want: [],
  },
  {
    name: 'a missing right to look holds up nobody',
    observed: sampleState({
      pool: retained,
      cluster: unreachable('denied'),
      group: unseen('denied', sampleGroup(retained)),
    }),
    want: [CLASS, GO],
  },
  {
    name: 'a group that is not proven to be in our cluster keeps its marks',
    observed: sampleState({ pool: retained, cluster: unreachable('denied') }),
    want: [CLASS, GO],
  },
  {
    name: 'the group of another cluster is left alone, also while it is UPDATING, and a RuntimeClass of others stays theirs',
    observed: sampleState({
      pool: retained,
      cluster: otherAuthority,
      group: seen({ status: 'UPDATING' }),
      runtimeClass: sampleRuntimeClass(retained, { owners: [{ name: 'api', uid: 'uid-api' }] }),
    }),
    want: [GO],
  },
];
