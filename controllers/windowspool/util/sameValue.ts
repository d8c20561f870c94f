/** Deep equality of plain objects and lists. It allocates nothing, because it runs for every field of every heartbeat of a node. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameList(a, b);
  let more = 0;
  for (const key in a) {
    if (!(key in b) || !same(a[key as never], b[key as never])) return false;
    more--;
  }
  for (const _ in b) more++;
  return more === 0;
}

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (!same(a[index], b[index])) return false;
  return true;
}
