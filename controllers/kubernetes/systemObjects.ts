/** The port SystemObjects: reads single objects of kube-system, and Linux nodes, on each call. */
import type {
  CoreV1Event,
  CoreV1EventList,
  KubernetesObject,
  V1ConfigMap,
  V1Node,
  V1NodeList,
  V1PodList,
} from '@kubernetes/client-node';
import { MANAGED_BY, NODE_GROUP_LABEL } from '../windowspool/api/labels.ts';
import { scrub } from '../windowspool/ports/callResult.ts';
import { hasEnded } from '../windowspool/ports/pods.ts';
import type {
  ConfigMapOwner,
  ControllerWarning,
  LinuxNodeView,
  SystemObjects,
} from '../windowspool/ports/prerequisites.ts';
import { type KubernetesClient, PATCH } from './client.ts';
import { ignoreNotFound, toCallResult } from './errors.ts';
import { managerOf } from './managerOf.ts';
import { nodePath } from './nodes.ts';
import type { Wire } from './objects.ts';
import { apiPath } from './paths.ts';

const SYSTEM = 'kube-system';

const CNI_CONFIG = 'amazon-vpc-cni';
const configMapPath = (name: string) => apiPath('v1', 'configmaps', { namespace: SYSTEM, name });

const LINUX = 'kubernetes.io/os=linux';
/** Of nodes of Fargate, Auto Mode, and EKS Hybrid Nodes: `fargate`, `auto`, `hybrid`. */
const COMPUTE_TYPE = 'eks.amazonaws.com/compute-type';

/** The label of CoreDNS pods: https://kubernetes.io/docs/tasks/administer-cluster/dns-debugging-resolution/#check-if-the-dns-pod-is-running */
const DNS = 'k8s-app=kube-dns';
/** A large cluster has some tens. */
const MOST_DNS_PODS = 100;

/** https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/master/docs/troubleshooting.md#verify-pod-has-the-resource-limits */
const POD_WEBHOOK = 'vpc-resource-mutating-webhook';

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

/** Linux nodes per page. One that accepts pods is enough. */
const PAGE = 20;
const MOST_PAGES = 25;

/** Taints of nodes that are unhealthy or terminating. CoreDNS may tolerate other taints. */
const UNUSABLE = /^node\.kubernetes\.io\/|^node\.cloudprovider\.kubernetes\.io\//;
/** The taint of a cordoned node. */
const CORDON = 'node.kubernetes.io/unschedulable';

/**
 * The source of the VPC resource controller's events. Nodes have no namespace, so their events are in `default`:
 * https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/master/docs/troubleshooting.md#verify-trunk-eni-is-created
 */
const CONTROLLER = 'vpc-resource-controller';
const MOST_WARNINGS = 3;
const WARNING_LENGTH = 300;

function newestWarnings(events: readonly Wire<CoreV1Event>[]): ControllerWarning[] {
  const sorted = [...events].sort((a, b) => (b.lastTimestamp ?? '').localeCompare(a.lastTimestamp ?? ''));
  const warnings = new Map<string, ControllerWarning>();
  for (const { reason = '', message = '' } of sorted) {
    const warning = { reason: reason.slice(0, WARNING_LENGTH), message: scrub(message).slice(0, WARNING_LENGTH) };
    warnings.set(`${warning.reason} ${warning.message}`, warning);
  }
  const newest = [...warnings].slice(0, MOST_WARNINGS);
  // Sorted, so that the order does not change when a warning occurs again.
  return newest.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, warning]) => warning);
}

