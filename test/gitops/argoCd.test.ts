/** A real Argo CD syncs the operator, its pools and their workloads from a Git repository, with config/argocd and docs/gitops.md. */
import assert from 'node:assert/strict';
import { stringify } from 'yaml';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { ARGOCD_NAMESPACE } from '../../hack/gitops/argoCd.ts';
import { GitOps, POOL, Recording, startCluster, startInstalledOperator } from '../../hack/gitops/gitOps.ts';
import { subnetIds } from '../../hack/localaws/network.ts';
import { conditionOf, type TestEnv } from '../../hack/testenv/testEnv.ts';
import { freezeAws } from '../sharedWorld.ts';
import { HEALTH_KEY } from './gitopsTools.ts';

const APP = 'windows-pools-demo';
const say = (line: string) => console.log(`    ${line}`);

/** Argo CD in a cluster of its own, during the suite that calls this. */
function withGitOps(): { readonly world: TestEnv; readonly gitOps: GitOps } {
  const fixture = {} as { world: TestEnv; gitOps: GitOps };
  before(async function () {
    // Argo CD may have to be built.
    this.timeout(30 * 60_000);
    fixture.world = await startCluster('demo', say);
    fixture.gitOps = await GitOps.start(fixture.world, say);
  });
  after(async () => {
    try {
      await fixture.gitOps?.[Symbol.asyncDispose]();
    } finally {
      await fixture.world?.stop();
    }
  });
  return fixture;
}

/** Scales the pool, and checks that ten refreshes of the Application do not change it. */
async function keepsSize({ world, gitOps }: ReturnType<typeof withGitOps>, application: string): Promise<void> {
  await world.kubectl('scale', 'windowspool', POOL, '--replicas=3');
  await world.waitForPool(POOL, 'to have 3 nodes', (pool) => pool?.status?.summary?.verified === '3/3');
  await gitOps.synced(application);
  const versionOf = async () => (await world.pool(POOL))?.metadata.resourceVersion;
  const before = await versionOf();
  for (let count = 0; count < 10; count++) {
    const { status } = await gitOps.argo.refresh(application, count % 2 ? 'hard' : 'normal');
    assert.equal(status?.sync?.status, 'Synced');
  }
  assert.equal(await versionOf(), before);
  assert.equal((await world.pool(POOL))?.spec.nodeGroup?.scaling?.desiredSize, 3);
}

