import type { Nodegroup } from '@aws-sdk/client-eks';
import type { ControllerWarning, InstanceRecord, LocalAwsState, NodeEvent } from '../state.ts';
import { cordonNode, evictPods } from './evictions.ts';
import type { KubeAnswer, KubeClient, KubeRequest } from './kubeClient.ts';
import {
  cloudLabels,
  lostCondition,
  type NodeTaint,
  nodeFor,
  nodeInfo,
  nodeTaint,
  podAddresses,
  podAddressResource,
  readyCondition,
  restartLabels,
  uninitializedTaint,
} from './nodeObject.ts';
import { expectOk } from './nodeStepError.ts';

/** Does in Kubernetes what a node event means, one attempt (a drain goes on until it is done or given up). Throws NodeStepError, or what the connection threw. */
export async function nodeStep(
  cloud: LocalAwsState,
  kube: KubeClient,
  event: NodeEvent,
  signal: AbortSignal,
): Promise<void> {
  const send = (request: KubeRequest) => kube.send(request, signal);
  switch (event.kind) {
    case 'join':
    case 'restart':
      return start(cloud, event.instance, send);
    case 'podAddresses':
      return givePodAddresses(cloud, event.instance, send);
    case 'controllerWarning':
      return warn(event.instance, event.reason, cloud.timeline.now(), send);
    case 'ready':
      return reportReady(cloud, event.instance, event.ready, send);
    case 'relabel':
      return relabel(event.instance, event.before, event.after, send);
    case 'cordon':
      return cordonNode(event.instance, event.on, send);
    case 'drain':
      if (await evictPods(event.instance, send, AbortSignal.any([signal, event.signal]))) event.drained();
      return;
    case 'lost':
      return lose(cloud, event.instance, send);
    case 'leave':
      return leave(event.instance, send);
  }
}

type Send = (request: KubeRequest) => Promise<KubeAnswer>;

const pathOf = ({ nodeName }: InstanceRecord, subresource = ''): string => `/api/v1/nodes/${nodeName}${subresource}`;

// As a kubelet that starts: it registers, and where its Node exists already it puts right what it knows better.
async function start(cloud: LocalAwsState, instance: InstanceRecord, send: Send): Promise<void> {
  const body = nodeFor(cloud, instance);
  const answer = await send({ method: 'POST', path: '/api/v1/nodes', node: instance.nodeName, agent: 'kubelet', body });
  if (answer.status === 409) await measureAgain(cloud, instance, send);
  else expectOk(`register ${instance.nodeName}`, answer);
  await initialize(cloud, instance, send);
}

// As the cloud controller manager: labels that it knows best, and the end of its taint.
async function initialize(cloud: LocalAwsState, instance: InstanceRecord, send: Send): Promise<void> {
  await changeTaints(instance, send, 'cloud-controller-manager', (taints) =>
    taints.filter(({ key }) => key !== uninitializedTaint.key),
  );
  const body = { metadata: { labels: cloudLabels(cloud, instance) } };
  const patch: KubeRequest = {
    method: 'PATCH',
    path: pathOf(instance),
    agent: 'cloud-controller-manager',
    patch: 'merge-patch',
    body,
  };
  expectOk(`initialize ${instance.nodeName}`, await send(patch));
}

// As the VPC resource controller, which runs in EKS' control plane.
async function givePodAddresses(cloud: LocalAwsState, instance: InstanceRecord, send: Send): Promise<void> {
  const count = { [podAddressResource]: String(podAddresses(cloud, instance)) };
  const answer = await send({
    method: 'PATCH',
    path: pathOf(instance, '/status'),
    agent: 'vpc-resource-controller',
    patch: 'strategic-merge-patch',
    body: { status: { capacity: count, allocatable: count } },
  });
  expectOk(`give pod addresses to ${instance.nodeName}`, answer);
}

// As the same controller: an event about the Node, with its name for a UID, because kubelets do so and kubectl describe looks for it.
async function warn(instance: InstanceRecord, reason: ControllerWarning, now: Date, send: Send): Promise<void> {
  const words: Readonly<Record<ControllerWarning, string>> = {
    Unsupported: `The instance type ${instance.type} is not supported for Windows`,
    InsufficientCidrBlocks:
      'InsufficientCidrBlocks: The specified subnet does not have enough free cidr blocks to satisfy the request',
  };
  const { nodeName } = instance;
  const body = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { generateName: `${nodeName}.`, namespace: 'default' },
    involvedObject: { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeName },
    reason,
    message: words[reason],
    type: 'Warning',
    source: { component: 'vpc-resource-controller' },
    firstTimestamp: now.toISOString(),
    lastTimestamp: now.toISOString(),
    count: 1,
  };
  const path = '/api/v1/namespaces/default/events';
  expectOk(`warn of ${nodeName}`, await send({ method: 'POST', path, agent: 'vpc-resource-controller', body }));
}

