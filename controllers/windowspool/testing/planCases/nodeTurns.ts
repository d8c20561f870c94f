/** Which of the nodes that are to go gets its turn. */
import { REMOVE_ANNOTATION, REPLACE_ANNOTATION } from '../../labels.ts';
import { NEXT } from '../fixtures.ts';
import { goingEmpty, node, REMOVE, REPLACE, scene, terminating } from '../nodeScenes.ts';
import { otherAuthority } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { TO_NEXT_STEPS } from './steps.ts';

const asked = (...annotations: readonly Readonly<Record<string, string>>[]) =>
  ['a', 'b', 'c'].map((name, i) => node(name, { annotations: annotations[i] ?? {} }));

export const nodeTurnCases: readonly PlanCase[] = [
  {
    name: 'a node that is to be replaced gets its turn before it is touched',
    observed: scene({ nodes: asked(REPLACE) }),
    want: ['reserve the turn of a (Replace)'],
  },
  {
    name: 'a node that is to be removed gets its turn',
    observed: scene({ nodes: asked(REMOVE) }),
    want: ['reserve the turn of a (Remove)'],
  },
  {
    name: 'a node with both annotations is replaced',
    observed: scene({ nodes: asked({ ...REPLACE, ...REMOVE }) }),
    want: ['reserve the turn of a (Replace)'],
  },
  {
    name: 'a node whose annotation says something else than true stays',
    observed: scene({ nodes: asked({ [REPLACE_ANNOTATION]: 'timed-out' }, { [REMOVE_ANNOTATION]: '' }) }),
    want: [],
  },
  {
    name: 'of two nodes one goes first',
    observed: scene({ nodes: asked({}, REPLACE, REPLACE) }),
    want: ['reserve the turn of b (Replace)'],
  },
  {
    name: 'as many nodes go at a time as maxUnavailable says',
    observed: scene({ nodes: asked(REPLACE, REPLACE, REPLACE), spec: { disruption: { maxUnavailable: 2 } } }),
    want: ['reserve the turn of a (Replace), b (Replace)'],
  },
  {
    name: 'as many nodes go at a time as the share that the group has, rounded down',
    observed: scene({ nodes: asked(REPLACE, REPLACE, REPLACE), group: { update: { maxUnavailable: '67%' } } }),
    want: ['reserve the turn of a (Replace), b (Replace)'],
  },
  {
    name: 'a share that is less than one node is one node',
    observed: scene({ nodes: asked(REPLACE, REPLACE), spec: { disruption: { maxUnavailable: '10%' } } }),
    want: ['reserve the turn of a (Replace)'],
  },
  {
    name: 'the next node joins those that go',
    observed: scene({
      nodes: asked(REPLACE, REPLACE),
      spec: { disruption: { maxUnavailable: 2 } },
      entries: [terminating('a')],
    }),
    want: ['reserve the turn of a (Replace), b (Replace)'],
  },
  ...(
    [
      ['is not Ready', { ready: 'False' }],
      ['is cordoned', { unschedulable: true }],
    ] as const
  ).flatMap(([how, change]) => [
    {
      name: `a node waits while another one ${how}`,
      observed: scene({ nodes: [node('a', { annotations: REPLACE }), node('b', change), node('c')] }),
      want: [],
    },
    {
      name: `a node that ${how} itself makes no difference, and goes`,
      observed: scene({ nodes: [node('a', { ...change, annotations: REPLACE }), node('b'), node('c')] }),
      want: ['reserve the turn of a (Replace)'],
    },
  ]),
  {
    name: 'a node waits while one is missing',
    observed: scene({ nodes: [node('a', { annotations: REPLACE }), node('b')] }),
    want: [],
  },
  {
    name: 'a node waits while another pool loses nodes',
    observed: scene({ nodes: asked(REPLACE), rest: { fleet: { disrupted: ['api'], failures: [] } } }),
    want: [],
  },
  ...(['UPDATING', 'CREATING', 'DELETING'] as const).map((status) => ({
    name: `a node waits while its group is ${status}`,
    observed: scene({ nodes: asked(REPLACE), group: { status } }),
    want: [],
  })),
  {
    name: 'a node waits while the pool loses nodes by an update',
    observed: scene({
      nodes: asked(REPLACE),
      disruption: { cause: 'Upgrade', since: '2026-03-01T11:58:00Z', settlesBy: '2026-03-01T12:15:00Z' },
    }),
    want: [],
  },
  {
    name: 'a node stays in a cluster that is another one',
    observed: scene({ nodes: asked(REPLACE), rest: { cluster: otherAuthority } }),
    want: [],
  },
  {
    name: 'a node of a group that is not the pool’s stays',
    observed: scene({ nodes: asked(REPLACE), group: { tags: {} } }),
    want: [],
  },
  {
    name: 'an update that is due goes first',
    observed: scene({ nodes: asked(REPLACE), spec: { nodeGroup: { releaseVersion: NEXT } } }),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'an update waits while nodes go one by one',
    observed: goingEmpty({}, {}, { fresh: false, spec: { nodeGroup: { releaseVersion: NEXT } } }),
    want: [],
  },
  ...(
    [
      ['the spec says how many nodes there are', { scaling: { desired: 3 } }, {}],
      ['there are no more than the fewest', {}, { scaling: { min: 2, max: 5, desired: 2 } }],
    ] as const
  ).map(([why, spec, group]) => ({
    name: `no node is removed where ${why}`,
    observed: scene({ nodes: asked(REMOVE), spec, group }),
    want: [],
  })),
  {
    name: 'no more nodes are removed at a time than the pool may lose',
    observed: scene({ nodes: asked(REMOVE, REMOVE), spec: { disruption: { maxUnavailable: 2 } } }),
    want: ['reserve the turn of a (Remove)'],
  },
];
