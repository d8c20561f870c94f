/** A MachineSet of the fake world with its controller and its infrastructure, which work at once: a Machine has its node when `settle` returns. */
import { POOL_KEY, TEMPLATE_HASH_ANNOTATION } from '../api/labels.ts';
import { nodesOfMachines } from '../membership/machineNodes.ts';
import type { HealthCheck, Machine, MachineNodes, MachineSet, MachinesView } from '../ports/machines.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { MachineSetManifests } from '../ports/ownMachineSets.ts';

const SET: MachineSet = {
  name: 'windows',
  uid: 'uid-windows',
  resourceVersion: '1',
  deleting: false,
  replicas: 3,
  outdated: 0,
  isRollingOut: false,
  isOnDelete: true,
  isObserved: true,
  pausedBy: '',
  sizedBy: '',
  usableBy: 'web',
  createdFor: '',
  templateHash: '',
  clusterName: 'workloads',
  infrastructureTemplate: 'SimMachineTemplate/windows-1',
  problem: '',
  controllerUid: '',
};

const FIRST_NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

export class FakeMachines {
  /** Undefined: it does not exist. */
  set: MachineSet | undefined;
  /** What the cache shows instead; undefined: everything. */
  unknown: Extract<MachinesView, { kind: 'unknown' }> | undefined;
  /** Whether new Machines get a node. */
  makesNodes = true;
  machines: readonly Machine[] = [];
  healthChecks: readonly HealthCheck[] = [];
  /** How many MachineSets its controller keeps. */
  sets = 1;
  /** Whether its controller deletes another Machine than the marked one, as that of a MachineDeployment may with several MachineSets. */
  ignoresMarks = false;
  /** Those that were deleted and that their controller drains, although the operator has done that. */
  readonly drainedAgain: string[] = [];
  /** The names of the infrastructure templates, the newest last. */
  templates: readonly string[] = [];
  /** What was done to them, such as `delete a` and `scale 2`. */
  readonly changes: string[] = [];
  #created = 0;
  #isRolled = false;
  #nodes: MachineNodes | undefined;

  /** Creates the object with its Machines and their nodes, which are named a, b, c and so on. */
  create(change: Partial<MachineSet>, nodeOf: (name: string) => NodeRecord, now: number): NodeRecord[] {
    this.set = { ...SET, ...change };
    return this.settle([], nodeOf, now);
  }

  /** Changes the template, with the strategy OnDelete, or reverts that: Machines that exist stay as they are. */
  roll(isOutdated = true): void {
    this.#isRolled = true;
    this.machines = this.machines.map((machine) => ({ ...machine, isOutdated }));
    this.#count();
  }

  #count(): void {
    const outdated = this.machines.filter(({ isOutdated, deleting }) => isOutdated && !deleting).length;
    if (this.set && this.#isRolled) this.set = { ...this.set, outdated };
  }

