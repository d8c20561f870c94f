/** Kinds of fields for a FieldTable: `name: text('metadata=1', 'name=1')`. */
import { type Field, type FieldTable, jsonReader, type ProtobufField, protobufReader, type Step } from './fields.ts';
import { Interner } from './interner.ts';
import { MalformedData } from './kubernetesError.ts';
import { MapLayouts } from './mapLayouts.ts';
import { type MessageReader, WIRE } from './messageReader.ts';
import { epochOf } from './objects.ts';

export type Kind<T> = (...path: readonly [Step, ...Step[]]) => Field<T>;

type Traits<T> = Pick<Field<T>, 'absent' | 'fromProtobuf' | 'fromJson'> & Partial<Pick<Field<T>, 'wire' | 'required'>>;
type TextMap = Readonly<Record<string, string>>;
/** While the message is read: alternating keys and values. */
type MapParts = string[] | TextMap;

/** Defines a kind. Default: length-delimited and not required. */
export function kind<T>(traits: Traits<T>): Kind<T> {
  return (...path) => ({ wire: WIRE.bytes, required: false, ...traits, path });
}

const asText = (value: unknown): string => value as string;
/** Shared by the process: the same strings repeat in every collection. */
const interner = new Interner();
const layouts = new MapLayouts();

/** A string that is unique to its object, such as a provider ID. */
export const text = kind<string>({ absent: '', fromProtobuf: (reader) => reader.text(), fromJson: asText });

/** A string without which an object is malformed, such as its name. */
export const identifier = kind<string>({
  absent: '',
  required: true,
  fromProtobuf: (reader) => reader.text(),
  fromJson: asText,
});

/** A string that many objects share, such as a version. It is interned. */
export const sharedText = kind<string>({
  absent: '',
  fromProtobuf: (reader) => interner.text(reader),
  fromJson: asText,
});

/** A non-negative integer; 0 if absent. */
export const whole = kind<number>({
  wire: WIRE.varint,
  absent: 0,
  fromProtobuf: (reader) => reader.varint(),
  fromJson: (value) => value as number,
});

/** A boolean; false if absent. */
export const flag = kind<boolean>({
  wire: WIRE.varint,
  absent: false,
  fromProtobuf: (reader) => reader.varint() !== 0,
  fromJson: (value) => value === true,
});

const readTimestamp = protobufReader<{ seconds: number }>({ seconds: whole('seconds=1') });

/** A meta/v1 Time as epoch milliseconds, rounded down to seconds as in its JSON. 0 if absent. */
export const time = kind<number>({
  absent: 0,
  fromProtobuf: (reader) => readTimestamp(reader).seconds * 1000,
  fromJson: (value) => epochOf(asText(value)),
});

/** Whether the field is present. */
export const presence = kind<boolean>({ absent: false, fromProtobuf: () => true, fromJson: () => true });

/** A map of strings, such as labels. */
export const textMap = mapOf((reader) => interner.text(reader));

const readQuantity = protobufReader<{ text: string }>({ text: sharedText('string=1') });

/** A map of resource.Quantity in canonical form. */
export const quantities = mapOf((reader) => readQuantity(reader).text);

/** A list of messages, in protobuf only. */
export function messages<T>(
  read: (reader: MessageReader) => T,
): (...path: readonly Step[]) => ProtobufField<readonly T[]> {
  const absent: readonly T[] = Object.freeze([]);
  const fromProtobuf = (reader: MessageReader, before: readonly T[]): readonly T[] => {
    const item = read(reader);
    if (before === absent) return [item];
    // Created by this reader, and not published yet.
    (before as T[]).push(item);
    return before;
  };
  return (...path) => ({ path, wire: WIRE.bytes, absent, required: false, fromProtobuf });
}

/** A list of messages, each mapped to an item. */
export function repeated<R extends object, T = R>(table: FieldTable<R>, itemOf: (record: R) => T): Kind<readonly T[]> {
  const [readProtobuf, readJson] = [protobufReader(table), jsonReader(table)];
  const inProtobuf = messages((reader) => itemOf(readProtobuf(reader)));
  const fromJson = (value: unknown): readonly T[] =>
    (value as readonly unknown[]).map((item) => itemOf(readJson(item)));
  return (...path) => ({ ...inProtobuf(...path), fromJson });
}

