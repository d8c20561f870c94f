/** `make demo`: from an empty machine to a verified Windows pool and back, in stages with explanations. */
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERIFIED_CONDITION } from '../../../controllers/windowspool/api/labels.ts';
import { type Outcome, runCommand } from '../../../hack/controlplane/command.ts';
import { waitFor } from '../../../hack/controlplane/wait.ts';
import { pluginBundle } from '../../../hack/operatorBundle.ts';
import { ensurePackages, NODE_PACKAGES } from '../../../hack/realnode/distribution.ts';
import { isInside, isolationObstacle, spawnIsolated } from '../../../hack/realnode/isolation.ts';
import { OPERATOR_USER, ofOperator, readAudit, refused } from './audit.ts';
import { downloadImageFiles, OperatorPods } from './operatorPods.ts';
import { localAws } from './operatorProcess.ts';
import { watchReadyPods } from './podsReady.ts';
import {
  conditionOf,
  hasConditions,
  messageOf,
  startTestEnv,
  type TestEnv,
  UP_TO_DATE,
  windowsIpam,
} from './testEnv.ts';

const CONFIG = fileURLToPath(new URL('../../../config/', import.meta.url));
const SAMPLES = join(CONFIG, 'samples/');
const POOL = 'web';
/** Newer than the initial releases of the local AWS. */
const RELEASE = '1.36-2026.05.19';
/** Other than that of the sample. */
const INSTANCE_TYPE = 'm5.2xlarge';
/** `minAvailable` of the sample's PodDisruptionBudget. */
const REQUIRED_PODS = 1;
/** The sample's Deployment has two. */
const MORE_PODS = 6;
/** A missing prerequisite is polled every 20 seconds by default: too long for a demo. */
const POLL_INTERVAL = '1s';

/**
 * Runs every stage, and leaves nothing behind. Throws if one fails. The operator runs in a pod on a real node, in a process with namespaces of its own, which
 * runs `main` again; with `NODE=none` or where the machine does not allow that, it runs as a process.
 */
export async function demo(main: string, say: Say, signal: AbortSignal): Promise<void> {
  if (isInside() || !(await hasRealNode(say))) return runStages(say, signal);
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
  await downloadImageFiles();
  const child = await spawnIsolated([main, 'demo'], { env: process.env, stdio, log: say });
  signal.addEventListener('abort', () => child.disconnect(), { once: true });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error('The demo failed: see above.');
}

/** Whether a node can run pods on this machine. Says why not. */
async function hasRealNode(say: Say): Promise<boolean> {
  if (process.env.NODE === 'none') return false;
  const obstacle =
    (await isolationObstacle()) ?? (await ensurePackages(NODE_PACKAGES, say).catch(({ message }: Error) => message));
  if (obstacle) say(`The operator runs as a process and not in a pod, because ${obstacle}`);
  return obstacle === undefined;
}

async function runStages(say: Say, signal: AbortSignal): Promise<void> {
  const stage = stages(say);
  const realNodes = isInside() ? 1 : 0;
  const node = realNodes > 0 ? ', a node that runs pods' : '';
  stage(`Starting Kubernetes 1.36 (etcd, API server, controller manager, scheduler, kwok)${node} and a local AWS`);
  // EKS accepts published releases at once; otherwise the pool would wait for its next poll.
  const world = await startTestEnv({ log: say, realNodes, signal, switches: { releaseInEks: 'atOnce' } });
  try {
    const stopOperator = await (realNodes > 0 ? startPod : startProcess)(world, stage, say);
    await applySample(world, stage, say);
    await enableIpam(world, stage, say);
    await runWorkload(world, stage, say);
    await warnAtApply(world, stage, say);
    await updateUnderLoad(world, stage, say);
    const bad = await joinGatedPool(world, stage, say);
    await replaceNode(world, bad, stage, say);
    await replaceGroup(world, stage, say);
    await deletePool(world, stage, say);
    stage('Reading the audit log of the API server');
    say(await auditOperator(world));
    await stopOperator();
  } finally {
    stage('Stopping everything');
    await world.stop();
  }
  stage('Done');
}

/** Starts the operator as its users do. Returns what stops it. */
async function startPod(world: TestEnv, stage: Say, say: Say): Promise<() => Promise<void>> {
  stage('Building the image, and deploying it with an overlay of config/default');
  const operator = new OperatorPods();
  await operator.start(world);
  await operator.deploy({ container: { env: [{ name: 'WINPOOL_POLL_INTERVAL', value: POLL_INTERVAL }] } });
  say(await operator.kubectl('get', 'pods', '-o', 'wide'));
  return () => operator.stop();
}

