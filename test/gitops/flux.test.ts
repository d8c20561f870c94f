/** The operator, its pools and their workloads in a real Flux, from a Git repository. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Issue } from '@aws-sdk/client-eks';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { stringify } from 'yaml';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { FLUX_NAMESPACE, type Flux, type FluxObject, fluxConditionOf, startFlux } from '../../hack/gitops/flux.ts';
import { GitRepository } from '../../hack/gitops/gitRepository.ts';
import { callsOf, creationsOf } from '../awsCalls.ts';
import { conditionOf, hasConditions, READY, startTestEnv, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { watchEvents } from '../fakes/testenv/watchEvents.ts';
import { poolManifest } from '../pools.ts';
import { kstatusOf } from './gitopsTools.ts';

const CRD = fileURLToPath(new URL('../../crds/windowspools.yaml', import.meta.url));
const SOURCE = 'platform';
const POOLS = 'clusters/demo/pools';
const WORKLOADS = 'clusters/demo/workloads';
const SUCCEEDED = 'True/ReconciliationSucceeded';
const KEEP = { 'kustomize.toolkit.fluxcd.io/prune': 'disabled' };
const KEEP_CRD = {
  target: { kind: 'CustomResourceDefinition' },
  patch: stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'any', annotations: KEEP },
  }),
};
const ISSUE: Issue = {
  code: 'Ec2SubnetInvalidConfiguration',
  message: 'No route',
  resourceIds: ['subnet-0a1000000000000aa'],
};
const say = (line: string) => console.log(`    ${line}`);

/** A cluster of its own with a Flux and a repository, which stop after the tests. */
function fluxFixture(): { world: () => TestEnv; flux: () => Flux; repository: () => GitRepository } {
  let world: TestEnv | undefined;
  let flux: Flux | undefined;
  let repository: GitRepository | undefined;
  before(async () => {
    world = await startTestEnv({ bare: true, speed: 4, log: say });
    repository = await GitRepository.create();
    flux = await startFlux(world.controlPlane, { log: say });
  });
  after(async () => {
    await flux?.stop();
    await world?.stop();
    await repository?.remove();
  });
  return {
    world: () => world ?? assert.fail('not started'),
    flux: () => flux ?? assert.fail('not started'),
    repository: () => repository ?? assert.fail('not started'),
  };
}

const crdOf = (world: TestEnv) => world.get<Wire<V1CustomResourceDefinition>>('crd', 'windowspools.winpool.dev');

function kustomization(name: string, path: string, spec: object = {}): object {
  return {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name, namespace: FLUX_NAMESPACE },
    spec: {
      sourceRef: { kind: 'ExternalArtifact', name: SOURCE },
      path,
      prune: true,
      interval: '1h',
      timeout: '5m',
      ...spec,
    },
  };
}

const readyIs = (expected: string) => (object: FluxObject) => fluxConditionOf(object, 'Ready') === expected;
const messageOf = (object: FluxObject | undefined, type = 'Ready') =>
  object?.status?.conditions?.find((condition) => condition.type === type)?.message ?? '';
const since = (conditions: readonly { type: string; lastTransitionTime: string }[] | undefined, type: string) =>
  Date.parse(conditions?.find((condition) => condition.type === type)?.lastTransitionTime ?? '');

