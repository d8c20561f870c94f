/** The generated files of the Helm chart: the CRD from crds, roles and alerts from config, its values and their table from its schema. */
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { dashboards } from '../grafana/dashboards.ts';
import { withTable } from './table.ts';

const ROOT = new URL('../../', import.meta.url);
const CHART = 'config/charts/windowspool-operator';
const read = (path: string) => readFile(new URL(path, ROOT), 'utf8');

/** The parts of JSON Schema that describe a value. */
interface Schema {
  readonly description: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
}

type Root = Pick<Schema, 'properties'>;

/** The ServiceAccount has its own template, because its annotations differ between clusters. */
const NOT_COPIED = ['kustomization.yaml', 'service_account.yaml'];
/** The folders of config whose manifests are copied. */
const FOLDERS = [
  'rbac',
  'admission',
  'policies',
  'policies/runtime-class-defaulting',
  'windows-ipam',
  'karpenter',
  'machines',
  'machine-templates',
  'prometheus',
] as const;

/** The generated files of the chart, by path. */
export function chartFiles(): Record<string, () => Promise<string>> {
  const copies = FOLDERS.flatMap((folder) =>
    readdirSync(fileURLToPath(new URL(`config/${folder}`, ROOT)))
      .filter((name) => name.endsWith('.yaml') && !NOT_COPIED.includes(name))
      .map((name) => [`${CHART}/files/${folder}/${name}`, () => copy(`config/${folder}/${name}`)] as const),
  );
  return {
    [`${CHART}/files/windowspools.yaml`]: () => copy('crds/windowspools.yaml'),
    ...Object.fromEntries(copies),
    ...Object.fromEntries(
      Object.entries(dashboards()).map(([name, text]) => [`${CHART}/files/dashboards/${name}`, async () => text]),
    ),
    [`${CHART}/values.yaml`]: async () => valuesFile(await schema()),
    [`${CHART}/README.md`]: async () => withValues(await read(`${CHART}/README.md`), await schema()),
    'docs/reference/chart-values.md': async () => valuesPage(await schema()),
  };
}

const schema = async (): Promise<Root> => JSON.parse(await read(`${CHART}/values.schema.json`));

async function copy(path: string): Promise<string> {
  return `# Copied from ${path} by \`make generate\`. Do not edit.\n${await read(path)}`;
}

/** values.yaml: every default below its description from the schema. A value without a default is a comment. */
export function valuesFile(root: Root): string {
  const lines = ['# Generated from values.schema.json by `make generate`. Do not edit.'];
  for (const [name, value] of Object.entries(root.properties ?? {})) lines.push('', ...valueLines(name, value));
  return `${lines.join('\n')}\n`;
}

/** Whether the values in it have descriptions of their own. */
function isSection(value: Schema): value is Schema & Required<Root> {
  return value.properties !== undefined && value.default === undefined;
}

function valueLines(name: string, value: Schema): string[] {
  const comment = `# ${value.description}`;
  if (isSection(value)) {
    const inner = Object.entries(value.properties).flatMap(([key, entry]) => valueLines(key, entry));
    return [comment, `${name}:`, ...inner.map((line) => `  ${line}`)];
  }
  if (value.default === undefined) return [`${comment} Required.`, `# ${name}:`];
  return [
    comment,
    ...stringify({ [name]: value.default }, { singleQuote: true })
      .trimEnd()
      .split('\n'),
  ];
}

/** The page of the chart with the table of values. */
export function withValues(page: string, root: Root): string {
  return withTable(`${CHART}/README.md`, page, 'values', tableOf(root));
}

/** The text of docs/reference/chart-values.md. */
function valuesPage(root: Root): string {
  const page = [
    '# Values of the Helm chart',
    '',
    'This page lists the values of the chart. [Its README](../../config/charts/windowspool-operator/README.md) describes how to install and upgrade it.',
    '',
    `<!-- values: from ${CHART}/values.schema.json by \`make generate\` -->`,
    '<!-- end of values -->',
    '',
  ];
  return withTable('docs/reference/chart-values.md', page.join('\n'), 'values', tableOf(root));
}

const tableOf = (root: Root): string[][] => [['value', 'default', 'description'], ...rowsOf('', root)];

function rowsOf(prefix: string, { properties = {} }: Root): string[][] {
  return Object.entries(properties).flatMap(([name, value]) => {
    const path = `${prefix}${name}`;
    if (isSection(value)) return rowsOf(`${path}.`, value);
    const fallback = value.default === undefined ? 'required' : `\`${JSON.stringify(value.default)}\``;
    const choice = value.enum ? ` One of ${value.enum.map((one) => `\`${one}\``).join(', ')}.` : '';
    return [[`\`${path}\``, fallback, `${value.description}${choice}`]];
  });
}
