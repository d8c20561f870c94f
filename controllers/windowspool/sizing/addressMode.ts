/**
 * How Windows pods get their addresses: the settings that the VPC resource controller reads in ConfigMap kube-system/amazon-vpc-cni. Sources:
 * https://github.com/aws/amazon-vpc-resource-controller-k8s, pkg/config/loader.go and docs/windows.
 */
import { IPAM_KEY, PREFIX_KEY, parseBool } from '../checks/windowsIpam.ts';
import type { InstanceType } from '../ports/prerequisites.ts';
import { joined } from '../util/words.ts';

/** A node's own address. Pods get the other addresses of its one network interface. */
const OWN = 1;
/** The number of addresses of a prefix, a contiguous /28 block. */
export const BLOCK = 16;

type Data = Readonly<Record<string, string>> | undefined;

/**
 * - `secondary`: each pod gets a secondary address of the interface.
 * - `prefix`: addresses are assigned in blocks of 16 to Nitro instances; others stay in secondary mode, with its defaults
 *   (UpdateResourceCapacity in pkg/provider/ip/provider.go).
 *
 * A node keeps `warm` unused addresses, and at least `minimum` in total. `warmPrefixes` are whole unused blocks; they apply only when neither of
 * the other two is set.
 */
export interface AddressMode {
  readonly kind: 'secondary' | 'prefix';
  readonly warm: number;
  readonly minimum: number;
  readonly warmPrefixes: number;
}

/** The keys of the targets, in the order of precedence: the controller prefers the older name. */
const TARGETS = {
  warm: ['warm-ip-target', 'windows-warm-ip-target'],
  minimum: ['minimum-ip-target', 'windows-minimum-ip-target'],
  warmPrefixes: ['warm-prefix-target', 'windows-warm-prefix-target'],
} as const;

/** The defaults when no target is above zero: `IPv4DefaultWin...` and `IPv4PDDefault...` in loader.go. */
const DEFAULTS: Readonly<Record<AddressMode['kind'], AddressMode>> = {
  secondary: { kind: 'secondary', warm: 3, minimum: 3, warmPrefixes: 0 },
  prefix: { kind: 'prefix', warm: 1, minimum: 3, warmPrefixes: 0 },
};

/** The mode that the controller reads from the data of the ConfigMap. A value that it cannot parse counts as zero or false. */
export function addressModeOf(data: Data): AddressMode {
  const kind = parseBool(data?.[PREFIX_KEY]) ? 'prefix' : 'secondary';
  const given = targetIn(data, TARGETS.warm);
  // In secondary mode a parsed 0 becomes 1, because the warm pool is never empty.
  const warm = kind === 'secondary' && given === 0 ? 1 : (given ?? 0);
  const minimum = targetIn(data, TARGETS.minimum) ?? 0;
  const warmPrefixes = kind === 'prefix' ? (targetIn(data, TARGETS.warmPrefixes) ?? 0) : 0;
  return warm + minimum + warmPrefixes === 0 ? DEFAULTS[kind] : { kind, warm, minimum, warmPrefixes };
}

/** The mode of a cluster that sets only `enable-windows-prefix-delegation`, and no targets. */
export function defaultMode(kind: AddressMode['kind']): AddressMode {
  return DEFAULTS[kind];
}

/** The addresses that a node uses before it has pods, including its own. Without a type, the interface is assumed to have room for all. */
export function addressesAtStart(mode: AddressMode, type?: InstanceType): number {
  return addressesWith(0, mode, type);
}

/** The addresses that a node with that many pods uses, including its own and those that it keeps warm, as far as its interface has room. */
export function addressesWith(pods: number, mode: AddressMode, type?: InstanceType): number {
  const { kind, warm, minimum, warmPrefixes } = modeOn(mode, type);
  const slots = (type && slotsOf(type)) ?? Number.POSITIVE_INFINITY;
  const wanted = Math.max(pods + warm, minimum);
  if (kind === 'secondary') return OWN + Math.min(slots, wanted);
  const blocks = Math.ceil(wanted / BLOCK) + (warm + minimum > 0 ? 0 : warmPrefixes);
  return OWN + Math.min(slots, blocks) * BLOCK;
}

/** How many pods of a node get an address; undefined if EC2 does not report the addresses of its interface. */
export function podsPerNode(mode: AddressMode, type: InstanceType): number | undefined {
  const slots = slotsOf(type);
  return slots === undefined ? undefined : slots * (modeOn(mode, type).kind === 'prefix' ? BLOCK : 1);
}

/** The addresses that a node uses when it is full of pods, including its own; undefined as for {@link podsPerNode}. */
export function addressesWhenFull(mode: AddressMode, type: InstanceType): number | undefined {
  const pods = podsPerNode(mode, type);
  return pods === undefined ? undefined : OWN + pods;
}

/** The active mode, as a sentence without its full stop. */
export function describeMode(mode: AddressMode, types: readonly InstanceType[]): string {
  if (mode.kind === 'secondary') return 'Each pod uses one secondary IP address (prefix delegation is disabled)';
  const others = types.filter((type) => modeOn(mode, type).kind === 'secondary').map(({ name }) => name);
  const except = others.length > 0 ? `, except on ${joined(others)}, which is not based on Nitro` : '';
  return `Prefix delegation is enabled: a node uses contiguous /28 blocks of 16 addresses${except}; a fragmented subnet may have no free block`;
}

/** Settings that the controller ignores because it cannot parse them, each as a clause with key, value and valid values. */
export function ignoredSettings(data: Data): string[] {
  const wrong = (keys: readonly string[], isValid: (value: string) => boolean, takes: string) =>
    keys.flatMap((key) => {
      const value = data?.[key];
      return value === undefined || isValid(value) ? [] : [`${key} is ${JSON.stringify(value)}, expected ${takes}`];
    });
  return [
    ...wrong([IPAM_KEY, PREFIX_KEY], (value) => parseBool(value) !== undefined, '"true" or "false"'),
    ...wrong(Object.values(TARGETS).flat(), (value) => parseTarget(value) !== undefined, 'a non-negative integer'),
  ];
}

/** The mode of a node of that type: Xen instances do not support prefixes. */
export function modeOn(mode: AddressMode, type: InstanceType | undefined): AddressMode {
  return type?.isNitro === false ? (mode.kind === 'prefix' ? DEFAULTS.secondary : mode) : mode;
}

function slotsOf({ addressesPerInterface }: InstanceType): number | undefined {
  return addressesPerInterface === undefined ? undefined : Math.max(0, addressesPerInterface - OWN);
}

/** The first key that exists decides, even when its value cannot be parsed. */
function targetIn(data: Data, keys: readonly string[]): number | undefined {
  const key = keys.find((name) => data?.[name] !== undefined);
  return key === undefined ? undefined : parseTarget(data?.[key] ?? '');
}

/** Parses like Go's strconv.Atoi, without negative numbers: for those the controller uses its defaults. */
function parseTarget(value: string): number | undefined {
  return /^\+?\d{1,9}$/.test(value) ? Number(value) : undefined;
}
