/** Runs a life: actions and the operator take turns on one simulated clock. Then it checks the pools. */
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import {
  CORDONED_ANNOTATION,
  GATE_TAINT_KEY,
  REMEDIATION_ANNOTATION,
  REPLACE_ANNOTATION,
} from '../../controllers/windowspool/labels.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import { isOwnedBy } from '../../controllers/windowspool/providers/eks/nodeGroup.ts';
import { type Deps, reconcile } from '../../controllers/windowspool/reconcile.ts';
import { Crash } from '../../controllers/windowspool/testing/fakeWorld.ts';
import { conditionOf } from '../testenv/testEnv.ts';
import { type Action, POOLS } from './action.ts';
import { healed, newPool, retry, UNPUBLISHED } from './actions.ts';
import { LocalAwsWorld } from './localAwsWorld.ts';

const MINUTE = 60_000;
/** Longer than any backoff, resync and rollout together. */
const LONG = 120 * MINUTE;
/** A multiple of LONG: the longest drains of all nodes of two pools. */
const MOST_DRAINING = 9;
/** A pool that runs more often than that in two hours is in a hot loop. */
const MOST_RUNS = 3_000;
/** States of UpToDate in which a pool may end, because only a user or time can change them. */
const ACCEPTED_STATES: readonly string[] = [
  'False/UpdateAvailable',
  'False/Drifted',
  'False/WaitingForWindow',
  'False/InvalidMaintenanceWindow',
  'False/UnsupportedVersion',
  'False/LaunchTemplateInvalid',
  'False/ReleaseNotVerified',
];
const { signal } = new AbortController();

export class Life {
  readonly world = new LocalAwsWorld();
  #deps: Deps = this.world.start();
  /** When each pool runs next. */
  readonly #due = new Map<string, number>();
  readonly #tries = new Map<string, number>();

  /** Takes the actions one after the other, and runs the operator in between. */
  async live(actions: readonly Action[]): Promise<void> {
    this.world.apply(newPool('web'));
    await this.#wakeAll();
    for (const { run, passes } of actions) {
      run?.(this.world);
      await this.#wakeAll();
      if (passes !== undefined) await this.pass(passes);
    }
  }

  /** Ends all faults, and lets time pass until nothing remains to be done. */
  async settle(): Promise<void> {
    const { faults, state } = this.world.cloud;
    this.world.callsLeft = Number.POSITIVE_INFINITY;
    faults.calls.clear();
    this.world.workload.isKept = false;
    for (const { name } of this.world.nodes) this.world.setReady(name, true);
    for (const plans of Object.values(state.plans)) plans.length = 0;
    for (const name of POOLS) healed(this.world, name);
    await this.pass(LONG);
    // A user reads what failed, and retries.
    for (const name of POOLS) if (this.hasFailed()) retry(this.world, name);
    await this.#wakeAll();
    await this.pass(LONG);
    // A drain takes up to the time-out of the spec, and nodes are drained one after the other.
    for (let more = 0; more < MOST_DRAINING && this.#isDraining(); more++) await this.pass(LONG);
  }

  #isDraining(): boolean {
    return [...this.world.pools.values()].some(({ status }) => (status?.disruption?.nodes ?? []).length > 0);
  }

