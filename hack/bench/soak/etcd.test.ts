import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compactionRequest } from './etcd.ts';

describe("etcd's compaction request", () => {
  it('carries any revision as a protobuf varint', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (revision) => {
        const [tag, ...rest] = compactionRequest(revision);
        const digits = rest.slice(0, -2).map((byte, place) => (byte % 0x80) * 0x80 ** place);
        assert.equal(tag, 0x08);
        assert.deepEqual(rest.slice(-2), [0x10, 1]);
        assert.equal(
          digits.reduce((sum, digit) => sum + digit, 0),
          revision,
        );
        assert.deepEqual(
          rest.slice(0, -2).map((byte) => byte >= 0x80),
          digits.map((_, place) => place < digits.length - 1),
        );
      }),
    );
  });
});
