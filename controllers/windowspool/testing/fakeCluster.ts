/** The API server of the fake world, with resourceVersions and a cache. */

import { copyOf } from '../../../test/fakes/localaws/copy.ts';
import type { WindowsPool, WindowsPoolStatus } from '../api/api.gen.ts';
import {
  CORDONED_ANNOTATION,
  CORDONED_BEFORE,
  CORDONED_BY_OPERATOR,
  FINALIZER,
  NODE_GROUP_LABEL,
  POOL_KEY,
} from '../api/labels.ts';
import { NodeMembership } from '../membership/nodeMembership.ts';
import type { TaintChange } from '../model/poolNodesView.ts';
import { PoolNodesCache } from '../nodes/poolNodesCache.ts';
import type { CallResult } from '../ports/callResult.ts';
import type { DesiredNodePod, NodePod } from '../ports/nodePods.ts';
import type { InstanceList, NodeMarks, NodeRecord, Taint } from '../ports/nodes.ts';
import type { DrainPod, Eviction, StuckPod } from '../ports/pods.ts';
import type { Pools } from '../ports/pools.ts';
import type { ControllerWarning, LinuxNodeView, RoleMapping } from '../ports/prerequisites.ts';
import type { DesiredRuntimeClass, RuntimeClass } from '../ports/runtimeClasses.ts';
import type { Deps } from '../reconcile.ts';
import { timeOf } from '../util/durations.ts';
import { done, FakeCalls, flat } from './fakeCalls.ts';
import { FakeKarpenter } from './fakeKarpenter.ts';
import { FakeMachines } from './fakeMachines.ts';
import { sampleError, sampleNodePod } from './fixtures.ts';
import { withReport } from './nodeReports.ts';
import { sampleConfigMapOwner } from './prerequisites.ts';

export interface PublishedEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

export class FakeCluster extends FakeCalls {
  pools = new Map<string, WindowsPool>();
  /** The list of hosts that pools of existing nodes name. */
  instanceList: InstanceList = { kind: 'absent' };
  /** The object that pools of machines name. */
  readonly machines = new FakeMachines();
  /** The NodePool of pools of Karpenter. */
  readonly karpenter = new FakeKarpenter();
  runtimeClasses = new Map<string, RuntimeClass>();
  nodes: NodeRecord[] = [];
  readonly events: PublishedEvent[] = [];
  /** The events of nodes: `a: Normal NodeCordoned`. */
  readonly nodeEvents: string[] = [];
  /** The pods that cannot be evicted, on any node. */
  stuckPods: readonly StuckPod[] = [];
  /** The pods on nodes; an eviction removes one at once, unless a PodDisruptionBudget blocks it. */
  pods: (DrainPod & { readonly node: string; readonly keptBy?: string })[] = [];
  readonly evicted: string[] = [];
  /** The operator's pods on nodes. No kubelet runs them: a test says what happens. */
  nodePods: readonly NodePod[] = [];
  /** The ConfigMaps amazon-vpc-cni and aws-auth. */
  kubeSystem = {
    cniConfig: { 'enable-windows-ipam': 'true' } as Readonly<Record<string, string>> | undefined,
    /** What manages amazon-vpc-cni. */
    cniManagedBy: undefined as string | undefined,
    roleMappings: [] as readonly RoleMapping[],
    dnsNodes: ['linux-1', 'linux-2'] as readonly string[],
    linuxNode: { acceptsPods: true } as LinuxNodeView,
    /** The groups of nodes with the label kubernetes.io/os=linux. */
    linuxGroups: [] as readonly string[],
    unmanagedNodes: [] as readonly string[],
  };
  /** The warnings of the VPC resource controller, by node. */
  readonly controllerWarnings = new Map<string, readonly ControllerWarning[]>();
  /** The ConfigMaps in the namespace of the operator, by name. */
  readonly scripts = new Map<string, Readonly<Record<string, string>>>();
  /** Whether the watch of nodes currently delivers no events. */
  isWatchBehind = false;
  protected poolNodesCache = this.emptyPoolNodesCache();
  protected readonly declared = new Set<string>();
  protected nodeMembership = this.emptyNodeMembership();
  /** The nodes that were last delivered to the caches, by name. */
  protected delivered = new Map<string, NodeRecord>();

