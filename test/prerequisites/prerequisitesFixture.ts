/** Shared by the suites about prerequisites: an operator, and an environment in which all prerequisites are met before each test. */
import { creationsOf } from '../awsCalls.ts';
import { nodeRoleArn, subnetIds } from '../fakes/localaws/network.ts';
import { messageOf, podWebhook, type TestEnv, windowsIpam } from '../fakes/testenv/testEnv.ts';
import { type OperatorFixture, withOperator } from '../sharedWorld.ts';

const LINUX_AMI = 'AL2023_x86_64_STANDARD';
export const LINUX = ['-l', 'kubernetes.io/os=linux'] as const;

export interface PrerequisitesFixture {
  readonly fixture: OperatorFixture;
  /** Waits for the state of a condition, such as `False/NoLinuxNode`. */
  readonly is: (pool: string, type: string, state: string) => Promise<unknown>;
  /** A condition of the pool. */
  readonly message: (pool: string, type: string) => Promise<string>;
  /** Deletes a pool and waits until it is gone. */
  readonly remove: (pool: string) => Promise<unknown>;
  readonly creations: (pool: string) => number;
  /** The prerequisites that the metric reports as not met or unknown: `False/NoLinuxNode`. */
  readonly measured: (pool: string) => Promise<string[]>;
}

/** Runs an operator during the suite that calls this. After each test all prerequisites are met again. */
export function withPrerequisites(...flags: readonly string[]): PrerequisitesFixture {
  const fixture = withOperator('--join-grace=6s', '--denied-retry-interval=500ms', ...flags);
  afterEach(async () => {
    const { cloud } = fixture.world;
    cloud.faults.restoreAction();
    cloud.faults.calls.clear();
    cloud.faults.cluster({ status: 'ACTIVE', version: '1.36', ipFamily: 'ipv4', autoMode: false });
    cloud.faults.cluster({ authenticationMode: 'API_AND_CONFIG_MAP' });
    cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
    cloud.faults.clusterRolePolicy({ attached: true });
    cloud.faults.addon({ name: 'vpc-cni', exists: false });
    for (const id of subnetIds) cloud.faults.subnet({ id, freeAddresses: 251 });
    for (const { name, nodegroup } of cloud.state.groups.values())
      if (nodegroup.amiType === LINUX_AMI && nodegroup.status !== 'DELETING')
        cloud.faults.consoleDelete({ group: name });
    await fixture.world.apply(windowsIpam(true));
    await fixture.world.apply(podWebhook);
    await fixture.world.kubectl('-n', 'kube-system', 'delete', 'configmap', 'aws-auth', '--ignore-not-found');
    await fixture.world.kubectl('label', 'nodes', ...LINUX, 'eks.amazonaws.com/nodegroup-');
    await fixture.world.kubectl('uncordon', ...LINUX);
  });
  return {
    fixture,
    is: (pool, type, state) => fixture.world.waitForConditions(pool, `${type}=${state}`),
    message: async (pool, type) => messageOf(await fixture.world.pool(pool), type),
    remove: (pool) => fixture.world.kubectl('delete', 'windowspool', pool, '--timeout=60s'),
    creations: (pool) => creationsOf(fixture.world, pool),
    measured: async (pool) => {
      const series = /^windowspool_prerequisite\{pool="(.*)",reason="(.*)",status="(.*)"\} 1$/gm;
      const { body } = await fixture.operator.get('/metrics');
      return [...body.matchAll(series)]
        .filter(([, of]) => of === pool)
        .map(([, , reason, state]) => `${state}/${reason}`);
    },
  };
}

/** A node group of another owner with that node role, and the cluster's Linux node in it. */
export async function linuxGroup(world: TestEnv, nodegroupName: string, nodeRole: string): Promise<void> {
  world.cloud.faults.consoleCreate({
    nodegroupName,
    nodeRole,
    subnets: [subnetIds[0]],
    amiType: LINUX_AMI,
    instanceTypes: ['m5.large'],
    scalingConfig: { minSize: 0, maxSize: 1, desiredSize: 0 },
  });
  await world.kubectl('label', 'nodes', ...LINUX, `eks.amazonaws.com/nodegroup=${nodegroupName}`);
}

/** aws-auth with these groups for the node role. */
export const awsAuth = (groups: readonly string[]) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'kube-system', name: 'aws-auth' },
  data: { mapRoles: JSON.stringify([{ rolearn: nodeRoleArn, username: 'node', groups }]) },
});
