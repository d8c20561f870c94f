/** The command line of the plugin. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { duration } from '../operator/flagValues.ts';
import { type Cluster, type ClusterFlags, connectTo } from './cluster.ts';
import { COMPLETION_NAME, COMPLETION_SCRIPT, completions, type Names } from './completion.ts';
import { type DiagnoseFlags, diagnose } from './diagnose.ts';
import { type DoctorFlags, doctor } from './doctor.ts';
import { EXIT, explain, Failure } from './failure.ts';
import { checkLintArguments, type LintFlags, lint } from './lint.ts';
import { type MigrateFlags, migrate } from './migrate/migrate.ts';
import { operate, type UserOperation } from './nodeOperation.ts';
import { nodes } from './nodes.ts';
import { OUTPUT_FORMATS, type OutputFormat } from './output.ts';
import { checkPlanArguments, type PlanFlags, plan } from './plan.ts';
import { operatePool, type PoolOperation } from './poolOperation.ts';
import { type StatusFlags, status } from './status.ts';
import type { Terminal } from './terminal.ts';

const DESCRIPTION = `Shows and operates pools of Windows nodes (WindowsPools), with the permissions of your kubeconfig.

Exit codes: 0 success, 1 the command or a check failed, 2 invalid usage, 3 you did not confirm, 130 interrupted.`;

/** The hidden command of kubectl_complete-windowspool. */
const COMPLETE = '__complete';
/** Nobody waits longer for a completion. */
const COMPLETION_TIMEOUT_MS = 3_000;
const LONGEST_TIMEOUT_MS = 24 * 3_600_000;

/** What a command needs from its surroundings. */
export interface Surroundings {
  readonly terminal: Terminal;
  readonly version: string;
  readonly signal: AbortSignal;
}

