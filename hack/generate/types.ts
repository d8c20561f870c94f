/** The TypeScript types of the API, from crds/windowspools.yaml. */
import { readFile } from 'node:fs/promises';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { parse } from 'yaml';

const SOURCE = new URL('../../crds/windowspools.yaml', import.meta.url);

/** The fields of metav1.ObjectMeta that the operator reads; the schema of a CRD does not have them. */
const OBJECT_META: JSONSchema = {
  type: 'object',
  title: 'ObjectMeta',
  additionalProperties: false,
  required: ['name', 'uid', 'resourceVersion', 'generation', 'creationTimestamp'],
  properties: {
    name: { type: 'string' },
    uid: { type: 'string' },
    resourceVersion: { type: 'string' },
    generation: { type: 'integer' },
    creationTimestamp: { type: 'string' },
    deletionTimestamp: { type: 'string' },
    finalizers: { type: 'array', items: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
  },
};

type Schema = Record<string, unknown> & {
  title?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: unknown;
  required?: string[];
  default?: unknown;
  minItems?: unknown;
  maxItems?: unknown;
};

/**
 * A stored object is complete: the API server has added the defaults and pruned unknown fields. Objects with the same title and properties get one type:
 * `shared` has those that were found before, by their properties.
 */
function asStored(schema: Schema, shared = new Map<unknown, JSONSchema>()): JSONSchema {
  const known = schema.title === undefined ? undefined : shared.get(schema.properties);
  if (known) {
    // Each place has a description of its own.
    delete known.description;
    return known;
  }
  const { minItems: _min, maxItems: _max, ...stored } = schema;
  if (schema.properties) shared.set(schema.properties, stored as JSONSchema);
  if (schema.properties) {
    const withDefault = Object.entries(schema.properties).filter(([, property]) => property.default !== undefined);
    stored.required = [...(schema.required ?? []), ...withDefault.map(([name]) => name)];
    stored.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [name, asStored(property, shared) as Schema]),
    );
    stored.additionalProperties = false;
  }
  if (schema.items) stored.items = asStored(schema.items, shared) as Schema;
  return stored as JSONSchema;
}

/** The text of controllers/windowspool/api/api.gen.ts. */
export async function apiTypes(): Promise<string> {
  const crd = parse(await readFile(SOURCE, 'utf8'));
  const schema = crd.spec.versions[0].schema.openAPIV3Schema;
  schema.required = [...schema.required, 'apiVersion', 'kind', 'metadata'];
  // The default status means that no status has been written.
  delete schema.properties.status.default;
  const root = asStored(schema);
  if (root.properties) root.properties.metadata = OBJECT_META;
  return compile(root, 'WindowsPool', {
    bannerComment: '/* Generated from crds/windowspools.yaml by `make generate`. Do not edit. */',
    format: true,
    style: { singleQuote: true, printWidth: 120 },
  });
}
