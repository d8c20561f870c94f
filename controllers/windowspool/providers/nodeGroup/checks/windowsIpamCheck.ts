import { met, notMet, notMetYet, required } from '../../../checks/check.ts';
import type { CallResult } from '../../../ports/callResult.ts';
import type { Addon } from '../../../ports/prerequisites.ts';
import { CLUSTER_NAME } from '../launchTemplate/bootstrap.ts';
import { IPAM_KEY, isIpamOn } from '../windowsIpam/addressMode.ts';
import { type IpamMove, lastWriterOf, nextIpamMove } from '../windowsIpam/nextIpamMove.ts';
import { type SystemCheck, unread } from './nodeGroupCheck.ts';

/**
 * Ensures that pods get addresses. The VPC resource controller reads only the ConfigMap. When the vpc-cni add-on is installed, it writes
 * that ConfigMap, and its next update reverts a patch by anyone else.
 */
export const windowsIpam: SystemCheck = {
  ...required('WindowsIPAMDisabled', 'windows-ipam', 'Windows IPAM'),
  explains: ['NoPodAddresses'],
  needs: ['cniConfig', 'cniAddon', 'cniConfigOwner'],
  evaluate({ facts, cluster, windowsIpam: offer }) {
    const { cniConfig, cniAddon } = facts;
    if (!cniConfig) return undefined;
    // The setting of the add-on is sufficient when the ConfigMap cannot be read.
    if (!cniConfig.ok) return cniAddon?.ok && cniAddon.value?.windowsIpam ? met : unread('cniConfig', cniConfig.error);
    if (isIpamOn(cniConfig.value)) return met;
    const value = cniConfig.value?.[IPAM_KEY];
    const found = !cniConfig.value
      ? 'does not exist'
      : value === undefined
        ? `does not set ${IPAM_KEY}`
        : `has ${IPAM_KEY}: ${JSON.stringify(value)}`;
    const off = `Windows IPAM is disabled, so pods get no IP addresses. ConfigMap kube-system/amazon-vpc-cni ${found}${lastWriterOf(facts)}.`;
    if (!offer) return notMet(`${off} ${remedy(cniAddon, cluster.name, cniConfig.value !== undefined)}`);
    const move = nextIpamMove(facts, offer);
    if (move.kind === 'blocked') return notMet(`${off} ${move.why}`);
    return notMetYet(`${off} ${describeMove(move, cluster.name)}`);
  },
};

/** What the operator does, or waits for. */
function describeMove(move: Exclude<IpamMove, { kind: 'blocked' }>, cluster: string): string {
  if (move.kind === 'wait') return `${move.why}. The operator waits`;
  const owner = move.kind === 'updateAddon' ? `the vpc-cni add-on of cluster ${cluster}` : 'the ConfigMap';
  return `The operator enables it in ${owner} (--enable-windows-ipam)`;
}

const VALUE = '{"enableWindowsIpam":"true"}';
const PATCH = `kubectl -n kube-system patch configmap amazon-vpc-cni --type merge -p '{"data":{"${IPAM_KEY}":"true"}}'`;
const CREATE = `kubectl -n kube-system create configmap amazon-vpc-cni --from-literal ${IPAM_KEY}=true`;

/** How to enable Windows IPAM at the owner of the setting. `exists`: whether the ConfigMap exists. */
function remedy(addon: CallResult<Addon | undefined> | undefined, cluster: string, exists: boolean): string {
  const change = `et ${IPAM_KEY}: "true" in the ConfigMap (${exists ? PATCH : CREATE})`;
  // An installed add-on reverts a patch of the ConfigMap.
  // Without AWS, the plugin knows only the URL of the cluster.
  if (!addon?.ok)
    return `If the vpc-cni add-on is installed (aws eks describe-addon --cluster-name ${CLUSTER_NAME.test(cluster) ? cluster : 'CLUSTER'} --addon-name vpc-cni), set its configuration value ${VALUE}. Otherwise, set ${IPAM_KEY}: "true" in ConfigMap kube-system/amazon-vpc-cni`;
  if (!addon.value) return `The vpc-cni add-on is not installed. S${change}`;
  if (addon.value.windowsIpam)
    return `The vpc-cni add-on of cluster ${cluster} enables it and is ${addon.value.status}, but another user changed the ConfigMap. S${change}`;
  return `The vpc-cni add-on of cluster ${cluster} manages the ConfigMap. Add ${VALUE} to the configuration values of the add-on; do not patch the ConfigMap`;
}
