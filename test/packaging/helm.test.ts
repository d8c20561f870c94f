/** The page of the Helm chart, followed on a cluster of its own with each version of Helm, with an operator that has only the chart's permissions. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { parse, stringify } from 'yaml';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { ensureBinaries } from '../../hack/controlplane/binaries.ts';
import { runCommand } from '../../hack/controlplane/command.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { toolPath } from '../../hack/tools/tools.ts';
import { isWrite } from '../awsCalls.ts';
import { blocksOf } from '../docs/markdown.ts';
import { ofOperator, readAudit, refused } from '../fakes/testenv/audit.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import { isReconciled, startTestEnv, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { lastOtherCommit } from './previousOperator.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CHART = 'config/charts/windowspool-operator';
const NAMESPACE = 'winpool-system';
const NODE_PODS = 'winpool-node-pods';
/** The name of the objects, and that of the release in the page. */
const OPERATOR = 'windowspool-operator';
const RELEASE = 'windowspool';
/** The chart in the page, which is not published yet. */
const PUBLISHED = /oci:\S+ --version \S+/g;

const say = (line: string) => console.log(`    ${line}`);

describe('the Helm chart in a cluster', function () {
  this.timeout(300_000);
  let world: TestEnv;
  let folder: string;
  let previous: string;
  let operator: OperatorProcess | undefined;
  let blocks: readonly string[];
  let kubectl: string;
  const helms = new Map<number, string>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-helm-'));
    for (const [version, program] of [
      [3, await toolPath('helm3', say)],
      [4, await toolPath('helm', say)],
    ] as const) {
      const bin = join(folder, `helm-${version}`);
      await mkdir(bin);
      await symlink(program, join(bin, 'helm'));
      helms.set(version, bin);
    }
    ({ kubectl } = await ensureBinaries(say));
    world = await startTestEnv({ speed: 4, bare: true, log: say });
    const page = await readFile(join(ROOT, CHART, 'README.md'), 'utf8');
    blocks = blocksOf(page).map(({ text }) => text);
    previous = await previousChart();
  });
  after(async () => {
    await world?.stop();
    if (folder) await rm(folder, { recursive: true });
  });

  /** Runs commands of the page, with a version of Helm. */
  async function sh(version: number, page: string): Promise<string> {
    const script = page.replace(PUBLISHED, CHART);
    const { stdout, stderr, code } = await runCommand('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
      cwd: ROOT,
      env: {
        ...process.env,
        PATH: [helms.get(version), dirname(kubectl), process.env.PATH].join(delimiter),
        KUBECONFIG: world.controlPlane.adminKubeconfig,
        HELM_CACHE_HOME: join(folder, 'cache'),
        HELM_CONFIG_HOME: join(folder, 'config'),
        HELM_DATA_HOME: join(folder, 'data'),
        CLUSTER_NAME: 'demo',
        AWS_REGION: 'eu-west-1',
        IMAGE: 'registry.example/windowspool-operator',
      },
      timeoutMs: 180_000,
    });
    if (code !== 0) throw new Error(`${script}\nended with ${code}:\n${stdout}${stderr}`);
    return stdout;
  }
  const block = (begin: string) =>
    blocks.find((text) => text.includes(begin)) ?? assert.fail(`the page has no block with ${begin}`);

  /** The command of the page for another chart, which may have no default image. */
  const installOf = (chart: string) =>
    `${block('helm install').replace(PUBLISHED, chart).trimEnd()} --set image.repository="$IMAGE"`;

  /**
   * The folder of the chart of the previous commit; that of the checkout if there is none, or none that Helm can render. Its CRD has neither
   * the column Release nor the field `spec.disruption`, so that every upgrade and rollback changes the CRD. Its roles are those of the checkout, whose
   * operator runs.
   */
  async function previousChart(): Promise<string> {
    const chart = join(folder, 'previous', CHART);
    const origin = (await chartOfPreviousCommit(chart)) ?? 'this checkout, because no previous chart can be installed';
    say(`upgrades from the chart of ${origin}`);
    if (!existsSync(chart)) await cp(join(ROOT, CHART), chart, { recursive: true });
    await cp(join(ROOT, CHART, 'files/rbac'), join(chart, 'files/rbac'), { recursive: true });
    const file = join(chart, 'files/windowspools.yaml');
    const crd = parse(await readFile(file, 'utf8'));
    const [version] = crd.spec.versions;
    version.additionalPrinterColumns = version.additionalPrinterColumns.filter(
      ({ name }: { name: string }) => name !== 'Release',
    );
    const { spec } = version.schema.openAPIV3Schema.properties;
    delete spec.properties.disruption;
    const rules: { rule: string }[] = spec['x-kubernetes-validations'];
    spec['x-kubernetes-validations'] = rules.filter(({ rule }) => !rule.includes('disruption'));
    await writeFile(file, stringify(crd));
    return chart;
  }

  /** Extracts it and returns the hash and subject of its commit, or undefined without a folder. */
  async function chartOfPreviousCommit(chart: string): Promise<string | undefined> {
    const commit = await lastOtherCommit(ROOT);
    if (commit === undefined) return undefined;
    const checkout = join(folder, 'previous');
    await mkdir(checkout);
    await sh(4, `git archive --output ${checkout}.tar ${commit} ${CHART} && tar -xf ${checkout}.tar -C ${checkout}`);
    try {
      await sh(
        4,
        `helm template ${chart} --set clusterName=prod --set region=eu-west-1 --set image.repository=registry.example/operator`,
      );
      return (await sh(4, `git log -1 --format='%h %s' ${commit}`)).trim();
    } catch (error) {
      say(`The chart of ${commit} cannot be installed: ${error}`);
      await rm(checkout, { recursive: true });
      return undefined;
    }
  }

  async function startOperator(): Promise<void> {
    await world.login();
    operator = await world.operator(['--leader-elect=true', '--poll-interval=200ms']).ready();
  }
  /** Waits until the pool is Ready and the operator has sent its last change, which is that of the tags. */
  async function toBeReady(): Promise<void> {
    await world.waitForReady('web');
    const isTagged = () => (world.cloud.state.groups.get('web')?.autoScalingTags.length ?? 0) > 0;
    await waitFor(isTagged, { what: 'the tags of the scaling group' });
    await world.waitForPool('web', 'to be reconciled', isReconciled);
  }
  const read = async (): Promise<WindowsPool> => (await world.pool('web')) ?? assert.fail('pool web is gone');
  const hasReleaseColumn = async () => {
    const crd = await world.get<Wire<V1CustomResourceDefinition>>('crd', 'windowspools.winpool.dev');
    const columns = crd?.spec.versions[0]?.additionalPrinterColumns ?? assert.fail('there is no CRD');
    return columns.some(({ name }) => name === 'Release');
  };
  const writes = () =>
    world.cloud
      .calls()
      .filter(isWrite)
      .map(({ operation }) => operation);
  const requests = async () => ofOperator(await readAudit(world.controlPlane.auditLog));
  /** The objects that the chart installs and uninstalls, if they exist. */
  const installed = async () => {
    const kinds = 'deployments,serviceaccounts,configmaps,roles,rolebindings,networkpolicies,poddisruptionbudgets';
    const names = [
      await world.kubectl('get', kinds, '-n', NAMESPACE, '-o', 'name'),
      await world.kubectl('get', 'roles,rolebindings', '-n', 'kube-system', '-o', 'name'),
      await world.kubectl('get', 'roles,rolebindings', '-n', NODE_PODS, '-o', 'name'),
      await world.kubectl('get', 'clusterroles,clusterrolebindings', '-o', 'name'),
    ];
    return names
      .join('')
      .split('\n')
      .filter((name) => name.includes(OPERATOR));
  };
  const removeNamespace = () => world.kubectl('delete', 'namespace', NAMESPACE, '--timeout=60s');
  const hasDisruptionBudget = async () => (await installed()).includes(`poddisruptionbudget.policy/${OPERATOR}`);
  const readyReplicas = () =>
    world.kubectl('-n', NAMESPACE, 'get', 'deployments', '-o', 'jsonpath={.items[*].status.readyReplicas}');
  const replicas = () =>
    world.kubectl('-n', NAMESPACE, 'get', 'deployments', '-o', 'jsonpath={.items[*].spec.replicas}');
  /** Fails if the action changes the pool, its resourceVersion or its node group. */
  async function withoutChanges(action: () => Promise<unknown>): Promise<void> {
    const facts = async () => [await world.pool('web'), writes(), world.cloud.state.groups.get('web')?.nodegroup];
    const before = structuredClone(await facts());
    await action();
    assert.deepEqual(await facts(), before);
  }

  for (const version of [3, 4])
    describe(`with Helm ${version}`, () => {
      const helm = (script: string) => sh(version, script);
      const scaled =
        version === 3
          ? 'is upgraded after kubectl scale, and resets the replicas'
          : 'is upgraded and rolled back after kubectl scale only with --force-conflicts, and resets the replicas';
      let earlier: number;
      before(async () => {
        earlier = (await requests()).length;
      });
      after(removeNamespace);

      const assertNothingDenied = async () => {
        const events = (await requests()).slice(earlier);
        assert.notEqual(events.length, 0);
        assert.deepEqual(
          refused(events).map(({ verb, requestURI }) => `${verb} ${requestURI}`),
          [],
        );
      };

      it('is installed with the commands of its page, and its pod passes pod security', async () => {
        assert.match(await helm('helm version --short'), new RegExp(`^v${version}\\.`));
        await helm(block('kubectl label namespace'));
        await helm(block('helm install'));
        assert.deepEqual(JSON.parse(await helm(`helm list -n ${NAMESPACE} -o json`))[0]?.status, 'deployed');
        assert.equal(await readyReplicas(), '1');
        assert.ok(await hasReleaseColumn());
      });

      it('grants the operator the permissions to make a pool Ready, and none of its requests is denied', async () => {
        await startOperator();
        await world.apply(poolManifest('web'));
        await toBeReady();
        await assertNothingDenied();
      });

      it('keeps the CRD, the pools, their node groups and the Secrets of its pods on nodes when it is uninstalled', async () => {
        await operator?.stop();
        await world.kubectl('create', 'secret', 'generic', 'registry', '-n', NODE_PODS);
        await withoutChanges(() => helm(`helm uninstall ${RELEASE} -n ${NAMESPACE} --wait`));
        assert.deepEqual(await installed(), []);
        assert.match(await world.kubectl('get', 'secrets', '-n', NODE_PODS, '-o', 'name'), /^secret\/registry$/m);
        assert.equal(world.cloud.state.groups.get('web')?.nodegroup.status, 'ACTIVE');
      });

      it('takes over the CRD and the pools when the chart of the previous commit is installed again', async () => {
        const sent = writes();
        await helm(installOf(previous));
        assert.equal(await hasReleaseColumn(), false);
        earlier = (await requests()).length;
        await startOperator();
        await world.kubectl('scale', 'windowspool', 'web', '--replicas=2');
        await world.waitForPool(
          'web',
          'to have two verified nodes',
          (pool) => pool?.status?.summary?.verified === '2/2',
        );
        await world.waitForPool('web', 'to be reconciled', isReconciled);
        assert.deepEqual(writes().slice(sent.length), ['UpdateNodegroupConfig']);
      });

      it('is upgraded from it with the command of its page, with its CRD and two replicas, without changing pools', async () => {
        await withoutChanges(() => helm(block('helm upgrade')));
        assert.ok(await hasReleaseColumn());
        assert.ok(await hasDisruptionBudget());
        assert.equal(await readyReplicas(), '2');
      });

      it('is rolled back to it with the command of its page, with the earlier CRD, without changing pools', async () => {
        await world.patchPool('web', { disruption: { drain: { timeout: '20m' } } });
        await world.waitForPool('web', 'to be reconciled', isReconciled);
        const before = await read();
        const sent = writes();
        await helm(block('helm rollback'));
        assert.equal(await hasReleaseColumn(), false);
        assert.equal(await hasDisruptionBudget(), false);
        assert.equal(await readyReplicas(), '1');
        // The API server does not show fields that the CRD does not have.
        const { disruption, ...spec } = before.spec;
        assert.equal(disruption?.drain?.timeout, '20m');
        assert.deepEqual(await read(), { ...before, spec });
        assert.deepEqual(writes(), sent);
        await assertNothingDenied();
      });

      it('loses fields that the earlier CRD does not have when a pool is written after the rollback', async () => {
        await world.kubectl('annotate', 'windowspool', 'web', 'team=shop');
        await helm(block('helm upgrade'));
        assert.ok(await hasReleaseColumn());
        assert.equal((await read()).spec.disruption, undefined);
      });

      it(scaled, async () => {
        const upgrade = block('helm upgrade');
        await world.kubectl('scale', 'deployment', OPERATOR, '-n', NAMESPACE, '--replicas=3');
        const conflict = /conflict with "kubectl" with subresource "scale" using apps\/v1: \.spec\.replicas/;
        const rollback = block('helm rollback');
        if (version === 4) {
          for (const command of [upgrade, rollback]) await assert.rejects(helm(command), conflict);
          // To the revision of the rejected upgrade, which also has two replicas.
          await helm(`${rollback} --force-conflicts`);
          assert.equal(await replicas(), '2');
          await world.kubectl('scale', 'deployment', OPERATOR, '-n', NAMESPACE, '--replicas=3');
        }
        await helm(version === 4 ? `${upgrade} --force-conflicts` : upgrade);
        assert.equal(await replicas(), '2');
      });

      it('is uninstalled completely with the commands of its page', async () => {
        await helm(block('helm uninstall'));
        await operator?.stop();
        assert.deepEqual(await installed(), []);
        assert.equal(await world.kubectl('get', 'crds', '-o', 'name'), '');
        assert.equal(await world.get('namespace', NODE_PODS), undefined);
        assert.equal(world.cloud.state.groups.get('web'), undefined);
      });
    });

  describe('a release of Helm 3', () => {
    after(removeNamespace);

    it('is upgraded, rolled back and uninstalled with Helm 4', async () => {
      await sh(3, installOf(previous));
      for (const [words, replicas] of [
        ['helm upgrade', '2'],
        ['helm rollback', '1'],
      ] as const) {
        await sh(4, block(words));
        assert.equal(await readyReplicas(), replicas);
        assert.equal(await hasReleaseColumn(), words === 'helm upgrade');
        // Helm 4 does not use server-side apply for a release of Helm 3, so there is no conflict.
        await world.kubectl('scale', 'deployment', OPERATOR, '-n', NAMESPACE, '--replicas=3');
      }
      await sh(4, block('helm upgrade'));
      assert.equal(await replicas(), '2');
      await sh(4, block('helm uninstall'));
      assert.deepEqual(await installed(), []);
    });
  });
});
