import assert from 'node:assert/strict';
import type { MachineSetReference, WindowsPoolSpec } from '../../api/api.gen.ts';
import { machinesPool, machinesView } from '../../testing/machineScenes.ts';
import { unsupportedOnPlatform } from './platformVersions.ts';

const OPENSHIFT = 'machine.openshift.io/v1beta1';

/** What is said of Machines with a provider ID of this scheme. */
function messageFor(
  apiVersion: MachineSetReference['apiVersion'],
  scheme: string,
  windowsVersion: WindowsPoolSpec['windowsVersion'],
): string | undefined {
  const ref = { apiVersion, kind: 'MachineSet', namespace: 'a', name: 'a' } as const;
  const view = machinesView();
  const seen = view.kind === 'seen' ? view : assert.fail('no Machines');
  const machines = seen.machines.map((one) => ({ ...one, providerID: `${scheme}:///x/${one.name}` }));
  const pool = machinesPool({ windowsVersion, machines: { ref } });
  return unsupportedOnPlatform({ pool, machines: { ...seen, machines } })?.message;
}

describe('the platforms of OpenShift', () => {
  it('have no Windows Server 2019 where the Windows Machine Config Operator does not support it', () => {
    for (const [scheme, platform] of [
      ['vsphere', 'VMware vSphere'],
      ['gce', 'Google Cloud'],
      ['nutanix', 'Nutanix'],
    ] as const)
      assert.match(
        messageFor(OPENSHIFT, scheme, 'Windows2019') ?? '',
        new RegExp(`2019 on ${platform}\\. Use an image`),
      );
  });

  it('have other versions, and so have the platforms of Cluster API', () => {
    for (const [apiVersion, scheme, version] of [
      [OPENSHIFT, 'vsphere', 'Windows2022'],
      [OPENSHIFT, 'aws', 'Windows2019'],
      [OPENSHIFT, 'azure', 'Windows2019'],
      [OPENSHIFT, '', 'Windows2019'],
      ['cluster.x-k8s.io/v1beta2', 'vsphere', 'Windows2019'],
    ] as const)
      assert.equal(messageFor(apiVersion, scheme, version), undefined, `${apiVersion} ${scheme} ${version}`);
  });
});
