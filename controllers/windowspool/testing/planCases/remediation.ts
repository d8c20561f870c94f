/** Nodes that are replaced because they fail verification. */
import { REMEDIATION_ANNOTATION } from '../../labels.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { known, unanswered } from '../answers.ts';
import { MINUTE, NOW, sampleError } from '../fixtures.ts';
import { NO_DNS, testing, testPod } from '../nodePodScenes.ts';
import {
  BY_OPERATOR,
  longAgo,
  MEMBER,
  node,
  podOn,
  REPLACE,
  scene,
  terminating,
  terminatingScene,
} from '../nodeScenes.ts';
import type { PlanCase } from './planCase.ts';
import { RECORD } from './steps.ts';

const failing = (name: string, minutes: number, change: Partial<NodeRecord> = {}) =>
  node(name, {
    ready: 'Unknown',
    verified: { status: 'False', reason: 'NotReady', message: 'WindowsPool web: is not Ready.' },
    verifiedSince: NOW - minutes * MINUTE,
    ...change,
  });
/** An instance of the group that is not a node, and is this old. */
const late = (minutes: number) => ({
  id: 'i-late',
  privateDnsName: 'ip-late',
  launchedAt: NOW - minutes * MINUTE,
});
/** A node that fails because of the smoke test. */
const untested = failing('a', 60, {
  ready: 'True',
  createdAt: NOW - 120 * MINUTE,
  verified: {
    status: 'False',
    reason: 'SmokeTestPending',
    message: 'WindowsPool web: has not passed the smoke test (verification.smokeTest) yet.',
  },
});
const remediation = { policy: 'Replace' as const, unhealthyAfter: '15m', maxUnhealthy: '40%' };
const spec = { remediation };

export const remediationCases: readonly PlanCase[] = [
  {
    name: 'a failing node is not replaced without remediation',
    observed: scene({ nodes: [failing('a', 60), node('b'), node('c')] }),
    want: [],
  },
  {
    name: 'a node that has failed for too long is replaced',
    observed: scene({ spec, nodes: [failing('a', 15), node('b'), node('c')] }),
    want: ['reserve the turn of a (Remediate)'],
  },
  {
    name: 'a node that has failed for a short time is not replaced',
    observed: scene({ spec, nodes: [failing('a', 14), node('b'), node('c')] }),
    want: [],
  },
  {
    name: 'a node that fails now is not replaced before its condition shows it',
    observed: scene({ spec, nodes: [failing('a', 60, { verified: node('b').verified }), node('b'), node('c')] }),
    want: [],
  },
  {
    name: 'no failing node is replaced when too many fail',
    observed: scene({ spec, nodes: [failing('a', 60), failing('b', 1), node('c')] }),
    want: [],
  },
  {
    name: 'a node with the replace annotation is replaced also when too many fail',
    observed: scene({ spec, nodes: [failing('a', 60, { annotations: REPLACE }), failing('b', 1), node('c')] }),
    want: ['reserve the turn of a (Replace)'],
  },
  {
    name: 'a failing node is not replaced when its annotation excludes it',
    observed: scene({
      spec,
      nodes: [failing('a', 60, { annotations: { [REMEDIATION_ANNOTATION]: 'off' } }), node('b'), node('c')],
    }),
    want: [],
  },
  ...(
    [
      [
        'that was not tested because the pods cannot be listed is not replaced',
        { kind: 'unknown', error: sampleError('denied') },
        [],
      ],
      [
        'that was not tested because its pod cannot be created is not replaced',
        { kind: 'seen', pods: [] },
        ['run the smoke test on node a'],
      ],
      [
        'whose test has failed is replaced',
        { kind: 'seen', pods: [testPod({ ...NO_DNS, changedAt: NOW }, 3, untested)] },
        ['reserve the turn of a (Remediate)'],
      ],
    ] as const
  ).map(([what, nodePods, want]) => ({
    name: `a node ${what}`,
    observed: scene({ spec: { ...spec, ...testing }, nodes: [untested, node('b'), node('c')], rest: { nodePods } }),
    want,
  })),
  ...(
    [
      ['is replaced after unhealthyAfter', 20, ['reserve the turn of ip-late (Remediate)']],
      ['is not replaced before unhealthyAfter', 14, []],
    ] as const
  ).map(([what, minutes, want]) => ({
    name: `an instance that did not join ${what}`,
    observed: scene({ spec, nodes: [node('b'), node('c')], rest: { instances: [late(minutes)] } }),
    want,
  })),
  {
    name: 'an instance that did not join is not replaced when too many nodes fail',
    observed: scene({ spec, nodes: [failing('b', 60), node('c')], rest: { instances: [late(20)] } }),
    want: [],
  },
  ...(
    [
      [
        'is terminated',
        { node: known(undefined), instance: MEMBER },
        [RECORD, 'terminate instance i-late, which did not join'],
      ],
      [
        'that has joined in the meantime is not changed',
        { node: known(node('ip-late', { providerID: 'aws:///a/i-late' })), instance: MEMBER },
        [],
      ],
      [
        'that is terminating is not changed',
        {
          node: known(undefined),
          instance: known({ state: 'shutting-down', scalingGroup: 'eks-web-0a1b', privateDnsName: '' }),
        },
        [],
      ],
      ['that EC2 does not return is not changed', { node: known(undefined), instance: unanswered('throttled') }, []],
    ] as const
  ).map(([what, view, want]) => {
    const entry = terminating('ip-late', { uid: 'i-late', instance: 'i-late', operation: 'Remediate' });
    return {
      name: `an instance without a node ${what}`,
      observed: scene({ spec, nodes: [node('b'), node('c')], entries: [entry], views: [{ entry, ...view }] }),
      want,
    };
  }),
  {
    name: 'a node that recovers is kept',
    observed: terminatingScene(
      { node: known(node('a', { unschedulable: true, annotations: BY_OPERATOR })), pods: known([podOn()]) },
      { operation: 'Remediate' },
      { spec },
    ),
    want: ['keep node a'],
  },
  {
    name: 'the drain of a node that still fails continues',
    observed: terminatingScene(
      { node: known(failing('a', 20, { unschedulable: true, annotations: BY_OPERATOR })), pods: known([podOn()]) },
      { operation: 'Remediate' },
      { spec },
    ),
    want: ['evict 1 pod from node a'],
  },
  {
    name: 'a failing node whose drain times out is kept, and not drained again',
    observed: terminatingScene(
      { node: known(failing('a', 20, { unschedulable: true, annotations: BY_OPERATOR })), pods: known([podOn()]) },
      { operation: 'Remediate', since: longAgo },
      { spec },
    ),
    want: ['keep node a: the drain timed out: 1 pod left'],
  },
];
