/** How a node goes that has its turn: its cordon, its pods, its end. */
import { EXCLUDE_FROM_DRAIN_ANNOTATION } from '../../labels.ts';
import { known, unanswered } from '../answers.ts';
import { MINUTE, NOW, sampleError } from '../fixtures.ts';
import {
  BY_OPERATOR,
  cordoned,
  going,
  goingEmpty,
  goingWithPods,
  longAgo,
  MEMBER,
  node,
  podOn,
  REMOVE,
  REPLACE,
  scene,
} from '../nodeScenes.ts';
import type { PlanCase } from './planCase.ts';

export const nodeOperationCases: readonly PlanCase[] = [
  {
    name: 'a node whose instance is the pool’s is cordoned',
    observed: going({ node: known(node('a', { annotations: REPLACE })), instance: MEMBER }),
    want: ['cordon node a'],
  },
  ...[
    { name: 'is not Ready', rest: { nodes: [node('a'), node('b'), node('c', { ready: 'Unknown' })] } },
    { name: 'is cordoned', rest: { nodes: [node('a'), node('b'), node('c', { unschedulable: true })] } },
    { name: 'is missing', rest: { nodes: [node('a'), node('b')] } },
    { name: 'is out past the cache', rest: { rest: { counted: known({ total: 3, unavailable: ['c'] }) } } },
  ].map(({ name, rest }) => ({
    name: `a node that has its turn and was not touched gives it back when another one ${name} since`,
    observed: going({ node: known(node('a', { annotations: REPLACE })), instance: MEMBER }, {}, rest),
    want: ['let node a stay'],
  })),
  {
    name: 'a node that has its turn and is not Ready itself goes although it is out',
    observed: going({ node: known(node('a', { ready: 'Unknown', annotations: REPLACE })), instance: MEMBER }),
    want: ['cordon node a'],
  },
  {
    name: 'a node that has its turn is not touched while nobody can count the others',
    observed: going(
      { node: known(node('a', { annotations: REPLACE })), instance: MEMBER },
      {},
      {
        rest: { counted: unanswered('unavailable') },
      },
    ),
    want: [],
  },
  {
    name: 'a node that is cordoned already is recorded so',
    observed: going({ node: known(node('a', { unschedulable: true, annotations: REPLACE })), instance: MEMBER }),
    want: ['cordon node a'],
  },
  ...(
    [
      [
        { scalingGroup: 'eks-api', privateDnsName: 'a' },
        "instance i-a of node a belongs to scaling group eks-api, so it is not the pool's",
      ],
      [
        { scalingGroup: undefined, privateDnsName: 'a' },
        "instance i-a of node a belongs to no scaling group, so it is not the pool's",
      ],
      [{ scalingGroup: 'eks-web-0a1b', privateDnsName: 'b' }, 'node a says that it is instance i-a, which is node b'],
      [undefined, 'EC2 knows no instance i-a'],
    ] as const
  ).map(([instance, why]) => ({
    name: `nothing happens to a node when ${why}`,
    observed: going({
      node: known(node('a', { annotations: REPLACE })),
      instance: known(instance && { state: 'running', ...instance }),
    }),
    want: [`let node a stay: refused: ${why}`],
  })),
  {
    name: 'nothing happens to a node while nobody knows whose its instance is',
    observed: going({
      node: known(node('a', { annotations: REPLACE })),
      instance: unanswered('denied'),
    }),
    want: [],
  },
  {
    name: 'the pods of a cordoned node are evicted',
    observed: goingWithPods([podOn(), podOn({ name: 'cart-1' })]),
    want: ['evict 2 pods from node a'],
  },
  {
    name: 'a node whose pods end is waited for',
    observed: goingWithPods([podOn({ deletingAt: NOW })]),
    want: [],
  },
  {
    name: 'a node waits for what keeps it from being drained',
    observed: goingWithPods([podOn({ emptyDir: true })], {
      spec: { disruption: { drain: { deleteEmptyDirData: false } } },
    }),
    want: [],
  },
  { name: 'the instance of an empty node ends', observed: goingEmpty(), want: ['end instance i-a of node a'] },
  {
    name: 'the group gets smaller by a node that is removed',
    observed: goingEmpty({ annotations: { ...REMOVE, ...BY_OPERATOR } }, { operation: 'Remove' }),
    want: ['end instance i-a of node a, and make the node group smaller by it'],
  },
  {
    name: 'a node that is excluded from drain ends with its pods',
    observed: going({
      node: known(
        node('a', { ...cordoned, annotations: { ...cordoned.annotations, [EXCLUDE_FROM_DRAIN_ANNOTATION]: 'true' } }),
      ),
      pods: known([podOn()]),
    }),
    want: ['end instance i-a of node a with its 1 pod'],
  },
  {
    name: 'a node whose annotation was taken away stays',
    observed: going({ node: known(node('a', { unschedulable: true, annotations: BY_OPERATOR })), pods: known([]) }),
    want: ['let node a stay'],
  },
  {
    name: 'a node that is to be removed instead is given back first',
    observed: going({ node: known(node('a', { unschedulable: true, annotations: { ...REMOVE, ...BY_OPERATOR } })) }),
    want: ['let node a stay'],
  },
  {
    name: 'a node that is not empty in time stays',
    observed: goingWithPods([podOn()], {}, { since: longAgo }),
    want: ['let node a stay: timed-out: 1 pod had not left it'],
  },
  {
    name: 'a node gets the time that the spec gives it',
    observed: goingWithPods([podOn()], { spec: { disruption: { drain: { timeout: '1h' } } } }, { since: longAgo }),
    want: ['evict 1 pod from node a'],
  },
  {
    name: 'a node that is empty at last ends, however late',
    observed: goingEmpty({}, { since: longAgo }),
    want: ['end instance i-a of node a'],
  },
  ...(['UPDATING', 'DELETING'] as const).map((status) => ({
    name: `a node that goes is left alone while its group is ${status}`,
    observed: goingEmpty({}, {}, { group: { status } }),
    want: [],
  })),
  { name: 'an old look at a node leads to nothing', observed: goingEmpty({}, {}, { fresh: false }), want: [] },
  {
    name: 'a node that cannot be read is left alone',
    observed: going({ node: unanswered('unavailable') }),
    want: [],
  },
  {
    name: 'a node whose pods cannot be listed is left alone',
    observed: going({ node: known(node('a', cordoned)), pods: unanswered('denied') }),
    want: [],
  },
  {
    name: 'a cordon that nobody remembers is taken back',
    observed: scene({
      nodes: [node('a', cordoned), node('b'), node('c')],
    }),
    want: ['let node a stay', 'reserve the turn of a (Replace)'],
  },
  { name: 'a node that is gone needs nothing', observed: going({ node: known(undefined) }), want: [] },
  {
    name: 'another node of its name is left alone',
    observed: going({
      node: known(node('a', { uid: 'other', unschedulable: true, annotations: REPLACE })),
      pods: known([]),
    }),
    want: [],
  },
  {
    name: 'a node whose end AWS refused stays',
    observed: goingEmpty(
      {},
      {},
      { rest: { errors: [{ at: NOW, step: 'terminateInstance', target: 'uid-a', error: sampleError('refused') }] } },
    ),
    want: [`let node a stay: refused: ${sampleError('refused').message}`],
  },
  {
    name: 'a node whose end AWS throttled goes on',
    observed: goingEmpty(
      {},
      {},
      { rest: { errors: [{ at: NOW, step: 'terminateInstance', target: 'uid-a', error: sampleError('throttled') }] } },
    ),
    want: ['end instance i-a of node a'],
  },
  {
    name: 'an instance that ends is not ended twice',
    observed: goingEmpty({}, { ended: new Date(NOW - 9 * MINUTE).toISOString() }),
    want: [],
  },
  {
    name: 'an instance that does not end is asked again',
    observed: goingEmpty({}, { ended: new Date(NOW - 10 * MINUTE).toISOString() }),
    want: ['end instance i-a of node a'],
  },
];
