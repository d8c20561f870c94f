/**
 * The nodes of the pools that put their labels and taints on nodes: of existing nodes, of machines, and of Karpenter. Nodes are watched by the label kubernetes.io/os=windows; of the pools that select a node, one holds it.
 *
 *   pools --declare--> selectors, lists, Machines --+
 *   nodes --follow----------------------------------+--> held: verified for the pool | contested: held by another pool | toRelease: owned, no longer selected
 *
 * An event of a node costs one check for each such pool, and never a walk over a pool's nodes. It triggers only the pool that holds the node, and those for which
 * something else than the node itself has changed.
 */
import type { WindowsPool } from '../api/api.gen.ts';
import { NODE_GROUP_LABEL, OS_LABEL, WINDOWS } from '../api/labels.ts';
import type { ListedInstances, NodeMembershipView } from '../model/nodeMembershipView.ts';
import type { Expectation } from '../model/poolNodesView.ts';
import { labelsWithout, marksOf, ownerOf } from '../nodes/ownershipRecord.ts';
import { PoolNodes } from '../nodes/poolNodes.ts';
import type { PodsOfPool } from '../nodes/poolNodesCache.ts';
import { instanceIdOf, UnwatchedNodes } from '../nodes/unwatchedNodes.ts';
import type { MachineNodes } from '../ports/machines.ts';
import type { InstanceList, NodeRecord } from '../ports/nodes.ts';
import { nodeSourceOf } from '../rules/nodeSource.ts';
import { isDeleting } from '../rules/poolQueries.ts';
import { canonical } from '../util/hash.ts';
import { selects } from '../util/labelSelector.ts';
import { Contention } from './contention.ts';
import { changedNodes, hasNode } from './machineNodes.ts';
import { NodeAddresses } from './nodeAddresses.ts';
import { isContestedBy, type Pools, type Selection, Selections } from './selections.ts';
import { comparable, type WindowsInstances, windowsInstancesIn } from './windowsInstances.ts';

type Place = { readonly kind: 'held' | 'elsewhere' } | { readonly kind: 'toRelease'; readonly isAwaited: boolean };

const ELSEWHERE: Place = { kind: 'elsewhere' };

/** The nodes of one pool. */
class Membership implements Omit<NodeMembershipView, 'contention' | 'contested' | 'listed'> {
  readonly contention = new Contention();
  readonly unwatchedNodes = new UnwatchedNodes();
  /** Whether nodes that left the watch while the operator was not running have been read. */
  hasReadUnwatched = false;
  readonly #held = new Map<string, NodeRecord>();
  readonly #toRelease = new Map<string, NodeRecord>();
  readonly #awaited = new Set<string>();
  /** The list of hosts, as read; undefined when the pool names none. */
  list: { readonly list: InstanceList; readonly instances: WindowsInstances } | undefined;
  #poolNodes: PoolNodes | undefined;

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
    // Only another pool has changed.
    if (place.kind === 'held' && this.#held.get(node.name) === node) return false;
    const wasHere = this.#remove(node.name);
    if (place.kind === 'held') {
      this.#held.set(node.name, node);
      const wasMarked = this.#poolNodes?.isMarked(node.name);
      this.#poolNodes?.put(node, now);
      if (wasMarked && !this.#poolNodes?.isMarked(node.name)) this.contention.undone(node.name, now);
    } else if (wasHere) {
      this.contention.forget(node.name);
      this.#poolNodes?.drop(node.name);
    }
    if (place.kind === 'toRelease') this.#toRelease.set(node.name, node);
    if (place.kind === 'toRelease' && place.isAwaited) this.#awaited.add(node.name);
    return wasHere || place.kind !== 'elsewhere';
  }

  /** Takes in a node that left the watch: it is deleted, or has lost its label. Returns whether the pool is affected. */
  lose(node: NodeRecord): boolean {
    const wasHere = this.#remove(node.name);
    if (wasHere && !node.deleting) this.unwatchedNodes.left(node);
    this.contention.forget(node.name);
    this.#poolNodes?.drop(node.name);
    return wasHere;
  }

  #remove(name: string): boolean {
    this.#awaited.delete(name);
    const wasHeld = this.#held.delete(name);
    return this.#toRelease.delete(name) || wasHeld;
  }
}

/** What a pool selects. Of the pools that select a node, the one with the lowest rank holds it, unless another already owns it. */
interface Member {
  readonly rank: string;
  readonly compared: string;
  /** The parsed list of hosts, which is compared by its identity: it can have a megabyte. */
  readonly instances: WindowsInstances;
  /** The nodes of its Machines, which are compared by identity, too. */
  readonly machines: MachineNodes | undefined;
  readonly wants: (node: NodeRecord) => boolean;
  readonly membership: Membership;
}

