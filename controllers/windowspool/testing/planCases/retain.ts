/** A deleted pool that retains its group: deletionPolicy Retain. */
import { GATE_TAINT } from '../../nodes/nodeTaints.ts';
import { hashOf } from '../../util/hash.ts';
import {
  knownStatus,
  LEAVING,
  MINUTE,
  NOW,
  type SpecChange,
  sampleGroup,
  sampleNode,
  samplePool,
  sampleRuntimeClass,
  sampleState,
} from '../fixtures.ts';
import {
  DISK_100,
  launchSettingsFor,
  launchSettingsPool,
  launchSettingsState,
  launchSettingsToBe,
  ownTemplate,
  TEMPLATE_NAME,
} from '../launchSettingsScenes.ts';
import { BY_OPERATOR } from '../nodeScenes.ts';
import { otherAuthority, seen, unconfirmed, unreachable, unseen, withoutCluster } from '../sights.ts';
import type { PlanCase } from './planCase.ts';

const metadata = LEAVING;
const retained = samplePool({ deletionPolicy: 'Retain' }, { metadata, status: knownStatus() });
const ownClass: SpecChange = {
  deletionPolicy: 'Retain',
  runtimeClass: { name: 'web' },
};
const retainedWithOwnClass = samplePool(ownClass, { metadata, status: knownStatus() });

const bare = launchSettingsPool(DISK_100, {}, knownStatus());
const retainedLaunchSettings = {
  ...bare,
  metadata: { ...bare.metadata, ...metadata },
  spec: { ...bare.spec, ...retained.spec, nodeGroup: bare.spec.nodeGroup },
};

const LABELS = 'updateConfig web -winpool.dev/pool -winpool.dev/windows-build';
const TAGS = 'correctTags web -winpool.dev/pool -winpool.dev/created-from';
const AUTOSCALER = 'correctScalingTags eks-web-0a1b retain';
const CLASS = 'releaseRuntimeClass windows-2022';
const REMOVE_FINALIZER = 'removeFinalizer';
const sent = { labels: { set: {}, remove: ['winpool.dev/pool', 'winpool.dev/windows-build'] } };

