/** Finds command lines of the AWS CLI: in pages, in the operator's messages, in configuration. */
import { forEachChild, parse, type Word as ShellWord, type SyntaxNode } from 'unbash';
import { blocksOf } from '../../test/docs/markdown.ts';
import { SERVICES } from './services.ts';

/** A word of a command, without its quotes. */
export interface Word {
  readonly text: string;
  /** Whether the shell expands a part of it, such as `$CLUSTER_NAME`, which `text` has unexpanded. */
  readonly expanded: boolean;
}

/** An `aws` command with the line of its first word, from 1. */
export interface Command {
  readonly line: number;
  readonly words: readonly Word[];
}

/** The `aws` commands of a file. Its name shows whether it is a page, a source file, or other text. */
export function awsCommandsOf(file: string, text: string): Command[] {
  if (!file.endsWith('.md')) return inText(file.endsWith('.ts') ? joined(text) : text);
  const blocks = blocksOf(text).filter(({ info }) => info.startsWith('sh'));
  return [
    ...blocks.flatMap((block) => inScript(block.text, block.line + 1)),
    ...inText(text.replace(/^```[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, ''))),
  ];
}

/** Those in a shell script, those inside `$(...)` included. `line` is that of the script's start. */
function inScript(script: string, line: number): Command[] {
  const found: Command[] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Command' && node.name?.value === 'aws') {
      const words = node.args.filter((word) => word.type === 'Word').map(wordOf);
      found.push({ line: line + script.slice(0, node.name.pos).split('\n').length - 1, words });
    }
    forEachChild(node, visit);
  };
  visit(parse(script));
  return found;
}

function wordOf(word: ShellWord): Word {
  let expanded = false;
  const visit = (part: SyntaxNode): void => {
    if (part.type.endsWith('Expansion') && part.type !== 'BraceExpansion') expanded = true;
    else forEachChild(part, visit);
  };
  visit(word);
  return { text: word.value, expanded };
}

const MENTION = new RegExp(`\\baws (?:${SERVICES.join('|')}) [a-z](?: '[^'\\n]*'|[^\`'\\n])*`, 'g');

/** Commands in sentences and strings: they end with the code span, the string, or the sentence. */
function inText(text: string): Command[] {
  return [...text.matchAll(MENTION)].flatMap(({ 0: mention, index }) => {
    const line = text.slice(0, index).split(/[\n\v]/).length;
    const end = mention.search(/[.,;:)]+(\s|$)/);
    return inScript((end < 0 ? mention : mention.slice(0, end)).replaceAll('\v', ''), line);
  });
}

/** A source file with each `${...}` of a template as a variable, and strings that are added to one another as one: `\v` is where a line ended. */
const joined = (source: string): string =>
  source
    .replace(/\$\{[^{}]*\}/g, '$VALUE')
    .replace(/['`] \+(\s*)['`]/g, (_, space: string) => space.replace(/[^\n]/g, '').replaceAll('\n', '\v'));
