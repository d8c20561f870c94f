import { LARGEST_EVENT } from './decoder.ts';
import { MalformedData } from './kubernetesError.ts';

/** The header is the frame's length, big-endian (apimachinery pkg/util/framer). */
const HEADER_BYTES = 4;

/** Splits a stream into length-delimited frames. */
export class Frames {
  #headerBytes = 0;
  /** The length in the header that is being read. */
  #length = 0;
  #parts: Uint8Array[] = [];
  #missing = 0;

  /** Returns the frames that this chunk completes. They can share its memory: read them before the next chunk. */
  push(piece: Uint8Array): readonly Buffer[] {
    const frames: Buffer[] = [];
    for (let at = 0; at < piece.length; ) {
      if (this.#headerBytes < HEADER_BYTES) {
        this.#header(piece[at++] as number);
      } else {
        const part = piece.subarray(at, at + this.#missing);
        at += part.length;
        this.#missing -= part.length;
        this.#parts.push(part);
      }
      if (this.#headerBytes === HEADER_BYTES && this.#missing === 0) frames.push(this.#complete());
    }
    return frames;
  }

  /** Call at the end of the stream. Throws if a frame is incomplete. */
  end(): void {
    if (this.#headerBytes > 0) throw new MalformedData('the stream ended inside an event');
  }

  #header(byte: number): void {
    this.#length = this.#length * 256 + byte;
    this.#headerBytes++;
    if (this.#headerBytes < HEADER_BYTES) return;
    if (this.#length > LARGEST_EVENT) throw new MalformedData(`an event of ${this.#length} bytes`);
    this.#missing = this.#length;
  }

  #complete(): Buffer {
    const [first, ...more] = this.#parts;
    const whole =
      first && more.length === 0
        ? Buffer.from(first.buffer, first.byteOffset, first.byteLength)
        : Buffer.concat(this.#parts);
    this.#headerBytes = 0;
    this.#length = 0;
    this.#parts = [];
    return whole;
  }
}
