/** `make demo-karpenter`: Karpenter creates Windows nodes for pods, and the operator verifies, gates and replaces them. */
import { type Karpenter, startKarpenter } from '../../test/fakes/karpenter/karpenter.ts';
import { messageOf, startTestEnv, type TestEnv } from '../../test/fakes/testenv/testEnv.ts';
import { changeRole, deployment, onDemandPool } from '../../test/karpenter/karpenterFixture.ts';
import { type DemoOutput, runDemo } from '../demo.ts';

const POOL = 'web';
const OTHER_BUILD = '10.0.17763.5000';

await runDemo(demo);

async function demo(output: DemoOutput, signal: AbortSignal): Promise<void> {
  const { say, stage } = output;
  stage('Starting Kubernetes 1.36, and Karpenter with its simulated provider');
  const world = await startTestEnv({ log: say, signal });
  let karpenter: Karpenter | undefined;
  try {
    await changeRole(world, 'apply');
    karpenter = await startKarpenter(world.controlPlane, say, signal);
    const operator = await world.operator(['--poll-interval=1s']).ready();
    await createNodes(world, output);
    await replaceNode(world, output);
    await showOtherBuild(world, karpenter, output);
    stage('Deleting the pool: Karpenter drains and terminates its nodes');
    await world.kubectl('delete', 'deployment', POOL);
    await world.kubectl('delete', 'windowspool', POOL, '--timeout=60s');
    await operator.stop();
  } finally {
    stage('Stopping everything');
    await karpenter?.end();
    await world.stop();
  }
}

async function createNodes(world: TestEnv, { say, stage }: DemoOutput): Promise<void> {
  stage('Applying a pool with spec.karpenter and verification.policy Gate: it is Ready without nodes');
  await world.apply(onDemandPool(POOL, { verification: { policy: 'Gate' } }));
  await world.waitForConditions(POOL, 'Ready=True/NoNodes');
  say(await world.kubectl('get', 'windowspools,nodepools'));
  stage('Creating a Deployment of two pods: Karpenter creates two nodes, and the gate opens when they are verified');
  await world.apply(deployment(POOL, 2));
  await verified(world, 2);
  await world.kubectl('rollout', 'status', `deployment/${POOL}`, '--timeout=60s');
  say(await world.kubectl('get', 'pods', '-o', 'wide'));
  say(await world.kubectl('get', 'nodeclaims'));
}

async function replaceNode(world: TestEnv, { say, stage }: DemoOutput): Promise<void> {
  const [node = ''] = await nodesOf(world);
  stage(`Replacing a node: kubectl annotate node ${node} winpool.dev/replace=true`);
  await world.kubectl('annotate', 'node', node, 'winpool.dev/replace=true');
  await world.kubectl('wait', '--for=delete', `node/${node}`, '--timeout=60s');
  await verified(world, 2);
  say(await world.kubectl('get', 'nodeclaims'));
}

async function showOtherBuild(world: TestEnv, karpenter: Karpenter, { say, stage }: DemoOutput): Promise<void> {
  stage(
    'Karpenter creates a node of another build: no pod runs on it, and the operator corrects the label that Karpenter has set',
  );
  karpenter.windowsBuild = OTHER_BUILD;
  await world.kubectl('scale', 'deployment', POOL, '--replicas=3');
  const pool = await world.waitForConditions(POOL, 'NodesVerified=False/WrongBuild');
  say(messageOf(pool, 'NodesVerified'));
  say(await world.kubectl('get', 'nodes', '-L', 'node.kubernetes.io/windows-build'));
  say(await world.kubectl('get', 'windowspools'));
}

function verified(world: TestEnv, size: number) {
  return world.waitForPool(
    POOL,
    `to have ${size} verified nodes`,
    (pool) => pool?.status?.nodes?.verified === size && pool.status.nodes.total === size,
  );
}

async function nodesOf(world: TestEnv): Promise<string[]> {
  const names = await world.kubectl('get', 'nodes', '-l', `winpool.dev/pool=${POOL}`, '-o', 'name');
  return names.split('\n').map((name) => name.replace('node/', ''));
}