  /** Creates and deletes Machines until there are as many as there should be. Returns the nodes that there are now. */
  settle(nodes: readonly NodeRecord[], nodeOf: (name: string) => NodeRecord, now: number): NodeRecord[] {
    if (this.set?.pausedBy !== '') return [...nodes];
    if (this.set.deleting) {
      [this.machines, this.set] = [[], undefined];
      return [];
    }
    this.set = { ...this.set, isObserved: true };
    const gone = this.machines.filter(({ deleting }) => deleting);
    const live = this.machines.filter(({ deleting }) => !deleting);
    const surplus = Math.max(0, live.length - this.set.replicas);
    const isFirst = ({ goesAtSize }: Machine) => Number((goesAtSize !== undefined) !== this.ignoresMarks);
    const leaving = [...live].sort((a, b) => isFirst(b) - isFirst(a));
    const ended = new Set([...gone, ...leaving.slice(0, surplus)].map(({ name }) => name));
    const kept = this.machines.filter(({ name }) => !ended.has(name));
    const added = Array.from({ length: Math.max(0, this.set.replicas - kept.length) }, () => this.#machine(now));
    this.machines = [...kept, ...added];
    this.#count();
    // A Machine and its node have the same name.
    return [
      ...nodes.filter(({ name }) => !ended.has(name)),
      ...added.filter(({ node }) => node !== '').map(({ node, providerID }) => ({ ...nodeOf(node), providerID })),
    ];
  }

  #machine(now: number): Machine {
    const name = FIRST_NAMES[this.#created] ?? `node-${this.#created}`;
    this.#created += 1;
    return {
      name,
      uid: `machine-${name}`,
      resourceVersion: '1',
      createdAt: now,
      deleting: false,
      node: this.makesNodes ? name : '',
      providerID: this.makesNodes ? `sim://${name}` : '',
      labels: {},
      hasReadinessGate: false,
      verified: '',
      isOutdated: false,
      hasFailed: false,
      problem: '',
      controllerUid: this.set?.uid ?? '',
      goesAtSize: undefined,
      drainExcludedBy: 'nobody',
    };
  }

  get view(): MachinesView {
    if (this.unknown) return this.unknown;
    const { set, machines, healthChecks } = this;
    return set ? { kind: 'seen', set, machines, sets: this.sets, healthChecks } : { kind: 'absent' };
  }

  /** The same object for the same nodes, as the cache gives it. */
  get nodes(): MachineNodes | undefined {
    if (this.unknown) return undefined;
    this.#nodes = nodesOfMachines(this.set ? { set: this.set, machines: this.machines } : undefined, this.#nodes);
    return this.#nodes;
  }

  /** Creates or changes the object, as the API server does. Its controller acts when `settle` is called. */
  apply({ object, infrastructure }: MachineSetManifests): void {
    const { labels, annotations = {} } = object.metadata;
    this.changes.push(`apply ${object.metadata.name} with ${infrastructure?.metadata.name ?? 'its template'}`);
    if (infrastructure) this.templates = [...new Set([...this.templates, infrastructure.metadata.name])];
    const before = this.set ?? { ...SET, usableBy: '', replicas: 1 };
    const { replicas = before.replicas } = object.spec as { replicas?: number };
    this.set = {
      ...before,
      replicas,
      createdFor: labels[POOL_KEY] ?? '',
      templateHash: annotations[TEMPLATE_HASH_ANNOTATION] ?? '',
      clusterName: `${object.spec.clusterName ?? ''}`,
      infrastructureTemplate: infrastructure ? `${infrastructure.kind}/${infrastructure.metadata.name}` : '',
      isObserved: false,
      resourceVersion: `${Number(before.resourceVersion) + 1}`,
    };
  }

  /** Its controller deletes the Machines first, when `settle` is called. */
  deleteSet(): void {
    this.changes.push('delete the object');
    if (this.set) this.set = { ...this.set, deleting: true };
  }

  /** Deletes all but the last one, or all without the object. */
  pruneTemplates(): void {
    this.changes.push('prune');
    this.templates = this.set ? this.templates.slice(-1) : [];
  }

  scale(replicas: number): void {
    this.changes.push(`scale ${replicas}`);
    if (this.set) this.set = { ...this.set, replicas, resourceVersion: `${Number(this.set.resourceVersion) + 1}` };
  }

  mark({ name }: Machine, size: number): void {
    this.changes.push(`mark ${name}`);
    this.#set(name, { goesAtSize: size, drainExcludedBy: 'operator' });
  }

  report({ name }: Machine, verified: string): void {
    this.changes.push(`report ${name} ${verified}`);
    this.machines = this.machines.map((machine) => (machine.name === name ? { ...machine, verified } : machine));
  }

  unmark({ name }: Machine): void {
    this.changes.push(`unmark ${name}`);
    this.#set(name, { goesAtSize: undefined, drainExcludedBy: 'nobody' });
  }

  delete({ name }: Machine): void {
    this.changes.push(`delete ${name}`);
    if (this.machines.some((one) => one.name === name && one.drainExcludedBy === 'nobody'))
      this.drainedAgain.push(name);
    this.#set(name, { deleting: true });
  }

  excludeDrain({ name }: Machine): void {
    this.#set(name, { drainExcludedBy: 'operator' });
  }

  #set(name: string, change: Partial<Machine>): void {
    this.machines = this.machines.map((machine) => (machine.name === name ? { ...machine, ...change } : machine));
  }
}
