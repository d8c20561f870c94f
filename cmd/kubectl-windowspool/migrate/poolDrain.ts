/**
 * Drains the nodes of a pool with the permissions of the user: cordons all of them, then evicts the pods of a few nodes at a time. The annotations
 * winpool.dev/replace and winpool.dev/remove do not fit: a replaced node comes back, a pool cannot shrink below scaling.minSize, and an existing node
 * keeps its turn until it is deleted. All state is in the cluster, so another run continues where one has stopped.
 *
 *   cordoned --a slot is free--> draining --no pods left--> settling --workloads are ready--> drained
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createDrains } from '../../../controllers/kubernetes/drains.ts';
import { isForbidden, isNotFound, toCallError } from '../../../controllers/kubernetes/errors.ts';
import { KubernetesError } from '../../../controllers/kubernetes/kubernetesError.ts';
import { nodePath } from '../../../controllers/kubernetes/nodes.ts';
import { type Drain, drainOf, graceFor, isEmpty, nameOf } from '../../../controllers/windowspool/disruption/drain.ts';
import { drainOptionsOf } from '../../../controllers/windowspool/disruption/drainAction.ts';
import { evictPods } from '../../../controllers/windowspool/disruption/evictPods.ts';
import { isDisrupted } from '../../../controllers/windowspool/disruption/reservation.ts';
import type { BlockedPod } from '../../../controllers/windowspool/model/disruption.ts';
import type { CallError, CallResult } from '../../../controllers/windowspool/ports/callResult.ts';
import type { NodeRecord } from '../../../controllers/windowspool/ports/nodes.ts';
import { count, duration, joined, sentence } from '../../../controllers/windowspool/util/words.ts';
import type { Cluster } from '../cluster.ts';
import { explain, Failure } from '../failure.ts';
import { obstructionNote } from '../nodeOperation.ts';
import { reportOf } from '../poolReport.ts';
import { type DrainPlan, movingWorkloads, nodesAtATime, podsByNode } from './drainPlan.ts';
import type { FoundWorkload } from './inventory.ts';
import { isDone, type NodeProgress, type Phase, type Progress } from './progress.ts';
import { workloadName } from './report.ts';

/** The path and the patch that cordon a node. Its UID is a precondition. */
export function cordonOf({ name, uid }: NodeRecord): [path: string, patch: object] {
  return [nodePath(name), { metadata: { uid }, spec: { unschedulable: true } }];
}

interface State {
  node: NodeRecord;
  phase: Phase;
  pods: number | undefined;
  waitsFor: string;
  /** When its drain started, or when it became empty, in epoch milliseconds. */
  since: number;
  /** The workloads whose pods it lost. */
  readonly workloads: Set<FoundWorkload>;
}

/** A failed call about a node. */
class CallFailure extends Error {
  readonly error: CallError;

  constructor(error: CallError) {
    super(error.message);
    this.error = error;
  }
}

/** Kinds of errors that pass. */
const PASSING: readonly CallError['kind'][] = ['throttled', 'unavailable', 'conflict', 'gone', 'busy'];

/** One drain of a pool. */
export class PoolDrain {
  readonly #cluster: Cluster;
  readonly #plan: DrainPlan;
  readonly #workloads: ReadonlyMap<string, FoundWorkload>;
  readonly #podsBefore: ReadonlyMap<string, number>;
  readonly #states = new Map<string, State>();
  readonly #intervalMs: number;
  #trouble = '';
  /** Since when no pass has succeeded, or no node could start, in epoch milliseconds. */
  #troubleSince: number | undefined;

  /** @param intervalMs between two passes */
  constructor(cluster: Cluster, plan: DrainPlan, intervalMs: number) {
    this.#cluster = cluster;
    this.#plan = plan;
    this.#intervalMs = intervalMs;
    this.#workloads = movingWorkloads(plan);
    this.#podsBefore = podsByNode(plan);
  }

