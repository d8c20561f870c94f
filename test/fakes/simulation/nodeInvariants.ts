/** Invariants of nodes, checked at each operation that takes effect, against the real state and not against the observed state. */
import type { LeavingNode, WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import {
  CORDONED_ANNOTATION,
  CORDONED_BY_OPERATOR,
  EXCLUDE_FROM_DRAIN_ANNOTATION,
  NODE_GROUP_LABEL,
  REMEDIATION_ANNOTATION,
  REMOVE_ANNOTATION,
  REPLACE_ANNOTATION,
} from '../../../controllers/windowspool/api/labels.ts';
import { isRemediation } from '../../../controllers/windowspool/disruption/nodeAnnotations.ts';
import type { NodeRecord } from '../../../controllers/windowspool/ports/nodes.ts';
import type { DrainPod } from '../../../controllers/windowspool/ports/pods.ts';
import {
  nodeGroupNameOf,
  nodeGroupNamesOf,
  UNKNOWN_UPDATE,
} from '../../../controllers/windowspool/providers/nodeGroups.ts';
import type { FakeWorld } from '../../../controllers/windowspool/testing/fakeWorld.ts';
import type { MemoryCloud } from '../localaws/memory.ts';
import type { GroupRecord, InstanceRecord } from '../localaws/records.ts';
import type { Workload } from './workload.ts';

/** From the end of a pod's grace period until the operator stops waiting for it on a node that is not Ready. */
const DEAD_NODE_WAIT_MS = 300_000;

/** What the operator can have read of a node group when it acts. */
export interface GroupView {
  readonly status: string | undefined;
  readonly desired: number;
}

/** The view of a group of the local AWS; of none, if it does not exist. */
export function viewOf(group: GroupRecord | undefined): GroupView {
  const { status, scalingConfig } = group?.nodegroup ?? {};
  return { status, desired: scalingConfig?.desiredSize ?? 0 };
}

/** The world whose nodes are checked. */
interface CheckedWorld extends Pick<FakeWorld, 'now' | 'nodes' | 'pools'> {
  readonly cloud: MemoryCloud;
  readonly workload: Workload;
  nodesOf(group: string): readonly NodeRecord[];
  /** The group as it is; if reads are stale, also as it was. An operation is right if it is right in one of these views. */
  viewsOf(group: string): readonly GroupView[];
  /** Records a violation of an invariant. */
  broken(text: string): void;
}

export class NodeInvariants {
  readonly #world: CheckedWorld;
  readonly #poolsAtOnce: number;

  constructor(world: CheckedWorld, poolsAtOnce: number) {
    this.#world = world;
    this.#poolsAtOnce = poolsAtOnce;
  }

  /** Call it when the status of a pool was written. */
  checkReservation(before: WindowsPool | undefined, after: WindowsPool | undefined): void {
    const taken = after?.status?.disruption;
    if (before?.status?.disruption !== undefined || taken === undefined || taken.change === UNKNOWN_UPDATE) return;
    // An update by others can begin between the count and the reservation.
    const isSooner = (one: typeof taken) => one.change !== UNKNOWN_UPDATE || one.startTime < taken.startTime;
    const holders = [...this.#world.pools.values()].filter(
      ({ metadata, status }) =>
        metadata.name === after?.metadata.name || (status?.disruption && isSooner(status.disruption)),
    );
    if (holders.length > this.#poolsAtOnce) this.#world.broken(`${holders.length} pools lose nodes at the same time`);
  }

  /** Call it before TerminateInstanceInAutoScalingGroup is carried out. */
  checkTermination(id: string, shrink: boolean): void {
    const instance = this.#world.cloud.state.instances.get(id);
    const found = this.#entryOf(({ instanceID: known }) => known === id);
    if (instance?.state === 'terminated' || instance?.terminating !== undefined)
      this.#world.broken(`instance ${id} is ended twice`);
    if (!instance || !found) {
      this.#world.broken(`instance ${id} is ended, and no pool says so`);
      return;
    }
    const { pool, entry } = found;
    const { name } = pool.metadata;
    if (instance.warm !== undefined) this.#world.broken(`instance ${id} is ended in the warm pool`);
    if (!nodeGroupNamesOf(pool).includes(instance.group))
      this.#world.broken(`pool ${name} terminates an instance of ${instance.group}`);
    this.#checkGroupIdle(instance.group, `the end of ${id}`);
    if (shrink !== ['Remove', 'DrainNodeGroup'].includes(entry.operation))
      this.#world.broken(`${entry.operation} of ${id} with shrink=${shrink}`);
    this.#checkTerminatedNode(pool, entry, instance);
    if (entry.operation === 'DrainNodeGroup') this.#checkMainGroup(pool, id);
  }

  /** A node of a group that is replaced, or of a canary, leaves only while the main group has enough nodes that accept pods. */
  #checkMainGroup(pool: WindowsPool, id: string): void {
    const { minSize = 0, desiredSize, maxSize = 0 } = pool.spec.nodeGroup?.scaling ?? {};
    const main = nodeGroupNameOf(pool);
    const sizes = this.#world.viewsOf(main).map(({ desired }) => desired);
    // The main group has the size that it had before its canary. With stale reads, one of the views is what the operator has seen.
    const most = pool.status?.nodeGroup?.canary ? Math.min(...sizes) : (desiredSize ?? maxSize);
    const needed = Math.min(Math.max(1, minSize), most);
    const open = this.#world.nodesOf(main).filter(({ ready }) => ready === 'True');
    if (open.length < needed) this.#world.broken(`${id} leaves, and only ${open.length} nodes replace it`);
  }

  #checkTerminatedNode(pool: WindowsPool, entry: LeavingNode, instance: InstanceRecord): void {
    const node = this.#world.nodes.find(({ name }) => name === instance.nodeName);
    if (!node) {
      if (!isRemediation(entry)) this.#world.broken(`instance ${instance.id} ends, which is no node`);
      this.#checkBudget(pool, instance.nodeName, true);
      return;
    }
    const { name, annotations, unschedulable } = node;
    if (!unschedulable || !(CORDONED_ANNOTATION in annotations)) this.#world.broken(`${name} ends and is not cordoned`);
    if (!isAsked(pool, entry, node)) this.#world.broken(`${name} ends, and nobody wants that: ${entry.operation}`);
    if (annotations[EXCLUDE_FROM_DRAIN_ANNOTATION] === 'true') return;
    const since = Date.parse(entry.startTime);
    const pods = this.#world.workload.on(name).filter((pod) => mustLeave(pod, node, since, this.#world.now));
    if (pods.length > 0) this.#world.broken(`${name} ends with ${pods.map((pod) => pod.name)}`);
  }

  /** Call it before the operator cordons a node. */
  checkCordon(node: NodeRecord): void {
    const found = this.#entryOf(({ uid }) => uid === node.uid);
    const { name, labels } = node;
    const group = labels[NODE_GROUP_LABEL] ?? '';
    // All nodes of a group that is replaced are cordoned at once.
    if ([...this.#world.pools.values()].some((pool) => isRetired(pool, node))) return;
    if (!found) {
      this.#world.broken(`${name} is cordoned, and no pool says so`);
      return;
    }
    const { pool, entry } = found;
    if (!nodeGroupNamesOf(pool).includes(group)) this.#world.broken(`${pool.metadata.name} cordons ${name}`);
    if (!isAsked(pool, entry, node)) this.#world.broken(`${name} is cordoned, and nobody wants that`);
    this.#checkGroupIdle(group, `the cordon of ${name}`);
    this.#checkBudget(pool, name, node.ready !== 'True' || node.unschedulable);
  }

  /** Call it before a pod is evicted. */
  checkEviction({ name, controller }: DrainPod): void {
    const placed = this.#world.nodes.find((each) =>
      this.#world.workload.on(each.name).some((pod) => pod.name === name),
    );
    if (!placed) return;
    if (!placed.unschedulable || !this.#entryOf(({ uid }) => uid === placed.uid))
      this.#world.broken(`${name} is evicted from ${placed.name}, which does not go`);
    if (controller === 'DaemonSet') this.#world.broken(`${name} of a DaemonSet is evicted`);
  }

  /** No removal of a node proceeds while EKS works on the group. */
  #checkGroupIdle(name: string, what: string): void {
    const views = this.#world.viewsOf(name);
    if (!views.some(({ status }) => status === 'ACTIVE' || status === 'DEGRADED'))
      this.#world.broken(`${what} while the group is ${views[0]?.status}`);
  }

  /** One more node becomes unavailable: no more than allowed in total, unless it was unavailable before. */
  #checkBudget(pool: WindowsPool, name: string, wasOut: boolean): void {
    const group = servingGroupOf(pool);
    const nodes = this.#world.nodesOf(group);
    const excesses = this.#world.viewsOf(group).map(({ desired }) => excessOf(pool, nodes, desired, { name, wasOut }));
    // With stale reads, one of the views is what the operator has seen.
    const [excess] = excesses;
    if (excess !== undefined && excesses.every((each) => each !== undefined)) this.#world.broken(excess);
  }

  #entryOf(
    fits: (entry: LeavingNode) => boolean,
  ): { readonly pool: WindowsPool; readonly entry: LeavingNode } | undefined {
    for (const pool of this.#world.pools.values()) {
      const entry = pool.status?.disruption?.nodes?.find(fits);
      if (entry) return { pool, entry };
    }
    return undefined;
  }
}

