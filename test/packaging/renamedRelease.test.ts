/** A release of the chart with other names than the default, on a real API server: its operator works, with an EKS cluster and without one. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { V1Deployment } from '@kubernetes/client-node';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { runCommand } from '../../hack/controlplane/command.ts';
import { toolPath } from '../../hack/tools/tools.ts';
import { ofOperator, readAudit, refused } from '../fakes/testenv/audit.ts';
import { existingNode } from '../fakes/testenv/existingNode.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import { messageOf, READY, startTestEnv, type TestEnv, UP_TO_DATE } from '../fakes/testenv/testEnv.ts';
import { existingPool, poolManifest } from '../pools.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CHART = join(ROOT, 'config/charts/windowspool-operator');
const say = (line: string) => console.log(`    ${line}`);

/** What platform teams set: their names and labels, a ServiceAccount that exists, and their tags. */
const VALUES = [
  'fullnameOverride=win',
  'serviceAccount.create=false',
  'serviceAccount.name=aws-windows',
  'commonLabels.team=platform',
  'clusterName=demo',
  'region=eu-west-1',
  'defaultTags.team=platform',
  'defaultTags.cost-center=c-42',
  'windowsIpam.enabled=true',
  'podDisruptionBudget.minAvailable=1',
  'replicas=2',
  'logLevel=debug',
  'revisionHistoryLimit=3',
].join(',');

describe('a renamed release of the chart', function () {
  this.timeout(300_000);
  let world: TestEnv;
  let folder: string;
  let helm: string;
  let operator: OperatorProcess | undefined;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-renamed-'));
    helm = await toolPath('helm', say);
    world = await startTestEnv({ speed: 4, bare: true, log: say });
    await world.kubectl('create', 'namespace', 'ops');
    await world.kubectl('create', 'serviceaccount', 'aws-windows', '-n', 'ops');
  });
  after(async () => {
    await world?.stop();
    if (folder) await rm(folder, { recursive: true });
  });

  async function run(...args: readonly string[]): Promise<string> {
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      KUBECONFIG: world.controlPlane.adminKubeconfig,
    };
    const { stdout, stderr, code } = await runCommand(helm, [...args, '-n', 'ops'], { env, timeoutMs: 120_000 });
    if (code !== 0) throw new Error(`helm ${args.join(' ')}: ${stderr}${stdout}`);
    return `${stdout}${stderr}`;
  }

  /** The operator as the Deployment starts it, apart from its addresses: with its flags and ServiceAccount. */
  async function start(isOnEks: boolean): Promise<OperatorProcess> {
    const deployment = await world.get<Wire<V1Deployment>>('deployment', 'win', '-n', 'ops');
    const { containers, serviceAccountName = '' } = deployment?.spec?.template.spec ?? assert.fail('no Deployment');
    const flags = containers[0]?.args?.filter((arg) => !/^--(metrics|health)-/.test(arg)) ?? [];
    const credentials = await world.controlPlane.serviceAccountKubeconfig('ops', serviceAccountName);
    const environment = { POD_NAMESPACE: 'ops' };
    const nowhere = { clusterName: undefined, region: undefined };
    return world
      .operator(['--leader-elect=true', ...flags], { credentials, environment, ...(isOnEks ? {} : nowhere) })
      .ready();
  }
  const requests = async () => ofOperator(await readAudit(world.controlPlane.auditLog));
  const deniedTo = async (from: number) =>
    refused((await requests()).slice(from)).map(({ verb, requestURI }) => `${verb} ${requestURI}`);
  const named = async () => {
    const kinds =
      'deployments,services,configmaps,roles,rolebindings,networkpolicies,poddisruptionbudgets,clusterroles';
    const policies = 'clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings';
    return (await world.kubectl('get', `${kinds},${policies}`, '-A', '-o', 'name'))
      .split('\n')
      .filter((name) => /\/(win|windowspool-operator)(-|$)/.test(name))
      .map((name) => name.replace(/\..*\//, '/'))
      .sort();
  };

  it('is accepted by the API server, and its pods are admitted', async () => {
    assert.match(await run('install', 'blue', CHART, '--set', VALUES, '--dry-run=server'), /deployment\/win\n/);
    await run('install', 'blue', CHART, '--set', VALUES, '--wait', '--timeout', '90s');
    assert.deepEqual(
      (await named()).filter((name) => name.includes('windowspool-operator')),
      [],
    );
  });

  it('makes a pool Ready without a denied request, and tags its node group', async () => {
    operator = await start(true);
    await world.apply(poolManifest('web', { nodeGroup: { tags: { team: 'shop' } } }));
    // The tags of the flag do not differ from the spec.
    const pool = await world.waitForConditions('web', READY, UP_TO_DATE);
    assert.deepEqual(pool?.spec.nodeGroup?.tags, { team: 'shop' });
    assert.partialDeepStrictEqual(world.cloud.state.groups.get('web')?.nodegroup.tags, {
      team: 'shop',
      'cost-center': 'c-42',
    });
    const users = new Set((await requests()).map(({ user }) => user.username));
    assert.deepEqual([...users], ['system:serviceaccount:ops:aws-windows']);
    assert.deepEqual(await deniedTo(0), []);
  });

  it('limits the writes of its ServiceAccount, and of no other', async () => {
    const [node = ''] = await world.nodeNamesOf('web');
    const annotate = (account: string) =>
      world.kubectl(
        'annotate',
        'node',
        node,
        'example.com/a=b',
        '--overwrite',
        `--as=system:serviceaccount:${account}`,
      );
    await assert.rejects(annotate('ops:aws-windows'), /ValidatingAdmissionPolicy 'win' with binding 'win' denied/);
    await world.kubectl('create', 'clusterrolebinding', 'other', '--clusterrole=win', '--serviceaccount=ops:other');
    await annotate('ops:other');
    await world.kubectl('delete', 'clusterrolebinding', 'other');
  });

  it('without an EKS cluster, serves pools of existing nodes, and says what a pool with a node group needs', async () => {
    await world.kubectl('delete', 'windowspool', 'web', '--timeout=60s');
    await operator?.stop();
    await run('upgrade', 'blue', CHART, '--set', `${VALUES},clusterName=,region=`);
    const calls = world.cloud.calls().length;
    const from = (await requests()).length;
    operator = await start(false);
    await world.apply(existingNode({ name: 'onprem-1', labels: { site: 'ams' } }));
    await world.apply(existingPool('onprem', { matchLabels: { site: 'ams' } }));
    await world.waitForReady('onprem');
    await world.apply(poolManifest('web'));
    const pool = await world.waitForConditions('web', 'Stalled=True/ClusterNotConfigured');
    assert.match(messageOf(pool, 'Ready'), /--cluster-name and --region: clusterName and region in the values/);
    await world.kubectl('delete', 'windowspool', 'web', '--timeout=30s');
    assert.equal(world.cloud.calls().length, calls);
    assert.deepEqual(await deniedTo(from), []);
    await world.kubectl('delete', 'windowspool', 'onprem', '--timeout=30s');
  });

  it('leaves nothing of its own when it is uninstalled', async () => {
    await operator?.stop();
    await run('uninstall', 'blue', '--wait');
    assert.deepEqual(await named(), []);
    assert.match(await world.kubectl('get', 'serviceaccounts', '-n', 'ops', '-o', 'name'), /aws-windows/);
  });
});
