/** Finds the terms of terms.ts with textlint: its Markdown parser detects code and links, and its rule terminology accepts word lists. */
import { TextlintKernel } from '@textlint/kernel';
import markdown from '@textlint/textlint-plugin-markdown';
import terminology from 'textlint-rule-terminology';
import type { Block } from './block.ts';
import { TERMS, type Term } from './terms.ts';

/** With its place in the file: line and column, both from 1. */
export interface Finding {
  readonly line: number;
  readonly column: number;
  readonly found: string;
  readonly suggestion: string;
}

const spaced = ({ pattern }: Term): string => pattern.replaceAll(' ', '\\s+');

/** Matches whole words that are not part of a file name. The rule uses a pattern with a lookbehind unchanged. */
export const patternOf = (term: Term): string => `(?<![\\w./-])(?:${spaced(term)})(?![\\w-]|\\.\\w)`;

/** Candidates for textlint. Most blocks have none, and parsing them would take most of the time. */
const CANDIDATE = new RegExp(TERMS.map(spaced).join('|'), 'i');

const kernel = new TextlintKernel();

const options = {
  ext: '.md',
  plugins: [{ pluginId: 'markdown', plugin: markdown.default }],
  rules: [
    {
      ruleId: 'terminology',
      rule: terminology,
      options: { defaultTerms: false, terms: TERMS.map((term) => [patternOf(term), term.suggestion]) },
    },
  ],
};

export async function findTerms(blocks: readonly Block[]): Promise<Finding[]> {
  return (await Promise.all(blocks.map(findTermsIn))).flat();
}

async function findTermsIn(block: Block): Promise<Finding[]> {
  const text = block.map((line) => line.text).join('\n');
  if (!CANDIDATE.test(text)) return [];
  const { messages } = await kernel.lintText(text, options);
  return messages.flatMap(({ loc, fix }) => {
    const start = block[loc.start.line - 1];
    if (!start || !fix) return [];
    const found = text.slice(...fix.range).replace(/\s+/g, ' ');
    return [{ line: start.line, column: start.column + loc.start.column - 1, found, suggestion: fix.text }];
  });
}