/** The EC2 instances of the node groups of pools, by the last lists. */
export interface GroupInstances {
  /** The pool whose node groups have this instance; undefined if none has. */
  poolOfInstance(id: string): string | undefined;
  /** Changes with the lists. */
  readonly revision: number;
}

/** What a pool selects besides labels. */
export interface Selected {
  /** The list of hosts that it names. Absent: it is not known, or the pool names none. */
  readonly list?: InstanceList | undefined;
  /** The nodes of its Machines; undefined: they are not known, or the pool has none. */
  readonly machines?: MachineNodes | undefined;
}

/** What {@link NodeMembership} depends on. */
export interface NodeMembershipOptions {
  /** The cached nodes, read when a pool is created, changed or deleted. */
  readonly nodes: () => Iterable<NodeRecord>;
  /** The pool of a node group: its nodes belong to that pool alone. */
  readonly poolOfGroup: (group: string) => string | undefined;
  /** The instances of node groups: a kubelet can remove the label of its group from its node. */
  readonly instances?: GroupInstances;
  /** Called for each pool that is affected by a change. */
  readonly wake: (pool: string) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** The cached pods of the operator on a node, as far as they are the pool's. */
  readonly podsOn?: PodsOfPool;
}

/** The nodes of all such pools, kept up to date one node at a time. */
export class NodeMembership {
  readonly #options: NodeMembershipOptions;
  readonly #members = new Map<string, Member>();
  /** A change of one pool asks only that one again about each node. */
  readonly #selections = new Selections();
  /** Pools that have changed since their nodes were settled, with the names of the nodes that this concerns; undefined: it can concern each node. */
  readonly #unsettled = new Map<string, ReadonlySet<string> | undefined>();
  /** How to declare the pools whose Machines or lists have changed since. */
  readonly #undeclared = new Map<string, () => void>();
  #instancesRevision = 0;
  /** Kept from the first pool on that names a list. */
  #addresses: NodeAddresses | undefined;

  constructor(options: NodeMembershipOptions) {
    this.#options = options;
  }

  /** The nodes of a pool with their verification results. */
  of(pool: string, expected: Expectation) {
    this.#undeclared.get(pool)?.();
    this.#settleChanged(pool);
    this.#followInstances();
    const membership = this.#members.get(pool)?.membership ?? new Membership();
    const { now, podsOn } = this.#options;
    return {
      poolNodes: membership.poolNodes(expected, now(), (node) => podsOn?.(pool, node) ?? []),
      membership,
      contested: this.#selections.contestedBy(pool),
      listed: this.#listedBy(membership),
    };
  }

