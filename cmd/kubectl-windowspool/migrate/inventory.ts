/** The workloads of the old pool: those whose pods run on its nodes, and those that select it. Each pod counts for its top-level controller. */
import type { V1ObjectMeta, V1OwnerReference, V1Pod } from '@kubernetes/client-node';
import { drainPodOf } from '../../../controllers/kubernetes/drains.ts';
import { type Budget, readBudgets, stuckPodOf } from '../../../controllers/kubernetes/evictions.ts';
import { controllerOf, type Wire } from '../../../controllers/kubernetes/objects.ts';
import { apiPath } from '../../../controllers/kubernetes/paths.ts';
import { POD_ADDRESSES } from '../../../controllers/windowspool/nodes/windowsVersions.ts';
import type { DrainPod } from '../../../controllers/windowspool/ports/pods.ts';
import { parseQuantity } from '../../../controllers/windowspool/util/quantity.ts';
import { sentence } from '../../../controllers/windowspool/util/words.ts';
import { rawPodSpecOf } from '../../../controllers/workloads/lint.ts';
import type { Cluster } from '../cluster.ts';
import { listAllowed, PODS, type Resource, WORKLOADS } from '../workloadLists.ts';
import { type Placement, type PodSpec, placementOf, selectsOldPool } from './placement.ts';
import type { Move } from './side.ts';

/** What pods take from their nodes. */
export interface Usage {
  /** Bytes that containers request. */
  readonly memory: number;
  /** Pod addresses of the VPC. */
  readonly addresses: number;
}

/** A pod on a node of the old pool. */
export interface FoundPod {
  readonly node: string;
  readonly pod: DrainPod;
  /** The PodDisruptionBudgets that block its eviction now; empty: it tolerates the cordon, and its controller recreates it. */
  readonly blockedBy: readonly string[] | undefined;
  readonly usage: Usage;
  /** Whether its own spec fits only the old pool. */
  readonly selectsOldPool: boolean;
}

/** A workload of the old pool. */
export interface FoundWorkload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Of its template; without one that can be read, of one of its pods. */
  readonly placement: Placement;
  /** Whether the template is known, and fits only the old pool. */
  readonly selectsOldPool: boolean;
  /** Its path in the API, and how many of its pods are ready, for kinds that report that. */
  readonly ready?: { readonly path: string; readonly pods: number };
  readonly pods: readonly FoundPod[];
}

export interface Inventory {
  /** Sorted by namespace, name and kind. */
  readonly workloads: readonly FoundWorkload[];
  /** What the pods on the nodes of the new pool take. */
  readonly used: Usage;
}

/** An object that creates pods. */
interface Controller extends Omit<FoundWorkload, 'pods'> {
  readonly uid: string;
  readonly owner: Owner | undefined;
}

