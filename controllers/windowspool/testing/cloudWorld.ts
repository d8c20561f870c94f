/** The real AWS adapters on the local AWS in memory, whose nodes join the fake cluster. */
import type { Nodegroup } from '@aws-sdk/client-eks';
import { copyOf } from '../../../test/fakes/localaws/copy.ts';
import { valuesOf } from '../../../test/fakes/localaws/eks/addons.ts';
import { MemoryCloud } from '../../../test/fakes/localaws/memory.ts';
import type { InstanceRecord, NodeEvent, SettingEvent } from '../../../test/fakes/localaws/records.ts';
import type { ReleaseDay } from '../../../test/fakes/localaws/releases.ts';
import type { LocalAwsState, StateOptions } from '../../../test/fakes/localaws/state.ts';
import type { OperationName } from '../../../test/fakes/localaws/wire/operations.ts';
import type { AwsClients } from '../../aws/clients.ts';
import { createRequest, fromEks } from '../../aws/nodeGroups.ts';
import { createAwsPorts } from '../../aws/ports.ts';
import { AwsRateLimiter } from '../../aws/rateLimiter.ts';
import { realClock } from '../../runtime/clock.ts';
import type { CallError, CallErrorKind } from '../ports/callResult.ts';
import type { NewNodeGroup, NodeGroup } from '../ports/eks.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { FakeCluster } from './fakeCluster.ts';
import { MINUTE, RELEASE, SUBNETS, settings } from './fixtures.ts';
import { podAddressesOf, registeredNode, relabelled, restartedNode } from './nodesOfInstances.ts';

/** The certificate authority of the operator's cluster. */
export const AUTHORITY = '-----BEGIN CERTIFICATE-----\nY2E=\n-----END CERTIFICATE-----\n';
const IPAM = 'enable-windows-ipam';

/** A node group is ACTIVE, and has its nodes, when it is polled for the first time, a second after its creation. */
const SPEED = 5;

/** The initial release of EKS. */
const FIRST: ReleaseDay = {
  date: dateOf(RELEASE),
  containerd: '2.1.6',
  revisions: { '2019': 8389, '2022': 4773, '2025': 32370 },
};

/** The error of AWS for each kind. */
const ERRORS: Readonly<Record<CallErrorKind, readonly [name: string, httpStatusCode: number]>> = {
  denied: ['AccessDeniedException', 403],
  throttled: ['ThrottlingException', 429],
  unavailable: ['ServiceUnavailableException', 503],
  busy: ['ResourceInUseException', 409],
  conflict: ['ResourceInUseException', 409],
  refused: ['InvalidRequestException', 400],
  limit: ['ResourceLimitExceededException', 400],
  gone: ['ResourceNotFoundException', 404],
  unknown: ['UnknownException', 400],
};

/** The error as a client of the SDK throws it, under its own name if it has one. */
function sdkError({ kind, code, message }: CallError): Error {
  const [name, httpStatusCode] = ERRORS[kind];
  return Object.assign(new Error(message), {
    name: code === `${kind}Exception` ? name : code,
    $metadata: { httpStatusCode },
  });
}

/** The date in a release version. */
function dateOf(release: string): string {
  return release.replace(/^[\d.]+-/, '');
}

export class CloudWorld extends FakeCluster {
  readonly cloud: MemoryCloud;
  /** The instances that the operator terminated. */
  readonly ended: string[] = [];
  /** Changes an answer of AWS on its way to the operator. */
  alter: (operation: string, output: unknown) => unknown = (_operation, output) => output;
  readonly #created = new Set<string>();
  /** ConfigMap amazon-vpc-cni as the add-on wrote it. */
  #cniConfigOfAddon: Readonly<Record<string, string>> | undefined;

