/**
 * The check that Windows IPAM is enabled: the VPC resource controller reads it in ConfigMap kube-system/amazon-vpc-cni. Pure. Source:
 * https://github.com/aws/amazon-vpc-resource-controller-k8s, pkg/config/loader.go
 */
import { required } from './check.ts';

/** Its name in messages, status and metrics. */
export const WINDOWS_IPAM = {
  ...required('WindowsIPAMDisabled', 'windows-ipam', 'Windows IPAM'),
  explains: ['NoPodAddresses'],
} as const;

/** The question by which its fact is shared between pools. */
export const CNI_CONFIG_QUESTION = 'ConfigMap amazon-vpc-cni';

/** The key that enables addresses for Windows pods. */
export const IPAM_KEY = 'enable-windows-ipam';

/** The key that gives nodes prefixes of addresses for Windows pods. */
export const PREFIX_KEY = 'enable-windows-prefix-delegation';

/** The configuration values of the vpc-cni add-on that enable it. */
export const ADDON_VALUES = '{"enableWindowsIpam":"true"}';

/** What it means that it is disabled, as a sentence. */
export const IPAM_OFF = 'Windows IPAM is disabled: Windows pods get no IP addresses.';

/** Whether Windows IPAM is enabled. */
export function isIpamOn(data: Readonly<Record<string, string>> | undefined): boolean {
  return parseBool(data?.[IPAM_KEY]) === true;
}

/** How to enable it if it is not known whether the add-on is installed, which reverts a change of the ConfigMap. Without a full stop. */
export function enableIpam(cluster: string): string {
  return `If the vpc-cni add-on is installed (aws eks describe-addon --cluster-name ${cluster} --addon-name vpc-cni), set its configuration value ${ADDON_VALUES}. Otherwise, set ${IPAM_KEY}: "true" in ConfigMap kube-system/amazon-vpc-cni`;
}

/** Parses like Go's strconv.ParseBool: https://pkg.go.dev/strconv#ParseBool */
export function parseBool(value: string | undefined): boolean | undefined {
  if (value === undefined) return undefined;
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(value)) return true;
  return ['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(value) ? false : undefined;
}
