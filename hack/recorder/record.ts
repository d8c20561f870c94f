/** Records this version of the operator. */
import { type Entry, FORMAT, type Header } from './entry.ts';
import { lifeEntries, replicatedLifeEntries } from './lives.ts';
import { planEntries, stateEntries } from './planned.ts';

export interface Extent {
  readonly seed: number;
  /** How many random observed states. */
  readonly states: number;
  /** How many random lives, with one operator and again with two replicas. */
  readonly lives: number;
}

/** The lines of a recording. */
export async function* linesOf({ seed, states, lives }: Extent): AsyncGenerator<string> {
  const header: Header = { format: FORMAT };
  yield `${JSON.stringify(header)}\n`;
  const all = [
    planEntries(),
    stateEntries(seed, states),
    lifeEntries(seed, lives),
    replicatedLifeEntries(seed, lives),
  ] satisfies AsyncGenerator<Entry>[];
  for (const entries of all) for await (const entry of entries) yield `${JSON.stringify(entry)}\n`;
}
