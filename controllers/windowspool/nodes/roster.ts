/**
 * The verdicts on a pool's nodes, kept up to date one node at a time: what a node's event costs does not grow with the pool.
 *
 *   node's event ──▶ Rosters ──▶ the Roster of each pool with that node group ──▶ counts, failing, joining, mislabelled
 */

import { markChangeFor } from '../existing/nodeClaims.ts';
import { canonical } from '../hash.ts';
import type { NodeCondition, NodeMarks, NodeRecord } from '../ports.ts';
import { nodeGroupsOf } from '../triggers.ts';
import { Departures, instanceIdOf } from './departures.ts';
import { conditionFor, isSameCondition } from './nodeCondition.ts';
import { isGated, isQuarantined, type TaintChange, taintChangeFor } from './nodeTaints.ts';
import { type Expectation, type Finding, graceEnd, type Verdict, verifyNode } from './verify.ts';
import { parseKernelVersion, WINDOWS_BUILD_LABEL } from './windows.ts';

/** What plan and conditions may look at. Lists are sorted by node name, so that equal pools read alike. */
export interface RosterView {
  readonly total: number;
  readonly ready: number;
  readonly verified: number;
  /** Verdicts of nodes that fail an enforced check. */
  readonly failing: readonly Verdict[];
  readonly joining: readonly Verdict[];
  /** Verified nodes with a warning. */
  readonly warned: readonly Verdict[];
  /** Nodes whose windows-build label differs from their kernel. */
  readonly mislabelled: readonly NodeRecord[];
  /** Nodes whose taints differ from what their verdicts ask for. */
  readonly mistainted: readonly Mistainted[];
  /** Nodes whose condition does not say what was found. */
  readonly untold: readonly Untold[];
  /** Nodes that lack labels or taints of their pool, or the record of what they had: of a pool of existing nodes only. */
  readonly unmarked: readonly Unmarked[];
  /** How many nodes have the gate's taint, and how many the quarantine's. */
  readonly gated: number;
  readonly quarantined: number;
  /** Kernel version -> how many nodes have it. */
  readonly builds: ReadonlyMap<string, number>;
  /** How many nodes are below verification.minimumRevision, or do not tell their revision; also where that only warns. */
  readonly belowMinimum: number;
  /** When the first verdict on a joining node turns by itself, epoch milliseconds; infinity when none is joining. */
  readonly nextGraceEnd: number;
  /** Nodes that are there and lack the label by which they are the pool's. Not in any of the counts. */
  readonly strays: readonly NodeRecord[];
  /** When nodes that left may be looked for again, epoch milliseconds; infinity when none did. */
  readonly nextReadAt: number;
  /** The nodes that were there before a time, in epoch milliseconds, by name. */
  nodesBefore(time: number): readonly NodeRecord[];
  /** Whether this EC2 instance is one of the nodes. */
  hasInstance(id: string): boolean;
}

export interface Untold {
  readonly node: NodeRecord;
  /** What the condition should be; undefined: none. */
  readonly condition: NodeCondition | undefined;
}

export interface Unmarked {
  readonly node: NodeRecord;
  readonly change: NodeMarks;
}

export interface Mistainted {
  readonly node: NodeRecord;
  readonly change: TaintChange;
}

/** The verdicts on the nodes of one pool. */
export class Roster implements RosterView {
  readonly #verdicts = new Map<string, Verdict>();
  readonly #failing = new Map<string, Verdict>();
  readonly #joining = new Map<string, Verdict>();
  readonly #warned = new Map<string, Verdict>();
  readonly #mislabelled = new Map<string, NodeRecord>();
  readonly #mistainted = new Map<string, Mistainted>();
  readonly #untold = new Map<string, Untold>();
  readonly #unmarked = new Map<string, Unmarked>();
  readonly #builds = new Map<string, number>();
  /** EC2 instance id -> how many nodes say that they are it. */
  readonly #instances = new Map<string, number>();
  readonly departures = new Departures();
  #ready = 0;
  #gated = 0;
  #quarantined = 0;
  #belowMinimum = 0;
  #expected: Expectation;
  #compared: string;

  constructor(nodes: Iterable<NodeRecord>, expected: Expectation, now: number) {
    this.#expected = expected;
    this.#compared = canonical(expected);
    for (const node of nodes) this.put(node, now);
  }

  get total(): number {
    return this.#verdicts.size;
  }

  get ready(): number {
    return this.#ready;
  }

  get verified(): number {
    return this.#verdicts.size - this.#failing.size - this.#joining.size;
  }

