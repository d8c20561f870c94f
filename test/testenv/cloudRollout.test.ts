import assert from 'node:assert/strict';
import type { V1Node, V1PodDisruptionBudget } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { type ControlPlane, startControlPlane } from '../../hack/controlplane/controlplane.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { type LocalAws, startLocalAws } from '../fakes/localaws/localAws.ts';
import { openPolicy, sampleCluster, sampleGroup } from '../fakes/localaws/testing/fixtures.ts';
import { type SdkClients, sdkClients } from '../fakes/localaws/wire/sdkClients.ts';
import { watchEvents } from '../fakes/testenv/watchEvents.ts';
import { budget as budgetFor, deployment } from '../userObjects.ts';

const from = '1.36-2026.03.17';
const to = '1.36-2026.04.18';
const exclude = 'node.kubernetes.io/exclude-from-external-load-balancers';

describe('a change of version of the local AWS, in a real Kubernetes', function () {
  this.timeout(120_000);
  let kubernetes: ControlPlane;
  let cloud: LocalAws;
  let sdk: SdkClients;
  const group = { clusterName: sampleCluster.name, nodegroupName: 'web' };

  before(async function () {
    this.timeout(1_800_000);
    kubernetes = await startControlPlane();
    const cluster = { ...sampleCluster, caData: kubernetes.caData, endpoint: kubernetes.url };
    const kubeconfig = await kubernetes.kubeconfigForUser('cloud');
    cloud = await startLocalAws({ cluster, kubeconfig, policy: openPolicy, speed: 4 });
    sdk = sdkClients(cloud.url, cluster.region);
  });

  after(async () => {
    sdk?.destroy();
    await cloud?.stop();
    await kubernetes?.stop();
  });

  beforeEach(async () => {
    cloud.faults.speed({ speed: 4 });
    const scalingConfig = { minSize: 0, desiredSize: 2, maxSize: 4 };
    await sdk.eks.createNodegroup(sampleGroup({ releaseVersion: from, scalingConfig, subnets: [zoneOf(0)] }));
    await untilStatus('ACTIVE');
  });

  afterEach(async () => {
    await kubernetes.kubectl(['delete', 'deployment,poddisruptionbudget', '--all', '--wait=false']);
    await sdk.eks.deleteNodegroup(group);
    await waitFor(async () => cloud.state.groups.size === 0 && (await list('nodes')).length === 0, { what: 'no node' });
    assert.deepEqual(cloud.kubelets?.problems(), []);
  });

  const zoneOf = (index: number) => cloud.state.subnets[index]?.id ?? '';

  async function list<T = V1Node>(kind: string): Promise<Stored<T>[]> {
    const { stdout } = await kubernetes.kubectl(['get', kind, '-o', 'json']);
    return (JSON.parse(stdout) as { items: Stored<T>[] }).items;
  }

  async function untilStatus(status: string): Promise<void> {
    await waitFor(async () => (await sdk.eks.describeNodegroup(group)).nodegroup?.status === status, {
      what: `node group ${status}`,
      intervalMs: 50,
    });
  }

  /** Two pods, and a budget that requires this number of them. */
  async function deploy(minAvailable: number): Promise<void> {
    const containers = [{ name: 'site', image: 'site' }];
    const items = [
      deployment('default', 'site', 2, { nodeSelector: { 'kubernetes.io/os': 'windows' }, containers }),
      budgetFor('default', 'site', { minAvailable }),
    ];
    const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await kubernetes.kubectlOutput(['apply', '-f', '-'], { stdin });
    await waitFor(async () => (await budget())?.currentHealthy === 2, { what: 'two ready pods' });
  }

  /** A node has the full 15 seconds for its drain, which pods need on a slow machine. */
  const patiently = () => cloud.faults.speed({ speed: 1 });
  const budget = async () => (await list<V1PodDisruptionBudget>('poddisruptionbudgets'))[0]?.status;
  const update = async (force: boolean) =>
    (await sdk.eks.updateNodegroupVersion({ ...group, releaseVersion: to, force })).update?.id ?? '';
  const updateOf = async (updateId: string) => {
    const { name } = sampleCluster;
    return (await sdk.eks.describeUpdate({ name, nodegroupName: 'web', updateId })).update;
  };
  const imagesOf = async () =>
    new Set((await list('nodes')).map(({ metadata }) => metadata.labels?.['eks.amazonaws.com/nodegroup-image']));

  it('evicts pods and respects their disruption budget', async () => {
    await deploy(1);
    const before = await imagesOf();
    let least = 2;
    const outdated = (await list('nodes')).map(({ metadata }) => metadata.name);
    const cordoned = new Set<string>();
    const watches = await Promise.all([
      watchEvents<Stored<V1PodDisruptionBudget>>(
        kubernetes.adminKubeconfig,
        '/apis/policy/v1/poddisruptionbudgets',
        ({ object }) => {
          least = Math.min(least, Number(object.status.currentHealthy));
        },
      ),
      watchEvents<Stored<V1Node>>(kubernetes.adminKubeconfig, '/api/v1/nodes', ({ object: { metadata, spec } }) => {
        if (metadata.labels?.[exclude] !== 'true') return;
        assert.equal(spec.unschedulable, true, `${metadata.name} is out of load balancers and takes pods`);
        cordoned.add(metadata.name);
      }),
    ]);
    patiently();
    const id = await update(false);
    await waitFor(async () => (await updateOf(id))?.status !== 'InProgress', { what: 'the update', timeoutMs: 90_000 });
    for (const watch of watches) await watch.stop();
    assert.deepEqual([(await updateOf(id))?.status, (await updateOf(id))?.errors], ['Successful', []]);
    assert.ok(least >= 1, `${least} pods were ready`);
    assert.ok(
      outdated.every((name) => cordoned.has(name)),
      `of ${outdated}, ${[...cordoned]} were cordoned`,
    );
    await waitFor(async () => (await list('nodes')).length === 2, { what: 'two nodes' });
    assert.ok([...(await imagesOf())].every((image) => !before.has(image)));
    await waitFor(async () => (await budget())?.currentHealthy === 2, { what: 'two ready pods' });
  });

  it('fails when a disruption budget allows no eviction, keeps pods and nodes, and succeeds with force', async () => {
    await deploy(2);
    const pods = (await list('pods')).map(({ metadata }) => metadata.name).sort();
    const before = await imagesOf();
    const id = await update(false);
    await waitFor(async () => (await updateOf(id))?.status !== 'InProgress', { what: 'the update' });
    const { status, errors } = (await updateOf(id)) ?? {};
    assert.deepEqual([status, errors?.map(({ errorCode }) => errorCode)], ['Failed', ['PodEvictionFailure']]);
    const described = await sdk.eks.describeNodegroup(group);
    assert.deepEqual([described.nodegroup?.status, described.nodegroup?.releaseVersion], ['ACTIVE', from]);
    assert.deepEqual((await list('pods')).map(({ metadata }) => metadata.name).sort(), pods);
    await waitFor(
      async () =>
        (await list('nodes')).every(
          ({ spec, metadata }) => !spec.unschedulable && !(exclude in (metadata.labels ?? {})),
        ),
      { what: 'schedulable nodes' },
    );
    assert.deepEqual(await imagesOf(), before);
    patiently();
    const forced = await update(true);
    await waitFor(async () => (await updateOf(forced))?.status === 'Successful', { what: 'the forced update' });
    assert.ok([...(await imagesOf())].every((image) => !before.has(image)));
  });
});
