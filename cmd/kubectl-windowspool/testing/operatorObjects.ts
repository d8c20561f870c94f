/** An API server with an operator of two replicas in the namespace ops. */
import { FakeApi } from './fakeApi.ts';

/** @param holder the identity of the leader; undefined: there is no Lease */
export function operatorIn(holder: string | undefined): FakeApi {
  const api = new FakeApi();
  const labels = { 'app.kubernetes.io/name': 'windowspool-operator' };
  const container = {
    name: 'operator',
    image: 'registry.example/windowspool-operator:0.1.0',
    args: ['--cluster-name=prod', '--token=hunter2'],
    env: [
      { name: 'AWS_SECRET_ACCESS_KEY', value: 'hunter2' },
      { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
    ],
  };
  const spec = { replicas: 2, template: { spec: { containers: [container] } } };
  api.add('deployments', { metadata: { name: 'windowspool-operator', namespace: 'ops', labels }, spec });
  api.add(
    'pods',
    ...['operator-a', 'operator-b'].map((name) => ({
      metadata: { name, namespace: 'ops', labels },
      spec: { containers: [container] },
    })),
  );
  if (holder !== undefined)
    api.add('leases', {
      metadata: { name: 'windowspool-operator', namespace: 'kube-system' },
      spec: { holderIdentity: holder },
    });
  return api;
}
