/**
 * Nodes that left a pool's sight. Nodes are watched by a label, so that a watch tells of one that lost the label as of one that is gone:
 * only a read past the cache, by name, tells them apart.
 *
 *   left the cache, or an instance without a node --the pool misses nodes--> read by name --gone, another one, or as it was--> forgotten
 *                                                                              +--there, and out of sight--> stray
 */
import type { CallError } from '../ports/callResult.ts';
import type { Instance } from '../ports/ec2.ts';
import type { NodeRecord, Nodes } from '../ports/nodes.ts';

/** Reads of one batch, one after the other, and the time between two batches: thousands of nodes may go at once. */
const BATCH = 10;
const BETWEEN_BATCHES_MS = 1_000;

/** Tells whether the node that now has the name is the one that was meant. */
type IsSame = (found: NodeRecord) => boolean;

/** The nodes that a pool may have lost. In memory only: after a restart the instances tell. */
export class LostNodes {
  readonly #unread = new Map<string, IsSame>();
  readonly #unlabelledNodes = new Map<string, NodeRecord>();
  #readAt = Number.NEGATIVE_INFINITY;

  /** Nodes that are there and out of the pool's sight, by name. */
  get unlabelledNodes(): readonly NodeRecord[] {
    return [...this.#unlabelledNodes.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Those of them that were read and are not to be read again first. */
  get certain(): readonly NodeRecord[] {
    return this.unlabelledNodes.filter(({ name }) => !this.#unread.has(name));
  }

  /** When the next names may be read, epoch milliseconds; infinity when none waits. */
  get nextReadAt(): number {
    return this.#unread.size > 0 ? this.#readAt + BETWEEN_BATCHES_MS : Number.POSITIVE_INFINITY;
  }

  /** A node is no longer in the pool's sight. */
  left({ name, uid }: NodeRecord): void {
    this.#unread.set(name, (found) => found.uid === uid);
  }

  /** An instance of the pool's group is no node that the cache knows. EKS names nodes by the instance's private DNS name. */
  missed({ id, privateDnsName }: Instance): void {
    if (privateDnsName !== '') this.#unread.set(privateDnsName, (found) => instanceIdOf(found) === id);
  }

  /** A node is in the pool's sight. */
  returned(name: string): void {
    this.#unread.delete(name);
    this.#unlabelledNodes.delete(name);
  }

  /** Strays are to be read again: nobody tells when one ends. */
  recheckUnlabelled(): void {
    for (const node of this.#unlabelledNodes.values()) this.left(node);
  }

  /** The pool misses no node. */
  forget(): void {
    this.#unread.clear();
    this.#unlabelledNodes.clear();
  }

  /**
   * Reads the next names past the cache. Gives the trouble that it ended with; what is not read then stays to be read.
   * @param isOut whether a node that is there is out of the pool's sight
   */
  async read(
    isOut: (found: NodeRecord) => boolean,
    nodes: Pick<Nodes, 'read'>,
    now: number,
    signal: AbortSignal,
  ): Promise<CallError | undefined> {
    if (now < this.nextReadAt) return undefined;
    this.#readAt = now;
    for (const [name, isSame] of [...this.#unread].slice(0, BATCH)) {
      const answer = await nodes.read(name, signal);
      if (!answer.ok) return answer.error;
      // Meanwhile the cache may have brought it back.
      if (this.#unread.delete(name)) this.#settle(name, answer.value, (found) => isSame(found) && isOut(found));
    }
    return undefined;
  }

  #settle(name: string, found: NodeRecord | undefined, isUnlabelled: IsSame): void {
    if (found && !found.deleting && isUnlabelled(found)) this.#unlabelledNodes.set(name, found);
    else this.#unlabelledNodes.delete(name);
  }
}

/** The EC2 instance that a node says it is: `aws:///eu-west-1a/i-0123`. */
export function instanceIdOf({ providerID }: Pick<NodeRecord, 'providerID'>): string {
  return providerID.slice(providerID.lastIndexOf('/') + 1);
}
