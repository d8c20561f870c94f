/**
 * The service model in an installed SDK client: each package exports a schema for each operation, as nested arrays. This file converts them
 * to shapes. Layout of the arrays: smithy-typescript, packages/types, `StaticSchema`.
 */

/** What a package of the SDK exports, by name. */
export type SdkExports = Readonly<Record<string, unknown>>;

type Traits = Readonly<Record<string, unknown>>;

/** A member of a structure, or the element of a list or map (then without name). */
export interface Member {
  readonly name: string;
  readonly required: boolean;
  readonly traits: Traits;
  shape(): Shape;
}

/** The form of a value. */
export type Shape =
  | { readonly kind: 'string' | 'number' | 'boolean' | 'timestamp' | 'other' }
  | { readonly kind: 'list' | 'map'; readonly element: Member }
  | { readonly kind: 'structure'; readonly name: string; readonly members: ReadonlyMap<string, Member> };

/** An operation in a service model. `http` is [method, path template] where the service is REST. */
export interface ModelOperation {
  readonly name: string;
  readonly http: readonly [method: string, path: string] | undefined;
  readonly input: Shape;
  readonly output: Shape;
}

const known = new Map<unknown, Shape>();

/** The operation of that name among the exports of an SDK package; undefined when the service model has none. */
export function readOperation(exports: SdkExports, name: string): ModelOperation | undefined {
  const schema = exports[`${name}$`];
  if (!Array.isArray(schema) || schema[0] !== 9) return undefined;
  const http = traitsOf(schema[3]).http;
  return {
    name,
    http: Array.isArray(http) ? [String(http[0]), String(http[1])] : undefined,
    input: shapeOf(schema[4]),
    output: shapeOf(schema[5]),
  };
}

/** The names of all operations in the service model. */
export const readOperationNames = (exports: SdkExports): string[] =>
  Object.entries(exports)
    .filter(([name, schema]) => name.endsWith('$') && Array.isArray(schema) && schema[0] === 9)
    .map(([name]) => name.slice(0, -1));

function shapeOf(ref: unknown): Shape {
  const schema = dereference(ref);
  const seen = known.get(schema);
  if (seen !== undefined) return seen;
  const shape = typeof schema === 'number' ? simpleShape(schema) : compoundShape(schema);
  known.set(schema, shape);
  return shape;
}

// The numbers of smithy-typescript: 0 string, 1 number, 2 boolean, 4-7 timestamp; 64 and 128 make a list or a map of the rest.
function simpleShape(code: number): Shape {
  if (code >= 128) return { kind: 'map', element: memberOf('', code - 128, false) };
  if (code >= 64) return { kind: 'list', element: memberOf('', code - 64, false) };
  if (code >= 4 && code <= 7) return { kind: 'timestamp' };
  return { kind: code === 0 ? 'string' : code === 1 ? 'number' : code === 2 ? 'boolean' : 'other' };
}

function compoundShape(schema: unknown): Shape {
  if (!Array.isArray(schema)) return { kind: 'other' };
  switch (schema[0]) {
    case 0:
      return shapeOf(schema[4]);
    case 1:
      return { kind: 'list', element: memberOf('', schema[4], false) };
    case 2:
      return { kind: 'map', element: memberOf('', schema[5], false) };
    case 3:
    case 4:
    case -3: {
      const names: unknown[] = schema[4];
      const required = Number(schema[6] ?? 0);
      const members = names.map((name, index) => memberOf(String(name), schema[5][index], index < required));
      return {
        kind: 'structure',
        name: String(schema[2]),
        members: new Map(members.map((member) => [member.name, member])),
      };
    }
    default:
      return { kind: 'other' };
  }
}

function memberOf(name: string, ref: unknown, required: boolean): Member {
  // [schema, traits] is a member's own; a schema proper has its namespace, a string, in second place.
  const own = Array.isArray(ref) && ref.length === 2 && typeof ref[1] !== 'string';
  return {
    name,
    required,
    traits: own ? traitsOf(ref[1]) : {},
    shape: () => shapeOf(own ? ref[0] : ref),
  };
}

const dereference = (ref: unknown): unknown => (typeof ref === 'function' ? dereference(ref()) : ref);

// A number is a bit set; only "bound to a path segment" matters here.
function traitsOf(traits: unknown): Traits {
  if (typeof traits === 'number') return (traits & 1) === 1 ? { httpLabel: 1 } : {};
  return typeof traits === 'object' && traits !== null ? (traits as Traits) : {};
}