describe('Argo CD with config/argocd', function () {
  this.timeout(400_000);
  const fixture = withGitOps();
  let world: TestEnv;
  let gitOps: GitOps;
  before(() => {
    ({ world, gitOps } = fixture);
  });

  const synced = (what?: string) => gitOps.synced(APP, what);
  const statesOfPool = () => new Recording(async () => (await gitOps.poolHealth(APP)).split(':')[0] ?? '');
  const labels = () => world.cloud.state.groups.get(POOL)?.nodegroup.labels ?? {};
  /** As a webhook of the Git server does after a push. */
  const sync = async () => {
    const { status } = await gitOps.argo.refresh(APP);
    assert.deepEqual(status?.conditions ?? [], []);
  };

  it('syncs the operator, then the pool, and the workload only when the pool is Ready', async () => {
    await gitOps.applySettings();
    await gitOps.addWorkload();
    await gitOps.register('demo', world);
    await using states = statesOfPool();
    await gitOps.applyApplicationSet();
    await startInstalledOperator(world);
    await synced();
    assert.deepEqual(
      (await states.values()).filter((state) => state !== 'none'),
      ['Missing', 'Progressing', 'Healthy'],
    );
    const pool = await world.pool(POOL);
    const ready = pool?.status?.conditions?.find(({ type }) => type === 'Ready');
    const deployment = await world.get('deployment', 'iis');
    assert.equal(ready?.status, 'True');
    assert.ok(
      Date.parse(String(deployment?.metadata?.creationTimestamp)) >= Date.parse(String(ready?.lastTransitionTime)),
      `the Deployment was created at ${deployment?.metadata?.creationTimestamp}, the pool was Ready at ${ready?.lastTransitionTime}`,
    );
  });

  it('shows the RuntimeClass below the pool, neither out of sync nor to be pruned', async () => {
    const tree = await gitOps.argo.tree(APP);
    const runtimeClass = tree.find(({ kind }) => kind === 'RuntimeClass');
    assert.deepEqual(
      runtimeClass?.parentRefs?.map(({ kind, name }) => `${kind} ${name}`),
      [`WindowsPool ${POOL}`],
    );
    const { status } = await gitOps.argo.refresh(APP, 'hard');
    assert.equal(status?.sync?.status, 'Synced');
    assert.ok(!status?.resources?.some(({ kind }) => kind === 'RuntimeClass'));
  });

  it('leaves a size that kubectl scale set, and changes nothing in ten refreshes', () => keepsSize(fixture, APP));

  it('reverts a change of a field that is in Git', async () => {
    await world.patchPool(POOL, { nodeGroup: { scaling: { maxSize: 9 } } });
    await world.waitForPool(POOL, 'to have its maximum again', (pool) => pool?.spec.nodeGroup?.scaling?.maxSize === 4);
    await synced();
  });

  it('applies a commit, is Progressing until EKS has applied it, and keeps the size of kubectl scale', async () => {
    await gitOps.commitPool('Label the nodes', (spec) => {
      spec.labels = { team: 'shop' };
    });
    await using states = statesOfPool();
    await sync();
    await waitFor(() => labels().team === 'shop', { what: 'the label in EKS', timeoutMs: 60_000 });
    await synced();
    const seen = await states.values();
    assert.deepEqual([seen.at(0), seen.at(-1)], ['Healthy', 'Healthy']);
    assert.ok(seen.includes('Progressing'), seen.join(' '));
    assert.equal((await world.pool(POOL))?.spec.nodeGroup?.scaling?.desiredSize, 3);
    assert.equal(world.cloud.state.groups.get(POOL)?.nodegroup.scalingConfig?.desiredSize, 3);
  });

  it('shows that a pool is paused, and syncs the commit that resumes it', async () => {
    await gitOps.commitPool('Pause the pool', (spec) => {
      spec.paused = true;
    });
    await sync();
    await gitOps.waitForPoolHealth(APP, /^Healthy: Changes are paused/);
    await synced();
    await gitOps.commitPool('Resume the pool', (spec) => {
      spec.paused = false;
    });
    await sync();
    await synced();
  });

  it('shows a pool whose update failed as Degraded, with the error of EKS, and as Healthy after the fix', async () => {
    const errors = [{ errorCode: 'NodeCreationFailure' as const, errorMessage: 'Instances failed to join' }];
    world.cloud.faults.updateFailure({ group: POOL, errors });
    await gitOps.commitPool('Change the label', (spec) => {
      spec.labels = { team: 'cart' };
    });
    await sync();
    const shown = await gitOps.waitForPoolHealth(APP, /^Degraded: .*Instances failed to join/);
    assert.match(shown, /winpool\.dev\/retry/);
    await gitOps.commitPool('Change it back', (spec) => {
      spec.labels = { team: 'shop' };
    });
    await sync();
    await synced();
  });

  it('names a field that does not exist, and syncs nothing', async () => {
    const before = await world.pool(POOL);
    await gitOps.commitPool('Misspell a field', (spec) => {
      Object.assign(spec, { lables: { team: 'cart' } });
    });
    const { status } = await gitOps.argo.refresh(APP);
    const [error] = status?.conditions ?? [];
    assert.equal(error?.type, 'ComparisonError');
    assert.match(error?.message ?? '', /\.spec\.lables: field not declared in schema/);
    assert.deepEqual((await world.pool(POOL))?.spec, before?.spec);
    await gitOps.commitPool('Correct it', (spec) => {
      Object.assign(spec, { lables: undefined });
    });
    await sync();
    await synced();
  });

  /** Removes the pool from Git, or adds it again. */
  const inGit = (contained: boolean) =>
    gitOps.repository.edit('config/samples/kustomization.yaml', (text) =>
      text.replace(/^resources:.*$/ms, contained ? 'resources:\n  - windowspool.yaml\n' : 'resources: []\n'),
    );
  /** As `argocd app confirm-deletion` does. */
  const confirm = () =>
    world.kubectl(
      ...['-n', ARGOCD_NAMESPACE, 'annotate', 'applications.argoproj.io', APP, '--overwrite'],
      `argocd.argoproj.io/deletion-approved=${new Date().toISOString()}`,
    );
  const toBeConfirmed = () =>
    gitOps.waitForApplication(APP, 'to wait for a confirmation', ({ status }) =>
      /Waiting for pruning confirmation of .*WindowsPool/.test(status?.operationState?.message ?? ''),
    );

  it('asks for confirmation before it deletes a pool that was removed from Git', async () => {
    await inGit(false);
    await gitOps.repository.commit('Remove the pool');
    await sync();
    assert.equal((await toBeConfirmed()).status?.operationState?.phase, 'Running');
    await gitOps.argo.refresh(APP);
    assert.equal((await world.pool(POOL))?.metadata.deletionTimestamp, undefined);

    await using states = statesOfPool();
    await confirm();
    await world.waitForPool(POOL, 'to be gone', (pool) => pool === undefined, 90_000);
    assert.equal(world.cloud.state.groups.get(POOL), undefined);
    await synced('to be Synced without the pool');
    assert.ok((await states.values()).includes('Progressing'));
  });

  it('keeps the node group of a deleted pool with deletionPolicy Retain', async () => {
    await inGit(true);
    await gitOps.commitPool('Add the pool again, and retain its node group', (spec) => {
      spec.deletionPolicy = 'Retain';
    });
    await sync();
    await world.waitForPool(POOL, 'to be Ready', (pool) => conditionOf(pool, 'Ready') === 'True/Verified');
    await synced();
    await inGit(false);
    await gitOps.repository.commit('Remove the pool again');
    await sync();
    await toBeConfirmed();
    await confirm();
    await world.waitForPool(POOL, 'to be gone', (pool) => pool === undefined, 90_000);
    assert.equal(world.cloud.state.groups.get(POOL)?.nodegroup.status, 'ACTIVE');
  });

  it('without the health check, shows no health for pools, and does not wait for them', async () => {
    await inGit(true);
    const later = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'later', namespace: 'default' } };
    const annotations = { 'argocd.argoproj.io/sync-wave': '2' };
    await gitOps.repository.write(
      'config/samples/later.yaml',
      stringify({ ...later, metadata: { ...later.metadata, annotations } }),
    );
    await gitOps.repository.edit('config/samples/kustomization.yaml', (text) => `${text}  - later.yaml\n`);
    await gitOps.commitPool('Add another pool', (spec) => {
      Object.assign(spec.nodeGroup, { name: 'other', adoption: 'Never' });
    });
    await world.kubectl(
      ...['-n', ARGOCD_NAMESPACE, 'patch', 'configmap', 'argocd-cm', '--type=merge', '--patch'],
      JSON.stringify({ data: { [HEALTH_KEY]: null } }),
    );
    const restoreSpeed = freezeAws(world);
    try {
      await gitOps.argo.refresh(APP);
      await world.waitForPool(POOL, 'to be created', (pool) => conditionOf(pool, 'Ready') === 'False/Creating');
      await synced();
      assert.equal(await gitOps.poolHealth(APP), 'none');
      assert.notEqual(await world.get('configmap', 'later'), undefined);
      assert.equal(conditionOf(await world.pool(POOL), 'Ready'), 'False/Creating');
    } finally {
      restoreSpeed();
    }
  });
});

