/** Which pools a change in the cluster wakes. Pure, and cheap: most changes of nodes are heartbeats, which wake nobody. */
import type { WindowsPool } from './api.gen.ts';
import { canonical } from './hash.ts';
import { NODE_GROUP_LABEL } from './labels.ts';
import { nodeGroupNameOf } from './nodeGroup.ts';
import type { NodeRecord } from './ports.ts';
import { runtimeClassFor } from './runtimeClass.ts';

/** Whether a pool must be looked at: anything changed but its status, which the operator writes itself. */
export function poolChangeMatters(before: WindowsPool | undefined, after: WindowsPool | undefined): boolean {
  if (!before || !after) return true;
  const asked = ({ metadata, spec }: WindowsPool) => {
    const { uid, generation, deletionTimestamp, finalizers, annotations } = metadata;
    return canonical([uid, generation, deletionTimestamp, finalizers, annotations, spec]);
  };
  return asked(before) !== asked(after);
}

/** The node groups whose pools a node's change wakes: none for a heartbeat, two when the node moved. */
export function nodeGroupsOfChange(before: NodeRecord | undefined, after: NodeRecord | undefined): string[] {
  return before && after && sameNode(before, after) ? [] : nodeGroupsOf(before, after);
}

/** The node groups that nodes are in, by the label that EKS puts on them. */
export function nodeGroupsOf(...nodes: readonly (NodeRecord | undefined)[]): string[] {
  const groups = nodes.map((node) => node?.labels[NODE_GROUP_LABEL]).filter((group) => group !== undefined);
  return [...new Set(groups)];
}

/** Whether two records of a node differ in nothing but their version. Asked at each heartbeat of each node. */
function sameNode(a: NodeRecord, b: NodeRecord): boolean {
  return (Object.keys(a) as (keyof NodeRecord)[]).every(
    (field) => field === 'resourceVersion' || same(a[field], b[field]),
  );
}

/** Whether two plain values are equal. Without a text in between: it runs for every field of every heartbeat. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => key in b && same(a[key as never], b[key as never]));
}

/** The names under which a pool's nodes and RuntimeClasses are found: keys of the store's indexes. */
export const poolIndexes = {
  nodeGroup: (pool: WindowsPool): string[] => [nodeGroupNameOf(pool)],
  runtimeClass: (pool: WindowsPool): string[] => {
    const names = [runtimeClassFor(pool)?.name, pool.status?.runtimeClass?.name];
    return [...new Set(names.filter((name) => name !== undefined))];
  },
} as const;
