import type { Nodegroup } from '@aws-sdk/client-eks';
import type { CoreV1Api, V1Node, V1Taint } from '@kubernetes/client-node';
import type { ControllerWarning, InstanceRecord, NodeEvent } from '../records.ts';
import type { LocalAwsState } from '../state.ts';
import { type ApiServer, unlessRefused } from './apiServer.ts';
import { cordonNode, evictPods } from './evictions.ts';
import {
  cloudLabels,
  lostCondition,
  nodeFor,
  nodeInfo,
  nodeTaint,
  podAddresses,
  podAddressResource,
  readyCondition,
  restartLabels,
  uninitializedTaint,
} from './nodeObject.ts';

/**
 * Makes the writes in Kubernetes that a node event causes, one attempt (a drain continues until it is done or its signal aborts). Throws
 * ApiException, or the error of the connection.
 */
export async function nodeStep(
  cloud: LocalAwsState,
  server: ApiServer,
  event: NodeEvent,
  signal: AbortSignal,
): Promise<void> {
  const { instance } = event;
  const name = instance.nodeName;
  const steps = new NodeSteps(cloud, instance, (agent) =>
    server.as(agent, signal, agent === 'kubelet' ? name : undefined),
  );
  switch (event.kind) {
    case 'join':
    case 'restart':
      return steps.start();
    case 'podAddresses':
      return steps.givePodAddresses();
    case 'controllerWarning':
      return steps.warn(event.reason);
    case 'ready':
      return steps.reportReady(event.ready);
    case 'relabel':
      return steps.relabel(event.before, event.after);
    case 'cordon':
      return cordonNode(server.as('eks-node-manager', signal), name, event.on);
    case 'drain': {
      const either = AbortSignal.any([signal, event.signal]);
      if (await evictPods(server.as('eks-node-manager', signal), name, either)) event.drained();
      return;
    }
    case 'lost':
      return steps.lose();
    case 'leave':
      return steps.leave();
  }
}

type Agent =
  | 'kubelet'
  | 'cloud-controller-manager'
  | 'node-controller'
  | 'vpc-resource-controller'
  | 'eks-node-manager';

/** The writes of kubelets and controllers for the Node of one instance. */
class NodeSteps {
  readonly #cloud: LocalAwsState;
  readonly #instance: InstanceRecord;
  readonly #name: string;
  readonly #as: (agent: Agent) => CoreV1Api;

  constructor(cloud: LocalAwsState, instance: InstanceRecord, as: (agent: Agent) => CoreV1Api) {
    this.#cloud = cloud;
    this.#instance = instance;
    this.#name = instance.nodeName;
    this.#as = as;
  }

  /** A kubelet starts: it registers its Node, or updates its own fields in an existing one. */
  async start(): Promise<void> {
    // Its times are strings, which client-node sends unchanged.
    const body: object = nodeFor(this.#cloud, this.#instance);
    const created = await this.#as('kubelet')
      .createNode({ body: body as V1Node })
      .catch(unlessRefused(409));
    if (created === undefined) {
      const status = { nodeInfo: nodeInfo(this.#cloud, this.#instance) };
      await this.#patchStatus('kubelet', status, { labels: restartLabels(this.#instance) });
    }
    await this.#initialize();
  }

  /** The cloud controller manager adds its labels and removes its taint. */
  async #initialize(): Promise<void> {
    const agent = 'cloud-controller-manager';
    await this.#changeTaints(agent, (taints) => taints.filter(({ key }) => key !== uninitializedTaint.key));
    await this.#patchLabels(agent, cloudLabels(this.#cloud, this.#instance));
  }

  /** The VPC resource controller, which runs in EKS' control plane. */
  async givePodAddresses(): Promise<void> {
    const count = { [podAddressResource]: String(podAddresses(this.#cloud, this.#instance)) };
    await this.#patchStatus('vpc-resource-controller', { capacity: count, allocatable: count });
  }

  /** The same controller: an event about the Node, with its name as the UID, because kubelets do that and kubectl describe selects it. */
  async warn(reason: ControllerWarning): Promise<void> {
    const messages: Readonly<Record<ControllerWarning, string>> = {
      Unsupported: `The instance type ${this.#instance.type} is not supported for Windows`,
      InsufficientCidrBlocks:
        'InsufficientCidrBlocks: The specified subnet does not have enough free cidr blocks to satisfy the request',
    };
    const now = this.#cloud.timeline.now();
    const name = this.#name;
    const body = {
      metadata: { generateName: `${name}.`, namespace: 'default' },
      involvedObject: { apiVersion: 'v1', kind: 'Node', name, uid: name },
      reason,
      message: messages[reason],
      type: 'Warning',
      source: { component: 'vpc-resource-controller' },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    };
    await this.#as('vpc-resource-controller').createNamespacedEvent({ namespace: 'default', body });
  }

  async reportReady(ready: boolean): Promise<void> {
    await this.#patchStatus('kubelet', { conditions: [readyCondition(ready, this.#cloud.timeline.now())] });
  }

  /** The node lifecycle controller: the kubelet has stopped reporting. */
  async lose(): Promise<void> {
    const conditions = [lostCondition(this.#cloud.timeline.now())];
    await this.#patchStatus('node-controller', { conditions }).catch(unlessRefused(404));
  }

  /** EKS' node manager: a changed configuration is applied to existing nodes. */
  async relabel(before: Nodegroup, after: Nodegroup): Promise<void> {
    const agent = 'eks-node-manager';
    const gone = Object.keys(before.labels ?? {}).filter((label) => after.labels?.[label] === undefined);
    await this.#patchLabels(agent, { ...Object.fromEntries(gone.map((label) => [label, null])), ...after.labels });
    const old = (before.taints ?? []).map((taint) => nodeTaint(taint));
    const current = (after.taints ?? []).map((taint) => nodeTaint(taint));
    const ofGroup = [...old, ...current];
    if (ofGroup.length === 0) return;
    await this.#changeTaints(agent, (taints) => [
      ...taints.filter(({ key, effect }) => !ofGroup.some((other) => other.key === key && other.effect === effect)),
      ...current,
    ]);
  }

  /** The node lifecycle part of the cloud controller manager: it deletes the Node of a terminated instance. */
  async leave(): Promise<void> {
    await this.#as('cloud-controller-manager').deleteNode({ name: this.#name }).catch(unlessRefused(404));
  }

  async #patchLabels(agent: Agent, labels: Readonly<Record<string, string | null>>): Promise<void> {
    await this.#as(agent).patchNode({ name: this.#name, body: { metadata: { labels } } });
  }

  async #patchStatus(agent: Agent, status: object, metadata?: object): Promise<void> {
    await this.#as(agent).patchNodeStatus({ name: this.#name, body: { metadata, status } });
  }

  /** The list of taints is atomic: read, change, and write only if nobody else has written in between (409 otherwise). */
  async #changeTaints(agent: Agent, change: (taints: readonly V1Taint[]) => readonly object[]): Promise<void> {
    const api = this.#as(agent);
    const { metadata, spec } = await api.readNode({ name: this.#name });
    const taints = change(spec?.taints ?? []);
    const body = { metadata: { resourceVersion: metadata?.resourceVersion }, spec: { taints } };
    await api.patchNode({ name: this.#name, body });
  }
}
