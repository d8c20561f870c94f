/** The page about errors of Windows nodes and pods, from their catalogue. */
import { KNOWN_ERRORS } from '../../controllers/windowspool/knownErrors/catalogue.ts';
import { KNOWN_EXIT_CODES } from '../../controllers/windowspool/knownErrors/exitCodes.ts';
import { causeOf } from '../../controllers/windowspool/knownErrors/explain.ts';
import type { KnownError } from '../../controllers/windowspool/knownErrors/knownError.ts';
import { tableRow } from './table.ts';

/** The text of docs/reference/errors.md. */
export function errorsPage(): string {
  return [
    '<!-- Generated from the catalogue of errors (controllers/windowspool/knownErrors) by `make generate`. Do not edit. -->',
    '# Errors of Windows nodes and pods',
    '',
    'This page explains error messages of Windows nodes and pods. [`kubectl windowspool diagnose`](plugin.md#diagnose) and the conditions of pools recognize them. For a possible',
    'cause, the remedy says how to tell it from others. To start from what you see, use [Symptoms](../operate/symptoms.md).',
    '',
    '## Errors',
    '',
    // A heading each, so that a symptom can lead to its error.
    ...KNOWN_ERRORS.toSorted((one, other) => one.name.localeCompare(other.name)).flatMap(linesOf),
    '## Exit codes',
    '',
    'A process that Windows ends has an NTSTATUS as its exit code, which the kubelet shows as a positive or a negative number. Codes below 256 are those of the program.',
    'Source: [NTSTATUS values](https://learn.microsoft.com/openspecs/windows_protocols/ms-erref/596a1078-e883-4972-9bbc-49e60bebca55).',
    '',
    tableRow(['exit code', 'negative', 'name', 'the process', 'what to do']),
    tableRow(Array<string>(5).fill('---')),
    ...KNOWN_EXIT_CODES.map(({ code, name, cause, remedy }) =>
      tableRow([`${code} (0x${code.toString(16).padStart(8, '0')})`, String(code | 0), name, cause, remedy]),
    ),
    '',
  ].join('\n');
}

function linesOf(error: KnownError): string[] {
  const { name, pattern, within, writtenBy, remedy, source } = error;
  return [
    `### ${name}`,
    '',
    `${causeOf(error)} ${remedy}`,
    '',
    `- Recognized by \`${pattern.source}\`${within ? `, in messages about ${within.name}` : ''}`,
    `- Written by ${writtenBy}`,
    `- Source: ${source.replaceAll(ISSUE, '[$&](https://github.com/$1/issues/$2)')}`,
    '',
  ];
}

/** An issue or a pull request of a repository, as GitHub writes it. */
const ISSUE = /\b([\w.-]+\/[\w.-]+)#(\d+)\b/g;
