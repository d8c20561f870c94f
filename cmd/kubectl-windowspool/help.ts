/** The help of the commands, in the layout of kubectl's. Pure. */
import type { Command, Option } from 'commander';
import { GROUPS, type PluginCommand } from './command.ts';
import { wrap } from './text.ts';

const PLUGIN = 'kubectl windowspool';
const OPTIONS_HINT = `Use "${PLUGIN} options" for a list of global command-line options (applies to all commands).`;

/** The help of the plugin: its commands. */
export function pluginHelp(description: string, commands: readonly PluginCommand[], columns: number): string {
  const width = Math.max(...commands.map((command) => nameOf(command).length));
  const groups = GROUPS.flatMap((group) => [
    `${group}:`,
    ...commands
      .filter((command) => command.group === group)
      .flatMap((command) => row(nameOf(command), command.summary, width, columns)),
    '',
  ]);
  return [
    ...description.split('\n').flatMap((paragraph) => (paragraph === '' ? [''] : wrap(paragraph, columns))),
    '',
    ...groups,
    'Usage:',
    `  ${PLUGIN} [flags] [options]`,
    '',
    `Use "${PLUGIN} <command> --help" for more information about a given command.`,
    OPTIONS_HINT,
  ].join('\n');
}

/** The help of a command. */
export function commandHelp(command: Command, { summary, details, examples }: PluginCommand, columns: number): string {
  const { options } = command;
  return [
    ...wrap([summary, details].filter(Boolean).join(' '), columns),
    '',
    'Examples:',
    ...examples.flatMap(([what, line], index) => [...(index > 0 ? [''] : []), `  # ${what}`, `  ${line}`]),
    '',
    ...(options.length > 0 ? ['Options:', ...optionLines(options, columns)] : []),
    'Usage:',
    `  ${[PLUGIN, command.name(), ...argumentsOf(command)].join(' ')} [flags] [options]`,
    '',
    OPTIONS_HINT,
  ].join('\n');
}

/** The options of all commands. */
export function globalHelp(options: readonly Option[], columns: number): string {
  return ['The following options can be passed to any command:', '', ...optionLines(options, columns)]
    .join('\n')
    .trimEnd();
}

function nameOf({ usage }: PluginCommand): string {
  return usage.split(' ')[0] ?? '';
}

function row(name: string, text: string, width: number, columns: number): string[] {
  const label = `  ${name.padEnd(width)}   `;
  const [first = '', ...more] = wrap(text, columns, ' '.repeat(label.length));
  return [label + first.trimStart(), ...more];
}

function argumentsOf(command: Command): string[] {
  return command.registeredArguments.map((argument) => {
    const name = `${argument.name().toUpperCase()}${argument.variadic ? '...' : ''}`;
    return argument.required ? name : `[${name}]`;
  });
}

function optionLines(options: readonly Option[], columns: number): string[] {
  return options.flatMap((option) => {
    const { short, long, description, argChoices } = option;
    const choices = argChoices ? ` One of: ${argChoices.join(', ')}.` : '';
    const names = [short, long].filter(Boolean).join(', ');
    return [`    ${names}=${defaultOf(option)}:`, ...wrap(`${description}${choices}`, columns, ' '.repeat(8)), ''];
  });
}

/** As kubectl writes it: `''`, `false`, `15s`. */
function defaultOf({ required, defaultValue, defaultValueDescription }: Option): string {
  if (!required) return 'false';
  const value = defaultValueDescription ?? defaultValue;
  if (value === undefined) return "''";
  return typeof value === 'string' && !defaultValueDescription ? `'${value}'` : String(value);
}
