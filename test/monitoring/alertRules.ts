/** The rules of config/prometheus, as Prometheus reads them: one source for those who have its operator and for those who have not. */
import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';

export interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

/** The spec of the PrometheusRule: that is a rule file. */
export const ruleFile: RuleFile = parse(
  readFileSync(new URL('../../config/prometheus/rules.yaml', import.meta.url), 'utf8'),
).spec;

/** Alerts, by name. */
export const alerts: ReadonlyMap<string, Rule> = new Map(
  ruleFile.groups.flatMap(({ rules }) => rules.flatMap((rule) => (rule.alert ? [[rule.alert, rule] as const] : []))),
);

/** The text of the rule file. */
export function ruleText(file: RuleFile = ruleFile): string {
  return stringify(file, { lineWidth: 0 });
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * The same rules for a test that cannot wait: each `for` and `keep_firing_for` is this many times shorter, and nothing else is changed:
 * half an hour is a second with 1800.
 */
export function hastened(file: RuleFile, times: number): RuleFile {
  const shorter = (text: string): string => {
    const [, count = '', unit = ''] = /^(\d+)([smh])$/.exec(text) ?? [];
    return `${Math.ceil((Number(count) * (UNITS[unit] ?? Number.NaN)) / times)}ms`;
  };
  const rule = (one: Rule): Rule => ({
    ...one,
    ...(one.for !== undefined && { for: shorter(one.for) }),
    ...(one.keep_firing_for !== undefined && { keep_firing_for: shorter(one.keep_firing_for) }),
  });
  return { groups: file.groups.map((group) => ({ ...group, rules: group.rules.map(rule) })) };
}
