import assert from 'node:assert/strict';
import { assertGolden } from '../../test/goldenText.ts';
import { eksClusterOf } from './awsPreview.ts';
import type { Check } from './check.ts';
import { checkLines, checksOfPool } from './doctor.ts';
import { FakeApi } from './testing/fakeApi.ts';
import { operatorIn } from './testing/operatorObjects.ts';
import { situations } from './testing/situations.ts';
import { plain } from './text.ts';

describe('kubectl windowspool doctor', () => {
  it('shows the prerequisites of pools, and advice', async () => {
    const texts = Object.entries(situations).map(([name, pool]) =>
      [`# ${name}`, ...checkLines(checksOfPool(pool), 80, plain)].join('\n'),
    );
    await assertGolden('plugin/doctor-pools', `${texts.join('\n\n')}\n`);
  });

  const fromConfigMap = (): FakeApi => {
    const api = new FakeApi();
    const labels = { 'app.kubernetes.io/name': 'windowspool-operator' };
    const env = [
      { name: 'WINPOOL_CLUSTER_NAME', valueFrom: { configMapKeyRef: { name: 'cluster-1', key: 'clusterName' } } },
      { name: 'AWS_REGION', valueFrom: { configMapKeyRef: { name: 'cluster-1', key: 'region' } } },
    ];
    const spec = { template: { spec: { containers: [{ name: 'operator', env }] } } };
    api.add('deployments', { metadata: { name: 'windowspool-operator', namespace: 'ops', labels }, spec });
    const metadata = { name: 'cluster-1', namespace: 'ops' };
    api.add('configmaps', { metadata, data: { clusterName: 'test', region: 'eu-west-2' } });
    return api;
  };
  const clusters: readonly (readonly [what: string, api: () => FakeApi, flags: object, found: object])[] = [
    ['in the ConfigMap of the operator', fromConfigMap, {}, { clusterName: 'test', region: 'eu-west-2' }],
    [
      'in the flags of the operator',
      () => operatorIn(undefined),
      { region: 'eu-west-3' },
      { clusterName: 'prod', region: 'eu-west-3' },
    ],
    [
      'in the flags of the command',
      fromConfigMap,
      { clusterName: 'a', region: 'b' },
      { clusterName: 'a', region: 'b' },
    ],
    ['nowhere', () => new FakeApi(), {}, {}],
  ];
  for (const [what, api, flags, found] of clusters)
    it(`finds the EKS cluster ${what}, before a pool has it in its status`, async () => {
      await using served = await api().serve();
      assert.deepEqual(await eksClusterOf(served.cluster, flags, {}), found);
    });

  it('counts the results', () => {
    const check = (result: Check['result']): Check => ({ name: result, result, detail: 'x' });
    assert.deepEqual(checkLines([check('PASS'), check('PASS'), check('SKIP')], 80, plain).slice(-1), [
      '2 passed, 0 failed, 1 skipped',
    ]);
    assert.deepEqual(checkLines([check('PASS'), check('NOTE')], 80, plain).slice(-1), [
      '1 passed, 0 failed, 0 skipped, 1 note',
    ]);
  });
});
