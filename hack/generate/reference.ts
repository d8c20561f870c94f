/** The API reference, from crds/windowspools.yaml. */
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

const SOURCE = new URL('../../crds/windowspools.yaml', import.meta.url);
const STABILITY = new URL('apiStability.md', import.meta.url);

/** The parts of a structural schema that the page uses. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly message: string; readonly rule: string }[];
}

interface Version {
  readonly name: string;
  readonly schema: { readonly openAPIV3Schema: Schema };
}

/** The text of docs/reference/api.md. */
export async function referencePage(): Promise<string> {
  const { spec } = parse(await readFile(SOURCE, 'utf8'));
  const [version]: readonly Version[] = spec.versions;
  if (!version) throw new Error('crds/windowspools.yaml has no version');
  const root = version.schema.openAPIV3Schema;
  const { spec: poolSpec = {}, status = {} } = root.properties ?? {};
  return [
    '<!-- Generated from crds/windowspools.yaml and hack/generate/apiStability.md by `make generate`. Do not edit. -->',
    '# API reference',
    '',
    `\`apiVersion: ${spec.group}/${version.name}\`, \`kind: ${spec.names.kind}\`, cluster-scoped; \`kubectl get ${spec.names.plural}\` or \`${spec.names.shortNames.join(', ')}\`.`,
    '`kubectl explain windowspool.spec` shows the same descriptions. The API server enforces the limits and rules on this page.',
    '',
    root.description ?? '',
    '',
    ...rulesOf(root),
    (await readFile(STABILITY, 'utf8')).trimEnd(),
    '',
    ...sectionsOf('spec', poolSpec),
    ...sectionsOf('status', status),
  ].join('\n');
}

/** The section of an object, followed by those of the objects in it. */
function sectionsOf(path: string, schema: Schema): string[] {
  const { properties = {}, required = [] } = schema;
  const rows = Object.entries(properties).map(([name, field]) => rowOf(path, name, field, required.includes(name)));
  const inner = Object.entries(properties).flatMap(([name, field]) => {
    const [suffix, object] = objectIn(field);
    return object ? sectionsOf(`${path}.${name}${suffix}`, object) : [];
  });
  return [
    `## ${path}`,
    '',
    ...(schema.description ? [schema.description, ''] : []),
    '| field | type | default | |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    ...rulesOf(schema),
    ...inner,
  ];
}

function rowOf(path: string, name: string, field: Schema, isRequired: boolean): string {
  const [suffix, object] = objectIn(field);
  const anchor = `${path}.${name}${suffix}`.toLowerCase().replaceAll(/[^a-z0-9_-]/g, '');
  const label = object ? `[\`${name}\`](#${anchor})` : `\`${name}\``;
  const fallback =
    field.default === undefined ? (isRequired ? 'required' : '') : `\`${JSON.stringify(field.default)}\``;
  // The rules of an object are below its own table.
  const rules = object ? [] : ownRules(field);
  const text = [field.description ?? '', ...limitsOf(field), ...rules].filter((part) => part !== '').join('<br>');
  return `| ${[label, typeOf(field), fallback, text].map(escaped).join(' | ')} |`;
}

/** The object in a field that gets a section of its own, and the suffix of the field's name there. */
function objectIn(field: Schema): readonly [suffix: string, object: Schema | undefined] {
  if (field.properties) return ['', field];
  if (field.items?.properties) return ['[]', field.items];
  return field.additionalProperties?.properties ? ['{}', field.additionalProperties] : ['', undefined];
}

function typeOf(field: Schema): string {
  if (field['x-kubernetes-int-or-string']) return 'integer or string';
  if (field.items) return `list of ${typeOf(field.items)}`;
  if (field.additionalProperties) return `map of ${typeOf(field.additionalProperties)}`;
  if (field.enum) return field.enum.map((value) => `\`${value}\``).join(', ');
  return field.format === 'date-time' ? 'time' : (field.type ?? 'any');
}

/** The limits of the schema, as text. */
function limitsOf({
  minimum,
  maximum,
  maxLength,
  minItems,
  maxItems,
  maxProperties,
  pattern,
  items,
}: Schema): string[] {
  const range = [
    ...(minimum !== undefined ? [`at least ${minimum}`] : []),
    ...(maximum !== undefined ? [`at most ${maximum}`] : []),
    ...(minItems !== undefined ? [`at least ${minItems} ${minItems === 1 ? 'item' : 'items'}`] : []),
    ...(maxItems !== undefined ? [`at most ${maxItems} items`] : []),
    ...(maxProperties !== undefined ? [`at most ${maxProperties} entries`] : []),
    ...(maxLength !== undefined ? [`at most ${maxLength} characters`] : []),
  ];
  const texts = range.length > 0 ? [`${range.join(', ')}.`.replace(/^a/, 'A')] : [];
  const patterns = [pattern, items?.pattern].filter((each) => each !== undefined).map((each) => `Pattern: \`${each}\``);
  return [...texts, ...patterns];
}

function rulesOf(schema: Schema): string[] {
  const rules = ownRules(schema);
  return rules.length > 0 ? ['Rules:', '', ...rules.map((rule) => `- ${rule}`), ''] : [];
}

function ownRules(field: Schema): string[] {
  return (field['x-kubernetes-validations'] ?? []).map(({ message }) => `${message}.`);
}

/** A vertical bar separates table cells, also in code. */
function escaped(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
