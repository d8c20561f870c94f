/** `kubectl windowspool plan`: the changes that are due for a pool, or what a manifest would change. */

import { Option } from 'commander';
import { PATCH } from '../../controllers/kubernetes/client.ts';
import { KubernetesError } from '../../controllers/kubernetes/kubernetesError.ts';
import { KIND, poolPath } from '../../controllers/kubernetes/pools.ts';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import { byHeading } from '../../controllers/windowspool/rules/heldSteps.ts';
import { type AwsPreview, awsPreviews, type PreviewFlags } from './awsPreview.ts';
import type { Cluster } from './cluster.ts';
import type { PluginCommand } from './command.ts';
import { EXIT, explain, Failure } from './failure.ts';
import { outputOption } from './flags.ts';
import { objectsIn, readManifest, shown } from './manifests.ts';
import { type OutputFormat, printResult } from './output.ts';
import { pendingStepsIn } from './poolReport.ts';
import type { Terminal } from './terminal.ts';
import { labelled, wrap } from './text.ts';

export interface PlanFlags extends PreviewFlags {
  readonly filename?: string;
  readonly output?: OutputFormat;
}

/** Throws unless there is either a pool or a manifest. */
function checkPlanArguments(pool: string | undefined, { filename }: PlanFlags): void {
  if ((pool === undefined) === (filename === undefined))
    throw new Failure('Name either a pool, or a manifest with --filename.', EXIT.usage);
}

/** Prints the plan of a pool, or of the manifest in --filename. */
async function plan(
  cluster: Cluster,
  terminal: Terminal,
  name: string | undefined,
  flags: PlanFlags,
  version: string,
): Promise<void> {
  const { filename, output } = flags;
  if (filename !== undefined) return planOfManifest(cluster, terminal, filename, flags, version);
  const pool = await cluster.pool(name ?? '');
  const value = { pool: name, pendingSteps: pendingStepsIn(pool.status) };
  printResult(terminal, output, value, (columns) => pendingLines(pool, columns));
}

/** The lines of `pendingChanges`, if they are about the current spec. */
export function pendingLines(pool: WindowsPool, columns: number): string[] {
  if (pool.status?.observedGeneration !== pool.metadata.generation)
    return [`The operator has not observed the current spec of pool ${pool.metadata.name} yet.`];
  return pendingChanges(pool).flatMap((line) => changeNoteLines(line, columns));
}

/** The lines of a note; an entry of a list is indented. */
export function changeNoteLines(note: string, columns: number): string[] {
  return wrap(note, columns, note.startsWith('- ') ? '  ' : '');
}

/** The steps in status.pendingSteps, under what they wait for. */
export function pendingChanges({ metadata: { name }, status }: WindowsPool): string[] {
  const steps = pendingStepsIn(status);
  if (steps.length === 0) return [`No changes are due for pool ${name}.`];
  return [
    `Pool ${name} has pending changes.`,
    ...byHeading(steps).flatMap(([heading, held]) => [
      `${heading.charAt(0).toUpperCase()}${heading.slice(1)}:`,
      ...held.map((step) => `- ${step}`),
    ]),
  ];
}

/** What the API server would store. */
interface DryRunResult {
  readonly name: string;
  readonly before: WindowsPool | undefined;
  readonly after: WindowsPool;
}

async function planOfManifest(
  cluster: Cluster,
  terminal: Terminal,
  filename: string,
  flags: PlanFlags,
  version: string,
): Promise<void> {
  const manifests = poolsIn(await readManifest(filename), filename);
  const pools = await cluster.pools();
  const results: DryRunResult[] = [];
  const rejected: string[] = [];
  for (const manifest of manifests) {
    const { name } = manifest.metadata;
    try {
      const after = await applied(cluster, manifest);
      results.push({ name, after, before: pools.find(({ metadata }) => metadata.name === name) });
    } catch (error) {
      if (!(error instanceof KubernetesError) || error.status === undefined || error.status === 401) throw error;
      rejected.push(`The API server rejects WindowsPool ${name}: ${explain(error)}`);
    }
  }
  if (results.length > 0) {
    const applied = results.map(({ after }) => after);
    const previews = await awsPreviews(cluster, applied, flags, version);
    const list = results.map(({ name, before, after }, index) => ({
      pool: name,
      exists: before !== undefined,
      changes: specChanges(before?.spec, after.spec),
      aws: previews[index],
    }));
    printResult(terminal, flags.output, list, (columns) =>
      results.flatMap((result, index) => resultLines(result, previews[index], columns)),
    );
  }
  if (rejected.length > 0) throw new Failure(rejected.join('\n'));
}

