import assert from 'node:assert/strict';
import { withoutAuthenticode } from './authenticode.ts';

const HEADER = 128;
const ENTRY = HEADER + 24 + 112 + 32;

/** A program of 1024 bytes, followed by a signature. */
function program(signature: number): Buffer {
  const file = Buffer.alloc(1_024 + signature, 1);
  file.writeUInt32LE(HEADER, 0x3c);
  file.write('PE\0\0', HEADER, 'latin1');
  file.writeUInt16LE(0x20b, HEADER + 24);
  file.writeUInt32LE(signature && 1_024, ENTRY);
  file.writeUInt32LE(signature, ENTRY + 4);
  return file;
}

describe('the signature of a program for Windows', () => {
  it('is removed, with its entry in the header', () => {
    assert.ok(withoutAuthenticode(program(512), 'node').equals(program(0)));
    assert.ok(withoutAuthenticode(program(0), 'node').equals(program(0)));
  });

  it('is refused where it is not at the end, and in what is no program', () => {
    const longer = Buffer.concat([program(512), Buffer.alloc(8)]);
    assert.throws(() => withoutAuthenticode(longer, 'node'), /^Error: node does not end with its signature/);
    assert.throws(() => withoutAuthenticode(Buffer.alloc(512), 'node'), /^Error: node is no 64-bit program of Windows/);
  });
});
