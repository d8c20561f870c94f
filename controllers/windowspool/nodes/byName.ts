/**
 * A map of which the values are read in the order of their names, again and again between changes. A change costs a copy of the names at most, and no new
 * sort: at each event of a large pool, that would take longer than the rest.
 */
export class ByName<T> extends Map<string, T> {
  /** In order. Undefined until the first read, so that a map is filled without keeping the order. */
  #names: string[] | undefined;
  #values: readonly T[] | undefined;

  override set(name: string, value: T): this {
    if (this.#names && !this.has(name)) this.#names.splice(placeOf(this.#names, name), 0, name);
    this.#values = undefined;
    return super.set(name, value);
  }

  override delete(name: string): boolean {
    const isKnown = super.delete(name);
    if (isKnown) {
      this.#names?.splice(placeOf(this.#names, name), 1);
      this.#values = undefined;
    }
    return isKnown;
  }

  override clear(): void {
    super.clear();
    this.#names = undefined;
    this.#values = undefined;
  }

  /** The values in the order of their names. Most maps of most pools are empty, and then need no memory for it. */
  get ordered(): readonly T[] {
    if (this.size === 0) return NONE;
    this.#names ??= [...this.keys()].sort();
    // Each name of the list is in the map.
    this.#values ??= this.#names.map((name) => this.get(name) as T);
    return this.#values;
  }
}

const NONE: readonly never[] = Object.freeze([]);

/** The index of the first name that is not before this one. */
function placeOf(names: readonly string[], name: string): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((names[middle] as string) < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
