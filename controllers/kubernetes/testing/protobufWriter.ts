/** Writes protobuf, for tests and benchmarks of the reader. */

/** A string, a message or other bytes, or an integer. */
type Value = string | Uint8Array | number;

/** A field: its number and its value. Undefined is omitted. */
export type WrittenField = readonly [number: number, value: Value | undefined];

/** Writes a message. */
export function message(...fields: readonly WrittenField[]): Buffer {
  return Buffer.concat(fields.map(([number, value]) => (value === undefined ? Buffer.alloc(0) : field(number, value))));
}

/** The entries of a map field: each a message of key = 1 and value = 2. */
export function map<V>(
  number: number,
  entries: Readonly<Record<string, V>> | undefined,
  write: (value: V) => Value,
): WrittenField[] {
  return Object.entries(entries ?? {}).map(([key, value]) => [number, message([1, key], [2, write(value)])]);
}

/** The occurrences of a repeated field. */
export function each<V>(number: number, values: readonly V[] | undefined, write: (value: V) => Value): WrittenField[] {
  return (values ?? []).map((value) => [number, write(value)]);
}

/** An object as Kubernetes sends it: the prefix and a runtime.Unknown. */
export function envelope(apiVersion: string, kind: string, raw: Uint8Array): Buffer {
  const typeMeta = message([1, apiVersion], [2, kind]);
  return Buffer.concat([Buffer.from('k8s\0'), message([1, typeMeta], [2, raw], [3, ''], [4, ''])]);
}

/** A watch's event as Kubernetes sends it: its length, and a WatchEvent. */
export function frame(type: string, object: Uint8Array): Buffer {
  const event = message([1, type], [2, message([1, object])]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

/** Writes an integer, 7 bits in each byte. A negative one has ten bytes. */
export function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

function field(number: number, value: Value): Buffer {
  if (typeof value === 'number') return Buffer.concat([varint(number * 8), varint(value)]);
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}
