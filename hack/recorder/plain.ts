/** Observed states, steps and calls as JSON data. */
import { createHash } from 'node:crypto';
import type { Json } from './entry.ts';

/** The end of texts that are longer is recorded as a hash: tests of limits have very long ones. */
const LONGEST = 2_000;
/** Data that is shorter as JSON than this is not replaced by a hash. */
const SHORT = 40;

/** What stands for an object instead of its fields; undefined: they do. */
type Replace = (value: object) => string | undefined;

/**
 * A value as JSON data, with sorted keys. Instances of classes have what their getters return; functions are left out. Undefined: nothing is left.
 */
export function plain(value: unknown, replace: Replace = () => undefined): Json | undefined {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return value.length > LONGEST ? `${value.slice(0, LONGEST)} ${digest(value)}` : value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value instanceof AbortSignal) return undefined;
  if (value instanceof Date) return value.toISOString();
  const replaced = replace(value);
  if (replaced !== undefined) return replaced;
  if (value instanceof Set) return plain([...value], replace);
  if (Array.isArray(value)) return value.map((item) => plain(item, replace) ?? null);
  const members =
    value instanceof Map ? [...value].map(([key, item]) => [String(key), item] as const) : membersOf(value);
  const entries = members.flatMap(([key, member]) => {
    const data = plain(member, replace);
    return data === undefined ? [] : [[key, data] as const];
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Data in which what is nested more deeply than a few levels is a hash: inputs are compared, and not read. */
export function outline(data: Json, levels = 5): Json {
  if (typeof data !== 'object' || data === null) return data;
  if (levels === 0) return JSON.stringify(data).length > SHORT ? digest(data) : data;
  if (Array.isArray(data)) return data.map((item: Json) => outline(item, levels - 1));
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, outline(value, levels - 1)]));
}

/** As `plain`, for the fields of an object. */
export function fieldsOf(value: object, replace?: Replace): { readonly [key: string]: Json } {
  const data = plain({ ...value }, replace);
  return data as { readonly [key: string]: Json };
}

/** The name of a pool or a node, which stands for the object in the data of a step or of a call: its fields are in the input. */
export function named(value: object): string | undefined {
  const { metadata, kernelVersion, name } = value as {
    readonly metadata?: { readonly name?: string };
    readonly kernelVersion?: string;
    readonly name?: string;
  };
  return metadata?.name ?? (kernelVersion === undefined ? undefined : name);
}

/** A short hash of any value. */
export function digest(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(plain(value)) ?? '');
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function membersOf(value: object): readonly (readonly [string, unknown])[] {
  const members = new Map<string, unknown>(Object.entries(value));
  for (
    let proto = Object.getPrototypeOf(value);
    proto && proto !== Object.prototype;
    proto = Object.getPrototypeOf(proto)
  )
    for (const [key, { get }] of Object.entries(Object.getOwnPropertyDescriptors(proto)))
      if (get && !members.has(key)) members.set(key, Reflect.get(value, key));
  return [...members];
}
