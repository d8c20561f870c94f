/** Names in the documentation that the API and the metrics must have. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { catalogue } from '../../cmd/operator/metrics/catalogue.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

const CRD = new URL('../../crds/windowspools.yaml', import.meta.url);
const [version] = parse(readFileSync(CRD, 'utf8')).spec.versions;
const { spec, status } = (version.schema.openAPIV3Schema as Schema).properties ?? {};

/** Fields of pods, nodes and Machines that the documentation names without the object, a value of the chart, and a domain. */
const OF_OTHERS = [
  'spec.os.name',
  'status.addresses',
  'status.images',
  'status.runtimeHandlers',
  'status.nodeRef',
  'status.authoritativeAPI',
  'karpenter.enabled',
  'cluster.local',
];

/** The dotted paths of all fields below a schema, without its own name. */
function fieldsOf(schema: Schema | undefined): string[] {
  if (schema?.items) return fieldsOf(schema.items);
  return Object.entries(schema?.properties ?? {}).flatMap(([name, field]) => [
    name,
    ...fieldsOf(field).map((path) => `${name}.${path}`),
  ]);
}

const ofSpec = fieldsOf(spec);
const ofStatus = fieldsOf(status);
const known = new Set([
  ...ofSpec,
  ...ofSpec.map((path) => path.replace(/^nodeGroup\./, '')),
  ...ofSpec.map((path) => `spec.${path}`),
  ...ofStatus,
  ...ofStatus.map((path) => `status.${path}`),
  ...OF_OTHERS,
]);
const metrics = new Set(Object.values(catalogue).flatMap((part) => Object.keys(part)));
const starts = new Set([...known].map((path) => path.split('.')[0]));

const isFile = (name: string) => /\.(?:ts|md|yaml|json)$/.test(name);

/** The names of fields and metrics that do not exist: `spec.nodeGroup.size`, `nodeGroup.size`, `windowspool_size`. */
export function unknownNames(names: readonly string[]): string[] {
  return names.filter((name) => {
    const [metric] = /^windowspool_[a-z_]+/.exec(name) ?? [];
    if (metric) return !metrics.has(metric);
    const [, field = ''] = /^((?:[a-z][A-Za-z]*\.)+[a-z][A-Za-z]*)(?:: .*)?$/.exec(name) ?? [];
    return starts.has(field.split('.')[0]) && !known.has(field) && !isFile(name);
  });
}
