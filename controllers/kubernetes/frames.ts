import { MalformedData } from './kubernetesError.ts';

/** A frame's length, big-endian (apimachinery pkg/util/framer). */
const HEADER_BYTES = 4;
/** etcd takes 1.5 MiB at most, and an event is one object. What claims to be larger is no frame. */
const LARGEST_FRAME = 16 * 1024 * 1024;

/** Cuts a stream into length-delimited frames, however the network cut it before. */
export class Frames {
  #headerBytes = 0;
  /** The begun frame's length, as far as its header is known. */
  #length = 0;
  #parts: Uint8Array[] = [];
  #missing = 0;

  /** The frames that this piece completes. They may lie in its memory: read them before the next one comes. */
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

  /** The stream has ended. Throws when it ended inside a frame. */
  end(): void {
    if (this.#headerBytes > 0) throw new MalformedData('the stream ended inside an event');
  }

  #header(byte: number): void {
    this.#length = this.#length * 256 + byte;
    this.#headerBytes++;
    if (this.#headerBytes < HEADER_BYTES) return;
    if (this.#length > LARGEST_FRAME) throw new MalformedData(`an event of ${this.#length} bytes`);
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
