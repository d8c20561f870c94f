/** Updates that are tried on a canary first. */
import { known } from '../answers.ts';
import {
  beforeCanary,
  CANARY_NODES,
  CANARY_TARGET,
  canaryScene,
  ENDED,
  MAIN_NODES,
  PASSED,
  trying,
  WITH_CANARY,
} from '../canaryScenes.ts';
import { CLUSTER_ARN, LEAVING, MINUTE, NEXT, NOW, RELEASE, sampleError } from '../fixtures.ts';
import { BY_OPERATOR } from '../nodeScenes.ts';
import { sampleFacts } from '../prerequisites.ts';
import { HASHED, nodeIn } from '../replacementScenes.ts';
import { unseen } from '../sights.ts';
import { failed, NEXT_TARGET, SATURDAYS, SUNDAYS } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';

const BEGIN = `beginCanary ${HASHED} ${NEXT}`;
const CREATE = `createCanary ${HASHED} 2`;
const RESERVE = `reserve web of ${CLUSTER_ARN}: sending release`;
const UPDATE = `updateNodeGroupVersion web ${NEXT}`;
const END = `endCanary ${HASHED}`;
const AUTOMATIC = { ...WITH_CANARY, policy: 'Automatic' } as const;
const follows = { releaseVersion: undefined } as const;
const quotaReached = sampleFacts({ nodeGroups: known(Array.from({ length: 30 }, String)) });
const CORDONED = ['x', 'y'].map((name) => nodeIn(HASHED, name, { unschedulable: true, annotations: BY_OPERATOR }));
const BAD = nodeIn(HASHED, 'y', { kernelVersion: '10.0.17763.1' });
const FAILED_TARGET = { failedChanges: [{ ...failed(NEXT_TARGET), reason: 'CanaryFailed' }] };

const beginning: readonly PlanCase[] = [
  { name: 'an update that the spec asks for begins with a canary', observed: beforeCanary(), want: [BEGIN] },
  {
    name: 'an automatic update begins with a canary in a maintenance window',
    observed: beforeCanary({ spec: trying({ ...AUTOMATIC, maintenanceWindows: SUNDAYS }, follows) }),
    want: [BEGIN],
  },
  {
    name: 'a canary does not begin outside the maintenance windows',
    observed: beforeCanary({ spec: trying({ ...AUTOMATIC, maintenanceWindows: SATURDAYS }, follows) }),
    want: [],
    waits: { because: 'UpToDate WaitingForWindow', until: '10m' },
  },
  {
    name: 'a canary does not begin while the cluster has as many node groups as EKS allows, and other changes are not delayed',
    observed: beforeCanary({
      spec: trying(WITH_CANARY, { scaling: { maxSize: 9 } }),
      rest: { prerequisites: quotaReached },
    }),
    want: [`record web of ${CLUSTER_ARN}: sending scaling`, 'updateConfig web maxSize=9'],
  },
  {
    name: 'a canary does not begin before its prerequisites are known',
    observed: beforeCanary({ rest: { prerequisites: undefined } }),
    want: [],
    waits: { because: 'UpToDate UpdatePending', until: '10m' },
  },
  {
    name: 'a canary does not begin for a version that failed',
    observed: beforeCanary({ state: FAILED_TARGET }),
    want: [],
    waits: { because: 'NodeGroupReady CanaryFailed', until: '10m' },
  },
  {
    name: 'a group that has the version needs no canary',
    observed: beforeCanary({ main: { releaseVersion: NEXT } }),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'a canary that was recorded is created',
    observed: canaryScene({
      record: { arn: undefined, phase: 'Creating' } as never,
      canary: { kind: 'absent' },
      nodes: MAIN_NODES,
    }),
    want: [CREATE],
  },
  {
    name: 'a canary that was recorded is not created while a prerequisite is not met',
    observed: canaryScene({
      record: { arn: undefined, phase: 'Creating' } as never,
      canary: { kind: 'absent' },
      nodes: MAIN_NODES,
      rest: { prerequisites: quotaReached },
    }),
    want: [],
    waits: { because: 'PrerequisitesMet NodeGroupQuotaReached', until: '20s' },
  },
  {
    name: 'a canary that another client deleted is not created again at once',
    observed: canaryScene({ canary: { kind: 'absent' }, nodes: MAIN_NODES }),
    want: [],
    waits: { because: 'UpToDate CanaryRunning', until: '20s' },
  },
];