/** Runs the command of the arguments. Prints errors, and returns the exit code. */
export async function runPlugin(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { terminal, signal } = surroundings;
  try {
    if (args[0] === COMPLETE) await complete(args.slice(1), surroundings);
    else await createProgram(surroundings).parseAsync(args.length === 0 ? ['--help'] : [...args], { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (signal.aborted) return EXIT.interrupted;
    // Commander has printed its errors, and the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const text = explain(error);
    if (text !== '') terminal.printError(text);
    return error instanceof Failure ? error.code : EXIT.failed;
  }
}

/** Prints the completions of a command line. Names are those of the cluster that its flags select. */
async function complete(words: readonly string[], surroundings: Surroundings): Promise<void> {
  const { terminal, version, signal } = surroundings;
  const program = createProgram(surroundings);
  const names: Names = async (kind) => {
    program.parseOptions([...words.slice(0, -1)]);
    const flags = { ...program.opts<ClusterFlags>(), requestTimeout: COMPLETION_TIMEOUT_MS };
    const cluster = await connectTo(flags, version, signal);
    try {
      if (kind === 'node') return (await cluster.nodes()).map(({ name }) => name);
      return (await cluster.pools()).map(({ metadata }) => metadata.name);
    } finally {
      cluster.close();
    }
  };
  terminal.print((await completions(program, words, names)).join('\n'));
}

/** The commands with their flags. */
export function createProgram({ terminal, version, signal }: Surroundings): Command {
  const program = new Command('kubectl windowspool')
    .description(DESCRIPTION)
    .version(version, '--version', 'Print the version.')
    .helpOption('-h, --help', 'Print this help.')
    .helpCommand('help [command]', 'Print help.')
    .addOption(new Option('--kubeconfig <file>', 'Path to a kubeconfig file. Default: the same as kubectl.'))
    .addOption(new Option('--context <name>', 'Context of the kubeconfig. Default: its current context.'))
    .addOption(
      new Option('--request-timeout <duration>', 'Timeout of each request, such as 500ms, 20s or 1m.')
        .argParser(parsed(timeout))
        .default(15_000, '15s'),
    )
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError("See 'kubectl windowspool --help' for usage.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.printError(text.trimEnd()),
      outputError: (text, write) => write(oneSentence(text)),
    });
  /** A command; `run` gets a connection to the cluster. */
  const command = <Flags extends object>(
    name: string,
    description: string,
    run: (cluster: Cluster, argument: string | undefined, flags: Flags, second?: string) => Promise<void>,
  ): Command =>
    subcommand(program, name)
      .description(description)
      .action(async (...given: readonly unknown[]) => {
        const self = given.at(-1) as Command;
        const [argument, second] = self.args.map((typed, index) =>
          nameIn(self.registeredArguments[index]?.name() ?? '', typed),
        );
        const flags = self.optsWithGlobals<Flags & ClusterFlags>();
        const cluster = await connectTo(flags, version, signal, (text) => terminal.printError(`Warning: ${text}`));
        try {
          await run(cluster, argument, flags, second);
        } finally {
          cluster.close();
        }
      });
  command<StatusFlags>(
    'status [pool]',
    'Show a pool on one screen: what is wrong, and what to do. Without a name: all pools.',
    (cluster, pool, flags) => status(cluster, terminal, pool, flags),
  )
    .addOption(outputOption())
    .option('-w, --watch', 'Follow the changes until you press Ctrl-C.');
  command<{ output?: OutputFormat }>(
    'nodes [pool]',
    'List the nodes of a pool, or all Windows nodes.',
    (cluster, pool, { output }) => nodes(cluster, terminal, pool, output),
  ).addOption(outputOption());
  command<PlanFlags>(
    'plan [pool]',
    'Show the changes that are due for a pool, or what a manifest would change.',
    (cluster, pool, flags) => plan(cluster, terminal, pool, flags, version),
  )
    .hook('preAction', (self) => checkPlanArguments(self.args[0], self.opts<PlanFlags>()))
    .option('-f, --filename <file>', 'Manifest of WindowsPools; - reads the standard input. Nothing is changed.')
    .option(
      '--cluster-name <name>',
      'Name of the EKS cluster, to show what would be requested from AWS. Default: the cluster of another pool.',
    )
    .option('--region <name>', 'AWS Region of the EKS cluster. Default: AWS_REGION, or the Region of another pool.')
    .addOption(outputOption());
  for (const operation of ['Replace', 'Remove'] as const)
    command<{ yes?: boolean }>(
      `${operation.toLowerCase()} <node>`,
      NODE_OPERATIONS[operation],
      (cluster, node = '', flags) => operate(cluster, terminal, operation, node, flags),
    ).addOption(yesOption());
  for (const [operation, description] of Object.entries(POOL_OPERATIONS))
    command<{ yes?: boolean }>(`${operation} <pool>`, description, (cluster, pool = '', flags) =>
      operatePool(cluster, terminal, operation as PoolOperation, pool, flags),
    ).addOption(yesOption());
  command<DoctorFlags>(
    'doctor',
    'Check what the operator and its pools require, and show the command that fixes it.',
    (cluster, _, flags) => doctor(cluster, terminal, flags, version),
  )
    .option('--operator-namespace <name>', 'Namespace of the operator.', 'winpool-system')
    .option('--cluster-name <name>', 'Name of the EKS cluster. Default: the name in the status of a pool.')
    .option(
      '--region <name>',
      'AWS Region of the EKS cluster. Default: AWS_REGION, or the Region in the status of a pool.',
    )
    .addOption(outputOption());
  command<DiagnoseFlags>('diagnose <pod>', 'Show why a pod does not run on Windows.', (cluster, pod = '', flags) =>
    diagnose(cluster, terminal, pod, flags),
  )
    .option('-n, --namespace <name>', 'Namespace of the pod. Default: the namespace of the context.')
    .addOption(outputOption());
  command<MigrateFlags>(
    'migrate <from> <to>',
    'Show which workloads still use a pool, and what each must change to run in another.',
    (cluster, from = '', flags, to = '') => migrate(cluster, terminal, [from, to], flags),
  )
    .option('--drain', 'Cordon the nodes of the old pool, and evict their pods. Asks for confirmation.')
    .option(
      '--allow-pending',
      'With --drain: drain even if workloads cannot run in the new pool, so that their pods stay Pending.',
    )
    .addOption(yesOption())
    .addOption(outputOption());
  subcommand(program, 'lint [files...]')
    .description('Find workloads that cannot run on Windows, in manifests or in the cluster.')
    .option('--live', 'Check what runs in the cluster.')
    .option('-n, --namespace <name>', 'With --live: the namespace to check. Default: all namespaces.')
    .addOption(outputOption())
    .action(async (files: readonly string[], _: LintFlags, given: Command) => {
      const flags = given.optsWithGlobals<LintFlags & ClusterFlags>();
      checkLintArguments(files, flags);
      const opened: Cluster[] = [];
      const connect = async (): Promise<Cluster> => {
        const cluster = await connectTo(flags, version, signal);
        opened.push(cluster);
        return cluster;
      };
      try {
        await lint(connect, terminal, files, flags);
      } finally {
        for (const cluster of opened) cluster.close();
      }
    });
  subcommand(program, 'completion')
    .description(`Print the script ${COMPLETION_NAME}, with which kubectl completes commands, flags, pools and nodes.`)
    .action(() => terminal.print(COMPLETION_SCRIPT.trimEnd()));
  return program;
}

function subcommand(program: Command, nameAndArguments: string): Command {
  const command = program.command(nameAndArguments);
  return command.showHelpAfterError(`See 'kubectl windowspool ${command.name()} --help' for usage.`);
}

/** The names of the kinds of arguments, which kubectl prints and accepts before the name of an object. */
const POOL_PREFIX = /^(?:windowspools?(?:\.winpool\.dev)?|wp)\//;
const KINDS: Readonly<Record<string, RegExp>> = {
  pool: POOL_PREFIX,
  from: POOL_PREFIX,
  to: POOL_PREFIX,
  node: /^(?:nodes?|no)\//,
  pod: /^(?:pods?|po)\//,
};

/** `web` of `windowspool.winpool.dev/web`, as `kubectl get --output=name` prints it. */
export function nameIn(kind: string, typed: string): string {
  const prefix = KINDS[kind];
  return prefix ? typed.replace(prefix, '') : typed;
}

const NODE_OPERATIONS: Readonly<Record<UserOperation, string>> = {
  Replace: 'Drain a node and terminate its instance, so that the node group starts another. Asks for confirmation.',
  Remove: 'Drain a node and terminate its instance, and shrink the node group by one. Asks for confirmation.',
};

const POOL_OPERATIONS: Readonly<Record<PoolOperation, string>> = {
  retry: 'Retry what failed in a pool. Asks for confirmation.',
  pause: 'Stop all changes to a pool. Asks for confirmation.',
  resume: 'Resume a paused pool. Asks for confirmation.',
};

function yesOption(): Option {
  return new Option('-y, --yes', 'Do not ask for confirmation.');
}

function outputOption(): Option {
  return new Option('-o, --output <format>', 'Output format.').choices(OUTPUT_FORMATS);
}

/** Timers of Node.js end at once if they are longer than 24 days. */
function timeout(value: string): number {
  const ms = duration(value);
  if (ms > LONGEST_TIMEOUT_MS) throw new Error('must be at most 24h');
  return ms;
}

function parsed<T>(read: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return read(text);
    } catch (error) {
      throw new InvalidArgumentError(`It ${(error as Error).message}.`);
    }
  };
}

/** `error: unknown command 'stauts'\n(Did you mean status?)` as one line. */
function oneSentence(text: string): string {
  return `${text.trim().replace(/\s*\n\s*/g, ' ')}\n`;
}
