/** The Levenshtein distance of two strings: https://en.wikipedia.org/wiki/Levenshtein_distance */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, of] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, to] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + Number(of !== to);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