async function measureAgain(cloud: LocalAwsState, instance: InstanceRecord, send: Send): Promise<void> {
  const answer = await send({
    method: 'PATCH',
    path: pathOf(instance, '/status'),
    node: instance.nodeName,
    agent: 'kubelet',
    patch: 'strategic-merge-patch',
    body: { metadata: { labels: restartLabels(instance) }, status: { nodeInfo: nodeInfo(cloud, instance) } },
  });
  expectOk(`measure ${instance.nodeName} again`, answer);
}

async function reportReady(cloud: LocalAwsState, instance: InstanceRecord, ready: boolean, send: Send): Promise<void> {
  const answer = await send({
    method: 'PATCH',
    path: pathOf(instance, '/status'),
    node: instance.nodeName,
    agent: 'kubelet',
    patch: 'strategic-merge-patch',
    body: { status: { conditions: [readyCondition(ready, cloud.timeline.now())] } },
  });
  expectOk(`report ${instance.nodeName} ${ready ? 'ready' : 'not ready'}`, answer);
}

// As the node lifecycle controller: nobody has heard of the kubelet for a while.
async function lose(cloud: LocalAwsState, instance: InstanceRecord, send: Send): Promise<void> {
  const answer = await send({
    method: 'PATCH',
    path: pathOf(instance, '/status'),
    agent: 'node-controller',
    patch: 'strategic-merge-patch',
    body: { status: { conditions: [lostCondition(cloud.timeline.now())] } },
  });
  if (answer.status !== 404) expectOk(`report ${instance.nodeName} lost`, answer);
}

// As EKS' node manager: a changed configuration reaches living nodes too.
async function relabel(instance: InstanceRecord, before: Nodegroup, after: Nodegroup, send: Send): Promise<void> {
  const gone = Object.keys(before.labels ?? {}).filter((label) => after.labels?.[label] === undefined);
  const labels = { ...Object.fromEntries(gone.map((label) => [label, null])), ...after.labels };
  const body = { metadata: { labels } };
  const patch: KubeRequest = {
    method: 'PATCH',
    path: pathOf(instance),
    agent: 'eks-node-manager',
    patch: 'merge-patch',
    body,
  };
  expectOk(`relabel ${instance.nodeName}`, await send(patch));
  const old = (before.taints ?? []).map((taint) => nodeTaint(taint));
  const wanted = (after.taints ?? []).map((taint) => nodeTaint(taint));
  if (old.length + wanted.length === 0) return;
  await changeTaints(instance, send, 'eks-node-manager', (taints) => [
    ...taints.filter(
      (taint) => ![...old, ...wanted].some((other) => other.key === taint.key && other.effect === taint.effect),
    ),
    ...wanted,
  ]);
}

// As the node lifecycle part of the cloud controller: the Node goes with its instance.
async function leave(instance: InstanceRecord, send: Send): Promise<void> {
  const answer = await send({ method: 'DELETE', path: pathOf(instance), agent: 'cloud-controller-manager' });
  if (answer.status !== 404) expectOk(`remove ${instance.nodeName}`, answer);
}

// The list of taints is atomic: read, change, and write only if nobody else wrote meanwhile (409 otherwise).
async function changeTaints(
  instance: InstanceRecord,
  send: Send,
  agent: string,
  change: (taints: readonly NodeTaint[]) => readonly NodeTaint[],
): Promise<void> {
  const found = await send({ method: 'GET', path: pathOf(instance), agent });
  expectOk(`read ${instance.nodeName}`, found);
  const node = found.body as { metadata: { resourceVersion: string }; spec: { taints?: NodeTaint[] } };
  const body = {
    metadata: { resourceVersion: node.metadata.resourceVersion },
    spec: { taints: change(node.spec.taints ?? []) },
  };
  expectOk(
    `taint ${instance.nodeName}`,
    await send({ method: 'PATCH', path: pathOf(instance), agent, patch: 'merge-patch', body }),
  );
}