export const retainCases: readonly PlanCase[] = [
  {
    name: 'the launch template of a retained group is kept',
    observed: launchSettingsState(DISK_100, { launchSettings: DISK_100 }, {}, { pool: retainedLaunchSettings }),
    want: [LABELS, AUTOSCALER, TAGS, CLASS, REMOVE_FINALIZER],
  },
  {
    name: 'a launch template from which no group was created is deleted',
    observed: launchSettingsToBe(DISK_100, {
      pool: retainedLaunchSettings,
      ownTemplate: ownTemplate([launchSettingsFor(DISK_100)]),
    }),
    want: [`deleteLaunchTemplate ${TEMPLATE_NAME}`, CLASS, REMOVE_FINALIZER],
  },
  {
    name: 'labels are removed first, then the ownership tags, the RuntimeClass and the finalizer',
    observed: sampleState({
      pool: retained,
      nodes: [sampleNode({ name: 'a' }), sampleNode({ name: 'b', verified: undefined })],
    }),
    want: [LABELS, AUTOSCALER, TAGS, CLASS, REMOVE_FINALIZER],
    nodeConditions: ['a: nothing'],
  },
  {
    name: 'a node with a pending replacement is kept and uncordoned',
    observed: sampleState({
      pool: retained,
      group: seen({ labels: {} }),
      nodes: [sampleNode({ name: 'a', unschedulable: true, annotations: BY_OPERATOR })],
    }),
    want: ['uncordonNode a', AUTOSCALER, TAGS, CLASS, REMOVE_FINALIZER],
  },
  {
    name: 'the taints of the operator are removed with the labels, and those of the user and os=windows are kept',
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
      'updateConfig web -winpool.dev/pool -winpool.dev/unverified:NoSchedule',
      AUTOSCALER,
      TAGS,
      CLASS,
      REMOVE_FINALIZER,
    ],
  },
  {
    name: 'the gate taint is removed from the group, then from the nodes, and the tags after that',
    observed: sampleState({
      pool: { ...retained, spec: { ...retained.spec, verification: { policy: 'Gate' } } },
      group: seen({ labels: {}, taints: [GATE_TAINT] }),
      nodes: [
        sampleNode({ taints: [...sampleNode().taints, GATE_TAINT] }),
        sampleNode({ name: 'odd', kernelVersion: '', taints: [GATE_TAINT] }),
      ],
    }),
    want: [
      'updateConfig web -startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate:NoSchedule',
      `taintNode ${sampleNode().name} -startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate:NoSchedule`,
      AUTOSCALER,
      TAGS,
      CLASS,
      REMOVE_FINALIZER,
    ],
  },
  {
    name: 'the taint of a NodeReadinessRule is removed from the group, because no node would be verified any more, and stays on nodes',
    observed: sampleState({
      pool: {
        ...retained,
        spec: { ...retained.spec, verification: { policy: 'Gate', readinessTaint: 'readiness.k8s.io/web' } },
      },
      group: seen({ labels: {}, taints: [{ key: 'readiness.k8s.io/web', effect: 'NoSchedule' }] }),
      nodes: [sampleNode({ taints: [{ key: 'readiness.k8s.io/web', effect: 'NoSchedule' }] })],
    }),
    want: ['updateConfig web -readiness.k8s.io/web:NoSchedule', AUTOSCALER, TAGS, CLASS, REMOVE_FINALIZER],
  },
  {
    name: 'all taints of the operator are removed from nodes when the group has no gate taint',
    observed: sampleState({
      pool: { ...retained, spec: { ...retained.spec, verification: { policy: 'Gate' } } },
      group: seen({ labels: {} }),
      nodes: [sampleNode({ name: 'odd', kernelVersion: '', taints: [GATE_TAINT] })],
    }),
    want: [
      'taintNode odd -startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate:NoSchedule',
      AUTOSCALER,
      TAGS,
      CLASS,
      REMOVE_FINALIZER,
    ],
  },
  {
    name: 'the label of the pool is kept if a retained RuntimeClass selects it',
    observed: sampleState({ pool: retainedWithOwnClass }),
    want: [
      'updateConfig web -winpool.dev/windows-build',
      AUTOSCALER,
      TAGS,
      'releaseRuntimeClass web',
      REMOVE_FINALIZER,
    ],
  },
  {
    name: 'missing labels and taints need no update, and tags of others are kept',
    observed: sampleState({
      pool: retained,
      group: seen({
        labels: { team: 'web' },
        tags: { 'winpool.dev/pool': 'web', 'winpool.dev/adoptable-by': 'web', backup: 'daily' },
      }),
    }),
    want: [AUTOSCALER, 'correctTags web -winpool.dev/pool', CLASS, REMOVE_FINALIZER],
  },
  {
    name: 'the finalizer is removed when the tags are removed',
    observed: sampleState({ pool: retained, group: seen({ tags: { backup: 'daily' } }) }),
    want: [CLASS, REMOVE_FINALIZER],
  },
  {
    name: 'the finalizer stays when AWS has just answered that the group has no tags',
    observed: sampleState({ pool: retained, group: unconfirmed('unowned') }),
    want: [],
    waits: { because: 'NodeGroupReady Retained', until: '10s' },
  },
  {
    name: 'an update that EKS accepted and did not apply is not sent again',
    observed: sampleState({
      pool: {
        ...retained,
        status: knownStatus({
          update: {
            id: 'u-1',
            type: 'ConfigUpdate',
            target: hashOf({ leaving: { change: sent, group: 'web' } }),
            status: 'InProgress',
          },
        }),
      },
    }),
    want: [AUTOSCALER, TAGS, CLASS, REMOVE_FINALIZER],
  },
  ...(['CREATING', 'UPDATING', 'DELETING'] as const).map(
    (status): PlanCase => ({
      name: `a group that is ${status} delays the deletion`,
      observed: sampleState({ pool: retained, group: seen({ status }) }),
      want: [],
      waits: { because: 'NodeGroupReady Retained', until: '1s' },
    }),
  ),
  {
    name: 'a group that is UPDATING delays the deletion while the cluster cannot be read',
    observed: sampleState({
      pool: retained,
      cluster: unreachable('denied', NOW - MINUTE),
      group: seen({ status: 'UPDATING' }),
    }),
    want: [],
    waits: { because: 'NodeGroupReady Retained', until: '1m' },
  },
  {
    name: 'an unowned group that is UPDATING does not delay the deletion',
    observed: sampleState({ pool: retained, group: seen({ status: 'UPDATING', tags: {} }) }),
    want: [CLASS, REMOVE_FINALIZER],
  },
  {
    name: 'the update is sent to a DEGRADED group',
    observed: sampleState({ pool: retained, group: seen({ status: 'DEGRADED' }) }),
    want: [LABELS, AUTOSCALER, TAGS, CLASS, REMOVE_FINALIZER],
  },
  {
    name: 'a group that stays DEGRADED keeps its labels',
    observed: sampleState({ pool: retained, now: NOW + 10 * MINUTE, group: seen({ status: 'DEGRADED' }) }),
    want: [AUTOSCALER, TAGS, CLASS, REMOVE_FINALIZER],
  },
  ...(['CREATE_FAILED', 'DELETE_FAILED'] as const).map((status) => ({
    name: `a group that is ${status} gets no update, and its tags are removed`,
    observed: sampleState({ pool: retained, group: seen({ status }) }),
    want: [AUTOSCALER, TAGS, CLASS, REMOVE_FINALIZER],
  })),
  {
    name: 'a pool whose group exists keeps its finalizer when EKS does not find the cluster',
    observed: sampleState({ pool: retained, cluster: { kind: 'absent' } }),
    want: [],
    waits: { because: 'NodeGroupReady Retained', until: '20s' },
  },
  {
    name: 'a pool whose group is not found keeps its finalizer after the first such answer',
    observed: sampleState({ pool: retained, group: unconfirmed(), nodes: [] }),
    want: [],
    waits: { because: 'NodeGroupReady Retained', until: '10s' },
  },
  {
    name: 'a pool whose group has no cluster keeps its finalizer after the first such answer',
    observed: sampleState({ pool: retained, group: withoutCluster('seenOnce') }),
    want: [],
    waits: { because: 'NodeGroupReady Retained', until: '10s' },
  },
  {
    name: 'a pool whose group has no cluster is deleted when two answers say so',
    observed: sampleState({ pool: retained, group: withoutCluster('confirmed') }),
    want: [CLASS, REMOVE_FINALIZER],
  },
  {
    name: 'a pool whose group has no cluster is deleted when EKS does not find the cluster either',
    observed: sampleState({ pool: retained, cluster: { kind: 'absent' }, group: withoutCluster('seenOnce') }),
    want: [CLASS, REMOVE_FINALIZER],
  },
  {
    name: 'a pool without a group is deleted',
    observed: sampleState({ pool: retained, group: { kind: 'absent' }, nodes: [] }),
    want: [CLASS, REMOVE_FINALIZER],
  },
  {
    name: 'an unreachable group delays the deletion for some time',
    observed: sampleState({
      pool: retained,
      group: unseen(),
      now: NOW + 9 * MINUTE,
    }),
    want: [],
    waits: { because: 'NodeGroupReady Retained', until: 'backoff' },
  },
  {
    name: 'a group that stays unreachable does not block the deletion',
    observed: sampleState({
      pool: retained,
      group: unseen(),
      now: NOW + 10 * MINUTE,
    }),
    want: [CLASS, REMOVE_FINALIZER],
  },
  {
    name: 'an unreachable cluster delays the deletion',
    observed: sampleState({ pool: retained, cluster: unreachable() }),
    want: [],
    waits: { because: 'PrerequisitesMet AWSUnavailable', until: 'backoff' },
  },
  {
    name: 'a missing permission to read does not block the deletion',
    observed: sampleState({
      pool: retained,
      cluster: unreachable('denied', NOW - MINUTE),
      group: unseen('denied', sampleGroup(retained), NOW - MINUTE),
    }),
    want: [CLASS, REMOVE_FINALIZER],
  },
  {
    name: 'a read that was denied once delays the deletion',
    observed: sampleState({ pool: retained, group: unseen('denied', sampleGroup(retained)) }),
    want: [],
    waits: { because: 'PrerequisitesMet AccessDenied', until: '1m' },
  },
  {
    name: 'a group whose cluster cannot be verified keeps its labels and tags',
    observed: sampleState({ pool: retained, cluster: unreachable('denied', NOW - MINUTE) }),
    want: [CLASS, REMOVE_FINALIZER],
  },
  {
    name: 'the group of another cluster is not changed, also while it is UPDATING, nor a RuntimeClass of other pools',
    observed: sampleState({
      pool: retained,
      cluster: otherAuthority,
      group: seen({ status: 'UPDATING' }),
      runtimeClass: sampleRuntimeClass(retained, { owners: [{ name: 'api', uid: 'uid-api' }] }),
    }),
    want: [REMOVE_FINALIZER],
  },
];
