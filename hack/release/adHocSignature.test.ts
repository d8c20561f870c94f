import assert from 'node:assert/strict';
import { withAdHocSignature } from './adHocSignature.ts';
import { program, signatureOf } from './testing/machO.ts';

describe('the ad hoc signature of a program for macOS', () => {
  it('has the hash of each page, and covers all that comes before it', () => {
    for (const bytes of [8_192, 9_000, 12_288 + 16]) {
      const unsigned = program(bytes);
      const signed = withAdHocSignature(unsigned, 'plugin');
      const signature = signatureOf(signed);
      assert.deepEqual(signature, {
        identifier: 'plugin',
        flags: 0x20002,
        hashedBytes: Math.ceil(bytes / 16) * 16,
        wrongPages: [],
        endsFile: true,
      });
      // The rest is as before, but for the load commands.
      assert.ok(signed.subarray(4_096, bytes).equals(unsigned.subarray(4_096)));
    }
  });

  it('does not match another content', () => {
    const signed = withAdHocSignature(program(20_000), 'plugin');
    signed.writeUInt8(1, 9_000);
    assert.deepEqual(signatureOf(signed).wrongPages, [2]);
  });

  it('is the same for the same program', () => {
    assert.ok(withAdHocSignature(program(9_000), 'plugin').equals(withAdHocSignature(program(9_000), 'plugin')));
  });

  it('is refused for a program that is signed, is none of macOS, or has no space', () => {
    const signed = withAdHocSignature(program(9_000), 'plugin');
    assert.throws(() => withAdHocSignature(signed, 'plugin'), /^Error: plugin is signed already/);
    assert.throws(() => withAdHocSignature(Buffer.alloc(64), 'plugin'), /^Error: plugin is no 64-bit program of macOS/);
    const full = program(9_000, { firstSection: 32 + 152 + 72 });
    assert.throws(() => withAdHocSignature(full, 'plugin'), /^Error: plugin has no space for the load command/);
    const longer = Buffer.concat([program(9_000), Buffer.alloc(8)]);
    assert.throws(() => withAdHocSignature(longer, 'plugin'), /does not end with __LINKEDIT/);
  });
});
