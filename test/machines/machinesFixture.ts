/** What the suites of pools of machines share. */
import { fileURLToPath } from 'node:url';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { conditionOf } from '../fakes/testenv/testEnv.ts';
import type { OperatorFixture } from '../sharedWorld.ts';

const ROLE_FILES = ['machines', 'machine-templates'].flatMap((folder) =>
  ['role.yaml', 'role_binding.yaml'].map((file) =>
    fileURLToPath(new URL(`../../config/${folder}/${file}`, import.meta.url)),
  ),
);

/** Creates or deletes the roles of config/machines and config/machine-templates, and their bindings. */
export async function changeRole({ world }: OperatorFixture, change: 'apply' | 'delete'): Promise<void> {
  for (const file of ROLE_FILES) await world.kubectl(change, '-f', file);
}

/** Waits until the pool has this many verified nodes, and no node that leaves. */
export function settled({ world }: OperatorFixture, name: string, size: number): Promise<WindowsPool | undefined> {
  return world.waitForPool(
    name,
    `to have ${size} verified nodes and no node that leaves`,
    (pool) =>
      pool?.status?.nodes?.verified === size &&
      pool.status.summary?.nodes === `${size}/${size}` &&
      pool.status.disruption === undefined &&
      conditionOf(pool, 'MachinesReady') === 'True/MachinesReady',
  );
}

/** The names of Machines. */
export function namesOf(machines: readonly { readonly metadata: { readonly name: string } }[]): string[] {
  return machines.map(({ metadata }) => metadata.name);
}