function resultLines({ name, before, after }: DryRunResult, aws: AwsPreview | undefined, columns: number): string[] {
  const changes = changeLines(name, before, after);
  if (!aws) return changes;
  if ('text' in aws) return [...changes, aws.text];
  const label = '  SKIP  ';
  return [...changes, ...labelled(label, label.length, `The steps of the operator: ${aws.skipped}`, columns)];
}

/** The WindowsPools in a file of YAML or JSON. Fails if there is none, or if one has no name. */
export function poolsIn(text: string, filename: string): WindowsPool[] {
  const objects: readonly Partial<WindowsPool>[] = objectsIn(text, filename);
  const pools = objects.filter(({ kind }) => kind === KIND);
  if (pools.length === 0) throw new Failure(`No ${KIND} found in ${shown(filename)}.`);
  if (pools.some(({ metadata }) => !metadata?.name))
    throw new Failure(`A ${KIND} in ${shown(filename)} has no metadata.name.`);
  return pools as WindowsPool[];
}

/** What `kubectl apply --server-side --force-conflicts` would store. */
async function applied({ client, signal }: Cluster, manifest: WindowsPool): Promise<WindowsPool> {
  const query = { dryRun: 'All', fieldManager: 'kubectl', force: true, fieldValidation: 'Warn' };
  const stored = await client.request<object>('PATCH', poolPath(manifest.metadata.name), {
    query,
    body: manifest,
    contentType: PATCH.apply,
    signal,
  });
  return stored as WindowsPool;
}

/** The lines about one pool: `+` adds a field, `-` removes it, `~` changes it. */
export function changeLines(name: string, before: WindowsPool | undefined, after: WindowsPool): string[] {
  const changes = specChanges(before?.spec, after.spec);
  if (changes.length === 0) return [`WindowsPool ${name}: the spec does not change`];
  return [`WindowsPool ${name}: ${before ? 'changes' : 'is created'}`, ...changes.map((line) => `  ${line}`)];
}

/** The differences of two specs, a line for each field. */
export function specChanges(before: object | undefined, after: object): string[] {
  const [old, now] = [fieldsOf(before ?? {}), fieldsOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((path) => {
    const [from, to] = [old.get(path), now.get(path)];
    if (from === to) return [];
    if (from === undefined) return [`+ ${path}: ${to}`];
    return to === undefined ? [`- ${path}: ${from}`] : [`~ ${path}: ${from} -> ${to}`];
  });
}

/** Each value by its path, such as `nodeGroup.scaling.minSize` or `taints[0].key`. */
function fieldsOf(value: unknown, path = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null) return new Map([[path, JSON.stringify(value)]]);
  const entries = Object.entries(value);
  if (entries.length === 0 && path !== '') return new Map([[path, JSON.stringify(value)]]);
  const nameOf = (key: string) => {
    if (Array.isArray(value)) return `${path}[${key}]`;
    const name = /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
    return path === '' ? name : `${path}.${name}`;
  };
  return new Map(entries.flatMap(([key, each]) => [...fieldsOf(each, nameOf(key))]));
}

/** `kubectl windowspool plan`. */
export const planCommand: PluginCommand<PlanFlags> = {
  usage: 'plan [pool]',
  group: 'Pool and Node Commands',
  summary: 'Show the changes that are due for a pool, or what a manifest would change.',
  details:
    'Changes nothing. With a manifest and AWS credentials, it also shows what the operator would request from AWS.',
  examples: [
    ['Show the changes that wait in a paused pool', 'kubectl windowspool plan web'],
    ['Show what a manifest would change', 'kubectl windowspool plan -f web.yaml'],
    ['Read the manifest from the standard input', 'kustomize build pools | kubectl windowspool plan -f -'],
  ],
  options: [
    new Option('-f, --filename <file>', 'Manifest of WindowsPools; - reads the standard input. Nothing is changed.'),
    new Option(
      '--cluster-name <name>',
      'Name of the EKS cluster, to show what would be requested from AWS. Default: the cluster of another pool or of the operator.',
    ),
    new Option('--region <name>', 'AWS Region of the EKS cluster. Default: AWS_REGION, or the Region of another pool.'),
    new Option(
      '--machines-kubeconfig <file>',
      'Kubeconfig file of the cluster that has the Machines of pools. Default: the cluster of the pools.',
    ),
    outputOption(),
  ],
  check: ([pool], flags) => checkPlanArguments(pool, flags),
  run: async ({ connect, terminal, version }, [pool], flags) => plan(await connect(), terminal, pool, flags, version),
};