  /** The domain's ports to the cluster, except pools. */
  protected clusterPorts() {
    return {
      evictions: { stuckOn: (nodes) => this.call('list pods', () => (nodes.length > 0 ? this.stuckPods : [])) },
      drains: {
        podsOn: (node) => this.call('list pods', () => this.pods.filter((pod) => pod.node === node)),
        evict: (pod, gracePeriodSeconds) =>
          this.call('evict', () => this.evict(`${pod.namespace}/${pod.name}`, gracePeriodSeconds)),
      },
      instanceLists: { read: () => this.call('get ConfigMap', () => this.instanceList) },
      poolNodesCache: {
        of: (pool, groups, expected) => {
          this.deliverNodeEvents();
          return this.poolNodesCache.of(pool, groups, expected);
        },
        forget: (pool) => this.poolNodesCache.forget(pool),
      },
      nodeMembership: {
        of: (pool, expected) => {
          this.deliverNodeEvents();
          for (const name of new Set([...this.declared, ...this.pools.keys()])) {
            this.nodeMembership.declare(name, this.pools.get(name), {
              list: this.instanceList,
              machines: (this.pools.get(name)?.spec.karpenter ? this.karpenter : this.machines).nodes,
            });
            this.declared.add(name);
          }
          return this.nodeMembership.of(pool, expected);
        },
        confirms: (pool, selected, node) => this.nodeMembership.confirms(pool, selected, node),
      },
      nodePools: {
        of: () => this.karpenter.view,
        readClaim: (name) =>
          this.call('get nodeclaims', () => this.karpenter.claims.find((claim) => claim.name === name)),
        apply: async (manifest, isNew) =>
          flat(
            await this.call('patch nodepools', () => {
              const seen = this.karpenter.objectOf(manifest.kind);
              const isCurrent = isNew ? !seen : seen?.resourceVersion === manifest.metadata.resourceVersion;
              if (isCurrent) this.karpenter.apply(manifest, this.now);
              return isCurrent ? done : { ok: false, error: sampleError('conflict') };
            }),
          ),
        delete: (kind) => this.call('delete nodepools', () => this.karpenter.delete(kind)),
        repairsNodes: () => this.call('list deployments.apps', () => this.karpenter.repairsNodes),
        pendingPods: () => this.call('list pods', () => this.karpenter.pendingPods),
        deleteClaim: (claim) => this.call('delete nodeclaims', () => this.karpenter.deleteClaim(claim)),
      },
      ownMachineSets: {
        apply: async (_ref, manifests, isNew) =>
          flat(
            await this.call('patch machinedeployments', () => {
              const isCurrent = this.machines.set === undefined ? isNew : !isNew;
              if (isCurrent) this.machines.apply(manifests);
              return isCurrent ? done : { ok: false, error: sampleError('conflict') };
            }),
          ),
        delete: () => this.call('delete machinedeployments', () => this.machines.deleteSet()),
        pruneTemplates: () => this.call('delete simmachinetemplates', () => this.machines.pruneTemplates()),
      },
      machineSets: {
        of: () => this.machines.view,
        read: () =>
          this.call('get machines', () => {
            const { set, machines } = this.machines;
            return set && { set, machines, sets: this.machines.sets };
          }),
        scale: async (_ref, seen, replicas) =>
          flat(
            await this.call('patch machinesets/scale', () => {
              const isCurrent = this.machines.set?.resourceVersion === seen.resourceVersion;
              if (isCurrent) this.machines.scale(replicas);
              return isCurrent ? done : { ok: false, error: sampleError('conflict') };
            }),
          ),
        markForDeletion: (_ref, machine, size) => this.call('patch machines', () => this.machines.mark(machine, size)),
        unmark: (_ref, machine) => this.call('patch machines', () => this.machines.unmark(machine)),
        report: (_ref, machine, { status }) =>
          this.call('patch machines/status', () => this.machines.report(machine, status)),
        delete: async (_ref, machine) => {
          const marked = await this.call('patch machines', () => this.machines.excludeDrain(machine));
          return marked.ok ? this.call('delete machines', () => this.machines.delete(machine)) : marked;
        },
      },
      nodes: {
        cordon: (seen) =>
          this.call('cordon node', () =>
            this.changeNode(seen, (now) => ({
              ...now,
              unschedulable: true,
              annotations: {
                ...now.annotations,
                [CORDONED_ANNOTATION]: now.unschedulable ? CORDONED_BEFORE : CORDONED_BY_OPERATOR,
              },
            })),
          ).then(flat),
        restore: (seen, result) =>
          this.call('restore node', () =>
            this.changeNode(seen, (now) => {
              const { [CORDONED_ANNOTATION]: by, ...annotations } = now.annotations;
              const unschedulable = now.unschedulable && by !== CORDONED_BY_OPERATOR;
              return {
                ...now,
                unschedulable,
                annotations: { ...annotations, ...(result && { [result.key]: result.value }) },
              };
            }),
          ).then(flat),
        read: (name) => this.call('read node', () => this.nodes.find((node) => node.name === name)),
        ofGroup: (group) =>
          this.call('list nodes of group', () => this.nodes.filter(({ labels }) => labels[NODE_GROUP_LABEL] === group)),
        ofPool: (pool) =>
          this.call('list nodes of pool', () => this.nodes.filter(({ labels }) => labels[POOL_KEY] === pool)),
        outside: (pool) =>
          this.call('list nodes outside', () =>
            this.nodes.filter((node) => !isWatched(node) && node.labels[POOL_KEY] === pool),
          ),
        setLabel: (node, key, value) =>
          this.call('label node', () => {
            const labelled = { ...node, labels: { ...node.labels, [key]: value } };
            this.setNode(labelled);
          }),
        setConditions: (node, report) =>
          this.call('write node condition', () => {
            const now = this.nodes.find(({ uid }) => uid === node.uid);
            if (!now) return;
            const reported = withReport(now, report);
            const isSame = now.verified?.status === reported.verified?.status;
            this.setNode({ ...now, ...reported, ...(!isSame && { verifiedSince: this.now }) });
          }),
        setMarks: (node, marks) => this.call('mark node', () => this.mark(node, marks)).then(flat),
        setTaints: (node, change) => this.call('taint node', () => this.taint(node, change)).then(flat),
      },
      nodePods: {
        of: (pool) => ({ kind: 'seen', pods: this.nodePods.filter((pod) => pod.pool === pool) }),
        create: (desired) => this.call('create pod', () => this.createNodePod(desired)).then(flat),
        delete: ({ uid }) =>
          this.call('delete pod', () => this.setNodePods(this.nodePods.filter((pod) => pod.uid !== uid))),
      },
      runtimeClasses: {
        get: (name) => this.runtimeClasses.get(name),
        create: (desired, pool) => this.call('create RuntimeClass', () => this.createClass(desired, pool)).then(flat),
        apply: (desired, { name }) => this.call('apply RuntimeClass', () => this.changeClass(name, () => desired)),
        addOwner: ({ name }, { metadata: { name: pool, uid } }) =>
          this.call('add owner of RuntimeClass', () =>
            this.changeClass(name, ({ owners }) => ({
              owners: [...owners.filter((owner) => owner.uid !== uid), { name: pool, uid }],
            })),
          ),
        removeOwner: ({ name }, { metadata: { uid } }) =>
          this.call('remove owner of RuntimeClass', () =>
            this.changeClass(name, ({ owners }) => ({ owners: owners.filter((owner) => owner.uid !== uid) })),
          ),
        delete: (seen) => this.call('delete RuntimeClass', () => void this.runtimeClasses.delete(seen.name)),
      },
      system: {
        cniConfig: () => this.call('get ConfigMap amazon-vpc-cni', () => this.kubeSystem.cniConfig),
        cniConfigOwner: () =>
          this.call(
            'get owner of ConfigMap amazon-vpc-cni',
            () => this.kubeSystem.cniConfig && sampleConfigMapOwner({ managedBy: this.kubeSystem.cniManagedBy }),
          ),
        setCniConfig: (key, value) =>
          this.call('patch ConfigMap amazon-vpc-cni', () => {
            this.kubeSystem.cniConfig = { ...this.kubeSystem.cniConfig, [key]: value };
          }),
        roleMappings: () => this.call('get ConfigMap aws-auth', () => this.kubeSystem.roleMappings),
        legacyController: () => this.call('get Deployment vpc-resource-controller', () => false),
        controllerWarnings: ({ name }) => this.call('list events', () => this.controllerWarnings.get(name) ?? []),
        podWebhook: () => this.call('get MutatingWebhookConfiguration', () => true),
        linuxNode: () => this.call('list Linux nodes', () => this.kubeSystem.linuxNode),
        dnsNodes: () => this.call('list CoreDNS pods', () => this.kubeSystem.dnsNodes),
        unmanagedNodes: () => this.call('list unmanaged nodes', () => this.kubeSystem.unmanagedNodes),
        linuxGroups: () => this.call('list Linux groups', () => this.kubeSystem.linuxGroups),
      },
      userScripts: {
        read: ({ configMap, key }) =>
          this.call('get ConfigMap of user data', () => {
            const data = this.scripts.get(configMap);
            const keys = data && Object.keys(data).sort();
            return { namespace: 'winpool-system', keys, text: data?.[key], isBinary: false };
          }),
      },
      events: {
        publish: (_pool, { type, reason, message }) => void this.events.push({ type, reason, message }),
        publishOnNode: (_pool, { name }, { type, reason }) => void this.nodeEvents.push(`${name}: ${type} ${reason}`),
      },
    } satisfies Partial<Deps>;
  }

