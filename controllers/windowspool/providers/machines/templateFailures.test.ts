import assert from 'node:assert/strict';
import type { MachineSetTemplate } from '../../api/api.gen.ts';
import { machinesPool } from '../../testing/machineScenes.ts';
import { templateFailuresOf } from './templateFailures.ts';

const failedTemplate = { node: 'win-1', finding: 'WrongBuild: runs build 10.0.17763' };

/** The failures of a pool whose template failed. */
function failuresOf(
  infrastructureTemplate: string,
  spec: Parameters<typeof machinesPool>[0],
  deletionTimestamp?: string,
) {
  const metadata = deletionTimestamp === undefined ? {} : { deletionTimestamp };
  const status = { machines: { infrastructureTemplate, failedTemplate } };
  return templateFailuresOf(machinesPool(spec, { metadata, status }));
}

const template = (name: string, isOwn: boolean): MachineSetTemplate => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'MachineDeployment',
  metadata: { name, namespace: 'clusters' },
  spec: {},
  ...(isOwn && {
    infrastructureTemplate: {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
      kind: 'SimMachineTemplate',
      spec: {},
    },
  }),
});

describe('an infrastructure template that fails', () => {
  it('is the same one in two pools if the operator created both with the same content', () => {
    const [web] = failuresOf('SimMachineTemplate/web-0a1b', { machines: { template: template('web', true) } });
    const [api] = failuresOf('SimMachineTemplate/api-0a1b', { machines: { template: template('api', true) } });
    const [other] = failuresOf('SimMachineTemplate/api-9f9f', { machines: { template: template('api', true) } });
    assert.equal(web?.release, api?.release);
    assert.notEqual(web?.release, other?.release);
  });

  it('is that of its namespace if a user created it', () => {
    const [ofRef] = failuresOf('SimMachineTemplate/windows-1', {});
    const [ofTemplate] = failuresOf('SimMachineTemplate/windows-1', { machines: { template: template('api', false) } });
    assert.equal(ofRef?.release, 'clusters/windows-1');
    assert.equal(ofTemplate?.release, 'clusters/windows-1');
  });

  it('holds no other pool back once its pool is being deleted', () => {
    assert.deepEqual(failuresOf('SimMachineTemplate/windows-1', {}, '2026-06-01T00:00:00Z'), []);
  });
});
