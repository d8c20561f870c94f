import type { MessageReader } from './messageReader.ts';

/** Enough for the label keys and values of some hundred kinds of node. Must be a power of two. */
const SLOTS = 8_192;
/** A longer text is hardly ever repeated. */
const LONGEST = 128;
/** https://datatracker.ietf.org/doc/html/draft-eastlake-fnv: the prime of 32 bits. */
const FNV_PRIME = 0x0100_0193;

/**
 * Keeps one copy of a text that comes again and again: label keys, zones, versions. A known text is found by its bytes, so that no string
 * is made to look it up. Bounded: each text has one slot, and takes it from the text that was there before.
 */
export class Interner {
  readonly #slots: (string | undefined)[] = new Array<string | undefined>(SLOTS).fill(undefined);

  /** What is left of the reader, as text. */
  text(reader: MessageReader): string {
    const { bytes, at, end } = reader;
    if (end - at > LONGEST) return reader.text();
    let hash = end - at;
    let seen = 0;
    for (let index = at; index < end; index++) {
      const byte = bytes[index] as number;
      seen |= byte;
      hash = Math.imul(hash ^ byte, FNV_PRIME);
    }
    // Only ASCII has one character a byte, by which it can be compared.
    if (seen >= 0x80) return reader.text();
    const slot = (hash ^ (hash >>> 16)) & (SLOTS - 1);
    const known = this.#slots[slot];
    if (known !== undefined && equals(known, bytes, at, end)) return known;
    const text = reader.text();
    this.#slots[slot] = text;
    return text;
  }
}

function equals(text: string, bytes: Buffer, at: number, end: number): boolean {
  if (text.length !== end - at) return false;
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) !== bytes[at + index]) return false;
  return true;
}