  /** Gives nodes up that turn out to be instances of a node group, and takes those that are no longer. */
  #followInstances(): void {
    const { instances, nodes } = this.#options;
    if (!instances || instances.revision === this.#instancesRevision) return;
    this.#instancesRevision = instances.revision;
    for (const node of this.#members.size > 0 ? nodes() : []) {
      const { holder } = this.#selections.of(node.name) ?? {};
      const before = holder !== undefined && this.#members.has(holder) ? undefined : holder;
      if (!node.deleting && before !== this.#poolWithGroupOf(node)) this.#settle(node, this.#members.keys());
    }
  }

  /** What the list of a pool names; undefined if the pool names no list. */
  #listedBy({ list: listed }: Membership): ListedInstances | undefined {
    if (!listed) return undefined;
    const { list, instances } = listed;
    const unknown = [...instances.entries].filter(
      ([, addresses]) => !addresses.some((one) => this.#addresses?.has(one)),
    );
    const unanswered = instances.unanswered.filter((name) => !this.#addresses?.has(comparable(name)));
    return { ...instances, list, unknown: unknown.map(([entry]) => entry), unanswered };
  }

  /** Takes in a change of the operator's pods on a node. */
  podsChanged(pool: string, node: string): void {
    this.#members.get(pool)?.membership.podsChanged(node, this.#options.now());
  }

  /**
   * Whether a node belongs to the pool, given node, pool and what the pool selects as just read past every cache. The node must carry the
   * ownership record of the pool, so that only one of two pools that select it holds it.
   */
  confirms(pool: WindowsPool, { list, machines }: Selected, node: NodeRecord): boolean {
    if (this.#poolWithGroupOf(node) !== undefined || node.deleting || node.labels[OS_LABEL] !== WINDOWS) return false;
    // Only a node that is known to be listed is confirmed.
    const listed = list && { list, instances: { ...instancesIn(list), unanswered: [] } };
    return ownerOf(node) === pool.metadata.name && this.#wantsOf(pool, listed, machines)(node);
  }

  /** Takes in a pool's spec and what it selects, which take effect when the pool is reconciled. `undefined`: the pool is gone. */
  declare(name: string, pool: WindowsPool | undefined, { list = { kind: 'unknown' }, machines }: Selected = {}): void {
    this.#undeclared.delete(name);
    const before = this.#members.get(name);
    if (!pool || !nodeSourceOf(pool).marksNodes) {
      this.#members.delete(name);
      this.#unsettled.delete(name);
      if (before) this.#settleAll(name);
      return;
    }
    const { metadata, spec } = pool;
    const compared = canonical([
      metadata.creationTimestamp,
      isDeleting(pool),
      spec.existingNodes,
      spec.machines,
      [...marksOf(pool)].sort(),
      list.kind === 'seen' ? list.kind : list,
    ]);
    const instances = instancesIn(list);
    if (before?.compared === compared && before.instances === instances && before.machines === machines) return;
    const membership = before?.membership ?? new Membership();
    membership.list = pool.spec.existingNodes?.instancesConfigMap && { list, instances };
    if (membership.list) this.#addresses ??= new NodeAddresses(this.#options.nodes());
    const wants = this.#wantsOf(pool, membership.list, machines);
    const rank = `${pool.metadata.creationTimestamp} ${name}`;
    this.#members.set(name, { rank, compared, instances, machines, wants, membership });
    const isSameOtherwise = before?.compared === compared && before.instances === instances;
    const nodes = isSameOtherwise && before.machines && machines && changedNodes(before.machines, machines);
    this.#unsettled.set(name, this.#concerned(name, nodes || undefined));
  }

  /** The nodes that changes of a pool concern, with these. */
  #concerned(pool: string, nodes: ReadonlySet<string> | undefined): ReadonlySet<string> | undefined {
    if (!this.#unsettled.has(pool)) return nodes;
    const before = this.#unsettled.get(pool);
    return before && nodes && new Set([...before, ...nodes]);
  }

  /** Notes that what a pool selects has changed: `declare` is called when the pool is reconciled, which takes in all changes until then at once. */
  declareLater(name: string, declare: () => void): void {
    this.#undeclared.set(name, declare);
  }

  /** Settles the nodes of a pool that has changed. One that changes all the time is reconciled within limits, and so are its nodes. */
  #settleChanged(pool: string): void {
    if (!this.#unsettled.has(pool)) return;
    const nodes = this.#unsettled.get(pool);
    this.#unsettled.delete(pool);
    this.#settleAll(pool, nodes);
  }

  /** Takes in a change of a node. */
  follow(before: NodeRecord | undefined, after: NodeRecord | undefined): void {
    const known = after ?? before;
    if (!known) return;
    const isPresent = after !== undefined && !after.deleting;
    const changed = this.#addresses?.put(known.name, isPresent ? known.addresses : []) ?? [];
    if (changed.length > 0) this.#wakeListing(changed);
    if (isPresent) this.#settle(known, this.#members.keys());
    else this.#lose(known);
  }

  /** Evaluates nodes again whose first pool may have changed. */
  reconsider(nodes: Iterable<NodeRecord>): void {
    for (const node of nodes) if (!node.deleting) this.#settle(node, this.#members.keys());
  }

  #lose(node: NodeRecord): void {
    const before = this.#selections.of(node.name);
    this.#selections.delete(node.name);
    for (const [pool, { membership }] of this.#members) {
      const wasContested = before !== undefined && isContestedBy(pool, before);
      if (membership.lose(node) || wasContested) this.#options.wake(pool);
    }
  }

  /** Triggers the pools whose lists name one of the addresses: whether it is unknown may have changed. */
  #wakeListing(addresses: readonly string[]): void {
    for (const [pool, { instances }] of this.#members) {
      if (!addresses.some((address) => instances.addresses.has(address))) continue;
      // It may keep nodes until one has the name that could not be looked up.
      if (instances.unanswered.length > 0) this.#unsettled.set(pool, undefined);
      this.#options.wake(pool);
    }
  }

  /** After a change of the pool, settles the nodes that it selects, has selected or owns: all of them, or those with these names. */
  #settleAll(pool: string, names?: ReadonlySet<string>): void {
    const wants = this.#members.get(pool)?.wants;
    const known: Reselected = new Map();
    for (const node of this.#options.nodes()) {
      if (node.deleting || names?.has(node.name) === false) continue;
      const isSelected = wants?.(node) === true || this.#selections.of(node.name)?.pools.has(pool) === true;
      if (isSelected || ownerOf(node) === pool) this.#settle(node, [pool], known);
    }
  }

