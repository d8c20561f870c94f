/**
 * Which nodes the pools of existing nodes have. A node is watched while it says that it runs Windows; of the pools that want it, one has it.
 *
 *   pools --declare--> who wants what --+
 *   nodes --follow----------------------+--> held: in that pool's roster | contested: another pool has it | leaving: claimed, not wanted
 *
 * A node's event costs one look for each such pool, and never a walk over a pool's nodes.
 */
import type { WindowsPool } from '../../api.gen.ts';
import { NODE_GROUP_LABEL, OS_LABEL, WINDOWS } from '../../labels.ts';
import type { Contested, ListedInstances, NodeMembershipView } from '../../model/nodeMembership.ts';
import type { Expectation } from '../../model/poolNodes.ts';
import { existingNodesIn } from '../../nodeSource.ts';
import { LostNodes } from '../../nodes/lostNodes.ts';
import { PoolNodes } from '../../nodes/poolNodes.ts';
import type { InstanceList, NodeRecord } from '../../ports/nodes.ts';
import { isDeleting } from '../../queries.ts';
import { canonical } from '../../util/hash.ts';
import { selects } from '../../util/labelSelector.ts';
import { Contention } from './contention.ts';
import { labelsWithout, ownershipOf } from './ownershipRecord.ts';
import { comparable, type WindowsInstances, windowsInstancesIn } from './windowsInstances.ts';

type Place =
  | { readonly kind: 'held' | 'elsewhere' }
  | { readonly kind: 'toRelease'; readonly isAwaited: boolean }
  | { readonly kind: 'contested'; readonly holder: string };

const ELSEWHERE: Place = { kind: 'elsewhere' };

/** The nodes of one pool. */
class Membership implements Omit<NodeMembershipView, 'contention'> {
  readonly contention = new Contention();
  readonly departures = new LostNodes();
  /** Whether nodes that left the watch while no operator ran have been asked for. */
  lookedOutside = false;
  readonly #held = new Map<string, NodeRecord>();
  readonly #toRelease = new Map<string, NodeRecord>();
  readonly #awaited = new Set<string>();
  readonly #contested = new Map<string, string>();
  /** Nodes that the pool wants, and how many of them have an address. */
  readonly #wanted = new Map<string, NodeRecord>();
  readonly #addresses = new Map<string, number>();
  /** What the pool's list says; undefined where it names none. */
  list: { readonly list: InstanceList; readonly instances: WindowsInstances } | undefined;
  #poolNodes: PoolNodes | undefined;

