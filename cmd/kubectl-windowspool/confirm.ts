/** The question before a change. */
import { EXIT, Failure } from './failure.ts';
import type { Terminal } from './terminal.ts';

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
