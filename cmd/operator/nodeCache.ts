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
 * A cache of nodes. It has their images only while a pool needs them: to decode them takes as long as all other fields together. When the first pool needs
 * them, all nodes are listed again; until then, the images of the known nodes are undefined, which verifies no node and fails none.
 */
export class NodeCache {
  readonly store: Store<NodeRecord, NodeIndex>;
  readonly #reflector: Reflector<NodeRecord>;
  /** The pools that need images. */
  readonly #needing = new Set<string>();

  constructor(client: KubernetesClient, common: Common) {
    this.store = new Store({ identity: nodeIdentity, indexes: nodeIndexes, log: common.log });
    const source = nodeListWatch(client, NODE_SELECTOR, () => this.readsImages);
    this.#reflector = new Reflector({ ...common, source, identity: nodeIdentity, store: this.store });
  }

  get readsImages(): boolean {
    return this.#needing.size > 0;
  }

  /** Takes in whether a pool needs images. One that is gone needs none. */
  follow(pool: string, needs: boolean): void {
    const before = this.readsImages;
    if (needs) this.#needing.add(pool);
    else this.#needing.delete(pool);
    if (this.readsImages !== before) this.#reflector.relist();
  }

  /** Watches until the signal aborts. It begins when the pools are known, so that a start lists the nodes once. */
  async run(signal: AbortSignal, poolsKnown: Promise<void> = Promise.resolve()): Promise<void> {
    if (!signal.aborted) await Promise.race([poolsKnown, once(signal, 'abort')]);
    await this.#reflector.run(signal);
  }
}
