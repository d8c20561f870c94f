import assert from 'node:assert/strict';
import { samplePool } from '../../controllers/windowspool/testing/fixtures.ts';
import { machinesPool } from '../../controllers/windowspool/testing/machineScenes.ts';
import { awsPreviews } from './awsPreview.ts';
import { FakeApi } from './testing/fakeApi.ts';

/** A cluster with an operator that has these flags. */
function apiWith(...args: readonly string[]): FakeApi {
  const api = new FakeApi();
  const labels = { 'app.kubernetes.io/name': 'windowspool-operator' };
  const spec = { template: { spec: { containers: [{ name: 'operator', args }] } } };
  api.add('deployments', { metadata: { name: 'windowspool-operator', namespace: 'ops', labels }, spec });
  return api;
}

describe('the preview of pools that are not applied', () => {
  it('names the flag without which nothing is known of a pool', async () => {
    await using served = await apiWith('--machines-kubeconfig=/var/run/kubeconfig').serve();
    const previews = await awsPreviews(served.cluster, [samplePool(), machinesPool()], {}, '0.0.0');
    assert.deepEqual(previews, [
      { skipped: 'the EKS cluster is unknown. Set --cluster-name and --region.' },
      { skipped: 'the operator reads Machines from a management cluster. Set --machines-kubeconfig.' },
    ]);
  });
});