  /** Decides which pool holds the node, after a change of these pools or of the node. */
  #settle(node: NodeRecord, changed: Iterable<string>, known?: Reselected): void {
    const { wake, now } = this.#options;
    const owner = ownerOf(node);
    const foreign = this.#poolWithGroupOf(node);
    const concerned = new Set([...changed, ...(owner === undefined ? [] : [owner])]);
    const before = this.#selections.of(node.name);
    const pools = this.#selectingAfter(node, before?.pools, concerned, known);
    // A pool holds a node that it owns until it has released it: otherwise the record of the original labels and taints would be lost.
    const isOwned = owner !== undefined && this.#members.has(owner);
    const holder = foreign ?? (isOwned ? owner : this.#firstOf(pools));
    this.#selections.set(node.name, { pools, holder, owner });
    const after = this.#selections.of(node.name);
    const affected = holder === before?.holder ? concerned : new Set([...concerned, ...pools]);
    for (const pool of affected) {
      const membership = this.#members.get(pool)?.membership;
      if (!membership) continue;
      const isWanted = pools.has(pool);
      const isAwaited = foreign !== undefined || pools.size > Number(isWanted);
      const otherwise: Place = owner === pool ? { kind: 'toRelease', isAwaited } : ELSEWHERE;
      const place: Place = holder === pool && isWanted ? { kind: 'held' } : otherwise;
      const isMoved = membership.place(node, place, now());
      if (isMoved || contestedFor(pool, before) !== contestedFor(pool, after)) wake(pool);
    }
  }

  /**
   * Which watched nodes the pool selects, by its selector, its list or its Machines. A pool that is being deleted selects none. While the list or the Machines
   * are unknown, or a name in the list cannot be looked up, the pool keeps the nodes that it owns.
   */
  #wantsOf(
    pool: WindowsPool,
    listed: Membership['list'],
    machines: MachineNodes | undefined,
  ): (node: NodeRecord) => boolean {
    if (isDeleting(pool)) return () => false;
    const { name } = pool.metadata;
    const isOwned = (node: NodeRecord) => ownerOf(node) === name;
    const { existingNodes } = pool.spec;
    // A Machine names its node, and the provider ID of a node cannot change: another node cannot take its place with a label.
    if (!existingNodes) return machines ? (node) => hasNode(machines, node) : isOwned;
    const { selector } = existingNodes;
    const marks = marksOf(pool);
    const isListed = (node: NodeRecord): boolean => {
      if (!listed) return false;
      if (listed.list.kind === 'unknown') return isOwned(node);
      const { addresses, unanswered } = listed.instances;
      if (node.addresses.some((address) => addresses.has(comparable(address)))) return true;
      return isOwned(node) && unanswered.some((name) => !this.#addresses?.has(comparable(name)));
    };
    return (node) => (selector !== undefined && selects(selector, labelsWithout(node, name, marks))) || isListed(node);
  }

  /** The pool whose node group the node is of, by its label or by its instance. */
  #poolWithGroupOf(node: NodeRecord): string | undefined {
    const { poolOfGroup, instances } = this.#options;
    const group = node.labels[NODE_GROUP_LABEL];
    const instance = instanceIdOf(node);
    return (
      (group === undefined ? undefined : poolOfGroup(group)) ??
      (instance === '' ? undefined : instances?.poolOfInstance(instance))
    );
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
  #selectingAfter(node: NodeRecord, before: Pools | undefined, changed: Iterable<string>, known?: Reselected): Pools {
    const added: string[] = [];
    const removed: string[] = [];
    for (const pool of changed) {
      const isWanted = this.#members.get(pool)?.wants(node) === true;
      if (isWanted !== (before?.has(pool) ?? false)) (isWanted ? added : removed).push(pool);
    }
    if (before && added.length + removed.length === 0) return before;
    // Many nodes change alike.
    const change = `+${added.join(' ')} -${removed.join(' ')}`;
    const alike = known?.get(before);
    const pools =
      alike?.get(change) ??
      this.#selections.poolsOf([...(before ?? []), ...added].filter((pool) => !removed.includes(pool)));
    known?.set(before, (alike ?? new Map()).set(change, pools));
    return pools;
  }
}

/** How the pools that selected nodes changed, by the pools before. */
type Reselected = Map<Pools | undefined, Map<string, Pools>>;

/** The pool that holds a node which this pool selects. */
function contestedFor(pool: string, selection: Selection | undefined): string | undefined {
  return selection && isContestedBy(pool, selection) ? selection.holder : undefined;
}

const NO_HOSTS = {};

/** The hosts in the list, as far as it is known: the same object for the same data. */
function instancesIn(list: InstanceList): WindowsInstances {
  return list.kind === 'seen' ? windowsInstancesIn(list.data, list.hosts) : windowsInstancesIn(NO_HOSTS);
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
