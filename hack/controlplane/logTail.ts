import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** The last lines of a file, for error messages; none if the file does not exist. */
export function logTail(path: string, lines = 15, maxBytes = 16_384): string {
  try {
    const file = openSync(path, 'r');
    try {
      const { size } = fstatSync(file);
      const length = Math.min(size, maxBytes);
      const buffer = Buffer.alloc(length);
      readSync(file, buffer, 0, length, size - length);
      return buffer.toString('utf8').trimEnd().split('\n').slice(-lines).join('\n');
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return `(${path} can't be read: ${error instanceof Error ? error.message : String(error)})`;
  }
}
