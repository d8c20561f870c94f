/**
 * A small world in memory behind the domain's ports: an API server with resourceVersions and a cache, and EKS with node groups that
 * move on when they are looked at. Every port call is counted, and can be made to fail or to crash the operator.
 */
import type { WindowsPool, WindowsPoolStatus } from '../api.gen.ts';
import { Holdings } from '../existing/holdings.ts';
import { FINALIZER, NODE_GROUP_LABEL, POOL_KEY } from '../labels.ts';
import type { TaintChange } from '../nodes/nodeTaints.ts';
import { Rosters } from '../nodes/roster.ts';
import { Sights } from '../observe.ts';
import { Pace } from '../pace.ts';
import type {
  Answer,
  Cluster,
  ConfigChange,
  Instance,
  NewNodeGroup,
  NodeGroup,
  NodeGroupUpdate,
  NodeMarks,
  NodeRecord,
  PoolMetrics,
  Pools,
  RuntimeClass,
  RuntimeClassWish,
  StuckPod,
  Taint,
  Trouble,
  VersionChange,
} from '../ports.ts';
import type { AccessEntry, Addon, LaunchTemplate } from '../prerequisites/ports.ts';
import type { Deps } from '../reconcile.ts';
import { DisruptionBudget } from '../upgrades/disruptionBudget.ts';
import { Fleet } from '../upgrades/fleet.ts';
import { NOW, sampleCluster, sampleNodes, sampleTrouble, settings, templateOfGroup } from './fixtures.ts';

/** Thrown in the place where the operator's process ends. */
export class Crash extends Error {}

export interface Told {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

const done: Answer<void> = { ok: true, value: undefined };

export class FakeWorld {
  now = NOW;
  pools = new Map<string, WindowsPool>();
  groups = new Map<string, NodeGroup>();
  updates = new Map<string, NodeGroupUpdate>();
  runtimeClasses = new Map<string, RuntimeClass>();
  nodes: NodeRecord[] = [];
  instances: Instance[] = [];
  /** What the cluster has of what pools need. */
  prerequisites = {
    cniConfig: { 'enable-windows-ipam': 'true' } as Readonly<Record<string, string>> | undefined,
    cniAddon: undefined as Addon | undefined,
    accessEntry: { type: 'EC2_WINDOWS' } as AccessEntry | undefined,
    freeAddresses: 251,
  };
  newestRelease: string | undefined = '1.36-2026.02.11';
  /** The versions of the one launch template, by number and by word. */
  launchTemplates = new Map<string, LaunchTemplate>();
  /** Tags of scaling groups; a group has those of EKS from its beginning. */
  scalingTags = new Map<string, Readonly<Record<string, string>>>();
  clusterIsOurs = true;
  cluster: Partial<Cluster> = {};
  readonly calls: string[] = [];
  readonly events: Told[] = [];
  readonly corrections: Readonly<Record<string, number>>[] = [];
  readonly metrics = new Map<string, PoolMetrics>();
  /** How many node groups were ever made. */
  created = 0;
  /** How many looks a group stays CREATING, UPDATING or DELETING. */
  looks = 1;
  /** How every update ends: well, or with these errors and the group as it was. */
  updateErrors: NodeGroupUpdate['errors'] = [];
  /** The pods that eviction does not move, on whatever node. */
  stuckPods: readonly StuckPod[] = [];
  /** What a call answers instead of doing its work. */
  fails: (call: string) => Trouble | undefined = () => undefined;
  /** The call, counted from 0, at which the process ends; and whether the call is still carried out. */
  crash: { readonly at: number; readonly when: 'before' | 'after' } | undefined;
  #rosters = this.#emptyRosters();
  readonly #declared = new Set<string>();
  #holdings = this.#emptyHoldings();
  /** The nodes of which the rosters were told last, by name. */
  #told = new Map<string, NodeRecord>();
  readonly #tokens = new Map<string, string>();
  readonly #left = new Map<string, number>();
  readonly #beforeUpdate = new Map<string, NodeGroup>();
  #version = 100;
  #ids = 0;

