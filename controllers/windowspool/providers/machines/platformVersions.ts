/** Versions of Windows that the Windows Machine Config Operator of OpenShift does not support on a platform. Pure. */
import { falseCondition } from '../../conditions/condition.ts';
import type { ConditionState } from '../../model/conditions.ts';
import { machinesIn } from '../../rules/nodeSource.ts';
import { liveMachines, type MachinesState } from './machinesState.ts';

/**
 * Platforms without Windows Server 2019, by the scheme of their provider IDs:
 * https://docs.openshift.com/container-platform/4.14/windows_containers/wmco_rn/windows-containers-release-notes-9-x-prereqs.html
 */
const WITHOUT_2019: Readonly<Record<string, string>> = {
  vsphere: 'VMware vSphere',
  gce: 'Google Cloud',
  nutanix: 'Nutanix',
};

/** That OpenShift configures no nodes of this version on the platform of the Machines; undefined if it does, or the platform is not known yet. */
export function unsupportedOnPlatform(s: Pick<MachinesState, 'pool' | 'machines'>): ConditionState | undefined {
  const { apiVersion } = machinesIn(s.pool.spec).ref;
  if (!apiVersion.startsWith('machine.openshift.io/') || s.pool.spec.windowsVersion !== 'Windows2019') return undefined;
  const platforms = liveMachines(s).map(({ providerID }) => WITHOUT_2019[providerID.split(':')[0] ?? '']);
  const platform = platforms.find((one) => one !== undefined);
  return platform === undefined
    ? undefined
    : falseCondition(
        'UnsupportedVersion',
        `The Windows Machine Config Operator does not support Windows Server 2019 on ${platform}. Use an image of Windows Server 2022 in the MachineSet, and another pool with windowsVersion: Windows2022.`,
      );
}
