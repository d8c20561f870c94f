/** Finds known errors in messages. Pure. */
import { cut } from '../util/words.ts';
import { KNOWN_ERRORS } from './catalogue.ts';
import { KNOWN_EXIT_CODES, type KnownExitCode } from './exitCodes.ts';
import type { KnownError } from './knownError.ts';

/** Messages are foreign: longer ones are cut before they are matched. */
const LONGEST = 4_096;

/** A known error, and the message that shows it. */
export interface Explained {
  readonly error: KnownError;
  readonly message: string;
}

/** The error that a message shows; undefined if it is not known. */
export function knownErrorIn(message: string): KnownError | undefined {
  const text = cut(message, LONGEST);
  return KNOWN_ERRORS.find(({ pattern, within }) => pattern.test(text) && within?.pattern.test(text) !== false);
}

/**
 * The known errors in messages, each once, in the order of the messages: give those that are closest to the cause first. Generic ones are left out if another one is
 * found.
 */
export function explain(messages: readonly string[]): readonly Explained[] {
  const found = new Map<string, Explained>();
  for (const message of messages) {
    const error = knownErrorIn(message);
    if (error && !found.has(error.name)) found.set(error.name, { error, message });
  }
  const specific = [...found.values()].filter(({ error }) => error.isGeneric !== true);
  return specific.length > 0 ? specific : [...found.values()];
}

/** The meaning of an exit code, which may be negative; undefined for a code of the program. */
export function knownExitCode(code: number): KnownExitCode | undefined {
  return KNOWN_EXIT_CODES.find((known) => known.code === code >>> 0);
}

/** `Possible cause: ` where a message has several. */
export function causeOf({ cause, isPossible }: KnownError): string {
  return isPossible ? `Possible cause: ${cause.charAt(0).toLowerCase()}${cause.slice(1)}` : cause;
}

/** The known error in a message that explains more than any other could; undefined if there is none. */
export function specificErrorIn(message: string): KnownError | undefined {
  const error = knownErrorIn(message);
  return error?.isGeneric ? undefined : error;
}

/** A foreign message with what is known of it, as the part of a sentence: `CAUSE REMEDY (MESSAGE)`. */
export function withCause(message: string): string {
  return withCauseOf(specificErrorIn(message), message);
}

/** The same, if the error in the message was already sought; undefined: there is none. */
export function withCauseOf(error: KnownError | undefined, message: string): string {
  return error ? `${causeOf(error)} ${error.remedy} (${message.replace(/\.$/, '')})` : message;
}
