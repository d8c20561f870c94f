import { editDistance } from '../../controllers/windowspool/util/editDistance.ts';

/** The first of the words with the smallest edit distance to `word`; '' without words. */
export function nearest(word: string, words: readonly string[]): string {
  let best = '';
  let least = Number.POSITIVE_INFINITY;
  for (const each of words) {
    const distance = editDistance(word.toLowerCase(), each.toLowerCase());
    if (distance < least) [best, least] = [each, distance];
  }
  return best;
}
