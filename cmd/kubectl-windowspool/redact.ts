/** Removes what may be secret from objects and texts that users share. Pure. */

const REDACTED = 'REDACTED';

/** Names of fields and flags whose values are secrets. `secretName` and `imagePullSecrets` only name one. */
const SECRET_NAME = /(?:token|secret|password|passwd|credentials?|private-?key|access-?key(?:-?id)?)$/i;
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
  [/\b(Bearer|Basic) [\w.~+/=-]{8,}/g, `$1 ${REDACTED}`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gs, REDACTED],
  // The user and the password of a URL.
  [/(:\/\/)[^\s/@:]+:[^\s/@]+@/g, `$1${REDACTED}@`],
  [
    /((?:token|secret|password|passwd|private-?key|access-?key)["']?\s*[=:]\s*)(?:"[^"\n]*"|'[^'\n]*'|[^\s"',;&]+)/gi,
    `$1${REDACTED}`,
  ],
];

/** The text without what looks like a secret. */
export function redactText(text: string): string {
  return PATTERNS.reduce((redacted, [pattern, instead]) => redacted.replace(pattern, instead), text);
}

/** A copy of the value in which the values of environment variables, unknown annotations and what looks like a secret are REDACTED. */
export function redact(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return SECRET_NAME.test(name) ? REDACTED : redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => (name === 'env' ? redactVariable(item) : redact(item)));
  const entries = Object.entries(value).filter(([key]) => !DROPPED.includes(key));
  return Object.fromEntries(
    entries.map(([key, each]) => [
      key,
      name === 'annotations' && !KNOWN_ANNOTATION.test(key) ? REDACTED : redact(each, key),
    ]),
  );
}

/** An environment variable: where its value comes from stays. */
function redactVariable(variable: unknown): unknown {
  const isSet = typeof variable === 'object' && variable !== null && 'value' in variable;
  return isSet ? { ...variable, value: REDACTED } : redact(variable);
}
