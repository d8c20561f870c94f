/** Pairs the observations of two versions. Pure. */
import type { Observation } from './entry.ts';

/** An observation of each version, or of the one that has it. */
export type Pair =
  | { readonly before: Observation; readonly after: Observation }
  | { readonly before: Observation; readonly after?: undefined }
  | { readonly before?: undefined; readonly after: Observation };

/** How far to search for the next observation that both have. */
const FARTHEST = 200;

/** Pairs observations of the same kind, name and object, in order. */
export function* aligned(before: readonly Observation[], after: readonly Observation[]): Generator<Pair> {
  const [old, now] = [before.map(keyOf), after.map(keyOf)];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [skipped, added] = untilNextPair(old.slice(i, i + FARTHEST), now.slice(j, j + FARTHEST));
    for (const only of before.slice(i, i + skipped)) yield { before: only };
    for (const only of after.slice(j, j + added)) yield { after: only };
    i += skipped;
    j += added;
    const pair = { before: before[i++], after: after[j++] };
    if (pair.before && pair.after) yield { before: pair.before, after: pair.after };
  }
}

/** How many observations of each come before the next one that both have: in total, as few as possible. */
function untilNextPair(old: readonly string[], now: readonly string[]): readonly [skipped: number, added: number] {
  for (let total = 0; total < old.length + now.length - 1; total++)
    for (let skipped = Math.max(0, total - now.length + 1); skipped <= Math.min(total, old.length - 1); skipped++)
      if (old[skipped] === now[total - skipped]) return [skipped, total - skipped];
  return [old.length, now.length];
}

function keyOf({ kind, name, of }: Observation): string {
  return JSON.stringify([kind, name, of]);
}
