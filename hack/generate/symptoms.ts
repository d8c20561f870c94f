/** The page about symptoms: what `kubectl windowspool diagnose`, the catalogues and the runbooks say about each. */
import { diagnosisOf } from '../../cmd/kubectl-windowspool/diagnose.ts';
import { podSituations } from '../../cmd/kubectl-windowspool/testing/podSituations.ts';
import { type Reason, reasons } from '../../controllers/windowspool/api/reasons.ts';
import { KNOWN_ERRORS } from '../../controllers/windowspool/knownErrors/catalogue.ts';
import { KNOWN_EXIT_CODES } from '../../controllers/windowspool/knownErrors/exitCodes.ts';
import { causeOf } from '../../controllers/windowspool/knownErrors/explain.ts';
import { SYMPTOMS, type Symptom } from './symptomTable.ts';
import { tableRow } from './table.ts';

/** The text of docs/operate/symptoms.md. */
export function symptomsPage(): string {
  return [
    '<!-- Generated from hack/generate/symptomTable.ts, the catalogue of errors and the diagnosis of example pods by `make generate`. Do not edit. -->',
    '# Symptoms',
    '',
    'Use this page to find the cause of a problem by what you see. Run the command of the section. For a pod, this is usually [`kubectl windowspool diagnose`](../reference/plugin.md#diagnose), which',
    'finds the causes below in your cluster and prints the remedy. Without [the plugin](../reference/plugin.md#install), [find the words of its events](../index.md#my-pod-is-pending).',
    '',
    ...SYMPTOMS.map(({ title }) => `- [${title}](#${title.toLowerCase().replaceAll(' ', '-')})`),
    '',
    ...SYMPTOMS.flatMap(linesOf),
  ].join('\n');
}

function linesOf({
  title,
  seen,
  command,
  more = [],
  pods = [],
  errors = [],
  exitCodes = [],
  ...others
}: Symptom): string[] {
  const { reasons: names = [], runbooks = [], pages = [] } = others;
  const links = [
    ...runbooks.map((name) => `[${name}](runbooks/${name}.md)`),
    ...pages.map(([text, path]) => `[${text}](../${path})`),
  ];
  return [
    `## ${title}`,
    '',
    seen,
    '',
    '```sh aws',
    command,
    '```',
    '',
    ...more.flatMap((paragraph) => [paragraph, '']),
    ...tableOf(
      ['a pod that', '`diagnose` says'],
      pods.map((name) => [name, causesOf(name)]),
    ),
    ...listOf('Errors, each with a link to its remedy:', errors.map(errorItem)),
    ...listOf('Exit codes of the process:', exitCodes.map(exitCodeItem)),
    ...listOf('Reasons of the pool or its nodes:', names.map(reasonItem)),
    ...(links.length > 0 ? [`See ${links.join(', ')}.`, ''] : []),
  ];
}

/** The error in a list: its cause, and a link to its remedy in docs/reference/errors.md. */
export function errorItem(name: string): string {
  return `- [\`${name}\`](../reference/errors.md#${name.toLowerCase()}): ${causeOf(found(KNOWN_ERRORS, name))}`;
}

function exitCodeItem(name: string): string {
  const { code, cause } = found(KNOWN_EXIT_CODES, name);
  return `- [\`${name}\`](../reference/errors.md#exit-codes) (0x${code.toString(16)}): it ${cause}.`;
}

function reasonItem(name: Reason): string {
  const [meaning = ''] = reasons[name].split(/(?<=\.) /);
  return `- [\`${name}\`](../reference/reasons.md#${name.toLowerCase()}): ${meaning}`;
}

function listOf(title: string, items: readonly string[]): string[] {
  return items.length > 0 ? [title, '', ...items, ''] : [];
}

function tableOf(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  return ['Examples of what `diagnose` says:', '', ...[header, header.map(() => '---'), ...rows].map(tableRow), ''];
}

/** What `diagnose` says about an example pod, in the order of its output, without the messages that it quotes. */
function causesOf(name: keyof typeof podSituations): string {
  const { causes } = diagnosisOf(podSituations[name]);
  const lines = causes.map(({ what, remedy, command }) => {
    const parts = [what, remedy].filter((part) => part && !QUOTE.test(part));
    return [...parts, command && `\`${command}\``].filter(Boolean).join(' ');
  });
  return lines.filter(Boolean).join('<br>');
}

const QUOTE = /^(?:The message: |(?:The scheduler|The cluster-autoscaler|Karpenter) says: )/;

function found<T extends { readonly name: string }>(catalogue: readonly T[], name: string): T {
  const entry = catalogue.find((each) => each.name === name);
  if (!entry) throw new Error(`hack/generate/symptomTable.ts names ${name}, which is not in the catalogue.`);
  return entry;
}
