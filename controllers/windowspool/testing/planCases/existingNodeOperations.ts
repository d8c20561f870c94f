/** Existing nodes that are replaced or removed by annotation. */
import { EXCLUDE_FROM_DRAIN_ANNOTATION } from '../../api/labels.ts';
import { known, unanswered } from '../answers.ts';
import { cordonedMember, emptyingScene, existingScene, failingMember, machine, member } from '../existingScenes.ts';
import { MINUTE, NOW } from '../fixtures.ts';
import { BY_OPERATOR, longAgo, podOn, REMOVE, REPLACE } from '../nodeScenes.ts';
import type { PlanCase } from './planCase.ts';

const EXCLUDED = { [EXCLUDE_FROM_DRAIN_ANNOTATION]: 'true' };
const asked = (...annotations: readonly Readonly<Record<string, string>>[]) =>
  ['a', 'b', 'c'].map((name, i) => member(name, { annotations: annotations[i] ?? {} }));
const DRAINED = { drainedTime: new Date(NOW - MINUTE).toISOString() };

const turnCases: readonly PlanCase[] = [
  ...([REPLACE, REMOVE] as const).map((order, i) => ({
    name: `a node that is to be ${['replaced', 'removed'][i]} gets its turn before it is changed`,
    observed: existingScene({ nodes: asked(order) }),
    want: [`reserveDisruption for a (${['Replace', 'Remove'][i]})`],
  })),
  {
    name: 'of two nodes one is first',
    observed: existingScene({ nodes: asked({}, REPLACE, REPLACE) }),
    want: ['reserveDisruption for b (Replace)'],
  },
  {
    name: 'as many nodes as maxUnavailable are drained at a time',
    observed: existingScene({
      nodes: asked(REPLACE, REPLACE, REPLACE),
      spec: { disruption: { maxUnavailable: '67%' } },
    }),
    want: ['reserveDisruption for a (Replace), b (Replace)'],
  },
  {
    name: 'a node waits while another one is not Ready',
    observed: existingScene({ nodes: [member('a', { annotations: REPLACE }), member('b', { ready: 'False' })] }),
    want: [],
    waits: { because: 'Disrupting DisruptionPending', until: '10m' },
  },
  {
    name: 'a node waits while another pool replaces nodes',
    observed: existingScene({ nodes: asked(REPLACE), rest: { otherPools: { disrupted: ['api'], failures: [] } } }),
    want: [],
    waits: { because: 'Disrupting DisruptionPending', until: '10m' },
  },
  {
    name: 'a node waits until the drained one is gone',
    observed: emptyingScene({}, DRAINED, {
      nodes: [cordonedMember(), member('b', { annotations: REPLACE }), member('c')],
    }),
    want: [],
    waits: { because: 'Disrupting Drained', until: '10m' },
  },
  {
    name: 'a node gets the ownership record before it gets its turn',
    observed: existingScene({ nodes: [machine('a', { annotations: REPLACE })] }),
    want: ['markNode a +winpool.dev/pool +os:NoSchedule'],
  },
  {
    name: 'a failing node is not replaced, because remediation only reports it',
    observed: existingScene({
      spec: { remediation: { policy: 'Report' as const, unhealthyAfter: '15m', maxUnhealthy: '40%' } },
      nodes: [failingMember('a', 60), member('b'), member('c')],
    }),
    want: [],
    waits: { because: 'Disrupting ReplacementDue', until: '10m' },
  },
];

