/** The operator that runs in the cluster of the user. */
import type { V1ConfigMap, V1Deployment, V1DeploymentList, V1Lease, V1Pod, V1PodList } from '@kubernetes/client-node';
import { Option } from 'commander';
import { ignoreNotFound, isForbidden } from '../../controllers/kubernetes/errors.ts';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { apiPath } from '../../controllers/kubernetes/paths.ts';
import type { Cluster } from './cluster.ts';
import { Failure } from './failure.ts';

/** The name of the operator's Deployment and Lease. */
export const OPERATOR = 'windowspool-operator';
/** The label of its Deployment and its pods. */
const OPERATOR_SELECTOR = `app.kubernetes.io/name=${OPERATOR}`;
/** The container of its pods. */
export const OPERATOR_CONTAINER = 'operator';
/** The namespace in the manifests. */
export const OPERATOR_NAMESPACE = 'winpool-system';
/** The default of the operator's flag. */
const LEASE_NAMESPACE = 'kube-system';

export interface OperatorFlags {
  readonly operatorNamespace?: string;
}

/** --operator-namespace */
export const operatorNamespaceOption = (): Option =>
  new Option(
    '--operator-namespace <name>',
    `Namespace of the operator. Default: found by the label ${OPERATOR_SELECTOR}.`,
  );

/** The operator's Deployment, with its namespace; undefined if there is none. A user who may not list Deployments of all namespaces sees that of the manifests. */
export async function findOperator(
  cluster: Cluster,
  { operatorNamespace: namespace }: OperatorFlags,
): Promise<Wire<V1Deployment> | undefined> {
  const listed = async (scope: string | undefined) => {
    const path = apiPath('apps/v1', 'deployments', { namespace: scope });
    const { items = [] } = await cluster.get<V1DeploymentList>(path, { labelSelector: OPERATOR_SELECTOR, limit: '10' });
    return (items as Wire<V1Deployment>[]).find(({ metadata }) => metadata?.name?.includes(OPERATOR)) ?? items[0];
  };
  try {
    return await listed(namespace);
  } catch (error) {
    if (namespace !== undefined || !isForbidden(error)) throw error;
    return listed(OPERATOR_NAMESPACE);
  }
}

/** The namespace of the operator. Throws a Failure if there is no operator. */
export async function namespaceOfOperator(cluster: Cluster, flags: OperatorFlags): Promise<string> {
  const found = await findOperator(cluster, flags);
  if (found) return found.metadata?.namespace ?? OPERATOR_NAMESPACE;
  const where = flags.operatorNamespace === undefined ? '' : ` in namespace ${flags.operatorNamespace}`;
  throw new Failure(
    `No Deployment has the label ${OPERATOR_SELECTOR}${where}. Install the operator, or set --operator-namespace.`,
  );
}

/** The value of a flag of the operator, or of its environment variable; undefined if it has none, or if the user may not read the ConfigMap. */
export async function settingOf(
  cluster: Cluster,
  { metadata, spec }: Wire<V1Deployment>,
  flag: string,
  variable: string,
): Promise<string | undefined> {
  const containers = spec?.template.spec?.containers ?? [];
  const arg = containers.flatMap(({ args = [] }) => args).find((each) => each.startsWith(`${flag}=`));
  if (arg) return arg.slice(flag.length + 1);
  const found = containers.flatMap(({ env = [] }) => env).find(({ name }) => name === variable);
  const reference = found?.valueFrom?.configMapKeyRef;
  if (!reference) return found?.value;
  const path = apiPath('v1', 'configmaps', { namespace: metadata?.namespace, name: reference.name });
  const { data = {} } = await cluster.get<V1ConfigMap>(path).catch(() => ({ data: {} }) as Wire<V1ConfigMap>);
  return data[reference.key];
}

/** The operator's pods, the oldest first. */
export async function operatorPods(cluster: Cluster, namespace: string): Promise<readonly Wire<V1Pod>[]> {
  const query = { labelSelector: OPERATOR_SELECTOR, limit: '100' };
  const { items = [] } = await cluster.get<V1PodList>(apiPath('v1', 'pods', { namespace }), query);
  const created = ({ metadata }: Wire<V1Pod>) => String(metadata?.creationTimestamp ?? '');
  return (items as Wire<V1Pod>[]).toSorted((a, b) => (created(a) < created(b) ? -1 : 1));
}

/** The Lease by which the replicas elect their leader. */
export async function operatorLease(cluster: Cluster, namespace: string): Promise<Wire<V1Lease> | undefined> {
  const leaseIn = (scope: string) =>
    ignoreNotFound(
      cluster.get<V1Lease>(apiPath('coordination.k8s.io/v1', 'leases', { namespace: scope, name: OPERATOR })),
    );
  // The second one with --leader-election-namespace.
  return (await leaseIn(LEASE_NAMESPACE)) ?? leaseIn(namespace);
}

/** The name of the pod that leads: `windowspool-operator-7d9f-abcde` of the identity `windowspool-operator-7d9f-abcde_0a1b2c3d`. */
export function leaderPodOf(lease: Wire<V1Lease> | undefined): string | undefined {
  return lease?.spec?.holderIdentity?.replace(/_[0-9a-f]+$/, '') || undefined;
}
