/** Existing nodes: without a pool, in a pool, and in a drain. */
import type { LeavingNode, WindowsPoolSpec } from '../api/api.gen.ts';
import { NODE_GROUP_LABEL } from '../api/labels.ts';
import type { TerminatingNodeView } from '../model/disruption.ts';
import { markChangeFor, marksIn, marksOf } from '../nodes/ownershipRecord.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import type { EksState } from '../providers/nodeGroup/model/groupState.ts';
import { known } from './answers.ts';
import { existingPool, MINUTE, NOW, sampleNode, sampleState } from './fixtures.ts';
import { BY_OPERATOR, REPLACE, terminating } from './nodeScenes.ts';

/** A machine that the sample pool selects, before the pool has it. */
export function machine(name: string, change: Partial<NodeRecord> = {}): NodeRecord {
  const { [NODE_GROUP_LABEL]: _none, ...labels } = sampleNode().labels;
  return sampleNode({
    name,
    labels: { ...labels, site: 'fra' },
    taints: [],
    kubeletVersion: 'v1.36.1',
    providerID: `vsphere://${name}`,
    ...change,
  });
}

/** The machine with the labels, taints and record of the sample pool. */
export function member(name: string, change: Partial<NodeRecord> = {}): NodeRecord {
  const free = machine(name, change);
  const marks = markChangeFor(free, 'web', existingPool().spec, marksOf(existingPool()));
  const labels = { ...free.labels, ...marks?.labels } as NodeRecord['labels'];
  return { ...free, labels, taints: [...free.taints, ...(marks?.taints.set ?? [])], ownership: marks?.ownership };
}

/** A node of the pool that has failed for this number of minutes. */
export function failingMember(name: string, minutes: number, change: Partial<NodeRecord> = {}): NodeRecord {
  const verified = { status: 'False', reason: 'NotReady', message: 'WindowsPool web: is not Ready.' } as const;
  return member(name, { ready: 'Unknown', verified, verifiedSince: NOW - minutes * MINUTE, ...change });
}

interface Scene {
  readonly spec?: Partial<WindowsPoolSpec>;
  readonly nodes?: readonly NodeRecord[];
  /** Nodes that the pool has to release. */
  readonly toRelease?: readonly NodeRecord[];
  readonly views?: readonly TerminatingNodeView[];
  readonly fresh?: boolean;
  readonly rest?: Partial<EksState>;
}

/** A settled pool of the machines a, b and c; the status records the drained nodes in `views`. */
export function existingScene({ spec, nodes, toRelease = [], views, fresh = true, rest }: Scene = {}): EksDerived {
  const entries = views?.map(({ entry }) => entry);
  const disruption = entries && {
    reason: 'NodeReplacement' as const,
    startTime: '2026-03-01T11:58:00Z',
    nodes: entries,
  };
  const marks = marksIn(existingPool(spec).spec);
  const status = { runtimeClass: { name: 'windows-2022' }, tracking: { marks }, ...(disruption && { disruption }) };
  return sampleState({
    pool: existingPool(spec, { status }),
    cluster: { kind: 'absent' },
    group: { kind: 'absent' },
    nodes: nodes ?? [member('a'), member('b'), member('c')],
    membership: {
      listed: undefined,
      contested: undefined,
      toRelease,
      awaited: new Set(),
      contention: { nodes: [], until: Number.POSITIVE_INFINITY },
      nextReadAt: Number.POSITIVE_INFINITY,
    },
    ...(views && { operations: { fresh, nextAt: NOW, nodes: views, blocked: [] } }),
    ...rest,
  });
}

/** The node a during its drain, with confirmed membership, and the others. */
export function emptyingScene(
  view: Partial<TerminatingNodeView> & { readonly now?: NodeRecord } = {},
  entry: Partial<LeavingNode> = {},
  scene: Scene = {},
): EksDerived {
  const { now = cordonedMember(), ...seen } = view;
  const its = terminating('a', { instanceID: '', ...entry });
  return existingScene({
    nodes: [now, member('b'), member('c')],
    views: [{ entry: its, node: known(now), member: known(true), ...seen }],
    ...scene,
  });
}

/** The node a, cordoned for its replacement. */
export function cordonedMember(change: Partial<NodeRecord> = {}): NodeRecord {
  return member('a', { unschedulable: true, annotations: { ...REPLACE, ...BY_OPERATOR }, ...change });
}
