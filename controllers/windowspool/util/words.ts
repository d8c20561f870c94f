/** Text formatting for messages. */

/** (1, `node`) -> `1 node`, (2, `node`) -> `2 nodes`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** `a, b and c`; with more than `most` names: `a, b, c and 4 more`. */
export function joined(names: readonly string[], most = 5): string {
  if (names.length > most) return `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** The items without those that do not apply, which are undefined, false or empty. */
export function compact<T>(items: readonly (T | undefined | false | '')[]): T[] {
  return items.filter((item): item is T => Boolean(item));
}

/** The text as one word of a command for a POSIX shell: its text may come from another user than the reader of the message. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The text with exactly one full stop at its end. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  // Not by a regular expression: it takes quadratic time for a text of dots that does not end with one.
  let end = trimmed.length;
  while (end > 0 && '.!'.includes(trimmed.charAt(end - 1))) end--;
  return `${trimmed.slice(0, end)}.`;
}

/** `DescribeNodegroup failed: not authorized.` */
export function describeFailure({
  operation,
  message,
}: {
  readonly operation: string;
  readonly message: string;
}): string {
  return sentence(`${operation} failed: ${message}`);
}

/** `The node cannot be read: connection refused.` */
export function describeUnread(what: string, { message }: { readonly message: string }): string {
  return sentence(`${what} cannot be read: ${message}`);
}

/** The time of day in UTC of epoch milliseconds, for times that are near: `02:31Z`. */
export function clockTime(epoch: number): string {
  return `${new Date(epoch).toISOString().slice(11, 16)}Z`;
}

/** Milliseconds in whole minutes if possible, else in seconds: `15 minutes`, `90 seconds`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return seconds >= 60 && seconds % 60 === 0 ? count(seconds / 60, 'minute') : count(seconds, 'second');
}

/** The text, truncated to `length` characters with an ellipsis as the last. */
export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** The verbs whose past tense is not made by adding -ed or -d. */
const IRREGULAR: Readonly<Record<string, string>> = {
  apply: 'applied',
  give: 'gave',
  keep: 'kept',
  label: 'labeled',
  run: 'ran',
  set: 'set',
};

/** A description whose first word is a verb in the imperative, in the past tense: `create node group web` -> `created node group web`. A sentence stays as it is. */
export function inThePast(description: string): string {
  return description.replace(/^[a-z]+/, (verb) => IRREGULAR[verb] ?? `${verb}${verb.endsWith('e') ? 'd' : 'ed'}`);
}

/** A sentence whose first word is no name, after other words. */
export function uncapitalized(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** The text with an upper-case letter at its start. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
