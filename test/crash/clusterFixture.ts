/** The crash fixture with processes: one operator that can be killed at any of its requests, and an AWS whose clock stops between the requests that poll it. */
import assert from 'node:assert/strict';
import type { V1NodeList, V1RuntimeClass } from '@kubernetes/client-node';
import { createKubernetesClient, type KubernetesClient } from '../../controllers/kubernetes/client.ts';
import { isNotFound } from '../../controllers/kubernetes/errors.ts';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { silentLog } from '../../controllers/runtime/testing/silentLog.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import type { ApiProxy } from '../engine/apiProxy.ts';
import type { CallEntry } from '../fakes/localaws/wire/callLog.ts';
import { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import { CLUSTER_NAME, conditionLines, REGION, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { BUSY, type CrashFixture, emptyHistory, groupsOf, type History, record } from './fixture.ts';
import { startKillingProxy } from './killingProxy.ts';
import { type CrashPoint, type GatedRequest, type Moment, RequestGate } from './requestGate.ts';

const POOLS = '/apis/winpool.dev/v1alpha1/windowspools';
const RUNTIME_CLASSES = '/apis/node.k8s.io/v1/runtimeclasses';
const FINALIZER = 'winpool.dev/finalizer';
const STILL = 0.001;
const FAST = 100;
const FLAGS = [
  '--poll-interval=100ms',
  '--retry-base=20ms',
  '--retry-max=200ms',
  '--leader-elect=false',
  '--enable-node-group-adoption',
];
/** Longer than the longest poll interval of a pool. */
const QUIET_MS = 200;

/** Only against a hang: on a busy machine, a process and its caches take many seconds to start. */
const DEADLINE_MS = 180_000;

/**
 * Pools are tested one after the other, so every request is about `name`. A group that is CREATING, UPDATING or DELETING keeps that status for the
 * first poll of each operator; the second poll waits until EKS is done and its nodes exist. So a phase always takes the same requests.
 */
export class ClusterFixture implements CrashFixture, AsyncDisposable {
  readonly world: TestEnv;
  readonly admin: KubernetesClient;
  readonly gate: RequestGate;
  /** The name of the pool under test. */
  name = '';
  /** Whether its group may outlive it. */
  retained = false;
  /** Whether EKS finishes nothing, however often it is polled. */
  held = false;
  history: History = emptyHistory();
  /** More text for the error of a pool that does not reach the expected state. */
  explainMore: () => Promise<string> = async () => '';
  readonly #violations: string[] = [];
  readonly #gatedRequests = new WeakMap<CallEntry, GatedRequest>();
  readonly #signal = new AbortController().signal;
  #proxy: ApiProxy | undefined;
  #operator: OperatorProcess | undefined;
  readonly #flags: readonly string[];
  readonly #speedBefore: number;
  #polls = 0;
  #status: string | undefined;

  /** @param flags more flags of the operator */
  static async open(world: TestEnv, ...flags: readonly string[]): Promise<ClusterFixture> {
    const kubeconfigPath = world.controlPlane.adminKubeconfig;
    const admin = await createKubernetesClient({ kubeconfigPath, log: silentLog, version: 'crash-test' });
    return new ClusterFixture(world, [...FLAGS, ...flags], admin).#raise();
  }

  private constructor(world: TestEnv, flags: readonly string[], admin: KubernetesClient) {
    this.world = world;
    this.#flags = flags;
    this.#speedBefore = world.cloud.state.timeline.speed;
    this.gate = new RequestGate((kind) => this.#check(kind));
    this.admin = admin;
  }

  async #raise(): Promise<this> {
    const { controlPlane, operatorKubeconfig, cloud } = this.world;
    this.#proxy = await startKillingProxy(controlPlane, operatorKubeconfig, this.gate);
    cloud.setGate((entry, moment) => this.#gate(entry, moment));
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    this.world.cloud.setGate(() => {});
    this.world.cloud.faults.speed({ speed: this.#speedBefore });
    await this.#proxy?.[Symbol.asyncDispose]();
    this.admin.close();
  }

  /** Continues with a pool of another name. */
  next(name: string): void {
    this.name = name;
    this.retained = false;
    this.held = false;
    this.history = emptyHistory();
    this.#polls = 0;
  }

  /** Starts an operator if none runs. */
  start(): void {
    if (this.#operator?.running) return;
    this.#polls = 0;
    this.#operator = new OperatorProcess({
      credentials: this.#proxy?.kubeconfig ?? '',
      clusterName: CLUSTER_NAME,
      region: REGION,
      awsUrl: this.world.cloud.url,
      entry: this.world.entry,
      flags: this.#flags,
    });
  }

  async ready(): Promise<void> {
    this.start();
    await this.#operator?.ready();
  }

  async kill(): Promise<void> {
    await this.#operator?.kill();
  }

  /** Waits until the operator sends no more requests. */
  async quiet(): Promise<void> {
    await waitFor(() => this.gate.quietMs > QUIET_MS, {
      what: 'requests to cease',
      timeoutMs: DEADLINE_MS,
      intervalMs: 10,
    });
  }

  /** Runs `act` and returns the names of the requests that it causes until `end` is reached and the operator is quiet. */
  async recordRequests(act: () => Promise<void>, end: () => Promise<void>): Promise<string[]> {
    this.gate.begin();
    await act();
    await end();
    await this.quiet();
    return this.gate.end();
  }

  /** Runs `act`, kills the operator at the point, and starts another. Returns whether the point was reached. */
  async crash(point: CrashPoint, act: () => Promise<void>): Promise<boolean> {
    const killed = this.gate.killAt(point, () => this.kill());
    await act();
    const wasSent = await killed();
    this.start();
    return wasSent;
  }

  /** Waits for a state of the pool. The error has its conditions and the operator's log. */
  async until(what: string, predicate: (pool: WindowsPool | undefined) => boolean): Promise<WindowsPool | undefined> {
    let last: WindowsPool | undefined;
    const probe = async () => {
      last = await this.pool();
      return predicate(last) && { pool: last };
    };
    const explain = async () =>
      `${conditionLines(last)}\n${this.#describeAws()}\n${await this.explainMore()}${this.#operator?.tail() ?? ''}`;
    return (
      await waitFor(probe, { what: `pool ${this.name} ${what}`, timeoutMs: DEADLINE_MS, intervalMs: 20, explain })
    ).pool;
  }

  /** For the error of a pool that does not reach the expected state: its node groups and instances, and the speed of AWS. */
  #describeAws(): string {
    const { instances, timeline } = this.world.cloud.state;
    const groups = this.groups().map(({ status, scalingConfig }) => `${status}, desired ${scalingConfig?.desiredSize}`);
    const own = [...instances.values()].filter(({ group }) => group === this.name);
    const states = own.map(
      ({ id, state, joined, terminating = '' }) => `${id} ${state} joined=${joined} ${terminating}`,
    );
    return `node groups: ${groups}; instances: ${states}; speed ${timeline.speed}, ${this.#polls} looks`;
  }

  /** An object, or undefined when there is none. */
  async get<T>(path: string): Promise<Wire<T> | undefined> {
    try {
      return await this.admin.request<T>('GET', path, { signal: this.#signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async apply(manifest: object): Promise<void> {
    await this.admin.request('PATCH', `${POOLS}/${this.name}`, {
      body: manifest,
      contentType: 'application/apply-patch+yaml',
      query: { fieldManager: 'user', force: true },
      signal: this.#signal,
    });
  }

  async delete(path = `${POOLS}/${this.name}`): Promise<void> {
    await this.admin.request('DELETE', path, { signal: this.#signal });
  }

  pool(): Promise<WindowsPool | undefined> {
    return this.get(`${POOLS}/${this.name}`) as Promise<WindowsPool | undefined>;
  }

  runtimeClass(): Promise<Wire<V1RuntimeClass> | undefined> {
    return this.get<V1RuntimeClass>(`${RUNTIME_CLASSES}/${this.name}`);
  }

  deleteRuntimeClass(): Promise<void> {
    return this.delete(`${RUNTIME_CLASSES}/${this.name}`);
  }

  groups() {
    return groupsOf(this.world.cloud, this.name);
  }

  /** Fails when something was wrong at any moment so far. */
  assertClean(): void {
    assert.deepEqual(this.#violations.splice(0), []);
  }

  /** Lets EKS finish its work on the pool's node group, including its nodes. */
  async settle(): Promise<void> {
    this.world.cloud.faults.speed({ speed: FAST });
    await waitFor(
      async () => this.groups().every(({ status }) => !BUSY.includes(status ?? '')) && (await this.#nodesFollow()),
      { what: `EKS to be done with node group ${this.name}`, timeoutMs: DEADLINE_MS, intervalMs: 10 },
    );
  }

  async #nodesFollow(): Promise<boolean> {
    const [group] = this.groups();
    const expected = group?.status === 'ACTIVE' ? (group.scalingConfig?.desiredSize ?? 0) - this.#stranded() : 0;
    const query = { labelSelector: `eks.amazonaws.com/nodegroup=${this.name}` };
    const { items } = await this.admin.request<V1NodeList>('GET', '/api/v1/nodes', {
      query,
      signal: this.#signal,
    });
    const complete = items.filter(
      ({ status: found }) =>
        found?.allocatable?.['vpc.amazonaws.com/PrivateIPv4Address'] !== undefined &&
        found.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    );
    return items.length === expected && complete.length === expected;
  }

  /** How many instances run that never register as nodes. */
  #stranded(): number {
    const all = [...this.world.cloud.state.instances.values()].filter(({ group }) => group === this.name);
    return all.filter(({ defect, state, terminating }) => defect.neverJoins && state === 'running' && !terminating)
      .length;
  }

  async #gate(entry: CallEntry, moment: Moment): Promise<void> {
    const gated = this.#gatedRequests.get(entry) ?? this.gate.arrive(entry.operation);
    this.#gatedRequests.set(entry, gated);
    if (moment === 'after') {
      record(this.history, this.world.cloud, this.name, entry);
      this.#stopTime(entry.operation);
    }
    await gated.hold(moment);
    if (moment === 'before') await this.#control(entry.operation);
  }

  /** EKS began to work on the group, or an instance is being terminated: that continues only at the second poll. */
  #stopTime(operation: string): void {
    const status = this.groups()[0]?.status;
    const isWork = status !== this.#status && BUSY.includes(status ?? '');
    if (isWork || operation === 'TerminateInstanceInAutoScalingGroup') {
      this.#polls = 0;
      this.world.cloud.faults.speed({ speed: STILL });
    }
    this.#status = status;
  }

  async #control(operation: string): Promise<void> {
    if (operation !== 'DescribeNodegroup') return;
    this.#polls += 1;
    if (this.#polls > 1 && !this.held) await this.settle();
  }

  /** What must be true at every moment: at most one group, and none without a pool that its finalizer holds. */
  async #check(kind: string): Promise<void> {
    const groups = this.groups();
    if (groups.length > 1) this.#violations.push(`after ${kind} there were ${groups.length} groups`);
    if (groups.length === 0 || this.retained) return;
    const pool = await this.pool();
    // It may have gone while the pool was asked for.
    if (pool?.metadata.finalizers?.includes(FINALIZER) || this.groups().length === 0) return;
    this.#violations.push(`after ${kind} the group was there and the pool had no finalizer`);
  }
}