  /** Runs until all nodes are drained. Throws a Failure if one takes longer than the drain timeout, or the signal's reason. */
  async run(onProgress: (progress: Progress) => void): Promise<void> {
    const { signal } = this.#cluster;
    for (;;) {
      await this.#pass().catch((error: unknown) => {
        signal.throwIfAborted();
        this.#report(troubleOf(error), true);
      });
      onProgress(this.progress());
      const states = [...this.#states.values()];
      if (this.#trouble === '' && states.every(isDone)) return;
      await sleep(this.#intervalMs, undefined, { signal });
    }
  }

  progress(): Progress {
    const { from, to } = this.#plan.move;
    const nodes = [...this.#states.values()].map(
      ({ node, phase, pods, waitsFor }): NodeProgress => ({ node: node.name, phase, pods, waitsFor }),
    );
    return { from: from.name, to: to.name, nodes, trouble: this.#trouble };
  }

  /** Reads everything again, and takes the next action for each node. */
  async #pass(): Promise<void> {
    const { from } = this.#plan.move;
    const nodes = await this.#cluster.nodes(from.name);
    for (const node of nodes) if (!node.unschedulable) await this.#cordon(node);
    this.#observe(nodes);
    const hold = await this.#hold();
    for (const state of this.#states.values()) if (isActive(state)) await this.#advance(state);
    if (hold === '') await this.#begin();
    const isWaiting = [...this.#states.values()].some(({ phase }) => phase === 'cordoned');
    this.#report(isWaiting ? hold : '', ![...this.#states.values()].some(isActive));
  }

  /** Cordons exactly this node. If it was deleted meanwhile, the next pass does not list it. */
  async #cordon(node: NodeRecord): Promise<void> {
    try {
      await this.#cluster.patch(...cordonOf(node), false);
    } catch (error) {
      if (!(error instanceof KubernetesError) || !['gone', 'conflict'].includes(toCallError(error, '').kind))
        throw error;
    }
  }

  #observe(nodes: readonly NodeRecord[]): void {
    const uids = new Set(nodes.map(({ uid }) => uid));
    for (const [uid, state] of this.#states)
      if (!uids.has(uid)) Object.assign(state, { phase: 'gone', pods: 0, waitsFor: '' });
    for (const node of nodes) {
      const known = this.#states.get(node.uid);
      if (known) known.node = node;
      else
        this.#states.set(node.uid, {
          node,
          phase: 'cordoned',
          pods: this.#podsBefore.get(node.name),
          waitsFor: '',
          since: 0,
          workloads: new Set(),
        });
    }
  }

  /** Why no other node may start now; empty: it may. */
  async #hold(): Promise<string> {
    const { from, to } = this.#plan.move;
    const [old, target] = [await this.#cluster.pool(from.name), await this.#cluster.pool(to.name)];
    if (isDisrupted(old)) return `No other node is drained while the operator is replacing nodes of pool ${from.name}.`;
    const { verdict, message } = reportOf(target);
    return verdict === 'Ready'
      ? ''
      : `No other node is drained while pool ${to.name} is not Ready: ${sentence(message)}`;
  }