  /** Lets time pass; the operator runs when a pool is due, and when nodes change. */
  async pass(ms: number): Promise<void> {
    const { world } = this;
    const end = world.now + ms;
    for (let runs = 0; ; runs++) {
      if (runs > MOST_RUNS) throw new Error(`the operator runs more than ${MOST_RUNS} times in ${ms / MINUTE} minutes`);
      const next = Math.min(end, ...this.#due.values(), world.cloud.state.timeline.nextDue() ?? end);
      const nodes = world.nodes;
      world.pass(Math.max(0, next - world.now));
      if (world.nodes !== nodes) await this.#wakeAll();
      for (const [name, at] of this.#due) if (at <= world.now) await this.#run(name);
      if (world.now >= end) return;
    }
  }

  pool(name: string): WindowsPool | undefined {
    return this.world.pools.get(name);
  }

  /** Whether a change of a spec has failed. */
  hasFailed(): boolean {
    return POOLS.some((name) => this.pool(name)?.status?.nodeGroup?.failedTarget !== undefined);
  }

  /** The errors at the end of this life; none if every pool is as specified or reports why not. */
  async complaints(): Promise<string[]> {
    const found: string[] = [...this.world.violations];
    for (const name of POOLS) found.push(...(await this.#complaintsOf(name)).map((text) => `${name}: ${text}`));
    return found;
  }

  async #complaintsOf(name: string): Promise<string[]> {
    const pool = this.pool(name);
    const described = await this.#deps.nodeGroups.describe(name, signal);
    const group = described.ok ? described.value : undefined;
    if (!pool) return group && group.tags['winpool.dev/pool'] === name ? ['the pool is gone and left its group'] : [];
    const conditions = pool.status?.conditions ?? [];
    const left = pool.spec.paused ? [] : leftOf(pool, this.world.nodesOf(name));
    if (left.length > 0) return left;
    const pending = this.#pendingRemovals(pool, name);
    if (pending.length > 0) return pending;
    if (pool.spec.paused)
      return conditions.some(({ type }) => type === 'Paused') ? [] : ['it is paused and does not say so'];
    if (pool.metadata.deletionTimestamp) return ['the pool is still being deleted'];
    const reconciling = conditions.find(({ type }) => type === 'Reconciling');
    if (reconciling) return [`it is still Reconciling: ${reconciling.message}`];
    // A release that was never published cannot be reached. The pool reports it.
    if (pool.status?.nodeGroup?.failedTarget) {
      const { releaseVersion, kubernetesVersion } = pool.spec.nodeGroup ?? {};
      // EKS does not change to an older version either.
      const isOlder = (kubernetesVersion ?? releaseVersion)?.startsWith('1.35') && group?.kubernetesVersion === '1.36';
      const impossible = releaseVersion === UNPUBLISHED || isOlder;
      return impossible ? [] : [`it gave up: ${pool.status.nodeGroup.failedTarget.message}`];
    }
    // A group with a newer version than the control plane waits for it.
    if (!group) return conditionOf(pool, 'PrerequisitesMet') === 'False/UnsupportedVersion' ? [] : ['it has no group'];
    if (!isOwnedBy(pool, group)) {
      const isReported = conditionOf(pool, 'NodeGroupReady') === 'False/NotOwned';
      return isReported && pool.spec.nodeGroup?.adoption === 'Never' ? [] : ['the group is not its own'];
    }
    // With Report, edits of other users are kept.
    const isKept = pool.spec.nodeGroup?.driftPolicy === 'Correct' || !this.world.edited.has(name);
    const differing = isKept ? this.#differing(pool, name) : [];
    if (differing.length > 0) return [`the group differs in ${differing}`];
    const upToDate = conditionOf(pool, 'UpToDate');
    return upToDate.startsWith('True/') || ACCEPTED_STATES.includes(upToDate) ? [] : [`UpToDate=${upToDate}`];
  }

  /** Nodes that should have been removed, and still exist. */
  #pendingRemovals(pool: WindowsPool, name: string): string[] {
    const { world } = this;
    const nodes = world.nodesOf(name);
    const { status, scalingConfig } = world.cloud.state.groups.get(name)?.nodegroup ?? {};
    const isHeld = POOLS.some((other) => other !== name && this.pool(other)?.status?.disruption !== undefined);
    const isWhole = nodes.length === scalingConfig?.desiredSize && nodes.every(isAvailable);
    if (pool.spec.paused || pool.metadata.deletionTimestamp || status !== 'ACTIVE' || isHeld || !isWhole) return [];
    if (!conditionOf(pool, 'NodeGroupReady').startsWith('True/')) return [];
    const failing = nodes.filter(({ verified }) => verified?.status === 'False');
    const { remediation } = pool.spec;
    const isHealing = remediation && failing.length <= most(remediation.maxUnhealthy, nodes.length);
    return [
      ...nodes
        .filter(({ annotations }) => annotations[REPLACE_ANNOTATION] === 'true')
        .map((node) => `node ${node.name} is still to be replaced`),
      ...(isHealing ? failing : [])
        .filter(({ annotations }) => !(REMEDIATION_ANNOTATION in annotations))
        .map((node) => `node ${node.name} fails and is not replaced`),
    ];
  }

  /** The fields in which the group in EKS differs from the spec. Does not use the operator's own comparison, which may have the bug. */
  #differing(pool: WindowsPool, name: string): string[] {
    const { spec } = pool;
    const { labels, taints, tags, scalingConfig, releaseVersion, version, launchTemplate } =
      this.world.cloud.state.group(name).nodegroup;
    const has = (all: Readonly<Record<string, string>> | undefined, expected: Readonly<Record<string, string>> = {}) =>
      Object.entries(expected).every(([key, value]) => all?.[key] === value);
    const isTainted = (key: string, value: string) =>
      taints?.some((taint) => taint.key === key && taint.value === value);
    const { releaseVersion: pin, kubernetesVersion: minor, launchTemplate: specTemplate } = spec.nodeGroup ?? {};
    const template = /^\d+$/.test(String(specTemplate?.version)) ? String(specTemplate?.version) : undefined;
    // Waiting for the control plane, or for a version of the template, is reported.
    const isWaiting = /UnsupportedVersion|LaunchTemplateInvalid/.test(conditionOf(pool, 'UpToDate'));
    const checks: readonly (readonly [string, boolean | undefined])[] = [
      ['labels', has(labels, { ...spec.labels, 'winpool.dev/pool': name })],
      [
        'taints',
        isTainted('os', 'windows') && spec.taints?.every(({ key, value = '' }) => isTainted(key, value)) !== false,
      ],
      ['tags', has(tags, { ...spec.nodeGroup?.tags, 'winpool.dev/pool': name })],
      ['min', scalingConfig?.minSize === spec.nodeGroup?.scaling.minSize],
      ['max', scalingConfig?.maxSize === spec.nodeGroup?.scaling.maxSize],
      ['release', pin === undefined || releaseVersion === pin],
      ['version', minor === undefined || version === minor || isWaiting],
      ['template', template === undefined || launchTemplate?.version === template || isWaiting],
      ['gate', (spec.verification.policy === 'Gate') === (taints?.some(({ key }) => key === GATE_TAINT_KEY) ?? false)],
    ];
    return checks.filter(([, isRight]) => isRight !== true).map(([what]) => what);
  }

  async #wakeAll(): Promise<void> {
    for (const name of POOLS) await this.#run(name);
  }

