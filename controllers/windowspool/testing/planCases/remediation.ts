/** Nodes that are replaced because they fail verification. */
import { REMEDIATION_ANNOTATION, SMOKE_TEST_PENDING_CONDITION } from '../../api/labels.ts';
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
  conditions: [`${SMOKE_TEST_PENDING_CONDITION}=True`],
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
    rests: { until: '10m' },
  },
  {
    name: 'a node that has failed for too long is replaced',
    observed: scene({ spec, nodes: [failing('a', 15), node('b'), node('c')] }),
    want: ['reserveDisruption for a (Replace, Unhealthy)'],
  },
  {
    name: 'a node that has failed for a short time is not replaced',
    observed: scene({ spec, nodes: [failing('a', 14), node('b'), node('c')] }),
    want: [],
    waits: { because: 'NodesVerified NotReady', until: '1m' },
  },
  {
    name: 'a node that fails now is not replaced before its condition shows it',
    observed: scene({ spec, nodes: [failing('a', 60, { verified: node('b').verified }), node('b'), node('c')] }),
    want: [],
    waits: { because: 'NodesVerified NotReady', until: '10m' },
  },
  {
    name: 'no failing node is replaced when too many fail',
    observed: scene({ spec, nodes: [failing('a', 60), failing('b', 1), node('c')] }),
    want: [],
    waits: { because: 'RemediationAllowed TooManyUnhealthy', until: '10m' },
  },
  {
    name: 'a node with the replace annotation is replaced also when too many fail',
    observed: scene({ spec, nodes: [failing('a', 60, { annotations: REPLACE }), failing('b', 1), node('c')] }),
    want: ['reserveDisruption for a (Replace)'],
  },
  {
    name: 'a failing node is not replaced when its annotation excludes it',
    observed: scene({
      spec,
      nodes: [failing('a', 60, { annotations: { [REMEDIATION_ANNOTATION]: 'off' } }), node('b'), node('c')],
    }),
    want: [],
    rests: { until: '10m' },
  },
  ...(
    [
      [
        'that was not tested because the pods cannot be listed is not replaced',
        { kind: 'unknown', error: sampleError('denied') },
        { want: [], waits: { because: 'NodesVerified SmokeTestPending', until: '10m' } },
      ],
      [
        'that was not tested because its pod cannot be created is not replaced',
        { kind: 'seen', pods: [] },
        { want: ['createNodePod a smoke-test'] },
      ],
      [
        'whose test has failed is replaced',
        { kind: 'seen', pods: [testPod({ ...NO_DNS, changedAt: NOW }, 3, untested)] },
        { want: ['reserveDisruption for a (Replace, Unhealthy)'] },
      ],
    ] as const
  ).map(([what, nodePods, outcome]) => ({
    name: `a node ${what}`,
    observed: scene({ spec: { ...spec, ...testing }, nodes: [untested, node('b'), node('c')], rest: { nodePods } }),
    ...outcome,
  })),
  ...(
    [
      ['is replaced after unhealthyAfter', 20, { want: ['reserveDisruption for ip-late (Replace, Unhealthy)'] }],
      [
        'is not replaced before unhealthyAfter',
        14,
        { want: [], waits: { because: 'NodesVerified Joining', until: '10m' } },
      ],
    ] as const
  ).map(([what, minutes, outcome]) => ({
    name: `an instance that did not join ${what}`,
    observed: scene({ spec, nodes: [node('b'), node('c')], rest: { instances: [late(minutes)] } }),
    ...outcome,
  })),
  {
    name: 'an instance that did not join is not replaced when too many nodes fail',
    observed: scene({ spec, nodes: [failing('b', 60), node('c')], rest: { instances: [late(20)] } }),
    want: [],
    waits: { because: 'RemediationAllowed TooManyUnhealthy', until: '10m' },
  },
  ...(
    [
      [
        'is terminated',
        { node: known(undefined), instance: MEMBER },
        { want: [RECORD, 'terminateUnregistered i-late'] },
      ],
      [
        'that has joined in the meantime is not changed',
        { node: known(node('ip-late', { providerID: 'aws:///a/i-late' })), instance: MEMBER },
        { want: [], rests: { until: '100ms' } },
      ],
      [
        'that is terminating is not changed',
        {
          node: known(undefined),
          instance: known({ state: 'shutting-down', scalingGroup: 'eks-web-0a1b', privateDnsName: '' }),
        },
        { want: [], waits: { because: 'Disrupting Draining', until: '100ms' } },
      ],
      [
        'that EC2 does not return is not changed',
        { node: known(undefined), instance: unanswered('throttled') },
        { want: [], waits: { because: 'Disrupting Draining', until: '100ms' } },
      ],
    ] as const
  ).map(([what, view, outcome]) => {
    const entry = terminating('ip-late', {
      uid: 'i-late',
      instanceID: 'i-late',
      operation: 'Replace',
      reason: 'Unhealthy',
    });
    return {
      name: `an instance without a node ${what}`,
      observed: scene({ spec, nodes: [node('b'), node('c')], entries: [entry], views: [{ entry, ...view }] }),
      ...outcome,
    };
  }),
  {
    name: 'a node that recovers is kept',
    observed: terminatingScene(
      { node: known(node('a', { unschedulable: true, annotations: BY_OPERATOR })), pods: known([podOn()]) },
      { operation: 'Replace', reason: 'Unhealthy' },
      { spec },
    ),
    want: ['uncordonNode a'],
  },
  {
    name: 'the drain of a node that still fails continues',
    observed: terminatingScene(
      { node: known(failing('a', 20, { unschedulable: true, annotations: BY_OPERATOR })), pods: known([podOn()]) },
      { operation: 'Replace', reason: 'Unhealthy' },
      { spec },
    ),
    want: ['evictPods a cart-0'],
  },
  {
    name: 'a failing node whose drain times out is kept, and not drained again',
    observed: terminatingScene(
      { node: known(failing('a', 20, { unschedulable: true, annotations: BY_OPERATOR })), pods: known([podOn()]) },
      { operation: 'Replace', reason: 'Unhealthy', startTime: longAgo },
      { spec },
    ),
    want: ['uncordonNode a timed-out'],
  },
];