/** Starts the operator on the machine. Returns what stops it, and throws if it does not end well. */
async function startProcess(world: TestEnv, stage: Say): Promise<() => Promise<void>> {
  stage('Starting the operator with its ServiceAccount and the permissions of config/rbac');
  const operator = await world.operator([`--poll-interval=${POLL_INTERVAL}`, '--leader-elect=true']).ready();
  await world.kubectl('apply', '-f', join(CONFIG, 'manager/deployment.yaml'));
  return async () => {
    const code = await operator.stop();
    if (code !== 0) throw new Error(`the operator ended with ${code}:\n${operator.tail()}`);
  };
}

type Say = (line: string) => void;

function stages(say: Say): Say {
  const start = performance.now();
  let number = 0;
  return (title) => {
    number += 1;
    say(`\n[${number}] ${title} (${((performance.now() - start) / 1_000).toFixed(1)} s)`);
  };
}

async function applySample(world: TestEnv, stage: Say, say: Say): Promise<void> {
  stage('Applying config/samples/windowspool.yaml while Windows IPAM is disabled');
  await world.apply(windowsIpam(false));
  await world.kubectl('apply', '-k', SAMPLES);
  const pool = await world.waitForConditions(POOL, 'Ready=False/WindowsIPAMDisabled');
  say(messageOf(pool, 'PrerequisitesMet'));
  say(await world.kubectl('get', 'windowspools', '-o', 'wide'));
  if (world.cloud.state.groups.size > 0) throw new Error('a node group was created before the prerequisites were met');
  await world.kubectl('-n', 'winpool-system', 'rollout', 'status', 'deployment/windowspool-operator', '--timeout=60s');
  stage('Running kubectl windowspool doctor: it shows the command that fixes what fails');
  const { text, code } = await plugin(world, 'doctor');
  say(text);
  if (code !== 1) throw new Error(`doctor ended with ${code}, although Windows IPAM is disabled`);
}

/** A command of the kubectl plugin, and its output. */
async function plugin(
  { controlPlane, cloud }: TestEnv,
  ...args: readonly string[]
): Promise<{ text: string; code: Outcome['code'] }> {
  const { stdout, stderr, code } = await runCommand(process.execPath, [await pluginBundle(), ...args], {
    env: { ...process.env, ...localAws(cloud.url), KUBECONFIG: controlPlane.adminKubeconfig },
    timeoutMs: 30_000,
  });
  return { text: `$ kubectl windowspool ${args.join(' ')}\n${stdout}${stderr}`, code };
}

async function enableIpam(world: TestEnv, stage: Say, say: Say): Promise<void> {
  stage('Enabling Windows IPAM and waiting for the condition Ready');
  await world.apply(windowsIpam(true));
  await world.kubectl('wait', '--for=condition=Ready', `windowspool/${POOL}`, '--timeout=60s');
  say(await world.kubectl('get', 'windowspools', '-o', 'wide'));
  say(await world.kubectl('get', 'nodes', '-L', 'node.kubernetes.io/windows-build'));
}

async function runWorkload(world: TestEnv, stage: Say, say: Say): Promise<void> {
  stage('Deploying pods with runtimeClassName: windows-2022; they are scheduled to the nodes of the pool');
  await world.kubectl('apply', '-f', join(SAMPLES, 'deployment.yaml'));
  await world.kubectl('rollout', 'status', 'deployment/iis', '--timeout=60s');
  say(await world.kubectl('get', 'pods', '-o', 'wide'));
}

/** The API server evaluates new policies after a moment, so the first attempts may pass without a warning. */
async function warnAtApply(world: TestEnv, stage: Say, say: Say): Promise<void> {
  stage('Applying config/policies, and then a Deployment that cannot run on these nodes: the API server warns');
  await world.kubectl('apply', '-k', join(CONFIG, 'policies'));
  const container = { name: 'app', image: 'mcr.microsoft.com/windows/nanoserver:ltsc2019' };
  const labels = { app: 'old' };
  const manifest = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'old', namespace: 'default' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { runtimeClassName: 'windows-2022', containers: [container] } },
    },
  };
  const apply = async () => {
    const stdin = JSON.stringify(manifest);
    const { stderr } = await world.controlPlane.kubectl(['apply', '--dry-run=server', '-f', '-'], { stdin });
    return stderr.includes('Warning: ') ? stderr.trim() : undefined;
  };
  say(await waitFor(apply, { what: 'a warning of the API server', timeoutMs: 30_000 }));
  await world.kubectl('delete', '-k', join(CONFIG, 'policies'));
}

