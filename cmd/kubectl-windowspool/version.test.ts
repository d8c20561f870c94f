import assert from 'node:assert/strict';
import { assertNames } from '../../test/messages.ts';
import { FakeApi, failure } from './testing/fakeApi.ts';
import { operatorIn } from './testing/operatorObjects.ts';
import { recordedTerminal } from './testing/recordedTerminal.ts';
import { operatorVersionOf, versionCommand } from './version.ts';

/** What the plugin of this version prints. */
async function printed(api: FakeApi, flags: object = {}, version = '0.1.3'): Promise<string[]> {
  const terminal = recordedTerminal();
  const other = api.intercept;
  api.intercept = (method, path, query) =>
    path === '/version' ? { status: 200, body: { gitVersion: 'v1.36.3' } } : other(method, path, query);
  await using served = await api.serve();
  const { cluster } = served;
  const context = { terminal, version, signal: cluster.signal, connect: async () => cluster };
  await Promise.resolve(versionCommand.run(context, [], { requestTimeout: 1_000, ...flags })).catch((error: Error) =>
    terminal.printError(error.message),
  );
  return terminal.lines.flatMap((text) => text.split('\n'));
}

/** With the CRD of a release. */
function withCrd(version: string): FakeApi {
  const api = operatorIn(undefined);
  const labels = { 'app.kubernetes.io/version': version };
  api.add('customresourcedefinitions', { metadata: { name: 'windowspools.winpool.dev', labels } });
  return api;
}

describe('kubectl windowspool version', () => {
  it('prints the versions of the plugin, of the operator, of the CRD and of Kubernetes, and warns if they are of different releases', async () => {
    const lines = [
      'Client Version: 0.1.3',
      'Operator Version: 0.1.0 (ops/windowspool-operator)',
      'CRD Version: 0.1.2',
      'Kubernetes Version: v1.36.3',
    ];
    assert.deepEqual(await printed(withCrd('0.1.2')), lines);
    assert.match((await printed(withCrd('0.1.2'), {}, '0.2.0')).at(-1) ?? '', /^Warning: .* different versions/);
    assertNames((await printed(withCrd('0.2.0'))).at(-1), 'Warning', '0.2.0', '0.1.0');
    const json = JSON.parse((await printed(withCrd('0.1.2'), { output: 'json' })).join('\n'));
    assert.deepEqual(json, {
      client: '0.1.3',
      crd: '0.1.2',
      kubernetes: 'v1.36.3',
      operator: {
        version: '0.1.0',
        image: 'registry.example/windowspool-operator:0.1.0',
        deployment: 'ops/windowspool-operator',
      },
    });
  });

  it('prints what it knows', async () => {
    const client = 'Client Version: 0.1.3';
    assert.deepEqual(await printed(new FakeApi(), { client: true }), [client]);
    assert.deepEqual(await printed(new FakeApi()), [
      client,
      'Operator Version: not installed',
      'CRD Version: not installed, or without a version',
      'Kubernetes Version: v1.36.3',
    ]);
    const withoutCrd = withCrd('0.1.2');
    withoutCrd.intercept = (_, path) =>
      path.includes('customresourcedefinitions') ? failure(403, 'Forbidden', 'forbidden') : undefined;
    assert.deepEqual(await printed(withoutCrd), [
      client,
      'Operator Version: 0.1.0 (ops/windowspool-operator)',
      'Kubernetes Version: v1.36.3',
    ]);
    const denied = new FakeApi();
    denied.intercept = () => failure(403, 'Forbidden', 'deployments is forbidden');
    assert.deepEqual(await printed(denied), [client, 'Kubernetes Version: v1.36.3', 'deployments is forbidden']);
  });

  const images: readonly (readonly [image: string, version: string])[] = [
    ['operator:0.1.0', '0.1.0'],
    ['registry:5000/operator:v0.1.0@sha256:0a', 'v0.1.0'],
    ['registry:5000/operator@sha256:0a', 'of the label'],
  ];
  for (const [image, version] of images)
    it(`of ${image} is ${version}`, () => {
      const labels = { 'app.kubernetes.io/version': 'of the label' };
      const spec = { selector: {}, template: { spec: { containers: [{ name: 'operator', image }] } } };
      assert.equal(operatorVersionOf({ metadata: { labels }, spec })?.version, version);
    });
});
