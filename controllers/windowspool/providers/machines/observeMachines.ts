/** Reads the observed state of a pool of machines from the cache: such a pool has no objects in AWS. */

import type { WindowsPool } from '../../api/api.gen.ts';
import { withOperations } from '../../disruption/observeLeavingNodes.ts';
import { observeMembership } from '../../membership/observeMembership.ts';
import type { MachineSets } from '../../ports/machines.ts';
import type { ObserveContext } from '../provider.ts';
import { nodeReader } from './drainMachines.ts';
import type { MachinesState } from './machinesState.ts';

declare module '../../observation/sources.ts' {
  interface Sources {
    readonly machineSets: MachineSets;
  }
}

/** Reads the observed state of a pool of machines. */
export async function observeMachines(pool: WindowsPool, context: ObserveContext): Promise<MachinesState> {
  const { readCache, sources, signal } = context;
  const s = {
    ...(await observeMembership(pool, context)),
    machines: sources.machineSets.of(pool.metadata.name),
    usedTemplate: pool.status?.tracking?.usedMachineTemplate,
  };
  const passed = readCache.operations.get(pool.metadata.name);
  return withOperations(s, passed, false, () => nodeReader(s, sources, signal));
}
