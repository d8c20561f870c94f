/**
 * The operator without a network: its domain and its AWS adapters on the local AWS in memory, with a small API server beside it
 * and one clock for all. Nothing here is random or reads the system clock, so the same actions give the same life.
 */
import type { Nodegroup } from '@aws-sdk/client-eks';
import { Ec2Capacity } from '../../controllers/aws/capacity.ts';
import { EksAccessEntries, EksAddons } from '../../controllers/aws/clusterSettings.ts';
import { EksClusters } from '../../controllers/aws/clusters.ts';
import { Ec2Instances } from '../../controllers/aws/instances.ts';
import { Ec2LaunchTemplates } from '../../controllers/aws/launchTemplates.ts';
import { EksNodeGroups } from '../../controllers/aws/nodeGroups.ts';
import { AwsRateLimiter } from '../../controllers/aws/rateLimiter.ts';
import { PublishedReleases } from '../../controllers/aws/releases.ts';
import { IamRolePolicies } from '../../controllers/aws/rolePolicies.ts';
import { AutoScalingGroups } from '../../controllers/aws/scalingGroups.ts';
import { nodeRecordOf } from '../../controllers/kubernetes/nodes.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import { NODE_GROUP_LABEL } from '../../controllers/windowspool/labels.ts';
import type { Settings } from '../../controllers/windowspool/model/observedState.ts';
import type { NodeRecord, Taint } from '../../controllers/windowspool/ports/nodes.ts';
import type { Deps } from '../../controllers/windowspool/reconcile.ts';
import { Crash, FakeWorld } from '../../controllers/windowspool/testing/fakeWorld.ts';
import { settings } from '../../controllers/windowspool/testing/fixtures.ts';
import { MemoryCloud } from '../localaws/memory.ts';
import { nodeFor, nodeTaint, podAddresses, podAddressResource, readyCondition } from '../localaws/nodes/nodeObject.ts';
import type { InstanceRecord, NodeEvent } from '../localaws/state.ts';
import type { Switches } from '../localaws/switches.ts';
import { sampleCluster } from '../localaws/testing/fixtures.ts';
import type { OperationName, Operations } from '../localaws/wire/operations.ts';
import { NodeInvariants } from './nodeInvariants.ts';
import { Workload } from './workload.ts';

/** The certificate authority by which the operator identifies its cluster. */
const authority = '-----BEGIN CERTIFICATE-----\nY2E=\n-----END CERTIFICATE-----\n';
const modelCluster = { ...sampleCluster, caData: Buffer.from(authority).toString('base64') };

/** As in the flags' defaults, but for the cluster. A second of the local AWS stands for a minute of the real one. */
const modelSettings: Settings = { ...settings, clusterName: sampleCluster.name, region: sampleCluster.region };

/** A launch template that exists from the beginning. */
export const TEMPLATE = 'windows';

/** What differs between such worlds. */
interface CloudWorldOptions {
  /** Of the cluster, such as `1.36`. */
  readonly kubernetesVersion?: string;
  /** The local AWS' answers to open questions about EKS. */
  readonly switches?: Partial<Switches>;
  /** How long a pod takes to terminate. */
  readonly podGraceSeconds?: number | undefined;
}

export class LocalAwsWorld extends FakeWorld {
  readonly cloud: MemoryCloud;
  /** Invariants that were broken. */
  readonly violations: string[] = [];
  readonly workload: Workload;
  readonly #nodeInvariants = new NodeInvariants(this, modelSettings.maxPoolsUpdating);
  /** Groups that other users changed. */
  readonly edited = new Set<string>();
  /** Calls of the operator that change something in AWS. */
  readonly writes: string[] = [];
  /** How many calls of ports the process still makes before it crashes. */
  callsLeft = Number.POSITIVE_INFINITY;

  /** The updates that EKS accepted since the last change of a spec, by their requests without token. */
  readonly #sent = new Map<string, string>();

