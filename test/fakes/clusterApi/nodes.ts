/** The nodes of simulated machines, as their kubelets register them. kwok keeps them alive. */
import type { V1Node } from '@kubernetes/client-node';
import type { NodeJson, NodeTaint } from '../../../controllers/kubernetes/testing/nodeJson.ts';
import type { ApiServer } from '../localaws/nodes/apiServer.ts';
import { unlessRefused } from '../localaws/nodes/apiServer.ts';
import { readyCondition } from '../localaws/nodes/nodeObject.ts';
import { yearOf } from '../localaws/releases.ts';
import { existingNode } from '../testenv/existingNode.ts';
import type { SimMachineSpec } from './objects.ts';

/** On every node that a bootstrap provider of Cluster API configures, until the core controllers have set its labels. */
const UNINITIALIZED = { key: 'node.cluster.x-k8s.io/uninitialized', effect: 'NoSchedule' } as const;
const DEFAULT_BUILD = '10.0.20348.2762';

/**
 * The Node of a machine, with the provider ID `vsphere://NAME`. The name ends with 6 hexadecimal digits, which are its address.
 * @param taint the taint with which every node registers
 */
export function nodeOf(name: string, machine: SimMachineSpec, taint: NodeTaint = UNINITIALIZED): NodeJson {
  const { windowsBuild = DEFAULT_BUILD, kubeletVersion, taints = [], labels = {}, node } = machine;
  const address = `10.${[...Buffer.from(name.slice(-6), 'hex')].join('.')}`;
  const registered = existingNode({
    name,
    labels,
    taints: [...taints, taint],
    kernelVersion: windowsBuild,
    nodeInfo: {
      osImage: `Windows Server ${yearOf(windowsBuild) ?? ''} Datacenter`,
      ...(kubeletVersion && { kubeletVersion }),
    },
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: name },
    ],
  });
  return node === 'NotReady'
    ? { ...registered, status: { ...registered.status, conditions: [readyCondition(false, new Date())] } }
    : registered;
}

/** Registers a Node as its kubelet, unless it exists. */
export async function registerNode(workload: ApiServer, body: NodeJson, signal: AbortSignal): Promise<void> {
  const kubelet = workload.as('kubelet', signal, body.metadata.name);
  // Its times are strings, which client-node sends unchanged.
  await kubelet.createNode({ body: body as object as V1Node }).catch(unlessRefused(409));
}

/** Deletes a Node, if it exists, as a cloud controller manager does for an instance that is gone. */
export async function deleteNode(workload: ApiServer, name: string, signal: AbortSignal): Promise<void> {
  await workload.as('cloud-controller-manager', signal).deleteNode({ name }).catch(unlessRefused(404));
}
