/** What every run mode needs: clients, caches, and the domain's ports on them. */
import { Registry } from 'prom-client';
import { Ec2Capacity } from '../../controllers/aws/capacity.ts';
import { type AwsClients, createAwsClients } from '../../controllers/aws/clients.ts';
import { EksAccessEntries, EksAddons } from '../../controllers/aws/clusterSettings.ts';
import { EksClusters } from '../../controllers/aws/clusters.ts';
import { Ec2Images } from '../../controllers/aws/images.ts';
import { Ec2Instances } from '../../controllers/aws/instances.ts';
import { Ec2LaunchTemplates } from '../../controllers/aws/launchTemplates.ts';
import { Ec2MachineTemplates } from '../../controllers/aws/machineTemplates.ts';
import { EksNodeGroups } from '../../controllers/aws/nodeGroups.ts';
import { AwsRateLimiter } from '../../controllers/aws/rateLimiter.ts';
import { PublishedReleases } from '../../controllers/aws/releases.ts';
import { IamRolePolicies } from '../../controllers/aws/rolePolicies.ts';
import { AutoScalingGroups } from '../../controllers/aws/scalingGroups.ts';
import { Ec2SecurityGroups } from '../../controllers/aws/securityGroups.ts';
import { createKubernetesClient, type KubernetesClient } from '../../controllers/kubernetes/client.ts';
import { createInstanceLists, createUserScripts } from '../../controllers/kubernetes/configMaps.ts';
import { createDrains } from '../../controllers/kubernetes/drains.ts';
import { createEvictions } from '../../controllers/kubernetes/evictions.ts';
import { createNodePods } from '../../controllers/kubernetes/nodePods.ts';
import { createNodes } from '../../controllers/kubernetes/nodes.ts';
import { createPools } from '../../controllers/kubernetes/pools.ts';
import { createRuntimeClasses } from '../../controllers/kubernetes/runtimeClasses.ts';
import { createSystemObjects } from '../../controllers/kubernetes/systemObjects.ts';
import { realClock } from '../../controllers/runtime/clock.ts';
import { createEngineMetrics, type EngineMetrics } from '../../controllers/runtime/metrics.ts';
import type { Fence, Logger } from '../../controllers/runtime/ports.ts';
import { DisruptionBudget } from '../../controllers/windowspool/disruption/disruptionBudget.ts';
import type { Writers } from '../../controllers/windowspool/model/writers.ts';
import type { Sources } from '../../controllers/windowspool/observation/sources.ts';
import { Caches } from './caches.ts';
import { observeAwsCalls } from './metrics/awsCalls.ts';
import type { Options } from './options.ts';

/** The clients, caches and metrics of one process. */
export interface Connections {
  readonly client: KubernetesClient;
  readonly aws: AwsClients;
  readonly caches: Caches;
  readonly registry: Registry;
  readonly metrics: EngineMetrics;
  /** The API server's version; undefined until it is known. */
  readonly serverVersion: { current: string | undefined };
}

/**
 * Creates the clients and the caches. The fence is checked before each write, and before each call to AWS. Sends no request, except that a kubeconfig
 * may run its credential plugin.
 */
export async function connect(
  options: Options & { readonly context?: string | undefined },
  version: string,
  log: Logger,
  fence: Fence,
): Promise<Connections> {
  const registry = new Registry();
  const metrics = createEngineMetrics(registry);
  const client = await createKubernetesClient({
    kubeconfigPath: options.kubeconfig,
    context: options.context,
    serviceAccountDir: options.serviceAccountDir,
    log,
    version,
    onRequest: metrics.request,
    fence,
  });
  const aws = createAwsClients({ region: options.region, version, fence });
  const caches = new Caches(client, options.podNamespace, log, metrics);
  return { client, aws, caches, registry, metrics, serverVersion: { current: undefined } };
}

/** The domain's ports to AWS and the cluster. */
export function portsOf(
  { clusterName, podNamespace, maxPoolsUpdating }: Options,
  connections: Connections,
): Sources & Writers {
  const { client, aws, caches, registry, serverVersion } = connections;
  const limiter = new AwsRateLimiter(observeAwsCalls(registry), realClock);
  const pools = createPools(client, caches.pools);
  const scalingGroups = new AutoScalingGroups(clusterName, aws.autoScaling, limiter);
  const images = new Ec2Images(aws.ssm, aws.ec2, limiter);
  return {
    nodeGroups: new EksNodeGroups(clusterName, aws.eks, limiter),
    clusters: new EksClusters(clusterName, aws.eks, limiter, async () => (await client.caData()) ?? ''),
    releases: new PublishedReleases(images),
    instances: new Ec2Instances(aws.ec2, limiter, (group, signal) => scalingGroups.members(group, signal)),
    scalingGroups,
    addons: new EksAddons(clusterName, aws.eks, limiter),
    accessEntries: new EksAccessEntries(clusterName, aws.eks, limiter),
    rolePolicies: new IamRolePolicies(aws.iam, limiter),
    capacity: new Ec2Capacity(aws.ec2, limiter),
    launchTemplates: new Ec2LaunchTemplates(aws.ec2, limiter),
    machineTemplates: new Ec2MachineTemplates(aws.ec2, limiter),
    securityGroups: new Ec2SecurityGroups(aws.ec2, limiter),
    images,
    system: createSystemObjects(client),
    userScripts: createUserScripts(client, podNamespace),
    evictions: createEvictions(client),
    drains: createDrains(client),
    nodes: createNodes(client, caches.nodes, () => caches.nodeCache.readsImages),
    nodePods: createNodePods(client, podNamespace, caches.nodePods.store, (pool) => caches.nodePods.of(pool)),
    poolNodesCache: caches.poolNodesCache,
    nodeMembership: caches.nodeMembership,
    instanceLists: createInstanceLists(client),
    runtimeClasses: createRuntimeClasses(client, caches.runtimeClasses),
    pools,
    budget: new DisruptionBudget(pools, maxPoolsUpdating),
    fleet: caches.fleet,
    serverVersion: () => serverVersion.current,
  };
}
