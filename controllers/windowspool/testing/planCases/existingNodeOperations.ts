/** Nodes that something else made, and that people have replaced or removed. */
import { EXCLUDE_FROM_DRAIN_ANNOTATION } from '../../labels.ts';
import { known, unanswered } from '../answers.ts';
import { cordonedMember, emptyingScene, existingScene, failingMember, machine, member } from '../existingScenes.ts';
import { MINUTE, NOW } from '../fixtures.ts';
import { BY_OPERATOR, longAgo, podOn, REMOVE, REPLACE } from '../nodeScenes.ts';
import type { PlanCase } from './planCase.ts';

const EXCLUDED = { [EXCLUDE_FROM_DRAIN_ANNOTATION]: 'true' };
const asked = (...annotations: readonly Readonly<Record<string, string>>[]) =>
  ['a', 'b', 'c'].map((name, i) => member(name, { annotations: annotations[i] ?? {} }));
const DRAINED = { drained: new Date(NOW - MINUTE).toISOString() };
const END = 'end it with what made it, and delete the node if that does not: kubectl delete node a';

const turnCases: readonly PlanCase[] = [
  ...([REPLACE, REMOVE] as const).map((order, i) => ({
    name: `a machine that is to be ${['replaced', 'removed'][i]} gets its turn before it is touched`,
    observed: existingScene({ nodes: asked(order) }),
    want: [`reserve the turn of a (${['Replace', 'Remove'][i]})`],
  })),
  {
    name: 'of two machines one goes first',
    observed: existingScene({ nodes: asked({}, REPLACE, REPLACE) }),
    want: ['reserve the turn of b (Replace)'],
  },
  {
    name: 'as many machines go at a time as maxUnavailable says',
    observed: existingScene({
      nodes: asked(REPLACE, REPLACE, REPLACE),
      spec: { disruption: { maxUnavailable: '67%' } },
    }),
    want: ['reserve the turn of a (Replace), b (Replace)'],
  },
  {
    name: 'a machine waits while another one is not Ready',
    observed: existingScene({ nodes: [member('a', { annotations: REPLACE }), member('b', { ready: 'False' })] }),
    want: [],
  },
  {
    name: 'a machine waits while another pool loses nodes',
    observed: existingScene({ nodes: asked(REPLACE), rest: { fleet: { disrupted: ['api'], failures: [] } } }),
    want: [],
  },
  {
    name: 'a machine waits until the one that was drained is gone',
    observed: emptyingScene({}, DRAINED, {
      nodes: [cordonedMember(), member('b', { annotations: REPLACE }), member('c')],
    }),
    want: [],
  },
  {
    name: 'a machine gets the record of its pool before it gets its turn',
    observed: existingScene({ nodes: [machine('a', { annotations: REPLACE })] }),
    want: ['give node a what the pool says: labels set winpool.dev/pool; taints set os:NoSchedule'],
  },
  {
    name: 'a machine that fails is not taken away, whatever remediation says',
    observed: existingScene({
      spec: { remediation: { unhealthyAfter: '15m', maxUnhealthy: '40%' } },
      nodes: [failingMember('a', 60), member('b'), member('c')],
    }),
    want: [],
  },
];

const goingCases: readonly PlanCase[] = [
  {
    name: 'a machine that is the pool’s is cordoned',
    observed: emptyingScene({ now: member('a', { annotations: REPLACE }) }),
    want: ['cordon node a'],
  },
  {
    name: 'nothing happens to a machine that is not the pool’s',
    observed: emptyingScene({ now: member('a', { annotations: REPLACE }), member: known(false) }),
    want: ['let node a stay: refused: a is not one of the nodes of the pool'],
  },
  {
    name: 'nothing happens to a machine while nobody knows whose it is',
    observed: emptyingScene({ now: member('a', { annotations: REPLACE }), member: unanswered('denied') }),
    want: [],
  },
  {
    name: 'the pods of a cordoned machine are evicted',
    observed: emptyingScene({ pods: known([podOn()]) }),
    want: ['evict 1 pod from node a'],
  },
  {
    name: 'a machine that stops to be the pool’s while it is emptied takes pods again',
    observed: emptyingScene({ member: known(false), pods: known([podOn()]) }),
    want: ['let node a stay: refused: a is not one of the nodes of the pool'],
  },
  {
    name: 'a machine whose pods end is waited for',
    observed: emptyingScene({ pods: known([podOn({ deletingAt: NOW })]) }),
    want: [],
  },
  {
    name: 'a machine that is not empty in time takes pods again',
    observed: emptyingScene({ pods: known([podOn()]) }, { since: longAgo }),
    want: ['let node a stay: timed-out: 1 pod had not left it'],
  },
  {
    name: 'an empty machine is told of, and never ended',
    observed: emptyingScene({ pods: known([]) }),
    want: [`node a is drained: ${END}`],
  },
  {
    name: 'an empty machine that is to be removed is told of, too',
    observed: emptyingScene(
      { now: cordonedMember({ annotations: { ...REMOVE, ...BY_OPERATOR } }), pods: known([]) },
      { operation: 'Remove' },
    ),
    want: [`node a is drained: ${END}`],
  },
  {
    name: 'a machine that is excluded from drain is told of with its pods',
    observed: emptyingScene({
      now: cordonedMember({ annotations: { ...REPLACE, ...BY_OPERATOR, ...EXCLUDED } }),
      pods: known([podOn(), podOn({ name: 'agent', controller: 'DaemonSet' })]),
    }),
    want: [`node a is cordoned and ends with its 1 pod: ${END}`],
  },
  { name: 'a drained machine is left as it is', observed: emptyingScene({}, DRAINED), want: [] },
  {
    name: 'a drained machine whose annotation was taken away takes pods again',
    observed: emptyingScene({ now: cordonedMember({ annotations: BY_OPERATOR }) }, DRAINED),
    want: ['let node a stay'],
  },
  {
    name: 'a drained machine that somebody uncordons is used again',
    observed: emptyingScene({ now: cordonedMember({ unschedulable: false }) }, DRAINED),
    want: ['let node a stay: uncordoned'],
  },
  {
    name: 'a machine that is gone needs nothing',
    observed: emptyingScene({ node: known(undefined) }, DRAINED),
    want: [],
  },
  {
    name: 'a machine that came back under its name is another one',
    observed: emptyingScene({ now: member('a', { uid: 'other' }) }, DRAINED),
    want: [],
  },
  {
    name: 'an old look at a machine leads to nothing',
    observed: emptyingScene({ pods: known([]) }, {}, { fresh: false }),
    want: [],
  },
  {
    name: 'a machine whose pods cannot be listed is left alone',
    observed: emptyingScene({ pods: unanswered('denied') }),
    want: [],
  },
  {
    name: 'a cordon that no status remembers is taken back',
    observed: existingScene({ nodes: [cordonedMember({ annotations: BY_OPERATOR })] }),
    want: ['let node a stay'],
  },
  {
    name: 'a machine that leaves the pool loses the cordon first',
    observed: emptyingScene(
      { member: known(false), pods: known([podOn()]) },
      {},
      { nodes: [], released: [cordonedMember()] },
    ),
    want: ['let node a stay'],
  },
];

export const existingNodeOperationCases: readonly PlanCase[] = [...turnCases, ...goingCases];
