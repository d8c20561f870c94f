/** `kubectl windowspool report`: writes what a maintainer needs to find a fault into a folder, without secrets. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EventsV1Event, KubernetesObject, V1Node } from '@kubernetes/client-node';
import { Option } from 'commander';
import { stringify } from 'yaml';
import { fileProblem } from '../../controllers/kubernetes/kubernetesError.ts';
import { NODE_SELECTOR } from '../../controllers/kubernetes/nodes.ts';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { readPages } from '../../controllers/kubernetes/pages.ts';
import { apiPath } from '../../controllers/kubernetes/paths.ts';
import { KIND } from '../../controllers/kubernetes/pools.ts';
import { count, sentence } from '../../controllers/windowspool/util/words.ts';
import type { Cluster } from './cluster.ts';
import type { PluginCommand } from './command.ts';
import { Failure, unlessForbidden } from './failure.ts';
import { linesOf, logOf } from './logs.ts';
import { findOperator, type OperatorFlags, operatorLease, operatorNamespaceOption, operatorPods } from './operator.ts';
import { printSkipped } from './output.ts';
import { reportOf } from './poolReport.ts';
import { redact, redactText } from './redact.ts';
import { poolLines } from './status.ts';
import type { Terminal } from './terminal.ts';
import { plain, wrap } from './text.ts';
import { crdVersionIn, operatorVersionOf } from './version.ts';

export interface ReportFlags extends OperatorFlags {
  readonly outputDirectory?: string;
}

/** A file of the report. */
interface ReportFile {
  readonly path: string;
  /** What is in it. */
  readonly what: string;
  readonly text: string;
}

const LIST = { limit: 500, most: 20_000 };
/** Of each replica. */
const LOG_LINES = 5_000;
const LOG_BYTES = 8 * 1024 ** 2;
const KIB = 1024;
const PRIVATE = { folder: 0o700, file: 0o600 };

/** Writes the report, and lists its files. */
async function report(cluster: Cluster, terminal: Terminal, version: string, flags: ReportFlags): Promise<void> {
  const time = new Date(cluster.client.now()).toISOString().replace(/[-:]|\.\d+/g, '');
  const folder = flags.outputDirectory ?? `windowspool-report-${time}`;
  const skipped: string[] = [];
  const files = await filesOf(cluster, version, flags, skipped);
  await write(folder, files);
  printSkipped(terminal, skipped);
  terminal.print(reportLines(folder, files, terminal.columns).join('\n'));
}

/** What was written, and what was left out. */
function reportLines(folder: string, files: readonly ReportFile[], columns: number): string[] {
  const width = Math.max(...files.map(({ path }) => path.length));
  const bytes = files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return [
    `Report: ${folder} (${count(files.length, 'file')}, ${Math.ceil(bytes / KIB)} KiB)`,
    ...files.map(({ path, what }) => `  ${path.padEnd(width)}  ${what}`),
    '',
    ...wrap(
      'Not included: Secrets, ConfigMaps, user data, and the values of environment variables. What looks like a password, token or key is REDACTED. Names, labels, addresses and ARNs are included: read the files before you share them.',
      columns,
    ),
  ];
}

/** All files. What the user may not read is left out, and `skipped` gets the reason. */
async function filesOf(
  cluster: Cluster,
  version: string,
  flags: OperatorFlags,
  skipped: string[],
): Promise<readonly ReportFile[]> {
  const read = <T>(what: string, reading: Promise<T>) =>
    unlessForbidden(reading, undefined, what, skipped, () => !cluster.signal.aborted);
  const yaml = (path: string, what: string, value: unknown): ReportFile[] =>
    value === undefined ? [] : [{ path, what, text: stringify(redact(value), { lineWidth: 0 }) }];
  const pools = await cluster.pools();
  const kubernetes = await cluster.client.serverVersion(cluster.signal);
  const operator = await read('The Deployment of the operator', findOperator(cluster, flags));
  const nodes = await read('Nodes', nodesOf(cluster));
  const events = await read('Events', eventsOf(cluster, new Set(nodes?.map(({ metadata }) => metadata?.name ?? ''))));
  const classes = await read('RuntimeClasses', listOf(cluster, apiPath('node.k8s.io/v1', 'runtimeclasses')));
  const status = pools.flatMap((pool) => [...poolLines(reportOf(pool), Number.POSITIVE_INFINITY, plain), '', '']);
  return [
    {
      path: 'overview.txt',
      what: 'what kubectl windowspool status shows of each pool',
      text: redactText(status.join('\n')),
    },
    ...yaml('version.yaml', 'the versions of the plugin, of the operator, of the CRD and of Kubernetes', {
      client: version,
      ...(await read('The CRD', crdVersionIn(cluster))),
      kubernetes,
      operator: operatorVersionOf(operator),
    }),
    ...yaml('pools.yaml', count(pools.length, KIND), pools),
    ...yaml('nodes.yaml', `${count(nodes?.length ?? 0, 'Windows node')}, without their images`, nodes),
    ...yaml('events.yaml', `${count(events?.length ?? 0, 'event')} of pools and Windows nodes`, events),
    ...yaml('runtimeclasses.yaml', `RuntimeClasses: ${classes?.length ?? 0}`, classes),
    ...yaml('operator/deployment.yaml', 'the Deployment of the operator', operator),
    ...(operator ? await operatorFiles(cluster, operator.metadata?.namespace ?? '', read, yaml) : []),
  ];
}

