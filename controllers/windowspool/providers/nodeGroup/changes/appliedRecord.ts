/** The record of the fields of a node group as last applied (`status.tracking.applied`): each field with a digest of its value. Pure. */
import type { WindowsPool } from '../../../api/api.gen.ts';
import { hashOf } from '../../../util/hash.ts';

/** The prefix of the fields of the launch template. */
export const LAUNCH_SETTINGS = 'template ';

/** The field of a launch setting, which is in the operator's launch template: `template disk.sizeGiB`. */
export function launchSettingsField(setting: string): string {
  return `${LAUNCH_SETTINGS}${setting}`;
}

/** Digests by field; undefined when status has none. */
export function appliedOf({ status }: WindowsPool): ReadonlyMap<string, string> | undefined {
  const entries = status?.tracking?.applied;
  return entries && new Map(entries.map(splitEntry));
}

/** Whether the field was last applied with this value. */
export function isApplied(applied: ReadonlyMap<string, string> | undefined, field: string, value: string): boolean {
  return applied?.get(field) === digestOf(value);
}

/** The digest of a value. */
export function digestOf(value: string): string {
  return hashOf(value).slice(0, 8);
}

/** The field and the digest of an entry. A field may contain `=`, a digest does not. */
export function splitEntry(entry: string): [field: string, digest: string] {
  const at = entry.lastIndexOf('=');
  return [entry.slice(0, at), entry.slice(at + 1)];
}
