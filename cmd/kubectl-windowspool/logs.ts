/** `kubectl windowspool logs`: the logs of the operator, of all pools or of one. */
import { Option } from 'commander';
import { isForbidden } from '../../controllers/kubernetes/errors.ts';
import { KubernetesError, messageOf } from '../../controllers/kubernetes/kubernetesError.ts';
import { apiPath } from '../../controllers/kubernetes/paths.ts';
import { sentence } from '../../controllers/windowspool/util/words.ts';
import { duration, whole } from '../operator/flagValues.ts';
import type { Cluster } from './cluster.ts';
import type { PluginCommand } from './command.ts';
import { EXIT, Failure } from './failure.ts';
import { parsedBy } from './flags.ts';
import {
  leaderPodOf,
  namespaceOfOperator,
  OPERATOR_CONTAINER,
  type OperatorFlags,
  operatorLease,
  operatorNamespaceOption,
  operatorPods,
} from './operator.ts';
import type { Terminal } from './terminal.ts';

export interface LogsFlags extends OperatorFlags {
  readonly pool?: string;
  readonly allPods?: boolean;
  readonly follow?: boolean;
  readonly previous?: boolean;
  /** Milliseconds. */
  readonly since?: number;
  readonly tail?: number;
}

/** A longer line is printed in pieces. */
const LONGEST_LINE = 256 * 1024;
const MOST_LINES = 1_000_000;

/** Prints the logs of the leader, or of all replicas. With --follow, until the signal aborts or the pods end. */
async function logs(cluster: Cluster, terminal: Terminal, flags: LogsFlags): Promise<void> {
  const namespace = await namespaceOfOperator(cluster, flags);
  const [pods, lease] = await Promise.all([
    operatorPods(cluster, namespace),
    flags.allPods ? undefined : operatorLease(cluster, namespace),
  ]);
  const names = pods.flatMap(({ metadata }) => metadata?.name ?? []);
  if (names.length === 0)
    throw new Failure(`The operator has no pods in namespace ${namespace}. See: kubectl windowspool doctor`);
  const leader = names.filter((name) => name === leaderPodOf(lease));
  // Without a leader, the logs of the replicas say why.
  const chosen = leader.length > 0 ? leader : names;
  const missing = flags.follow ? await missingPool(cluster, flags.pool) : undefined;
  if (missing) terminal.printError(missing.message);
  let printed = 0;
  // Returns the error if the pod has no log: one that cannot start must not hide the others.
  const print = async (pod: string, which: LogsFlags): Promise<unknown> => {
    try {
      for await (const line of linesOf(logOf(cluster, namespace, pod, which))) {
        if (!isAbout(line, flags.pool)) continue;
        printed += 1;
        terminal.print(chosen.length > 1 ? `[pod/${pod}] ${line}` : line);
      }
    } catch (error) {
      if (!hasNoLog(error)) throw error;
      return error;
    }
    return undefined;
  };
  /** Prints the log, or else that of the container before the one that does not start. Returns whether there is one. */
  const runOf = (pod: string) => async (): Promise<boolean> => {
    const error = await print(pod, flags);
    if (!error) return true;
    if (!flags.previous && !(await print(pod, { ...flags, follow: false, previous: true }))) return true;
    terminal.printError(sentence(`Pod ${pod} has no log: ${messageOf(error)}`));
    return false;
  };
  const runs = chosen.map(runOf);
  const found: boolean[] = [];
  if (flags.follow) found.push(...(await Promise.all(runs.map((run) => run()))));
  else for (const run of runs) found.push(await run());
  if (!found.includes(true)) throw new Failure('No replica of the operator has a log. See: kubectl windowspool doctor');
  // A pool that was deleted still has lines.
  const unknown = printed === 0 && !flags.follow ? await missingPool(cluster, flags.pool) : undefined;
  if (unknown) throw unknown;
}

/** Whether the kubelet has no log of the container, which has never started or has no previous one. */
function hasNoLog(error: unknown): boolean {
  return error instanceof KubernetesError && error.status === 400;
}

/** Says that the pool does not exist; undefined if it does, or if the user may not list pools. */
async function missingPool(cluster: Cluster, pool: string | undefined): Promise<Failure | undefined> {
  try {
    if (pool !== undefined) await cluster.pool(pool);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** The log of one pod, as the API server sends it: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-read-log-of-the-specified-pod */
export function logOf(
  { client, signal }: Pick<Cluster, 'client' | 'signal'>,
  namespace: string,
  pod: string,
  { follow, previous, since, tail }: Omit<LogsFlags, 'pool'>,
): AsyncIterable<Uint8Array> {
  const query = {
    container: OPERATOR_CONTAINER,
    ...(follow && { follow }),
    ...(previous && { previous }),
    ...(since !== undefined && { sinceSeconds: Math.max(1, Math.ceil(since / 1_000)) }),
    ...(tail !== undefined && { tailLines: tail }),
  };
  return client.stream(`${apiPath('v1', 'pods', { namespace, name: pod })}/log`, { query, accept: '*/*', signal });
}

/** The lines of a stream of bytes. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > LONGEST_LINE) {
      yield rest;
      rest = '';
    }
  }
  if (rest !== '') yield rest;
}

/** Whether a line of the log is about the pool. The operator logs a JSON object a line; `key` is the object that it reconciles. */
export function isAbout(line: string, pool: string | undefined): boolean {
  if (pool === undefined) return true;
  // Most lines of other pools need not be parsed.
  if (!line.includes(`"${pool}"`)) return false;
  try {
    const entry: unknown = JSON.parse(line);
    return (
      typeof entry === 'object' && entry !== null && ['key', 'pool'].some((name) => Reflect.get(entry, name) === pool)
    );
  } catch {
    return false;
  }
}

/** `kubectl windowspool logs`. */
export const logsCommand: PluginCommand<LogsFlags> = {
  usage: 'logs',
  group: 'Troubleshooting Commands',
  summary: 'Print the logs of the operator, of all pools or of one.',
  details: 'By default, the logs of the replica that leads, or of all replicas if none leads.',
  examples: [
    ['Print the logs of the last hour about a pool', 'kubectl windowspool logs --pool=web --since=1h'],
    ['Follow the logs of the leader', 'kubectl windowspool logs --follow'],
    ['Print why a replica restarted', 'kubectl windowspool logs --all-pods --previous --tail=20'],
  ],
  options: [
    new Option('--pool <pool>', 'Only lines about this pool.'),
    new Option('--all-pods', 'The logs of all replicas. Each line starts with the name of its pod.'),
    new Option('-f, --follow', 'Follow the logs until you press Ctrl-C.'),
    new Option('--since <duration>', 'Only lines that are newer than a duration, such as 5s, 2m or 3h.').argParser(
      parsedBy(duration),
    ),
    new Option('--tail <lines>', 'Only the last lines of each replica, before --pool selects. Default: all.').argParser(
      parsedBy(whole(0, MOST_LINES)),
    ),
    new Option('-p, --previous', 'The logs of the previous container of each pod, for example after a restart.'),
    operatorNamespaceOption(),
  ],
  check: (_, { follow, previous }) => {
    if (follow && previous) throw new Failure('--follow and --previous exclude each other.', EXIT.usage);
  },
  run: async ({ connect, terminal }, _, flags) => logs(await connect(), terminal, flags),
};
