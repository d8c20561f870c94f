/** Pools as the operator reports them, for tests of the output. */
import type { Condition, WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import { evaluateConditions } from '../../../controllers/windowspool/conditions/evaluateConditions.ts';
import type { Derived } from '../../../controllers/windowspool/model/due.ts';
import { planFor } from '../../../controllers/windowspool/plan.ts';
import { statusFor } from '../../../controllers/windowspool/reporting/poolStatus.ts';
import { known } from '../../../controllers/windowspool/testing/answers.ts';
import { canaryScene } from '../../../controllers/windowspool/testing/canaryScenes.ts';
import {
  knownStatus,
  LEAVING,
  MINUTE,
  NEXT,
  NOW,
  type ObservedStateChange,
  outcomeOf,
  sampleError,
  sampleGroup,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleState,
} from '../../../controllers/windowspool/testing/fixtures.ts';
import {
  CORE,
  CREATING,
  NO_DNS,
  newcomer,
  newNode,
  pulling,
  pullPod,
  testing,
  testPod,
  WEB,
} from '../../../controllers/windowspool/testing/nodePodScenes.ts';
import { ONE_ZONE, sampleFacts } from '../../../controllers/windowspool/testing/prerequisites.ts';
import { drainScene } from '../../../controllers/windowspool/testing/replacementScenes.ts';
import { statesForMetrics } from '../../../controllers/windowspool/testing/statesForMetrics.ts';

/** The pool with the status that the operator writes in this state. */
export function reported(s: Derived): WindowsPool {
  return { ...s.pool, status: statusFor(outcomeOf(s), evaluateConditions(outcomeOf(s)), planFor(s).held) };
}

const changes: Readonly<Record<string, ObservedStateChange>> = {
  healthy: {},
  'wrong-build': {
    nodes: [...sampleNodes(2), sampleNode({ name: 'ip-10-0-1-9.internal', kernelVersion: '10.0.17763.5576' })],
  },
  prerequisites: {
    pool: samplePool({}, { status: {} }),
    group: { kind: 'absent' },
    nodes: [],
    prerequisites: sampleFacts({ cniConfig: known({}) }),
  },
  paused: {
    pool: samplePool({ paused: true, labels: { team: 'shop' } }, { status: knownStatus() }),
    group: { kind: 'seen', group: sampleGroup() },
  },
  'update-available': { newestRelease: known(NEXT) },
  creating: { group: { kind: 'seen', group: sampleGroup(undefined, { status: 'CREATING' }) }, nodes: [] },
  deleting: {
    pool: samplePool({}, { status: knownStatus(), metadata: LEAVING }),
    group: { kind: 'seen', group: sampleGroup(undefined, { status: 'DELETING' }) },
  },
  advice: { prerequisites: sampleFacts({ subnetZones: known(ONE_ZONE) }) },
  'pulling-images': {
    pool: samplePool(pulling, { status: knownStatus() }),
    nodes: [newNode({ name: 'ip-10-0-1-9.internal', images: [WEB] }), newcomer, ...sampleNodes(1)],
    nodePods: { kind: 'seen', pods: [pullPod(CORE, CREATING)] },
  },
  'smoke-test-failed': {
    pool: samplePool(testing, { status: knownStatus() }),
    nodes: [newNode({ createdAt: NOW - 60 * MINUTE }), ...sampleNodes(2)],
    nodePods: { kind: 'seen', pods: [testPod(NO_DNS, 3)] },
  },
  'access-denied': {
    pool: samplePool(),
    group: { kind: 'absent' },
    nodes: [],
    errors: [
      {
        at: NOW,
        step: 'createNodeGroup',
        error: sampleError('denied', {
          operation: 'CreateNodegroup',
          action: 'eks:CreateNodegroup',
          message: 'not authorized to perform: eks:CreateNodegroup',
        }),
      },
    ],
  },
  'warm-pool': statesForMetrics['a warm pool'] ?? {},
  'existing-nodes': statesForMetrics['existing nodes'] ?? {},
};

/** By the name of their golden file. */
export const situations: Readonly<Record<string, WindowsPool>> = {
  ...Object.fromEntries(Object.entries(changes).map(([name, change]) => [name, reported(sampleState(change))])),
  'update-failed': withCondition('UpToDate', {
    status: 'False',
    reason: 'UpdateFailed',
    message: 'Update of node group web to AMI release 1.36-2026.03.17 failed: PodEvictionFailure (ip-10-0-1-1).',
  }),
  'drain-blocked': withCondition('Disrupting', {
    status: 'True',
    reason: 'DrainBlocked',
    message: 'Draining ip-10-0-1-1: eviction of shop/cart-0 is blocked by PodDisruptionBudget cart.',
  }),
  'not-observed': samplePool(),
  replacing: reported(drainScene()),
  canary: reported(canaryScene()),
};

/** A healthy pool with another condition of this type. */
function withCondition(type: string, condition: Pick<Condition, 'status' | 'reason' | 'message'>): WindowsPool {
  const pool = reported(sampleState());
  const others = pool.status?.conditions?.filter((other) => other.type !== type) ?? [];
  const changed = { type, lastTransitionTime: '2026-03-01T11:00:00Z', ...condition };
  return { ...pool, status: { ...pool.status, conditions: [...others, changed] } };
}
