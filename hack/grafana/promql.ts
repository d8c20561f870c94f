/** Finds the series and labels in a PromQL expression without a full parser. */

/** One selector, such as `up{job="x"}`. */
export interface Selector {
  readonly metric: string;
  /** Its labels, with the operator and the text between the quotes. */
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

/** The parts of an expression. */
export interface Reading {
  readonly selectors: readonly Selector[];
  /** Labels of `by`, `without`, `on`, `ignoring`, `group_left` and `group_right`. */
  readonly grouping: readonly string[];
  /** Names that are neither a function, nor a keyword, nor a metric with braces. */
  readonly bare: readonly string[];
}

const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g;
const WORDS = new Set(['or', 'and', 'unless', 'bool', 'offset']);

/** Every selector must have braces, like those of the dashboards: a name without them is reported as bare. */
export function readExpression(expr: string): Reading {
  const selectors: Selector[] = [];
  const withoutSelectors = expr.replaceAll(
    /([a-zA-Z_:][\w:]*)\{((?:"(?:[^"\\]|\\.)*"|[^}"])*)\}/g,
    (_, metric, text) => {
      const matchers = [...text.matchAll(MATCHER)].map(([, label = '', operator = '', value = '']) => ({
        label,
        operator,
        value,
      }));
      selectors.push({ metric, matchers });
      return '';
    },
  );
  const grouping = [...withoutSelectors.matchAll(GROUPING)].flatMap(([, labels = '']) =>
    labels.split(',').map((label) => label.trim()),
  );
  const rest = withoutSelectors.replaceAll(GROUPING, ' ').replaceAll(/\[[^\]]*\]/g, '');
  const bare = [...rest.matchAll(/[a-zA-Z_]\w*(?!\w*\s*\()/g)].map(([name]) => name).filter((name) => !WORDS.has(name));
  return { selectors, grouping: grouping.filter((label) => label !== ''), bare };
}
