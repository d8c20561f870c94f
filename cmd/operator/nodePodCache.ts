/** The pods that the operator runs on nodes, in a namespace of their own: the only pods that it watches. */
import type { KubernetesClient } from '../../controllers/kubernetes/client.ts';
import {
  type NodePodIndex,
  nodePodIdentity,
  nodePodIndexes,
  nodePodListWatch,
} from '../../controllers/kubernetes/nodePods.ts';
import type { ReflectorOptions } from '../../controllers/runtime/reflector.ts';
import type { NodePod, NodePodsView } from '../../controllers/windowspool/ports/nodePods.ts';
import { OptionalCache } from './optionalCache.ts';

type Common = Pick<ReflectorOptions<NodePod>, 'name' | 'clock' | 'log' | 'hooks'>;

/** A cache of these pods. Only pools that run pods on nodes need it. */
export class NodePodCache extends OptionalCache<NodePod, NodePodIndex> {
  /** @param changed called when it becomes known whether the pods can be listed */
  constructor(client: KubernetesClient, namespace: string, common: Common, changed: () => void) {
    const source = (onResult: Parameters<typeof nodePodListWatch>[2]) => nodePodListWatch(client, namespace, onResult);
    super({ ...common, source, identity: nodePodIdentity, indexes: nodePodIndexes, changed });
  }

  /** The pods of a pool. */
  of(pool: string): NodePodsView {
    return this.unknown ?? { kind: 'seen', pods: this.store.byIndex('pool', pool) };
  }

  /** The pods of a pool on a node. */
  on(pool: string, nodeUid: string): readonly NodePod[] {
    return this.store.byIndex('node', nodeUid).filter((pod) => pod.pool === pool);
  }
}
