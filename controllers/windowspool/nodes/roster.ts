/** The verdicts on a pool's nodes, kept up to date one node at a time: what a node's event costs does not grow with the pool. */

import { markChangeFor } from '../existing/nodeClaims.ts';
import { canonical } from '../hash.ts';
import { CORDONED_ANNOTATION } from '../labels.ts';
import { isUnavailable, operationFor } from '../operations/nodeOrders.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { parseQuantity } from '../quantity.ts';
import { Departures, instanceIdOf } from './departures.ts';
import { conditionFor, isSameCondition } from './nodeCondition.ts';
import { isGated, isQuarantined, taintChangeFor } from './nodeTaints.ts';
import type { Mistainted, RosterView, Unmarked, Untold } from './rosterView.ts';
import { type Expectation, type Finding, graceEnd, type Verdict, verifyNode } from './verify.ts';
import { POD_ADDRESSES, parseKernelVersion, WINDOWS_BUILD_LABEL } from './windows.ts';

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
  readonly #ordered = new Map<string, NodeRecord>();
  readonly #cordoned = new Map<string, NodeRecord>();
  readonly #unavailable = new Map<string, string>();
  readonly #builds = new Map<string, number>();
  /** EC2 instance id -> how many nodes say that they are it. */
  readonly #instances = new Map<string, number>();
  readonly departures = new Departures();
  #ready = 0;
  #gated = 0;
  #quarantined = 0;
  #belowMinimum = 0;
  #podAddresses = 0;
  /** How many nodes tell their addresses for pods. */
  #addressed = 0;
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

  get ordered(): readonly NodeRecord[] {
    return byName(this.#ordered);
  }

  get cordoned(): readonly NodeRecord[] {
    return byName(this.#cordoned);
  }

  get unavailable(): readonly string[] {
    return byName(this.#unavailable);
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

  get podAddresses(): number | undefined {
    return this.#addressed > 0 ? this.#podAddresses : undefined;
  }

  get nextGraceEnd(): number {
    return Math.min(...[...this.#joining.values()].map((verdict) => graceEnd(verdict, this.#expected)));
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
    if (operationFor(node)) this.#ordered.set(node.name, node);
    if (CORDONED_ANNOTATION in node.orders) this.#cordoned.set(node.name, node);
    if (isUnavailable(node)) this.#unavailable.set(node.name, node.name);
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
    const addresses = parseQuantity(node.allocatable[POD_ADDRESSES]);
    if (addresses !== undefined) {
      this.#addressed += change;
      this.#podAddresses += change * addresses;
    }
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
    const lists = [
      this.#failing,
      this.#joining,
      this.#warned,
      this.#mislabelled,
      this.#ordered,
      this.#unavailable,
      this.#cordoned,
    ];
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
