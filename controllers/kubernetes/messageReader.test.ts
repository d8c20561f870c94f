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

describe('the reader of protobuf messages', () => {
  it('reads numbers up to 53 bits', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        const reader = new MessageReader(varint(value));
        assert.deepEqual([reader.varint(), reader.at], [value, reader.end]);
      }),
    );
  });

  it('skips every wire type that Kubernetes uses', () => {
    const fields = [
      message([1, 'text'], [2, 0], [300, Number.MAX_SAFE_INTEGER]),
      Buffer.from([(3 << 3) | 1, 1, 2, 3, 4, 5, 6, 7, 8]),
      Buffer.from([(4 << 3) | 5, 1, 2, 3, 4]),
      Buffer.concat([Buffer.from([5 << 3]), varint(2n ** 64n - 1n)]),
    ];
    assert.equal(skipAll(new MessageReader(Buffer.concat(fields))), 6);
  });

  const malformed: [what: string, bytes: number[], error: RegExp][] = [
    ['the start of a group', [(1 << 3) | 3], /wire type 3/],
    ['the end of a group', [(1 << 3) | 4], /wire type 4/],
    ['wire type 6', [(1 << 3) | 6], /wire type 6/],
    ['wire type 7', [(1 << 3) | 7], /wire type 7/],
    ['the field number 0', [0x02, 0], /field tag 2/],
    ['a tag of more than 32 bits', [0xff, 0xff, 0xff, 0xff, 0xff, 0x01], /field tag/],
    ['a tag that never ends', new Array<number>(20).fill(0xff), /more than ten bytes/],
    ['a number that never ends', [1 << 3, ...new Array<number>(20).fill(0x80)], /more than ten bytes/],
    ['a string that is longer than its message', [(1 << 3) | 2, 5, 1, 2], /longer than its message/],
    ['a string of 2^50 bytes', [(1 << 3) | 2, ...varint(2 ** 50)], /longer than its message/],
    ['a truncated fixed64', [(1 << 3) | 1, 1, 2], /ends inside a field/],
    ['a truncated fixed32', [(1 << 3) | 5, 1, 2], /ends inside a field/],
    ['a truncated tag', [0x80], /ends inside a field/],
    ['a tag without a value', [1 << 3], /ends inside a field/],
  ];
  for (const [what, bytes, error] of malformed) {
    it(`rejects ${what}`, () => {
      assert.throws(() => skipAll(readerOf(...bytes)), error);
    });
  }

  it('reads negative numbers, such as the seconds of a time before 1970', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const reader = new MessageReader(varint(BigInt.asUintN(64, BigInt(value))));
        assert.deepEqual([reader.varint(), reader.at], [value, reader.end]);
      }),
    );
  });

  it('rejects numbers without an exact value in JavaScript', () => {
    for (const value of [2n ** 53n, 2n ** 63n, 2n ** 64n - 2n ** 53n])
      assert.throws(() => new MessageReader(varint(value)).varint(), /more than 53 bits/, String(value));
  });

  it('rejects a field of negative length', () => {
    assert.throws(() => skipAll(readerOf((1 << 3) | 2, ...varint(2n ** 64n - 1n))), /longer than its message/);
  });

  it('stays within the current message', () => {
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

  it('terminates for any bytes', () => {
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