  constructor({ kubernetesVersion = '1.35', switches = {}, podGraceSeconds }: CloudWorldOptions = {}) {
    super();
    this.workload = new Workload(this, podGraceSeconds);
    const cluster = { ...modelCluster, kubernetesVersion };
    this.cloud = new MemoryCloud({ cluster, switches, clock: { now: () => this.now } });
    this.cloud.faults.launchTemplate({ name: TEMPLATE, data: {} });
    this.cloud.state.onNodeEvent((event) => this.#follow(event));
  }

  /** After a change of a spec or a retry, what failed before may be tried again. */
  override apply(pool: Parameters<FakeWorld['apply']>[0]): void {
    this.#sent.clear();
    super.apply(pool);
  }

  /** Lets time pass, in milliseconds. */
  pass(ms: number): void {
    this.now += ms;
    this.cloud.state.timeline.settle();
    this.workload.pass();
  }

  /** The nodes of a pool's group. */
  nodesOf(pool: string): readonly NodeRecord[] {
    return this.nodes.filter(({ labels }) => labels[NODE_GROUP_LABEL] === pool);
  }

  /** A kubelet stops or resumes reporting. */
  setReady(name: string, ready: boolean): void {
    const instance = [...this.cloud.state.instances.values()].find(({ nodeName }) => nodeName === name);
    if (instance?.state === 'running') this.cloud.faults.nodeReady({ node: instance.id, ready });
  }

  override start(): Deps {
    this.callsLeft = Number.POSITIVE_INFINITY;
    // Only `pass` lets time go by, so nothing waits for a token.
    const clock = { ...realClock, monotonic: () => this.now, sleep: async () => undefined };
    const limiter = new AwsRateLimiter(() => undefined, clock);
    const send = (operation: string, input: object, signal: AbortSignal) => this.#send(operation, input, signal);
    const eks = send as ConstructorParameters<typeof EksNodeGroups>[1];
    const ec2 = send as ConstructorParameters<typeof Ec2Instances>[0];
    const ssm = send as ConstructorParameters<typeof PublishedReleases>[0];
    const iam = send as ConstructorParameters<typeof IamRolePolicies>[0];
    const autoScaling = send as ConstructorParameters<typeof AutoScalingGroups>[1];
    const { name } = modelCluster;
    const scalingGroups = new AutoScalingGroups(name, autoScaling, limiter);
    const deps = {
      ...super.start(),
      settings: modelSettings,
      clusters: new EksClusters(name, eks, limiter, async () => authority),
      nodeGroups: new EksNodeGroups(name, eks, limiter),
      addons: new EksAddons(name, eks, limiter),
      accessEntries: new EksAccessEntries(name, eks, limiter),
      rolePolicies: new IamRolePolicies(iam, limiter),
      capacity: new Ec2Capacity(ec2, limiter),
      releases: new PublishedReleases(ssm, ec2, limiter),
      instances: new Ec2Instances(ec2, limiter, (group, signal) => scalingGroups.members(group, signal)),
      launchTemplates: new Ec2LaunchTemplates(ec2, limiter),
      scalingGroups,
      drains: this.workload,
    };
    return this.#mortal(this.#nodeInvariants.watch(deps));
  }

  /** Crashes the process after one of the next calls, which keeps its effect. */
  #mortal(deps: Deps): Deps {
    const ports = [
      'pools',
      'budget',
      'nodeGroups',
      'accessEntries',
      'nodes',
      'drains',
      'instances',
      'scalingGroups',
      'runtimeClasses',
    ] as const;
    const wrapped = ports.map((name) => [name, this.#counted(deps[name])] as const);
    return { ...deps, ...Object.fromEntries(wrapped) };
  }

  #counted<P extends object>(port: P): P {
    return new Proxy(port, {
      get: (target, key) => {
        const method: unknown = Reflect.get(target, key);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => {
          const result: unknown = method.apply(target, args);
          if (!(result instanceof Promise)) return result;
          this.callsLeft -= 1;
          const dies = this.callsLeft <= 0;
          return result.then((value) => {
            if (dies) throw new Crash(`after ${String(key)}`);
            return value;
          });
        };
      },
    });
  }

  async #send(operation: string, input: object, signal: AbortSignal): Promise<unknown> {
    if (/^(Create|Update|Delete|Tag|Untag|Terminate)/.test(operation)) this.#checkWrite(operation, input);
    const output = await this.cloud.send(
      operation as OperationName,
      input as Operations[OperationName]['input'],
      signal,
    );
    const { update } = output as { readonly update?: { readonly id?: string } };
    if (operation.startsWith('UpdateNodegroup') && update?.id !== undefined) this.#follows(operation, input, update.id);
    return output;
  }

