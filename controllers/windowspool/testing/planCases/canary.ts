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
import { nodeIn, SECOND } from '../replacementScenes.ts';
import { unseen } from '../sights.ts';
import { failed, NEXT_TARGET, SATURDAYS, SUNDAYS } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';

const BEGIN = `try release ${NEXT} on canary ${SECOND} (2 nodes) for 30m before node group web is updated`;
const CREATE = `create canary ${SECOND} (2 nodes)`;
const RESERVE = `reserve web of ${CLUSTER_ARN}: sending release`;
const UPDATE = `update node group web: release ${NEXT} (replaces every node)`;
const end = (why: string) => `drain the 2 nodes of canary ${SECOND}, then delete it: ${why}`;
const AUTOMATIC = { ...WITH_CANARY, policy: 'Automatic' } as const;
const follows = { releaseVersion: undefined } as const;
const quotaReached = sampleFacts({ nodeGroups: known(Array.from({ length: 30 }, String)) });
const CORDONED = ['x', 'y'].map((name) => nodeIn(SECOND, name, { unschedulable: true, annotations: BY_OPERATOR }));
const BAD = nodeIn(SECOND, 'y', { kernelVersion: '10.0.17763.1' });
const FAILED_TARGET = { failedTarget: { ...failed(NEXT_TARGET), reason: 'CanaryFailed' } };

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
  },
  {
    name: 'a canary does not begin while the cluster has as many node groups as EKS allows, and other changes are not delayed',
    observed: beforeCanary({
      spec: trying(WITH_CANARY, { scaling: { maxSize: 9 } }),
      rest: { prerequisites: quotaReached },
    }),
    want: [`remember web of ${CLUSTER_ARN}: sending scaling`, 'update node group web: scaling maxSize 9'],
  },
  {
    name: 'a canary does not begin before its prerequisites are known',
    observed: beforeCanary({ rest: { prerequisites: undefined } }),
    want: [],
  },
  {
    name: 'a canary does not begin for a version that failed',
    observed: beforeCanary({ state: FAILED_TARGET }),
    want: [],
  },
  {
    name: 'a group that has the version needs no canary',
    observed: beforeCanary({ main: { releaseVersion: NEXT } }),
    want: [],
  },
  {
    name: 'a canary that was recorded is created',
    observed: canaryScene({
      record: { arn: undefined, verifiedSince: undefined } as never,
      canary: { kind: 'absent' },
      nodes: MAIN_NODES,
    }),
    want: [CREATE],
  },
  {
    name: 'a canary that was recorded is not created while a prerequisite is not met',
    observed: canaryScene({
      record: { arn: undefined, verifiedSince: undefined } as never,
      canary: { kind: 'absent' },
      nodes: MAIN_NODES,
      rest: { prerequisites: quotaReached },
    }),
    want: [],
  },
  {
    name: 'a canary that another client deleted is not created again at once',
    observed: canaryScene({ canary: { kind: 'absent' }, nodes: MAIN_NODES }),
    want: [],
  },
];

const going: readonly PlanCase[] = [
  {
    name: 'the main group is not updated while EKS creates the canary',
    observed: canaryScene({
      record: { verifiedSince: undefined } as never,
      canary: { status: 'CREATING' },
      nodes: MAIN_NODES,
    }),
    want: [],
  },
  {
    name: 'the main group is not updated until the canary has been verified for long enough',
    observed: canaryScene(),
    want: [],
  },
  {
    name: 'the main group is not updated while a node of the canary is missing, however long the others have been verified',
    observed: canaryScene({ record: PASSED, nodes: [...MAIN_NODES, ...CANARY_NODES.slice(1)] }),
    want: [],
  },
  {
    name: 'the main group is not updated while its canary cannot be read',
    observed: canaryScene({ record: PASSED, canary: unseen() as never }),
    want: [],
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
  },
  {
    name: 'the main group is not updated while other pools disrupt nodes, although the canary has passed',
    observed: canaryScene({ record: PASSED, rest: { fleet: { disrupted: ['api'], failures: [] } } }),
    want: [],
  },
  {
    name: 'the main group gets its other changes while the canary goes on',
    observed: canaryScene({ spec: trying(WITH_CANARY, { scaling: { maxSize: 9 } }) }),
    want: [`remember web of ${CLUSTER_ARN}: sending scaling`, 'update node group web: scaling maxSize 9'],
  },
];

