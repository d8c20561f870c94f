import type { ContentionView } from '../../model/nodeMembership.ts';

/** Nodes on which somebody else undoes what a pool does: writing again at once would go on for ever. In memory only. */

/** A node that was undone so often within the time is left alone until the first of these times is so long ago. */
const TIMES = 5;
const WITHIN_MS = 60_000;

export class Contention {
  readonly #undoneAt = new Map<string, number[]>();

  /** What the pool had done to the node is undone. */
  undone(node: string, now: number): void {
    const times = this.#undoneAt.get(node) ?? [];
    this.#undoneAt.set(node, [...times, now].slice(-TIMES));
  }

  forget(node: string): void {
    this.#undoneAt.delete(node);
  }

  /** As it is at this time, epoch milliseconds. */
  at(now: number): ContentionView {
    const ends = [...this.#undoneAt].flatMap(([node, times]) => {
      const [first = now] = times;
      return times.length === TIMES && first + WITHIN_MS > now ? [[node, first + WITHIN_MS] as const] : [];
    });
    return { nodes: ends.map(([node]) => node).sort(), until: Math.min(...ends.map(([, end]) => end)) };
  }
}