  get failing(): readonly Verdict[] {
    return byName(this.#failing);
  }

  get joining(): readonly Verdict[] {
    return byName(this.#joining);
  }

  get warned(): readonly Verdict[] {
    return byName(this.#warned);
  }

  get mislabelled(): readonly NodeRecord[] {
    return byName(this.#mislabelled);
  }

  get mistainted(): readonly Mistainted[] {
    return byName(this.#mistainted);
  }

  get untold(): readonly Untold[] {
    return byName(this.#untold);
  }

  get unmarked(): readonly Unmarked[] {
    return byName(this.#unmarked);
  }

  get gated(): number {
    return this.#gated;
  }

  get quarantined(): number {
    return this.#quarantined;
  }

  get builds(): ReadonlyMap<string, number> {
    return this.#builds;
  }

  get belowMinimum(): number {
    return this.#belowMinimum;
  }

  get nextGraceEnd(): number {
    return Math.min(...[...this.#joining.values()].map(({ node }) => graceEnd(node, this.#expected)));
  }

  get strays(): readonly NodeRecord[] {
    return this.departures.strays;
  }

  get nextReadAt(): number {
    return this.departures.nextReadAt;
  }

  nodesBefore(time: number): readonly NodeRecord[] {
    return byName(this.#verdicts)
      .map(({ node }) => node)
      .filter(({ createdAt }) => createdAt < time);
  }

  /** Whether the node is here and has the labels and taints of its pool of existing nodes. */
  isMarked(name: string): boolean {
    return this.#verdicts.has(name) && !this.#unmarked.has(name);
  }

  hasInstance(id: string): boolean {
    return this.#instances.has(id);
  }

  /** Judges a node that joined or changed. One that is being deleted is gone. */
  put(node: NodeRecord, now: number): void {
    this.drop(node.name);
    this.departures.returned(node.name);
    if (node.deleting) return;
    const verdict = verifyNode(node, this.#expected, now);
    this.#verdicts.set(node.name, verdict);
    if (verdict.state === 'failing') this.#failing.set(node.name, verdict);
    if (verdict.state === 'joining') this.#joining.set(node.name, verdict);
    if (verdict.state === 'verified' && verdict.warnings.length > 0) this.#warned.set(node.name, verdict);
    if (isMislabelled(node)) this.#mislabelled.set(node.name, node);
    const change = taintChangeFor(verdict, this.#expected.taints);
    if (change) this.#mistainted.set(node.name, { node, change });
    const { teller, claimant, spec } = this.#expected;
    const marks = claimant === undefined ? undefined : markChangeFor(node, claimant, spec);
    if (marks) this.#unmarked.set(node.name, { node, change: marks });
    const condition = teller === undefined ? undefined : conditionFor(verdict, teller);
    if (!isSameCondition(node.verified, condition)) this.#untold.set(node.name, { node, condition });
    this.#tally(verdict, 1);
  }

  /** Counts a node in, or out. */
  #tally({ node, failures, warnings }: Verdict, change: 1 | -1): void {
    if (node.ready === 'True') this.#ready += change;
    if (isGated(node)) this.#gated += change;
    if (isQuarantined(node)) this.#quarantined += change;
    if ([failures, warnings].some((findings) => findings.some(isBelowMinimum))) this.#belowMinimum += change;
    count(this.#builds, node.kernelVersion, change);
    count(this.#instances, instanceIdOf(node), change);
  }

  /** A node left the pool's sight: it ended, or lost the label. */
  leave(node: NodeRecord): void {
    this.drop(node.name);
    if (!node.deleting) this.departures.left(node);
  }

  /** Forgets a node. */
  drop(name: string): void {
    const before = this.#verdicts.get(name);
    if (!before) return;
    const lists = [this.#failing, this.#joining, this.#warned, this.#mislabelled];
    const writes = [this.#mistainted, this.#untold, this.#unmarked];
    for (const map of [this.#verdicts, ...lists, ...writes]) map.delete(name);
    this.#tally(before, -1);
  }

  /** Judges again what another spec or the passing of time changes: all nodes, or only those that are joining. */
  judge(expected: Expectation, now: number): void {
    const compared = canonical(expected);
    const changed = compared !== this.#compared;
    this.#expected = expected;
    this.#compared = compared;
    const verdicts = changed ? this.#verdicts : this.#joining;
    for (const { node } of [...verdicts.values()]) this.put(node, now);
  }
}

function count(counts: Map<string, number>, key: string, change: number): void {
  const nodes = (counts.get(key) ?? 0) + change;
  if (nodes > 0) counts.set(key, nodes);
  else counts.delete(key);
}

function isBelowMinimum({ reason }: Finding): boolean {
  return reason === 'RevisionTooLow';
}

function isMislabelled({ kernelVersion, labels }: NodeRecord): boolean {
  const build = parseKernelVersion(kernelVersion)?.build;
  return build !== undefined && labels[WINDOWS_BUILD_LABEL] !== build;
}

function byName<T>(map: ReadonlyMap<string, T>): T[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}

/** The rosters of all pools. A pool's is made at its first reconcile and follows the node events from then on. */
export class Rosters {
  readonly #byPool = new Map<string, { readonly group: string; readonly roster: Roster }>();
  readonly #poolsOf = new Map<string, Set<string>>();
  readonly #nodesOf: (group: string) => readonly NodeRecord[];
  readonly #now: () => number;

  /** @param nodesOf the cached nodes of a node group, read when a roster is made */
  constructor(nodesOf: (group: string) => readonly NodeRecord[], now: () => number) {
    this.#nodesOf = nodesOf;
    this.#now = now;
  }

  /** The roster of a pool whose nodes are those of a node group. */
  of(pool: string, group: string, expected: Expectation): Roster {
    const known = this.#byPool.get(pool);
    if (known?.group === group) {
      known.roster.judge(expected, this.#now());
      return known.roster;
    }
    this.forget(pool);
    const roster = new Roster(this.#nodesOf(group), expected, this.#now());
    this.#byPool.set(pool, { group, roster });
    this.#poolsOf.set(group, (this.#poolsOf.get(group) ?? new Set()).add(pool));
    return roster;
  }

  /** Takes a node's change into every roster that it concerns. */
  follow(before: NodeRecord | undefined, after: NodeRecord | undefined): void {
    for (const group of nodeGroupsOf(before, after)) {
      for (const pool of this.#poolsOf.get(group) ?? []) {
        const roster = this.#byPool.get(pool)?.roster;
        if (after && nodeGroupsOf(after).includes(group)) roster?.put(after, this.#now());
        else if (before) roster?.leave(before);
      }
    }
  }

  /** Forgets a pool that is gone. */
  forget(pool: string): void {
    const known = this.#byPool.get(pool);
    if (!known) return;
    this.#byPool.delete(pool);
    const pools = this.#poolsOf.get(known.group);
    pools?.delete(pool);
    if (pools?.size === 0) this.#poolsOf.delete(known.group);
  }
}
