/** The pods that the operator runs on nodes, in its own namespace: the only pods that it watches. */
import type { KubernetesClient } from '../../controllers/kubernetes/client.ts';
import {
  type NodePodIndex,
  nodePodIdentity,
  nodePodIndexes,
  nodePodListWatch,
} from '../../controllers/kubernetes/nodePods.ts';
import { Reflector, type ReflectorOptions } from '../../controllers/runtime/reflector.ts';
import { Store } from '../../controllers/runtime/store.ts';
import type { CallError } from '../../controllers/windowspool/ports/callResult.ts';
import type { NodePod, NodePodsView } from '../../controllers/windowspool/ports/nodePods.ts';

type Common = Pick<ReflectorOptions<NodePod>, 'name' | 'clock' | 'log' | 'hooks'>;

/** A cache of these pods. Unlike the other caches, it may stay empty: only pools that run pods on nodes need it. */
export class NodePodCache {
  readonly store: Store<NodePod, NodePodIndex>;
  readonly #reflector: Reflector<NodePod>;
  readonly #answered = Promise.withResolvers<void>();
  readonly #changed: () => void;
  #error: CallError | undefined;

  /** @param changed called when it becomes known whether the pods can be listed */
  constructor(client: KubernetesClient, namespace: string, common: Common, changed: () => void) {
    this.#changed = changed;
    this.store = new Store({ identity: nodePodIdentity, indexes: nodePodIndexes, log: common.log });
    const source = nodePodListWatch(client, namespace, (error) => this.#take(error));
    this.#reflector = new Reflector({ ...common, source, identity: nodePodIdentity, store: this.store });
    // Never rejects.
    void this.store.synced.then(() => this.#take(undefined));
  }

  /** Resolves when the pods were listed, or that failed. */
  get synced(): Promise<void> {
    return this.#answered.promise;
  }

  /** The pods of a pool. */
  of(pool: string): NodePodsView {
    if (this.store.hasSynced && this.#error?.kind !== 'denied')
      return { kind: 'seen', pods: this.store.byIndex('pool', pool) };
    return { kind: 'unknown', ...(this.#error && { error: this.#error }) };
  }

  /** The pods of a pool on a node. */
  on(pool: string, nodeUid: string): readonly NodePod[] {
    return this.store.byIndex('node', nodeUid).filter((pod) => pod.pool === pool);
  }

  /** Watches until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#reflector.run(signal);
  }

  /** A list stays valid while the server is unavailable, but not when the permission is lost: its changes are unknown then. */
  #take(error: CallError | undefined): void {
    const isPassing = this.store.hasSynced ? error && error.kind !== 'denied' : !error;
    if (isPassing) return;
    this.#answered.resolve();
    if (this.#error?.message === error?.message) return;
    this.#error = error;
    this.#changed();
  }
}
