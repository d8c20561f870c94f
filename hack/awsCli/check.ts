/** Checks a command line of the AWS CLI against the service models, without running it. */
import { type Departure, memberDepartures } from '../../test/fakes/sdkModel/departures.ts';
import type { Shape } from '../../test/fakes/sdkModel/schema.ts';
import { nearest } from './nearest.ts';
import { type CliCommand, type CliService, type Flag, SERVICES, serviceOf } from './services.ts';
import type { Word } from './shell.ts';
import { isTopLevelBoolean, readValue } from './values.ts';

/** Flags of every command: https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-options.html. True for those with a value. */
const GLOBAL: Readonly<Record<string, boolean>> = {
  'ca-bundle': true,
  'cli-auto-prompt': false,
  'cli-binary-format': true,
  'cli-connect-timeout': true,
  'cli-input-json': true,
  'cli-input-yaml': true,
  'cli-read-timeout': true,
  color: true,
  debug: false,
  'endpoint-url': true,
  'generate-cli-skeleton': true,
  'no-cli-auto-prompt': false,
  'no-cli-pager': false,
  'no-paginate': false,
  'no-sign-request': false,
  'no-verify-ssl': false,
  output: true,
  profile: true,
  query: true,
  region: true,
};
const OUTPUTS = ['json', 'text', 'table', 'yaml', 'yaml-stream', 'off'];

/** A flag as written, with the words after it. */
interface Given {
  readonly name: string;
  readonly words: readonly Word[];
}

/** The errors in the words of an `aws` command, each with the nearest valid word; empty if there are none. */
export function problemsOf(words: readonly Word[]): string[] {
  const { plain, given } = split(words.slice(1));
  const [serviceName = '', ...rest] = plain;
  const service = serviceOf(serviceName);
  if (service === undefined) return [unknown('service', serviceName, SERVICES)];
  const name = rest.slice(0, rest[0] === 'wait' ? 2 : 1).join(' ');
  const command = service.commands.get(name);
  if (command === undefined) return [unknown(`command of ${serviceName}`, name, [...service.commands.keys()])];
  const surplus = rest.slice(name.split(' ').length);
  // A page may name a command in a sentence.
  if (given.length === 0 && surplus.length === 0 && words.length <= 3) return [];
  return [
    ...surplus.map((word) => `'${word}' is no flag and belongs to none`),
    ...given.flatMap((flag) => flagProblems(service, command, flag)),
    ...missingFlags(command, given),
  ].map((problem) => `aws ${serviceName} ${name}: ${problem}`);
}

function split(words: readonly Word[]): { plain: string[]; given: Given[] } {
  const plain: string[] = [];
  const given: { name: string; words: Word[]; open: boolean }[] = [];
  for (const word of words) {
    const [, name, value] = /^--([a-z0-9-]+)(?:=([\s\S]*))?$/i.exec(word.text) ?? [];
    const last = given.at(-1);
    if (name !== undefined)
      given.push({
        name,
        words: value === undefined ? [] : [{ ...word, text: value }],
        open: value === undefined && GLOBAL[name] !== false,
      });
    else if (last?.open) {
      last.words.push(word);
      if (GLOBAL[last.name]) last.open = false;
    } else plain.push(word.text);
  }
  return { plain, given };
}

function flagProblems(service: CliService, command: CliCommand, { name, words }: Given): string[] {
  if (GLOBAL[name] !== undefined) return globalProblems(command, name, words);
  const flag = command.flags.find((each) => namesOf(each).includes(name));
  if (flag === undefined) {
    const names = [...command.flags.flatMap(namesOf), ...Object.keys(GLOBAL)];
    return [
      unknown(
        'flag',
        `--${name}`,
        names.map((each) => `--${each}`),
      ),
    ];
  }
  if (flag.member === undefined) return [];
  const read = readValue(flag.member, words);
  if (read === undefined) return [];
  if ('problem' in read) return [`--${name} ${read.problem}`];
  return memberDepartures(service.enums, command.structure, flag.member, read.value, '').map(
    (departure) => `--${name}${inWords(departure)}`,
  );
}

/** A boolean has two flags. */
function namesOf({ name, member }: Flag): string[] {
  const shape = member?.shape();
  return shape && (shape.kind === 'boolean' || isTopLevelBoolean(shape)) ? [name, `no-${name}`] : [name];
}

function globalProblems(command: CliCommand, name: string, words: readonly Word[]): string[] {
  const [value] = words;
  if (GLOBAL[name] && value === undefined) return [`--${name} has no value`];
  if (value === undefined || value.expanded) return [];
  if (name === 'output' && !OUTPUTS.includes(value.text)) return [unknown('value of --output', value.text, OUTPUTS)];
  return name === 'query' ? queryProblems(command, value.text) : [];
}

/** The path at the start of a JMESPath expression, such as `cluster.identity.oidc.issuer` or `Subnets[].SubnetId`, must exist. */
function queryProblems({ output }: CliCommand, query: string): string[] {
  let shape = output;
  const [path = ''] = /^\w+(\[\]|\[\*\]|\[\d+\])?(\.\w+(\[\]|\[\*\]|\[\d+\])?)*/.exec(query) ?? [];
  for (const step of path === '' ? [] : path.split('.')) {
    const name = step.replace(/\[.*$/, '');
    if (shape?.kind !== 'structure') return [];
    const member = shape.members.get(name);
    if (member === undefined) return [unknown('member in --query', name, [...shape.members.keys()])];
    shape = elementOf(member.shape(), step !== name);
  }
  return [];
}

const elementOf = (shape: Shape, listed: boolean): Shape =>
  listed && shape.kind === 'list' ? shape.element.shape() : shape;

function missingFlags(command: CliCommand, given: readonly Given[]): string[] {
  if (given.some(({ name }) => name.startsWith('cli-input') || name === 'generate-cli-skeleton')) return [];
  return command.flags
    .filter((flag) => flag.required && !given.some(({ name }) => namesOf(flag).includes(name)))
    .map((flag) => `--${namesOf(flag).join(' or --')} is required`);
}

function inWords(departure: Departure): string {
  const at = departure.path === '' ? '' : ` at ${departure.path.replace(/^\./, '')}`;
  switch (departure.kind) {
    case 'unknown':
      return `${at} is no member; did you mean ${nearest(departure.path.replace(/^.*\./, ''), departure.allowed)}?`;
    case 'missing':
      return `${at} is required`;
    case 'type':
      return `${at} is ${departure.found}; ${departure.expected} is expected`;
    case 'enum':
      return `${at} is ${departure.value}; did you mean ${nearest(departure.value, departure.allowed)}?`;
  }
}

const unknown = (what: string, name: string, all: readonly string[]): string =>
  `unknown ${what} '${name}'; did you mean '${nearest(name, all)}'?`;
