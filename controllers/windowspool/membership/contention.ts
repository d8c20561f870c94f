import type { ContentionView } from '../model/nodeMembershipView.ts';

/** Nodes on which another controller keeps reverting the pool's changes: without a pause, the two would write forever. In memory only. */

/** A node that is reverted TIMES times within WITHIN_MS is not written until the first of these reverts is older than that. */
const TIMES = 5;
const WITHIN_MS = 60_000;

/** Counts the reverts of each node of a pool. */
export class Contention {
  readonly #undoneAt = new Map<string, number[]>();

  /** Records that the pool's labels or taints were reverted on the node, at `now` (epoch milliseconds). */
  undone(node: string, now: number): void {
    const times = this.#undoneAt.get(node) ?? [];
    this.#undoneAt.set(node, [...times, now].slice(-TIMES));
  }

  /** Drops what is recorded of a node. */
  forget(node: string): void {
    this.#undoneAt.delete(node);
  }

  /** The nodes that are paused at `now` (epoch milliseconds). */
  at(now: number): ContentionView {
    const ends = [...this.#undoneAt].flatMap(([node, times]) => {
      const [first = now] = times;
      return times.length === TIMES && first + WITHIN_MS > now ? [[node, first + WITHIN_MS] as const] : [];
    });
    return { nodes: ends.map(([node]) => node).sort(), until: Math.min(...ends.map(([, end]) => end)) };
  }
}
