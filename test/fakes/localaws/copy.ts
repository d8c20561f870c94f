/** A copy of plain data, dates included, as structuredClone makes it: for the small answers of AWS this is several times faster. */
export function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => copyOf(item)) as T;
  if (value instanceof Date) return new Date(value) as T;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) copy[key] = copyOf(item);
  return copy as T;
}
