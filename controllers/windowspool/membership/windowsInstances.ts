/**
 * The ConfigMap of Windows hosts in OpenShift's format: a key is an IPv4 address or DNS name, and its value is `username=...`.
 * https://docs.redhat.com/en/documentation/openshift_container_platform/latest/html/windows_container_support_for_openshift/byoh-windows-instance
 * Pure.
 */
import type { MalformedEntry } from '../model/nodeMembershipView.ts';

/** The parsed list of hosts. */
export interface WindowsInstances {
  /** Normalized addresses, with the spelling of the list as values. */
  readonly addresses: ReadonlyMap<string, string>;
  readonly malformed: readonly MalformedEntry[];
  /** Whether any entry has a username. The operator ignores usernames, because it does not log in to hosts. */
  readonly hasUsernames: boolean;
}

const BYTE = '(0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])';
const IPV4 = new RegExp(`^${BYTE}(\\.${BYTE}){3}$`);
/** RFC 1123. The last label must not be a number: 10.0.0.300 is a wrong address, not a name. */
const DNS_NAME = /^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)*(?![0-9]+$)[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const USERNAME = /^username=\S+$/;

/** Parsed lists: a list can have a megabyte, and each event of its pools asks for it. */
const parsed = new WeakMap<object, WindowsInstances>();

/** Parses the list, once. Malformed entries are reported and skipped. */
export function windowsInstancesIn(data: Readonly<Record<string, string>>): WindowsInstances {
  const known = parsed.get(data) ?? parse(data);
  parsed.set(data, known);
  return known;
}

function parse(data: Readonly<Record<string, string>>): WindowsInstances {
  const addresses = new Map<string, string>();
  const malformed: MalformedEntry[] = [];
  let hasUsernames = false;
  for (const [entry, raw] of Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const value = raw.trim();
    const message = faultIn(comparable(entry), value);
    if (message) malformed.push({ entry, message });
    else {
      addresses.set(comparable(entry), entry);
      hasUsernames ||= value !== '';
    }
  }
  return { addresses, malformed, hasUsernames };
}

/** Normalizes an address for comparison: DNS names are case-insensitive and may end with a dot. */
export function comparable(address: string): string {
  return address.toLowerCase().replace(/\.$/, '');
}

function faultIn(address: string, value: string): string | undefined {
  if (address.length > 253 || !(IPV4.test(address) || DNS_NAME.test(address)))
    return 'is neither an IPv4 address nor a DNS name';
  return value === '' || USERNAME.test(value) ? undefined : 'has a value other than username=NAME';
}
