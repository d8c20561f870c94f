/**
 * The nodes of the pools of existing nodes. Nodes are watched by the label kubernetes.io/os=windows; of the pools that select a node, one holds it.
 *
 *   pools --declare--> selectors, lists --+
 *   nodes --follow------------------------+--> held: verified for the pool | contested: held by another pool | toRelease: owned, no longer selected
 *
 * An event of a node costs one check for each such pool, and never a walk over a pool's nodes.
 */
import type { WindowsPool } from '../../api/api.gen.ts';
import { NODE_GROUP_LABEL, OS_LABEL, WINDOWS } from '../../api/labels.ts';
import type { Contested, ListedInstances, NodeMembershipView } from '../../model/nodeMembershipView.ts';
import type { Expectation } from '../../model/poolNodesView.ts';
import { labelsWithout, marksOf, ownerOf } from '../../nodes/ownershipRecord.ts';
import { PoolNodes } from '../../nodes/poolNodes.ts';
import type { PodsOfPool } from '../../nodes/poolNodesCache.ts';
import { UnwatchedNodes } from '../../nodes/unwatchedNodes.ts';
import type { InstanceList, NodeRecord } from '../../ports/nodes.ts';
import { existingNodesIn } from '../../rules/nodeSource.ts';
import { isDeleting } from '../../rules/poolQueries.ts';
import { canonical } from '../../util/hash.ts';
import { selects } from '../../util/labelSelector.ts';
import { Contention } from './contention.ts';
import { comparable, type WindowsInstances, windowsInstancesIn } from './windowsInstances.ts';

type Place =
  | { readonly kind: 'held' | 'elsewhere' }
  | { readonly kind: 'toRelease'; readonly isAwaited: boolean }
  | { readonly kind: 'contested'; readonly holder: string };

const ELSEWHERE: Place = { kind: 'elsewhere' };

/** The nodes of one pool. */
class Membership implements Omit<NodeMembershipView, 'contention'> {
  readonly contention = new Contention();
  readonly unwatchedNodes = new UnwatchedNodes();
  /** Whether nodes that left the watch while the operator was not running have been read. */
  hasReadUnwatched = false;
  readonly #held = new Map<string, NodeRecord>();
  readonly #toRelease = new Map<string, NodeRecord>();
  readonly #awaited = new Set<string>();
  readonly #contested = new Map<string, string>();
  /** Nodes that the pool selects, and how many of them have each address. */
  readonly #wanted = new Map<string, NodeRecord>();
  readonly #addresses = new Map<string, number>();
  /** The list of hosts, as read; undefined when the pool names none. */
  list: { readonly list: InstanceList; readonly instances: WindowsInstances } | undefined;
  #poolNodes: PoolNodes | undefined;

