/** The Windows nodes of the cluster. */
import { once } from 'node:events';
import type { KubernetesClient } from '../../controllers/kubernetes/client.ts';
import {
  NODE_SELECTOR,
  type NodeIndex,
  nodeIdentity,
  nodeIndexes,
  nodeListWatch,
} from '../../controllers/kubernetes/nodes.ts';
import { Reflector, type ReflectorOptions } from '../../controllers/runtime/reflector.ts';
import { Store } from '../../controllers/runtime/store.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';

type Common = Pick<ReflectorOptions<NodeRecord>, 'name' | 'clock' | 'log' | 'hooks'>;

/**
 * A cache of nodes. It has their images from the first pool on that needs them: to decode them takes longer than all other fields together. All nodes are then
 * listed again; until then, the images of the known nodes are undefined, which verifies no node and fails none. It keeps them until the process ends, because a
 * pool that changes all the time would have all nodes listed each time.
 */
export class NodeCache {
  readonly store: Store<NodeRecord, NodeIndex>;
  readonly #reflector: Reflector<NodeRecord>;
  #readsImages = false;

  constructor(client: KubernetesClient, common: Common) {
    this.store = new Store({ identity: nodeIdentity, indexes: nodeIndexes, log: common.log });
    const source = nodeListWatch(client, NODE_SELECTOR, () => this.readsImages);
    this.#reflector = new Reflector({ ...common, source, identity: nodeIdentity, store: this.store });
  }

  get readsImages(): boolean {
    return this.#readsImages;
  }

  /** Takes in that a pool needs images. */
  needImages(): void {
    if (this.#readsImages) return;
    this.#readsImages = true;
    this.#reflector.relist();
  }

  /** Watches until the signal aborts. It begins when the pools are known, so that a start lists the nodes once. */
  async run(signal: AbortSignal, poolsKnown: Promise<void> = Promise.resolve()): Promise<void> {
    if (!signal.aborted) await Promise.race([poolsKnown, once(signal, 'abort')]);
    await this.#reflector.run(signal);
  }
}