  /** Whether it is the node group of a pool. */
  protected isGroup(_name: string): boolean {
    return false;
  }

  /** Clears the memory, as in a new process. */
  protected forgetNodes(): void {
    this.poolNodesCache = this.emptyPoolNodesCache();
    this.nodeMembership = this.emptyNodeMembership();
    this.deliverNodeEvents();
  }

  protected poolsPort(): Pools {
    return {
      get: (name) => this.pools.get(name),
      read: (name) => this.call('read pool', () => this.pools.get(name)),
      list: () => this.call('list pools', () => [...this.pools.values()]),
      addFinalizer: (pool) =>
        this.call('add finalizer', () =>
          this.change(pool, (now) => ({ ...now, metadata: { ...now.metadata, finalizers: [FINALIZER] } })),
        ).then(flat),
      removeFinalizer: (pool) => this.call('remove finalizer', () => this.release(pool)).then(flat),
      writeStatus: (pool, status) =>
        this.call('write status', () =>
          this.change(pool, (now) => ({ ...now, status: copyOf(status) as WindowsPoolStatus })),
        ).then(flat),
    };
  }

  protected taint(seen: NodeRecord, { set, remove }: TaintChange): CallResult<void> {
    const now = this.nodes.find(({ uid }) => uid === seen.uid);
    if (!now) return { ok: false, error: sampleError('gone') };
    if (now.resourceVersion !== seen.resourceVersion) return { ok: false, error: sampleError('conflict') };
    const changed = [...set, ...remove];
    const kept = now.taints.filter((taint) => !changed.some((other) => sameTaint(taint, other)));
    this.setNode({ ...now, taints: [...kept, ...set] });
    return done;
  }

