/** The alerts of config/prometheus and their runbooks: the dashboards show and link them. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const { spec } = parse(readFileSync(new URL('../../config/prometheus/rules.yaml', import.meta.url), 'utf8'));

interface Rule {
  readonly alert?: string;
  readonly annotations?: { readonly runbook_url?: string };
}

const rules: readonly Rule[] = spec.groups.flatMap((group: { rules: readonly Rule[] }) => group.rules);

/** URLs of runbooks, by the names of alerts. */
export const runbooks: Readonly<Record<string, string>> = Object.fromEntries(
  rules.flatMap(({ alert, annotations }) => (alert ? [[alert, annotations?.runbook_url ?? '']] : [])),
);

/** From the name of an alert in a cell to its runbook. */
export const TO_RUNBOOK = {
  title: 'Runbook',
  url: `${folderOf(Object.values(runbooks))}/\${__value.text}.md`,
} as const;

/** The common folder of all runbooks. Throws if there are several. */
function folderOf(addresses: readonly string[]): string {
  const [folder, ...others] = new Set(addresses.map((address) => address.slice(0, address.lastIndexOf('/'))));
  if (folder === undefined || others.length > 0)
    throw new Error(
      `The runbook_urls of config/prometheus/rules.yaml are not in one folder: ${[folder, ...others].join(', ')}.`,
    );
  return folder;
}
