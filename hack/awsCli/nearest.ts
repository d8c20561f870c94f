/** Of the words the one with the smallest edit distance to `word`, the first of several; '' when there are none. */
export function nearest(word: string, words: readonly string[]): string {
  let best = '';
  let least = Number.POSITIVE_INFINITY;
  for (const each of words) {
    const distance = editDistance(word.toLowerCase(), each.toLowerCase());
    if (distance < least) [best, least] = [each, distance];
  }
  return best;
}

/** How many letters must be inserted, removed or replaced (Levenshtein). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (letter === to[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
