import { MalformedData } from './kubernetesError.ts';

/** The wire types of a field's tag: https://protobuf.dev/programming-guides/encoding/#structure */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

export type WireType = (typeof WIRE)[keyof typeof WIRE];

/** A tag has at most 32 bits: 29 for the field number, 3 for the wire type. */
const LARGEST_TAG = 0xffff_ffff;
/** 64 bits, 7 in each byte. */
const LONGEST_VARINT = 10;

/**
 * A cursor over one protobuf message in a larger buffer. It copies nothing and stays within its bounds: for any bytes, reading ends or throws
 * MalformedData in at most as many steps as there are bytes.
 */
export class MessageReader {
  readonly bytes: Buffer;
  /** The next byte. */
  at: number;
  /** One past the last byte. */
  end: number;

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  /** The tag of the next field: its number times 8, plus its wire type. 0 at the end of the message. */
  tag(): number {
    if (this.at === this.end) return 0;
    const tag = this.varint();
    if (tag < 8 || tag > LARGEST_TAG) throw new MalformedData(`the field tag ${tag}`);
    return tag;
  }

  /** An int32 or int64 of at most 53 bits. Negative ones are ten bytes long. */
  varint(): number {
    const first = this.#byte();
    return first < 0x80 ? first : this.#longVarint(first & 0x7f);
  }

  /** Narrows the reader to the next length-delimited value. Returns the end to pass to leave(). */
  enter(): number {
    const outer = this.end;
    this.end = this.#endOfBytes();
    return outer;
  }

  /** Continues after the value that was entered, even if it was not read. */
  leave(outer: number): void {
    this.at = this.end;
    this.end = outer;
  }

  /** A separate reader of the rest. */
  rest(): MessageReader {
    return new MessageReader(this.bytes, this.at, this.end);
  }

  /** The rest as a string, at most its first `limit` bytes. Invalid UTF-8 becomes U+FFFD, as in the API server's JSON. */
  text(limit = Number.POSITIVE_INFINITY): string {
    return this.bytes.toString('utf8', this.at, Math.min(this.end, this.at + limit));
  }

  /** Whether the rest is these bytes. A loop, because a call of Buffer.compare takes longer than it compares. */
  is(wanted: Buffer): boolean {
    if (this.end - this.at !== wanted.length) return false;
    for (let index = 0; index < wanted.length; index++) if (this.bytes[this.at + index] !== wanted[index]) return false;
    return true;
  }

  /** Skips a value. Throws for groups, which Kubernetes does not use. */
  skip(wireType: number): void {
    switch (wireType) {
      case WIRE.bytes:
        this.at = this.#endOfBytes();
        return;
      case WIRE.varint:
        this.#skipVarint();
        return;
      case WIRE.fixed64:
        this.#advance(8);
        return;
      case WIRE.fixed32:
        this.#advance(4);
        return;
      default:
        throw new MalformedData(`the wire type ${wireType}`);
    }
  }

  #byte(): number {
    if (this.at >= this.end) throw new MalformedData('a message that ends inside a field');
    // Within the bound that the line above checks.
    return this.bytes[this.at++] as number;
  }

  #longVarint(first: number): number {
    let value = first;
    let scale = 0x80;
    for (let count = 2; count < LONGEST_VARINT; count++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return safe(value);
      scale *= 0x80;
    }
    const last = this.#byte();
    if (last >= 0x80) throw new MalformedData('a number of more than ten bytes');
    return this.#tenBytes();
  }

  /** The last ten bytes as a signed number of 64 bits. In two halves, because the sum of all bytes would be rounded. */
  #tenBytes(): number {
    let [low, high] = [0, 0];
    for (let index = 0; index < 5; index++) {
      low += ((this.bytes[this.at - 10 + index] as number) & 0x7f) * 0x80 ** index;
      high += ((this.bytes[this.at - 5 + index] as number) & 0x7f) * 0x80 ** index;
    }
    const bits = high % 2 ** 29;
    return safe((bits < 2 ** 28 ? bits : bits - 2 ** 29) * 2 ** 35 + low);
  }

  #skipVarint(): void {
    for (let count = 1; count <= LONGEST_VARINT; count++) if (this.#byte() < 0x80) return;
    throw new MalformedData('a number of more than ten bytes');
  }

  #endOfBytes(): number {
    const length = this.varint();
    if (length < 0 || length > this.end - this.at) throw new MalformedData('a field that is longer than its message');
    return this.at + length;
  }

  #advance(count: number): void {
    if (count > this.end - this.at) throw new MalformedData('a message that ends inside a field');
    this.at += count;
  }
}

function safe(value: number): number {
  if (!Number.isSafeInteger(value)) throw new MalformedData('a number of more than 53 bits');
  return value;
}