/** Why no other node of the pool may become unavailable; undefined if one may. */
function excessOf(
  { spec }: WindowsPool,
  nodes: readonly NodeRecord[],
  desired: number,
  { name, wasOut }: { readonly name: string; readonly wasOut: boolean },
): string | undefined {
  const most = limitOf(spec.disruption?.maxUnavailable ?? 1, desired);
  const others = nodes.filter((node) => node.name !== name);
  const ours = others.filter(({ annotations }) => annotations[CORDONED_ANNOTATION] === CORDONED_BY_OPERATOR);
  const out = others.filter(({ ready, unschedulable }) => ready !== 'True' || unschedulable);
  const missing = Math.max(0, desired - nodes.length);
  const taken = wasOut ? ours.length : out.length + missing;
  if (taken < most) return undefined;
  return `${name} is made unavailable, and ${taken} are out (${missing} missing) of ${desired}: no more than ${most}`;
}

function limitOf(limit: number | string, desired: number): number {
  const text = String(limit);
  return Math.max(1, text.endsWith('%') ? Math.floor((Number.parseInt(text, 10) * desired) / 100) : Number(text));
}

/** The group whose nodes serve the pool: during a replacement, the old one until it is drained, if it has served. */
function servingGroupOf(pool: WindowsPool): string {
  const { phase, absenceStartTime, name } = pool.status?.nodeGroup?.replacement ?? {};
  const serves = phase === 'Creating' || phase === 'Verifying' || phase === 'Returning';
  return serves && absenceStartTime === undefined && name !== undefined ? name : nodeGroupNameOf(pool);
}

