/** Pools without nodes: what they cost is calls alone. */
import { nodeRoleArn, subnetIds } from '../cloud/network.ts';
import type { BenchCluster } from './benchCluster.ts';

const REMOVAL = '--timeout=120s';

export function emptyPoolNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `empty-${index}`);
}

/** Applies them all at once. */
export async function applyEmptyPools({ world }: BenchCluster, names: readonly string[]): Promise<void> {
  const items = names.map((name) => ({
    apiVersion: 'winpool.dev/v1alpha1',
    kind: 'WindowsPool',
    metadata: { name },
    spec: {
      windowsVersion: 'Windows2022',
      nodeGroup: { nodeRoleArn, subnets: subnetIds.map((id) => ({ id })), instanceTypes: ['m5.xlarge'] },
      scaling: { min: 0, max: 1 },
    },
  }));
  await world.apply({ apiVersion: 'v1', kind: 'List', items });
}

/** Deletes them, and waits until their groups are gone. An operator must run. */
export async function deleteEmptyPools({ world }: BenchCluster, names: readonly string[]): Promise<void> {
  await world.kubectl('delete', 'windowspools', ...names, REMOVAL);
}
