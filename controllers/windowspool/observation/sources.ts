/** What the observed state is read from. */
import type { PoolRegistry } from '../disruption/poolRegistry.ts';
import type { PoolNodesCache } from '../nodes/poolNodesCache.ts';
import type { Instances, ScalingGroups } from '../ports/ec2.ts';
import type { Clusters, NodeGroups, Releases } from '../ports/eks.ts';
import type { NodePods } from '../ports/nodePods.ts';
import type { Nodes } from '../ports/nodes.ts';
import type { OwnTemplates } from '../ports/ownTemplates.ts';
import type { Drains, Evictions } from '../ports/pods.ts';
import type { PrerequisiteSources } from '../ports/prerequisites.ts';
import type { RuntimeClasses } from '../ports/runtimeClasses.ts';

/** What runs read from. A provider adds its own caches. */
export interface Sources extends PrerequisiteSources {
  readonly nodeGroups: NodeGroups;
  readonly clusters: Clusters;
  readonly instances: Instances;
  readonly scalingGroups: ScalingGroups;
  readonly releases: Releases;
  readonly ownTemplates: OwnTemplates;
  readonly nodes: Nodes;
  readonly nodePods: NodePods;
  readonly poolNodesCache: Pick<PoolNodesCache, 'of' | 'forget'>;
  readonly runtimeClasses: RuntimeClasses;
  readonly evictions: Evictions;
  readonly drains: Drains;
  readonly poolRegistry: Pick<PoolRegistry, 'seenBy' | 'stopWaiting' | 'needNoTurn'>;
  /** The API server's version, such as `v1.36.3`; undefined until it is known. */
  readonly serverVersion: () => string | undefined;
}
