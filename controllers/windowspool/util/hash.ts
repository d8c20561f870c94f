import { createHash } from 'node:crypto';

/** A short hash of a value, the same for objects that differ only in the order of their keys. 16 hex digits. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, 16);
}

/** JSON with sorted keys and without undefined members. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
