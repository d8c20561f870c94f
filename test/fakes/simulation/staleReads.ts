/** Reads of AWS that lag behind: copies of its state in the last minutes, and a second AWS that answers from them. */
import { isDeepStrictEqual } from 'node:util';
import { copyOf } from '../localaws/copy.ts';
import { MemoryCloud } from '../localaws/memory.ts';
import type { LocalAwsState } from '../localaws/state.ts';
import { type GroupView, viewOf } from './nodeInvariants.ts';

const MAPS = ['groups', 'updates', 'instances', 'launchTemplates', 'addons', 'accessEntries'] as const;
/** Between two copies. */
const INTERVAL_MS = 5_000;
/** How long an answer may be remembered by the operator before it acts on it: half of the poll interval, and one reconciliation. */
export const REMEMBERED_MS = 20_000;
/** The longest lag. */
export const MOST_LAG_MS = 60_000;

type Copy = Pick<LocalAwsState, (typeof MAPS)[number]> & { readonly at: number };

export class StaleReads {
  /** How far reads may lag behind: each by another random part of it. */
  lagMs = 0;
  readonly #truth: LocalAwsState;
  readonly #past: MemoryCloud;
  readonly #now: () => number;
  #copies: readonly Copy[] = [];
  /** What groups looked like until that time, the latest last. */
  readonly #former: { readonly until: number; readonly views: ReadonlyMap<string, GroupView> }[] = [];
  #views: ReadonlyMap<string, GroupView> = new Map();
  #random = 1;

  constructor(truth: LocalAwsState, now: () => number) {
    this.#truth = truth;
    this.#now = now;
    const { cluster, switches, releases } = truth;
    const subnetIds = truth.subnets.map(({ id }) => id);
    this.#past = new MemoryCloud({ cluster, switches, releases, subnetIds, clock: { now } });
  }

  /** Call it whenever time has passed. */
  record(): void {
    const now = this.#now();
    this.#recordViews(now);
    this.#copies = this.#copies.filter(({ at }) => at >= now - MOST_LAG_MS - REMEMBERED_MS);
    const last = this.#copies.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
    if (this.lagMs === 0 || now - last < INTERVAL_MS) return;
    const maps = MAPS.map((name) => [
      name,
      new Map([...this.#truth[name]].map(([key, value]) => [key, copyOf(value)])),
    ]);
    this.#copies = [...this.#copies, { at: now, ...Object.fromEntries(maps) } as Copy];
  }

  /** AWS as a read sees it now; undefined: as it is. */
  pick(): MemoryCloud | undefined {
    const since = this.#now() - this.lagMs;
    const known = this.#copies.filter(({ at }) => at >= since);
    // One of the answers is always the current one.
    const copy = known[Math.floor(this.#next() * (known.length + 1))];
    if (this.lagMs === 0 || !copy) return undefined;
    const { state } = this.#past;
    for (const name of MAPS) {
      const map = state[name] as Map<string, unknown>;
      map.clear();
      for (const [key, value] of copy[name]) map.set(key, copyOf(value));
    }
    Object.assign(state.clusterState, this.#truth.clusterState);
    return this.#past;
  }

  /**
   * A group as the operator can have read it: since MOST_LAG_MS and what it remembers, if reads are stale; and since `since`, if that is defined.
   */
  viewsOf(name: string, since = Number.POSITIVE_INFINITY): GroupView[] {
    const former = this.#former.filter(({ until }) => until >= since);
    return [
      ...this.#copies.map(({ groups }) => viewOf(groups.get(name))),
      ...former.map(({ views }) => views.get(name) ?? viewOf(undefined)),
    ];
  }

  #recordViews(now: number): void {
    const views = new Map([...this.#truth.groups].map(([name, group]) => [name, viewOf(group)]));
    if (isDeepStrictEqual(views, this.#views)) return;
    this.#former.push({ until: now, views: this.#views });
    this.#views = views;
  }

  /** mulberry32: https://github.com/bryc/code/blob/master/jshash/PRNGs.md */
  #next(): number {
    this.#random = (this.#random + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#random ^ (this.#random >>> 15), 1 | this.#random);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
}