describe('An ApplicationSet of Argo CD over two clusters', function () {
  this.timeout(400_000);
  const worlds = new Map<string, TestEnv>();
  let gitOps: GitOps;
  before(async function () {
    this.timeout(30 * 60_000);
    for (const name of ['blue', 'green']) worlds.set(name, await startCluster(name, say));
    gitOps = await GitOps.start(worlds.get('blue') ?? assert.fail(), say);
  });
  after(async () => {
    const stopped = [gitOps?.[Symbol.asyncDispose](), ...[...worlds.values()].map((world) => world.stop())];
    for (const result of await Promise.allSettled(stopped)) if (result.status === 'rejected') throw result.reason;
  });

  it('creates the same pool from one manifest, which selects the subnets by tag', async () => {
    const subnets: Record<string, readonly string[]> = { blue: [subnetIds[0]], green: [subnetIds[1]] };
    for (const [name, world] of worlds)
      for (const id of subnets[name] ?? []) world.cloud.faults.subnet({ id, tags: { tier: 'windows' } });
    await gitOps.applySettings();
    await gitOps.commitPool('Select the subnets by tag', (spec) => {
      spec.nodeGroup.subnets = [{ tags: { tier: 'windows' } }];
    });
    for (const [name, world] of worlds) await gitOps.register(name, world);
    await gitOps.applyApplicationSet();
    await Promise.all([...worlds.values()].map((world) => startInstalledOperator(world)));
    for (const [name, world] of worlds) {
      await gitOps.synced(`windows-pools-${name}`);
      assert.deepEqual(world.cloud.state.groups.get(POOL)?.nodegroup.subnets, subnets[name]);
      const map = '{range .items[*]}{.metadata.name} {.data.clusterName} {.data.region}{"\\n"}{end}';
      const maps = await world.kubectl('-n', 'winpool-system', 'get', 'configmaps', '-o', `jsonpath=${map}`);
      assert.match(maps, new RegExp(`^windowspool-operator-cluster-\\w+ ${name} eu-west-1$`, 'm'));
    }
  });
});

