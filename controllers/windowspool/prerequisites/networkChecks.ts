/** Checks on what gives pods their addresses: https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html */
import type { Answer } from '../ports/answer.ts';
import type { Addon } from '../ports/prerequisites.ts';
import { IPAM_KEY, isIpamOn } from './addressMode.ts';
import { type Check, failed, given, met, type Result, unknown } from './check.ts';
import type { CheckInput } from './facts.ts';
import { type IpamMove, lastWriterOf, nextIpamMove } from './windowsIpam.ts';

/**
 * Ensures that pods get addresses. The VPC resource controller reads the ConfigMap alone; where the vpc-cni add-on is installed, it
 * writes that ConfigMap, and what somebody patched there is gone with the add-on's next update.
 */
function windowsIpam({ facts, cluster, windowsIpam: offer }: CheckInput): Result | undefined {
  const { cniConfig, cniAddon } = facts;
  if (!cniConfig) return undefined;
  // The add-on's own word is enough where the ConfigMap can't be read.
  if (!cniConfig.ok) return cniAddon?.ok && cniAddon.value?.windowsIpam ? met : unknown('cniConfig', cniConfig.trouble);
  if (isIpamOn(cniConfig.value)) return met;
  const found = cniConfig.value
    ? `ConfigMap kube-system/amazon-vpc-cni has ${IPAM_KEY}: ${JSON.stringify(cniConfig.value[IPAM_KEY] ?? '')}`
    : 'There is no ConfigMap kube-system/amazon-vpc-cni';
  const off = `Windows IPAM is off, so pods get no addresses. ${found}${lastWriterOf(facts)}.`;
  if (!offer) return failed(`${off} ${remedy(cniAddon, cluster.name)}`);
  const move = nextIpamMove(facts, offer);
  if (move.kind === 'blocked') return failed(`${off} ${move.why}`);
  return { kind: 'failed', message: `${off} ${describeMove(move, cluster.name)}`, passes: true };
}

/** What the operator does, or waits for. */
function describeMove(move: Exclude<IpamMove, { kind: 'blocked' }>, cluster: string): string {
  if (move.kind === 'wait') return `${move.why}. Wait`;
  const owner = move.kind === 'updateAddon' ? `the vpc-cni add-on of cluster ${cluster}` : 'the ConfigMap';
  return `The operator enables it in ${owner} (--enable-windows-ipam)`;
}

const VALUE = '{"enableWindowsIpam":"true"}';
const PATCH = `set ${IPAM_KEY}: "true" in the ConfigMap`;

/** Who owns the setting decides where it is put right. */
function remedy(addon: Answer<Addon | undefined> | undefined, cluster: string): string {
  if (!addon?.ok)
    return `Where the vpc-cni add-on is installed, set its configuration value ${VALUE}; elsewhere ${PATCH}`;
  if (!addon.value) return `The vpc-cni add-on is not installed: ${PATCH}`;
  if (addon.value.windowsIpam)
    return `The vpc-cni add-on of cluster ${cluster} enables it and is ${addon.value.status}, and another user changed the ConfigMap: ${PATCH} again`;
  return `The vpc-cni add-on of cluster ${cluster} owns it: add ${VALUE} to the add-on's configuration values instead of patching the ConfigMap`;
}

/** The old controller in the cluster keeps the one in EKS' control plane from its work. */
function noLegacyController({ facts }: CheckInput): Result | undefined {
  return given(facts, 'legacyController', (exists) =>
    exists
      ? failed(
          'Deployment kube-system/vpc-resource-controller is there: it is the old way to Windows addresses and disables the one in EKS. Delete it, and the Deployment vpc-admission-webhook with it',
        )
      : met,
  );
}

export const networkChecks: readonly Check[] = [
  { reason: 'WindowsIPAMDisabled', about: 'Windows IPAM', section: 'windows-ipam', look: windowsIpam },
  {
    reason: 'LegacyResourceController',
    about: 'the old VPC resource controller',
    section: 'legacy-controllers',
    look: noLegacyController,
  },
];