/** A protobuf map has entries of key = 1 and value = 2. A node has dozens, so they are read without a table, into an array. */
function mapOf(readValue: (reader: MessageReader) => string): (...path: readonly Step[]) => Field<TextMap, MapParts> {
  const absent: TextMap = Object.freeze({});
  const fromProtobuf = (reader: MessageReader, before: MapParts): MapParts => {
    const entries = Array.isArray(before) ? before : [];
    readEntry(reader, readValue, entries);
    return entries;
  };
  const finish = (parts: MapParts): TextMap => (Array.isArray(parts) ? layouts.mapOf(parts) : parts);
  const fromJson = (value: unknown): TextMap => value as TextMap;
  return (...path) => ({ path, wire: WIRE.bytes, absent, required: false, fromProtobuf, finish, fromJson });
}

/** The value of one key in a map of strings: empty if the map lacks the key, undefined if there is no map. Skips other values. */
export function entry(wanted: string): Kind<string | undefined> {
  const keys = [Buffer.from(wanted)];
  return kind<string | undefined>({
    absent: undefined,
    fromProtobuf: (reader, before = '') => wantedEntry(reader, keys)?.value ?? before,
    // Protobuf cannot tell an empty map from an absent one.
    fromJson: (value) => (Object.keys(value as TextMap).length > 0 ? ((value as TextMap)[wanted] ?? '') : undefined),
  });
}

/** The entries with these keys in a map of strings. Skips other values. */
export function entriesOf(...wanted: readonly string[]): Kind<TextMap> {
  const keys = wanted.map((key) => Buffer.from(key));
  const absent: TextMap = Object.freeze({});
  return kind<TextMap>({
    absent,
    fromProtobuf: (reader, before) => {
      const found = wantedEntry(reader, keys);
      return found ? { ...before, [wanted[found.index] ?? '']: found.value } : before;
    },
    fromJson: (value) => {
      const found = wanted.filter((key) => Object.hasOwn(value as TextMap, key));
      return found.length > 0 ? Object.fromEntries(found.map((key) => [key, (value as TextMap)[key] ?? ''])) : absent;
    },
  });
}

/** Reads an entry whose key is one of `keys`; undefined for other keys. */
function wantedEntry(reader: MessageReader, keys: readonly Buffer[]): { index: number; value: string } | undefined {
  let index = -1;
  let [start, end] = [0, 0];
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if ((tag & 7) !== WIRE.bytes) throw new MalformedData(`the wire type ${tag & 7} in a map`);
    const outer = reader.enter();
    if (tag >>> 3 === 1) index = keys.findIndex((key) => isText(reader, key));
    if (tag >>> 3 === 2) [start, end] = [reader.at, reader.end];
    reader.leave(outer);
  }
  return index < 0 ? undefined : { index, value: reader.bytes.toString('utf8', start, end) };
}

/** Compares the string at a field number of a message. Does not move the reader. */
export function textIs(number: number, wanted: string): (reader: MessageReader) => boolean {
  const bytes = Buffer.from(wanted);
  const ofText = number * 8 + WIRE.bytes;
  return (reader) => {
    const start = reader.at;
    let isWanted = false;
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag !== ofText) {
        reader.skip(tag & 7);
        continue;
      }
      const outer = reader.enter();
      isWanted = isText(reader, bytes);
      reader.leave(outer);
    }
    reader.at = start;
    return isWanted;
  };
}

function isText({ bytes, at, end }: MessageReader, text: Buffer): boolean {
  return end - at === text.length && text.compare(bytes, at, end) === 0;
}

function readEntry(reader: MessageReader, readValue: (reader: MessageReader) => string, entries: string[]): void {
  let key = '';
  let value = '';
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag >>> 3 > 2) {
      reader.skip(tag & 7);
      continue;
    }
    if ((tag & 7) !== WIRE.bytes) throw new MalformedData(`the wire type ${tag & 7} in a map`);
    const outer = reader.enter();
    if (tag >>> 3 === 1) key = interner.text(reader);
    else value = readValue(reader);
    reader.leave(outer);
  }
  // Kubernetes has no such keys, and `__proto__` would be lost in a JavaScript object.
  if (key === '' || key === '__proto__') throw new MalformedData(`the key ${JSON.stringify(key)} in a map`);
  entries.push(key, value);
}
