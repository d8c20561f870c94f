import type { WindowsPool } from '../api/api.gen.ts';
import type { ReleaseFailure } from '../model/disruption.ts';
import { type NodeSource, nodeSourceOf } from '../rules/nodeSource.ts';
import { existing } from './existing/existingProvider.ts';
import { karpenter } from './karpenter/karpenterProvider.ts';
import { machines } from './machines/machinesProvider.ts';
import { eks } from './nodeGroup/nodeGroupProvider.ts';
import type { Provider } from './provider.ts';

/** Each provider is only given states that it has observed itself. */
const PROVIDERS = { nodeGroup: eks, karpenter, machines, existingNodes: existing } as Readonly<
  Record<NodeSource['name'], unknown>
>;

/** The provider of the pool's nodes. */
export function providerOf(pool: Pick<WindowsPool, 'spec'>): Provider {
  return PROVIDERS[nodeSourceOf(pool).name] as Provider;
}

/** The releases that fail verification in a pool, as its status shows: other pools are not updated to them automatically. */
export function releaseFailuresIn(pool: WindowsPool): readonly ReleaseFailure[] {
  return providerOf(pool).releaseFailures?.(pool) ?? [];
}
