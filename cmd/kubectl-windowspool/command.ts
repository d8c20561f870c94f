/** What the file of each command exports, so that program.ts only lists the commands. */
import type { Option } from 'commander';
import type { Cluster, ClusterFlags } from './cluster.ts';
import type { Terminal } from './terminal.ts';

/** The titles under which the help lists the commands, in their order. */
export const GROUPS = [
  'Pool and Node Commands',
  'Troubleshooting Commands',
  'Workload Commands',
  'Other Commands',
] as const;

/** What a command needs from its surroundings. */
export interface Surroundings {
  readonly terminal: Terminal;
  readonly version: string;
  readonly signal: AbortSignal;
}

/** The surroundings of a command that runs. */
export interface CommandContext extends Surroundings {
  /** Connects with the global flags. The connection is closed when the command ends. */
  connect(): Promise<Cluster>;
}

/** A command, with its help. `Flags`: the values of its options. */
export interface PluginCommand<Flags extends object = object> {
  /** Its name and its arguments: `status [pool]`. Arguments that are called pool, from, to or node are completed. */
  readonly usage: string;
  readonly group: (typeof GROUPS)[number];
  /** One sentence, for the list of commands. */
  readonly summary: string;
  /** More sentences, for its own help. */
  readonly details?: string;
  /** What each does, and the command line. */
  readonly examples: readonly (readonly [what: string, commandLine: string])[];
  readonly options?: readonly Option[];
  /** Throws a Failure if the arguments exclude each other. */
  check?(args: readonly string[], flags: Flags): void;
  run(context: CommandContext, args: readonly string[], flags: Flags & ClusterFlags): void | Promise<void>;
}
