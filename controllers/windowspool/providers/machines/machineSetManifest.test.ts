import assert from 'node:assert/strict';
import type { MachineSetTemplate } from '../../api/api.gen.ts';
import { samplePool } from '../../testing/fixtures.ts';
import { machinesView } from '../../testing/machineScenes.ts';
import { hashOfTemplate, manifestsFor, templateFault } from './machineSetManifest.ts';

const INFRASTRUCTURE = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind: 'AzureMachineTemplate',
  spec: { template: { spec: { vmSize: 'Standard_D2s_v3' } } },
};
const template: MachineSetTemplate = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'MachineDeployment',
  metadata: { namespace: 'clusters', name: 'windows', labels: { team: 'web' }, annotations: { note: 'x' } },
  spec: { clusterName: 'prod', template: { metadata: { labels: { a: 'b' } }, spec: { version: 'v1.36.0' } } },
};
const poolOf = (one: MachineSetTemplate, desiredSize?: number) => {
  const { nodeGroup: _, ...spec } = samplePool().spec;
  const machines = { template: one, ...(desiredSize !== undefined && { desiredSize }) };
  return { ...samplePool(), spec: { ...spec, machines } };
};
const manifests = (one: Partial<MachineSetTemplate> = {}, desiredSize?: number) => {
  const whole = { ...template, ...one };
  return manifestsFor(poolOf(whole, desiredSize), whole, undefined);
};

describe('the object of machines.template', () => {
  it('has the labels of the operator, the hash of the template, and what the template says', () => {
    const { object, infrastructure } = manifests();
    assert.equal(infrastructure, undefined);
    assert.deepEqual(object, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      metadata: {
        namespace: 'clusters',
        name: 'windows',
        labels: { team: 'web', 'winpool.dev/pool': 'web', 'app.kubernetes.io/managed-by': 'windowspool-operator' },
        annotations: { note: 'x', 'winpool.dev/template-hash': hashOfTemplate(template) },
      },
      spec: { ...template.spec, rollout: { strategy: { type: 'OnDelete' } } },
    });
  });

  it('has the desired size when it is created, and keeps the size that others set later', () => {
    const view = machinesView();
    const seen = view.kind === 'seen' ? view.set : undefined;
    const pool = poolOf(template, 5);
    assert.equal(manifestsFor(pool, template, undefined).object.spec.replicas, 5);
    const { metadata, spec } = manifestsFor(pool, template, seen).object;
    assert.deepEqual([spec.replicas, metadata.uid, metadata.resourceVersion], [3, 'uid-windows', '1']);
    assert.ok(!('replicas' in manifests().object.spec));
  });

  it('lets the pool replace nodes, unless the template says who does', () => {
    const rollingUpdate = { type: 'RollingUpdate' };
    const onDelete = { type: 'OnDelete' };
    const rows: readonly (readonly [Partial<MachineSetTemplate>, object])[] = [
      [{ spec: { rollout: { after: 'x' } } }, { rollout: { after: 'x', strategy: onDelete } }],
      [{ spec: { rollout: { strategy: rollingUpdate } } }, { rollout: { strategy: rollingUpdate } }],
      [{ apiVersion: 'cluster.x-k8s.io/v1beta1', spec: {} }, { strategy: onDelete }],
      [{ apiVersion: 'cluster.x-k8s.io/v1beta1', spec: { strategy: rollingUpdate } }, { strategy: rollingUpdate }],
      [{ kind: 'MachineSet', spec: {} }, {}],
      [{ spec: { rollout: 'malformed' } }, { rollout: { strategy: onDelete } }],
    ];
    for (const [change, spec] of rows) assert.deepEqual(manifests(change).object.spec, spec, JSON.stringify(change));
  });

  it('refers to its infrastructure template, whose name changes with its content', () => {
    const { object, infrastructure } = manifests({ infrastructureTemplate: INFRASTRUCTURE });
    const name = infrastructure?.metadata.name ?? '';
    assert.match(name, /^windows-[0-9a-f]{16}$/);
    assert.deepEqual(infrastructure, {
      ...INFRASTRUCTURE,
      metadata: {
        namespace: 'clusters',
        name,
        labels: { 'winpool.dev/pool': 'web', 'app.kubernetes.io/managed-by': 'windowspool-operator' },
      },
    });
    const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'AzureMachineTemplate', name };
    assert.deepEqual(object.spec.template, {
      metadata: { labels: { a: 'b' } },
      spec: { version: 'v1.36.0', infrastructureRef },
    });
    const other = { ...INFRASTRUCTURE, spec: { template: { spec: { vmSize: 'Standard_D4s_v3' } } } };
    assert.notEqual(manifests({ infrastructureTemplate: other }).infrastructure?.metadata.name, name);
    const newer = { ...INFRASTRUCTURE, apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2' };
    assert.equal(manifests({ infrastructureTemplate: newer }).infrastructure?.metadata.name, name);
    const old = manifests({ apiVersion: 'cluster.x-k8s.io/v1beta1', infrastructureTemplate: INFRASTRUCTURE });
    assert.deepEqual((old.object.spec.template as { spec: object }).spec, {
      version: 'v1.36.0',
      infrastructureRef: {
        apiVersion: INFRASTRUCTURE.apiVersion,
        kind: INFRASTRUCTURE.kind,
        namespace: 'clusters',
        name,
      },
    });
  });

  const onPlatform = (kind: string, name: string): MachineSetTemplate => ({
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: 'MachineSet',
    metadata: { namespace: 'openshift-machine-api', name },
    spec: { template: { spec: { providerSpec: { value: { kind } } } } },
  });
  const faults: readonly (readonly [what: string, MachineSetTemplate, RegExp | undefined])[] = [
    ['is valid', template, undefined],
    ['has a number of replicas', { ...template, spec: { replicas: 3 } }, /spec\.replicas .* machines\.desiredSize/],
    [
      'has a long name on Azure',
      onPlatform('AzureMachineProviderSpec', 'windows-22'),
      /windows-22, which has 10 .* 9\./,
    ],
    ['has a long name on vSphere', onPlatform('VSphereMachineProviderSpec', 'windows-22'), /at most 9\./],
    ['has a short name on Azure', onPlatform('AzureMachineProviderSpec', 'windows22'), undefined],
    ['has a long name on AWS', onPlatform('AWSMachineProviderConfig', 'windows-2022'), undefined],
  ];
  for (const [what, one, message] of faults)
    it(`is ${message ? 'rejected' : 'accepted'} if it ${what}`, () => {
      const found = templateFault(one);
      if (message) assert.match(found ?? '', message);
      else assert.equal(found, undefined);
    });
});