/** Whether the node is one of a group that is drained because another one replaces it, or of a canary that has ended. */
function isRetired({ status }: WindowsPool, { labels }: NodeRecord): boolean {
  const { replacement, canary } = status?.nodeGroup ?? {};
  const { phase, name } = replacement ?? canary ?? {};
  return (phase === 'Draining' || phase === 'Discarding') && name === labels[NODE_GROUP_LABEL];
}

function isAsked(pool: WindowsPool, entry: LeavingNode, node: NodeRecord): boolean {
  const { spec } = pool;
  const { annotations, verified } = node;
  if (entry.operation === 'DrainNodeGroup') return isRetired(pool, node);
  if (isRemediation(entry))
    return spec.remediation !== undefined && verified?.status === 'False' && !(REMEDIATION_ANNOTATION in annotations);
  if (entry.operation === 'Replace') return annotations[REPLACE_ANNOTATION] === 'true';
  return annotations[REMOVE_ANNOTATION] === 'true' && annotations[REPLACE_ANNOTATION] !== 'true';
}

function mustLeave(pod: DrainPod, { ready }: NodeRecord, since: number, now: number): boolean {
  const comesBack = pod.toleratesCordon && pod.createdAt >= since;
  const isStuck = ready !== 'True' && pod.deletingAt !== undefined && now - pod.deletingAt >= DEAD_NODE_WAIT_MS;
  return pod.controller !== 'DaemonSet' && !comesBack && !isStuck;
}
