/** Observed states that together have every metric of pools. */
import type { WindowsPoolStatus } from '../api/api.gen.ts';
import type { GaugeSample } from '../api/metricCatalogue.ts';
import { evaluateConditions } from '../conditions/evaluateConditions.ts';
import { POD_ADDRESSES } from '../nodes/windowsVersions.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import { samplesOf } from '../reporting/poolSamples.ts';
import { statusFor } from '../reporting/poolStatus.ts';
import { known } from './answers.ts';
import { canaryScene } from './canaryScenes.ts';
import {
  existingPool,
  knownStatus,
  LEAVING,
  NOW,
  type ObservedStateChange,
  outcomeOf,
  sampleGroup,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleState,
} from './fixtures.ts';
import { karpenterPool, karpenterView } from './karpenterScenes.ts';
import { machinesPool, machinesView } from './machineScenes.ts';
import { CORE, NO_DNS, newcomer, PULL_ERROR, pulling, pullPod, testing, testPod } from './nodePodScenes.ts';
import { scene, terminating } from './nodeScenes.ts';
import { ONE_ZONE, sampleFacts } from './prerequisites.ts';
import { drainScene } from './replacementScenes.ts';

/** The gauges of an observed state. */
export function samplesFor(s: EksDerived): GaugeSample[] {
  const assessment = evaluateConditions(outcomeOf(s));
  return samplesOf(s, assessment, statusFor(outcomeOf(s), assessment, []));
}

const floor = {
  verification: { policy: 'Quarantine', minimumRevision: 2340, minimumReservedMemory: '2Gi' },
} as const;
const issues = [
  { code: 'NodeCreationFailure', message: 'no node joins', resourceIds: ['i-1'] },
  { code: 'NodeCreationFailure', message: 'no node joins', resourceIds: ['i-2'] },
  { code: 'SomethingNew', message: 'whatever', resourceIds: [] },
];
const update: NonNullable<NonNullable<WindowsPoolStatus['nodeGroup']>['update']> = {
  id: 'u-1',
  type: 'VersionUpdate',
  target: 't',
  status: 'InProgress',
  startedAt: '2026-03-01T11:00:00Z',
};

const PAUSED = {
  type: 'Paused',
  status: 'True',
  reason: 'Paused',
  message: '',
  lastTransitionTime: '2026-02-28T12:00:00Z',
} as const;

/** A node with a warning, one that fails two checks, and healthy ones. */
const mixedNodes = [
  ...sampleNodes(1),
  sampleNode({ name: 'ip-7', allocatable: { memory: '8388608Ki', [POD_ADDRESSES]: '14' } }),
  sampleNode({ name: 'ip-8', taints: [], ready: 'False', kernelVersion: '10.0.20348.1000' }),
];

/** By their subject. */
export const statesForMetrics: Readonly<Record<string, ObservedStateChange>> = {
  settled: {},
  'failing nodes, an issue, a newer release, a prerequisite that is not met, and advice': {
    pool: samplePool(floor, { status: knownStatus() }),
    nodes: mixedNodes,
    group: { kind: 'seen', group: sampleGroup(samplePool(floor), { status: 'DEGRADED', healthIssues: issues }) },
    newestRelease: known('1.36-2026.02.25'),
    prerequisites: sampleFacts({
      cniConfig: known({}),
      subnetZones: known(ONE_ZONE),
    }),
  },
  'a warm pool': {
    group: {
      kind: 'seen',
      group: sampleGroup(undefined, {
        warmPool: { minSize: 1, maxGroupPreparedCapacity: 5, poolState: 'Stopped', reuseOnScaleIn: false },
      }),
    },
    autoscaler: { tags: {}, templateVersions: [], podAddresses: 9, warmInstances: 2 },
  },
  'a rolling update': {
    pool: samplePool(
      {},
      { status: { ...knownStatus({ update }), disruption: { reason: 'Update', startTime: '2026-03-01T10:59:58Z' } } },
    ),
    group: { kind: 'seen', group: sampleGroup(undefined, { status: 'UPDATING' }) },
  },
  'a pause, and a deletion that waits for its end': {
    pool: samplePool({ paused: true }, { metadata: LEAVING, status: { ...knownStatus(), conditions: [PAUSED] } }),
  },
  'a node that goes, and remediation': {
    ...scene({ entries: [terminating('a')] }),
    pool: samplePool(
      { remediation: { policy: 'Replace' as const, unhealthyAfter: '15m', maxUnhealthy: '40%' } },
      { status: scene({ entries: [terminating('a')] }).pool.status ?? {} },
    ),
  },
  'images that are pulled': {
    pool: samplePool(pulling, { status: knownStatus() }),
    nodes: [newcomer, ...sampleNodes(2)],
    nodePods: { kind: 'seen', pods: [pullPod(CORE, PULL_ERROR)] },
  },
  'a smoke test that fails': {
    pool: samplePool(testing, { status: knownStatus() }),
    nodes: [newcomer, ...sampleNodes(2)],
    nodePods: { kind: 'seen', pods: [testPod(NO_DNS)] },
  },
  'a node group that is replaced': drainScene(),
  'a canary': canaryScene(),
  'existing nodes': { pool: existingPool(), group: { kind: 'absent' }, cluster: { kind: 'absent' }, now: NOW },
  machines: {
    pool: machinesPool(),
    group: { kind: 'absent' },
    cluster: { kind: 'absent' },
    machines: machinesView(),
    now: NOW,
  },
  'nodes of Karpenter': {
    pool: karpenterPool(),
    group: { kind: 'absent' },
    cluster: { kind: 'absent' },
    karpenter: karpenterView(),
    now: NOW,
  },
};

/** Those observed states, complete. */
export function everyObservedState(): EksDerived[] {
  return Object.values(statesForMetrics).map(sampleState);
}
