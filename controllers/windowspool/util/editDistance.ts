/**
 * The number of characters to insert, delete or replace, and of neighbors to swap, to get from one string to the other: the optimal string alignment
 * distance, https://en.wikipedia.org/wiki/Damerau%E2%80%93Levenshtein_distance
 */
export function editDistance(a: string, b: string): number {
  const [from, to] = [[...a], [...b]];
  let previous: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (const [i, char] of from.entries()) {
    const next = [i + 1];
    for (const [j, other] of to.entries()) {
      const replaced = at(row, j) + Number(char !== other);
      const isSwap = i > 0 && j > 0 && char === to[j - 1] && other === from[i - 1];
      const swapped = isSwap ? at(previous, j - 1) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(replaced, swapped, at(row, j + 1) + 1, at(next, j) + 1));
    }
    previous = row;
    row = next;
  }
  return at(row, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
