/**
 * The ConfigMap of Windows hosts in OpenShift's format: a key is an IPv4 address or DNS name, and its value is `username=...`.
 * https://docs.redhat.com/en/documentation/openshift_container_platform/latest/html/windows_container_support_for_openshift/byoh-windows-instance
 * Pure.
 */
import type { MalformedEntry } from '../model/nodeMembershipView.ts';
import type { Host, Hosts } from '../ports/nodes.ts';

/** The parsed list of hosts. */
export interface WindowsInstances {
  /** Normalized addresses, also those that look-ups found, with the spelling of the entry as values. */
  readonly addresses: ReadonlyMap<string, string>;
  /** The normalized addresses of each entry, by its spelling. */
  readonly entries: ReadonlyMap<string, readonly string[]>;
  /** What look-ups found for entries, as the rest of a sentence. */
  readonly lookups: ReadonlyMap<string, string>;
  /** Entries whose look-up failed, or is not over. */
  readonly unanswered: readonly string[];
  /** Entries with an address in common. */
  readonly doubles: readonly (readonly [string, string])[];
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
const parsed = new WeakMap<object, { readonly hosts: Hosts | undefined; readonly instances: WindowsInstances }>();

/** Parses the list, once. Malformed entries are reported and skipped. @param hosts what look-ups found; undefined: there are none */
export function windowsInstancesIn(data: Readonly<Record<string, string>>, hosts?: Hosts): WindowsInstances {
  const known = parsed.get(data);
  if (known && known.hosts === hosts) return known.instances;
  const instances = parse(data, hosts);
  parsed.set(data, { hosts, instances });
  return instances;
}

function parse(data: Readonly<Record<string, string>>, hosts: Hosts | undefined): WindowsInstances {
  const addresses = new Map<string, string>();
  const entries = new Map<string, readonly string[]>();
  const lookups = new Map<string, string>();
  const unanswered: string[] = [];
  const doubles: (readonly [string, string])[] = [];
  const malformed: MalformedEntry[] = [];
  let hasUsernames = false;
  for (const [entry, raw] of Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const value = raw.trim();
    const own = comparable(entry);
    const message = faultIn(own, value);
    if (message) {
      malformed.push({ entry, message });
      continue;
    }
    const host = hosts?.get(own);
    const all = [own, ...(host?.addresses ?? [])];
    // Several addresses may have the same name, which is then of none of them in particular.
    const telling = all.filter((address) => address === own || isAddress(address));
    const other = telling.map((address) => addresses.get(address)).find((known) => known !== undefined);
    if (other !== undefined && comparable(other) !== own) doubles.push([other, entry]);
    for (const address of all) addresses.set(address, entry);
    entries.set(entry, all);
    if (host && !isAddress(own)) lookups.set(entry, describe(host));
    // Many networks do not answer for their addresses, which nodes report anyway.
    const hasFailed = host !== undefined && host.error !== '' && host.addresses.length === 0 && !isAddress(own);
    if (hosts && (host === undefined || hasFailed)) unanswered.push(entry);
    hasUsernames ||= value !== '';
  }
  return { addresses, entries, lookups, unanswered, doubles, malformed, hasUsernames };
}

function describe({ addresses, error }: Host): string {
  if (addresses.length > 0) return `resolves to ${addresses.join(', ')}`;
  return error === '' ? 'does not resolve' : `cannot be looked up: ${error}`;
}

/** The valid entries of a list, in lower case. */
export function hostsIn(data: Readonly<Record<string, string>>): readonly string[] {
  const valid = Object.entries(data).filter(([entry, raw]) => faultIn(comparable(entry), raw.trim()) === undefined);
  return [...new Set(valid.map(([entry]) => comparable(entry)))].sort();
}

/** Whether a valid entry is an IPv4 address, and not a DNS name. */
export function isAddress(entry: string): boolean {
  return IPV4.test(entry);
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
