/** What precedes a change: the check of the API server, what it would do, and the question. */
import type { Cluster } from './cluster.ts';
import { EXIT, Failure } from './failure.ts';
import type { DryRun } from './flags.ts';
import type { Terminal } from './terminal.ts';

/** A change of one object. */
export interface Change {
  readonly path: string;
  /** A merge patch. */
  readonly patch: object;
  /** What it does, for the user. */
  readonly lines: readonly string[];
  readonly question: string;
}

/** The flags of commands that change something. */
export interface ChangeFlags {
  readonly yes?: boolean;
  readonly dryRun?: DryRun;
}

/** Lets the API server check the change, shows it, asks, and makes it. Returns false after a dry run. */
export async function makeChange(
  cluster: Cluster,
  terminal: Terminal,
  { path, patch, lines, question }: Change,
  { yes, dryRun = 'none' }: ChangeFlags,
): Promise<boolean> {
  if (dryRun !== 'client') await cluster.patch(path, patch, true);
  terminal.print(lines.join('\n'));
  if (dryRun !== 'none') {
    terminal.print(DRY_RUN_ENDS[dryRun]);
    return false;
  }
  await confirm(terminal, `\n${question}`, yes, cluster.signal);
  await cluster.patch(path, patch, false);
  return true;
}

/** The last line of a dry run. */
export const DRY_RUN_ENDS = {
  client: '\nNothing was changed (dry run).',
  server: '\nThe API server accepts the change. Nothing was changed (server dry run).',
} as const;

/** Resolves if the user agrees, or has agreed with --yes. Otherwise, throws a Failure. */
export async function confirm(
  terminal: Terminal,
  question: string,
  isAgreed: boolean | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (isAgreed) return;
  if (!terminal.isInteractive)
    throw new Failure(
      'Nothing was changed: there is no terminal to confirm at. To confirm in advance, add --yes.',
      EXIT.canceled,
    );
  const answer = await terminal.ask(`${question} [y/N] `, signal);
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('Canceled. Nothing was changed.', EXIT.canceled);
}