  /** Reconciles a pool, and again while its own writes trigger it. */
  async #run(name: string): Promise<void> {
    for (let run = 0; run < 10; run++) {
      const before = this.#footprint();
      const next = await this.#once(name);
      if (next !== undefined) this.#due.set(name, this.world.now + next);
      else this.#due.delete(name);
      if (this.#footprint() === before) return;
    }
  }

  /** Milliseconds until the pool is requeued. A crashed process restarts at once. */
  async #once(name: string): Promise<number | undefined> {
    try {
      const next = await reconcile(name, this.#deps, signal);
      if (next.kind === 'requeue') {
        const tries = (this.#tries.get(name) ?? 0) + 1;
        this.#tries.set(name, tries);
        return Math.min(1_000 * 2 ** tries, 5 * MINUTE);
      }
      this.#tries.delete(name);
      return next.kind === 'requeueAfter' ? next.ms : undefined;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      this.#deps = this.world.start();
      return 0;
    }
  }

  #footprint(): string {
    const { pools, nodes, runtimeClasses } = this.world;
    const versions = [...pools.values()].map(({ metadata }) => metadata.resourceVersion);
    return JSON.stringify([
      versions,
      nodes.map(({ name, resourceVersion }) => [name, resourceVersion]),
      [...runtimeClasses],
    ]);
  }
}

function isAvailable({ ready, unschedulable }: NodeRecord): boolean {
  return ready === 'True' && !unschedulable;
}

/** `2`, or `40%` of a number, rounded down. */
function most(limit: number | string, all: number): number {
  const number = Number.parseInt(String(limit), 10);
  return String(limit).endsWith('%') ? Math.floor((number * all) / 100) : number;
}

/** Marks of the operator on nodes or in status that remain without an operation. */
function leftOf({ status }: WindowsPool, nodes: readonly NodeRecord[]): string[] {
  const cordoned = nodes.filter(({ annotations }) => CORDONED_ANNOTATION in annotations);
  return [
    ...cordoned.map(({ name }) => `node ${name} keeps the operator's cordon`),
    ...(status?.disruption ? [`it keeps its share of the budget: ${JSON.stringify(status.disruption)}`] : []),
  ];
}