/** The pods, the Lease and the logs of the operator. */
async function operatorFiles(
  cluster: Cluster,
  namespace: string,
  read: <T>(what: string, reading: Promise<T>) => Promise<T | undefined>,
  yaml: (path: string, what: string, value: unknown) => ReportFile[],
): Promise<ReportFile[]> {
  const lease = await read('The Lease of the operator', operatorLease(cluster, namespace));
  const pods = await read('The pods of the operator', operatorPods(cluster, namespace));
  const files = [
    ...yaml('operator/lease.yaml', 'which replica leads', lease),
    ...yaml('operator/pods.yaml', count(pods?.length ?? 0, 'pod'), pods),
  ];
  for (const { metadata: { name = '' } = {}, status } of pods ?? []) {
    const hasRestarted = status?.containerStatuses?.some(({ restartCount }) => restartCount > 0);
    for (const previous of hasRestarted ? [false, true] : [false]) {
      const what = previous ? `the log of ${name} before its restart` : `the log of ${name}`;
      const text = await read(sentence(what).slice(0, -1), logTextOf(cluster, namespace, name, previous));
      if (text !== undefined) files.push({ path: `operator/${name}${previous ? '-previous' : ''}.log`, what, text });
    }
  }
  return files;
}

/** The last lines of a log. */
async function logTextOf(cluster: Cluster, namespace: string, pod: string, previous: boolean): Promise<string> {
  const lines: string[] = [];
  let bytes = 0;
  const inTime = AbortSignal.any([cluster.signal, AbortSignal.timeout(cluster.flags.requestTimeout)]);
  const log = logOf({ client: cluster.client, signal: inTime }, namespace, pod, { tail: LOG_LINES, previous });
  for await (const line of linesOf(log)) {
    bytes += line.length + 1;
    if (bytes > LOG_BYTES) break;
    lines.push(line);
  }
  // Keys have several lines.
  return redactText(`${lines.join('\n')}\n`);
}

/** All objects of a list. */
function listOf<O extends KubernetesObject, T = Wire<O>>(
  { client, signal, flags }: Cluster,
  path: string,
  query: Readonly<Record<string, string>> = {},
  keep: (object: Wire<O>) => T | undefined = (object) => object as T,
): Promise<readonly T[]> {
  return readPages<O, T>(client, path, { query, signal, timeoutMs: flags.requestTimeout, ...LIST }, keep);
}

function nodesOf(cluster: Cluster) {
  return listOf<V1Node>(cluster, apiPath('v1', 'nodes'), { labelSelector: NODE_SELECTOR }, ({ status, ...node }) => {
    const { images: _, ...kept } = status ?? {};
    return { ...node, status: kept } as Wire<V1Node>;
  });
}

/** The events of pools and of these nodes. */
async function eventsOf(cluster: Cluster, nodes: ReadonlySet<string>): Promise<readonly Wire<EventsV1Event>[]> {
  const path = apiPath('events.k8s.io/v1', 'events');
  const about = (kind: string, isKept: (name: string) => boolean) =>
    listOf<EventsV1Event>(cluster, path, { fieldSelector: `regarding.kind=${kind}` }, (event) =>
      event.regarding?.kind === kind && isKept(event.regarding.name ?? '') ? event : undefined,
    );
  return [...(await about(KIND, () => true)), ...(await about('Node', (name) => nodes.has(name)))];
}

/** Writes the files into a new folder, which only the user may read. */
async function write(folder: string, files: readonly ReportFile[]): Promise<void> {
  try {
    await mkdir(dirname(folder), { recursive: true });
    await mkdir(folder, { mode: PRIVATE.folder });
    for (const { path, text } of files) {
      const target = join(folder, path);
      await mkdir(dirname(target), { recursive: true, mode: PRIVATE.folder });
      await writeFile(target, text, { mode: PRIVATE.file, flag: 'wx' });
    }
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST';
    const why = exists
      ? 'it exists already. Choose a new folder with --output-directory.'
      : sentence(fileProblem(error));
    throw new Failure(`Cannot write ${folder}: ${why}`);
  }
}

/** `kubectl windowspool report`. */
export const reportCommand: PluginCommand<ReportFlags> = {
  usage: 'report',
  group: 'Troubleshooting Commands',
  summary: 'Write what is needed to find a fault into a folder, without secrets.',
  details:
    'The folder has the pools, their nodes, events, RuntimeClasses, and the Deployment and the logs of the operator. What you may not read is left out.',
  examples: [
    ['Write a report into a new folder', 'kubectl windowspool report'],
    [
      'Pack a report for an issue',
      'kubectl windowspool report --output-directory=report && tar czf report.tar.gz report',
    ],
  ],
  options: [
    new Option(
      '--output-directory <folder>',
      'Folder to create. Default: windowspool-report- and the time, in the current folder.',
    ),
    operatorNamespaceOption(),
  ],
  run: async ({ connect, terminal, version }, _, flags) => report(await connect(), terminal, version, flags),
};
