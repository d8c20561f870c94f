/** Finds where a value differs from its shape in a service model. */
import type { Member, Shape } from './schema.ts';

/** `path` is like `scalingConfig.minSize`. */
export type Departure =
  | { readonly kind: 'missing'; readonly path: string }
  | { readonly kind: 'unknown'; readonly path: string; readonly allowed: readonly string[] }
  | { readonly kind: 'type'; readonly path: string; readonly expected: string; readonly found: string }
  | { readonly kind: 'enum'; readonly path: string; readonly value: string; readonly allowed: readonly string[] };

/** The allowed values of a member of a structure; undefined when any string is accepted. */
export type EnumLookup = (structure: string, member: string) => readonly string[] | undefined;

/** All differences of a value from a shape, in the order of the value's members. */
export function departuresOf(enums: EnumLookup, shape: Shape, value: unknown, path = ''): Departure[] {
  switch (shape.kind) {
    case 'structure':
      return structureDepartures(enums, shape, value, path);
    case 'list':
      if (!Array.isArray(value)) return [typeDeparture(path, 'a list', value)];
      return value.flatMap((item, index) => departuresOf(enums, shape.element.shape(), item, `${path}[${index}]`));
    case 'map':
      if (!isRecord(value)) return [typeDeparture(path, 'a map', value)];
      return Object.entries(value).flatMap(([key, item]) =>
        departuresOf(enums, shape.element.shape(), item, `${path}.${key}`),
      );
    case 'timestamp':
      return value instanceof Date ? [] : [typeDeparture(path, 'a Date', value)];
    case 'other':
      return [];
    default:
      return typeof value === shape.kind ? [] : [typeDeparture(path, `a ${shape.kind}`, value)];
  }
}

function structureDepartures(
  enums: EnumLookup,
  shape: Shape & { kind: 'structure' },
  value: unknown,
  path: string,
): Departure[] {
  if (!isRecord(value)) return [typeDeparture(path, 'an object', value)];
  const within = (name: string) => (path === '' ? name : `${path}.${name}`);
  const found: Departure[] = [];
  for (const [name, item] of Object.entries(value)) {
    const member = shape.members.get(name);
    if (item === undefined) continue;
    if (member === undefined) found.push({ kind: 'unknown', path: within(name), allowed: [...shape.members.keys()] });
    else if (typeof item !== member.shape().kind || enums(shape.name, name) !== undefined)
      found.push(...memberDepartures(enums, shape.name, member, item, within(name)));
  }
  for (const member of shape.members.values()) {
    if (member.required && (value[member.name] === undefined || value[member.name] === null)) {
      found.push({ kind: 'missing', path: within(member.name) });
    }
  }
  return found;
}

/** The differences of one member of a structure: its type, then its enum. */
export function memberDepartures(
  enums: EnumLookup,
  structure: string,
  member: Member,
  value: unknown,
  path: string,
): Departure[] {
  const departures = departuresOf(enums, member.shape(), value, path);
  if (departures.length > 0) return departures;
  const allowed = enums(structure, member.name);
  if (allowed === undefined) return [];
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values
    .filter((item) => typeof item === 'string' && !allowed.includes(item))
    .map((item) => ({ kind: 'enum', path, value: String(item), allowed }));
}

const typeDeparture = (path: string, expected: string, value: unknown): Departure => ({
  kind: 'type',
  path,
  expected,
  found: value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`,
});

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