/** The nodes are replaced one after another while pods run on them; Ready pods are counted at every event. */
async function updateUnderLoad(world: TestEnv, stage: Say, say: Say): Promise<void> {
  stage(`Updating the pool to AMI release ${RELEASE}; the PodDisruptionBudget requires ${REQUIRED_PODS} available pod`);
  world.cloud.faults.release({ date: RELEASE.slice(5) });
  const pods = await watchReadyPods(world.controlPlane.adminKubeconfig, 'iis');
  const spec = { nodeGroup: { releaseVersion: RELEASE } };
  await world.kubectl('patch', 'windowspool', POOL, '--type=merge', '-p', JSON.stringify({ spec }));
  const pool = await world.waitForPool(
    POOL,
    `to have release ${RELEASE} on verified nodes`,
    (found) =>
      found?.status?.nodeGroup?.releaseVersion === RELEASE &&
      hasConditions(found, UP_TO_DATE, 'NodesVerified=True/AllVerified'),
    90_000,
  );
  const { least, events } = await pods.stop();
  if (least < REQUIRED_PODS) throw new Error(`${least} pods were ready, but the budget requires ${REQUIRED_PODS}`);
  say(messageOf(pool, 'UpToDate'));
  say(`${messageOf(pool, 'NodesVerified')} At least ${least} pod was ready at each of ${events} pod events.`);
  say(await world.kubectl('get', 'poddisruptionbudgets'));
  say(await world.kubectl('get', 'windowspools'));
}

/** Returns the name of the failing node. There are more pods than before, and the failing node is the emptiest: only its taint prevents their scheduling. */
async function joinGatedPool(world: TestEnv, stage: Say, say: Say): Promise<string> {
  stage(
    'Setting verification.policy: Gate: new nodes register with a taint, which the operator removes after it has verified them',
  );
  const spec = { verification: { policy: 'Gate' } };
  await world.kubectl('patch', 'windowspool', POOL, '--type=merge', '-p', JSON.stringify({ spec }));
  await world.waitForPool(
    POOL,
    'to have the gate taint, and all its nodes released',
    (found) => hasConditions(found, UP_TO_DATE) && found?.status?.nodes?.gated === 0,
  );
  stage('A node with Windows Server 2019 joins the pool of Windows Server 2022');
  world.cloud.faults.nextNode({ group: POOL, build: '10.0.17763' });
  await world.kubectl('scale', 'windowspool', POOL, '--replicas=3');
  const pool = await world.waitForConditions(POOL, 'NodesVerified=False/WrongBuild');
  const [bad] = pool?.status?.failingNodes ?? [];
  if (!bad) throw new Error('the pool names no failing node');
  say(messageOf(pool, 'NodesVerified'));
  say(await world.kubectl('get', 'wp'));
  say((await plugin(world, 'status', POOL)).text);
  say(`${bad.name}:\n${verificationOf(await world.kubectl('describe', 'node', bad.name))}`);
  stage(`Scaling the Deployment to ${MORE_PODS} pods; none of them is scheduled to that node`);
  await world.kubectl('scale', 'deployment', 'iis', `--replicas=${MORE_PODS}`);
  await world.kubectl('rollout', 'status', 'deployment/iis', '--timeout=60s');
  const onNode = `--field-selector=spec.nodeName=${bad.name}`;
  const landed = await world.kubectl('get', 'pods', '-l', 'app=iis', '-o', 'name', onNode);
  if (landed !== '') throw new Error(`pods were scheduled to ${bad.name}, which is not verified: ${landed}`);
  say(await world.kubectl('get', 'pods', '-o', 'wide'));
  return bad.name;
}

/** spec.remediation does the same automatically, after some minutes. */
async function replaceNode(world: TestEnv, node: string, stage: Say, say: Say): Promise<void> {
  stage('Replacing that node: kubectl annotate node NAME winpool.dev/replace=true');
  await world.kubectl('annotate', 'node', node, 'winpool.dev/replace=true');
  const pool = await world.waitForPool(
    POOL,
    'to have three verified nodes again',
    (found) =>
      found?.status?.nodes?.verified === 3 &&
      conditionOf(found, 'NodesVerified') === 'True/AllVerified' &&
      found.status.disruption === undefined,
    60_000,
  );
  say(messageOf(pool, 'NodesVerified'));
  const isEnded = async () => (await eventsOfPool(world)).includes('NodeDisruptionFinished');
  await waitFor(isEnded, { what: 'the event with the new node', timeoutMs: 10_000 });
  const events = (await eventsOfPool(world))
    .split('\n')
    .filter((line) => /^NodeDisruption|^InstanceTerminated/.test(line));
  say(events.join('\n'));
  say(await world.kubectl('get', 'wp'));
}

