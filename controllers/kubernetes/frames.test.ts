import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Frames } from './frames.ts';

/** The frames that these chunks complete. */
const framesOf = (reading: Frames, ...chunks: readonly Buffer[]): number[][] => {
  const frames: number[][] = [];
  for (const chunk of chunks) reading.push(chunk, (frame) => frames.push([...frame]));
  return frames;
};

const framed = (bytes: Uint8Array): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

describe('the frames of a stream', () => {
  it('are the same regardless of chunk boundaries', () => {
    const frames = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
    fc.assert(
      fc.property(frames, fc.array(fc.nat({ max: 352 }), { maxLength: 40, size: 'max' }), (written, cuts) => {
        const stream = Buffer.concat(written.map(framed));
        const at = [0, ...cuts.filter((cut) => cut < stream.length).sort((a, b) => a - b), stream.length];
        const reading = new Frames();
        const read = framesOf(reading, ...at.slice(1).map((end, index) => stream.subarray(at[index], end)));
        reading.end();
        assert.deepEqual(
          read,
          written.map((frame) => [...frame]),
        );
      }),
    );
  });

  it('are the same if they are longer than what is kept, and than a chunk', () => {
    const written = [200_000, 0, 65_536, 1, 65_537, 65_535].map((length, index) => Buffer.alloc(length, index + 1));
    const stream = Buffer.concat(written.map(framed));
    const chunks = Array.from({ length: Math.ceil(stream.length / 16_384) }, (_, index) =>
      // A copy, because a frame must not depend on a chunk that is gone.
      Buffer.from(stream.subarray(index * 16_384, (index + 1) * 16_384)),
    );
    const frames: Buffer[] = [];
    const reading = new Frames();
    for (const chunk of chunks) {
      reading.push(chunk, (frame) => frames.push(Buffer.from(frame)));
      chunk.fill(0xff);
    }
    reading.end();
    assert.deepEqual(frames, written);
  });

  it('are complete: a stream that ends inside a frame is an error', () => {
    const stream = Buffer.concat([framed(Buffer.from('first')), framed(Buffer.from('second'))]);
    for (let length = 0; length <= stream.length; length++) {
      const reading = new Frames();
      const whole = [9, 19].filter((end) => end <= length).length;
      assert.equal(framesOf(reading, stream.subarray(0, length)).length, whole);
      if ([0, 9, 19].includes(length)) reading.end();
      else assert.throws(() => reading.end(), /ended inside an event/);
    }
  });

  it('have a maximum length: a longer one is rejected before it is read', () => {
    const header = Buffer.alloc(4);
    header.writeUInt32BE(16 * 1024 * 1024 + 1);
    assert.throws(() => framesOf(new Frames(), header), /an event of 16777217 bytes/);
    assert.throws(() => framesOf(new Frames(), Buffer.from('{"type":"ADDED"')), /an event of 2065855609 bytes/);
  });
});