describe('Two Applications of Argo CD, one for the operator and one for the pools', function () {
  this.timeout(400_000);
  const fixture = withGitOps();
  let world: TestEnv;
  let gitOps: GitOps;
  before(() => {
    ({ world, gitOps } = fixture);
  });

  const application = (name: string, path: string, syncOptions: readonly string[] = []) => ({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name, namespace: ARGOCD_NAMESPACE },
    spec: {
      project: 'default',
      source: { repoURL: gitOps.repository.url, targetRevision: 'main', path },
      destination: { server: world.controlPlane.url },
      syncPolicy: {
        automated: { prune: true, selfHeal: true },
        syncOptions,
        retry: { limit: 10, backoff: { duration: '2s', factor: 1 } },
      },
    },
  });

  it('become Healthy with client-side apply, even if the pools are synced before the CRD exists', async () => {
    await gitOps.applySettings();
    await gitOps.register('demo', world);
    await world.apply(application('pools', 'config/samples', ['SkipDryRunOnMissingResource=true']));
    await gitOps.waitForApplication('pools', 'to be retried', ({ status }) =>
      /Retrying/.test(status?.operationState?.message ?? ''),
    );
    await world.apply(application('operator', 'config/default'));
    await startInstalledOperator(world);
    await gitOps.synced('operator');
    await gitOps.synced('pools');
    const pool = await world.pool(POOL);
    assert.equal(conditionOf(pool, 'Ready'), 'True/Verified');
    const path = '{.metadata.managedFields[?(@.operation=="Apply")].manager}';
    assert.equal(await world.kubectl('get', 'wp', POOL, '--show-managed-fields', '-o', `jsonpath=${path}`), '');
  });

  it('leave a size that kubectl scale set, and change nothing in ten refreshes', () => keepsSize(fixture, 'pools'));
});
