/** Kubernetes objects of users: workloads for Windows nodes, and their budgets. */
import type { V1ConfigMap, V1OwnerReference } from '@kubernetes/client-node';
import type { Stored } from '../controllers/kubernetes/objects.ts';
import type { TestEnv } from './fakes/testenv/testEnv.ts';

export const namespaceCalled = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

/** A Deployment, whose pods have its name as the label `app`. */
export function deployment(namespace: string, name: string, replicas: number, spec: object): object {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

/** A PodDisruptionBudget for the pods with the label `app`. */
export function budget(namespace: string, app: string, limit: object, name = app): object {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace, name },
    spec: { ...limit, selector: { matchLabels: { app } } },
  };
}

/** A pod on a node, which no scheduler binds. Without an owner, it has no controller. */
export function podOn(nodeName: string, namespace: string, name: string, owner?: V1OwnerReference) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels: { app: name }, ...(owner && { ownerReferences: [owner] }) },
    spec: {
      nodeName,
      tolerations: [{ key: 'os', operator: 'Exists' }],
      containers: [{ name: 'main', image: 'main' }],
    },
  };
}

/** A ConfigMap as the controller of pods: a drain evicts them, and nothing recreates them. */
export async function controllerOf(world: TestEnv, namespace: string, name: string): Promise<V1OwnerReference> {
  const { metadata } = (await world.get<Stored<V1ConfigMap>>('configmap', name, '-n', namespace)) ?? {};
  if (!metadata) throw new Error(`there is no ConfigMap ${namespace}/${name}`);
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: metadata.uid, controller: true };
}
