import { foreignText } from '../windowspool/ports/foreignText.ts';
import type { MessageReader } from './messageReader.ts';

/** Enough for the label keys and values of a hundred kinds of nodes. Must be a power of two. */
const SLOTS = 8_192;
/** Longer strings rarely repeat. */
const LONGEST = 128;
/** The 32-bit prime of https://datatracker.ietf.org/doc/html/draft-eastlake-fnv */
const FNV_PRIME = 0x0100_0193;

/** Of a string that is decoded before it is cut: foreignText keeps 256 characters, each of at most four bytes. */
const MOST_BYTES = 2_048;

/**
 * Keeps one copy of strings that repeat, such as label keys, zones and versions. Looks a string up by its bytes, without decoding them. Memory is
 * bounded: a string replaces the less recent one of two in its place, so that strings that repeat outlast those that do not.
 */
export class Interner {
  readonly #slots: (string | undefined)[] = new Array<string | undefined>(SLOTS).fill(undefined);

  /** Decodes the rest of the reader, and cleans it as foreignText does. */
  text(reader: MessageReader): string {
    const { bytes, at, end } = reader;
    if (end - at > LONGEST) return cleaned(reader);
    let hash = end - at;
    for (let index = at; index < end; index += 2) {
      const next = index + 1 < end ? (bytes[index + 1] as number) : 0;
      hash = Math.imul(hash ^ ((bytes[index] as number) | (next << 8)), FNV_PRIME);
    }
    const recent = (hash ^ (hash >>> 16)) & (SLOTS - 2);
    const older = recent + 1;
    const known = this.#slots[recent];
    if (known !== undefined && equals(known, bytes, at, end)) return known;
    const before = this.#slots[older];
    const isBefore = before !== undefined && equals(before, bytes, at, end);
    const text = isBefore ? before : cleaned(reader);
    // One character for each byte: equals() finds no other.
    if (text.length === end - at) {
      this.#slots[older] = known;
      this.#slots[recent] = text;
    }
    return text;
  }
}

/** The rest of the reader as foreignText, in a time that does not grow with it. */
export function cleaned(reader: MessageReader): string {
  return foreignText(reader.text(MOST_BYTES));
}

function equals(text: string, bytes: Buffer, at: number, end: number): boolean {
  if (text.length !== end - at) return false;
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) !== bytes[at + index]) return false;
  return true;
}
