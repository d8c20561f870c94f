/** The page about symptoms: what `kubectl windowspool diagnose`, the catalogues and the runbooks say about each. */
import { diagnosisOf } from '../../cmd/kubectl-windowspool/diagnose.ts';
import { podSituations } from '../../cmd/kubectl-windowspool/testing/podSituations.ts';
import { reasons } from '../../controllers/windowspool/api/reasons.ts';
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
    'Find the cause of a problem by what you see. Each section has the command to run first. [`kubectl windowspool diagnose`](../reference/plugin.md#diagnose) finds the causes',
    'on this page for a pod in your cluster, with the same words. [Errors of Windows nodes and pods](../reference/errors.md) lists the messages by which it recognizes an error.',
    '',
    ...SYMPTOMS.map(({ title }) => `- [${title}](#${title.toLowerCase().replaceAll(' ', '-')})`),
    '',
    ...SYMPTOMS.flatMap(linesOf),
  ].join('\n');
}

function linesOf({ title, seen, command, pods = [], errors = [], exitCodes = [], ...more }: Symptom): string[] {
  const { reasons: names = [], runbooks = [], pages = [] } = more;
  const others = [
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
    ...tableOf(
      ['a pod that', '`diagnose` says'],
      pods.map((name) => [name, causesOf(name)]),
    ),
    ...tableOf(
      ['error', 'cause', 'what to do'],
      errors.map((name) => {
        const error = found(KNOWN_ERRORS, name);
        return [`\`${name}\``, causeOf(error), error.remedy];
      }),
    ),
    ...tableOf(
      ['exit code', 'the process', 'what to do'],
      exitCodes.map((name) => {
        const { code, cause, remedy } = found(KNOWN_EXIT_CODES, name);
        return [`${name} (0x${code.toString(16)})`, cause, remedy];
      }),
    ),
    ...tableOf(
      ['reason of the pool or the node', 'meaning and next step'],
      names.map((name) => [`[\`${name}\`](../reference/reasons.md#${name.toLowerCase()})`, reasons[name]]),
    ),
    ...(others.length > 0 ? [`See ${others.join(', ')}.`, ''] : []),
  ];
}

function tableOf(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  return [...[header, header.map(() => '---'), ...rows].map(tableRow), ''];
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
