import { LARGEST_EVENT } from './decoder.ts';
import { MalformedData } from './kubernetesError.ts';

/** The header is the frame's length, big-endian (apimachinery pkg/util/framer). */
const HEADER_BYTES = 4;
/** Memory that is kept for the next frame. A node with 50 images has 15 KB. */
const KEPT_BYTES = 64 * 1024;

/** Splits a stream into length-delimited frames. */
export class Frames {
  #headerBytes = 0;
  /** The length in the header, as far as it is read. */
  #length = 0;
  #bytes = 0;
  /** The bytes of a frame that is not in one chunk. Most are in two, so the memory is used again. */
  #partial: Buffer = Buffer.alloc(0);

  /** Passes on each frame that this chunk completes. The memory of a frame can be used again as soon as `onFrame` returns. */
  push(piece: Uint8Array, onFrame: (frame: Buffer) => void): void {
    for (let at = 0; at < piece.length; ) {
      let whole = this.#partial;
      if (this.#headerBytes < HEADER_BYTES) {
        this.#header(piece[at++] as number);
      } else {
        const part = piece.subarray(at, at + this.#length - this.#bytes);
        at += part.length;
        if (part.length === this.#length) whole = Buffer.from(part.buffer, part.byteOffset, part.length);
        else whole = this.#append(part);
        this.#bytes += part.length;
      }
      if (this.#headerBytes < HEADER_BYTES || this.#bytes < this.#length) continue;
      const frame = whole.subarray(0, this.#length);
      this.#reset();
      onFrame(frame);
    }
  }

  /** Call at the end of the stream. Throws if a frame is incomplete. */
  end(): void {
    if (this.#headerBytes > 0) throw new MalformedData('the stream ended inside an event');
  }

  #header(byte: number): void {
    this.#length = this.#length * 256 + byte;
    this.#headerBytes++;
    if (this.#headerBytes === HEADER_BYTES && this.#length > LARGEST_EVENT)
      throw new MalformedData(`an event of ${this.#length} bytes`);
  }

  #append(part: Uint8Array): Buffer {
    const needed = this.#bytes + part.length;
    if (this.#partial.length < needed) {
      const larger = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(needed)));
      larger.set(this.#partial.subarray(0, this.#bytes));
      this.#partial = larger;
    }
    this.#partial.set(part, this.#bytes);
    return this.#partial;
  }

  #reset(): void {
    this.#headerBytes = 0;
    this.#length = 0;
    this.#bytes = 0;
    if (this.#partial.length > KEPT_BYTES) this.#partial = Buffer.alloc(0);
  }
}