const going: readonly PlanCase[] = [
  {
    name: 'the main group is not updated while EKS creates the canary',
    observed: canaryScene({
      record: { phase: 'Creating' },
      canary: { status: 'CREATING' },
      nodes: MAIN_NODES,
    }),
    want: [],
    waits: { because: 'UpToDate CanaryRunning', until: '20s' },
  },
  {
    name: 'the main group is not updated until the canary has been verified for long enough',
    observed: canaryScene(),
    want: [],
    waits: { because: 'UpToDate CanaryRunning', until: '10m' },
  },
  {
    name: 'the main group is not updated while a node of the canary is missing, however long the others have been verified',
    observed: canaryScene({ record: PASSED, nodes: [...MAIN_NODES, ...CANARY_NODES.slice(1)] }),
    want: [],
    waits: { because: 'UpToDate CanaryRunning', until: '20s' },
  },
  {
    name: 'the main group is not updated while its canary cannot be read',
    observed: canaryScene({ record: PASSED, canary: unseen() as never }),
    want: [],
    waits: { because: 'UpToDate CanaryRunning', until: '20s' },
  },
  {
    name: 'the main group is updated when the canary has been verified for long enough',
    observed: canaryScene({ record: PASSED }),
    want: [RESERVE, UPDATE],
  },
  {
    name: 'the main group is not updated outside the maintenance windows, although the canary has passed',
    observed: canaryScene({
      record: PASSED,
      spec: trying({ ...AUTOMATIC, maintenanceWindows: SATURDAYS }, follows),
    }),
    want: [],
    waits: { because: 'UpToDate WaitingForWindow', until: '10m' },
  },
  {
    name: 'the main group is not updated while other pools disrupt nodes, although the canary has passed',
    observed: canaryScene({ record: PASSED, rest: { otherPools: { disrupted: ['api'], failures: [] } } }),
    want: [],
    waits: { because: 'UpToDate WaitingForBudget', until: '10m' },
  },
  {
    name: 'the main group gets its other changes while the canary goes on',
    observed: canaryScene({ spec: trying(WITH_CANARY, { scaling: { maxSize: 9 } }) }),
    want: [`record web of ${CLUSTER_ARN}: sending scaling`, 'updateConfig web maxSize=9'],
  },
];

