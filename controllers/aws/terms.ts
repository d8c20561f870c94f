/** Objects of EC2 that a spec selects by IDs and by tags. */
import type { Tag } from '@aws-sdk/client-ec2';
import type { CallResult } from '../windowspool/ports/callResult.ts';
import type { SubnetTerm } from '../windowspool/ports/prerequisites.ts';

/** Filters of a request. */
export type Filters = ReturnType<typeof filter>;

/** A filter for any of these values. */
export function filter(Name: string, values: readonly string[]) {
  return [{ Name, Values: [...values] }];
}

/** The objects that any of the terms selects, each once, sorted by ID: one list for all IDs, and one for each term with tags. */
export async function selected<T extends { readonly id: string }>(
  idFilter: string,
  terms: readonly SubnetTerm[],
  vpcId: string,
  read: (filters: Filters) => Promise<CallResult<readonly T[]>>,
): Promise<CallResult<readonly T[]>> {
  const ids = terms.flatMap(({ id }) => id ?? []);
  const byTags = terms.flatMap(({ tags }) => (tags ? [tags] : []));
  const found = new Map<string, T>();
  for (const filters of [
    ...(ids.length > 0 ? [filter(idFilter, ids)] : []),
    ...byTags.map((tags) => [
      ...filter('vpc-id', [vpcId]),
      ...Object.entries(tags).flatMap(([key, value]) => filter(`tag:${key}`, [value])),
    ]),
  ]) {
    const result = await read(filters);
    if (!result.ok) return result;
    for (const object of result.value) found.set(object.id, object);
  }
  return { ok: true, value: [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/** Tags as EC2 returns them. */
export function tagsOf(tags: readonly Tag[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(tags.map(({ Key = '', Value = '' }) => [Key, Value]));
}
