/** Nodes that something else made, in no pool, in a pool, and going. */
import type { LeavingNode, WindowsPoolSpec } from '../api.gen.ts';
import { markChangeFor } from '../existing/nodeClaims.ts';
import { NODE_GROUP_LABEL } from '../labels.ts';
import type { LeavingSight } from '../operations/leavingSight.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { Situation } from '../situation.ts';
import { known } from './answers.ts';
import { existingPool, MINUTE, NOW, sampleNode, sampleSituation } from './fixtures.ts';
import { BY_OPERATOR, leaving, REPLACE } from './nodeScenes.ts';

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
  return { ...free, labels, taints: [...free.taints, ...(marks?.taints.set ?? [])], claim: marks?.claim };
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
  readonly sights?: readonly LeavingSight[];
  readonly fresh?: boolean;
  readonly rest?: Partial<Situation>;
}

/** A settled pool of the machines a, b and c; of what is seen of nodes that go, status knows. */
export function existingScene({ spec, nodes, released = [], sights, fresh = true, rest }: Scene = {}): Situation {
  const entries = sights?.map(({ entry }) => entry);
  const disruption = entries && { cause: 'NodeOperation', since: '2026-03-01T11:58:00Z', nodes: entries };
  const status = { runtimeClass: { name: 'windows-2022' }, ...(disruption && { disruption }) };
  return sampleSituation({
    pool: existingPool(spec, { status }),
    cluster: { kind: 'unasked' },
    group: { kind: 'none' },
    nodes: nodes ?? [member('a'), member('b'), member('c')],
    holding: {
      listed: undefined,
      contested: [],
      leaving: released,
      awaited: new Set(),
      contention: { nodes: [], until: Number.POSITIVE_INFINITY },
      nextReadAt: Number.POSITIVE_INFINITY,
    },
    ...(sights && { operations: { fresh, nextAt: NOW, nodes: sights, blocked: [] } }),
    ...rest,
  });
}

/** The node a as it goes, confirmed to be the pool's, and the others. */
export function emptyingScene(
  sight: Partial<LeavingSight> & { readonly now?: NodeRecord } = {},
  entry: Partial<LeavingNode> = {},
  scene: Scene = {},
): Situation {
  const { now = cordonedMember(), ...seen } = sight;
  const its = leaving('a', { instance: '', ...entry });
  return existingScene({
    nodes: [now, member('b'), member('c')],
    sights: [{ entry: its, node: known(now), member: known(true), ...seen }],
    ...scene,
  });
}

/** The node a, cordoned for being replaced. */
export function cordonedMember(change: Partial<NodeRecord> = {}): NodeRecord {
  return member('a', { unschedulable: true, orders: { ...REPLACE, ...BY_OPERATOR }, ...change });
}
