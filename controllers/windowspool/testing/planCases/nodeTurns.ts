/** Which of the requested nodes gets its turn. */
import { REMOVE_ANNOTATION, REPLACE_ANNOTATION } from '../../api/labels.ts';
import { NEXT } from '../fixtures.ts';
import { drainedScene, node, REMOVE, REPLACE, scene, terminating } from '../nodeScenes.ts';
import { otherAuthority } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { TO_NEXT_STEPS } from './steps.ts';

const asked = (...annotations: readonly Readonly<Record<string, string>>[]) =>
  ['a', 'b', 'c'].map((name, i) => node(name, { annotations: annotations[i] ?? {} }));

export const nodeTurnCases: readonly PlanCase[] = [
  {
    name: 'a node with the replace annotation gets its turn before it is changed',
    observed: scene({ nodes: asked(REPLACE) }),
    want: ['reserveDisruption for a (Replace)'],
  },
  {
    name: 'a node with the remove annotation gets its turn',
    observed: scene({ nodes: asked(REMOVE) }),
    want: ['reserveDisruption for a (Remove)'],
  },
  {
    name: 'a node with both annotations is replaced',
    observed: scene({ nodes: asked({ ...REPLACE, ...REMOVE }) }),
    want: ['reserveDisruption for a (Replace)'],
  },
  {
    name: 'a node whose annotation has another value than true is not changed',
    observed: scene({ nodes: asked({ [REPLACE_ANNOTATION]: 'timed-out' }, { [REMOVE_ANNOTATION]: '' }) }),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'of two requested nodes one is first',
    observed: scene({ nodes: asked({}, REPLACE, REPLACE) }),
    want: ['reserveDisruption for b (Replace)'],
  },
  {
    name: 'as many nodes as maxUnavailable get their turn at a time',
    observed: scene({ nodes: asked(REPLACE, REPLACE, REPLACE), spec: { disruption: { maxUnavailable: 2 } } }),
    want: ['reserveDisruption for a (Replace), b (Replace)'],
  },
  {
    name: 'as many nodes as maxUnavailable of the group, rounded down, get their turn at a time',
    observed: scene({ nodes: asked(REPLACE, REPLACE, REPLACE), group: { update: { maxUnavailable: '67%' } } }),
    want: ['reserveDisruption for a (Replace), b (Replace)'],
  },
  {
    name: 'a percentage of less than one node counts as one node',
    observed: scene({ nodes: asked(REPLACE, REPLACE), spec: { disruption: { maxUnavailable: '10%' } } }),
    want: ['reserveDisruption for a (Replace)'],
  },
  {
    name: 'the next node is added to the terminating ones',
    observed: scene({
      nodes: asked(REPLACE, REPLACE),
      spec: { disruption: { maxUnavailable: 2 } },
      entries: [terminating('a')],
    }),
    want: ['reserveDisruption for a (Replace), b (Replace)'],
  },
  ...(
    [
      ['is not Ready', { ready: 'False' }],
      ['is cordoned', { unschedulable: true }],
    ] as const
  ).flatMap(([how, change]): PlanCase[] => [
    {
      name: `a requested node waits while another one ${how}`,
      observed: scene({ nodes: [node('a', { annotations: REPLACE }), node('b', change), node('c')] }),
      want: [],
      waits: { because: 'Disrupting DisruptionPending', until: '10m' },
    },
    {
      name: `a node that ${how} itself does not count, and gets its turn`,
      observed: scene({ nodes: [node('a', { ...change, annotations: REPLACE }), node('b'), node('c')] }),
      want: ['reserveDisruption for a (Replace)'],
    },
  ]),
  {
    name: 'a requested node waits while one is missing',
    observed: scene({ nodes: [node('a', { annotations: REPLACE }), node('b')] }),
    want: [],
    waits: { because: 'Disrupting DisruptionPending', until: '10m' },
  },
  {
    name: 'a requested node waits while another pool replaces nodes',
    observed: scene({ nodes: asked(REPLACE), rest: { otherPools: { disrupted: ['api'], failures: [] } } }),
    want: [],
    waits: { because: 'Disrupting DisruptionPending', until: '10m' },
  },
  ...(['UPDATING', 'CREATING', 'DELETING'] as const).map(
    (status): PlanCase => ({
      name: `a node waits while its group is ${status}`,
      observed: scene({ nodes: asked(REPLACE), group: { status } }),
      want: [],
      waits: { because: 'Disrupting DisruptionPending', until: '1s' },
    }),
  ),
  {
    name: 'a requested node waits during a rolling update of the pool',
    observed: scene({
      nodes: asked(REPLACE),
      disruption: { reason: 'Update', startTime: '2026-03-01T11:58:00Z', deadline: '2026-03-01T12:15:00Z' },
    }),
    want: [],
    waits: { because: 'Disrupting DisruptionPending', until: '10m' },
  },
  {
    name: 'a requested node in another cluster is not changed',
    observed: scene({ nodes: asked(REPLACE), rest: { cluster: otherAuthority } }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10m' },
  },
  {
    name: 'a requested node of a group that the pool does not manage is not changed',
    observed: scene({ nodes: asked(REPLACE), group: { tags: {} } }),
    want: [],
    waits: { because: 'NodeGroupReady NotOwned', until: '10m' },
  },
  {
    name: 'a rolling update that is due is first',
    observed: scene({ nodes: asked(REPLACE), spec: { nodeGroup: { releaseVersion: NEXT } } }),
    want: TO_NEXT_STEPS,
  },
  {
    name: 'a rolling update waits while nodes are replaced one by one',
    observed: drainedScene({}, {}, { fresh: false, spec: { nodeGroup: { releaseVersion: NEXT } } }),
    want: [],
    waits: { because: 'UpToDate UpdatePending', until: '100ms' },
  },
  ...(
    [
      ['the spec has a desired size', { nodeGroup: { scaling: { desiredSize: 3 } } }, {}],
      ['the group has only minSize nodes', {}, { scaling: { minSize: 2, maxSize: 5, desiredSize: 2 } }],
    ] as const
  ).map(
    ([why, spec, group]): PlanCase => ({
      name: `no node is removed when ${why}`,
      observed: scene({ nodes: asked(REMOVE), spec, group }),
      want: [],
      waits: { because: 'Disrupting RemovalRejected', until: '10m' },
    }),
  ),
  {
    name: 'no more nodes are removed at a time than minSize allows',
    observed: scene({ nodes: asked(REMOVE, REMOVE), spec: { disruption: { maxUnavailable: 2 } } }),
    want: ['reserveDisruption for a (Remove)'],
  },
];
