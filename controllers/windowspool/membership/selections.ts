/**
 * Which pools select each node, and which of them holds it. Most nodes have this in common with many others, so it is kept once for all of them: the memory of a
 * hundred pools that select the same thousands of nodes is that of one.
 */
import type { Contested } from '../model/nodeMembershipView.ts';

/** Names of pools. Equal sets are the same object. */
export type Pools = ReadonlySet<string>;

/** What is known of these nodes. */
export interface Selection {
  /** The pools that select them. */
  readonly pools: Pools;
  /** The pool that holds them; undefined if none does. */
  readonly holder: string | undefined;
  /** The pool that their ownership record names. */
  readonly owner: string | undefined;
  /** Their names. */
  readonly nodes: ReadonlySet<string>;
}

interface Entry extends Selection {
  readonly nodes: Set<string>;
}

/** Whether the pool selects nodes that another one holds. A pool that owns them releases them first. */
export function isContestedBy(pool: string, { pools, holder, owner }: Selection): boolean {
  return holder !== undefined && holder !== pool && owner !== pool && pools.has(pool);
}

/** The selections of all nodes. */
export class Selections {
  readonly #ofNode = new Map<string, Entry>();
  readonly #entries = new Map<Pools, Map<string, Entry>>();
  readonly #pools = new Map<string, Pools>();

  /** Those of a node; undefined if no pool selects, holds or owns it. */
  of(node: string): Selection | undefined {
    return this.#ofNode.get(node);
  }

  /** The same set for the same names. It is kept while a node has it. */
  poolsOf(names: Iterable<string>): Pools {
    const sorted = [...names].sort();
    return this.#pools.get(keyOf(sorted)) ?? new Set(sorted);
  }

  /** Replaces what is known of a node. */
  set(node: string, { pools, holder, owner }: Omit<Selection, 'nodes'>): void {
    const before = this.#ofNode.get(node);
    if (before?.pools === pools && before.holder === holder && before.owner === owner) return;
    this.delete(node);
    if (pools.size === 0 && holder === undefined && owner === undefined) return;
    const entry = this.#entryOf(pools, holder, owner);
    entry.nodes.add(node);
    this.#ofNode.set(node, entry);
  }

  /** Forgets a node. */
  delete(node: string): void {
    const entry = this.#ofNode.get(node);
    if (!entry) return;
    this.#ofNode.delete(node);
    entry.nodes.delete(node);
    if (entry.nodes.size > 0) return;
    const alike = this.#entries.get(entry.pools);
    alike?.delete(holdingOf(entry.holder, entry.owner));
    if (alike?.size !== 0) return;
    this.#entries.delete(entry.pools);
    this.#pools.delete(keyOf([...entry.pools]));
  }

  /** The first of the nodes that the pool selects and another one holds; undefined if there are none. */
  contestedBy(pool: string): Contested | undefined {
    let first: { readonly node: string; readonly holder: string } | undefined;
    let count = 0;
    for (const [pools, entries] of this.#entries) {
      if (!pools.has(pool)) continue;
      for (const entry of entries.values()) {
        if (entry.holder === undefined || !isContestedBy(pool, entry)) continue;
        count += entry.nodes.size;
        for (const node of entry.nodes) if (!first || node < first.node) first = { node, holder: entry.holder };
      }
    }
    return first && { ...first, more: count - 1 };
  }

  #entryOf(pools: Pools, holder: string | undefined, owner: string | undefined): Entry {
    let known = this.#entries.get(pools);
    if (!known) {
      known = new Map();
      this.#entries.set(pools, known);
      this.#pools.set(keyOf([...pools]), pools);
    }
    const holding = holdingOf(holder, owner);
    const entry = known.get(holding) ?? { pools, holder, owner, nodes: new Set() };
    known.set(holding, entry);
    return entry;
  }
}

/** Names of pools contain no spaces. */
const keyOf = (sorted: readonly string[]) => sorted.join(' ');
const holdingOf = (holder = '', owner = '') => `${holder} ${owner}`;
