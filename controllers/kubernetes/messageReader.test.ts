import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MalformedData } from './kubernetesError.ts';
import { MessageReader } from './messageReader.ts';
import { message, varint } from './testing/protobufWriter.ts';

const readerOf = (...bytes: number[]): MessageReader => new MessageReader(Buffer.from(bytes));

/** Skips every field. Returns their number. */
function skipAll(reader: MessageReader): number {
  let fields = 0;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    reader.skip(tag & 7);
    fields++;
  }
  return fields;
}

describe('reader of protobuf messages', () => {
  it('reads numbers up to 53 bits', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        const reader = new MessageReader(varint(value));
        assert.deepEqual([reader.varint(), reader.at], [value, reader.end]);
      }),
    );
  });

  it('passes by every wire type that Kubernetes has', () => {
    const fields = [
      message([1, 'text'], [2, 0], [300, Number.MAX_SAFE_INTEGER]),
      Buffer.from([(3 << 3) | 1, 1, 2, 3, 4, 5, 6, 7, 8]),
      Buffer.from([(4 << 3) | 5, 1, 2, 3, 4]),
      Buffer.concat([Buffer.from([5 << 3]), varint(2n ** 64n - 1n)]),
    ];
    assert.equal(skipAll(new MessageReader(Buffer.concat(fields))), 6);
  });

  const malformed: [what: string, bytes: number[], error: RegExp][] = [
    ['a begun group', [(1 << 3) | 3], /wire type 3/],
    ['an ended group', [(1 << 3) | 4], /wire type 4/],
    ['wire type 6', [(1 << 3) | 6], /wire type 6/],
    ['wire type 7', [(1 << 3) | 7], /wire type 7/],
    ['the field number 0', [0x02, 0], /field tag 2/],
    ['a tag of more than 32 bits', [0xff, 0xff, 0xff, 0xff, 0xff, 0x01], /field tag/],
    ['a tag that never ends', new Array<number>(20).fill(0xff), /more than ten bytes/],
    ['a number that never ends', [1 << 3, ...new Array<number>(20).fill(0x80)], /more than ten bytes/],
    ['a text that is longer than its message', [(1 << 3) | 2, 5, 1, 2], /longer than its message/],
    ['a text of 2^50 bytes', [(1 << 3) | 2, ...varint(2 ** 50)], /longer than its message/],
    ['a fixed64 that is cut', [(1 << 3) | 1, 1, 2], /ends inside a field/],
    ['a fixed32 that is cut', [(1 << 3) | 5, 1, 2], /ends inside a field/],
    ['a tag that is cut', [0x80], /ends inside a field/],
    ['a tag without a value', [1 << 3], /ends inside a field/],
  ];
  for (const [what, bytes, error] of malformed) {
    it(`refuses ${what}`, () => {
      assert.throws(() => skipAll(readerOf(...bytes)), error);
    });
  }

  it('refuses numbers that JavaScript has no exact value for, negative ones among them', () => {
    assert.throws(() => new MessageReader(varint(2n ** 64n - 1n)).varint(), /more than 53 bits/);
    assert.throws(() => new MessageReader(varint(2n ** 53n)).varint(), /more than 53 bits/);
  });

  it('stays in the message that it entered', () => {
    const reader = new MessageReader(message([1, message([1, 'inner'])], [2, 'outer']));
    assert.equal(reader.tag(), (1 << 3) | 2);
    const outer = reader.enter();
    assert.equal(reader.tag(), (1 << 3) | 2);
    reader.skip(2);
    assert.equal(reader.tag(), 0, 'the end of the inner message');
    reader.leave(outer);
    assert.equal(reader.tag(), (2 << 3) | 2);
    reader.enter();
    assert.equal(reader.text(), 'outer');
  });

  it('comes to an end whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        try {
          assert.ok(skipAll(new MessageReader(Buffer.from(bytes))) <= bytes.length);
        } catch (error) {
          assert.ok(error instanceof MalformedData, String(error));
        }
      }),
    );
  });
});
