/** A pool whose node group `web` is replaced by a second one, because its instance type changed. */
import type { FormerNodeGroup } from '../api/api.gen.ts';
import { NODE_GROUP_LABEL } from '../api/labels.ts';
import type { NodeGroup } from '../ports/eks.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { otherNameOf } from '../providers/nodeGroup/desired/desiredNodeGroup.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import type { EksState, ObservedNodeGroup } from '../providers/nodeGroup/model/groupState.ts';
import {
  knownStatus,
  MINUTE,
  NOW,
  type SpecChange,
  sampleGroup,
  sampleNode,
  samplePool,
  sampleState,
} from './fixtures.ts';
import { BY_OPERATOR, node } from './nodeScenes.ts';

/** The names of the two groups of the sample pool. */
export const FIRST = 'web';
export const SECOND = otherNameOf(samplePool());

/** The instance types before the replacement, after it, and of a third configuration. */
export const [OLD, NEW, THIRD] = ['m5.large', 'm5.xlarge', 'm5.2xlarge'] as const;

const SECOND_ARN = 'arn:aws:eks:eu-west-1:111122223333:nodegroup/prod/web-2/2c3d';

/** When the replacement began. */
const SINCE = new Date(NOW - 20 * MINUTE).toISOString();

/** The spec of a pool of two to five nodes that lets a group be replaced. */
export function replacing(type: string = NEW, nodeGroup: SpecChange['nodeGroup'] = {}): SpecChange {
  return {
    nodeGroup: {
      immutableChangePolicy: 'Replace',
      instanceTypes: [type],
      ...nodeGroup,
      scaling: { minSize: 2, maxSize: 5, ...nodeGroup?.scaling },
    },
  };
}

/** A node of the first or the second group. */
export function nodeIn(group: string, name: string, change: Partial<NodeRecord> = {}): NodeRecord {
  return node(name, { labels: { ...sampleNode().labels, [NODE_GROUP_LABEL]: group }, ...change });
}

export const OLD_NODES: readonly NodeRecord[] = ['a', 'b'].map((name) => nodeIn(FIRST, name));
export const NEW_NODES: readonly NodeRecord[] = ['x', 'y'].map((name) => nodeIn(SECOND, name));
/** The old nodes while they leave. */
export const CORDONED_NODES: readonly NodeRecord[] = ['a', 'b'].map((name) =>
  nodeIn(FIRST, name, { unschedulable: true, annotations: BY_OPERATOR }),
);

interface Scene {
  readonly spec?: SpecChange;
  readonly metadata?: Parameters<typeof samplePool>[1] extends { metadata?: infer M } | undefined ? M : never;
  /** What status records of the former group; undefined: that it has served. */
  readonly former?: Partial<FormerNodeGroup>;
  /** The second group, which the spec describes; `absent`: it does not exist. */
  readonly main?: Partial<NodeGroup> | 'absent';
  /** The first group. */
  readonly old?: Partial<NodeGroup> | Extract<ObservedNodeGroup, { kind: 'absent' | 'unconfirmed' | 'unreachable' }>;
  readonly nodes?: readonly NodeRecord[];
  readonly disruption?: NonNullable<ReturnType<typeof samplePool>['status']>['disruption'];
  readonly rest?: Partial<EksState>;
}

/** The pool while the second group, which matches its spec, replaces the first. Both have two verified nodes. */
export function replacementScene(scene: Scene = {}): EksDerived {
  const { spec = replacing(), metadata, former, main = {}, old = {}, disruption, rest } = scene;
  const record = { name: FIRST, since: SINCE, served: true, ...former };
  const known = { name: SECOND, ...(main !== 'absent' && { arn: SECOND_ARN }), former: record };
  const status = { ...knownStatus(known), ...(disruption && { disruption }) };
  const before = samplePool(replacing(OLD));
  // The group was created for the spec as it was then.
  const described = samplePool(replacing(), { status });
  const scaling = { minSize: 2, maxSize: 5, desiredSize: 2 };
  const second = { arn: SECOND_ARN, autoScalingGroups: ['eks-web-2'], scaling };
  return sampleState({
    pool: samplePool(spec, { status, ...(metadata && { metadata }) }),
    group:
      main === 'absent' ? { kind: 'absent' } : { kind: 'seen', group: sampleGroup(described, { ...second, ...main }) },
    former:
      'kind' in old ? old : { kind: 'seen', group: sampleGroup(before, { scaling, ...(old as Partial<NodeGroup>) }) },
    nodes: scene.nodes ?? [...OLD_NODES, ...NEW_NODES],
    ...rest,
  });
}

/** The record of a former group that is being drained. */
const DRAINING = { drainingSince: new Date(NOW - MINUTE).toISOString() };
/** The first group once it may shrink. */
export const SHRUNK = { scaling: { minSize: 0, maxSize: 2, desiredSize: 2 } };

/** The pool while the nodes of the first group leave. */
export const drainScene = (scene: Scene = {}) =>
  replacementScene({
    nodes: [...CORDONED_NODES, ...NEW_NODES],
    ...scene,
    former: { ...DRAINING, ...scene.former },
    old: scene.old ?? SHRUNK,
  });
