/** The OpenAPI schema of the CRD as the API server applies it, without the CEL rules: defaults, and what it rejects. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The part of an OpenAPI schema of Kubernetes that the CRD uses. */
export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly default?: unknown;
  readonly 'x-kubernetes-int-or-string'?: true;
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

type Values = Readonly<Record<string, unknown>>;

const crd = parse(readFileSync(`${import.meta.dirname}/../../../crds/windowspools.yaml`, 'utf8'));
const { properties } = crd.spec.versions[0].schema.openAPIV3Schema;

/** The schemas of spec and status. */
export const specSchema: Schema = properties.spec;
export const statusSchema: Schema = properties.status;

/** The value with the defaults that the API server sets. */
export function withDefaults(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withDefaults(schema.items ?? {}, item));
  if (typeof value !== 'object' || value === null || !schema.properties) return value;
  const set = Object.entries(schema.properties).flatMap(([name, property]) => {
    const own = Object.hasOwn(value, name) ? (value as Values)[name] : property.default;
    return own === undefined ? [] : [[name, withDefaults(property, own)] as const];
  });
  return Object.fromEntries(set);
}

/** What distinguishes the items of a list that must be unique; undefined for other lists. */
export function keyOfItem(schema: Schema): ((item: unknown) => string) | undefined {
  if (schema['x-kubernetes-list-type'] === 'set') return (item) => JSON.stringify(item);
  const keys = schema['x-kubernetes-list-map-keys'];
  return keys && ((item) => JSON.stringify(keys.map((key) => (item as Values)[key])));
}

/** Why the API server would reject the value, one line each, such as `.conditions[0].message: 40000 characters`. */
export function violations(schema: Schema, value: unknown, path = ''): string[] {
  if (schema['x-kubernetes-int-or-string'])
    return typeof value === 'string' ? ofText(schema, value, path) : ofNumber(schema, value, path);
  switch (schema.type) {
    case 'object':
      return ofObject(schema, value, path);
    case 'array':
      return ofList(schema, value, path);
    case 'string':
      return ofText(schema, value, path);
    case 'integer':
      return ofNumber(schema, value, path);
    default:
      return typeof value === schema.type ? [] : [`${path}: ${JSON.stringify(value)} is no ${schema.type}`];
  }
}

function ofObject(schema: Schema, value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path}: no object`];
  if (schema['x-kubernetes-preserve-unknown-fields']) return [];
  const names = Object.keys(value);
  const { properties: known, additionalProperties: any, required = [] } = schema;
  return [
    ...required.filter((name) => (value as Values)[name] === undefined).map((name) => `${path}.${name}: missing`),
    ...countOf(names.length, schema.minProperties, schema.maxProperties, 'properties', path),
    ...names.flatMap((name) => {
      const its = known && Object.hasOwn(known, name) ? known[name] : any;
      const inner = (value as Values)[name];
      if (its === undefined) return [`${path}.${name}: unknown`];
      return inner === undefined && !any ? [] : violations(its, inner, `${path}.${name}`);
    }),
  ];
}

function ofList(schema: Schema, value: unknown, path: string): string[] {
  if (!Array.isArray(value)) return [`${path}: no list`];
  const keyOf = keyOfItem(schema);
  const repeats = keyOf && new Set(value.map(keyOf)).size < value.length;
  return [
    ...countOf(value.length, schema.minItems, schema.maxItems, 'items', path),
    ...(repeats ? [`${path}: repeated items`] : []),
    ...value.flatMap((item, index) => violations(schema.items ?? {}, item, `${path}[${index}]`)),
  ];
}

function ofText(schema: Schema, value: unknown, path: string): string[] {
  if (typeof value !== 'string') return [`${path}: ${JSON.stringify(value)} is no string`];
  const { pattern, format } = schema;
  const shown = JSON.stringify(value.slice(0, 100));
  return [
    // Kubernetes counts characters, and not UTF-16 units.
    ...countOf([...value].length, schema.minLength, schema.maxLength, 'characters', path),
    ...(schema.enum && !schema.enum.includes(value) ? [`${path}: ${shown} is none of ${schema.enum.join(', ')}`] : []),
    ...(pattern && !matcherOf(pattern).test(value) ? [`${path}: ${shown} does not match ${pattern}`] : []),
    ...(format === 'date-time' && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value)
      ? [`${path}: ${shown} is no time`]
      : []),
  ];
}

function ofNumber({ minimum, maximum, format }: Schema, value: unknown, path: string): string[] {
  if (!Number.isSafeInteger(value)) return [`${path}: ${value} is no integer`];
  const number = value as number;
  const isTooLarge = format === 'int32' && Math.abs(number) >= 2 ** 31;
  return isTooLarge || number < (minimum ?? number) || number > (maximum ?? number) ? [`${path}: ${number}`] : [];
}

const matchers = new Map<string, RegExp>();

function matcherOf(pattern: string): RegExp {
  const matcher = matchers.get(pattern) ?? new RegExp(pattern, 'u');
  matchers.set(pattern, matcher);
  return matcher;
}

function countOf(count: number, least = 0, most = Number.POSITIVE_INFINITY, what: string, path: string): string[] {
  return count < least || count > most ? [`${path}: ${count} ${what}`] : [];
}