const drainCases: readonly PlanCase[] = [
  {
    name: 'a node of the pool is cordoned',
    observed: emptyingScene({ now: member('a', { annotations: REPLACE }) }),
    want: ['cordonNode a'],
  },
  {
    name: 'a node that does not belong to the pool is kept',
    observed: emptyingScene({ now: member('a', { annotations: REPLACE }), member: known(false) }),
    want: ['uncordonNode a refused'],
  },
  {
    name: 'a node is not changed while its membership is unknown',
    observed: emptyingScene({ now: member('a', { annotations: REPLACE }), member: unanswered('denied') }),
    want: [],
    waits: { because: 'Disrupting Draining', until: '100ms' },
  },
  {
    name: 'the pods of a cordoned existing node are evicted',
    observed: emptyingScene({ pods: known([podOn()]) }),
    want: ['evictPods a cart-0'],
  },
  {
    name: 'a node that leaves the pool during its drain is kept',
    observed: emptyingScene({ member: known(false), pods: known([podOn()]) }),
    want: ['uncordonNode a refused'],
  },
  {
    name: 'the drain of an existing node waits for terminating pods',
    observed: emptyingScene({ pods: known([podOn({ deletingAt: NOW })]) }),
    want: [],
    waits: { because: 'Disrupting Draining', until: '100ms' },
  },
  {
    name: 'an existing node whose drain times out is kept',
    observed: emptyingScene({ pods: known([podOn()]) }, { startTime: longAgo }),
    want: ['uncordonNode a timed-out'],
  },
  {
    name: 'a drained node is reported and not terminated',
    observed: emptyingScene({ pods: known([]) }),
    want: ['reportDrained a'],
  },
  {
    name: 'a drained node that is to be removed is reported',
    observed: emptyingScene(
      { now: cordonedMember({ annotations: { ...REMOVE, ...BY_OPERATOR } }), pods: known([]) },
      { operation: 'Remove' },
    ),
    want: ['reportDrained a'],
  },
  {
    name: 'a node that is excluded from drain is reported with its pods',
    observed: emptyingScene({
      now: cordonedMember({ annotations: { ...REPLACE, ...BY_OPERATOR, ...EXCLUDED } }),
      pods: known([podOn(), podOn({ name: 'agent', controller: 'DaemonSet' })]),
    }),
    want: ['reportDrained a'],
  },
  {
    name: 'a drained node is not changed',
    observed: emptyingScene({}, DRAINED),
    want: [],
    waits: { because: 'Disrupting Drained', until: '10m' },
  },
  {
    name: 'a drained node whose annotation was removed is kept',
    observed: emptyingScene({ now: cordonedMember({ annotations: BY_OPERATOR }) }, DRAINED),
    want: ['uncordonNode a'],
  },
  {
    name: 'a drained node that a user uncordons is kept',
    observed: emptyingScene({ now: cordonedMember({ unschedulable: false }) }, DRAINED),
    want: ['uncordonNode a uncordoned'],
  },
  {
    name: 'an existing node that is gone needs nothing',
    observed: emptyingScene({ node: known(undefined) }, DRAINED),
    want: [],
    rests: { until: '100ms' },
  },
  {
    name: 'a node that was recreated under its name is another one',
    observed: emptyingScene({ now: member('a', { uid: 'other' }) }, DRAINED),
    want: [],
    rests: { until: '100ms' },
  },
  {
    name: 'a remembered read of an existing node causes no steps',
    observed: emptyingScene({ pods: known([]) }, {}, { fresh: false }),
    want: [],
    waits: { because: 'Disrupting Draining', until: '100ms' },
  },
  {
    name: 'an existing node whose pods cannot be listed is not changed',
    observed: emptyingScene({ pods: unanswered('denied') }),
    want: [],
    waits: { because: 'Disrupting Draining', until: '100ms' },
  },
  {
    name: 'a cordon of an existing node that status does not record is removed',
    observed: existingScene({ nodes: [cordonedMember({ annotations: BY_OPERATOR })] }),
    want: ['uncordonNode a'],
  },
  {
    name: 'a node that leaves the pool is uncordoned first',
    observed: emptyingScene(
      { member: known(false), pods: known([podOn()]) },
      {},
      { nodes: [], toRelease: [cordonedMember()] },
    ),
    want: ['uncordonNode a'],
  },
];

export const existingNodeOperationCases: readonly PlanCase[] = [...turnCases, ...drainCases];
