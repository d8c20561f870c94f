/** Karpenter of the fake world, which works at once: a NodeClaim has its registered node when `settle` returns. */
import { MANAGED_BY_LABEL, POOL_KEY, TEMPLATE_HASH_ANNOTATION } from '../api/labels.ts';
import { nodesOfMachines } from '../membership/machineNodes.ts';
import type {
  KarpenterKind,
  KarpenterManifest,
  KarpenterObject,
  KarpenterView,
  NodeClaim,
  NodePoolSpec,
  PendingPod,
} from '../ports/karpenter.ts';
import type { MachineNodes } from '../ports/machines.ts';
import type { NodeRecord } from '../ports/nodes.ts';

const FIRST_NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

export class FakeKarpenter {
  /** Undefined: it does not exist. */
  nodePool: KarpenterObject | undefined;
  nodeClass: KarpenterObject | undefined;
  claims: readonly NodeClaim[] = [];
  /** Other NodePools. */
  others: readonly KarpenterObject[] = [];
  /** How many nodes the pods need. */
  demand = 0;
  isRunning = true;
  /** Whether NodeClaims become nodes. */
  registers = true;
  /** Whether its feature gate NodeRepair is enabled. */
  repairsNodes = false;
  pendingPods: readonly PendingPod[] = [];
  /** Nodes that a PodDisruptionBudget keeps, by name. */
  readonly kept = new Set<string>();
  /** What the cache shows instead; undefined: everything. */
  unknown: Extract<KarpenterView, { kind: 'unknown' }> | undefined;
  /** What was done, such as `apply web` and `delete claim a`. */
  readonly changes: string[] = [];
  #created = 0;
  #nodes: MachineNodes | undefined;

  get view(): KarpenterView {
    if (this.unknown) return this.unknown;
    const { nodePool, nodeClass, claims, others } = this;
    return { kind: 'seen', nodePool, nodeClass, claims, others };
  }

  /** The same object for the same nodes, as the cache gives it. */
  get nodes(): MachineNodes | undefined {
    if (this.unknown) return undefined;
    const isOwn = this.nodePool !== undefined && this.nodePool.createdFor !== '';
    this.#nodes = nodesOfMachines({ machines: isOwn ? this.claims : [] }, this.#nodes);
    return this.#nodes;
  }

  /** Stores the manifest. Karpenter evaluates it when `settle` is called. */
  apply({ kind, metadata, spec }: KarpenterManifest, now: number): void {
    this.changes.push(kind === 'NodePool' ? `apply ${metadata.name}` : `apply class ${metadata.name}`);
    const { labels, annotations } = metadata;
    const before = this.objectOf(kind);
    const { weight } = spec as Partial<NodePoolSpec>;
    this.#set(kind, {
      problem: '',
      registrationProblem: '',
      adoptableBy: '',
      ...before,
      ready: 'Unknown',
      readySince: now,
      name: metadata.name,
      uid: before?.uid ?? `uid-${kind}`,
      resourceVersion: `${Number(before?.resourceVersion ?? 0) + 1}`,
      deleting: false,
      createdFor: labels[MANAGED_BY_LABEL] ? (labels[POOL_KEY] ?? '') : '',
      manifestHash: annotations[TEMPLATE_HASH_ANNOTATION] ?? '',
      appliedAt: now,
      spec,
      ownFields: weight === undefined ? [] : ['weight'],
    });
  }

  objectOf(kind: KarpenterKind): KarpenterObject | undefined {
    return kind === 'NodePool' ? this.nodePool : this.nodeClass;
  }

  #set(kind: KarpenterKind, object: KarpenterObject): void {
    if (kind === 'NodePool') this.nodePool = object;
    else this.nodeClass = object;
  }

  /** Another client changes a field of its spec. */
  change(spec: Partial<NodePoolSpec>): void {
    const nodePool = this.#known();
    this.nodePool = { ...nodePool, spec: { ...(nodePool.spec as NodePoolSpec), ...spec } };
  }

  delete(kind: KarpenterKind): void {
    this.changes.push(`delete the ${kind}`);
    const object = this.objectOf(kind);
    if (object) this.#set(kind, { ...object, deleting: true });
  }

  deleteClaim({ name }: NodeClaim): void {
    this.changes.push(`delete claim ${name}`);
    this.claims = this.claims.map((claim) => (claim.name === name ? { ...claim, deleting: true } : claim));
  }

  /** Creates and deletes NodeClaims until there are as many as pods need. Returns the nodes that there are now. */
  settle(nodes: readonly NodeRecord[], nodeOf: (name: string) => NodeRecord, now: number): NodeRecord[] {
    if (!this.isRunning) return [...nodes];
    // Its finalizer waits for NodeClaims that use it.
    if (this.nodeClass) this.nodeClass = { ...this.nodeClass, ready: 'True' };
    if (this.nodeClass?.deleting && this.claims.length === 0) this.nodeClass = undefined;
    if (!this.nodePool) return [...nodes];
    const { deleting } = this.nodePool;
    if (deleting) this.claims = this.claims.map((claim) => ({ ...claim, deleting: true }));
    const gone = this.claims.filter((claim) => claim.deleting && !this.kept.has(claim.name)).map(({ name }) => name);
    const kept = this.claims.filter(({ name }) => !gone.includes(name));
    const live = kept.filter((claim) => !claim.deleting);
    const added = Array.from({ length: deleting ? 0 : Math.max(0, this.demand - live.length) }, () => this.#claim(now));
    const starting = this.registers ? [...kept, ...added].filter(({ node }) => node === '') : [];
    const left = nodes.filter(({ name }) => !gone.includes(name));
    // A NodeClaim and its node have the same name.
    const joined = starting.map(({ name, providerID }) => this.#register({ ...nodeOf(name), providerID }));
    const ungated = new Set(
      left.filter(({ taints }) => taints.every(({ key }) => key === 'os')).map(({ name }) => name),
    );
    this.claims = [...kept, ...added].map((claim) => ({
      ...claim,
      node: starting.includes(claim) ? claim.name : claim.node,
      isInitialized: claim.isInitialized || ungated.has(claim.name),
    }));
    this.nodePool = deleting && this.claims.length === 0 ? undefined : { ...this.nodePool, ready: 'True' };
    return [...left, ...joined];
  }

  /** A node with the labels and taints of the template. */
  #register(node: NodeRecord): NodeRecord {
    const { template } = this.#known().spec as NodePoolSpec;
    const { taints, startupTaints } = template.spec;
    return {
      ...node,
      labels: { ...node.labels, ...template.metadata.labels },
      taints: [...taints, ...startupTaints],
    };
  }

  #known(): KarpenterObject {
    if (!this.nodePool) throw new Error('there is no NodePool');
    return this.nodePool;
  }

  #claim(now: number): NodeClaim {
    const name = FIRST_NAMES[this.#created] ?? `node-${this.#created}`;
    this.#created += 1;
    return {
      name,
      uid: `claim-${name}`,
      resourceVersion: '1',
      createdAt: now,
      deleting: false,
      nodePoolUid: 'uid-NodePool',
      node: '',
      providerID: `kwok://${name}`,
      startupTaints: (this.#known().spec as NodePoolSpec).template.spec.startupTaints.map(({ key }) => key),
      isInitialized: false,
      drift: '',
      problem: '',
    };
  }
}