  protected mark(seen: NodeRecord, { labels, taints, ownership = '' }: NodeMarks): CallResult<void> {
    const answer = this.taint(seen, taints);
    const now = this.nodes.find(({ uid }) => uid === seen.uid);
    if (!answer.ok || !now) return answer;
    const kept = Object.entries({ ...now.labels, ...labels }).filter(([, value]) => value !== null);
    this.setNode({ ...now, labels: Object.fromEntries(kept) as Record<string, string>, ownership });
    return done;
  }

  /** Replaces the node with the same name, as a new version. */
  setNode(node: NodeRecord): void {
    const changed = { ...node, resourceVersion: this.next() };
    this.nodes = this.nodes.map((each) => (each.name === node.name ? changed : each));
    // An own write is visible at once, as in the store.
    this.deliverNodeEvents();
  }

  protected createNodePod({ name, node, containers, tolerations, ...rest }: DesiredNodePod): CallResult<void> {
    if (this.nodePods.some((pod) => pod.name === name)) return { ok: false, error: sampleError('conflict') };
    const created = sampleNodePod({
      name,
      uid: `uid-${this.next()}`,
      purpose: rest.purpose,
      pool: rest.pool,
      node: node.name,
      nodeUid: node.uid,
      retry: rest.retry,
      createdAt: this.now,
      image: containers[0]?.image ?? '',
      tolerates: tolerations.map(({ key = '' }) => key),
    });
    this.setNodePods([...this.nodePods, created]);
    return done;
  }

