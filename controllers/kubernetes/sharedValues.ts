import { same } from '../windowspool/util/sameValue.ts';

/** A cluster has few kinds of nodes, and events of all of them are mixed. */
const MOST = 16;

/**
 * Gives equal values one object, which saves memory and makes comparisons fast: most nodes have the same taints, for example. It knows the values that it saw
 * last, the most recent one first. A value that is passed in must not change later.
 */
export class SharedValues<T> {
  readonly #recent: T[] = [];

  of(value: T): T {
    const index = this.#recent.findIndex((known) => same(known, value));
    const known = this.#recent[index] ?? value;
    if (index === 0) return known;
    this.#recent.splice(index < 0 ? MOST - 1 : index, 1);
    this.#recent.unshift(known);
    return known;
  }
}