describe('a Flux Kustomization', function () {
  // The controllers may have to be built.
  this.timeout(600_000);
  const { world, flux, repository } = fluxFixture();

  /** Commits all changes of the work tree, which Flux then sees. */
  async function push(subject: string): Promise<string> {
    await repository().commit(subject);
    return flux().artifacts.publish(SOURCE, repository());
  }
  const writePool = (name: string, manifest: object) =>
    repository().write(`${POOLS}/${name}.yaml`, stringify(manifest));
  const removePool = (name: string) => rm(join(repository().folder, POOLS, `${name}.yaml`));
  const gone = (name: string) => world().waitForPool(name, 'to be gone', (pool) => pool === undefined);
  const groups = () => [...world().cloud.state.groups.keys()].sort();
  const kustomizationTo = (name: string, what: string, predicate: (object: FluxObject) => boolean) =>
    flux().waitFor('Kustomization', name, what, predicate);
  const applied = (name: string, revision: string) =>
    kustomizationTo(
      name,
      `to be Ready at ${revision}`,
      (object) => readyIs(SUCCEEDED)(object) && object.status?.lastAppliedRevision === revision,
    );

  /** Every version of the first pool, from its creation until the workloads are ready. */
  const versionsOfPool: WindowsPool[] = [];

  it('of the workloads waits for that of the pools, which waits for that of the operator', async () => {
    const none = { nodeGroup: { scaling: { minSize: 0, maxSize: 1 } } };
    const kept = { ...(poolManifest('kept', none) as object), metadata: { name: 'kept', annotations: KEEP } };
    await writePool('web', poolManifest('web'));
    await writePool('kept', kept);
    await writePool('spare', poolManifest('spare', none));
    await repository().write(`${WORKLOADS}/deployment.yaml`, await repository().read('config/samples/deployment.yaml'));
    const revision = await push('Add pools and workloads');
    await world().apply(kustomization('windows-operator', 'config/default', { wait: true, patches: [KEEP_CRD] }));
    await world().apply(
      kustomization('windows-pools', POOLS, { wait: true, dependsOn: [{ name: 'windows-operator' }] }),
    );
    await world().apply(
      kustomization('windows-workloads', WORKLOADS, { wait: true, dependsOn: [{ name: 'windows-pools' }] }),
    );
    await applied('windows-operator', revision);
    // No operator runs yet, so the pool is not reconciled.
    await kustomizationTo('windows-pools', 'to check the health of the pool', ({ status }) =>
      Boolean(status?.conditions?.some(({ type, reason }) => type === 'Healthy' && reason === 'Progressing')),
    );
    const waiting = await kustomizationTo('windows-workloads', 'to wait', readyIs('False/DependencyNotReady'));
    assert.equal(messageOf(waiting), "dependency 'flux-system/windows-pools' is not ready");
    assert.equal(await world().get('deployment', 'iis'), undefined);

    await world().login();
    const watch = await watchEvents<WindowsPool>(
      world().controlPlane.adminKubeconfig,
      '/apis/winpool.dev/v1alpha1/windowspools?fieldSelector=metadata.name%3Dweb',
      ({ object }) => versionsOfPool.push(object),
    );
    world().operator();
    const ready = await applied('windows-workloads', revision).finally(() => watch.stop());
    const pool = await world().pool('web');
    assert.equal(conditionOf(pool, 'Ready'), 'True/EnoughNodesVerified');
    const deployment = await world().get('deployment', 'iis');
    const created = Date.parse(String(deployment?.metadata?.creationTimestamp));
    assert.ok(
      created >= since(pool?.status?.conditions, 'Ready'),
      'the workload was applied before the pool was Ready',
    );
    assert.ok(since(ready.status?.conditions, 'Ready') >= created);
  });

  it('sees a new pool as InProgress in every state that it has before it is Ready', async () => {
    const early = versionsOfPool.slice(
      0,
      versionsOfPool.findIndex((pool) => hasConditions(pool, READY)),
    );
    const states = (await kstatusOf(early)).map(({ status }, index) => [status, early[index]?.status]);
    assert.notEqual(states.length, 0);
    assert.deepEqual(
      states.filter(([status]) => status !== 'InProgress'),
      [],
    );
  });

  it('writes nothing to a pool that has not changed in Git', async () => {
    const before = await world().pool('web');
    for (let count = 0; count < 3; count++)
      assert.equal(fluxConditionOf(await flux().reconcile('Kustomization', 'windows-pools'), 'Ready'), SUCCEEDED);
    assert.deepEqual(await world().pool('web'), before);
  });

  it('reverts what kubectl patch and annotate change, even if it is not in Git, but not the size that kubectl scale sets', async () => {
    await world().kubectl('scale', 'windowspool', 'web', '--replicas=2');
    await world().waitForPool('web', 'to have two nodes', (pool) => pool?.status?.summary?.nodes === '2/2');
    await world().patchPool('web', { paused: true, nodeGroup: { scaling: { maxSize: 5 } } });
    await world().kubectl('annotate', 'windowspool', 'web', 'winpool.dev/retry=1');
    await world().kubectl(
      ...['patch', 'windowspool', 'web', '--type=merge', '--field-manager=inventory'],
      ...['--patch', JSON.stringify({ metadata: { labels: { team: 'shop' } } })],
    );
    await world().waitForConditions('web', 'Paused=True/Paused');
    await flux().reconcile('Kustomization', 'windows-pools');
    const pool = await world().pool('web');
    const { paused, nodeGroup } = pool?.spec ?? {};
    assert.deepEqual([paused, nodeGroup?.scaling], [false, { minSize: 1, maxSize: 3, desiredSize: 2 }]);
    assert.deepEqual([pool?.metadata.annotations, pool?.metadata.labels?.team], [undefined, 'shop']);
  });

  it('changes nothing while it is suspended, and applies the last commit when it is resumed', async () => {
    const suspend = (value: boolean) =>
      world().kubectl(
        ...['-n', FLUX_NAMESPACE, 'patch', 'kustomization', 'windows-pools', '--type=merge'],
        ...['--patch', JSON.stringify({ spec: { suspend: value } })],
      );
    await suspend(true);
    const before = await world().pool('web');
    await writePool('web', poolManifest('web', { nodeGroup: { scaling: { maxSize: 4 } } }));
    const revision = await push('Raise the maximum size');
    await applied('windows-operator', revision);
    assert.deepEqual(await world().pool('web'), before);
    await suspend(false);
    await applied('windows-pools', revision);
    assert.deepEqual((await world().pool('web'))?.spec.nodeGroup?.scaling, { minSize: 1, maxSize: 4, desiredSize: 2 });
  });

  it('with wait: true fails early, with the name of the pool, if a pool is Stalled', async () => {
    world().cloud.faults.createFailure({ group: 'broken', issues: [ISSUE] });
    await writePool('broken', poolManifest('broken'));
    await push('Add a pool that EKS cannot create');
    const failed = await kustomizationTo('windows-pools', 'to fail', readyIs('False/HealthCheckFailed'));
    // Its timeout is 5 minutes.
    assert.match(messageOf(failed), /\[WindowsPool\/broken status: 'Failed'\]$/);
    await kustomizationTo('windows-workloads', 'to wait for the pools', readyIs('False/DependencyNotReady'));
    assert.equal(conditionOf(await world().pool('web'), 'Ready'), 'True/EnoughNodesVerified');
  });

  it('removes the retry annotation of a failed pool, whose creation is retried once for each annotation', async () => {
    const callsAbout = (operation: string) => callsOf(world(), operation, 'broken').length;
    const changes = () => [callsAbout('DeleteNodegroup'), creationsOf(world(), 'broken')];
    assert.deepEqual(changes(), [0, 1]);
    for (const [index, value] of ['1', '2'].entries()) {
      world().cloud.faults.createFailure({ group: 'broken', issues: [ISSUE] });
      await world().kubectl('annotate', 'windowspool', 'broken', `winpool.dev/retry=${value}`);
      const isCreated = () => creationsOf(world(), 'broken') === index + 2;
      await waitFor(isCreated, { what: `the creation after retry=${value}` });
      await world().waitForConditions('broken', 'Stalled=True/CreateFailed');
      const reads = callsAbout('DescribeNodegroup');
      await flux().reconcile('Kustomization', 'windows-pools');
      assert.equal((await world().pool('broken'))?.metadata.annotations, undefined);
      // The operator reads the group again when an annotation changes.
      const isRead = () => callsAbout('DescribeNodegroup') > reads;
      await waitFor(isRead, { what: `the operator to see that retry=${value} was removed` });
      assert.deepEqual(changes(), [index + 1, index + 2], `after retry=${value}`);
    }
  });

  it('deletes a pool that is removed from Git with its node group, but not one with prune: disabled', async () => {
    assert.deepEqual(groups(), ['broken', 'kept', 'spare', 'web']);
    for (const name of ['broken', 'kept', 'spare']) await removePool(name);
    await applied('windows-pools', await push('Remove three pools'));
    await gone('broken');
    await gone('spare');
    assert.deepEqual(groups(), ['kept', 'web']);
    assert.equal(conditionOf(await world().pool('kept'), 'Ready'), 'True/NoNodes');
  });

  it('with healthChecks waits for the pools that it names, and for no others', async () => {
    world().cloud.faults.createFailure({ group: 'unchecked', issues: [ISSUE] });
    await repository().write('clusters/demo/more/named.yaml', stringify(poolManifest('named')));
    await repository().write('clusters/demo/more/unchecked.yaml', stringify(poolManifest('unchecked')));
    const healthChecks = [{ apiVersion: 'winpool.dev/v1alpha1', kind: 'WindowsPool', name: 'named' }];
    await world().apply(kustomization('more-pools', 'clusters/demo/more', { healthChecks }));
    const revision = await push('Add two pools of which one is checked');
    const ready = await applied('more-pools', revision);
    const pool = await world().pool('named');
    assert.equal(conditionOf(pool, 'Ready'), 'True/EnoughNodesVerified');
    assert.ok(since(ready.status?.conditions, 'Ready') >= since(pool?.status?.conditions, 'Ready'));
    await world().waitForConditions('unchecked', 'Stalled=True/CreateFailed');
  });

  it('of the operator keeps the pools when it is deleted, if the CRD has prune: disabled', async () => {
    const before = await world().pool('web');
    await world().kubectl('-n', FLUX_NAMESPACE, 'delete', 'kustomization', 'windows-operator', '--timeout=60s');
    assert.equal(await world().get('clusterrole', 'windowspool-operator'), undefined);
    const crd = await crdOf(world());
    assert.deepEqual([crd?.metadata?.name, crd?.metadata?.deletionTimestamp], ['windowspools.winpool.dev', undefined]);
    assert.deepEqual(await world().pool('web'), before);
  });
});

