/** Reads what to size from text: the flags of the command, and the form of the calculator. Pure, and runs in a browser. */
import { editDistance } from '../util/editDistance.ts';
import { parseQuantity } from '../util/quantity.ts';
import { INSTANCE_TYPES, type SizedType, whyUnsuitable } from './instanceTypes.ts';
import { DEFAULT_MAX_PODS, MOST_PODS } from './kubeletDefaults.ts';
import { LARGEST_GIB } from './rootVolume.ts';
import type { SizeRequest } from './size.ts';
import { LONGEST_PREFIX, SHORTEST_PREFIX } from './subnets.ts';

/** The inputs, as text. What is absent or empty has its default. */
export interface SizeTexts {
  readonly instanceType?: readonly string[];
  readonly mode?: string;
  readonly nodes?: string;
  readonly pods?: string;
  readonly cpu?: string;
  readonly memory?: string;
  readonly reservedMemory?: string;
  readonly maxPods?: string;
  readonly subnetPrefix?: string;
  readonly imageSize?: readonly string[];
  readonly addressesPerInterface?: string;
  readonly vcpus?: string;
  readonly instanceMemory?: string;
}

/** The modes by which pods get addresses. */
export const MODES: readonly SizeRequest['mode'][] = ['secondary', 'prefix'];

/** What AWS recommends to reserve of memory for Windows, in MiB: https://docs.aws.amazon.com/eks/latest/best-practices/windows-oom.html */
export const RECOMMENDED_RESERVE_MIB = 2048;

/** An input that cannot be used: which one, its value, and what to enter instead. */
export class InvalidSize extends Error {
  override readonly name = 'InvalidSize';
}

/** The name of an input in messages, such as `--cpu`. */
export type NameOf = (input: keyof SizeTexts) => string;

const MOST_NODES = 100_000;
const MOST_PODS_OF_POOL = 1_000_000;
const MOST_ADDRESSES = 1_000;
const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const MOST_MEMORY = 64 * 1024 * GIB;
const MOST_CPUS = 1_024;

/** The request that the texts describe. Throws InvalidSize for the first one that it cannot use. */
export function readSizeRequest(texts: SizeTexts, nameOf: NameOf): SizeRequest {
  const reader = readerOf(texts, nameOf);
  const nodes = reader.whole('nodes', 1, MOST_NODES);
  const pods = reader.whole('pods', 1, MOST_PODS_OF_POOL);
  const cpu = reader.quantity('cpu', { unit: 1, least: 0.001, most: MOST_CPUS }, 'such as 500m or 2');
  const memoryMiB = reader.quantity('memory', { unit: MIB, least: MIB, most: MOST_MEMORY }, 'such as 512Mi or 2Gi');
  const subnetPrefix = prefixOf(texts.subnetPrefix, nameOf);
  return {
    types: typesOf(texts, nameOf),
    mode: modeOf(texts.mode, nameOf),
    ...(nodes !== undefined && { nodes }),
    ...(pods !== undefined && { pods }),
    ...(cpu !== undefined && { cpu }),
    ...(memoryMiB !== undefined && { memoryMiB }),
    reservedMiB:
      reader.quantity('reservedMemory', { unit: MIB, least: 0, most: MOST_MEMORY }, 'such as 2Gi, or 0') ??
      RECOMMENDED_RESERVE_MIB,
    maxPods: reader.whole('maxPods', 1, MOST_PODS) ?? DEFAULT_MAX_PODS,
    ...(subnetPrefix !== undefined && { subnetPrefix }),
    imagesGiB: imagesOf(texts.imageSize ?? [], nameOf),
  };
}

interface Bounds {
  readonly unit: number;
  readonly least: number;
  readonly most: number;
}

function readerOf(texts: SizeTexts, nameOf: NameOf) {
  const textOf = (input: keyof SizeTexts) => (texts[input] as string | undefined)?.trim() || undefined;
  return {
    /** A quantity within bounds, in that unit; undefined without a text. */
    quantity: (input: keyof SizeTexts, { unit, least, most }: Bounds, example: string) => {
      const text = textOf(input);
      if (text === undefined) return undefined;
      const value = parseQuantity(text);
      if (value === undefined || value < least || value > most)
        throw invalid(nameOf(input), text, `Use a quantity ${example}`);
      return value / unit;
    },
    whole: (input: keyof SizeTexts, least: number, most: number) => {
      const text = textOf(input);
      if (text === undefined) return undefined;
      const value = Number(text);
      if (!/^\d+$/.test(text) || value < least || value > most)
        throw invalid(nameOf(input), text, `Use an integer from ${least} to ${most}`);
      return value;
    },
  };
}