  /** Records an update that EKS accepted. Repeating the call of a failed one with its token is no new update: it returns the result. */
  #follows(operation: string, input: { nodegroupName?: string }, id: string): void {
    const before = this.#sent.get(requestedBy(input));
    const { status } = this.cloud.state.updates.get(before ?? '')?.update ?? {};
    if (before !== id && status === 'Failed')
      this.violations.push(`${operation} of ${input.nodegroupName} is repeated though it failed`);
    this.#sent.set(requestedBy(input), id);
  }

  /** Checks a write at the moment it is sent. */
  #checkWrite(operation: string, input: CheckedInput): void {
    this.cloud.state.timeline.settle();
    const { groups, updates } = this.cloud.state;
    const { nodegroupName: name = '', InstanceId: instance, ShouldDecrementDesiredCapacity: shrink = false } = input;
    if (instance !== undefined) this.#nodeInvariants.checkTermination(instance, shrink);
    this.writes.push(`${operation} ${name}`);
    if (operation === 'CreateNodegroup') {
      const pool = input.tags?.['winpool.dev/pool'];
      const others = [...groups.values()].filter(
        (one) => one.name !== name && one.nodegroup.tags?.['winpool.dev/pool'] === pool,
      );
      if (others.length > 0) this.violations.push(`pool ${pool} gets a second group ${name}`);
    }
    if (operation.startsWith('UpdateNodegroup')) {
      const running = [...updates.values()].some(
        ({ group, update }) => group === name && update.status === 'InProgress',
      );
      if (running) this.violations.push(`${operation} of ${name} during another update`);
    }
    if (operation === 'UpdateNodegroupVersion') {
      const leaving = this.pools.get(name)?.status?.disruption?.nodes;
      if (leaving) this.violations.push(`${name} is updated while ${leaving.map((one) => one.name)} go`);
      const limit = this.pools.get(name)?.spec.disruption?.maxUnavailable;
      const { maxUnavailable, maxUnavailablePercentage } = groups.get(name)?.nodegroup.updateConfig ?? {};
      const taken = maxUnavailablePercentage === undefined ? maxUnavailable : `${maxUnavailablePercentage}%`;
      if (limit !== undefined && limit !== taken)
        this.violations.push(`${name} is updated by ${taken} nodes at a time, not ${limit}`);
      const rolling = [...groups.values()].filter((one) => one.rollout !== undefined && one.name !== name);
      if (rolling.length >= modelSettings.maxPoolsUpdating)
        this.violations.push(`${name} is updated while ${rolling.map((one) => one.name)} is`);
    }
  }

  #follow(event: NodeEvent): void {
    const { instance } = event;
    if (event.kind === 'join' || event.kind === 'restart') this.#put(instance);
    if (event.kind === 'leave') {
      this.nodes = this.nodes.filter(({ name }) => name !== instance.nodeName);
      this.workload.leave(instance.nodeName);
    }
    if (event.kind === 'lost') this.#change(instance, (node) => ({ ...node, ready: 'Unknown' }));
    if (event.kind === 'cordon') this.#change(instance, (node) => ({ ...node, unschedulable: event.on }));
    // The workload has no pods that block a drain.
    if (event.kind === 'drain') event.drained();
    if (event.kind === 'ready') {
      this.#change(instance, (node) => ({ ...node, ready: event.ready ? 'True' : 'False' }));
    }
    if (event.kind === 'podAddresses') {
      const count = { [podAddressResource]: String(podAddresses(this.cloud.state, instance)) };
      this.#change(instance, (node) => ({ ...node, allocatable: { ...node.allocatable, ...count } }));
    }
    if (event.kind === 'relabel') this.#change(instance, (node) => relabelled(node, event.before, event.after));
  }

  /** A kubelet registers, and its node is Ready at once; one that registers again keeps what others wrote. */
  #put(instance: InstanceRecord): void {
    const object = nodeFor(this.cloud.state, instance);
    const ready = readyCondition(instance.defect.notReady !== true, this.cloud.state.timeline.now());
    const metadata = {
      ...object.metadata,
      uid: `uid-${instance.id}`,
      resourceVersion: '1',
      creationTimestamp: new Date(this.now).toISOString(),
    };
    const record = nodeRecordOf({ ...object, metadata, status: { ...object.status, conditions: [ready] } });
    const born = { ...record, taints: record.taints.filter(({ key }) => !key.startsWith('node.cloudprovider')) };
    const known = this.nodes.find(({ name }) => name === instance.nodeName);
    if (!known) {
      this.nodes = [...this.nodes, born];
      this.workload.join(born.name);
    } else
      this.setNode({
        ...born,
        taints: known.taints,
        labels: { ...known.labels, ...born.labels },
        verified: known.verified,
        verifiedSince: known.verifiedSince,
        annotations: known.annotations,
        unschedulable: known.unschedulable,
      });
  }

  #change(instance: InstanceRecord, how: (node: NodeRecord) => NodeRecord): void {
    const node = this.nodes.find(({ name }) => name === instance.nodeName);
    if (node) this.setNode(how(node));
  }
}

/** The fields of a write that are checked. */
interface CheckedInput {
  readonly nodegroupName?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly InstanceId?: string;
  readonly ShouldDecrementDesiredCapacity?: boolean;
}

/** The request of an update without its token. */
function requestedBy(input: object): string {
  return JSON.stringify({ ...input, clientRequestToken: undefined });
}

/** As EKS' node manager: a changed configuration reaches living nodes. */
function relabelled(node: NodeRecord, before: Nodegroup, after: Nodegroup): NodeRecord {
  const gone = Object.keys(before.labels ?? {});
  const kept = Object.entries(node.labels).filter(([key]) => !gone.includes(key));
  const [old, wanted] = [before, after].map(({ taints = [] }) => taints.map((taint) => nodeTaint(taint) as Taint));
  const isOfGroup = (taint: Taint) =>
    [...(old ?? []), ...(wanted ?? [])].some((other) => other.key === taint.key && other.effect === taint.effect);
  return {
    ...node,
    labels: { ...Object.fromEntries(kept), ...after.labels },
    taints: [...node.taints.filter((taint) => !isOfGroup(taint)), ...(wanted ?? [])],
  };
}
