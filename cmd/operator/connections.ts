/** What every run mode needs: clients, caches, and the domain's ports on them. */
import { Registry } from 'prom-client';
import { type AwsClients, createAwsClients } from '../../controllers/aws/clients.ts';
import { createAwsPorts, withoutCluster } from '../../controllers/aws/ports.ts';
import { AwsRateLimiter } from '../../controllers/aws/rateLimiter.ts';
import { createKubernetesClient, type KubernetesClient } from '../../controllers/kubernetes/client.ts';
import { createInstanceLists, createUserScripts } from '../../controllers/kubernetes/configMaps.ts';
import type { CredentialSource } from '../../controllers/kubernetes/credentials.ts';
import { createDrains } from '../../controllers/kubernetes/drains.ts';
import { createEvictions } from '../../controllers/kubernetes/evictions.ts';
import { createNodePools } from '../../controllers/kubernetes/karpenter.ts';
import { createMachineSets } from '../../controllers/kubernetes/machines.ts';
import { createNodePods } from '../../controllers/kubernetes/nodePods.ts';
import { createNodes } from '../../controllers/kubernetes/nodes.ts';
import { createOwnMachineSets } from '../../controllers/kubernetes/ownMachineSets.ts';
import { createPools } from '../../controllers/kubernetes/pools.ts';
import { createRuntimeClasses } from '../../controllers/kubernetes/runtimeClasses.ts';
import { createSystemObjects } from '../../controllers/kubernetes/systemObjects.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import { createEngineMetrics, type EngineMetrics } from '../../controllers/runtime/metrics.ts';
import type { Fence, Logger } from '../../controllers/runtime/ports.ts';
import { DisruptionBudget } from '../../controllers/windowspool/disruption/disruptionBudget.ts';
import type { Settings } from '../../controllers/windowspool/model/observedState.ts';
import type { Writers } from '../../controllers/windowspool/model/writers.ts';
import type { Sources } from '../../controllers/windowspool/observation/sources.ts';
import { withDefaultTags } from '../../controllers/windowspool/providers/nodeGroups.ts';
import { Caches } from './caches.ts';
import { observeAwsCalls } from './metrics/awsCalls.ts';
import type { Options } from './options.ts';

/** The clients, caches and metrics of one process. */
export interface Connections {
  readonly client: KubernetesClient;
  /** Of the cluster that has the objects in machines.ref; the same client where that is the cluster of the pools. */
  readonly machinesClient: KubernetesClient;
  readonly aws: AwsClients;
  readonly caches: Caches;
  readonly registry: Registry;
  readonly metrics: EngineMetrics;
  /** The API server's version; undefined until it is known. */
  readonly serverVersion: { current: string | undefined };
  /** Closes all clients. */
  close(): void;
}

/**
 * Creates the clients and the caches. The fence is checked before each write, and before each call to AWS. Sends no request, except that a kubeconfig
 * may run its credential plugin.
 */
export async function connect(
  options: Options & Pick<CredentialSource, 'overrides'>,
  version: string,
  log: Logger,
  fence: Fence,
): Promise<Connections> {
  const registry = new Registry();
  const metrics = createEngineMetrics(registry);
  const common = { log, version, onWarning: logOnce(log), onRequest: metrics.request, fence };
  const client = await createKubernetesClient({
    ...common,
    kubeconfigPath: options.kubeconfig,
    overrides: options.overrides,
    serviceAccountDir: options.serviceAccountDir,
  });
  const { machinesKubeconfig: kubeconfigPath } = options;
  const machinesClient =
    kubeconfigPath === undefined ? client : await createKubernetesClient({ ...common, kubeconfigPath });
  const aws = createAwsClients({ region: settingsOf(options).region, version, fence });
  const caches = new Caches(
    client,
    machinesClient,
    options.nodePodNamespace,
    withDefaultTags(settingsOf(options).defaultTags),
    log,
    metrics,
  );
  const close = () => {
    for (const each of [aws, client, machinesClient]) each.close();
  };
  return { client, machinesClient, aws, caches, registry, metrics, serverVersion: { current: undefined }, close };
}

/** No API server has more. */
const MOST_WARNINGS = 100;

/** Logs each warning of the API server once, as controller-runtime does: an older CRD causes the same ones at each write. */
function logOnce(log: Logger): (text: string) => void {
  const logged = new Set<string>();
  return (warning) => {
    if (logged.has(warning) || logged.size >= MOST_WARNINGS) return;
    logged.add(warning);
    log.warn({ warning }, 'the API server returned a warning');
  };
}

/** Logs which pools this operator can manage, because nothing else in the log does before the first pool exists. */
export function logScope({ clusterName, region }: Pick<Options, 'clusterName' | 'region'>, log: Logger): void {
  if (clusterName) log.info({ clusterName, region }, 'managing pools of the EKS cluster');
  else
    log.info(
      {},
      'no cluster name is set: managing only pools of existing nodes, of machines and of Karpenter, without AWS',
    );
}

/** The settings of the domain. */
export function settingsOf(options: Options): Settings {
  const { clusterName = '', region = '', defaultTags = {} } = options;
  return { ...options, clusterName, region, defaultTags, managesElsewhere: options.machinesKubeconfig !== undefined };
}

/** The domain's ports to AWS and the cluster. */
export function portsOf(
  {
    clusterName,
    podNamespace,
    nodePodNamespace: namespace,
    maxPoolsUpdating,
    allowedImagePullSecrets: pullSecrets = [],
    defaultTags = {},
  }: Options,
  connections: Connections,
): Sources & Writers {
  const { client, machinesClient, aws, caches, registry, serverVersion } = connections;
  const limiter = clusterName ? new AwsRateLimiter(observeAwsCalls(registry), realClock) : withoutCluster;
  const pools = createPools(client, caches.pools, withDefaultTags(defaultTags));
  return {
    ...createAwsPorts(clusterName ?? '', aws, limiter, async () => (await client.caData()) ?? ''),
    system: createSystemObjects(client),
    userScripts: createUserScripts(client, podNamespace),
    evictions: createEvictions(client),
    drains: createDrains(client),
    nodes: createNodes(client, caches.nodes, () => caches.nodeCache.readsImages),
    nodePods: createNodePods(client, { namespace, pullSecrets }, caches.nodePods.store, (pool) =>
      caches.nodePods.of(pool),
    ),
    poolNodesCache: caches.poolNodesCache,
    nodeMembership: caches.nodeMembership,
    instanceLists: createInstanceLists(client, (list) => caches.lists.hostsOf(list)),
    nodePools: { ...createNodePools(client), of: (pool) => caches.nodePools.of(pool) },
    ownMachineSets: createOwnMachineSets(machinesClient),
    machineSets: { ...createMachineSets(machinesClient), of: (pool) => caches.machineSets.of(pool) },
    runtimeClasses: createRuntimeClasses(client, caches.runtimeClasses),
    pools,
    budget: new DisruptionBudget(pools, maxPoolsUpdating),
    poolRegistry: caches.poolRegistry,
    serverVersion: () => serverVersion.current,
  };
}
