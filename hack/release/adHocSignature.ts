/**
 * Signs programs for macOS without an identity, which is what macOS on arm64 requires to start them. The signature is the one that linkers write: the
 * hashes of all pages, and nothing else. No signer for Linux could be used: go-macho writes files that lack a part, and apple-codesign takes ten minutes
 * to build.
 *
 * https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/kern/cs_blobs.h
 */
import { createHash } from 'node:crypto';

const HEADER = 32;
const MAGIC_64 = 0xfeedfacf;
const SEGMENT_64 = 0x19;
const CODE_SIGNATURE = 0x1d;
const COMMAND_BYTES = 16;
const SUPER_BLOB = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
const SUPER_BLOB_BYTES = 20;
const DIRECTORY_BYTES = 88;
/** The first version with the fields of the executable segment. */
const DIRECTORY_VERSION = 0x20400;
const AD_HOC_BY_LINKER = 0x20002;
const MAIN_BINARY = 1n;
const SHA256 = { type: 2, bytes: 32 };
const PAGE_BITS = 12;
const PAGE = 1 << PAGE_BITS;
/** Memory is mapped in pages of this size on arm64. */
const MEMORY_PAGE = 0x4000;

interface Segment {
  /** Of its load command. */
  readonly command: number;
  readonly offset: number;
  readonly bytes: number;
}

/** The program with a signature at its end. Throws if it is no 64-bit program of macOS, is signed already, or has no space for the load command. */
export function withAdHocSignature(program: Buffer, identifier: string): Buffer {
  if (program.readUInt32LE(0) !== MAGIC_64) throw new Error(`${identifier} is no 64-bit program of macOS.`);
  const { segments, end, firstSection } = readCommands(program, identifier);
  const text = segments.get('__TEXT');
  const linkEdit = segments.get('__LINKEDIT');
  if (!text || !linkEdit || linkEdit.offset + linkEdit.bytes !== program.length)
    throw new Error(`${identifier} has no __TEXT, or does not end with __LINKEDIT.`);
  if (end + COMMAND_BYTES > firstSection) throw new Error(`${identifier} has no space for the load command.`);

  const start = roundUp(program.length, 16);
  const name = Buffer.from(`${identifier}\0`);
  const pages = Math.ceil(start / PAGE);
  const hashesAt = DIRECTORY_BYTES + name.length;
  const directoryBytes = hashesAt + pages * SHA256.bytes;
  const signatureBytes = roundUp(SUPER_BLOB_BYTES + directoryBytes, 16);
  const signed = Buffer.concat([program], start + signatureBytes);

  signed.writeUInt32LE(program.readUInt32LE(16) + 1, 16);
  signed.writeUInt32LE(program.readUInt32LE(20) + COMMAND_BYTES, 20);
  writeNumbers(signed, end, 'LE', [CODE_SIGNATURE, COMMAND_BYTES, start, signatureBytes]);
  const linkEditBytes = signed.length - linkEdit.offset;
  signed.writeBigUInt64LE(BigInt(roundUp(linkEditBytes, MEMORY_PAGE)), linkEdit.command + 32);
  signed.writeBigUInt64LE(BigInt(linkEditBytes), linkEdit.command + 48);

  // One blob, of the type of the code directory (0), which follows.
  writeNumbers(signed, start, 'BE', [SUPER_BLOB, SUPER_BLOB_BYTES + directoryBytes, 1, 0, SUPER_BLOB_BYTES]);
  const directory = start + SUPER_BLOB_BYTES;
  const fields = [CODE_DIRECTORY, directoryBytes, DIRECTORY_VERSION, AD_HOC_BY_LINKER, hashesAt, DIRECTORY_BYTES];
  // No special slots; code pages; the limit of what is hashed.
  writeNumbers(signed, directory, 'BE', [...fields, 0, pages, start]);
  signed.set([SHA256.bytes, SHA256.type, 0, PAGE_BITS], directory + 36);
  signed.writeBigUInt64BE(BigInt(text.offset), directory + 64);
  signed.writeBigUInt64BE(BigInt(text.bytes), directory + 72);
  signed.writeBigUInt64BE(MAIN_BINARY, directory + 80);
  signed.set(name, directory + DIRECTORY_BYTES);
  // Last, because the first page has the load command.
  for (let page = 0; page < pages; page++) {
    const hash = createHash('sha256').update(signed.subarray(page * PAGE, Math.min((page + 1) * PAGE, start)));
    signed.set(hash.digest(), directory + hashesAt + page * SHA256.bytes);
  }
  return signed;
}

function readCommands(program: Buffer, identifier: string) {
  const segments = new Map<string, Segment>();
  let firstSection = program.length;
  let end = HEADER;
  for (let index = 0; index < program.readUInt32LE(16); index++) {
    const kind = program.readUInt32LE(end);
    if (kind === CODE_SIGNATURE) throw new Error(`${identifier} is signed already.`);
    if (kind === SEGMENT_64) {
      const name = program.toString('latin1', end + 8, end + 24).replace(/\0+$/, '');
      const [offset, bytes] = [Number(program.readBigUInt64LE(end + 40)), Number(program.readBigUInt64LE(end + 48))];
      segments.set(name, { command: end, offset, bytes });
      for (let section = 0; section < program.readUInt32LE(end + 64); section++) {
        const at = program.readUInt32LE(end + 72 + section * 80 + 48);
        // Sections that are filled with zeros have no place in the file.
        if (at > 0) firstSection = Math.min(firstSection, at);
      }
    }
    end += program.readUInt32LE(end + 4);
  }
  return { segments, end, firstSection };
}

function writeNumbers(target: Buffer, offset: number, order: 'LE' | 'BE', numbers: readonly number[]): void {
  for (const [index, number] of numbers.entries())
    if (order === 'LE') target.writeUInt32LE(number, offset + index * 4);
    else target.writeUInt32BE(number, offset + index * 4);
}

function roundUp(value: number, multiple: number): number {
  return Math.ceil(value / multiple) * multiple;
}
