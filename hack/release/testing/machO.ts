/** Programs for macOS, as small as they can be, and what their signature says. */
import { createHash } from 'node:crypto';

const HEADER = 32;
const SEGMENT = 72;
const SECTION = 80;

/** A program with the segments __TEXT, which has one section, and __LINKEDIT, which ends it. */
export function program(bytes: number, { firstSection = 4_096 } = {}): Buffer {
  const linkEdit = 8_000;
  const file = Buffer.alloc(bytes, 'program');
  file.fill(0, 0, Math.min(firstSection, 4_096));
  file.writeUInt32LE(0xfeedfacf, 0);
  file.writeUInt32LE(2, 16);
  file.writeUInt32LE(SEGMENT * 2 + SECTION, 20);
  segment(file, HEADER, '__TEXT', 0, linkEdit, 1);
  file.writeUInt32LE(firstSection, HEADER + SEGMENT + 48);
  segment(file, HEADER + SEGMENT + SECTION, '__LINKEDIT', linkEdit, bytes - linkEdit, 0);
  return file;
}

function segment(file: Buffer, at: number, name: string, offset: number, bytes: number, sections: number): void {
  file.writeUInt32LE(0x19, at);
  file.writeUInt32LE(SEGMENT + sections * SECTION, at + 4);
  file.write(name, at + 8, 'latin1');
  file.writeBigUInt64LE(BigInt(offset), at + 40);
  file.writeBigUInt64LE(BigInt(bytes), at + 48);
  file.writeUInt32LE(sections, at + 64);
}

/** Reads the signature as macOS does: from its load command to the code directory, whose hashes are computed again. */
export function signatureOf(file: Buffer) {
  const { start, bytes } = signatureCommand(file);
  const blob = file.subarray(start, start + bytes);
  const directory = blob.subarray(blob.readUInt32BE(16));
  if (blob.readUInt32BE(0) !== 0xfade0cc0 || directory.readUInt32BE(0) !== 0xfade0c02)
    throw new Error('There is no code directory.');
  const [hashes, identifier, , pages, hashedBytes] = [16, 20, 24, 28, 32].map((at) => directory.readUInt32BE(at));
  const [hashBytes = 0, , , pageBits = 0] = directory.subarray(36, 40);
  const page = (index: number) => file.subarray(index << pageBits, Math.min((index + 1) << pageBits, hashedBytes ?? 0));
  const hash = (index: number) => directory.subarray((hashes ?? 0) + index * hashBytes).subarray(0, hashBytes);
  const isWrong = (index: number) => !createHash('sha256').update(page(index)).digest().equals(hash(index));
  return {
    identifier: directory.toString('latin1', identifier, directory.indexOf(0, identifier)),
    flags: directory.readUInt32BE(12),
    hashedBytes,
    wrongPages: Array.from({ length: pages ?? 0 }, (_, index) => index).filter(isWrong),
    endsFile: hashedBytes === start && start + bytes === file.length,
  };
}

function signatureCommand(file: Buffer): { readonly start: number; readonly bytes: number } {
  let at = HEADER;
  for (let index = 0; index < file.readUInt32LE(16); index++) {
    if (file.readUInt32LE(at) === 0x1d) return { start: file.readUInt32LE(at + 8), bytes: file.readUInt32LE(at + 12) };
    at += file.readUInt32LE(at + 4);
  }
  throw new Error('There is no signature.');
}
