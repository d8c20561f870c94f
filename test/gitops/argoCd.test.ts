/** A real Argo CD syncs the operator, its pools and their workloads from a Git repository, with config/argocd and docs/how-to/argocd.md. */
import assert from 'node:assert/strict';
import { parse, stringify } from 'yaml';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { ARGOCD_NAMESPACE } from '../../hack/gitops/argoCd.ts';
import { GitOps, POOL, Recording, startCluster, startInstalledOperator } from '../../hack/gitops/gitOps.ts';
import manifest from '../../package.json' with { type: 'json' };
import { subnetIds } from '../fakes/localaws/network.ts';
import { conditionOf, isReconciled, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { freezeAws } from '../sharedWorld.ts';
import { keepsSize, say, withGitOps } from './argoCdFixture.ts';
import { HEALTH_KEY } from './gitopsTools.ts';

const APP = 'windows-pools-demo';

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

  /** Waits until the running operation has a message. */
  const operationTo = (what: string, message: RegExp) =>
    gitOps.waitForApplication(
      APP,
      `to ${what}`,
      ({ status }) => status?.operationState?.phase === 'Running' && message.test(status.operationState.message ?? ''),
    );
  /** Checks that a commit is seen, but not synced, because an operation is running. */
  async function waitsAt(commit: string): Promise<void> {
    const { status } = await gitOps.argo.refresh(APP);
    const { sync, operationState } = status ?? {};
    assert.deepEqual([sync?.revision, operationState?.phase], [commit, 'Running']);
    assert.notEqual(operationState?.operation.sync?.revision, commit);
  }

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

  it('leaves a size that an autoscaler sets in AWS, and changes nothing in ten refreshes', async () => {
    const scalingConfig = { desiredSize: 4 };
    await keepsSize(fixture, APP, 4, () => world.cloud.faults.edit({ group: POOL, scalingConfig }));
    assert.equal((await world.pool(POOL))?.spec.nodeGroup?.scaling?.desiredSize, undefined);
  });

  it('leaves a size that kubectl scale sets, and changes nothing in ten refreshes', async () => {
    await keepsSize(fixture, APP, 3, () => world.kubectl('scale', 'windowspool', POOL, '--replicas=3'));
    assert.equal((await world.pool(POOL))?.spec.nodeGroup?.scaling?.desiredSize, 3);
  });

  it('reverts a change of a field that is in Git', async () => {
    await world.patchPool(POOL, { nodeGroup: { scaling: { maxSize: 9 } } });
    await world.waitForPool(POOL, 'to have its maximum again', (pool) => pool?.spec.nodeGroup?.scaling?.maxSize === 4);
    await synced();
  });

  it('applies a commit, is Progressing until EKS has applied it, and keeps the size of kubectl scale instead of that in Git', async () => {
    await gitOps.commitPool('Label the nodes, and set the size', (spec) => {
      spec.labels = { team: 'shop' };
      spec.nodeGroup.scaling.desiredSize = 4;
    });
    await using states = statesOfPool();
    await sync();
    await waitFor(() => labels().team === 'shop', { what: 'the label in EKS' });
    await synced();
    const seen = await states.values();
    assert.deepEqual([seen.at(0), seen.at(-1)], ['Healthy', 'Healthy']);
    assert.ok(seen.includes('Progressing'), seen.join(' '));
    assert.equal((await world.pool(POOL))?.spec.nodeGroup?.scaling?.desiredSize, 3);
    assert.equal(world.cloud.state.groups.get(POOL)?.nodegroup.scalingConfig?.desiredSize, 3);
  });

  it('syncs no other commit while the pool is Progressing, until the operation is terminated', async () => {
    const restoreSpeed = freezeAws(world);
    try {
      await gitOps.commitPool('Label the nodes again', (spec) => {
        spec.labels = { team: 'cart' };
      });
      await sync();
      await operationTo('wait for the pool', /^waiting for healthy state of winpool.dev\/WindowsPool\/web/);
      const commit = await gitOps.commitPool('Change it back', (spec) => {
        spec.labels = { team: 'shop' };
      });
      await waitsAt(commit);
      assert.deepEqual((await world.pool(POOL))?.spec.labels, { team: 'cart' });
      await gitOps.argo.cli(`argocd app terminate-op ${APP}`);
      await world.waitForPool(
        POOL,
        'to have the label of the last commit',
        (pool) => pool?.spec.labels?.team === 'shop',
      );
    } finally {
      restoreSpeed();
    }
    await synced();
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

  /** Publishes a release whose CRD has another field. */
  const publish = async (tag: string, field: string): Promise<void> => {
    await gitOps.repository.edit('crds/windowspools.yaml', (text) => {
      const crd = parse(text);
      crd.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties[field] = { type: 'string' };
      return stringify(crd);
    });
    await gitOps.repository.commit(`Release ${tag}`);
    await gitOps.repository.asPublished(tag);
  };
  /** Refers to another release in the folder that Argo CD syncs. */
  const useRelease = (tag: string) =>
    gitOps.repository.edit('config/argocd/cluster/kustomization.yaml', (text) =>
      text.replace(/\?ref=\S+/, `?ref=${tag}`),
    );
  const hasField = async (name: string) => {
    const path = `{.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.${name}.type}`;
    return (await world.kubectl('get', 'crd', 'windowspools.winpool.dev', '-o', `jsonpath=${path}`)) !== '';
  };
  const fieldOfPool = async () => (await world.pool(POOL))?.spec as { later?: string } | undefined;

  it('upgrades the CRD by a commit, but not by one whose pool already sets a new field', async () => {
    const uid = (await world.pool(POOL))?.metadata.uid;
    await publish('v0.2.0', 'later');
    await useRelease('v0.2.0');
    await gitOps.commitPool('Upgrade the CRD, and use its new field', (spec) => Object.assign(spec, { later: 'x' }));
    const { status } = await gitOps.argo.refresh(APP);
    assert.match(status?.conditions?.[0]?.message ?? '', /\.spec\.later: field not declared in schema/);
    assert.equal(await hasField('later'), false);
    await gitOps.commitPool('Use the field later', (spec) => Object.assign(spec, { later: undefined }));
    await sync();
    await synced();
    assert.equal(await hasField('later'), true);
    const pool = await world.pool(POOL);
    assert.deepEqual([pool?.metadata.uid, pool?.metadata.deletionTimestamp], [uid, undefined]);
  });

  it('sets a field that the upgraded CRD has, without a difference', async () => {
    await gitOps.commitPool('Use the new field', (spec) => Object.assign(spec, { later: 'x' }));
    await sync();
    await synced();
    assert.equal((await fieldOfPool())?.later, 'x');
    assert.equal((await gitOps.argo.refresh(APP, 'hard')).status?.sync?.status, 'Synced');
  });

  it('rolls the CRD back by a commit, and keeps the pool, which loses the field', async () => {
    const uid = (await world.pool(POOL))?.metadata.uid;
    await useRelease(`v${manifest.version}`);
    await gitOps.commitPool('Roll the CRD back', (spec) => Object.assign(spec, { later: undefined }));
    await sync();
    await synced();
    assert.equal(await hasField('later'), false);
    const pool = await world.pool(POOL);
    assert.deepEqual([pool?.metadata.uid, (await fieldOfPool())?.later], [uid, undefined]);
    assert.equal((await gitOps.argo.refresh(APP, 'hard')).status?.sync?.status, 'Synced');
  });

  /** Removes the pool from Git, or adds it again. */
  const inGit = (contained: boolean) =>
    gitOps.repository.edit('config/samples/kustomization.yaml', (text) =>
      text.replace(/^resources:.*$/ms, contained ? 'resources:\n  - windowspool.yaml\n' : 'resources: []\n'),
    );
  const uid = async () => (await world.pool(POOL))?.metadata.uid;
  const toBeConfirmed = () =>
    operationTo('wait for a confirmation', /^Waiting for pruning confirmation of .*WindowsPool/);

  it('asks for confirmation before it deletes a pool that was removed from Git, and keeps one that is added again', async () => {
    const before = await uid();
    await inGit(false);
    await gitOps.repository.commit('Remove the pool');
    await sync();
    await toBeConfirmed();
    await inGit(true);
    await waitsAt(await gitOps.repository.commit('Add the pool again'));
    await gitOps.argo.cli(`argocd app terminate-op ${APP}`);
    await synced();
    const pool = await world.pool(POOL);
    assert.deepEqual([pool?.metadata.uid, pool?.metadata.deletionTimestamp], [before, undefined]);
  });

  it('deletes a pool with its node group after argocd app confirm-deletion', async () => {
    await inGit(false);
    await gitOps.repository.commit('Remove the pool again');
    await sync();
    await toBeConfirmed();
    assert.equal((await world.pool(POOL))?.metadata.deletionTimestamp, undefined);

    await using states = statesOfPool();
    await gitOps.argo.cli(`argocd app confirm-deletion ${APP}`);
    await world.waitForPool(POOL, 'to be gone', (pool) => pool === undefined, 90_000);
    assert.equal(world.cloud.state.groups.get(POOL), undefined);
    await synced('to be Synced without the pool');
    assert.ok((await states.values()).includes('Progressing'));
  });

  it('keeps the node group of a deleted pool with deletionPolicy Retain, after an annotation confirms the deletion', async () => {
    await inGit(true);
    await gitOps.commitPool('Add another pool, and retain its node group', (spec) => {
      spec.deletionPolicy = 'Retain';
    });
    await sync();
    await world.waitForReady(POOL);
    assert.equal((await world.pool(POOL))?.spec.nodeGroup?.scaling?.desiredSize, 4, 'the size in Git');
    await synced();
    await inGit(false);
    await gitOps.repository.commit('Remove the other pool');
    await sync();
    await toBeConfirmed();
    await world.kubectl(
      ...['annotate', 'application', APP, '--namespace', ARGOCD_NAMESPACE, '--overwrite'],
      `argocd.argoproj.io/deletion-approved=${new Date().toISOString().replace(/\.\d+/, '')}`,
    );
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
      await world.waitForConditions(POOL, 'Ready=False/Creating');
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
    const restoreSpeeds = [...worlds.values()].map((world) => freezeAws(world));
    try {
      await Promise.all([...worlds.values()].map((world) => startInstalledOperator(world)));
      // The pools are in the last wave.
      for (const [name, world] of worlds) {
        await gitOps.waitForApplication(
          `windows-pools-${name}`,
          'to be synced before its pool is Ready',
          ({ status }) => status?.operationState?.phase === 'Succeeded',
        );
        await world.waitForConditions(POOL, 'Ready=False/Creating');
      }
    } finally {
      for (const restoreSpeed of restoreSpeeds) restoreSpeed();
    }
    for (const [name, world] of worlds) {
      await gitOps.synced(`windows-pools-${name}`);
      assert.deepEqual(world.cloud.state.groups.get(POOL)?.nodegroup.subnets, subnets[name]);
      const map = '{range .items[*]}{.metadata.name} {.data.clusterName} {.data.region}{"\\n"}{end}';
      const maps = await world.kubectl('-n', 'winpool-system', 'get', 'configmaps', '-o', `jsonpath=${map}`);
      assert.match(maps, new RegExp(`^windowspool-operator-cluster-\\w+ ${name} eu-west-1$`, 'm'));
    }
  });

  it('deletes its Applications but neither the operators nor the pools when it is deleted', async () => {
    const { world: first } = gitOps;
    const pools = () => Promise.all([...worlds.values()].map((world) => world.pool(POOL)));
    for (const world of worlds.values()) await world.waitForPool(POOL, 'to be reconciled', isReconciled);
    const before = await pools();
    await first.kubectl('delete', 'applicationset', 'windows-pools', '-n', ARGOCD_NAMESPACE, '--timeout=60s');
    const applications = () => first.kubectl('get', 'applications', '-n', ARGOCD_NAMESPACE, '-o', 'name');
    await waitFor(async () => (await applications()) === '', { what: 'no Applications' });
    assert.deepEqual(await pools(), before);
    for (const world of worlds.values())
      assert.notEqual(await world.get('deployment', 'windowspool-operator', '-n', 'winpool-system'), undefined);
    assert.deepEqual(
      before.map((pool) => pool?.metadata.deletionTimestamp),
      [undefined, undefined],
    );
  });
});
