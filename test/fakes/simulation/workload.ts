/** The pods of the simulated cluster: one of a ReplicaSet and one of a DaemonSet on each node, and those that actions add. */
import type { CallResult } from '../../../controllers/windowspool/ports/callResult.ts';
import type { NodeRecord } from '../../../controllers/windowspool/ports/nodes.ts';
import type { DrainPod, Drains, Eviction } from '../../../controllers/windowspool/ports/pods.ts';
import type { FakeWorld } from '../../../controllers/windowspool/testing/fakeWorld.ts';

/** A pod and its node. */
export type PlacedPod = DrainPod & { readonly node: string };

/** How a pod differs from the standard pod. */
export type PodKind = Partial<Pick<DrainPod, 'controller' | 'toleratesCordon' | 'emptyDir'>>;

/** The default of a pod's terminationGracePeriodSeconds: k8s.io/kubernetes/pkg/apis/core/v1/defaults.go. */
const GRACE_SECONDS = 30;

export class Workload implements Drains {
  /** Whether the PodDisruptionBudget, which matches every pod of a ReplicaSet, allows no disruption. */
  isKept = false;
  #pods: readonly PlacedPod[] = [];
  #made = 0;
  readonly #world: Pick<FakeWorld, 'now' | 'nodes'>;
  readonly #check: (pod: DrainPod) => void;
  readonly #graceSeconds: number;

  /**
   * @param check called before a pod is evicted
   * @param graceSeconds how long a pod takes to terminate
   */
  constructor(
    world: Pick<FakeWorld, 'now' | 'nodes'>,
    check: (pod: DrainPod) => void,
    graceSeconds: number = GRACE_SECONDS,
  ) {
    this.#world = world;
    this.#check = check;
    this.#graceSeconds = graceSeconds;
  }

  /** The pods on a node. */
  on(node: string): readonly PlacedPod[] {
    return this.#pods.filter((pod) => pod.node === node);
  }

  /** A new pod on a node. */
  place(node: string, kind: PodKind): void {
    this.#made += 1;
    const name = `pod-${this.#made}`;
    const gracePeriodSeconds = this.#graceSeconds;
    const uid = `uid-${name}`;
    const pod = { ...standard, ...kind, name, uid, createdAt: this.#world.now, gracePeriodSeconds, node };
    this.#pods = [...this.#pods, pod];
  }

  /** A node has joined. */
  join(node: string): void {
    this.place(node, { controller: 'ReplicaSet' });
    this.place(node, { controller: 'DaemonSet', toleratesCordon: true });
  }

  /** A node is gone, and its pods with it. */
  leave(node: string): void {
    this.#end((pod) => pod.node === node);
  }

  /** Deletes pods whose grace period is over, if their kubelet is running and can confirm it. */
  pass(): void {
    const readyNodes = new Set(this.#world.nodes.filter(({ ready }) => ready === 'True').map(({ name }) => name));
    this.#end(
      ({ deletingAt, node }) => deletingAt !== undefined && deletingAt <= this.#world.now && readyNodes.has(node),
    );
  }

  async podsOn(node: string): Promise<CallResult<readonly DrainPod[]>> {
    return { ok: true, value: this.on(node) };
  }

  async evict(pod: DrainPod, gracePeriodSeconds: number): Promise<CallResult<Eviction>> {
    const { uid, controller } = pod;
    const answer = (value: Eviction): CallResult<Eviction> => ({ ok: true, value });
    if (!this.#pods.some((pod) => pod.uid === uid)) return answer({ kind: 'gone' });
    if (this.isKept && controller === 'ReplicaSet')
      return answer({ kind: 'blocked', budget: 'shop', message: 'it allows no disruption' });
    this.#check(pod);
    const deletingAt = this.#world.now + gracePeriodSeconds * 1_000;
    this.#pods = this.#pods.map((each) => (each.uid === uid ? { ...each, deletingAt } : each));
    return answer({ kind: 'accepted' });
  }

  /** Controllers recreate deleted pods on a schedulable node, or on the same node if they tolerate its cordon. */
  #end(hasEnded: (pod: PlacedPod) => boolean): void {
    const ended = this.#pods.filter(hasEnded);
    if (ended.length === 0) return;
    this.#pods = this.#pods.filter((pod) => !hasEnded(pod));
    for (const { node, controller, toleratesCordon, emptyDir } of ended) {
      if (controller === undefined) continue;
      const target = this.#world.nodes.find(
        (each) => (toleratesCordon && each.name === node) || (controller !== 'DaemonSet' && isOpen(each)),
      );
      if (target) this.place(target.name, { controller, toleratesCordon, emptyDir });
    }
  }
}

const standard: DrainPod = {
  namespace: 'shop',
  name: '',
  uid: '',
  createdAt: 0,
  deletingAt: undefined,
  gracePeriodSeconds: GRACE_SECONDS,
  controller: undefined,
  mirror: false,
  phase: 'Running',
  emptyDir: false,
  toleratesCordon: false,
};

function isOpen({ ready, unschedulable }: NodeRecord): boolean {
  return ready === 'True' && !unschedulable;
}