  get contested(): readonly Contested[] {
    return [...this.#contested].sort(byKey).map(([node, holder]) => ({ node, holder }));
  }

  get toRelease(): readonly NodeRecord[] {
    const outside = this.unwatchedNodes.certain.map((node) => [node.name, node] as const);
    return [...outside, ...this.#toRelease].sort(byKey).map(([, node]) => node);
  }

  get awaited(): ReadonlySet<string> {
    return this.#awaited;
  }

  get nextReadAt(): number {
    return this.unwatchedNodes.nextReadAt;
  }

  get listed(): ListedInstances | undefined {
    if (!this.list) return undefined;
    const { list, instances } = this.list;
    const unknown = [...instances.addresses].filter(([address]) => !this.#addresses.has(address));
    return { list, unknown: unknown.map(([, written]) => written), ...instances };
  }

  /** The verification results of the nodes that the pool holds. */
  poolNodes(expected: Expectation, now: number, podsOn: (node: NodeRecord) => ReturnType<PodsOfPool>): PoolNodes {
    if (this.#poolNodes) this.#poolNodes.verifyAgainst(expected, now);
    else this.#poolNodes = new PoolNodes(this.#held.values(), expected, now, podsOn);
    return this.#poolNodes;
  }

  /** Takes in a change of the operator's pods on a node. */
  podsChanged(node: string, now: number): void {
    this.#poolNodes?.podsChanged(node, now);
  }

  /** Moves a node to its place. Returns whether the pool is affected. */
  place(node: NodeRecord, place: Place, now: number): boolean {
    this.unwatchedNodes.returned(node.name);
    // Most nodes are another pool's, before and after.
    if (place.kind === 'elsewhere' && !this.#knows(node.name)) return false;
    const wasHere = this.#remove(node.name);
    if (place.kind === 'held') {
      this.#held.set(node.name, node);
      const wasMarked = this.#poolNodes?.isMarked(node.name);
      this.#poolNodes?.put(node, now);
      if (wasMarked && !this.#poolNodes?.isMarked(node.name)) this.contention.undone(node.name, now);
    } else {
      this.contention.forget(node.name);
      this.#poolNodes?.drop(node.name);
    }
    if (place.kind === 'toRelease') this.#toRelease.set(node.name, node);
    if (place.kind === 'toRelease' && place.isAwaited) this.#awaited.add(node.name);
    if (place.kind === 'contested') this.#contested.set(node.name, place.holder);
    if (place.kind === 'held' || place.kind === 'contested') this.#addWanted(node);
    return wasHere || place.kind !== 'elsewhere';
  }

  /** Takes in a node that left the watch: it is deleted, or has lost its label. Returns whether the pool is affected. */
  lose(node: NodeRecord): boolean {
    const wasOwned = this.#held.has(node.name) || this.#toRelease.has(node.name);
    if (wasOwned && !node.deleting) this.unwatchedNodes.left(node);
    this.contention.forget(node.name);
    this.#poolNodes?.drop(node.name);
    return this.#remove(node.name);
  }

  #addWanted(node: NodeRecord): void {
    this.#wanted.set(node.name, node);
    this.#countAddresses(node, 1);
  }

  #countAddresses({ addresses }: NodeRecord, change: 1 | -1): void {
    for (const address of new Set(addresses.map(comparable))) {
      const nodes = (this.#addresses.get(address) ?? 0) + change;
      if (nodes > 0) this.#addresses.set(address, nodes);
      else this.#addresses.delete(address);
    }
  }

  #knows(name: string): boolean {
    return this.#wanted.has(name) || this.#toRelease.has(name);
  }

  #remove(name: string): boolean {
    const wanted = this.#wanted.get(name);
    if (wanted) this.#countAddresses(wanted, -1);
    this.#wanted.delete(name);
    this.#awaited.delete(name);
    const wasHeld = this.#held.delete(name);
    const wasToRelease = this.#toRelease.delete(name);
    return this.#contested.delete(name) || wasHeld || wasToRelease;
  }
}

/** What a pool selects. Of the pools that select a node, the one with the lowest rank holds it, unless another already owns it. */
interface Member {
  readonly rank: string;
  readonly compared: string;
  /** The parsed list of hosts, which is compared by its identity: it can have a megabyte. */
  readonly instances: WindowsInstances;
  readonly wants: (node: NodeRecord) => boolean;
  readonly membership: Membership;
}

/** What {@link NodeMembership} depends on. */
export interface NodeMembershipOptions {
  /** The cached nodes, read when a pool is created, changed or deleted. */
  readonly nodes: () => Iterable<NodeRecord>;
  /** The pool of a node group: its nodes belong to that pool alone. */
  readonly poolOfGroup: (group: string) => string | undefined;
  /** Called for each pool that is affected by a change. */
  readonly wake: (pool: string) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** The cached pods of the operator on a node, as far as they are the pool's. */
  readonly podsOn?: PodsOfPool;
}

/** The nodes of all pools of existing nodes, kept up to date one node at a time. */
export class NodeMembership {
  readonly #options: NodeMembershipOptions;
  readonly #members = new Map<string, Member>();
  /** The pools that select each node, by its name: a change of one pool asks only that one again. */
  readonly #selecting = new Map<string, Set<string>>();
  /** The pool that holds each node, by the name of the node: while it stays the same, only changed pools are affected. */
  readonly #holders = new Map<string, string | undefined>();

  constructor(options: NodeMembershipOptions) {
    this.#options = options;
  }

  /** The nodes of a pool with their verification results. */
  of(pool: string, expected: Expectation): { readonly poolNodes: PoolNodes; readonly membership: Membership } {
    const membership = this.#members.get(pool)?.membership ?? new Membership();
    const { now, podsOn } = this.#options;
    return { poolNodes: membership.poolNodes(expected, now(), (node) => podsOn?.(pool, node) ?? []), membership };
  }

  /** Takes in a change of the operator's pods on a node. */
  podsChanged(pool: string, node: string): void {
    this.#members.get(pool)?.membership.podsChanged(node, this.#options.now());
  }

  /**
   * Whether a node belongs to the pool, given node, pool and the pool's list as just read past every cache. The node must carry the
   * ownership record of the pool, so that only one of two pools that select it holds it.
   */
  confirms(pool: WindowsPool, list: InstanceList | undefined, node: NodeRecord): boolean {
    const group = node.labels[NODE_GROUP_LABEL];
    const isOfGroup = group !== undefined && this.#options.poolOfGroup(group) !== undefined;
    if (isOfGroup || node.deleting || node.labels[OS_LABEL] !== WINDOWS) return false;
    const listed = list && { list, instances: instancesIn(list) };
    return ownerOf(node) === pool.metadata.name && wantsOf(pool, listed)(node);
  }

  /** Takes in a pool's spec and its list of hosts. `undefined`: the pool is gone. */
  declare(name: string, pool: WindowsPool | undefined, list: InstanceList = { kind: 'unknown' }): void {
    const before = this.#members.get(name);
    if (!pool?.spec.existingNodes) {
      this.#members.delete(name);
      if (before) this.#settleAll(name);
      return;
    }
    const { metadata, spec } = pool;
    const compared = canonical([
      metadata.creationTimestamp,
      isDeleting(pool),
      spec.existingNodes,
      [...marksOf(pool)].sort(),
      list.kind === 'seen' ? list.kind : list,
    ]);
    const instances = instancesIn(list);
    if (before?.compared === compared && before.instances === instances) return;
    const membership = before?.membership ?? new Membership();
    membership.list = pool.spec.existingNodes?.instancesConfigMap && { list, instances };
    const wants = wantsOf(pool, membership.list);
    const rank = `${pool.metadata.creationTimestamp} ${name}`;
    this.#members.set(name, { rank, compared, instances, wants, membership });
    this.#settleAll(name);
  }

  /** Takes in a change of a node. */
  follow(before: NodeRecord | undefined, after: NodeRecord | undefined): void {
    if (after && !after.deleting) this.#settle(after, this.#members.keys());
    else {
      const gone = after ?? before;
      if (gone) this.#selecting.delete(gone.name);
      if (gone) this.#holders.delete(gone.name);
      for (const [pool, { membership }] of this.#members) if (gone && membership.lose(gone)) this.#options.wake(pool);
    }
  }

  /** Evaluates nodes again whose first pool may have changed. */
  reconsider(nodes: Iterable<NodeRecord>): void {
    for (const node of nodes) if (!node.deleting) this.#settle(node, this.#members.keys());
  }

  /** After a change of the pool, settles the nodes that it selects, has selected or owns. */
  #settleAll(pool: string): void {
    const wants = this.#members.get(pool)?.wants;
    for (const node of this.#options.nodes()) {
      if (node.deleting) continue;
      const isSelected = wants?.(node) === true || this.#selecting.get(node.name)?.has(pool) === true;
      if (isSelected || ownerOf(node) === pool) this.#settle(node, [pool]);
    }
  }

  /** Decides which pool holds the node, after a change of these pools or of the node. */
  #settle(node: NodeRecord, changed: Iterable<string>): void {
    const { poolOfGroup, wake, now } = this.#options;
    const owner = ownerOf(node);
    const group = node.labels[NODE_GROUP_LABEL];
    const foreign = group === undefined ? undefined : poolOfGroup(group);
    const concerned = new Set([...changed, ...(owner === undefined ? [] : [owner])]);
    const selecting = this.#selectingAfter(node, concerned);
    // A pool holds a node that it owns until it has released it: otherwise the record of the original labels and taints would be lost.
    const isOwned = owner !== undefined && this.#members.has(owner);
    const holder = foreign ?? (isOwned ? owner : this.#firstOf(selecting));
    const affected = holder === this.#holders.get(node.name) ? concerned : new Set([...concerned, ...selecting]);
    this.#holders.set(node.name, holder);
    for (const pool of affected) {
      const membership = this.#members.get(pool)?.membership;
      if (!membership) continue;
      const isWanted = selecting.has(pool);
      const isHolder = holder === pool && isWanted;
      const other: Place = isWanted && holder !== undefined ? { kind: 'contested', holder } : ELSEWHERE;
      const isAwaited = foreign !== undefined || selecting.size > Number(isWanted);
      const otherwise: Place = owner === pool ? { kind: 'toRelease', isAwaited } : other;
      const place: Place = isHolder ? { kind: 'held' } : otherwise;
      if (membership.place(node, place, now())) wake(pool);
    }
  }

  /** The first of the pools by their rank. */
  #firstOf(pools: Iterable<string>): string | undefined {
    let first: { readonly name: string; readonly rank: string } | undefined;
    for (const name of pools) {
      const rank = this.#members.get(name)?.rank;
      if (rank !== undefined && (!first || rank < first.rank)) first = { name, rank };
    }
    return first?.name;
  }

  /** The pools that select the node, of which these are asked again. */
  #selectingAfter(node: NodeRecord, changed: ReadonlySet<string>): ReadonlySet<string> {
    const selecting = this.#selecting.get(node.name) ?? new Set();
    for (const pool of changed)
      if (this.#members.get(pool)?.wants(node) === true) selecting.add(pool);
      else selecting.delete(pool);
    if (selecting.size > 0) this.#selecting.set(node.name, selecting);
    else this.#selecting.delete(node.name);
    return selecting;
  }
}

const NO_HOSTS = {};

/** The hosts in the list, as far as it is known: the same object for the same data. */
function instancesIn(list: InstanceList): WindowsInstances {
  return windowsInstancesIn(list.kind === 'seen' ? list.data : NO_HOSTS);
}

/**
 * Which watched nodes the pool selects, by its selector or its list. A pool that is being deleted selects none. While the list is unknown,
 * the pool keeps the nodes that it owns.
 */
function wantsOf(pool: WindowsPool, listed: Membership['list']): (node: NodeRecord) => boolean {
  if (isDeleting(pool)) return () => false;
  const { selector } = existingNodesIn(pool.spec);
  const { name } = pool.metadata;
  const marks = marksOf(pool);
  const isListed = (node: NodeRecord): boolean => {
    if (!listed) return false;
    if (listed.list.kind === 'unknown') return ownerOf(node) === name;
    return node.addresses.some((address) => listed.instances.addresses.has(comparable(address)));
  };
  return (node) => (selector !== undefined && selects(selector, labelsWithout(node, name, marks))) || isListed(node);
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
