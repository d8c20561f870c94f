/** Random choices. `random` is like Math.random. */

/** One of the items. Throws if there is none. */
export function pick<T>(items: readonly T[], random: () => number): T {
  const item = items[Math.floor(items.length * random())];
  if (item === undefined) throw new RangeError('There is nothing to choose from.');
  return item;
}
