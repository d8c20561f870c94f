/**
 * Condition blocks of IAM policies.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-single-vs-multi-valued-context-keys.html
 */

/** The context of a request: condition keys, such as `aws:RequestTag/team`, with their values. `aws:TagKeys` has several. */
export type Context = Readonly<Record<string, string | readonly string[]>>;

/** A condition block: operators, their condition keys, and the values that these may have. */
export type Conditions = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

/** Whether a value of the request matches a value of the policy. */
const comparisons: Readonly<Record<string, (pattern: string, value: string) => boolean>> = {
  StringEquals: (pattern, value) => pattern === value,
  StringLike: like,
  ArnLike: arnLike,
  Bool: (pattern, value) => pattern.toLowerCase() === value.toLowerCase(),
};

const FOR_ALL = 'ForAllValues:';

/** Whether `conditionsHold` knows the operator. */
export function isKnown(operator: string): boolean {
  return operator === 'Null' || comparisonOf(operator) !== undefined;
}

/** Whether all conditions hold. Names of condition keys are not case-sensitive. */
export function conditionsHold(conditions: Conditions, context: Context): boolean {
  const present = new Map(Object.entries(context).map(([key, value]) => [key.toLowerCase(), listOf(value)]));
  return Object.entries(conditions).every(([operator, keys]) =>
    Object.entries(keys).every(([key, values]) => holds(operator, listOf(values), present.get(key.toLowerCase()))),
  );
}

function holds(operator: string, patterns: readonly string[], found: readonly string[] | undefined): boolean {
  if (operator === 'Null') return patterns.includes(String(found === undefined));
  const compare = comparisonOf(operator);
  if (compare === undefined) throw new TypeError(`operator ${operator} is not supported`);
  const fits = (value: string): boolean => patterns.some((pattern) => compare(pattern, value));
  // ForAllValues also holds for a key that the request does not have; the others do not.
  return operator.startsWith(FOR_ALL) ? (found ?? []).every(fits) : (found ?? []).some(fits);
}

function comparisonOf(operator: string): ((pattern: string, value: string) => boolean) | undefined {
  const name = operator.startsWith(FOR_ALL) ? operator.slice(FOR_ALL.length) : operator;
  return Object.hasOwn(comparisons, name) ? comparisons[name] : undefined;
}

/** Each of the six parts of an ARN is compared separately: a wildcard does not match beyond a colon. The last part may have colons. */
function arnLike(pattern: string, value: string): boolean {
  const [wanted, found] = [pattern, value].map((arn) => {
    const parts = arn.split(':');
    return [...parts.slice(0, 5), parts.slice(5).join(':')];
  });
  return (wanted ?? []).every((part, index) => like(part, found?.[index] ?? ''));
}

const compiled = new Map<string, RegExp>();

/** Whether the text matches a pattern with the wildcards `*` and `?` of IAM and EC2's filters. */
export function like(pattern: string, text: string): boolean {
  if (!/[*?]/.test(pattern)) return pattern === text;
  const regex = compiled.get(pattern) ?? compile(pattern);
  compiled.set(pattern, regex);
  return regex.test(text);
}

function compile(pattern: string): RegExp {
  const escaped = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${escaped}$`, 's');
}

/** A value of a policy or of a context as a list. */
export const listOf = (value: string | readonly string[]): readonly string[] =>
  typeof value === 'string' ? [value] : value;
