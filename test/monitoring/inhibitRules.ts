/** The inhibition rules of config/prometheus, in the format of Alertmanager's configuration. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

interface Matcher {
  readonly name: string;
  readonly value: string;
  readonly matchType: string;
}

interface CustomRule {
  readonly sourceMatch: readonly Matcher[];
  readonly targetMatch: readonly Matcher[];
  readonly equal: readonly string[];
}

/** A rule of `inhibit_rules`. */
export interface InhibitRule {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal: readonly string[];
}

const { metadata, spec } = parse(
  readFileSync(new URL('../../config/prometheus/alertmanager_config.yaml', import.meta.url), 'utf8'),
) as { metadata: { namespace: string }; spec: { inhibitRules: readonly CustomRule[] } };

const matcher = ({ name, value, matchType }: Matcher) => `${name}${matchType}"${value}"`;

/** The rules as a user of Alertmanager writes them. */
export const inhibitRules: readonly InhibitRule[] = spec.inhibitRules.map(({ sourceMatch, targetMatch, equal }) => ({
  source_matchers: sourceMatch.map(matcher),
  target_matchers: targetMatch.map(matcher),
  equal,
}));

/**
 * The rules as the Prometheus Operator writes them by default (alertmanagerConfigMatcherStrategy OnNamespace): source and target must have the namespace
 * of the object.
 */
export const inhibitRulesOfOperator: readonly InhibitRule[] = inhibitRules.map(
  ({ source_matchers, target_matchers, equal }) => {
    const own = `namespace="${metadata.namespace}"`;
    return {
      source_matchers: [...source_matchers, own],
      target_matchers: [...target_matchers, own],
      equal: [...equal, 'namespace'],
    };
  },
);
