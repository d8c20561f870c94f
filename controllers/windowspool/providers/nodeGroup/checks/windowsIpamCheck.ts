import { type Answer, met, notMet, notMetYet } from '../../../checks/check.ts';
import { ADDON_VALUES, enableIpam, IPAM_KEY, IPAM_OFF, isIpamOn, WINDOWS_IPAM } from '../../../checks/windowsIpam.ts';
import type { CallResult } from '../../../ports/callResult.ts';
import type { Addon } from '../../../ports/prerequisites.ts';
import { CLUSTER_NAME } from '../launchTemplate/bootstrap.ts';
import { type IpamMove, lastWriterOf, nextIpamMove } from '../windowsIpam/nextIpamMove.ts';
import { type SystemCheck, unread } from './nodeGroupCheck.ts';

/**
 * Ensures that pods get addresses. The VPC resource controller reads only the ConfigMap. When the vpc-cni add-on is installed, it writes
 * that ConfigMap, and its next update reverts a patch by anyone else.
 */
export const windowsIpam: SystemCheck = {
  ...WINDOWS_IPAM,
  needs: ['cniConfig', 'cniAddon', 'cniConfigOwner'],
  evaluate({ facts, cluster, windowsIpam: offer }) {
    const { cniConfig, cniAddon } = facts;
    if (!cniConfig) return undefined;
    // The setting of the add-on is sufficient when the ConfigMap cannot be read.
    if (!cniConfig.ok) return cniAddon?.ok && cniAddon.value?.windowsIpam ? met : unread('cniConfig', cniConfig.error);
    if (isIpamOn(cniConfig.value)) return met;
    if (!offer) return withRemedy(cniAddon, cluster.name, cniConfig.value !== undefined);
    const value = cniConfig.value?.[IPAM_KEY];
    const found = !cniConfig.value
      ? 'does not exist'
      : value === undefined
        ? `does not set ${IPAM_KEY}`
        : `has ${IPAM_KEY}: ${JSON.stringify(value)}`;
    const state = `${IPAM_OFF} ConfigMap kube-system/amazon-vpc-cni ${found}${lastWriterOf(facts)}.`;
    const move = nextIpamMove(facts, offer);
    if (move.kind === 'blocked') return notMet(`${state} ${move.why}`);
    return notMetYet(`${state} ${describeMove(move, cluster.name)}`);
  },
};

/** What the operator does, or waits for. */
function describeMove(move: Exclude<IpamMove, { kind: 'blocked' }>, cluster: string): string {
  if (move.kind === 'wait') return `${move.why}. The operator waits`;
  const owner = move.kind === 'updateAddon' ? `the vpc-cni add-on of cluster ${cluster}` : 'the ConfigMap';
  return `The operator enables it in ${owner} (--enable-windows-ipam)`;
}

const PATCH = `kubectl -n kube-system patch configmap amazon-vpc-cni --type merge -p '{"data":{"${IPAM_KEY}":"true"}}'`;
const CREATE = `kubectl -n kube-system create configmap amazon-vpc-cni --from-literal ${IPAM_KEY}=true`;

/** That it is off, and how to enable it at the owner of the setting. `exists`: whether the ConfigMap exists. */
function withRemedy(addon: CallResult<Addon | undefined> | undefined, cluster: string, exists: boolean): Answer {
  const command = exists ? PATCH : CREATE;
  // An installed add-on reverts a patch of the ConfigMap.
  // Without AWS, the plugin knows only the URL of the cluster.
  if (!addon?.ok) return notMet(`${IPAM_OFF} ${enableIpam(CLUSTER_NAME.test(cluster) ? cluster : 'CLUSTER')}`);
  if (!addon.value) return notMet(IPAM_OFF, `Enable Windows IPAM: ${command}`);
  if (addon.value.windowsIpam)
    return notMet(
      `${IPAM_OFF} The vpc-cni add-on enables it and is ${addon.value.status}, but another user changed the ConfigMap`,
      `Enable Windows IPAM there: ${command}`,
    );
  return notMet(
    `${IPAM_OFF} The vpc-cni add-on of cluster ${cluster} manages the setting. Add ${ADDON_VALUES} to the configuration values of the add-on; do not patch ConfigMap kube-system/amazon-vpc-cni`,
  );
}