export function createSystemObjects(client: KubernetesClient): SystemObjects {
  const find = <T>(path: string, signal: AbortSignal): Promise<Wire<T> | undefined> =>
    ignoreNotFound(client.request<T>('GET', path, { signal }));
  const configMap = <T>(name: string, signal: AbortSignal, convert: (found: Wire<V1ConfigMap>) => T) =>
    toCallResult(`get configmaps kube-system/${name}`, signal, async () => {
      const found = await find<V1ConfigMap>(configMapPath(name), signal);
      return found && convert(found);
    });
  return {
    cniConfig: (signal) => configMap(CNI_CONFIG, signal, ({ data = {} }) => data),
    cniConfigOwner: (key, signal) => configMap(CNI_CONFIG, signal, (found) => ownerOf(found, key)),
    setCniConfig: (key, value, seen, signal) =>
      toCallResult('patch configmaps', signal, async () => {
        // The precondition: the ConfigMap has not changed since it was read. Creation is not forced.
        const { uid, resourceVersion } = seen ?? {};
        const metadata = { name: CNI_CONFIG, namespace: 'kube-system', ...(seen && { uid, resourceVersion }) };
        const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [key]: value } };
        const query = { fieldManager: MANAGED_BY, force: seen !== undefined };
        await client.request('PATCH', configMapPath(CNI_CONFIG), { query, body, contentType: PATCH.apply, signal });
      }),
    roleMappings: async (signal) => {
      const found = await configMap('aws-auth', signal, ({ data = {} }) => data);
      if (!found.ok) return found;
      // Loaded lazily: clusters that use access entries only have no mapRoles.
      const { parseRoleMappings } = await import('./roleMappings.ts');
      return parseRoleMappings(found.value?.mapRoles ?? '');
    },
    legacyController: (signal) =>
      toCallResult('get deployments.apps kube-system/vpc-resource-controller', signal, async () => {
        const path = apiPath('apps/v1', 'deployments', { namespace: SYSTEM, name: CONTROLLER });
        return (await find<KubernetesObject>(path, signal)) !== undefined;
      }),
    podWebhook: (signal) =>
      toCallResult(
        `get mutatingwebhookconfigurations.admissionregistration.k8s.io ${POD_WEBHOOK}`,
        signal,
        async () => {
          const path = apiPath('admissionregistration.k8s.io/v1', 'mutatingwebhookconfigurations', {
            name: POD_WEBHOOK,
          });
          return (await find<KubernetesObject>(path, signal)) !== undefined;
        },
      ),
    controllerWarnings: ({ name, createdAt }, signal) =>
      toCallResult('list events in namespace default', signal, async () => {
        const fieldSelector = `involvedObject.kind=Node,involvedObject.name=${name},type=Warning,source=${CONTROLLER}`;
        const query = { fieldSelector, limit: PAGE };
        const path = apiPath('v1', 'events', { namespace: 'default' });
        const { items } = await client.request<CoreV1EventList>('GET', path, { query, signal });
        const ofThisNode = ({ lastTimestamp }: Wire<CoreV1Event>) =>
          lastTimestamp === undefined || lastTimestamp === null || Date.parse(lastTimestamp) >= createdAt;
        return newestWarnings((items ?? []).filter(ofThisNode));
      }),
    linuxNode: (signal) => toCallResult('list nodes', signal, () => linuxNodeView(client, signal)),
    dnsNodes: (signal) =>
      toCallResult('list pods', signal, async () => {
        // Deleted pods that still run have a node, too.
        const query = { labelSelector: DNS, fieldSelector: 'spec.nodeName!=', limit: MOST_DNS_PODS };
        const path = apiPath('v1', 'pods', { namespace: SYSTEM });
        const { items } = await client.request<V1PodList>('GET', path, { query, signal });
        const staying = (items ?? []).filter(
          ({ metadata, status = {} }) => !metadata?.deletionTimestamp && !hasEnded(status),
        );
        return staying.flatMap(({ spec }) => spec?.nodeName ?? []).sort();
      }),
    unmanagedNodes: (signal) =>
      toCallResult('list nodes', signal, async () => {
        const query = { labelSelector: `!${NODE_GROUP_LABEL},!${COMPUTE_TYPE}`, limit: PAGE };
        const { items } = await client.request<V1NodeList>('GET', nodePath(), { query, accept: METADATA_ONLY, signal });
        return (items ?? []).flatMap(({ metadata }) => metadata?.name ?? []).sort();
      }),
    linuxGroups: (signal) => toCallResult('list nodes', signal, () => groupsOf(client, signal)),
  };
}

/** fieldsV1 of a ConfigMap has each key of its data, prefixed with `f:`. */
type DataFields = { readonly 'f:data'?: Readonly<Record<string, unknown>> } | undefined;

/** Who manages a ConfigMap, and who wrote this key of its data last. */
function ownerOf({ metadata = {} }: Wire<V1ConfigMap>, key: string): ConfigMapOwner {
  const { uid = '', resourceVersion = '', managedFields = [] } = metadata;
  // If several applied the same value, the last one counts.
  const writers = managedFields.filter(
    ({ fieldsV1 }) => (fieldsV1 as DataFields)?.['f:data']?.[`f:${key}`] !== undefined,
  );
  const last = writers.sort((a, b) => ((a.time ?? '') < (b.time ?? '') ? -1 : 1)).at(-1);
  return {
    uid,
    resourceVersion,
    managedBy: managerOf(metadata),
    lastWriter: last && `${last.manager ?? 'unknown'}${last.time === undefined ? '' : ` at ${last.time}`}`,
  };
}

async function linuxNodeView(client: KubernetesClient, signal: AbortSignal): Promise<LinuxNodeView> {
  if (await findUsable(client, false, signal)) return { acceptsPods: true };
  const cordoned = (await findUsable(client, true, signal))?.metadata?.name;
  return { acceptsPods: false, ...(cordoned !== undefined && { cordoned }) };
}

/** Reads pages until a Linux node is usable, among those that are cordoned or those that are not. */
async function findUsable(
  client: KubernetesClient,
  isCordoned: boolean,
  signal: AbortSignal,
): Promise<Wire<V1Node> | undefined> {
  const query = { labelSelector: LINUX, fieldSelector: `spec.unschedulable=${isCordoned}`, limit: PAGE };
  let next: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const options = { query: { ...query, continue: next }, signal };
    const { items, metadata } = await client.request<V1NodeList>('GET', nodePath(), options);
    const found = items?.find(isUsable);
    if (found) return found;
    next = metadata?.continue || undefined;
    if (next === undefined) break;
  }
  return undefined;
}

/** The node groups of all Linux nodes. Each page excludes the groups that are known, so there is at most one page more than groups. */
async function groupsOf(client: KubernetesClient, signal: AbortSignal): Promise<string[]> {
  const groups = new Set<string>();
  for (let page = 0; page < MOST_PAGES; page++) {
    const known = groups.size > 0 ? `,${NODE_GROUP_LABEL} notin (${[...groups].join(',')})` : '';
    const query = { labelSelector: `${LINUX},${NODE_GROUP_LABEL}${known}`, limit: PAGE };
    const { items } = await client.request<V1NodeList>('GET', nodePath(), { query, accept: METADATA_ONLY, signal });
    const before = groups.size;
    // An empty PartialObjectMetadataList has null.
    for (const { metadata } of items ?? []) {
      const group = metadata?.labels?.[NODE_GROUP_LABEL];
      if (group) groups.add(group);
    }
    if (groups.size === before) break;
  }
  return [...groups].sort();
}

/** Whether a node accepts pods, or would if it were not cordoned. */
function isUsable({ spec, status }: Wire<V1Node>): boolean {
  const broken =
    spec?.taints?.some(({ key, effect }) => key !== CORDON && effect !== 'PreferNoSchedule' && UNUSABLE.test(key)) ??
    false;
  const ready = status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
  return !broken && ready === true;
}