  /** Replaces the operator's pods on nodes. */
  setNodePods(pods: readonly NodePod[]): void {
    const changed = [...this.nodePods, ...pods].filter((pod) => !this.nodePods.includes(pod) || !pods.includes(pod));
    this.nodePods = pods;
    for (const { pool, node } of changed) {
      this.poolNodesCache.podsChanged(pool, node);
      this.nodeMembership.podsChanged(pool, node);
    }
  }

  private podsOn(pool: string, { uid }: NodeRecord): readonly NodePod[] {
    return this.nodePods.filter((pod) => pod.pool === pool && pod.nodeUid === uid);
  }

  protected emptyNodeMembership(): NodeMembership {
    this.declared.clear();
    return new NodeMembership({
      nodes: () => this.nodes.filter(isWatched),
      poolOfGroup: (group) => (this.isGroup(group) ? group : undefined),
      instances: this.poolNodesCache,
      wake: () => undefined,
      now: () => this.now,
      podsOn: (pool, node) => this.podsOn(pool, node),
    });
  }

  protected emptyPoolNodesCache(): PoolNodesCache {
    const inGroup = (group: string) =>
      this.nodes.filter((node) => isWatched(node) && node.labels[NODE_GROUP_LABEL] === group);
    return new PoolNodesCache(
      inGroup,
      () => this.now,
      (pool, node) => this.podsOn(pool, node),
    );
  }

  /** Delivers the changes since the last time, like the cache. */
  protected deliverNodeEvents(): void {
    if (this.isWatchBehind) return;
    const now = new Map(this.nodes.filter(isWatched).map((node) => [node.name, node]));
    for (const name of new Set([...this.delivered.keys(), ...now.keys()])) {
      const [before, after] = [this.delivered.get(name), now.get(name)];
      if (before === after) continue;
      this.poolNodesCache.follow(before, after);
      this.nodeMembership.follow(before, after);
    }
    this.delivered = now;
  }

  /** Like kubectl apply: a new generation. */
  apply(pool: WindowsPool): void {
    const before = this.pools.get(pool.metadata.name);
    const generation = (before?.metadata.generation ?? 0) + 1;
    const { annotations } = pool.metadata;
    const known = { ...pool.metadata, ...before?.metadata, ...(annotations && { annotations }) };
    const metadata = { ...known, generation, resourceVersion: this.next() };
    this.pools.set(pool.metadata.name, { ...pool, metadata, ...(before?.status && { status: before.status }) });
  }