/** Ready pods are counted at every event, from the change of the spec until the old node group is gone. */
async function replaceGroup(world: TestEnv, stage: Say, say: Say): Promise<void> {
  stage(
    'Setting another instance type, which EKS cannot change, and nodeGroup.immutableChangePolicy: Replace: a new node group replaces the old one',
  );
  const pods = await watchReadyPods(world.controlPlane.adminKubeconfig, 'iis');
  const spec = { nodeGroup: { immutableChangePolicy: 'Replace', instanceTypes: [INSTANCE_TYPE] } };
  await world.kubectl('patch', 'windowspool', POOL, '--type=merge', '-p', JSON.stringify({ spec }));
  const draining = await world.waitForPool(
    POOL,
    'to drain its old node group',
    (found) => found?.status?.nodeGroup?.replacement?.phase === 'Draining',
    60_000,
  );
  say(messageOf(draining, 'UpToDate'));
  say(await world.kubectl('get', 'nodes', '-L', 'eks.amazonaws.com/nodegroup,node.kubernetes.io/instance-type'));
  const pool = await world.waitForPool(
    POOL,
    'to have only its new node group',
    (found) => found?.status?.nodeGroup?.replacement === undefined && hasConditions(found, UP_TO_DATE),
    120_000,
  );
  const { least, events } = await pods.stop();
  if (least < REQUIRED_PODS) throw new Error(`${least} pods were ready, but the budget requires ${REQUIRED_PODS}`);
  const groups = [...world.cloud.state.groups.keys()];
  if (groups.length !== 1 || groups[0] === POOL) throw new Error(`the pool has the node groups ${groups}`);
  say(`${messageOf(pool, 'UpToDate')} At least ${least} pods were ready at each of ${events} pod events.`);
  say(await world.kubectl('get', 'nodes', '-L', 'eks.amazonaws.com/nodegroup,node.kubernetes.io/instance-type'));
}

function eventsOfPool(world: TestEnv): Promise<string> {
  const columns = 'custom-columns=REASON:.reason,MESSAGE:.message';
  const selector = '--field-selector=involvedObject.kind=WindowsPool';
  return world.kubectl('get', 'events', '-A', selector, '--sort-by=.metadata.creationTimestamp', '-o', columns);
}

/** The operator's result in `kubectl describe node`: the taints and the condition winpool.dev/Verified. */
function verificationOf(described: string): string {
  const lines = described.split('\n');
  const from = lines.findIndex((line) => line.startsWith('Taints:'));
  const length = lines.slice(from + 1).findIndex((line) => !line.startsWith(' ')) + 1;
  const condition = lines.filter((line) => line.trim().startsWith(VERIFIED_CONDITION));
  return [...lines.slice(from, from + length), 'Conditions:', ...condition].join('\n');
}

async function deletePool(world: TestEnv, stage: Say, say: Say): Promise<void> {
  stage('Deleting the pool: first its node group, then the pool, then the RuntimeClass');
  await world.kubectl('delete', '-f', join(SAMPLES, 'deployment.yaml'));
  await world.kubectl('delete', 'windowspool', POOL, '--timeout=60s');
  const left = world.cloud.state.groups.size;
  if (left > 0) throw new Error(`${left} node groups are left in AWS`);
  const gone = async () => (await world.kubectl('get', 'runtimeclasses', '-o', 'name')) === '';
  await waitFor(gone, { what: 'the garbage collector to delete the RuntimeClass', timeoutMs: 30_000 });
  say('No node group, no pool and no RuntimeClass is left.');
}

/** Checks in the audit log that the operator used its own user, and that no request was denied. */
async function auditOperator(world: TestEnv): Promise<string> {
  const events = await readAudit(world.controlPlane.auditLog);
  const own = ofOperator(events);
  const foreign = own.filter(({ user, impersonatedUser }) => user.username !== OPERATOR_USER || impersonatedUser);
  const denied = refused(events.filter(({ user }) => user.username === OPERATOR_USER));
  if (own.length === 0) throw new Error('the audit log has no request of the operator');
  for (const { user, verb, requestURI } of foreign)
    throw new Error(`the operator came as ${user.username}: ${verb} ${requestURI}`);
  for (const { verb, requestURI } of denied) throw new Error(`the operator was denied ${verb} ${requestURI}`);
  return `The operator made ${own.length} requests, all as ${OPERATOR_USER}; none was denied.`;
}
