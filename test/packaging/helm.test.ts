/** The page of the Helm chart, followed from top to bottom on a cluster of its own, with an operator that has only the chart's permissions. */
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { ensureBinaries } from '../../hack/controlplane/binaries.ts';
import { runCommand } from '../../hack/controlplane/command.ts';
import { ofOperator, readAudit, refused } from '../../hack/testenv/audit.ts';
import type { OperatorProcess } from '../../hack/testenv/operatorProcess.ts';
import { conditionOf, startTestEnv, type TestEnv } from '../../hack/testenv/testEnv.ts';
import { toolPath } from '../../hack/tools/tools.ts';
import { blocksOf } from '../docs/markdown.ts';
import { poolManifest } from '../pools.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CHART = 'config/charts/windowspool-operator';
const NAMESPACE = 'winpool-system';

describe('the Helm chart in a cluster', function () {
  this.timeout(300_000);
  let world: TestEnv;
  let folder: string;
  let env: NodeJS.ProcessEnv;
  let operator: OperatorProcess | undefined;
  let blocks: readonly string[];

  before(async () => {
    const say = (line: string) => console.log(`    ${line}`);
    const [helm, { kubectl }] = [await toolPath('helm', say), await ensureBinaries(say)];
    world = await startTestEnv({ speed: 4, bare: true, log: say });
    folder = await mkdtemp(join(tmpdir(), 'windowspool-helm-'));
    env = {
      ...process.env,
      PATH: [dirname(helm), dirname(kubectl), process.env.PATH].join(':'),
      KUBECONFIG: world.controlPlane.adminKubeconfig,
      HELM_CACHE_HOME: join(folder, 'cache'),
      HELM_CONFIG_HOME: join(folder, 'config'),
      HELM_DATA_HOME: join(folder, 'data'),
      CLUSTER_NAME: 'demo',
      AWS_REGION: 'eu-west-1',
      IMAGE: 'registry.example/windowspool-operator',
    };
    const page = await readFile(join(ROOT, CHART, 'README.md'), 'utf8');
    blocks = blocksOf(page).map(({ text }) => text);
  });
  after(async () => {
    await world?.stop();
    if (folder) await rm(folder, { recursive: true });
  });

  async function sh(script: string): Promise<string> {
    const { stdout, stderr, code } = await runCommand('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: ROOT,
      env,
      timeoutMs: 180_000,
    });
    if (code !== 0) throw new Error(`${script}\nended with ${code}:\n${stdout}${stderr}`);
    return stdout;
  }
  const block = (begin: string) =>
    blocks.find((text) => text.includes(begin)) ?? assert.fail(`the page has no block with ${begin}`);

  async function startOperator(): Promise<void> {
    await world.login();
    operator = await world.operator(['--leader-elect=true', '--poll-interval=200ms']).ready();
  }
  const toBeReady = () =>
    world.waitForPool('web', 'to be Ready', (pool) => conditionOf(pool, 'Ready') === 'True/Verified');
  const columns = async () => {
    const crd = await world.get<Wire<V1CustomResourceDefinition>>('crd', 'windowspools.winpool.dev');
    return crd?.spec.versions[0]?.additionalPrinterColumns?.map(({ name }) => name) ?? [];
  };
  const writes = () =>
    world.cloud
      .calls()
      .map(({ operation }) => operation)
      .filter((operation) => !/^(Describe|List|Get)/.test(operation));
  /** The objects that the chart installs and uninstalls, if they exist. */
  const installed = async () => {
    const kinds = 'deployments,serviceaccounts,configmaps,roles,rolebindings,networkpolicies,poddisruptionbudgets';
    const names = [
      await world.kubectl('get', kinds, '-n', NAMESPACE, '-o', 'name'),
      await world.kubectl('get', 'roles,rolebindings', '-n', 'kube-system', '-o', 'name'),
      await world.kubectl('get', 'clusterroles,clusterrolebindings', '-o', 'name'),
    ];
    return names
      .join('')
      .split('\n')
      .filter((name) => name.includes('windowspool-operator'));
  };

  const readyReplicas = () =>
    world.kubectl('-n', NAMESPACE, 'get', 'deployments', '-o', 'jsonpath={.items[*].status.readyReplicas}');

  it('is installed with the commands of its page, and its pod passes pod security', async () => {
    await sh(block('helm install'));
    assert.deepEqual(JSON.parse(await sh(`helm list -n ${NAMESPACE} -o json`))[0]?.status, 'deployed');
    assert.equal(await readyReplicas(), '1');
  });

  it('grants the operator the permissions to make a pool Ready, and none of its requests is denied', async () => {
    await startOperator();
    await world.apply(poolManifest('web'));
    await toBeReady();
    const events = ofOperator(await readAudit(world.controlPlane.auditLog));
    assert.notEqual(events.length, 0);
    assert.deepEqual(
      refused(events).map(({ verb, requestURI }) => `${verb} ${requestURI}`),
      [],
    );
  });

  it('upgrades the CRD of an older chart and scales the Deployment to two replicas, without changing pools', async () => {
    const old = join(folder, 'older');
    await cp(join(ROOT, CHART), old, { recursive: true });
    const crd = join(old, 'files/windowspools.yaml');
    const text = await readFile(crd, 'utf8');
    await writeFile(crd, text.replace(/^.*\{name: Release, .*\n/m, ''));
    await sh(`helm upgrade windowspool-operator ${old} -n ${NAMESPACE} --reset-then-reuse-values --wait`);
    assert.ok(!(await columns()).includes('Release'));
    const before = await world.pool('web');
    const sent = writes();

    await sh(block('helm upgrade'));
    assert.ok((await columns()).includes('Release'));
    const names = await installed();
    assert.ok(names.includes('poddisruptionbudget.policy/windowspool-operator'), names.join(' '));
    assert.equal(await readyReplicas(), '2');
    assert.deepEqual(await world.pool('web'), before);
    assert.deepEqual(writes(), sent);
  });

  it('keeps the CRD, the pools and their node groups when it is uninstalled', async () => {
    const before = await world.pool('web');
    const sent = writes();
    await operator?.stop();
    await sh(`helm uninstall windowspool-operator -n ${NAMESPACE} --wait`);
    assert.deepEqual(await installed(), []);
    assert.deepEqual(await world.pool('web'), before);
    assert.deepEqual(writes(), sent);
    assert.equal(world.cloud.state.groups.get('web')?.nodegroup.status, 'ACTIVE');
  });

  it('takes over the CRD and the pools when it is installed again', async () => {
    const sent = writes();
    await sh(
      block('helm install')
        .split('\n')
        .filter((line) => !/^kubectl/.test(line))
        .join('\n'),
    );
    await startOperator();
    await world.kubectl('scale', 'windowspool', 'web', '--replicas=2');
    await world.waitForPool('web', 'to have two nodes', (pool) => pool?.status?.summary?.nodes === '2/2');
    assert.deepEqual(writes().slice(sent.length), ['UpdateNodegroupConfig']);
  });

  it('is uninstalled completely with the commands of its page', async () => {
    await sh(block('helm uninstall'));
    await operator?.stop();
    assert.deepEqual(await installed(), []);
    assert.equal(await world.kubectl('get', 'crds', '-o', 'name'), '');
    assert.equal(world.cloud.state.groups.get('web'), undefined);
  });
});
