import { editDistance } from '../../controllers/windowspool/util/editDistance.ts';

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
