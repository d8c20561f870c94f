/** Invariants of nodes, checked at each operation against the real state, not against the observed state. */
import type { LeavingNode, WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import {
  CORDONED_ANNOTATION,
  CORDONED_BY_OPERATOR,
  EXCLUDE_FROM_DRAIN_ANNOTATION,
  NODE_GROUP_LABEL,
  REMEDIATION_ANNOTATION,
  REMOVE_ANNOTATION,
  REPLACE_ANNOTATION,
} from '../../controllers/windowspool/labels.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import type { DrainPod } from '../../controllers/windowspool/ports/pods.ts';
import type { Deps } from '../../controllers/windowspool/reconcile.ts';
import type { FakeWorld } from '../../controllers/windowspool/testing/fakeWorld.ts';
import type { MemoryCloud } from '../localaws/memory.ts';
import type { InstanceRecord } from '../localaws/state.ts';
import type { Workload } from './workload.ts';

/** From the end of a pod's grace period until the operator stops waiting for it on a node that is not Ready. */
const DEAD_NODE_WAIT_MS = 300_000;

/** The world whose nodes are checked, and the list of violations. */
interface CheckedWorld extends Pick<FakeWorld, 'now' | 'nodes' | 'pools'> {
  readonly cloud: MemoryCloud;
  readonly workload: Workload;
  readonly violations: string[];
  nodesOf(pool: string): readonly NodeRecord[];
}

export class NodeInvariants {
  readonly #world: CheckedWorld;
  readonly #poolsAtOnce: number;

  constructor(world: CheckedWorld, poolsAtOnce: number) {
    this.#world = world;
    this.#poolsAtOnce = poolsAtOnce;
  }

  /** The same, with checks of everything that removes nodes. */
  watch({ nodes, drains, budget, ...rest }: Deps): Deps {
    const { cordon } = nodes;
    return {
      ...rest,
      nodes: {
        ...nodes,
        cordon: (node, signal) => {
          this.#checkCordon(node);
          return cordon(node, signal);
        },
      },
      drains: {
        podsOn: (node, signal) => drains.podsOn(node, signal),
        evict: (pod, grace, signal) => {
          this.#checkEviction(pod);
          return drains.evict(pod, grace, signal);
        },
      },
      budget: {
        reserve: async (pool, status, signal) => {
          const answer = await budget.reserve(pool, status, signal);
          const holders = [...this.#world.pools.values()].filter((each) => each.status?.disruption !== undefined);
          if (answer.ok && holders.length > this.#poolsAtOnce)
            this.#violation(`${holders.length} pools lose nodes at the same time`);
          return answer;
        },
      },
    };
  }

  /** Call it before TerminateInstanceInAutoScalingGroup is carried out. */
  checkTermination(id: string, shrink: boolean): void {
    const instance = this.#world.cloud.state.instances.get(id);
    const found = this.#entryOf(({ instance: known }) => known === id);
    if (instance?.state === 'terminated' || instance?.terminating !== undefined)
      this.#violation(`instance ${id} is ended twice`);
    if (!instance || !found) {
      this.#violation(`instance ${id} is ended, and no pool says so`);
      return;
    }
    const { pool, entry } = found;
    const { name } = pool.metadata;
    if (instance.group !== name) this.#violation(`pool ${name} ends an instance of ${instance.group}`);
    this.#checkGroupIdle(name, `the end of ${id}`);
    if (shrink !== (entry.operation === 'Remove')) this.#violation(`${entry.operation} of ${id} with shrink=${shrink}`);
    this.#checkTerminatedNode(pool, entry, instance);
  }

  #checkTerminatedNode(pool: WindowsPool, entry: LeavingNode, instance: InstanceRecord): void {
    const node = this.#world.nodes.find(({ name }) => name === instance.nodeName);
    if (!node) {
      if (entry.operation !== 'Remediate') this.#violation(`instance ${instance.id} ends, which is no node`);
      this.#checkBudget(pool, instance.nodeName, true);
      return;
    }
    const { name, annotations, unschedulable } = node;
    if (!unschedulable || !(CORDONED_ANNOTATION in annotations)) this.#violation(`${name} ends and is not cordoned`);
    if (!isAsked(pool, entry, node)) this.#violation(`${name} ends, and nobody wants that: ${entry.operation}`);
    if (annotations[EXCLUDE_FROM_DRAIN_ANNOTATION] === 'true') return;
    const since = Date.parse(entry.since);
    const pods = this.#world.workload.on(name).filter((pod) => mustLeave(pod, node, since, this.#world.now));
    if (pods.length > 0) this.#violation(`${name} ends with ${pods.map((pod) => pod.name)}`);
  }

  #checkCordon(node: NodeRecord): void {
    const found = this.#entryOf(({ uid }) => uid === node.uid);
    const { name, labels } = node;
    if (!found) {
      this.#violation(`${name} is cordoned, and no pool says so`);
      return;
    }
    const { pool, entry } = found;
    if (labels[NODE_GROUP_LABEL] !== pool.metadata.name) this.#violation(`${pool.metadata.name} cordons ${name}`);
    if (!isAsked(pool, entry, node)) this.#violation(`${name} is cordoned, and nobody wants that`);
    this.#checkGroupIdle(pool.metadata.name, `the cordon of ${name}`);
    this.#checkBudget(pool, name, node.ready !== 'True' || node.unschedulable);
  }

  #checkEviction({ name, controller }: DrainPod): void {
    const placed = this.#world.nodes.find((each) =>
      this.#world.workload.on(each.name).some((pod) => pod.name === name),
    );
    if (!placed) return;
    if (!placed.unschedulable || !this.#entryOf(({ uid }) => uid === placed.uid))
      this.#violation(`${name} is evicted from ${placed.name}, which does not go`);
    if (controller === 'DaemonSet') this.#violation(`${name} of a DaemonSet is evicted`);
  }

  /** No removal of a node proceeds while EKS works on the group. */
  #checkGroupIdle(name: string, what: string): void {
    const status = this.#world.cloud.state.groups.get(name)?.nodegroup.status;
    if (status !== 'ACTIVE' && status !== 'DEGRADED') this.#violation(`${what} while the group is ${status}`);
  }

  /** One more node becomes unavailable: no more than allowed in total, unless it was unavailable before. */
  #checkBudget(pool: WindowsPool, name: string, wasOut: boolean): void {
    const nodes = this.#world.nodesOf(pool.metadata.name);
    const desired = this.#world.cloud.state.groups.get(pool.metadata.name)?.nodegroup.scalingConfig?.desiredSize ?? 0;
    const most = limitOf(pool.spec.disruption?.maxUnavailable ?? 1, desired);
    const others = nodes.filter((node) => node.name !== name);
    const ours = others.filter(({ annotations }) => annotations[CORDONED_ANNOTATION] === CORDONED_BY_OPERATOR);
    const out = others.filter(({ ready, unschedulable }) => ready !== 'True' || unschedulable);
    const missing = Math.max(0, desired - nodes.length);
    const taken = wasOut ? ours.length : out.length + missing;
    if (taken >= most)
      this.#violation(
        `${name} is made unavailable, and ${taken} are out (${missing} missing) of ${desired}: no more than ${most}`,
      );
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

  #violation(text: string): void {
    this.#world.violations.push(text);
  }
}

function limitOf(limit: number | string, desired: number): number {
  const text = String(limit);
  return Math.max(1, text.endsWith('%') ? Math.floor((Number.parseInt(text, 10) * desired) / 100) : Number(text));
}

function isAsked({ spec }: WindowsPool, { operation }: LeavingNode, { annotations, verified }: NodeRecord): boolean {
  if (operation === 'Replace') return annotations[REPLACE_ANNOTATION] === 'true';
  if (operation === 'Remove')
    return annotations[REMOVE_ANNOTATION] === 'true' && annotations[REPLACE_ANNOTATION] !== 'true';
  return spec.remediation !== undefined && verified?.status === 'False' && !(REMEDIATION_ANNOTATION in annotations);
}

function mustLeave(pod: DrainPod, { ready }: NodeRecord, since: number, now: number): boolean {
  const comesBack = pod.toleratesCordon && pod.createdAt >= since;
  const isStuck = ready !== 'True' && pod.deletingAt !== undefined && now - pod.deletingAt >= DEAD_NODE_WAIT_MS;
  return pod.controller !== 'DaemonSet' && !comesBack && !isStuck;
}