  /** Starts nodes while fewer than disruption.maxUnavailable are being drained. Nodes without pods take no slot. */
  async #begin(): Promise<void> {
    const limit = nodesAtATime(this.#plan.move);
    for (const state of this.#states.values()) {
      if ([...this.#states.values()].filter(isActive).length >= limit) return;
      if (state.phase !== 'cordoned') continue;
      Object.assign(state, { phase: 'draining', since: this.#cluster.client.now() });
      await this.#advance(state);
    }
  }

  async #advance(state: State): Promise<void> {
    if (state.phase === 'draining') await this.#drain(state);
    else await this.#settle(state);
  }

  async #drain(state: State): Promise<void> {
    const { client, signal } = this.#cluster;
    const { node, since } = state;
    const options = drainOptionsOf(this.#plan.move.from.pool);
    const drains = createDrains(client);
    const pods = unwrap(await drains.podsOn(node.name, signal));
    const drain = drainOf(pods, { ready: node.ready, since }, options, client.now());
    if (drain.obstructions.length > 0) throw new Failure(`Node ${node.name}: ${obstructionNote(drain.obstructions)}`);
    state.pods = drain.evict.length + drain.terminating.length;
    if (isEmpty(drain)) {
      const phase = state.workloads.size > 0 ? 'settling' : 'drained';
      Object.assign(state, { phase, waitsFor: '', since: client.now() });
      return;
    }
    this.#checkTimeout(state, `still has ${count(state.pods, 'pod')}`);
    for (const { uid } of drain.evict) {
      const workload = this.#workloads.get(uid);
      if (workload?.ready) state.workloads.add(workload);
    }
    const evictions = drain.evict.map((pod) => ({ pod, gracePeriodSeconds: graceFor(pod, options) }));
    const { blocked } = unwrap(await evictPods({ kind: 'evictPods', node, evictions }, drains, signal));
    state.waitsFor = waitsFor(drain, blocked);
  }

  /** Runs in a pass after the last pod has left, when the controllers have observed that. */
  async #settle(state: State): Promise<void> {
    for (const workload of state.workloads) if (await this.#isReady(workload)) state.workloads.delete(workload);
    if (state.workloads.size === 0) {
      Object.assign(state, { phase: 'drained', waitsFor: '' });
      return;
    }
    const names = [...state.workloads].map(workloadName);
    state.waitsFor = `ready pods of ${joined(names)}`;
    this.#checkTimeout(state, 'is empty');
  }

  /** Whether the workload has as many ready pods as before the drain, or as it should have now. */
  async #isReady({ ready }: FoundWorkload): Promise<boolean> {
    if (!ready) return true;
    try {
      const { spec, status } = await this.#cluster.get<Scaled>(ready.path);
      return (status?.readyReplicas ?? 0) >= Math.min(ready.pods, spec?.replicas ?? 1);
    } catch (error) {
      if (isNotFound(error) || isForbidden(error)) return true;
      throw error;
    }
  }

  #timeoutMs(): number {
    return drainOptionsOf(this.#plan.move.from.pool).timeoutMs;
  }

  #checkTimeout({ node, since, waitsFor }: State, what: string): void {
    if (this.#cluster.client.now() - since < this.#timeoutMs()) return;
    const wait = waitsFor ? `, and waits for ${waitsFor}` : '';
    throw new Failure(
      `Node ${node.name} ${what} after ${duration(this.#timeoutMs())} (disruption.drain.timeout)${wait}.`,
    );
  }

  /** Records why there is less progress. Throws if there is none at all for longer than the drain timeout. */
  #report(trouble: string, isStopped: boolean): void {
    const now = this.#cluster.client.now();
    this.#trouble = trouble;
    if (trouble === '') this.#troubleSince = undefined;
    else this.#troubleSince ??= now;
    if (trouble !== '' && isStopped && now - (this.#troubleSince ?? now) >= this.#timeoutMs())
      throw new Failure(`${trouble} This has lasted for ${duration(this.#timeoutMs())} (disruption.drain.timeout).`);
  }
}

interface Scaled {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly readyReplicas?: number };
}

function isActive({ phase }: State): boolean {
  return phase === 'draining' || phase === 'settling';
}

function unwrap<T>(result: CallResult<T>): T {
  if (result.ok) return result.value;
  throw new CallFailure(result.error);
}

/** The message of an error that passes. Throws any other as a Failure. */
function troubleOf(error: unknown): string {
  const { error: call } =
    error instanceof KubernetesError ? { error: toCallError(error, '') } : error instanceof CallFailure ? error : {};
  if (call && PASSING.includes(call.kind)) return `${sentence(call.message)} Retrying.`;
  if (error instanceof CallFailure && error.error.kind === 'denied')
    throw new Failure(`Permission denied: ${sentence(error.message)} Ask a cluster administrator for this permission.`);
  throw error instanceof Failure ? error : new Failure(explain(error));
}

/** What the pods of a node wait for; empty: they are being evicted. */
function waitsFor({ terminating }: Drain, blocked: readonly BlockedPod[]): string {
  const causes = Map.groupBy(blocked, (pod) => {
    if (pod.admission) return pod.admission;
    return pod.budget ? `PodDisruptionBudget ${pod.budget}` : 'several PodDisruptionBudgets';
  });
  const texts = [...causes].map(([cause, pods]) => `${cause} (${joined(pods.map(nameOf), 3)})`);
  if (texts.length > 0) return joined(texts);
  return terminating.length > 0 ? `the end of ${joined(terminating.map(nameOf), 3)}` : '';
}
