/** Removes what may be secret from objects and texts that users share. Pure. */

const REDACTED = 'REDACTED';

/** How the names of fields, variables and flags with secrets end. `secretName` and `imagePullSecrets` only name one. */
const NAMES =
  '(?:token|secret(?:[-_]?key)?|password|passwd|passphrase|[-_]pass|credentials?|(?:private|access|api)[-_]?key(?:[-_]?id)?|key-data|signature)';
const SECRET_NAME = new RegExp(`${NAMES}$`, 'i');
/** A flag whose value is in the next argument. */
const SECRET_FLAG = new RegExp(`^--?[\\w.-]*${NAMES}$`, 'i');
/** A word, a list, or what is in quotes, which JSON within JSON escapes: to the end of the line if they are not closed. */
const VALUE = String.raw`(?:(?<quote>\\*["'])(?:(?:(?!(?<!\\)\k<quote>).)*(?<!\\)\k<quote>|.*)|\[[^\]\n]*\]?|(?!\{\s*\\*["'}])[^\s"',;&]+)`;
/** Copies of the manifest, and who wrote which field: large, and nobody needs them. */
const DROPPED = ['managedFields', 'kubectl.kubernetes.io/last-applied-configuration'];
/** Annotations of Kubernetes, AWS and the operator. Others can have any content. */
const KNOWN_ANNOTATION = /^(?:[\w.-]*\.)?(?:kubernetes\.io|k8s\.io|amazonaws\.com|k8s\.aws|winpool\.dev)\//;

/** What looks like a secret in a text, and what is written instead. */
const PATTERNS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  // IDs of access keys: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  // JSON Web Tokens, such as those of ServiceAccounts: RFC 7519
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, REDACTED],
  // The tokens of `aws eks get-token`.
  [/\bk8s-aws-v1\.[\w-]+/g, REDACTED],
  [/\b(Basic|[Bb]earer|BEARER) [\w.~+/=-]{8,}/g, `$1 ${REDACTED}`],
  // The largest keys are of some 13 KB. What has no end is cut off.
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----(?:.{0,16384}?-----END [A-Z ]*PRIVATE KEY-----|.{0,16384})/gs, REDACTED],
  // The user and the password of a URL, but not the name of an image with a digest.
  [/(:\/\/)[^\s/"'\\]+@(?!sha256:)/g, `$1${REDACTED}@`],
  [new RegExp(String.raw`(${NAMES}\\*["']?\s*[=:]\s*)${VALUE}`, 'gi'), `$1${REDACTED}`],
  // A flag and its value: in a command, in a JSON list, in a YAML list.
  [
    new RegExp(String.raw`((?<![\w.-])--?[\w.-]*${NAMES}(?:\s+(?:-\s+)?|\\*["']\s*,\s*))(?!\\*["']?--)${VALUE}`, 'gi'),
    `$1${REDACTED}`,
  ],
];

/** The text without what looks like a secret. */
export function redactText(text: string): string {
  return PATTERNS.reduce((redacted, [pattern, instead]) => redacted.replace(pattern, instead), text);
}

/** Lists of objects with a name and any value. */
const NAMED_VALUES = ['env', 'httpHeaders'];

/** A copy of the value in which the values of environment variables and HTTP headers, unknown annotations and what looks like a secret are REDACTED. */
export function redact(value: unknown, name = ''): unknown {
  if (SECRET_NAME.test(name) && (typeof value === 'string' || typeof value === 'number')) return REDACTED;
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item, index) => redactItem(item, name, value[index - 1]));
  const entries = Object.entries(value).filter(([key]) => !DROPPED.includes(key));
  return Object.fromEntries(
    entries.map(([key, each]) => [
      key,
      name === 'annotations' && !KNOWN_ANNOTATION.test(key) ? REDACTED : redact(each, key),
    ]),
  );
}

/** An item of a list: where the value of an environment variable comes from stays. */
function redactItem(item: unknown, list: string, previous: unknown): unknown {
  if (typeof item === 'string') {
    const isOfFlag = typeof previous === 'string' && SECRET_FLAG.test(previous) && !item.startsWith('--');
    return isOfFlag ? REDACTED : redact(item, list);
  }
  const hasValue = NAMED_VALUES.includes(list) && typeof item === 'object' && item !== null && 'value' in item;
  return hasValue ? { ...item, value: REDACTED } : redact(item);
}
