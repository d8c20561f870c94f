/** The rules of config/prometheus, as Prometheus reads them: one source for clusters with and without the Prometheus operator. */
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

/** The spec of the PrometheusRule, which has the format of a rule file. */
export const ruleFile: RuleFile = parse(
  readFileSync(new URL('../../config/prometheus/rules.yaml', import.meta.url), 'utf8'),
).spec;

/** The rules that are alerts. Two of the same name differ in their severity. */
export const alertRules: readonly (Rule & { readonly alert: string })[] = ruleFile.groups.flatMap(({ rules }) =>
  rules.flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }])),
);

/** The rules of each alert, by name. */
export const alerts: ReadonlyMap<string, readonly Rule[]> = Map.groupBy(alertRules, ({ alert }) => alert);

/** The text of the rule file. */
export function ruleText(file: RuleFile = ruleFile): string {
  return stringify(file, { lineWidth: 0 });
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Shorter ranges of `..._over_time` could miss the scrapes of a test, which are 1.5 seconds apart. */
const SHORTEST_RANGE_MS = 5_000;
const RANGES = /(_over_time\([^()]*\[)(\w+)\](?: offset (\w+))?/g;
/** Ages in seconds that are compared with a fixed limit. */
const LIMITS = /> (3600|86400)$/gm;

/**
 * The same rules for a test that cannot wait: each `for` and `keep_firing_for`, each range of `..._over_time`, and each limit of an age is this many times
 * shorter, and nothing else is changed: half an hour is a second with 1800. Ranges are not shorter than 5 seconds.
 */
export function hastened(file: RuleFile, times: number): RuleFile {
  const shorter = (text: string, least = 0): string => {
    const [, count = '', unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
    return `${Math.max(least, Math.ceil((Number(count) * (UNITS[unit] ?? Number.NaN)) / times))}ms`;
  };
  const range = (_: string, before: string, length: string, offset?: string) =>
    `${before}${shorter(length, SHORTEST_RANGE_MS)}]${offset === undefined ? '' : ` offset ${shorter(offset, SHORTEST_RANGE_MS)}`}`;
  const rule = (one: Rule): Rule => ({
    ...one,
    expr: one.expr.replaceAll(RANGES, range).replaceAll(LIMITS, (_, limit) => `> ${Number(limit) / times}`),
    ...(one.for !== undefined && { for: shorter(one.for) }),
    ...(one.keep_firing_for !== undefined && { keep_firing_for: shorter(one.keep_firing_for) }),
  });
  return { groups: file.groups.map((group) => ({ ...group, rules: group.rules.map(rule) })) };
}
