/** The operator and its pools in Applications of their own, in a real Argo CD. */
import assert from 'node:assert/strict';
import { parse, stringify } from 'yaml';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { ARGOCD_NAMESPACE } from '../../hack/gitops/argoCd.ts';
import { type GitOps, POOL, startInstalledOperator } from '../../hack/gitops/gitOps.ts';
import { conditionOf, type TestEnv } from '../fakes/testenv/testEnv.ts';
import { type ArgoCdFixture, keepsSize, withGitOps } from './argoCdFixture.ts';

/** The health check for Applications in the documentation of Argo CD. */
const APPLICATION_HEALTH = `
  hs = {}
  hs.status = "Progressing"
  hs.message = ""
  if obj.status ~= nil then
    if obj.status.health ~= nil then
      hs.status = obj.status.health.status
      if obj.status.health.message ~= nil then
        hs.message = obj.status.health.message
      end
    end
  end
  return hs
`;

/** An Application in the cluster of Argo CD, with client-side apply. */
function application(
  { world, gitOps }: ArgoCdFixture,
  name: string,
  path: string,
  {
    syncOptions = [],
    annotations = {},
  }: { syncOptions?: readonly string[]; annotations?: Record<string, string> } = {},
): object {
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name, namespace: ARGOCD_NAMESPACE, annotations },
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
  };
}

describe('Two Applications of Argo CD, one for the operator and one for the pools', function () {
  this.timeout(400_000);
  const fixture = withGitOps();
  let world: TestEnv;
  let gitOps: GitOps;
  before(() => {
    ({ world, gitOps } = fixture);
  });

  it('become Healthy with client-side apply, even if the pools are synced before the CRD exists', async () => {
    await gitOps.applySettings();
    await gitOps.register('demo', world);
    await world.apply(application(fixture, 'pools', 'config/samples'));
    await gitOps.waitForApplication('pools', 'to be retried', ({ status }) =>
      /Retrying/.test(status?.operationState?.message ?? ''),
    );
    await world.apply(application(fixture, 'operator', 'config/default'));
    await startInstalledOperator(world);
    await gitOps.synced('operator');
    await gitOps.synced('pools');
    const pool = await world.pool(POOL);
    assert.equal(conditionOf(pool, 'Ready'), 'True/EnoughNodesVerified');
    const path = '{.metadata.managedFields[?(@.operation=="Apply")].manager}';
    assert.equal(await world.kubectl('get', 'wp', POOL, '--show-managed-fields', '-o', `jsonpath=${path}`), '');
  });

  it('leave a size that kubectl scale sets, and change nothing in ten refreshes', () =>
    keepsSize(fixture, 'pools', 3, () => world.kubectl('scale', 'windowspool', POOL, '--replicas=3')));

  const size = async () => (await world.pool(POOL))?.spec.nodeGroup?.scaling?.desiredSize;
  /** Commits another label, and waits until the pool has it. */
  async function syncLabel(team: string): Promise<void> {
    await gitOps.commitPool(`Set the label to ${team}`, (spec) => {
      spec.labels = { team };
    });
    await gitOps.argo.refresh('pools');
    await world.waitForPool(POOL, 'to have the label', (pool) => pool?.spec.labels?.team === team);
  }

  it('show no difference of a size that is in Git, and reset it at the next sync', async () => {
    await gitOps.commitPool('Set the size', ({ nodeGroup: { scaling } }) => {
      scaling.desiredSize = 2;
    });
    const { status } = await gitOps.argo.refresh('pools');
    assert.deepEqual([status?.sync?.status, await size()], ['Synced', 3]);
    await syncLabel('shop');
    assert.equal(await size(), 2);
  });

  it('with RespectIgnoreDifferences=true keep the size that kubectl scale sets', async () => {
    await world.apply(
      application(fixture, 'pools', 'config/samples', { syncOptions: ['RespectIgnoreDifferences=true'] }),
    );
    await world.kubectl('scale', 'windowspool', POOL, '--replicas=4');
    await syncLabel('cart');
    assert.equal(await size(), 4);
  });

  it('ask for confirmation before the deletion of an Application deletes a pool with Delete=confirm', async () => {
    await gitOps.repository.edit('config/samples/windowspool.yaml', (text) => {
      const pool = parse(text);
      pool.metadata.annotations = { 'argocd.argoproj.io/sync-options': 'Delete=confirm' };
      return stringify(pool);
    });
    await gitOps.repository.commit('Ask before the pool is deleted');
    await gitOps.argo.refresh('pools');
    await world.waitForPool(POOL, 'to have the annotation', (pool) => pool?.metadata.annotations !== undefined);
    await gitOps.synced('pools');
    await gitOps.argo.cli('argocd app delete pools --yes');
    const waits = async () =>
      /Resource .*WindowsPool.* requires manual confirmation to delete/.test(await gitOps.argo.controllerLog());
    await waitFor(waits, { what: 'the deletion to wait for a confirmation', intervalMs: 200 });
    assert.equal((await world.pool(POOL))?.metadata.deletionTimestamp, undefined);
    await gitOps.argo.cli('argocd app confirm-deletion pools');
    await world.waitForPool(POOL, 'to be gone', (pool) => pool === undefined, 90_000);
    const gone = async () => (await gitOps.argo.application('pools')) === undefined;
    await waitFor(gone, { what: 'the Application to be deleted', intervalMs: 200 });
  });
});

describe('An Application of Applications of Argo CD', function () {
  this.timeout(400_000);
  const fixture = withGitOps();

  it('with the health check for Applications, creates that of the pools when that of the operator is Healthy', async () => {
    const { world, gitOps } = fixture;
    await gitOps.applySettings();
    await gitOps.register('demo', world);
    const data = { 'resource.customizations.health.argoproj.io_Application': APPLICATION_HEALTH };
    await world.kubectl(
      ...['-n', ARGOCD_NAMESPACE, 'patch', 'configmap', 'argocd-cm', '--type=merge'],
      ...['--patch', JSON.stringify({ data })],
    );
    const paths = { operator: 'config/default', pools: 'config/samples' };
    for (const [wave, [name, path]] of Object.entries(paths).entries()) {
      const annotations = { 'argocd.argoproj.io/sync-wave': `${wave}` };
      await gitOps.repository.write(`apps/${name}.yaml`, stringify(application(fixture, name, path, { annotations })));
    }
    await gitOps.repository.commit('Add an Application of Applications');
    const linux = ['-l', 'kubernetes.io/os=linux'];
    await world.kubectl('cordon', ...linux);
    await world.apply(application(fixture, 'platform', 'apps'));
    await gitOps.waitForApplication('platform', 'to wait for the operator', ({ status }) =>
      /^waiting for healthy state of argoproj.io\/Application\/operator$/.test(status?.operationState?.message ?? ''),
    );
    await gitOps.waitForApplication('operator', 'to be Synced', ({ status }) => status?.sync?.status === 'Synced');
    assert.equal(await gitOps.argo.application('pools'), undefined);
    await world.kubectl('uncordon', ...linux);
    await startInstalledOperator(world);
    const { status } = await gitOps.synced('pools');
    assert.equal(status?.operationState?.retryCount, undefined);
    await gitOps.synced('platform');
  });
});
