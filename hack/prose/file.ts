/** The linted files, and the findings of one file. */
import { type Block, linesOf } from './block.ts';
import { type Finding, findTerms } from './lint.ts';
import { proseOfTypeScript } from './typescript.ts';
import { commentsOf, textsOf } from './yaml.ts';

export const FILES = [
  '**/*.md',
  '{cmd,controllers,hack,test}/**/*.ts',
  '{crds,config}/**/*.yaml',
  'config/charts/*/{values.schema.json,templates/NOTES.txt}',
  'Makefile',
];

/** Copies, whose sources are linted. */
export const GENERATED = ['**/*.gen.ts', 'config/charts/*/files/**', 'config/charts/*/values.yaml'];

/** Files whose strings reach users, as messages, help texts or log lines. */
const SHIPPED = /^(cmd|controllers\/windowspool)\/(?!(.*\/)?testing\/|.*\.test\.ts$)/;

/** A comment of any of these files that allows a term on its own line and on the next. It must give a reason. */
const ALLOWANCE = /(?<=(?:<!--|\/\/|\*|#) )prose-allow "([^"]+)": \S/g;

/** In the order of the file, without those that are allowed. An allowance that allows nothing is a finding, too. */
export async function findingsOf(file: string, source: string): Promise<Finding[]> {
  const allowances = allowancesIn(source);
  const all = await findTerms(
    proseOf(
      file,
      source.replace(ALLOWANCE, (whole) => '_'.repeat(whole.length)),
    ),
  );
  const findings = all.filter((finding) => {
    const allowance = allowances.find(
      ({ term, line }) => term === finding.found.toLowerCase() && (line === finding.line || line === finding.line - 1),
    );
    if (allowance) allowance.used = true;
    return !allowance;
  });
  for (const { term, line, column, used } of allowances)
    if (!used) findings.push({ line, column, found: `prose-allow "${term}"`, suggestion: 'remove: it allows nothing' });
  return findings.sort((a, b) => a.line - b.line || a.column - b.column);
}

const allowancesIn = (source: string) =>
  source.split('\n').flatMap((text, index) =>
    [...text.matchAll(ALLOWANCE)].map((match) => {
      return { term: match[1]?.toLowerCase(), line: index + 1, column: match.index + 1, used: false };
    }),
  );

function proseOf(file: string, source: string): Block[] {
  if (file.endsWith('.ts')) return proseOfTypeScript(source, SHIPPED.test(file));
  if (file.endsWith('.json')) return textsOf(source);
  if (file.endsWith('Makefile')) return commentsOf(source);
  if (!file.endsWith('.yaml')) return [linesOf(source, 1, 1, /^/)];
  // A Helm template is no YAML yet.
  return file.includes('/templates/') ? commentsOf(source) : [...commentsOf(source), ...textsOf(source)];
}
