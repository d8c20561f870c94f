/** How a node whose turn it is is cordoned, drained and terminated. */
import type { LeavingNode } from '../../api/api.gen.ts';
import { EXCLUDE_FROM_DRAIN_ANNOTATION } from '../../api/labels.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { known, unanswered } from '../answers.ts';
import { MINUTE, NOW, sampleError } from '../fixtures.ts';
import {
  BY_OPERATOR,
  cordoned,
  drainedScene,
  drainingScene,
  longAgo,
  MEMBER,
  node,
  podOn,
  REMOVE,
  REPLACE,
  scene,
  terminatingScene,
} from '../nodeScenes.ts';
import type { PlanCase } from './planCase.ts';
import { RECORD } from './steps.ts';

const TEN_MINUTES_AGO = new Date(NOW - 10 * MINUTE).toISOString();

export const nodeOperationCases: readonly PlanCase[] = [
  {
    name: 'a node whose instance belongs to the pool is cordoned',
    observed: terminatingScene({ node: known(node('a', { annotations: REPLACE })), instance: MEMBER }),
    want: ['cordonNode a'],
  },
  ...[
    { name: 'is not Ready', rest: { nodes: [node('a'), node('b'), node('c', { ready: 'Unknown' })] } },
    { name: 'is cordoned', rest: { nodes: [node('a'), node('b'), node('c', { unschedulable: true })] } },
    { name: 'is missing', rest: { nodes: [node('a'), node('b')] } },
    {
      name: 'is unavailable in an uncached read',
      rest: { rest: { counted: known({ total: 3, unavailable: ['c'] }) } },
    },
  ].map(({ name, rest }) => ({
    name: `a node that was not changed yet releases its turn when another one ${name}`,
    observed: terminatingScene({ node: known(node('a', { annotations: REPLACE })), instance: MEMBER }, {}, rest),
    want: ['uncordonNode a'],
  })),
  {
    name: 'a node that is not Ready itself is cordoned',
    observed: terminatingScene({
      node: known(node('a', { ready: 'Unknown', annotations: REPLACE })),
      instance: MEMBER,
    }),
    want: ['cordonNode a'],
  },
  {
    name: 'a node is not changed while the other nodes cannot be counted',
    observed: terminatingScene(
      { node: known(node('a', { annotations: REPLACE })), instance: MEMBER },
      {},
      {
        rest: { counted: unanswered('unavailable') },
      },
    ),
    want: [],
    waits: { because: 'Disrupting Draining', until: '100ms' },
  },
  {
    name: 'a node that is already cordoned is recorded as such',
    observed: terminatingScene({
      node: known(node('a', { unschedulable: true, annotations: REPLACE })),
      instance: MEMBER,
    }),
    want: ['cordonNode a'],
  },
  ...(
    [
      [{ scalingGroup: 'eks-api', privateDnsName: 'a' }, 'is in the Auto Scaling group of another pool'],
      [{ scalingGroup: undefined, privateDnsName: 'a' }, 'is in no Auto Scaling group'],
      [{ scalingGroup: 'eks-web-0a1b', privateDnsName: 'b' }, 'belongs to another node'],
      [undefined, 'does not exist'],
    ] as const
  ).map(([instance, what]) => ({
    name: `a node is kept when its instance ${what}`,
    observed: terminatingScene({
      node: known(node('a', { annotations: REPLACE })),
      instance: known(instance && { state: 'running', ...instance }),
    }),
    want: ['uncordonNode a refused'],
  })),
  {
    name: 'a node is not changed while the owner of its instance is unknown',
    observed: terminatingScene({
      node: known(node('a', { annotations: REPLACE })),
      instance: unanswered('denied'),
    }),
    want: [],
    waits: { because: 'Disrupting Draining', until: '100ms' },
  },
  {
    name: 'the pods of a cordoned node are evicted',
    observed: drainingScene([podOn(), podOn({ name: 'cart-1' })]),
    want: ['evictPods a cart-0 cart-1'],
  },
  {
    name: 'the drain of a node waits for terminating pods',
    observed: drainingScene([podOn({ deletingAt: NOW })]),
    want: [],
    waits: { because: 'Disrupting Draining', until: '100ms' },
  },
  {
    name: 'a node waits for pods that block its drain',
    observed: drainingScene([podOn({ emptyDir: true })], {
      spec: { disruption: { drain: { podsWithEmptyDir: 'Block' } } },
    }),
    want: [],
    waits: { because: 'Disrupting DrainBlocked', until: '100ms' },
  },
  {
    name: 'the instance of an empty node is terminated',
    observed: drainedScene(),
    want: [RECORD, 'terminateInstance i-a Replace'],
  },
  {
    name: 'the group shrinks by a node that is removed',
    observed: drainedScene({ annotations: { ...REMOVE, ...BY_OPERATOR } }, { operation: 'Remove' }),
    want: [RECORD, 'terminateInstance i-a Remove'],
  },
  {
    name: 'a node that is excluded from drain is terminated with its pods',
    observed: terminatingScene({
      node: known(
        node('a', { ...cordoned, annotations: { ...cordoned.annotations, [EXCLUDE_FROM_DRAIN_ANNOTATION]: 'true' } }),
      ),
      pods: known([podOn()]),
    }),
    want: [RECORD, 'terminateInstance i-a Replace withPods=1'],
  },
  {
    name: 'a node whose annotation was removed is kept',
    observed: terminatingScene({
      node: known(node('a', { unschedulable: true, annotations: BY_OPERATOR })),
      pods: known([]),
    }),
    want: ['uncordonNode a'],
  },
  {
    name: 'a node that is to be removed instead releases its turn first',
    observed: terminatingScene({
      node: known(node('a', { unschedulable: true, annotations: { ...REMOVE, ...BY_OPERATOR } })),
    }),
    want: ['uncordonNode a'],
  },
  {
    name: 'a node that is not cordoned when its drain times out is kept, as one that its kubelet uncordons again and again',
    observed: terminatingScene(
      { node: known(node('a', { annotations: REPLACE })), instance: MEMBER },
      { startTime: longAgo },
    ),
    want: ['uncordonNode a timed-out'],
  },
  {
    name: 'a node whose drain times out is kept',
    observed: drainingScene([podOn()], {}, { startTime: longAgo }),
    want: ['uncordonNode a timed-out'],
  },
  {
    name: 'the drain timeout is that of the spec',
    observed: drainingScene([podOn()], { spec: { disruption: { drain: { timeout: '1h' } } } }, { startTime: longAgo }),
    want: ['evictPods a cart-0'],
  },
  {
    name: 'a node that is empty is terminated, also after the timeout',
    observed: drainedScene({}, { startTime: longAgo }),
    want: [RECORD, 'terminateInstance i-a Replace'],
  },
  ...(['UPDATING', 'DELETING'] as const).map(
    (status): PlanCase => ({
      name: `a terminating node is not changed while its group is ${status}`,
      observed: drainedScene({}, {}, { group: { status } }),
      want: [],
      waits: { because: 'Disrupting Draining', until: '100ms' },
    }),
  ),
  {
    name: 'a remembered read of a node causes no steps',
    observed: drainedScene({}, {}, { fresh: false }),
    want: [],
    waits: { because: 'Disrupting Draining', until: '100ms' },
  },
  {
    name: 'a node that cannot be read is not changed',
    observed: terminatingScene({ node: unanswered('unavailable') }),
    want: [],
    waits: { because: 'Disrupting Draining', until: '100ms' },
  },
  {
    name: 'a node whose pods cannot be listed is not changed',
    observed: terminatingScene({ node: known(node('a', cordoned)), pods: unanswered('denied') }),
    want: [],
    waits: { because: 'Disrupting Draining', until: '100ms' },
  },
  {
    name: 'a cordon that status does not record is removed',
    observed: scene({
      nodes: [node('a', cordoned), node('b'), node('c')],
    }),
    want: ['uncordonNode a', 'reserveDisruption for a (Replace)'],
  },
  {
    name: 'a node that is gone needs nothing',
    observed: terminatingScene({ node: known(undefined) }),
    want: [],
    rests: { until: '100ms' },
  },
  {
    name: 'another node of the same name is not changed',
    observed: terminatingScene({
      node: known(node('a', { uid: 'other', unschedulable: true, annotations: REPLACE })),
      pods: known([]),
    }),
    want: [],
    rests: { until: '100ms' },
  },
  {
    name: 'a node whose termination AWS refused is kept',
    observed: drainedScene(
      {},
      {},
      { rest: { errors: [{ at: NOW, step: 'terminateInstance', target: 'uid-a', error: sampleError('refused') }] } },
    ),
    want: ['uncordonNode a refused'],
  },
  {
    name: 'a termination that AWS throttled is retried',
    observed: drainedScene(
      {},
      {},
      { rest: { errors: [{ at: NOW, step: 'terminateInstance', target: 'uid-a', error: sampleError('throttled') }] } },
    ),
    want: [RECORD, 'terminateInstance i-a Replace'],
  },
  {
    name: 'a termination that may be on its way is not requested again',
    observed: drainedScene({}, { terminationRequestTime: new Date(NOW - 3 * MINUTE + 1).toISOString() }),
    want: [],
    waits: { because: 'Disrupting Draining', until: '100ms' },
  },
  {
    name: 'a termination is requested again when it was not received within three minutes',
    observed: drainedScene({}, { terminationRequestTime: new Date(NOW - 3 * MINUTE).toISOString() }),
    want: [RECORD, 'terminateInstance i-a Replace'],
  },
  {
    name: 'a repeated termination that may be on its way is not requested again',
    observed: drainedScene(
      {},
      {
        terminationAcceptedTime: new Date(NOW - 12 * MINUTE).toISOString(),
        terminationRequestTime: new Date(NOW - 2 * MINUTE).toISOString(),
      },
    ),
    want: [],
    waits: { because: 'Disrupting Draining', until: '20s' },
  },
  {
    name: 'an instance that is terminating is not terminated again',
    observed: drainedScene({}, { terminationAcceptedTime: new Date(NOW - 9 * MINUTE).toISOString() }),
    want: [],
    waits: { because: 'Disrupting Draining', until: '20s' },
  },
  {
    name: 'an instance that is in service 10 minutes after its termination was accepted is terminated again',
    observed: terminatingScene(
      { node: known(node('a', cordoned)), pods: known([]), accepted: known('inService') },
      { terminationAcceptedTime: TEN_MINUTES_AGO },
    ),
    want: [RECORD, 'terminateInstance i-a Replace'],
  },
  {
    name: 'an instance that has not left after 10 minutes, and is going, is not terminated again',
    observed: terminatingScene(
      { node: known(node('a', cordoned)), accepted: known('pending') },
      { terminationAcceptedTime: TEN_MINUTES_AGO },
    ),
    want: [],
    waits: { because: 'Disrupting Draining', until: '20s' },
  },
  {
    name: 'a node of which only status says that its termination was accepted is released',
    observed: terminatingScene(
      { node: known(node('a')), accepted: known('inService') },
      { terminationAcceptedTime: TEN_MINUTES_AGO },
    ),
    want: ['uncordonNode a'],
  },
  {
    name: 'a requested node of which only status says that its termination was accepted is drained first',
    observed: terminatingScene(
      { node: known(node('a', cordoned)), pods: known([podOn()]), accepted: known('inService') },
      { terminationAcceptedTime: TEN_MINUTES_AGO },
    ),
    want: ['evictPods a cart-0'],
  },
  {
    name: 'a node whose instance left the group for its warm pool is released, and not removed again when it comes back',
    observed: leftScene('Remove', { ...REMOVE, ...BY_OPERATOR }),
    want: ['uncordonNode a left'],
  },
  {
    name: 'a failed node whose instance left the group is uncordoned, and may be replaced again when it comes back',
    observed: leftScene('Replace', BY_OPERATOR),
    want: ['uncordonNode a'],
  },
  {
    name: 'the termination is not requested again while it is not known whether the instance left the group',
    observed: unknownScene(),
    want: [],
    waits: { because: 'Disrupting Draining', until: '20s' },
  },
  {
    name: 'a node that is being deleted is not released',
    observed: leftScene('Remove', { ...REMOVE, ...BY_OPERATOR }, { deleting: true }),
    want: [],
    waits: { because: 'Disrupting Draining', until: '100ms' },
  },
];

/** The node a, whose instance was terminated ten minutes ago, and of which it is not known whether it has left the group. */
function unknownScene() {
  const terminated = node('a', { unschedulable: true, annotations: { ...REMOVE, ...BY_OPERATOR } });
  const terminationAcceptedTime = new Date(NOW - 10 * MINUTE).toISOString();
  return terminatingScene(
    { node: known(terminated), accepted: unanswered('unavailable') },
    { operation: 'Remove', terminationAcceptedTime },
  );
}

/** The node a, whose instance was terminated a minute ago and has left the group. */
function leftScene(
  operation: LeavingNode['operation'],
  annotations: NodeRecord['annotations'],
  change: Partial<NodeRecord> = {},
) {
  const left = node('a', { unschedulable: true, annotations, ...change });
  const terminationAcceptedTime = new Date(NOW - MINUTE).toISOString();
  return terminatingScene({ node: known(left), accepted: known('left') }, { operation, terminationAcceptedTime });
}
