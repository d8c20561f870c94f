/** Nodes that something else made, in no pool, in a pool, and going. */
import type { LeavingNode, WindowsPoolSpec } from '../api.gen.ts';
import { NODE_GROUP_LABEL } from '../labels.ts';
import type { TerminatingNodeView } from '../model/disruption.ts';
import type { ObservedState } from '../model/observedState.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { markChangeFor } from '../providers/existing/ownershipRecord.ts';
import { known } from './answers.ts';
import { existingPool, MINUTE, NOW, sampleNode, sampleState } from './fixtures.ts';
import { BY_OPERATOR, REPLACE, terminating } from './nodeScenes.ts';

/** A machine of the site of the sample pool, before that pool has it. */
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
  const marks = markChangeFor(free, 'web', existingPool().spec);
  const labels = { ...free.labels, ...marks?.labels } as NodeRecord['labels'];
  return { ...free, labels, taints: [...free.taints, ...(marks?.taints.set ?? [])], ownership: marks?.ownership };
}

/** A node of the pool that fails for so many minutes. */
export function failingMember(name: string, minutes: number, change: Partial<NodeRecord> = {}): NodeRecord {
  const verified = { status: 'False', reason: 'NotReady', message: 'WindowsPool web: is not Ready.' } as const;
  return member(name, { ready: 'Unknown', verified, verifiedSince: NOW - minutes * MINUTE, ...change });
}

interface Scene {
  readonly spec?: Partial<WindowsPoolSpec>;
  readonly nodes?: readonly NodeRecord[];
  /** Nodes that the pool has to give back. */
  readonly released?: readonly NodeRecord[];
  readonly awsCache?: readonly TerminatingNodeView[];
  readonly fresh?: boolean;
  readonly rest?: Partial<ObservedState>;
}

/** A settled pool of the machines a, b and c; of what is seen of nodes that go, status knows. */
export function existingScene({ spec, nodes, released = [], awsCache, fresh = true, rest }: Scene = {}): ObservedState {
  const entries = awsCache?.map(({ entry }) => entry);
  const disruption = entries && { cause: 'NodeOperation', since: '2026-03-01T11:58:00Z', nodes: entries };
  const status = { runtimeClass: { name: 'windows-2022' }, ...(disruption && { disruption }) };
  return sampleState({
    pool: existingPool(spec, { status }),
    cluster: { kind: 'unasked' },
    group: { kind: 'none' },
    nodes: nodes ?? [member('a'), member('b'), member('c')],
    membership: {
      listed: undefined,
      contested: [],
      toRelease: released,
      awaited: new Set(),
      contention: { nodes: [], until: Number.POSITIVE_INFINITY },
      nextReadAt: Number.POSITIVE_INFINITY,
    },
    ...(awsCache && { operations: { fresh, nextAt: NOW, nodes: awsCache, blocked: [] } }),
    ...rest,
  });
}

/** The node a as it goes, confirmed to be the pool's, and the others. */
export function emptyingScene(
  view: Partial<TerminatingNodeView> & { readonly now?: NodeRecord } = {},
  entry: Partial<LeavingNode> = {},
  scene: Scene = {},
): ObservedState {
  const { now = cordonedMember(), ...seen } = view;
  const its = terminating('a', { instance: '', ...entry });
  return existingScene({
    nodes: [now, member('b'), member('c')],
    awsCache: [{ entry: its, node: known(now), member: known(true), ...seen }],
    ...scene,
  });
}

/** The node a, cordoned for being replaced. */
export function cordonedMember(change: Partial<NodeRecord> = {}): NodeRecord {
  return member('a', { unschedulable: true, annotations: { ...REPLACE, ...BY_OPERATOR }, ...change });
}
