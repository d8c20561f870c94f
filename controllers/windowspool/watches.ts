/** Which pools a change in the cluster wakes. Pure. */
import type { WindowsPool } from './api.gen.ts';
import { canonical } from './hash.ts';
import { providerOf } from './providers/providers.ts';
import { runtimeClassFor } from './runtimeClass/runtimeClass.ts';

/** Whether a pool must be looked at: anything changed but its status, which the operator writes itself. */
export function poolChangeMatters(before: WindowsPool | undefined, after: WindowsPool | undefined): boolean {
  if (!before || !after) return true;
  const asked = ({ metadata, spec }: WindowsPool) => {
    const { uid, generation, deletionTimestamp, finalizers, annotations } = metadata;
    return canonical([uid, generation, deletionTimestamp, finalizers, annotations, spec]);
  };
  return asked(before) !== asked(after);
}

/** The names under which a pool's nodes and RuntimeClasses are found: keys of the store's indexes. */
export const poolIndexes = {
  nodeGroup: (pool: WindowsPool): string[] => {
    const name = providerOf(pool).nodeGroupName(pool);
    return name === undefined ? [] : [name];
  },
  runtimeClass: (pool: WindowsPool): string[] => {
    const names = [runtimeClassFor(pool)?.name, pool.status?.runtimeClass?.name];
    return [...new Set(names.filter((name) => name !== undefined))];
  },
} as const;