  /** A new process: nothing is in its memory. */
  start(): Deps {
    this.#rosters = this.#emptyRosters();
    this.#holdings = this.#emptyHoldings();
    this.#tellOfNodes();
    const pools = this.#poolsPort();
    return {
      sights: new Sights(),
      pace: new Pace(),
      pools,
      budget: new DisruptionBudget(pools, settings.maxPoolsUpdating),
      fleet: {
        seenBy: (name) => {
          const fleet = new Fleet();
          for (const pool of this.pools.values()) fleet.follow(undefined, pool);
          return fleet.seenBy(name);
        },
        rest: () => undefined,
      },
      settings,
      now: () => this.now,
      serverVersion: () => 'v1.36.3',
      clusters: {
        describe: () =>
          this.#call('DescribeCluster', () => sampleCluster({ isOurs: this.clusterIsOurs, ...this.cluster })),
      },
      nodeGroups: {
        describe: (name) => this.#call('DescribeNodegroup', () => this.#look(name)),
        create: (wish, token) => this.#call('CreateNodegroup', () => this.#create(wish, token)).then(flat),
        updateConfig: (name, change, token) =>
          this.#call('UpdateNodegroupConfig', () => this.#update(name, change, token)).then(flat),
        updateVersion: (name, change, token) =>
          this.#call('UpdateNodegroupVersion', () => this.#updateVersion(name, change, token)).then(flat),
        describeUpdate: (_name, id) => this.#call('DescribeUpdate', () => this.updates.get(id)),
        delete: (name) => this.#call('DeleteNodegroup', () => this.#delete(name)),
        tag: (arn, tags) => this.#call('TagResource', () => this.#tag(arn, (now) => ({ ...now, ...tags }))),
        untag: (arn, keys) =>
          this.#call('UntagResource', () =>
            this.#tag(arn, (now) => Object.fromEntries(Object.entries(now).filter(([key]) => !keys.includes(key)))),
          ),
      },
      addons: { find: () => this.#call('DescribeAddon', () => this.prerequisites.cniAddon) },
      accessEntries: {
        find: () => this.#call('DescribeAccessEntry', () => this.prerequisites.accessEntry),
        create: (role, token) =>
          this.#call('CreateAccessEntry', () => {
            // The answer to a token is given again, whatever became of the entry.
            if (this.#tokens.has(token)) return;
            this.#tokens.set(token, role);
            this.prerequisites = { ...this.prerequisites, accessEntry: { type: 'EC2_WINDOWS' } };
          }),
      },
      capacity: {
        instanceTypes: (names) =>
          this.#call('DescribeInstanceTypes', () =>
            names.map((name) => ({ name, architectures: ['x86_64'], addressesPerInterface: 10 })),
          ),
        offerings: (names) =>
          this.#call('DescribeInstanceTypeOfferings', () =>
            names.map((instanceType) => ({ instanceType, zone: 'eu-west-1a' })),
          ),
        subnets: (ids) =>
          this.#call('DescribeSubnets', () =>
            ids.map((id) => ({ id, zone: 'eu-west-1a', freeAddresses: this.prerequisites.freeAddresses })),
          ),
      },
      launchTemplates: {
        find: ({ version }) => this.#call('DescribeLaunchTemplateVersions', () => this.launchTemplates.get(version)),
      },
      system: {
        cniConfig: () => this.#call('get ConfigMap amazon-vpc-cni', () => this.prerequisites.cniConfig),
        roleMappings: () => this.#call('get ConfigMap aws-auth', () => []),
        legacyController: () => this.#call('get Deployment vpc-resource-controller', () => false),
        linuxNode: () => this.#call('list Linux nodes', () => true),
        linuxGroups: () => this.#call('list Linux groups', () => []),
      },
      releases: { newest: () => this.#call('GetParameter', () => this.newestRelease) },
      scalingGroups: {
        tags: () =>
          this.#call('DescribeAutoScalingGroups', () =>
            Object.fromEntries(
              [...this.groups.values()].flatMap(({ autoScalingGroups }) =>
                autoScalingGroups.map((name) => [name, this.scalingTags.get(name) ?? {}]),
              ),
            ),
          ),
        setTags: (name, tags) =>
          this.#call('CreateOrUpdateTags', () => {
            this.scalingTags.set(name, { ...this.scalingTags.get(name), ...tags });
          }),
        removeTags: (name, keys) =>
          this.#call('DeleteTags', () => {
            const kept = Object.entries(this.scalingTags.get(name) ?? {}).filter(([key]) => !keys.includes(key));
            this.scalingTags.set(name, Object.fromEntries(kept));
          }),
      },
      instances: { ofScalingGroup: () => this.#call('DescribeInstances', () => this.instances) },
      evictions: { stuckOn: (nodes) => this.#call('list pods', () => (nodes.length > 0 ? this.stuckPods : [])) },
      rosters: {
        of: (pool, group, expected) => {
          this.#tellOfNodes();
          return this.#rosters.of(pool, group, expected);
        },
        forget: (pool) => this.#rosters.forget(pool),
      },
      holdings: {
        of: (pool, expected) => {
          this.#tellOfNodes();
          for (const name of new Set([...this.#declared, ...this.pools.keys()])) {
            this.#holdings.declare(name, this.pools.get(name));
            this.#declared.add(name);
          }
          return this.#holdings.of(pool, expected);
        },
      },
      nodes: {
        read: (name) => this.#call('read node', () => this.nodes.find((node) => node.name === name)),
        outside: (pool) =>
          this.#call('list nodes outside', () =>
            this.nodes.filter((node) => !isWatched(node) && node.labels[POOL_KEY] === pool),
          ),
        setLabel: (node, key, value) =>
          this.#call('label node', () => {
            const labelled = { ...node, labels: { ...node.labels, [key]: value } };
            this.setNode(labelled);
          }),
        setVerified: (node, verified) =>
          this.#call('write node condition', () => {
            const now = this.nodes.find(({ uid }) => uid === node.uid);
            if (now) this.setNode({ ...now, verified });
          }),
        setMarks: (node, marks) => this.#call('mark node', () => this.#mark(node, marks)).then(flat),
        setTaints: (node, change) => this.#call('taint node', () => this.#taint(node, change)).then(flat),
      },
      runtimeClasses: {
        get: (name) => this.runtimeClasses.get(name),
        create: (wish, pool) => this.#call('create RuntimeClass', () => this.#createClass(wish, pool)).then(flat),
        apply: (wish, seen, pool) =>
          this.#call('apply RuntimeClass', () => {
            const { name, uid } = pool.metadata;
            const owners = [...seen.owners.filter((owner) => owner.uid !== uid), { name, uid }];
            this.runtimeClasses.set(wish.name, { ...seen, ...wish, owners });
          }),
        release: (seen, pool) =>
          this.#call('release RuntimeClass', () => {
            const owners = seen.owners.filter(({ uid }) => uid !== pool.metadata.uid);
            this.runtimeClasses.set(seen.name, { ...seen, owners });
          }),
        delete: (seen) => this.#call('delete RuntimeClass', () => void this.runtimeClasses.delete(seen.name)),
      },
      events: { publish: (_pool, { type, reason, message }) => void this.events.push({ type, reason, message }) },
      metrics: {
        show: (pool, metrics) => void this.metrics.set(pool, metrics),
        corrected: (_pool, fields) => void this.corrections.push(fields),
        drop: (pool) => void this.metrics.delete(pool),
      },
    };
  }

  #poolsPort(): Pools {
    return {
      get: (name) => this.pools.get(name),
      read: (name) => this.#call('read pool', () => this.pools.get(name)),
      list: () => this.#call('list pools', () => [...this.pools.values()]),
      addFinalizer: (pool) =>
        this.#call('add finalizer', () =>
          this.#change(pool, (now) => ({ ...now, metadata: { ...now.metadata, finalizers: [FINALIZER] } })),
        ).then(flat),
      removeFinalizer: (pool) => this.#call('remove finalizer', () => this.#release(pool)).then(flat),
      writeStatus: (pool, status) =>
        this.#call('write status', () =>
          this.#change(pool, (now) => ({ ...now, status: structuredClone(status) as WindowsPoolStatus })),
        ).then(flat),
    };
  }

  #taint(seen: NodeRecord, { set, remove }: TaintChange): Answer<void> {
    const now = this.nodes.find(({ uid }) => uid === seen.uid);
    if (!now) return { ok: false, trouble: sampleTrouble('gone') };
    if (now.resourceVersion !== seen.resourceVersion) return { ok: false, trouble: sampleTrouble('conflict') };
    const changed = [...set, ...remove];
    const kept = now.taints.filter((taint) => !changed.some((other) => sameTaint(taint, other)));
    this.setNode({ ...now, taints: [...kept, ...set] });
    return done;
  }

  #mark(seen: NodeRecord, { labels, taints, claim = '' }: NodeMarks): Answer<void> {
    const answer = this.#taint(seen, taints);
    const now = this.nodes.find(({ uid }) => uid === seen.uid);
    if (!answer.ok || !now) return answer;
    const kept = Object.entries({ ...now.labels, ...labels }).filter(([, value]) => value !== null);
    this.setNode({ ...now, labels: Object.fromEntries(kept) as Record<string, string>, claim });
    return done;
  }

  /** Puts a node in the place of the one of its name, as a new version of it. */
  setNode(node: NodeRecord): void {
    const changed = { ...node, resourceVersion: this.#next() };
    this.nodes = this.nodes.map((each) => (each.name === node.name ? changed : each));
    // An own write is seen at once, as in the store.
    this.#tellOfNodes();
  }

  #emptyHoldings(): Holdings {
    this.#declared.clear();
    return new Holdings({
      nodes: () => this.nodes.filter(isWatched),
      poolOfGroup: (group) => (this.groups.has(group) ? group : undefined),
      wake: () => undefined,
      now: () => this.now,
    });
  }

  #emptyRosters(): Rosters {
    const inGroup = (group: string) => this.nodes.filter(({ labels }) => labels[NODE_GROUP_LABEL] === group);
    return new Rosters(inGroup, () => this.now);
  }

  /** As the cache does: what changed since the last time. */
  #tellOfNodes(): void {
    const now = new Map(this.nodes.filter(isWatched).map((node) => [node.name, node]));
    for (const name of new Set([...this.#told.keys(), ...now.keys()])) {
      const [before, after] = [this.#told.get(name), now.get(name)];
      if (before === after) continue;
      this.#rosters.follow(before, after);
      this.#holdings.follow(before, after);
    }
    this.#told = now;
  }

  /** The calls since the last time, AWS' only. */
  awsCalls(): string[] {
    return this.calls.splice(0).filter((call) => /^[A-Z]/.test(call));
  }

  /** As kubectl apply: a new generation. */
  apply(pool: WindowsPool): void {
    const before = this.pools.get(pool.metadata.name);
    const generation = (before?.metadata.generation ?? 0) + 1;
    const { annotations } = pool.metadata;
    const known = { ...pool.metadata, ...before?.metadata, ...(annotations && { annotations }) };
    const metadata = { ...known, generation, resourceVersion: this.#next() };
    this.pools.set(pool.metadata.name, { ...pool, metadata, ...(before?.status && { status: before.status }) });
  }

  /** As kubectl delete. */
  remove(name: string): void {
    const pool = this.pools.get(name);
    if (!pool) return;
    if (!pool.metadata.finalizers?.length) this.#collect(pool);
    else {
      const metadata = {
        ...pool.metadata,
        deletionTimestamp: '2026-03-01T13:00:00Z',
        generation: pool.metadata.generation + 1,
        resourceVersion: this.#next(),
      };
      this.pools.set(name, { ...pool, metadata });
    }
  }

  async #call<T>(call: string, work: () => T): Promise<Answer<T>> {
    const at = this.calls.push(call) - 1;
    await Promise.resolve();
    const dies = this.crash?.at === at ? this.crash.when : undefined;
    if (dies === 'before') throw new Crash(`before ${call}`);
    const trouble = this.fails(call);
    if (trouble) return { ok: false, trouble: { ...trouble, operation: call } };
    const value = work();
    if (dies === 'after') throw new Crash(`after ${call}`);
    return { ok: true, value };
  }

  #next(): string {
    this.#version += 1;
    return String(this.#version);
  }

  #change(pool: WindowsPool, how: (now: WindowsPool) => WindowsPool): Answer<WindowsPool> {
    const now = this.pools.get(pool.metadata.name);
    if (!now) return { ok: false, trouble: sampleTrouble('gone') };
    if (now.metadata.resourceVersion !== pool.metadata.resourceVersion)
      return { ok: false, trouble: sampleTrouble('conflict') };
    const changed = how(now);
    const value = { ...changed, metadata: { ...changed.metadata, resourceVersion: this.#next() } };
    this.pools.set(pool.metadata.name, value);
    return { ok: true, value };
  }

  #release(pool: WindowsPool): Answer<void> {
    const now = this.pools.get(pool.metadata.name);
    if (now) this.#collect(now);
    return done;
  }

  /** The pool is gone, and the RuntimeClasses that only it owned with it. */
  #collect({ metadata: { name, uid } }: WindowsPool): void {
    this.pools.delete(name);
    for (const [key, seen] of this.runtimeClasses) {
      const owners = seen.owners.filter((owner) => owner.uid !== uid);
      if (owners.length === 0 && seen.owners.length > 0) this.runtimeClasses.delete(key);
      else this.runtimeClasses.set(key, { ...seen, owners });
    }
  }

  #look(name: string): NodeGroup | undefined {
    const left = (this.#left.get(name) ?? 0) - 1;
    this.#left.set(name, left);
    if (left < 0) this.#settle(name);
    return this.groups.get(name);
  }

  #settle(name: string): void {
    const group = this.groups.get(name);
    if (group?.status === 'DELETING') this.groups.delete(name);
    if (group?.status !== 'CREATING' && group?.status !== 'UPDATING') return;
    const before = this.updateErrors.length > 0 ? this.#beforeUpdate.get(name) : undefined;
    this.groups.set(name, { ...(before ?? group), status: 'ACTIVE', autoScalingGroups: [`eks-${name}`] });
    for (const [id, update] of this.updates) {
      if (update.status !== 'InProgress') continue;
      this.updates.set(id, { ...update, status: before ? 'Failed' : 'Successful', errors: this.updateErrors });
    }
    if (this.nodes.length > 0) return;
    this.nodes = sampleNodes(group.scaling.desired).map((node) => ({ ...node, taints: group.taints }));
  }

  #create(wish: NewNodeGroup, token: string): Answer<NodeGroup> {
    const existing = this.groups.get(wish.name);
    if (existing)
      return this.#tokens.get(token) === existing.arn
        ? { ok: true, value: existing }
        : { ok: false, trouble: sampleTrouble('busy', { message: 'NodeGroup already exists' }) };
    this.created += 1;
    this.#ids += 1;
    const group: NodeGroup = {
      ...wish,
      diskSizeGiB: wish.diskSizeGiB,
      launchTemplate: templateOfGroup(wish),
      arn: `arn:aws:eks:eu-west-1:111122223333:nodegroup/prod/${wish.name}/${this.#ids}`,
      status: 'CREATING',
      update: { maxUnavailable: '1', strategy: 'Default', ...wish.update },
      kubernetesVersion: wish.kubernetesVersion ?? '1.36',
      releaseVersion: wish.releaseVersion ?? `${wish.kubernetesVersion ?? '1.36'}-2026.02.11`,
      healthIssues: [],
      autoScalingGroups: [],
      modifiedAt: this.now,
    };
    this.groups.set(wish.name, group);
    this.#tokens.set(token, group.arn);
    this.#left.set(wish.name, this.looks);
    return { ok: true, value: group };
  }

  #update(name: string, { labels, taints, scaling, update }: ConfigChange, token: string): Answer<NodeGroupUpdate> {
    const removed = (taint: Taint) => taints?.remove.some((other) => sameTaint(taint, other)) === true;
    return this.#startUpdate(name, 'ConfigUpdate', token, (group) => ({
      scaling: { ...group.scaling, ...scaling },
      update: { ...group.update, ...update },
      labels: {
        ...Object.fromEntries(Object.entries(group.labels).filter(([key]) => !labels?.remove.includes(key))),
        ...labels?.set,
      },
      taints: taints ? [...group.taints.filter((taint) => !removed(taint)), ...taints.set] : group.taints,
    }));
  }

  /** The newest release of each minor is of 2026.03.17. */
  #updateVersion(
    name: string,
    { kubernetesVersion, releaseVersion, launchTemplate }: VersionChange,
    token: string,
  ): Answer<NodeGroupUpdate> {
    return this.#startUpdate(name, 'VersionUpdate', token, () => ({
      kubernetesVersion,
      releaseVersion: releaseVersion ?? `${kubernetesVersion}-2026.03.17`,
      ...(launchTemplate && { launchTemplate: templateOfGroup({ launchTemplate }) }),
    }));
  }

  #startUpdate(
    name: string,
    type: string,
    token: string,
    how: (group: NodeGroup) => Partial<NodeGroup>,
  ): Answer<NodeGroupUpdate> {
    const known = this.#tokens.get(token);
    const replayed = known === undefined ? undefined : this.updates.get(known);
    if (replayed) return { ok: true, value: replayed };
    const group = this.groups.get(name);
    if (!group) return { ok: false, trouble: sampleTrouble('gone') };
    if (group.status !== 'ACTIVE') return { ok: false, trouble: sampleTrouble('busy') };
    const changed = { ...group, ...how(group), status: 'UPDATING' } as const;
    this.groups.set(name, changed);
    if (changed.taints !== group.taints) this.#retaint(group.taints, changed.taints);
    this.#beforeUpdate.set(name, group);
    this.#left.set(name, this.looks);
    this.#ids += 1;
    const update = {
      id: `u-${this.#ids}`,
      type,
      status: 'InProgress',
      createdAt: this.now,
      errors: [],
    } as const;
    this.updates.set(update.id, update);
    this.#tokens.set(token, update.id);
    return { ok: true, value: update };
  }

  /** As EKS does: what the group gets or loses, its living nodes get or lose. */
  #retaint(before: readonly Taint[], after: readonly Taint[]): void {
    const ofGroup = [...before, ...after];
    for (const node of this.nodes) {
      const kept = node.taints.filter((taint) => !ofGroup.some((other) => sameTaint(taint, other)));
      this.setNode({ ...node, taints: [...kept, ...after] });
    }
  }

  #delete(name: string): void {
    const group = this.groups.get(name);
    if (!group) return;
    this.groups.set(name, { ...group, status: 'DELETING' });
    this.#left.set(name, this.looks);
    this.nodes = [];
  }

  #tag(arn: string, how: (tags: NodeGroup['tags']) => NodeGroup['tags']): void {
    for (const [name, group] of this.groups) {
      if (group.arn === arn) this.groups.set(name, { ...group, tags: how(group.tags) });
    }
  }

  #createClass(wish: RuntimeClassWish, { metadata: { name, uid } }: WindowsPool): Answer<void> {
    if (this.runtimeClasses.has(wish.name)) return { ok: false, trouble: sampleTrouble('conflict') };
    this.runtimeClasses.set(wish.name, {
      ...wish,
      uid: `uid-${wish.name}`,
      resourceVersion: '1',
      deleting: false,
      managed: true,
      owners: [{ name, uid }],
    });
    return done;
  }
}

/** As the operator asks for nodes. */
function isWatched({ labels }: NodeRecord): boolean {
  return labels['kubernetes.io/os'] === 'windows';
}

function sameTaint(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}

function flat<T>(answer: Answer<Answer<T>>): Answer<T> {
  return answer.ok ? answer.value : answer;
}
