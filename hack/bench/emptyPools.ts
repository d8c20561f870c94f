/** Pools without nodes, which cost only calls. */
import type { BenchCluster } from './benchCluster.ts';
import { poolObject } from './pools.ts';

const REMOVAL = '--timeout=120s';

export function emptyPoolNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `empty-${index}`);
}

/** Applies them all at once. */
export async function applyEmptyPools({ world }: BenchCluster, names: readonly string[]): Promise<void> {
  const items = names.map((name) => poolObject(name, { minSize: 0, maxSize: 1 }));
  await world.apply({ apiVersion: 'v1', kind: 'List', items });
}

/** Deletes them, and waits until their groups are gone. An operator must run. */
export async function deleteEmptyPools({ world }: BenchCluster, names: readonly string[]): Promise<void> {
  await world.kubectl('delete', 'windowspools', ...names, REMOVAL);
}