function modeOf(text: string | undefined, nameOf: NameOf): SizeRequest['mode'] {
  const mode = MODES.find((each) => each === (text || 'secondary'));
  if (!mode) throw invalid(nameOf('mode'), text ?? '', `Use ${MODES.join(' or ')}`);
  return mode;
}

function prefixOf(text: string | undefined, nameOf: NameOf): number | undefined {
  if (!text) return undefined;
  const length = Number(/^\/?(\d{1,2})$/.exec(text)?.[1]);
  if (!(length >= SHORTEST_PREFIX && length <= LONGEST_PREFIX))
    throw invalid(
      nameOf('subnetPrefix'),
      text,
      `A subnet of a VPC has from /${SHORTEST_PREFIX} to /${LONGEST_PREFIX}: use one of these`,
    );
  return length;
}

function imagesOf(texts: readonly string[], nameOf: NameOf): number {
  const sizes = texts.flatMap((text) => {
    if (text.trim() === '') return [];
    const bytes = parseQuantity(text.trim());
    if (bytes === undefined || bytes < MIB || bytes > LARGEST_GIB * GIB)
      throw invalid(nameOf('imageSize'), text, 'Use the unpacked size, such as 800Mi or 5Gi');
    return [bytes];
  });
  return sizes.reduce((sum, bytes) => sum + bytes, 0) / GIB;
}

/** The facts of a type that the list does not have, or that replace those of the list. */
const FACTS = ['addressesPerInterface', 'vcpus', 'instanceMemory'] as const;

function typesOf(texts: SizeTexts, nameOf: NameOf): SizedType[] {
  const names = [...new Set((texts.instanceType ?? []).flatMap((text) => text.split(',')).map((name) => name.trim()))];
  const [first] = names;
  if (first === undefined || names.includes(''))
    throw new InvalidSize(`${nameOf('instanceType')} is required. Use an instance type such as m5.large.`);
  const given = FACTS.filter((fact) => texts[fact]);
  if (given.length > 0 && names.length > 1)
    throw new InvalidSize(
      `${given.map(nameOf).join(', ')} describes one instance type, and there are ${names.length}. Use one ${nameOf('instanceType')}.`,
    );
  return names.map((name) => {
    const type = described(
      INSTANCE_TYPES.find((known) => known.name === name),
      name,
      texts,
      nameOf,
    );
    const why = whyUnsuitable(type);
    if (why !== undefined) throw new InvalidSize(`${nameOf('instanceType')}: ${why}. Use another type.`);
    return type;
  });
}

/** A type, with the facts that the texts have. Throws if one is still missing. */
function described(known: SizedType | undefined, name: string, texts: SizeTexts, nameOf: NameOf): SizedType {
  const reader = readerOf(texts, nameOf);
  const addressesPerInterface =
    reader.whole('addressesPerInterface', 1, MOST_ADDRESSES) ?? known?.addressesPerInterface;
  const vCpus = reader.whole('vcpus', 1, MOST_CPUS) ?? known?.vCpus;
  const memoryMiB =
    reader.quantity('instanceMemory', { unit: MIB, least: GIB, most: MOST_MEMORY }, 'such as 8192Mi or 8Gi') ??
    known?.memoryMiB;
  if (addressesPerInterface === undefined || vCpus === undefined || memoryMiB === undefined)
    throw unknown(name, nameOf);
  return {
    ...(known ?? { name, architectures: ['x86_64'], isNitro: true }),
    addressesPerInterface,
    vCpus,
    memoryMiB,
  };
}

function unknown(name: string, nameOf: NameOf): InvalidSize {
  const similar = INSTANCE_TYPES.map((type) => ({ type: type.name, distance: editDistance(name, type.name) }))
    .filter(({ distance }) => distance <= 1)
    .map(({ type }) => type);
  const hint = similar.length > 0 ? ` Did you mean ${similar.join(' or ')}?` : '';
  return new InvalidSize(
    `${nameOf('instanceType')} ${JSON.stringify(name)} is not in the list of known types.${hint} To size another type, also set ${FACTS.map(nameOf).join(', ')}, which EC2 reports: aws ec2 describe-instance-types --instance-types ${/^[a-z0-9.-]+$/.test(name) ? name : 'TYPE'} --query 'InstanceTypes[].[NetworkInfo.Ipv4AddressesPerInterface,VCpuInfo.DefaultVCpus,MemoryInfo.SizeInMiB]'`,
  );
}

function invalid(name: string, value: string, remedy: string): InvalidSize {
  return new InvalidSize(`${name} ${JSON.stringify(value)} is invalid. ${remedy}.`);
}