  constructor(options: Partial<StateOptions> = {}) {
    super();
    const { clusterName: name, region } = settings;
    const caData = Buffer.from(AUTHORITY).toString('base64');
    const cluster = { name, region, caData, endpoint: 'https://127.0.0.1:6443', kubernetesVersion: '1.36' };
    const clock = { now: () => this.now };
    const switches = { releaseInEks: 'atOnce', ...options.switches } as const;
    const own = { cluster, clock, speed: SPEED, subnetIds: SUBNETS, releases: [FIRST] };
    this.cloud = new MemoryCloud({ ...own, ...options, switches });
    this.cloud.state.onNodeEvent((event) => this.#follow(event));
    this.cloud.state.onSetting((event) => this.#set(event));
  }

  /** The node groups, as EKS describes them. */
  get groups(): ReadonlyMap<string, NodeGroup> {
    const groups = [...this.cloud.state.groups.values()].map(({ nodegroup }) => fromEks(copyOf(nodegroup)));
    return new Map(groups.map((group) => [group.name, group]));
  }

  /** The number of node groups that the operator created. */
  get created(): number {
    return this.#created.size;
  }

  /** The updates of node groups and add-ons, by id. */
  get updates(): LocalAwsState['updates'] {
    return this.cloud.state.updates;
  }

  /** The tags of a node group's scaling group, without those of EKS. */
  scalingTags(group = 'web'): Readonly<Record<string, string>> {
    const { autoScalingTags } = this.cloud.state.group(group);
    return Object.fromEntries(autoScalingTags.map(({ Key = '', Value = '' }) => [Key, Value]));
  }

  /** Another client created this group an hour ago; the operation of one that is CREATING or DELETING starts now. */
  makeGroup(group: NodeGroup): void {
    const { faults, state } = this.cloud;
    const { name, status } = group;
    const { now } = this;
    if (status !== 'CREATING') this.now -= 60 * MINUTE;
    if (status === 'CREATE_FAILED') faults.createFailure({ issues: [] });
    faults.consoleCreate(createRequest(state.cluster.name, group as NewNodeGroup));
    state.group(name).nodegroup.nodegroupArn = group.arn;
    this.now = now;
    if (status === 'DELETING') faults.consoleDelete({ group: name });
  }

  /** EKS publishes a release such as `1.36-2026.03.17`, of all minors. It accepts one that is not offered yet after the returned function is called. */
  publish(release: string, { isOffered = true } = {}): () => void {
    const date = dateOf(release);
    this.cloud.faults.release({ date, ...(!isOffered && { ahead: true }) });
    return () => delete this.cloud.state.releases.find((day) => day.date === date)?.ahead;
  }

  /** The domain's ports to AWS. */
  protected awsPorts() {
    // Time passes only in tests, so nothing waits for a token.
    const clock = { ...realClock, monotonic: () => this.now, sleep: async () => undefined };
    const limiter = new AwsRateLimiter(() => undefined, clock);
    const send = (operation: string, input: object, signal: AbortSignal) =>
      this.send(operation, input, signal) as never;
    const clients: Omit<AwsClients, 'close'> = { eks: send, ec2: send, ssm: send, iam: send, autoScaling: send };
    return createAwsPorts(this.cloud.state.cluster.name, clients, limiter, async () => AUTHORITY);
  }

  /** One request of an adapter. */
  protected async send(operation: string, input: object, signal: AbortSignal): Promise<unknown> {
    const answer = await this.call(operation, () => this.deliver(operation, input, signal));
    if (!answer.ok) throw sdkError(answer.error);
    return this.alter(operation, answer.value);
  }

  /** Carries out a request that has arrived at AWS. Rejects with the error of the SDK. */
  protected async deliver(operation: string, input: object, signal: AbortSignal): Promise<unknown> {
    const output = await this.cloud.send(operation as OperationName, input as never, signal);
    this.#count(operation, input, output);
    return output;
  }

  protected override timePassed(): void {
    this.cloud.state.timeline.settle();
  }

  protected override isGroup(name: string): boolean {
    return this.cloud.state.groups.has(name);
  }

  /** A kubelet has registered. */
  protected joined(_node: string): void {}

  /** A node is gone. */
  protected left(_node: string): void {}

  #count(operation: string, input: object, output: object): void {
    if ('InstanceId' in input) this.ended.push(String(input.InstanceId));
    if (operation === 'CreateNodegroup' && 'nodegroup' in output)
      this.#created.add((output.nodegroup as Nodegroup).nodegroupArn ?? '');
  }

  #follow(event: NodeEvent): void {
    const { instance, kind } = event;
    const { state } = this.cloud;
    if (kind === 'join' || kind === 'restart') this.#put(instance);
    if (kind === 'leave') {
      this.nodes = this.nodes.filter(({ name }) => name !== instance.nodeName);
      // The garbage collector deletes what the node owns.
      this.setNodePods(this.nodePods.filter(({ node }) => node !== instance.nodeName));
      this.deliverNodeEvents();
      this.left(instance.nodeName);
    }
    if (kind === 'lost') this.#change(instance, () => ({ ready: 'Unknown' }));
    if (kind === 'cordon') this.#change(instance, () => ({ unschedulable: event.on }));
    // All pods can be evicted here.
    if (kind === 'drain') event.drained();
    if (kind === 'ready') this.#change(instance, () => ({ ready: event.ready ? 'True' : 'False' }));
    if (kind === 'podAddresses') this.#change(instance, (node) => podAddressesOf(state, instance, node));
    if (kind === 'relabel') this.#change(instance, (node) => relabelled(node, event.before, event.after));
  }

  #put(instance: InstanceRecord): void {
    const node = { ...registeredNode(this.cloud.state, instance), resourceVersion: this.next() };
    const known = this.nodes.find(({ name }) => name === node.name);
    if (known) this.setNode(restartedNode(known, node));
    else {
      this.nodes = [...this.nodes, node];
      this.deliverNodeEvents();
      this.joined(node.name);
    }
  }

  #change(instance: InstanceRecord, how: (node: NodeRecord) => Partial<NodeRecord>): void {
    const node = this.nodes.find(({ name }) => name === instance.nodeName);
    if (node) this.setNode({ ...node, ...how(node) });
  }

  /** Simulates how EKS writes and reads settings in the cluster. */
  #set(event: SettingEvent): void {
    const { state } = this.cloud;
    const { kubeSystem } = this;
    if (event.kind === 'mapRole')
      kubeSystem.roleMappings = [...kubeSystem.roleMappings, { roleArn: event.roleArn, groups: event.groups }];
    if (event.kind === 'unmapRole')
      kubeSystem.roleMappings = kubeSystem.roleMappings.filter(({ roleArn }) => roleArn !== event.roleArn);
    if (event.kind === 'readAwsAuth') {
      state.awsAuth.clear();
      for (const { roleArn, groups } of kubeSystem.roleMappings) state.awsAuth.set(roleArn, groups);
    }
    if (event.kind !== 'addon') return;
    const addon = state.addons.get('vpc-cni');
    const { enableWindowsIpam = 'false' } = (addon ? valuesOf(addon) : {}) as Readonly<Record<string, string>>;
    const { cniConfig } = kubeSystem;
    // A value of another client is kept.
    const isKept = cniConfig?.[IPAM] !== undefined && cniConfig !== this.#cniConfigOfAddon;
    if (addon && (event.conflicts === 'OVERWRITE' || !isKept)) {
      this.#cniConfigOfAddon = { ...cniConfig, [IPAM]: enableWindowsIpam };
      kubeSystem.cniConfig = this.#cniConfigOfAddon;
    }
    event.done(undefined);
  }
}
