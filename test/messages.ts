/** What tests pin of a message for people: what a reader acts on. docs/reference/api.md calls the words between unstable, and the golden files have them. */
import assert from 'node:assert/strict';

/** Asserts that each name, number and command is in the message as whole words: `2` is not in `12`, and `web` is neither in `web-2` nor in `spec.web`. */
export function assertNames(message: string | undefined, ...names: readonly (string | RegExp)[]): void {
  const missing = names.filter((name) => !patternOf(name).test(message ?? ''));
  assert.deepEqual(missing, [], `not in the message: ${message}`);
}

/** Whether each name, number and command is in the message, for waiting. */
export function namesAll(message: string | undefined, ...names: readonly (string | RegExp)[]): boolean {
  return names.every((name) => patternOf(name).test(message ?? ''));
}

function patternOf(name: string | RegExp): RegExp {
  if (name instanceof RegExp) return name;
  const before = /^\w/.test(name) ? String.raw`(?<![\w.-])` : '';
  const after = /\w$/.test(name) ? String.raw`(?![\w-]|\.\w)` : '';
  return new RegExp(`${before}${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}${after}`);
}
