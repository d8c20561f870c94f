/** Checks a command line of the AWS CLI against the service models, without running it. */
import { type Departure, memberDepartures } from '../../test/fakes/sdkModel/departures.ts';
import type { Word } from './commands.ts';
import { type CliCommand, commandOf } from './services.ts';
import { readValue } from './values.ts';

/** The flags of every command that are used, with one value each: https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-options.html */
const GLOBAL = ['output', 'query', 'region'];
const OUTPUTS = ['json', 'text', 'table', 'yaml', 'yaml-stream', 'off'];

/** A flag as written, with the words after it. */
interface Given {
  readonly name: string;
  readonly words: Word[];
}

/** The errors in the words after `aws`; empty if there are none. */
export function problemsOf(words: readonly Word[]): string[] {
  const { plain, given } = split(words);
  const [service = '', name = '', ...surplus] = plain;
  const command = commandOf(service, name);
  if (command === undefined) return [`aws ${service} ${name}: unknown command`];
  // A page may name a command in a sentence.
  if (words.length === 2) return [];
  const missing = command.flags.filter(
    ({ required, names }) => required && !given.some((flag) => names.includes(flag.name)),
  );
  return [
    ...surplus.map((word) => `'${word}' is no flag and belongs to none`),
    ...given.flatMap((flag) => flagProblems(command, flag)),
    ...missing.map(({ names }) => `--${names.join(' or --')} is required`),
  ].map((problem) => `aws ${service} ${name}: ${problem}`);
}

/** The words before the first flag, and the flags. A flag of every command has one value, any other has all words up to the next flag. */
function split(words: readonly Word[]): { plain: string[]; given: Given[] } {
  const plain: string[] = [];
  const given: Given[] = [];
  for (const word of words) {
    const last = given.at(-1);
    if (word.text.startsWith('--')) given.push({ name: word.text.slice('--'.length), words: [] });
    else if (last === undefined || (GLOBAL.includes(last.name) && last.words.length === 1)) plain.push(word.text);
    else last.words.push(word);
  }
  return { plain, given };
}

function flagProblems(command: CliCommand, { name, words }: Given): string[] {
  if (GLOBAL.includes(name)) return globalProblems(command, name, words);
  const flag = command.flags.find(({ names }) => names.includes(name));
  if (flag === undefined) return [`unknown flag --${name}`];
  if (flag.member === undefined || words.some(({ expanded, text }) => expanded || text.startsWith('file://')))
    return [];
  try {
    const texts = words.map(({ text }) => text);
    const value = readValue(flag.member.shape(), texts);
    return memberDepartures(command.enums, command.structure, flag.member, value, '').map(
      (departure) => `--${name}${inWords(departure)}`,
    );
  } catch (error) {
    return [`--${name} ${error instanceof Error ? error.message : error}`];
  }
}

function globalProblems(command: CliCommand, name: string, [value]: readonly Word[]): string[] {
  if (value === undefined) return [`--${name} has no value`];
  if (value.expanded) return [];
  if (name === 'output' && !OUTPUTS.includes(value.text))
    return [`--output is ${value.text}, not ${OUTPUTS.join(', ')}`];
  return name === 'query' ? queryProblems(command, value.text) : [];
}

/** The path at the start of a JMESPath expression, such as `cluster.identity.oidc.issuer` or `Subnets[].SubnetId`, must exist. */
function queryProblems({ output }: CliCommand, query: string): string[] {
  let shape = output;
  const [path = ''] = /^\w+(\[\])?(\.\w+(\[\])?)*/.exec(query) ?? [];
  for (const step of path.split('.')) {
    if (shape?.kind !== 'structure') return [];
    const name = step.replace('[]', '');
    const member = shape.members.get(name)?.shape();
    if (member === undefined)
      return [`--query has the unknown member ${name}, not ${[...shape.members.keys()].join(', ')}`];
    shape = member.kind === 'list' && step !== name ? member.element.shape() : member;
  }
  return [];
}

function inWords(departure: Departure): string {
  const at = departure.path === '' ? '' : ` at ${departure.path.replace(/^\./, '')}`;
  switch (departure.kind) {
    case 'unknown':
      return `${at} is no member of ${departure.allowed.join(', ')}`;
    case 'missing':
      return `${at} is required`;
    case 'type':
      return `${at} is ${departure.found}; ${departure.expected} is expected`;
    case 'enum':
      return `${at} is ${departure.value}, not ${departure.allowed.join(', ')}`;
  }
}
