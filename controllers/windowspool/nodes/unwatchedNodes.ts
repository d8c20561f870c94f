/**
 * Nodes that left a pool. The watch selects nodes by label, so it reports a node that lost the label as deleted. Only an uncached read by name tells
 * the difference.
 *
 *   left the cache, or an instance without a node --the pool lacks nodes--> read by name --deleted, replaced or unchanged--> forgotten
 *                                                                                +--exists without its label--> unlabelled
 *
 * A node that joined without the label, such as one of another operating system, causes no event at all: it is found by a list.
 */
import type { CallError, CallResult } from '../ports/callResult.ts';
import type { Instance } from '../ports/ec2.ts';
import type { NodeRecord, Nodes } from '../ports/nodes.ts';

/** Reads per batch, one after the other, and the time between two batches: thousands of nodes may be deleted at once. */
const BATCH = 10;
const BETWEEN_BATCHES_MS = 1_000;

/** Whether the node that has the name now is the one that was lost. */
type IsSame = (found: NodeRecord) => boolean;

/** The nodes that a pool may have lost. In memory only: after a restart they are found by their instances. */
export class UnwatchedNodes {
  readonly #unread = new Map<string, IsSame>();
  readonly #unlabelledNodes = new Map<string, NodeRecord>();
  #readAt = Number.NEGATIVE_INFINITY;
  /** When the list may be read again, in epoch milliseconds; absent while it is not needed. */
  #nextListAt: number | undefined;

  /** Nodes that exist without the label of the pool, by name. */
  get unlabelledNodes(): readonly NodeRecord[] {
    return [...this.#unlabelledNodes.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Those of them that need not be read again first. */
  get certain(): readonly NodeRecord[] {
    return this.unlabelledNodes.filter(({ name }) => !this.#unread.has(name));
  }

  /** When the next names, or the list, may be read, in epoch milliseconds; Infinity when there is nothing to read. */
  get nextReadAt(): number {
    return Math.min(this.#nextBatchAt, this.#nextListAt ?? Number.POSITIVE_INFINITY);
  }

  get #nextBatchAt(): number {
    return this.#unread.size > 0 ? this.#readAt + BETWEEN_BATCHES_MS : Number.POSITIVE_INFINITY;
  }

  /** A node left the cache of the pool. */
  left({ name, uid }: NodeRecord): void {
    this.#unread.set(name, (found) => found.uid === uid);
  }

  /** An instance of the pool's group has no node in the cache. EKS names nodes by the instance's private DNS name. */
  missed({ id, privateDnsName }: Instance): void {
    if (privateDnsName !== '') this.#unread.set(privateDnsName, (found) => instanceIdOf(found) === id);
  }

  /** A node is back in the cache of the pool. */
  returned(name: string): void {
    this.#unread.delete(name);
    this.#unlabelledNodes.delete(name);
  }

  /** Reads unlabelled nodes again, because the watch does not report their deletion. */
  recheckUnlabelled(): void {
    for (const node of this.#unlabelledNodes.values()) this.left(node);
  }

  /** The pool lacks no nodes. */
  forget(): void {
    this.#unread.clear();
    this.#unlabelledNodes.clear();
    this.stopFinding();
  }

  /** No node is sought that joined without the label of the pool. */
  stopFinding(): void {
    this.#nextListAt = undefined;
  }

  /**
   * Adds nodes that joined without the label of the pool, at most once in `intervalMs`. Returns the error of the list.
   * @param list nodes of the pool that the watch does not cover
   */
  async find(
    list: () => Promise<CallResult<readonly NodeRecord[]>>,
    now: number,
    intervalMs: number,
  ): Promise<CallError | undefined> {
    if (now < (this.#nextListAt ?? now)) return undefined;
    this.#nextListAt = now + intervalMs;
    const answer = await list();
    if (!answer.ok) return answer.error;
    for (const node of answer.value) if (!node.deleting) this.#unlabelledNodes.set(node.name, node);
    return undefined;
  }

  /**
   * Reads the next names, uncached. Returns the error at which it stopped; names that were not read are read later.
   * @param isOutside whether a node that exists is no longer in the pool
   */
  async read(
    isOutside: (found: NodeRecord) => boolean,
    nodes: Pick<Nodes, 'read'>,
    now: number,
    signal: AbortSignal,
  ): Promise<CallError | undefined> {
    if (now < this.#nextBatchAt) return undefined;
    this.#readAt = now;
    for (const [name, isSame] of [...this.#unread].slice(0, BATCH)) {
      const answer = await nodes.read(name, signal);
      if (!answer.ok) return answer.error;
      // The cache may have brought it back in the meantime.
      if (this.#unread.delete(name)) this.#resolve(name, answer.value, (found) => isSame(found) && isOutside(found));
    }
    return undefined;
  }

  #resolve(name: string, found: NodeRecord | undefined, isUnlabelled: IsSame): void {
    if (found && !found.deleting && isUnlabelled(found)) this.#unlabelledNodes.set(name, found);
    else this.#unlabelledNodes.delete(name);
  }
}

/** The EC2 instance ID in the providerID of a node, `aws:///eu-west-1a/i-0123`; empty if it has none. A kubelet can write any text. */
export function instanceIdOf({ providerID }: Pick<NodeRecord, 'providerID'>): string {
  const id = providerID.slice(providerID.lastIndexOf('/') + 1);
  return /^i-[0-9a-z]{1,32}$/.test(id) ? id : '';
}
