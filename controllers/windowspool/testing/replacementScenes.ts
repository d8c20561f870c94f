/** A pool whose node group `web` is replaced by a new one, because its instance type changed. */
import type { SecondNodeGroup } from '../api/api.gen.ts';
import { NODE_GROUP_LABEL } from '../api/labels.ts';
import type { NodeGroup } from '../ports/eks.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { secondNameOf } from '../providers/nodeGroup/desired/desiredNodeGroup.ts';
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

/** The two names that groups of the sample pool can have. In these scenes, the old group has the plain one. */
export const PLAIN = 'web';
export const HASHED = secondNameOf(samplePool());

/** The instance types before the replacement, after it, and of a third configuration. */
export const [OLD, NEW, THIRD] = ['m5.large', 'm5.xlarge', 'm5.2xlarge'] as const;

const HASHED_ARN = 'arn:aws:eks:eu-west-1:111122223333:nodegroup/prod/web-2/2c3d';

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

/** A node of one of the groups. */
export function nodeIn(group: string, name: string, change: Partial<NodeRecord> = {}): NodeRecord {
  return node(name, { labels: { ...sampleNode().labels, [NODE_GROUP_LABEL]: group }, ...change });
}

export const OLD_NODES: readonly NodeRecord[] = ['a', 'b'].map((name) => nodeIn(PLAIN, name));
export const NEW_NODES: readonly NodeRecord[] = ['x', 'y'].map((name) => nodeIn(HASHED, name));
/** The old nodes while they leave. */
export const CORDONED_NODES: readonly NodeRecord[] = ['a', 'b'].map((name) =>
  nodeIn(PLAIN, name, { unschedulable: true, annotations: BY_OPERATOR }),
);

interface Scene {
  readonly spec?: SpecChange;
  readonly metadata?: Parameters<typeof samplePool>[1] extends { metadata?: infer M } | undefined ? M : never;
  /** A change of the record, whose phase is Verifying. */
  readonly record?: Partial<SecondNodeGroup>;
  /** The main group, which is the new one; `absent`: it does not exist. */
  readonly main?: Partial<NodeGroup> | 'absent';
  /** The second group, which is the old one. */
  readonly old?: Partial<NodeGroup> | Extract<ObservedNodeGroup, { kind: 'absent' | 'unconfirmed' | 'unreachable' }>;
  readonly nodes?: readonly NodeRecord[];
  readonly disruption?: NonNullable<ReturnType<typeof samplePool>['status']>['disruption'];
  readonly rest?: Partial<EksState>;
}

/** The pool while the new group, which matches its spec, replaces the old one. Both have two verified nodes. */
export function replacementScene(scene: Scene = {}): EksDerived {
  const { spec = replacing(), metadata, record = {}, main = {}, old = {}, disruption, rest } = scene;
  const replacement = {
    name: PLAIN,
    phase: 'Verifying',
    startTime: SINCE,
    lastTransitionTime: SINCE,
    ...record,
  } as const;
  const known = { name: HASHED, ...(main !== 'absent' && { arn: HASHED_ARN }), replacement };
  const status = { ...knownStatus(known), ...(disruption && { disruption }) };
  const before = samplePool(replacing(OLD));
  // The group was created for the spec as it was then.
  const described = samplePool(replacing(), { status });
  const scaling = { minSize: 2, maxSize: 5, desiredSize: 2 };
  const made = { arn: HASHED_ARN, autoScalingGroups: ['eks-web-2'], scaling, createdAt: NOW - 20 * MINUTE };
  return sampleState({
    pool: samplePool(spec, { status, ...(metadata && { metadata }) }),
    group:
      main === 'absent' ? { kind: 'absent' } : { kind: 'seen', group: sampleGroup(described, { ...made, ...main }) },
    second:
      'kind' in old ? old : { kind: 'seen', group: sampleGroup(before, { scaling, ...(old as Partial<NodeGroup>) }) },
    nodes: scene.nodes ?? [...OLD_NODES, ...NEW_NODES],
    ...rest,
  });
}

/** The record of an old group that is being drained. */
const DRAINING = { phase: 'Draining', lastTransitionTime: new Date(NOW - MINUTE).toISOString() } as const;
/** The old group once it may shrink. */
export const SHRUNK = { scaling: { minSize: 0, maxSize: 2, desiredSize: 2 } };

/** The pool while the nodes of the old group leave. */
export const drainScene = (scene: Scene = {}) =>
  replacementScene({
    nodes: [...CORDONED_NODES, ...NEW_NODES],
    ...scene,
    record: { ...DRAINING, ...scene.record },
    old: scene.old ?? SHRUNK,
  });
