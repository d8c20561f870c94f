/** The metrics of a pool of Karpenter. Pure. */
import type { WindowsPoolStatus } from '../../api/api.gen.ts';
import { type GaugeSample, gaugeSample } from '../../api/metricCatalogue.ts';
import { maxUnavailableOf } from '../../disruption/nodeBudget.ts';
import type { KarpenterDerived } from './karpenterState.ts';

/** The gauges of a pool of Karpenter, in addition to those of every pool. */
export function karpenterSamples({ pool }: KarpenterDerived, { karpenter, nodes }: WindowsPoolStatus): GaugeSample[] {
  const { nodeClaims = 0, withoutNode = 0, deleting = 0, drifted = 0 } = karpenter ?? {};
  const states = { withNode: nodeClaims - withoutNode, withoutNode, deleting } as const;
  const limit = gaugeSample('windowspool_nodes_max_unavailable', {}, maxUnavailableOf(pool, nodes?.total ?? 0));
  if (!karpenter) return [limit];
  return [
    ...(Object.keys(states) as (keyof typeof states)[]).map((state) =>
      gaugeSample('windowspool_node_claims', { state }, states[state]),
    ),
    gaugeSample('windowspool_node_claims_drifted', {}, drifted),
    limit,
  ];
}
