/** The command line of the plugin. */
import { Command, CommanderError } from 'commander';
import { apiPath } from '../../controllers/kubernetes/paths.ts';
import { type Cluster, type ClusterFlags, connectTo, kubeconfigOf } from './cluster.ts';
import type { CommandContext, PluginCommand, Surroundings } from './command.ts';
import { completionCommand, completions, type Names } from './completion.ts';
import { diagnoseCommand } from './diagnose.ts';
import { doctorCommand } from './doctor.ts';
import { EXIT, explain, Failure } from './failure.ts';
import { globalOptions } from './flags.ts';
import { commandHelp, globalHelp, pluginHelp } from './help.ts';
import { asCommanderArguments } from './kubectlArguments.ts';
import { lintCommand } from './lint.ts';
import { logsCommand } from './logs.ts';
import { migrateCommand } from './migrate/migrate.ts';
import { nodeCommands } from './nodeOperation.ts';
import { nodesCommand } from './nodes.ts';
import { planCommand } from './plan.ts';
import { poolCommands } from './poolOperation.ts';
import { reportCommand } from './report.ts';
import { sizeCommand } from './size.ts';
import { statusCommand } from './status.ts';
import { updateCommand } from './update.ts';
import { versionCommand } from './version.ts';

const DESCRIPTION = `Shows and operates pools of Windows nodes (WindowsPools), with the permissions of your kubeconfig.

Exit codes: 0 success, 1 the command or a check failed, 2 invalid usage, 3 you did not confirm, 130 interrupted.`;

/** All commands, in the order of the help. */
export const COMMANDS: readonly PluginCommand[] = [
  statusCommand,
  nodesCommand,
  planCommand,
  updateCommand,
  ...nodeCommands,
  ...poolCommands,
  doctorCommand,
  diagnoseCommand,
  logsCommand,
  reportCommand,
  migrateCommand,
  lintCommand,
  sizeCommand,
  versionCommand,
  completionCommand,
];

/** The hidden command of kubectl_complete-windowspool. */
const COMPLETE = '__complete';
/** Nobody waits longer for a completion. */
const COMPLETION_TIMEOUT_MS = 3_000;

/** Runs the command of the arguments. Prints errors, and returns the exit code. */
export async function runPlugin(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { terminal, signal } = surroundings;
  try {
    if (args[0] === COMPLETE) await complete(args.slice(1), surroundings);
    else await parse(createProgram(surroundings), args.length === 0 ? ['--help'] : args);
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

/** Runs the command of the arguments, in the syntax of kubectl. Throws a CommanderError, which is printed, or the error of the command. */
export async function parse(program: Command, args: readonly string[]): Promise<void> {
  const options = [program, ...program.commands].flatMap((command) => command.options);
  await program.parseAsync(asCommanderArguments(args, options), { from: 'user' });
}

/** Prints the completions of a command line. Names are those of the cluster that its flags select. */
async function complete(words: readonly string[], surroundings: Surroundings): Promise<void> {
  const { terminal, version, signal } = surroundings;
  const program = createProgram(surroundings);
  const names: Names = async (kind) => {
    program.parseOptions(asCommanderArguments(words, program.options));
    const flags = { ...program.opts<ClusterFlags>(), requestTimeout: COMPLETION_TIMEOUT_MS };
    if (kind === 'context' || kind === 'cluster' || kind === 'user') return (await namesIn(kubeconfigOf(flags)))[kind];
    const cluster = await connectTo(flags, version, signal);
    try {
      if (kind === 'namespace') return await cluster.namesOf(apiPath('v1', 'namespaces'));
      if (kind === 'node') return (await cluster.nodes()).map(({ name }) => name);
      return (await cluster.pools()).map(({ metadata }) => metadata.name);
    } finally {
      cluster.close();
    }
  };
  terminal.print((await completions(program, words, names)).join('\n'));
}

/** What a kubeconfig lists. */
async function namesIn(kubeconfig: string) {
  // Takes 33 MB of memory.
  const { kubeconfigNames } = await import('../../controllers/kubernetes/kubeconfigCredentials.ts');
  return kubeconfigNames(kubeconfig);
}

/** Runs a command of the plugin with its arguments and flags. */
type Execute = (command: PluginCommand, args: readonly string[], flags: ClusterFlags) => Promise<void>;

/** The commands with their flags. `execute`: what is done when a command line is valid. */
export function createProgram(surroundings: Surroundings, execute: Execute = executor(surroundings)): Command {
  const { terminal, version } = surroundings;
  const help = (command: Command) => {
    const own = COMMANDS.find(({ usage }) => usage.split(' ')[0] === command.name());
    return own ? commandHelp(command, own, terminal.columns) : pluginHelp(DESCRIPTION, COMMANDS, terminal.columns);
  };
  const program = new Command('kubectl windowspool')
    .version(version, '--version', 'Print the version.')
    .helpOption('-h, --help', 'Print this help.')
    .helpCommand('help [command]', 'Print help.')
    .configureHelp({ formatHelp: help })
    .showHelpAfterError("See 'kubectl windowspool --help' for usage.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.printError(text.trimEnd()),
      outputError: (text, write) => write(oneSentence(text)),
    });
  for (const option of globalOptions()) program.addOption(option);
  for (const command of COMMANDS) {
    const added = program.command(command.usage).description(command.summary);
    added.showHelpAfterError(`See 'kubectl windowspool ${added.name()} --help' for usage.`);
    for (const option of command.options ?? []) added.addOption(option);
    added.action((...given: readonly unknown[]) => {
      const self = given.at(-1) as Command;
      const args = self.args.map((typed, index) => nameIn(self.registeredArguments[index]?.name() ?? '', typed));
      const flags = self.optsWithGlobals<ClusterFlags>();
      command.check?.(args, flags);
      return execute(command, args, flags);
    });
  }
  program
    .command('options', { hidden: true })
    .description('Print the flags of all commands.')
    .action(() => terminal.print(globalHelp(program.options, terminal.columns)));
  return program;
}

/** Runs commands, and closes their connections. */
function executor({ terminal, version, signal }: Surroundings): Execute {
  return async (command, args, flags) => {
    const opened: Cluster[] = [];
    const connect: CommandContext['connect'] = async () => {
      const cluster = await connectTo(flags, version, signal, (text) => terminal.printError(text));
      opened.push(cluster);
      return cluster;
    };
    try {
      await command.run({ terminal, version, signal, connect }, args, flags);
    } finally {
      for (const cluster of opened) cluster.close();
    }
  };
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

/** `error: unknown command 'stauts'\n(Did you mean status?)` as one line. */
function oneSentence(text: string): string {
  return `${text.trim().replace(/\s*\n\s*/g, ' ')}\n`;
}
