/** Nodes that are replaced because they fail. */
import { REMEDIATION_ANNOTATION } from '../../labels.ts';
import type { NodeRecord } from '../../ports/nodes.ts';
import { known, unanswered } from '../answers.ts';
import { MINUTE, NOW } from '../fixtures.ts';
import { BY_OPERATOR, going, longAgo, MEMBER, node, podOn, REPLACE, scene, terminating } from '../nodeScenes.ts';
import type { PlanCase } from './planCase.ts';

const failing = (name: string, minutes: number, change: Partial<NodeRecord> = {}) =>
  node(name, {
    ready: 'Unknown',
    verified: { status: 'False', reason: 'NotReady', message: 'WindowsPool web: is not Ready.' },
    verifiedSince: NOW - minutes * MINUTE,
    ...change,
  });
/** An instance of the group that is no node, and is as old. */
const late = (minutes: number) => ({
  id: 'i-late',
  privateDnsName: 'ip-late',
  launchedAt: NOW - minutes * MINUTE,
});
const remediation = { unhealthyAfter: '15m', maxUnhealthy: '40%' };
const spec = { remediation };

export const remediationCases: readonly PlanCase[] = [
  {
    name: 'a node that fails stays where nobody wants remediation',
    observed: scene({ nodes: [failing('a', 60), node('b'), node('c')] }),
    want: [],
  },
  {
    name: 'a node that fails for too long is replaced',
    observed: scene({ spec, nodes: [failing('a', 15), node('b'), node('c')] }),
    want: ['reserve the turn of a (Remediate)'],
  },
  {
    name: 'a node that has failed for a moment stays',
    observed: scene({ spec, nodes: [failing('a', 14), node('b'), node('c')] }),
    want: [],
  },
  {
    name: 'a node that was verified for long and fails now stays until that was told',
    observed: scene({ spec, nodes: [failing('a', 60, { verified: node('b').verified }), node('b'), node('c')] }),
    want: [],
  },
  {
    name: 'no node that fails is replaced when too many do',
    observed: scene({ spec, nodes: [failing('a', 60), failing('b', 1), node('c')] }),
    want: [],
  },
  {
    name: 'a node that people have replaced goes also when too many fail',
    observed: scene({ spec, nodes: [failing('a', 60, { annotations: REPLACE }), failing('b', 1), node('c')] }),
    want: ['reserve the turn of a (Replace)'],
  },
  {
    name: 'a node that fails stays when people say so, or when it was tried in vain',
    observed: scene({
      spec,
      nodes: [failing('a', 60, { annotations: { [REMEDIATION_ANNOTATION]: 'off' } }), node('b'), node('c')],
    }),
    want: [],
  },
  ...(
    [
      ['is ended when that lasts for too long', 20, ['reserve the turn of ip-late (Remediate)']],
      ['has some time', 14, []],
    ] as const
  ).map(([what, minutes, want]) => ({
    name: `an instance that does not become a node ${what}`,
    observed: scene({ spec, nodes: [node('b'), node('c')], rest: { instances: [late(minutes)] } }),
    want,
  })),
  {
    name: 'an instance that does not become a node stays when too many fail',
    observed: scene({ spec, nodes: [failing('b', 60), node('c')], rest: { instances: [late(20)] } }),
    want: [],
  },
  ...(
    [
      ['ends', { node: known(undefined), instance: MEMBER }, ['end instance i-late, which is no node']],
      [
        'that is a node by now is left alone',
        { node: known(node('ip-late', { providerID: 'aws:///a/i-late' })), instance: MEMBER },
        [],
      ],
      [
        'that is being ended is left alone',
        {
          node: known(undefined),
          instance: known({ state: 'shutting-down', scalingGroup: 'eks-web-0a1b', privateDnsName: '' }),
        },
        [],
      ],
      ['of which EC2 tells nothing is left alone', { node: known(undefined), instance: unanswered('throttled') }, []],
    ] as const
  ).map(([what, view, want]) => {
    const entry = terminating('ip-late', { uid: 'i-late', instance: 'i-late', operation: 'Remediate' });
    return {
      name: `an instance without a node ${what}`,
      observed: scene({ spec, nodes: [node('b'), node('c')], entries: [entry], awsCache: [{ entry, ...view }] }),
      want,
    };
  }),
  {
    name: 'a node that recovers stays',
    observed: going(
      { node: known(node('a', { unschedulable: true, annotations: BY_OPERATOR })), pods: known([podOn()]) },
      { operation: 'Remediate' },
      { spec },
    ),
    want: ['let node a stay'],
  },
  {
    name: 'a node that still fails goes on',
    observed: going(
      { node: known(failing('a', 20, { unschedulable: true, annotations: BY_OPERATOR })), pods: known([podOn()]) },
      { operation: 'Remediate' },
      { spec },
    ),
    want: ['evict 1 pod from node a'],
  },
  {
    name: 'a node that fails and is not empty in time stays, and is not tried for ever',
    observed: going(
      { node: known(failing('a', 20, { unschedulable: true, annotations: BY_OPERATOR })), pods: known([podOn()]) },
      { operation: 'Remediate', since: longAgo },
      { spec },
    ),
    want: ['let node a stay: timed-out: 1 pod had not left it'],
  },
];
