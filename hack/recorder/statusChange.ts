/** What a write changes in a status. */
import type { Json } from './entry.ts';
import { plain } from './plain.ts';

type Fields = { readonly [key: string]: Json };

/** The fields that differ, with their new values; null for a field that is removed. Conditions are fields by their types. */
export function statusChange(before: object | undefined, after: object): Fields {
  return changedFields(byType(before ?? {}), byType(after));
}

function byType(status: object): Fields {
  const { conditions, ...rest } = plain(status) as { readonly conditions?: readonly Fields[] };
  if (!conditions) return rest;
  return { ...rest, conditions: Object.fromEntries(conditions.map(({ type, ...fields }) => [String(type), fields])) };
}

function changedFields(before: Fields, after: Fields): Fields {
  const entries: [string, Json][] = [];
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old = null, now = null] = [before[key], after[key]];
    if (isFields(old) && isFields(now)) {
      const changed = changedFields(old, now);
      if (Object.keys(changed).length > 0) entries.push([key, changed]);
    } else if (JSON.stringify(old) !== JSON.stringify(now)) entries.push([key, now]);
  }
  return Object.fromEntries(entries);
}

/** Whether it is an object that is neither a list nor null. */
export function isFields(value: Json | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