type Owner = Pick<V1OwnerReference, 'kind' | 'name' | 'uid'>;
type Manifest = {
  readonly metadata?: V1ObjectMeta;
  readonly status?: {
    readonly readyReplicas?: number;
    readonly completionTime?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
};

/** A pod on a node of the old pool, or one that waits for it. */
interface PodRecord extends Controller {
  readonly found: FoundPod | undefined;
}

/** Reads the workloads. `skipped` gets what the user may not read. */
export async function readInventory(cluster: Cluster, move: Move, skipped: string[]): Promise<Inventory> {
  const budgets = await readBudgets(cluster.client, cluster.signal);
  if (!budgets.ok) skipped.push(`The PodDisruptionBudgets are unknown: ${sentence(budgets.error.message)}`);
  const { pods, used } = await readPods(cluster, move, budgets.ok ? budgets.value : [], skipped);
  const ofPods = uidsOf(pods);
  const { ReplicaSet, Job, ...others } = WORKLOADS;
  const inner = await readControllers(cluster, { ReplicaSet, Job }, ofPods, move, skipped);
  const outer = await readControllers(cluster, others, new Set([...ofPods, ...uidsOf(inner)]), move, skipped);
  return { workloads: grouped(pods, [...inner, ...outer]), used };
}

function uidsOf(owned: readonly Pick<Controller, 'owner'>[]): ReadonlySet<string> {
  return new Set(owned.flatMap(({ owner }) => owner?.uid ?? []));
}

async function readPods(cluster: Cluster, move: Move, budgets: readonly Budget[], skipped: string[]) {
  const [old, target] = [move.from, move.to].map(({ nodes }) => new Set(nodes.map(({ name }) => name)));
  const used = { memory: 0, addresses: 0 };
  const placements = new Map<string, Placement>();
  const pods = await listAllowed<V1Pod, PodRecord>(cluster, PODS, undefined, skipped, (pod) => {
    const node = pod.spec?.nodeName ?? '';
    if (target?.has(node)) {
      const { memory, addresses } = usageOf(pod);
      used.memory += memory;
      used.addresses += addresses;
    }
    return old?.has(node) || node === '' ? podRecordOf(pod, node, { move, budgets, placements }) : undefined;
  });
  return { pods, used };
}

interface PodContext {
  readonly move: Move;
  readonly budgets: readonly Budget[];
  /** By the UID of the owner: one of its pods stands for all. */
  readonly placements: Map<string, Placement>;
}

/** What is kept of a pod on a node of the old pool, and of a pod that waits for one and has no controller. */
function podRecordOf(
  wire: Wire<V1Pod>,
  node: string,
  { move, budgets, placements }: PodContext,
): PodRecord | undefined {
  const pod = drainPodOf(wire);
  const spec = wire.spec;
  if (!spec || pod.mirror || pod.deletingAt !== undefined) return undefined;
  const owner = ownerOf(wire.metadata);
  // The node affinity of a pod of a DaemonSet is for its node alone.
  const isTied = owner?.kind === 'DaemonSet';
  const isOld = !isTied && selectsOldPool(spec, move);
  if (node === '' && (owner || !isOld)) return undefined;
  const usage = usageOf(wire);
  const key = owner?.uid ?? pod.uid;
  const placement =
    placements.get(key) ?? (isTied ? { changes: [], advice: [], images: [] } : placementOf(spec, 'Pod', move));
  placements.set(key, placement);
  return {
    uid: pod.uid,
    kind: 'Pod',
    namespace: pod.namespace,
    name: pod.name,
    owner,
    placement,
    selectsOldPool: isOld,
    found:
      node === ''
        ? undefined
        : { node, pod, blockedBy: stuckPodOf(wire, budgets)?.budgets, usage, selectsOldPool: isOld },
  };
}

function ownerOf(metadata: Wire<V1ObjectMeta> | undefined): Owner | undefined {
  const owner = controllerOf(metadata);
  return owner && { kind: owner.kind, name: owner.name, uid: owner.uid };
}

function usageOf({ spec }: Wire<V1Pod>): Usage {
  const memoryOf = (each: { readonly resources?: { readonly requests?: Readonly<Record<string, string>> } }) =>
    parseQuantity(each.resources?.requests?.memory) ?? 0;
  const running = (spec?.containers ?? []).reduce((sum, each) => sum + memoryOf(each), 0);
  const starting = (spec?.initContainers ?? []).map(memoryOf);
  const takesAddress = spec?.containers.some(({ resources }) => resources?.limits?.[POD_ADDRESSES] !== undefined);
  return {
    memory: Math.max(running, ...starting) + (parseQuantity(spec?.overhead?.memory) ?? 0),
    addresses: takesAddress ? 1 : 0,
  };
}

/** The controllers that `wanted` names, and those without a controller that fit only the old pool. */
async function readControllers(
  cluster: Cluster,
  kinds: Readonly<Record<string, Resource>>,
  wanted: ReadonlySet<string>,
  move: Move,
  skipped: string[],
): Promise<Controller[]> {
  const controllers: Controller[] = [];
  for (const [kind, resource] of Object.entries(kinds))
    controllers.push(
      ...(await listAllowed<Manifest, Controller>(cluster, resource, undefined, skipped, (object) => {
        const { uid = '', namespace = '', name = '' } = object.metadata ?? {};
        const owner = ownerOf(object.metadata);
        const spec = rawPodSpecOf({ ...object, kind }) as PodSpec | undefined;
        const isOld = spec !== undefined && selectsOldPool(spec, move);
        if (!spec || (!wanted.has(uid) && (owner || !isOld || isFinished(object)))) return undefined;
        const ready = object.status?.readyReplicas ?? 0;
        return {
          uid,
          kind,
          namespace,
          name,
          owner,
          placement: placementOf(spec, kind, move),
          selectsOldPool: isOld,
          ...(REPORTS_READY.includes(kind) && {
            ready: { path: apiPath(...resource, { namespace, name }), pods: ready },
          }),
        };
      })),
    );
  return controllers;
}

/** Kinds with status.readyReplicas. */
const REPORTS_READY: readonly string[] = ['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController'];

function isFinished({ status }: Wire<Manifest>): boolean {
  const isDone = status?.conditions?.some(
    ({ type, status: state }) => /^(Complete|Failed)$/.test(type) && state === 'True',
  );
  return isDone === true || status?.completionTime !== undefined;
}

/** The pods by their top-level controllers, and the controllers without pods on the nodes of the old pool. */
function grouped(pods: readonly PodRecord[], controllers: readonly Controller[]): FoundWorkload[] {
  const known = new Map(controllers.map((each) => [each.uid, each]));
  const workloads = new Map<string, FoundWorkload & { readonly pods: FoundPod[] }>();
  const add = ({ uid, owner: _, ...workload }: Controller) => {
    const group = workloads.get(uid) ?? { ...workload, pods: [] };
    workloads.set(uid, group);
    return group;
  };
  for (const { found, ...pod } of pods) {
    const group = add(topOf(pod, known));
    if (found) group.pods.push(found);
  }
  for (const controller of controllers) if (!controller.owner) add(controller);
  return [...workloads.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** CronJob, Job, pod; kinds of other controllers may have one more level. */
const MOST_LEVELS = 5;

/** The top-level controller of a pod. If it cannot be read, or is of another kind, the spec of the pod stands for its template. */
function topOf(pod: Controller, known: ReadonlyMap<string, Controller>): Controller {
  let top = pod;
  // References can form a circle: users can write them.
  for (let level = 0; top.owner && level < MOST_LEVELS; level++) {
    const { owner, namespace, placement } = top;
    const next = known.get(owner.uid);
    if (!next) return { ...owner, owner: undefined, namespace, placement, selectsOldPool: top.selectsOldPool };
    top = next;
  }
  return top;
}

function keyOf({ namespace, name, kind }: FoundWorkload): string {
  return `${namespace}/${name}/${kind}`;
}