const ending: readonly PlanCase[] = [
  {
    name: 'a canary ends when one of its nodes fails',
    observed: canaryScene({ nodes: [...MAIN_NODES, CANARY_NODES[0] ?? BAD, BAD] }),
    want: [`${END} CanaryFailed`, 'labelNode y 10.0.17763'],
  },
  {
    name: 'a canary does not end when a node of the main group fails',
    observed: canaryScene({
      nodes: [...MAIN_NODES, ...CANARY_NODES, nodeIn('web', 'd', { kernelVersion: '10.0.17763.1' })],
    }),
    want: ['labelNode d 10.0.17763'],
  },
  {
    name: 'a canary does not end at once when one of its nodes is not Ready',
    observed: canaryScene({
      nodes: [...MAIN_NODES, CANARY_NODES[0] ?? BAD, nodeIn(HASHED, 'y', { ready: 'Unknown' })],
    }),
    want: [],
    waits: { because: 'UpToDate CanaryRunning', until: '20s' },
  },
  {
    name: 'a canary ends when its nodes are not verified within the join grace',
    observed: canaryScene({
      record: { phase: 'Verifying', lastTransitionTime: new Date(NOW - 15 * MINUTE).toISOString() },
      nodes: [...MAIN_NODES, ...CANARY_NODES.slice(1)],
    }),
    want: [`endCanary ${HASHED} CanaryFailed`],
  },
  {
    name: 'a canary that EKS could not create ends',
    observed: canaryScene({
      record: { phase: 'Creating' },
      canary: { status: 'CREATE_FAILED' },
      nodes: MAIN_NODES,
    }),
    want: [`endCanary ${HASHED} CanaryFailed`],
  },
  {
    name: 'a canary whose creation was rejected ends',
    observed: canaryScene({
      record: { arn: undefined, phase: 'Creating' } as never,
      canary: { kind: 'absent' },
      nodes: MAIN_NODES,
      rest: { errors: [{ at: NOW, step: 'createCanary', error: sampleError('refused') }] },
    }),
    want: [`endCanary ${HASHED} CanaryFailed`],
  },
  {
    name: 'a canary ends when the main group has its version',
    observed: canaryScene({ record: PASSED, main: { releaseVersion: NEXT } }),
    want: [END],
  },
  {
    name: 'a canary goes on while EKS updates the main group, whatever its nodes do',
    observed: canaryScene({ record: PASSED, main: { status: 'UPDATING' }, nodes: [...MAIN_NODES, BAD] }),
    want: ['labelNode y 10.0.17763'],
  },
  {
    name: 'a canary ends when EKS failed to update the main group',
    observed: canaryScene({ record: PASSED, state: { failedChanges: [failed(NEXT_TARGET)] } }),
    want: [`${END} UpdateFailed`],
  },
  {
    name: 'a canary ends when the spec goes back',
    observed: canaryScene({ spec: trying(WITH_CANARY, { releaseVersion: RELEASE }) }),
    want: [END],
  },
  {
    name: 'a canary ends when another version is due',
    observed: canaryScene({ spec: trying(WITH_CANARY, { releaseVersion: '1.36-2026.04.14' }) }),
    want: [END],
  },
  {
    name: 'a canary ends when the spec asks for other canaries',
    observed: canaryScene({ spec: trying({ ...WITH_CANARY, canary: { nodes: 3, soakDuration: '30m' } }) }),
    want: [END],
  },
  {
    name: 'a canary ends when the spec drops it, and the main group is updated after that',
    observed: canaryScene({ spec: trying({ policy: 'Manual', force: false }) }),
    want: [END],
  },
  {
    name: 'a canary ends when another group is to replace the main group',
    observed: canaryScene({
      spec: trying(WITH_CANARY, { immutableChangePolicy: 'Replace', instanceTypes: ['m5.xlarge'] }),
    }),
    want: [END],
  },
  {
    name: 'a canary that has ended shrinks first',
    observed: canaryScene({ record: ENDED }),
    want: [`shrinkSecondGroup ${HASHED} minSize=0 maxSize=2`],
  },
  {
    name: 'the nodes of a canary that has ended are cordoned, and leave one after the other',
    observed: canaryScene({ record: ENDED, canary: { scaling: { minSize: 0, maxSize: 2, desiredSize: 2 } } }),
    want: ['cordonNode x', 'cordonNode y', 'reserveDisruption for x (DrainNodeGroup)'],
  },
  {
    name: 'the nodes of a canary that has ended do not leave while the main group lacks verified nodes',
    observed: canaryScene({
      record: ENDED,
      canary: { scaling: { minSize: 0, maxSize: 2, desiredSize: 2 } },
      nodes: [...MAIN_NODES.slice(1), ...CORDONED],
    }),
    want: [],
    waits: { because: 'UpToDate CanaryRunning', until: '20s' },
  },
  {
    name: 'a group that status calls a canary, and that has no tag of one, is neither drained nor deleted',
    observed: canaryScene({
      record: ENDED,
      canary: { tags: { 'winpool.dev/pool': 'web' }, scaling: { minSize: 0, maxSize: 2, desiredSize: 0 } },
      nodes: MAIN_NODES,
    }),
    want: [],
    waits: { because: 'UpToDate CanaryRunning', until: '20s' },
  },
  {
    name: 'a canary without nodes is deleted',
    observed: canaryScene({
      record: ENDED,
      canary: { scaling: { minSize: 0, maxSize: 2, desiredSize: 0 } },
      nodes: MAIN_NODES,
    }),
    want: [`deleteSecondGroup ${HASHED} drained`],
  },
  {
    name: 'no update and no other canary begin until a canary that has ended is gone',
    observed: canaryScene({
      record: ENDED,
      spec: trying(WITH_CANARY, { releaseVersion: '1.36-2026.04.14' }),
      canary: { status: 'DELETING' },
      nodes: MAIN_NODES,
    }),
    want: [],
    waits: { because: 'UpToDate CanaryRunning', until: '20s' },
  },
];

const recalled: readonly PlanCase[] = [
  {
    name: 'a canary is found again by its tag when the status was lost',
    observed: canaryScene({ record: 'none' }),
    want: [`beginCanary ${HASHED} 1.36-2026.03.17`],
  },
  {
    name: 'a canary does not serve as the main group when the status was lost',
    observed: beforeCanary({ main: { tags: { 'winpool.dev/pool': 'web', 'winpool.dev/canary': CANARY_TARGET } } }),
    want: [`switchNodeGroup ${HASHED} canary=web`],
  },
];

const deleted: readonly PlanCase[] = [
  {
    name: 'both groups of a pool that is deleted are deleted, first the canary',
    observed: canaryScene({ metadata: LEAVING }),
    want: [`deleteSecondGroup ${HASHED}`],
  },
];

export const canaryCases: readonly PlanCase[] = [...beginning, ...going, ...ending, ...recalled, ...deleted];
