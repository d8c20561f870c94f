/** The signature of programs for Windows: https://learn.microsoft.com/windows/win32/debug/pe-format */
const HEADER_AT = 0x3c;
/** From the start of the header to the entry of the signature in the table of data directories, in 64-bit programs. */
const ENTRY = 4 + 20 + 112 + 4 * 8;
const MAGIC_64 = 0x20b;

/** A program without its signature, which another content makes invalid. Throws if it is no 64-bit program, or does not end with the signature. */
export function withoutAuthenticode(program: Buffer, name: string): Buffer {
  const header = program.readUInt32LE(HEADER_AT);
  if (program.toString('latin1', header, header + 4) !== 'PE\0\0' || program.readUInt16LE(header + 24) !== MAGIC_64)
    throw new Error(`${name} is no 64-bit program of Windows.`);
  const [start, bytes] = [program.readUInt32LE(header + ENTRY), program.readUInt32LE(header + ENTRY + 4)];
  if (start === 0) return program;
  if (start + bytes !== program.length) throw new Error(`${name} does not end with its signature.`);
  const unsigned = Buffer.from(program.subarray(0, start));
  unsigned.fill(0, header + ENTRY, header + ENTRY + 8);
  return unsigned;
}
