/** Shell completion, as kubectl requests it from `kubectl_complete-windowspool`. */
import type { Command, Option } from 'commander';
import type { PluginCommand } from './command.ts';

/**
 * The program that kubectl runs to complete the arguments of `kubectl windowspool`, from its PATH:
 * https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/#using-shell-completion-with-plugins (kubectl 1.26)
 */
export const COMPLETION_NAME = 'kubectl_complete-windowspool';
export const COMPLETION_SCRIPT = '#!/bin/sh\nexec kubectl windowspool __complete "$@"\n';

/** What a shell does with the completions: https://pkg.go.dev/github.com/spf13/cobra#ShellCompDirective */
const FILES = ':0';
const NO_FILES = ':4';

/** What has names that are completed: objects of the cluster, and what the kubeconfig lists. */
export type NamedKind = 'pool' | 'node' | 'namespace' | 'context' | 'cluster' | 'user';
/** Returns the names of that kind, to complete an argument. */
export type Names = (kind: NamedKind) => Promise<readonly string[]>;

/** The arguments that are names of objects. */
const KINDS: Readonly<Record<string, NamedKind>> = { pool: 'pool', from: 'pool', to: 'pool', node: 'node' };

/** The flags whose values are names. */
const FLAG_KINDS: Readonly<Record<string, NamedKind>> = {
  '--pool': 'pool',
  '--namespace': 'namespace',
  '--operator-namespace': 'namespace',
  '--context': 'context',
  '--cluster': 'cluster',
  '--user': 'user',
};

/** The lines that kubectl expects: the completions with descriptions, and a directive. The last word is the one to complete. */
export async function completions(program: Command, words: readonly string[], names: Names): Promise<string[]> {
  const word = words.at(-1) ?? '';
  const assigned = /^(--[a-z-]+)=(.*)$/s.exec(word);
  // The shell puts `--flag=` before the completions itself.
  const typed = assigned?.[2] ?? word;
  const { command, position, flag } = parsed(program, [...words.slice(0, -1), ...(assigned?.[1] ? [assigned[1]] : [])]);
  const lines = (found: readonly (readonly [name: string, description: string])[]) => [
    ...found
      .filter(([name]) => name.startsWith(typed))
      .map(([name, text]) => (text ? `${name}\t${firstSentence(text)}` : name)),
    NO_FILES,
  ];
  const named = async (kind: NamedKind) => (await names(kind).catch(() => [])).map((name) => [name, ''] as const);
  if (flag) {
    if (/<file>/.test(flag.flags)) return [FILES];
    const kind = FLAG_KINDS[flag.long ?? ''];
    if (kind) return lines(await named(kind));
    return lines((flag.argChoices ?? []).map((choice) => [choice, '']));
  }
  if (typed.startsWith('-')) {
    const options = [...program.options, ...(command?.options ?? [])];
    return lines(options.map(({ long, description }) => [long ?? '', description]));
  }
  if (!command) return lines(program.commands.map((each) => [each.name(), each.description()]));
  const argument =
    command.registeredArguments[position] ?? command.registeredArguments.find(({ variadic }) => variadic);
  const name = argument?.name() ?? '';
  if (name === 'files') return [FILES];
  const kind = KINDS[name];
  if (!kind) return [NO_FILES];
  return lines(await named(kind));
}

/** The command that was typed, how many arguments follow it, and the flag whose value comes next. */
function parsed(program: Command, words: readonly string[]) {
  let command: Command | undefined;
  let position = 0;
  let flag: Option | undefined;
  for (const word of words) {
    if (flag) {
      flag = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      const known = [...program.options, ...(command?.options ?? [])].find(
        ({ long, short }) => word === long || word === short,
      );
      flag = known?.required ? known : undefined;
    } else if (command) position++;
    else command = program.commands.find((each) => each.name() === word);
  }
  return { command, position, flag };
}

function firstSentence(text: string): string {
  return text.replace(/\. .*/s, '').replace(/\.$/, '');
}

/** `kubectl windowspool completion`. */
export const completionCommand: PluginCommand = {
  usage: 'completion',
  group: 'Other Commands',
  summary: `Print the script ${COMPLETION_NAME}, with which kubectl completes commands, flags, pools and nodes.`,
  examples: [
    [
      'Install the script in a folder on your PATH',
      `kubectl windowspool completion > ~/bin/${COMPLETION_NAME} && chmod +x ~/bin/${COMPLETION_NAME}`,
    ],
  ],
  run: ({ terminal }) => terminal.print(COMPLETION_SCRIPT.trimEnd()),
};