describe('a Flux HelmRelease of the chart', function () {
  this.timeout(600_000);
  const { world, flux, repository } = fluxFixture();
  const CHART = 'config/charts/windowspool-operator';
  const NAME = 'windowspool-operator';
  const NAMESPACE = 'winpool-system';

  const publishChart = () => flux().artifacts.publish(NAME, repository(), { path: CHART, prefix: NAME });
  const release = {
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: { name: NAME, namespace: FLUX_NAMESPACE },
    spec: {
      chartRef: { kind: 'ExternalArtifact', name: NAME },
      releaseName: NAME,
      targetNamespace: NAMESPACE,
      install: { createNamespace: true },
      interval: '1h',
      timeout: '5m',
      driftDetection: { mode: 'enabled' },
      values: {
        clusterName: 'demo',
        region: 'eu-west-1',
        image: { repository: 'registry.example/windowspool-operator' },
      },
    },
  };
  const versions = (object: FluxObject | undefined) =>
    (object?.status?.history ?? []).map(({ version, status }) => `${version} ${status}`);
  const columns = async () => {
    const crd = await crdOf(world());
    return crd?.spec.versions[0]?.additionalPrinterColumns?.map(({ name }) => name) ?? [];
  };
  const events = (reason: string) =>
    world().kubectl(
      ...['-n', FLUX_NAMESPACE, 'get', 'events', `--field-selector=reason=${reason}`],
      ...['-o', 'jsonpath={.items[*].message}'],
    );

  it('installs the CRD and an operator whose permissions are enough to make a pool Ready', async () => {
    await repository().edit(`${CHART}/files/windowspools.yaml`, (text) =>
      text.replace(/^.*\{name: Release, .*\n/m, ''),
    );
    await repository().commit('Go back to an older chart');
    await publishChart();
    await world().apply(release);
    await flux().waitFor('HelmRelease', NAME, 'to be Ready', readyIs('True/InstallSucceeded'));
    await world().login();
    world().operator();
    await world().apply(poolManifest('web'));
    await world().waitForReady('web');
    assert.ok(!(await columns()).includes('Release'));
  });

  it('with drift detection finds no drift while the operator runs, and reverts a manual change', async () => {
    const same = await flux().reconcile('HelmRelease', NAME);
    assert.deepEqual([versions(same), await events('DriftDetected')], [['1 deployed'], '']);
    await world().kubectl('-n', NAMESPACE, 'scale', 'deployment', NAME, '--replicas=0');
    const corrected = await flux().reconcile('HelmRelease', NAME);
    assert.equal(fluxConditionOf(corrected, 'Drifted'), 'False/NoDriftDetected');
    // Events are written after the reconciliation.
    const shown = async () => (await events('DriftCorrected')) !== '';
    await waitFor(shown, { what: 'the event DriftCorrected', timeoutMs: 20_000, intervalMs: 200 });
    assert.match(await events('DriftCorrected'), /\nDeployment\/winpool-system\/windowspool-operator configured$/);
    assert.equal(
      (await events('DriftDetected')).match(/Deployment\/winpool-system\/windowspool-operator/g)?.length,
      1,
      'only the manual change',
    );
    assert.equal(
      await world().kubectl('-n', NAMESPACE, 'get', 'deployment', NAME, '-o', 'jsonpath={.spec.replicas}'),
      '1',
    );
  });

  it('upgrades the CRD by a commit, without changing pools', async () => {
    const before = await world().pool('web');
    await repository().edit(`${CHART}/files/windowspools.yaml`, () => readFileSync(CRD, 'utf8'));
    await repository().commit('Upgrade the chart');
    await publishChart();
    const upgraded = await flux().waitFor(
      'HelmRelease',
      NAME,
      'to have a second release',
      (object) => readyIs('True/UpgradeSucceeded')(object) && object.status?.history?.[0]?.version === 2,
    );
    assert.deepEqual(versions(upgraded), ['2 deployed', '1 superseded']);
    assert.ok((await columns()).includes('Release'));
    assert.deepEqual(await world().pool('web'), before);
  });

  it('keeps the CRD, the pools and their node groups when it is deleted', async () => {
    const before = await world().pool('web');
    await world().kubectl('-n', FLUX_NAMESPACE, 'delete', 'helmrelease', NAME, '--timeout=60s');
    assert.equal(await world().get('deployment', NAME, '-n', NAMESPACE), undefined);
    assert.deepEqual(await world().pool('web'), before);
    assert.equal(world().cloud.state.groups.get('web')?.nodegroup.status, 'ACTIVE');
  });
});