  /** Stores the pool as it is, with its status, as a backup does that is restored. */
  restore(pool: WindowsPool): void {
    this.pools.set(pool.metadata.name, { ...pool, metadata: { ...pool.metadata, resourceVersion: this.next() } });
  }

  /** Like kubectl delete. */
  remove(name: string): void {
    const pool = this.pools.get(name);
    if (!pool) return;
    if (!pool.metadata.finalizers?.length) this.collect(pool);
    else {
      const metadata = {
        ...pool.metadata,
        deletionTimestamp: timeOf(this.now),
        generation: pool.metadata.generation + 1,
        resourceVersion: this.next(),
      };
      this.pools.set(name, { ...pool, metadata });
    }
  }

  protected change(pool: WindowsPool, how: (now: WindowsPool) => WindowsPool): CallResult<WindowsPool> {
    const now = this.pools.get(pool.metadata.name);
    if (!now) return { ok: false, error: sampleError('gone') };
    if (now.metadata.resourceVersion !== pool.metadata.resourceVersion)
      return { ok: false, error: sampleError('conflict') };
    const changed = how(now);
    const value = { ...changed, metadata: { ...changed.metadata, resourceVersion: this.next() } };
    this.pools.set(pool.metadata.name, value);
    return { ok: true, value };
  }

  protected release(pool: WindowsPool): CallResult<void> {
    const now = this.pools.get(pool.metadata.name);
    if (now) this.collect(now);
    return done;
  }

  /** Deletes the pool, and the RuntimeClasses that only it owned. */
  protected collect({ metadata: { name, uid } }: WindowsPool): void {
    this.pools.delete(name);
    for (const [key, seen] of this.runtimeClasses) {
      const owners = seen.owners.filter((owner) => owner.uid !== uid);
      if (owners.length === 0 && seen.owners.length > 0) this.runtimeClasses.delete(key);
      else this.runtimeClasses.set(key, { ...seen, owners });
    }
  }

  protected evict(name: string, gracePeriodSeconds: number): Eviction {
    const pod = this.pods.find((each) => `${each.namespace}/${each.name}` === name);
    if (!pod) return { kind: 'gone' };
    if (pod.keptBy !== undefined) return { kind: 'blocked', budget: pod.keptBy, message: 'not now' };
    this.evicted.push(`${name} ${gracePeriodSeconds}`);
    this.pods = this.pods.filter((each) => each !== pod);
    return { kind: 'accepted' };
  }

  /** Like a patch in the API server with this resourceVersion. */
  protected changeNode(seen: NodeRecord, how: (now: NodeRecord) => NodeRecord): CallResult<void> {
    const now = this.nodes.find(({ uid }) => uid === seen.uid);
    if (!now) return { ok: false, error: sampleError('gone') };
    if (now.resourceVersion !== seen.resourceVersion) return { ok: false, error: sampleError('conflict') };
    this.setNode(how(now));
    return done;
  }

  protected changeClass(name: string, change: (seen: RuntimeClass) => Partial<RuntimeClass>): void {
    const seen = this.runtimeClasses.get(name);
    if (seen) this.runtimeClasses.set(name, { ...seen, ...change(seen) });
  }

  protected createClass(desired: DesiredRuntimeClass, { metadata: { name, uid } }: WindowsPool): CallResult<void> {
    if (this.runtimeClasses.has(desired.name)) return { ok: false, error: sampleError('conflict') };
    this.runtimeClasses.set(desired.name, {
      ...desired,
      uid: `uid-${desired.name}`,
      resourceVersion: '1',
      deleting: false,
      managed: true,
      managedBy: 'windowspool-operator',
      owners: [{ name, uid }],
    });
    return done;
  }
}

/** The selector of the operator's watch of nodes. */
function isWatched({ labels }: NodeRecord): boolean {
  return labels['kubernetes.io/os'] === 'windows';
}

function sameTaint(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}