const ending: readonly PlanCase[] = [
  {
    name: 'a canary ends when one of its nodes fails',
    observed: canaryScene({ nodes: [...MAIN_NODES, CANARY_NODES[0] ?? BAD, BAD] }),
    want: [end(`release ${NEXT} failed`), 'label node y with node.kubernetes.io/windows-build=10.0.17763'],
  },
  {
    name: 'a canary does not end when a node of the main group fails',
    observed: canaryScene({
      nodes: [...MAIN_NODES, ...CANARY_NODES, nodeIn('web', 'd', { kernelVersion: '10.0.17763.1' })],
    }),
    want: ['label node d with node.kubernetes.io/windows-build=10.0.17763'],
  },
  {
    name: 'a canary does not end at once when one of its nodes is not Ready',
    observed: canaryScene({
      nodes: [...MAIN_NODES, CANARY_NODES[0] ?? BAD, nodeIn(SECOND, 'y', { ready: 'Unknown' })],
    }),
    want: [],
  },
  {
    name: 'a canary ends when its nodes are not verified within the join grace',
    observed: canaryScene({
      record: { verifiedSince: undefined, unverifiedSince: new Date(NOW - 15 * MINUTE).toISOString() } as never,
      nodes: [...MAIN_NODES, ...CANARY_NODES.slice(1)],
    }),
    want: [`drain the 1 node of canary ${SECOND}, then delete it: release ${NEXT} failed`],
  },
  {
    name: 'a canary that EKS could not create ends',
    observed: canaryScene({
      record: { verifiedSince: undefined } as never,
      canary: { status: 'CREATE_FAILED' },
      nodes: MAIN_NODES,
    }),
    want: [`drain the 0 nodes of canary ${SECOND}, then delete it: release ${NEXT} failed`],
  },
  {
    name: 'a canary whose creation was rejected ends',
    observed: canaryScene({
      record: { arn: undefined, verifiedSince: undefined } as never,
      canary: { kind: 'absent' },
      nodes: MAIN_NODES,
      rest: { errors: [{ at: NOW, step: 'createCanary', error: sampleError('refused') }] },
    }),
    want: [`drain the 0 nodes of canary ${SECOND}, then delete it: release ${NEXT} failed`],
  },
  {
    name: 'a canary ends when the main group has its version',
    observed: canaryScene({ record: PASSED, main: { releaseVersion: NEXT } }),
    want: [end('node group web has this version')],
  },
  {
    name: 'a canary goes on while EKS updates the main group, whatever its nodes do',
    observed: canaryScene({ record: PASSED, main: { status: 'UPDATING' }, nodes: [...MAIN_NODES, BAD] }),
    want: ['label node y with node.kubernetes.io/windows-build=10.0.17763'],
  },
  {
    name: 'a canary ends when EKS failed to update the main group',
    observed: canaryScene({ record: PASSED, state: { failedTarget: failed(NEXT_TARGET) } }),
    want: [end(`release ${NEXT} failed`)],
  },
  {
    name: 'a canary ends when the spec goes back',
    observed: canaryScene({ spec: trying(WITH_CANARY, { releaseVersion: RELEASE }) }),
    want: [end('the spec no longer asks for it')],
  },
  {
    name: 'a canary ends when another version is due',
    observed: canaryScene({ spec: trying(WITH_CANARY, { releaseVersion: '1.36-2026.04.14' }) }),
    want: [end('another version is due')],
  },
  {
    name: 'a canary ends when the spec asks for other canaries',
    observed: canaryScene({ spec: trying({ ...WITH_CANARY, canary: { nodes: 3, after: '30m' } }) }),
    want: [end('another version is due')],
  },
  {
    name: 'a canary ends when the spec drops it, and the main group is updated after that',
    observed: canaryScene({ spec: trying({ policy: 'Manual', force: false }) }),
    want: [end('the spec no longer asks for it')],
  },
  {
    name: 'a canary ends when another group is to replace the main group',
    observed: canaryScene({
      spec: trying(WITH_CANARY, { replacement: 'BlueGreen', instanceTypes: ['m5.xlarge'] }),
    }),
    want: [end('another node group is to replace web')],
  },
  {
    name: 'a canary that has ended shrinks first',
    observed: canaryScene({ record: ENDED }),
    want: [`update node group ${SECOND}, which is drained: scaling minSize 0, maxSize 2`],
  },
  {
    name: 'the nodes of a canary that has ended are cordoned, and leave one after the other',
    observed: canaryScene({ record: ENDED, canary: { scaling: { minSize: 0, maxSize: 2, desiredSize: 2 } } }),
    want: ['cordon node x', 'cordon node y', 'reserve the turn of x (Retire)'],
  },
  {
    name: 'the nodes of a canary that has ended do not leave while the main group lacks verified nodes',
    observed: canaryScene({
      record: ENDED,
      canary: { scaling: { minSize: 0, maxSize: 2, desiredSize: 2 } },
      nodes: [...MAIN_NODES.slice(1), ...CORDONED],
    }),
    want: [],
  },
  {
    name: 'a canary without nodes is deleted',
    observed: canaryScene({
      record: ENDED,
      canary: { scaling: { minSize: 0, maxSize: 2, desiredSize: 0 } },
      nodes: MAIN_NODES,
    }),
    want: [`delete node group ${SECOND}: the canary has ended`],
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
  },
];

const recalled: readonly PlanCase[] = [
  {
    name: 'a canary is found again by its tag when the status was lost',
    observed: canaryScene({ record: 'none' }),
    want: [`continue with canary ${SECOND}`],
  },
  {
    name: 'a canary does not serve as the main group when the status was lost',
    observed: beforeCanary({ main: { tags: { 'winpool.dev/pool': 'web', 'winpool.dev/canary': CANARY_TARGET } } }),
    want: [`use node group ${SECOND}, whose canary is web`],
  },
];

const deleted: readonly PlanCase[] = [
  {
    name: 'both groups of a pool that is deleted are deleted, first the canary',
    observed: canaryScene({ metadata: LEAVING }),
    want: [`delete node group ${SECOND}: the pool is deleted`],
  },
];

export const canaryCases: readonly PlanCase[] = [...beginning, ...going, ...ending, ...recalled, ...deleted];
