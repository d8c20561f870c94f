/** Finds command lines of the AWS CLI: in pages, in the operator's messages, in configuration. */
import { blocksOf } from '../../test/docs/markdown.ts';
import { SERVICES } from './services.ts';
import { type Command, commandsIn } from './shell.ts';

/** The `aws` commands of a file with their lines. Its name shows whether it is a page, a source file, or other text. */
export function awsCommandsOf(file: string, text: string): Command[] {
  if (!file.endsWith('.md')) return inText(file.endsWith('.ts') ? joined(text) : text);
  const blocks = blocksOf(text).filter(({ info }) => info.startsWith('sh'));
  return [
    ...blocks.flatMap((block) => commandsIn(block.text, block.line + 1)).filter(isAws),
    ...inText(text.replace(/^```[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, ''))),
  ];
}

const isAws = ({ words: [first] }: Command): boolean => first?.text === 'aws';

const MENTION = new RegExp(`\\baws (?:${SERVICES.join('|')}) [a-z](?: '[^'\\n]*'|[^\`'\\n])*`, 'g');

/** Commands in sentences and strings: they end with the code span, the string, or the sentence. */
function inText(text: string): Command[] {
  return [...text.matchAll(MENTION)].flatMap(({ 0: mention, index }) => {
    const line = text.slice(0, index).split(/[\n\v]/).length;
    const end = mention.search(/[.,;:)]+(\s|$)/);
    const command = (end < 0 ? mention : mention.slice(0, end)).replaceAll('\v', '');
    return commandsIn(command, line).filter(isAws);
  });
}

/** A source file with each `${...}` of a template as a variable, and strings that are added to one another as one: `\v` is where a line ended. */
const joined = (source: string): string =>
  source
    .replace(/\$\{[^{}]*\}/g, '$VALUE')
    .replace(/['`] \+(\s*)['`]/g, (_, space: string) => space.replace(/[^\n]/g, '').replaceAll('\n', '\v'));
