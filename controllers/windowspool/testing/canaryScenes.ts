/** A pool of three nodes whose update to the next release is tried on a canary of two nodes first. */
import type { SecondNodeGroup, UpdateSpec } from '../api/api.gen.ts';
import { CANARY_TAG } from '../api/labels.ts';
import type { NodeGroup } from '../ports/eks.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import type { EksState, ObservedNodeGroup } from '../providers/nodeGroup/model/groupState.ts';
import { canaryTargetOf } from '../providers/nodeGroup/secondGroup/canary.ts';
import { known as answered } from './answers.ts';
import { knownStatus, MINUTE, NEXT, NOW, type SpecChange, sampleGroup, samplePool, sampleState } from './fixtures.ts';
import { sampleFacts } from './prerequisites.ts';
import { HASHED, nodeIn, PLAIN } from './replacementScenes.ts';

const CANARY_ARN = 'arn:aws:eks:eu-west-1:111122223333:nodegroup/prod/web-2/4d5e';

const at = (ms: number) => new Date(ms).toISOString();

/** The settings of updates with a canary. */
export const WITH_CANARY: UpdateSpec = { policy: 'Manual', force: false, canary: { nodes: 2, soakDuration: '30m' } };

/** The spec of a pool that pins the next release. */
export const trying = (update: UpdateSpec = WITH_CANARY, nodeGroup: SpecChange['nodeGroup'] = {}): SpecChange => ({
  nodeGroup: { update, releaseVersion: NEXT, ...nodeGroup },
});

/** What the canary of this pool tries. */
export const CANARY_TARGET = canaryTargetOf(samplePool(trying()), {
  kubernetesVersion: '1.36',
  releaseVersion: NEXT,
  force: false,
});

export const MAIN_NODES: readonly NodeRecord[] = ['a', 'b', 'c'].map((name) => nodeIn(PLAIN, name));
export const CANARY_NODES: readonly NodeRecord[] = ['x', 'y'].map((name) => nodeIn(HASHED, name));

interface Scene {
  readonly spec?: SpecChange;
  readonly metadata?: Parameters<typeof samplePool>[1] extends { metadata?: infer M } | undefined ? M : never;
  /** What status records of the canary; `none`: nothing. */
  readonly record?: Partial<SecondNodeGroup> | 'none';
  readonly main?: Partial<NodeGroup>;
  /** The group of the canary; `none`: it was not read. */
  readonly canary?: Partial<NodeGroup> | Extract<ObservedNodeGroup, { kind: 'absent' | 'unreachable' }> | 'none';
  readonly nodes?: readonly NodeRecord[];
  readonly state?: NonNullable<Parameters<typeof knownStatus>[0]>;
  readonly rest?: Partial<EksState>;
}

/** The pool while all nodes of its canary have been verified for ten minutes. */
export function canaryScene(scene: Scene = {}): EksDerived {
  const { spec = trying(), metadata, record = {}, main = {}, canary = {}, nodes, state, rest } = scene;
  const known = {
    name: HASHED,
    arn: CANARY_ARN,
    phase: 'Soaking' as const,
    startTime: at(NOW - 20 * MINUTE),
    lastTransitionTime: at(NOW - 10 * MINUTE),
    target: CANARY_TARGET,
    kubernetesVersion: '1.36',
    releaseVersion: NEXT,
  };
  const status = knownStatus({ ...state, ...(record !== 'none' && { canary: { ...known, ...record } }) });
  const pool = samplePool(spec, { status, ...(metadata && { metadata }) });
  return sampleState({
    pool,
    group: { kind: 'seen', group: sampleGroup(samplePool(), main) },
    ...(canary !== 'none' && { second: 'kind' in canary ? canary : { kind: 'seen', group: canaryGroup(canary) } }),
    nodes: nodes ?? [...MAIN_NODES, ...CANARY_NODES],
    prerequisites: sampleFacts(),
    newestRelease: answered(NEXT),
    ...rest,
  });
}

/** The group of the canary. */
function canaryGroup(change: Partial<NodeGroup> = {}): NodeGroup {
  const group = sampleGroup(samplePool());
  return {
    ...group,
    name: HASHED,
    arn: CANARY_ARN,
    releaseVersion: NEXT,
    scaling: { minSize: 2, maxSize: 2, desiredSize: 2 },
    autoScalingGroups: ['eks-web-canary'],
    tags: { ...group.tags, [CANARY_TAG]: CANARY_TARGET },
    ...change,
  };
}

/** The record of a canary that has passed. */
export const PASSED = { lastTransitionTime: at(NOW - 30 * MINUTE) };
/** The record of a canary that has ended. */
export const ENDED = { phase: 'Draining', lastTransitionTime: at(NOW - MINUTE) } as const;
/** The pool before the canary begins. */
export const beforeCanary = (scene: Scene = {}) =>
  canaryScene({ record: 'none', canary: 'none', nodes: MAIN_NODES, ...scene });
