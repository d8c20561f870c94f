/** Differences that are intended, with their reasons: expected.json. Pure. */
import type { Difference, Group } from './difference.ts';

/** In patterns, `*` matches any text. */
export interface Expected {
  readonly group: Group;
  /** The path of the difference or of what contains it, such as `status.tracking.applied`. */
  readonly path: string;
  /** The names of the cases; absent: all. */
  readonly cases?: string;
  /** Why it differs. */
  readonly reason: string;
}

/** The entry that a difference matches. */
export function expectedFor(all: readonly Expected[], difference: Difference): Expected | undefined {
  return all.find(
    ({ group, path, cases = '*' }) =>
      group === difference.group &&
      matches(cases, difference.case) &&
      (matches(path, difference.path) || matches(`${path}.*`, difference.path)),
  );
}

function matches(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}