  get contested(): readonly Contested[] {
    return [...this.#contested].sort(byKey).map(([node, holder]) => ({ node, holder }));
  }

  get toRelease(): readonly NodeRecord[] {
    const outside = this.departures.certain.map((node) => [node.name, node] as const);
    return [...outside, ...this.#toRelease].sort(byKey).map(([, node]) => node);
  }

  get awaited(): ReadonlySet<string> {
    return this.#awaited;
  }

  get nextReadAt(): number {
    return this.departures.nextReadAt;
  }

  get listed(): ListedInstances | undefined {
    if (!this.list) return undefined;
    const { list, instances } = this.list;
    const unknown = [...instances.addresses].filter(([address]) => !this.#addresses.has(address));
    return { list, unknown: unknown.map(([, written]) => written), ...instances };
  }

  /** The names of all nodes that are anything to the pool. */
  get names(): ReadonlySet<string> {
    return new Set([...this.#held.keys(), ...this.#toRelease.keys(), ...this.#contested.keys()]);
  }

  /** The verdicts on the nodes that the pool has. */
  poolNodes(expected: Expectation, now: number): PoolNodes {
    if (this.#poolNodes) this.#poolNodes.judge(expected, now);
    else this.#poolNodes = new PoolNodes(this.#held.values(), expected, now);
    return this.#poolNodes;
  }

  /** Puts a node in its place. Whether that is any news for the pool. */
  place(node: NodeRecord, place: Place, now: number): boolean {
    const wasHere = this.#remove(node.name);
    this.departures.returned(node.name);
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
    if (place.kind === 'held' || place.kind === 'contested') this.#want(node);
    return wasHere || place.kind !== 'elsewhere';
  }

  /** A node left the watch: it ended, or does not say any more that it runs Windows. Whether it was anything to the pool. */
  lose(node: NodeRecord): boolean {
    const wasOwned = this.#held.has(node.name) || this.#toRelease.has(node.name);
    if (wasOwned && !node.deleting) this.departures.left(node);
    this.contention.forget(node.name);
    this.#poolNodes?.drop(node.name);
    return this.#remove(node.name);
  }

  #want(node: NodeRecord): void {
    this.#wanted.set(node.name, node);
    this.#count(node, 1);
  }

  #count({ addresses }: NodeRecord, change: 1 | -1): void {
    for (const address of new Set(addresses.map(comparable))) {
      const nodes = (this.#addresses.get(address) ?? 0) + change;
      if (nodes > 0) this.#addresses.set(address, nodes);
      else this.#addresses.delete(address);
    }
  }

  #remove(name: string): boolean {
    const wanted = this.#wanted.get(name);
    if (wanted) this.#count(wanted, -1);
    this.#wanted.delete(name);
    this.#awaited.delete(name);
    return [this.#held, this.#toRelease, this.#contested].map((map) => map.delete(name)).includes(true);
  }
}

/** What a pool wants. Of the pools that want a node the one with the lowest rank has it, unless another claimed it before. */
interface Member {
  readonly rank: string;
  readonly compared: string;
  readonly wants: (node: NodeRecord) => boolean;
  readonly membership: Membership;
}

export interface NodeMembershipOptions {
  /** The cached nodes, read when a pool comes, changes or goes. */
  readonly nodes: () => Iterable<NodeRecord>;
  /** The pool whose node group this is: EKS makes nodes for that pool alone. */
  readonly poolOfGroup: (group: string) => string | undefined;
  /** Is told of each pool for which something changed. */
  readonly wake: (pool: string) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** The nodes of all pools of existing nodes, kept up to date one node at a time. */
export class NodeMembership {
  readonly #options: NodeMembershipOptions;
  readonly #members = new Map<string, Member>();

  constructor(options: NodeMembershipOptions) {
    this.#options = options;
  }

  /** The nodes of a pool, and the verdicts on them. */
  of(pool: string, expected: Expectation): { readonly poolNodes: PoolNodes; readonly membership: Membership } {
    const membership = this.#members.get(pool)?.membership ?? new Membership();
    return { poolNodes: membership.poolNodes(expected, this.#options.now()), membership };
  }

  /**
   * Whether a node is the pool's, as both were just read past every cache, and the list that the pool names. It has the claim of the pool, so
   * that of two pools which want it only one has it.
   */
  confirms(pool: WindowsPool, list: InstanceList | undefined, node: NodeRecord): boolean {
    const group = node.labels[NODE_GROUP_LABEL];
    const isOfGroup = group !== undefined && this.#options.poolOfGroup(group) !== undefined;
    if (isOfGroup || node.deleting || node.labels[OS_LABEL] !== WINDOWS) return false;
    const listed = list && { list, instances: windowsInstancesIn(list.kind === 'seen' ? list.data : {}) };
    return ownershipOf(node)?.pool === pool.metadata.name && wantsOf(pool, listed)(node);
  }

  /** Takes in what a pool wants now, and what its list of hosts says; undefined: it is gone. */
  declare(name: string, pool: WindowsPool | undefined, list: InstanceList = { kind: 'unknown' }): void {
    const before = this.#members.get(name);
    if (!pool?.spec.existingNodes) {
      this.#members.delete(name);
      const names = before?.membership.names ?? new Set();
      if (names.size > 0) this.#settleAll((node) => names.has(node.name));
      return;
    }
    const compared = canonical([pool.metadata.creationTimestamp, isDeleting(pool), pool.spec.existingNodes, list]);
    if (before?.compared === compared) return;
    const membership = before?.membership ?? new Membership();
    const instances = windowsInstancesIn(list.kind === 'seen' ? list.data : {});
    membership.list = pool.spec.existingNodes?.instancesConfigMap && { list, instances };
    const wants = wantsOf(pool, membership.list);
    const rank = `${pool.metadata.creationTimestamp} ${name}`;
    this.#members.set(name, { rank, compared, wants, membership });
    this.#settleAll((node) => before?.wants(node) === true || wants(node) || Boolean(node.ownership));
  }

  /** Takes in a node's change. */
  follow(before: NodeRecord | undefined, after: NodeRecord | undefined): void {
    if (after && !after.deleting) this.#settle(after);
    else {
      const gone = after ?? before;
      for (const [pool, { membership }] of this.#members) if (gone && membership.lose(gone)) this.#options.wake(pool);
    }
  }

  /** Looks again at nodes for which another pool than before may be the first. */
  reconsider(nodes: Iterable<NodeRecord>): void {
    for (const node of nodes) if (!node.deleting) this.#settle(node);
  }

  #settleAll(isConcerned: (node: NodeRecord) => boolean): void {
    for (const node of this.#options.nodes()) if (!node.deleting && isConcerned(node)) this.#settle(node);
  }

  #settle(node: NodeRecord): void {
    const { poolOfGroup, wake, now } = this.#options;
    const owner = ownershipOf(node)?.pool;
    const group = node.labels[NODE_GROUP_LABEL];
    const foreign = group === undefined ? undefined : poolOfGroup(group);
    const wanting = [...this.#members].filter(([, { wants }]) => foreign === undefined && wants(node));
    // A pool that lives keeps what it claimed until it has given it back: else nobody would know what was there before.
    const holder = foreign ?? (owner !== undefined && this.#members.has(owner) ? owner : firstOf(wanting));
    for (const [pool, { wants, membership }] of this.#members) {
      const isWanted = wants(node);
      const isHolder = holder === pool && isWanted;
      const other: Place = isWanted && holder !== undefined ? { kind: 'contested', holder } : ELSEWHERE;
      const isAwaited = foreign !== undefined || wanting.some(([name]) => name !== pool);
      const otherwise: Place = owner === pool ? { kind: 'toRelease', isAwaited } : other;
      const place: Place = isHolder ? { kind: 'held' } : otherwise;
      if (membership.place(node, place, now())) wake(pool);
    }
  }
}

/**
 * What the pool wants of what is watched: what its selector or its list says. One that goes wants nothing. While the list is not known, the
 * pool keeps what it has.
 */
function wantsOf(pool: WindowsPool, listed: Membership['list']): (node: NodeRecord) => boolean {
  if (isDeleting(pool)) return () => false;
  const { selector } = existingNodesIn(pool.spec);
  const { name } = pool.metadata;
  const isListed = (node: NodeRecord): boolean => {
    if (!listed) return false;
    if (listed.list.kind === 'unknown') return ownershipOf(node)?.pool === name;
    return node.addresses.some((address) => listed.instances.addresses.has(comparable(address)));
  };
  return (node) => (selector !== undefined && selects(selector, labelsWithout(node, name))) || isListed(node);
}

function firstOf(members: readonly (readonly [string, Member])[]): string | undefined {
  return [...members].sort(([, a], [, b]) => (a.rank < b.rank ? -1 : 1))[0]?.[0];
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
