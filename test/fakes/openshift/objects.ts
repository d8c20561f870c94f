/** The objects of OpenShift's Machine API that tests create, and the fields that they read. */
import type { NodeTaint } from '../../../controllers/kubernetes/testing/nodeJson.ts';
import type { SimMachineSpec, StoredObject } from '../clusterApi/objects.ts';

export const OPENSHIFT = 'machine.openshift.io/v1beta1';
/** The namespace of all Machines. */
export const NAMESPACE = 'openshift-machine-api';
/** Has the name of the MachineSet, on its Machines. */
export const SET_LABEL = 'machine.openshift.io/cluster-api-machineset';

/** A platform whose `providerSpec` the webhooks validate, or None. */
export type Platform = 'None' | 'AWS' | 'Azure' | 'VSphere';

/** What the doubles of cloud and kubelet do with a machine: its `providerSpec`. */
export interface MachineSpec extends SimMachineSpec {
  /** Why the cloud creates no instance. Default: it does. */
  readonly error?: string;
}

export interface OpenShiftMachine extends StoredObject {
  readonly spec: { readonly providerID?: string; readonly providerSpec: { readonly value?: MachineSpec } };
  readonly status?: StoredObject['status'] & { readonly phase?: string; readonly nodeRef?: { readonly name: string } };
}

export interface MachineSetParts {
  /** Default: 1. */
  readonly replicas?: number;
  readonly machine?: MachineSpec;
  /** Taints and labels that the controllers keep on the nodes. */
  readonly taints?: readonly NodeTaint[];
  readonly labels?: Readonly<Record<string, string>>;
  /** More fields of its own spec. */
  readonly spec?: object;
}

/** A MachineHealthCheck that deletes the Machines of a MachineSet as soon as their nodes have one of the conditions. */
export function openShiftHealthCheck(
  set: string,
  unhealthyConditions: readonly { readonly type: string; readonly status: string; readonly timeout: string }[],
) {
  return {
    apiVersion: OPENSHIFT,
    kind: 'MachineHealthCheck',
    metadata: { name: set, namespace: NAMESPACE },
    spec: { selector: { matchLabels: { [SET_LABEL]: set } }, unhealthyConditions },
  };
}

/** A MachineSet of Windows machines on the platform None. */
export function machineSet(name: string, parts: MachineSetParts = {}) {
  const { replicas = 1, machine = {}, taints, labels, spec } = parts;
  const matchLabels = { [SET_LABEL]: name };
  return {
    apiVersion: OPENSHIFT,
    kind: 'MachineSet',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      replicas,
      selector: { matchLabels },
      template: {
        metadata: { labels: { ...matchLabels, 'machine.openshift.io/os-id': 'Windows' } },
        spec: {
          metadata: { labels: { 'node-role.kubernetes.io/worker': '', ...labels } },
          providerSpec: { value: machine },
          ...(taints && { taints }),
        },
      },
      ...spec,
    },
  };
}
