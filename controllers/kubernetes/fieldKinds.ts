/** Kinds of fields for a FieldTable: `name: text('metadata=1', 'name=1')`. */
import { foreignMessage, foreignText } from '../windowspool/ports/foreignText.ts';
import { isWritable } from '../windowspool/ports/foreignTime.ts';
import {
  type Field,
  type FieldTable,
  jsonReader,
  type ProtobufField,
  protobufReader,
  protobufValueReader,
  type Step,
} from './fields.ts';
import { cleaned, Interner } from './interner.ts';
import { MalformedData } from './kubernetesError.ts';
import { MapLayouts } from './mapLayouts.ts';
import { type MessageReader, WIRE } from './messageReader.ts';
import { epochOf } from './objects.ts';
import { SharedValues } from './sharedValues.ts';

export type Kind<T, Occurrence = MessageReader> = (...path: readonly [Step, ...Step[]]) => Field<T, T, Occurrence>;

type Traits<T, Occurrence> = Pick<Field<T, T, Occurrence>, 'absent' | 'fromProtobuf' | 'fromJson'> &
  Partial<Pick<Field<T, T, Occurrence>, 'wire' | 'required' | 'read'>>;
type TextMap = Readonly<Record<string, string>>;
/** While the message is read: alternating keys and values. */
type MapParts = string[] | TextMap;

const noEntries: TextMap = Object.freeze({});

/** Defines a kind. Default: length-delimited and not required. */
export function kind<T, Occurrence = MessageReader>(traits: Traits<T, Occurrence>): Kind<T, Occurrence> {
  return (...path) => ({ wire: WIRE.bytes, required: false, ...traits, path });
}

/** The largest annotation that is kept whole, in characters. */
const LONGEST_VALUE = 16 * 1024;

/** A JSON value, which must be of this type. */
function typed<T extends string | number | boolean | object>(
  type: 'string' | 'number' | 'boolean' | 'object',
  value: unknown,
): T {
  if (typeof value !== type) throw new MalformedData(`a ${typeof value} instead of a ${type}`);
  return value as T;
}

const stringOf = (value: unknown): string => typed<string>('string', value);
const asText = (value: unknown): string => foreignText(stringOf(value));

/** Items of a JSON list. */
export function itemsOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new MalformedData(`a ${typeof value} instead of a list`);
  return value;
}

/** A node with feature discovery has hundreds of labels. A kubelet can set as many as fit into 1.5 MiB, and each of its writes would cost a second. */
const MOST_ENTRIES = 2_048;
const TOO_MANY = `more than ${MOST_ENTRIES} entries`;

/** Shared by the process: the same strings repeat in every collection. */
const interner = new Interner();
const layouts = new MapLayouts();

/** A string that is unique to its object, such as a provider ID. It is cut and cleaned as foreignText does. */
export const text = kind<string>({ absent: '', fromProtobuf: cleaned, fromJson: asText });

/** A sentence, such as that of a condition. It is cut and cleaned as foreignMessage does. */
export const sentence = kind<string>({
  absent: '',
  fromProtobuf: (reader) => foreignMessage(reader.text(LONGEST_VALUE)),
  fromJson: (value) => foreignMessage(stringOf(value)),
});

const EXACT: Traits<string, MessageReader> = {
  absent: '',
  fromProtobuf: (reader) => reader.text(),
  fromJson: stringOf,
};

/** A string that the API server itself sets, such as a continue token. */
export const exactText = kind(EXACT);

/** The same, without which an object is malformed, such as its UID. */
export const identifier = kind<string>({ ...EXACT, required: true });

const INTERNED: Traits<string, MessageReader> = {
  absent: '',
  fromProtobuf: (reader) => interner.text(reader),
  fromJson: asText,
};

/** A string that many objects share, such as a version. It is cut and cleaned as foreignText does, and interned. */
export const sharedText = kind(INTERNED);

/** The same, without which an object is malformed, such as the name of a node, which is also the value of a label. */
export const sharedIdentifier = kind({ ...INTERNED, required: true });

/** The kubelet sets 5: https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/nodestatus/setters.go. Later ones are ignored. */
const MOST_TEXTS = 16;
const noTexts: readonly string[] = Object.freeze([]);

/** A short list of strings that many objects share, such as the names of an image. Each is cut, cleaned and interned. */
export const sharedTexts = kind<readonly string[]>({
  absent: noTexts,
  fromProtobuf: (reader, before) => (before.length >= MOST_TEXTS ? before : before.concat(interner.text(reader))),
  fromJson: (value) => itemsOf(value).slice(0, MOST_TEXTS).map(asText),
});

/** An integer; 0 if absent. */
export const whole = kind<number>({
  wire: WIRE.varint,
  absent: 0,
  fromProtobuf: (reader) => reader.varint(),
  fromJson: (value) => typed<number>('number', value),
});

/** A boolean; false if absent. */
export const flag = kind<boolean>({
  wire: WIRE.varint,
  absent: false,
  fromProtobuf: (reader) => reader.varint() !== 0,
  fromJson: (value) => value === true,
});

function timeIn(epoch: number, written: string): number {
  if (isWritable(epoch)) return epoch;
  throw new MalformedData(`the time ${written}`);
}

const readSeconds = protobufValueReader(whole('seconds=1'));

/** A meta/v1 Time of the years 0 to 9999 as epoch milliseconds, rounded down to seconds as in its JSON. 0 if absent. */
export const time = kind<number>({
  absent: 0,
  fromProtobuf: (reader) => {
    const seconds = readSeconds(reader);
    return timeIn(seconds * 1000, `${seconds}, in seconds`);
  },
  fromJson: (value) => timeIn(epochOf(stringOf(value)), JSON.stringify(asText(value))),
});

/**
 * What could not be read: `status.addresses: a number instead of a string`, or empty. In a table with this field, a value that cannot be read is
 * left out; without it, or for a required value, the object is malformed.
 */
export const problem: Field<string> = {
  path: [],
  notesProblems: true,
  wire: WIRE.bytes,
  absent: '',
  required: false,
  fromProtobuf: (_, before) => before,
  fromJson: () => '',
};

/** A value that is not read. */
export const unread: Field<undefined> = {
  path: [],
  wire: WIRE.bytes,
  absent: undefined,
  required: false,
  fromProtobuf: () => undefined,
  fromJson: () => undefined,
};

/** Whether the field is present. */
export const presence = kind<boolean>({ absent: false, fromProtobuf: () => true, fromJson: () => true });

const readQuantity = protobufValueReader(sharedText('string=1'));

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
  const fromJson = (value: unknown): readonly T[] => itemsOf(value).map((item) => itemOf(readJson(item)));
  return (...path) => ({ ...inProtobuf(...path), fromJson });
}

/**
 * A map of strings, such as labels. A protobuf map has entries of key = 1 and value = 2. A node has dozens, so they are read without a table, into
 * an array.
 */
export const textMap = (...path: readonly Step[]): Field<TextMap, MapParts> => ({
  path,
  wire: WIRE.bytes,
  absent: noEntries,
  required: false,
  fromProtobuf: (reader, before) => {
    const entries = Array.isArray(before) ? before : [];
    readEntry(reader, entries);
    return entries;
  },
  finish: (parts) => {
    if (!Array.isArray(parts)) return parts;
    return layouts.mapOf(parts.length > 2 * MOST_ENTRIES ? parts.slice(0, 2 * MOST_ENTRIES) : parts);
  },
  fromJson: (value) => {
    const entries = Object.entries(typed<object>('object', value));
    if (entries.length > MOST_ENTRIES) throw new MalformedData(TOO_MANY);
    return layouts.mapOf(entries.filter(([key]) => !isOdd(key)).flatMap(([key, text]) => [key, asText(text)]));
  },
});

/** The value of one key in a map of strings: empty if the map lacks the key, undefined if there is no map. Skips other values. */
export function entry(wanted: string): Kind<string | undefined> {
  const keys = [Buffer.from(wanted)];
  return kind<string | undefined>({
    absent: undefined,
    fromProtobuf: (reader, before = '') => wantedEntry(reader, keys, boundedIn)?.value ?? before,
    // Protobuf cannot tell an empty map from an absent one.
    fromJson: (value) => {
      const map = typed<object>('object', value);
      if (Object.keys(map).length === 0) return undefined;
      return Object.hasOwn(map, wanted) ? bounded(stringOf(map[wanted as never])) : '';
    },
  });
}

/** The entries with these keys in a map of strings, such as annotations. Skips other values. */
export const entriesOf = selectedEntries(cleaned);

/** The entries with these keys in a map of resource.Quantity in canonical form. A kubelet can add any keys to its node's capacity. */
export const quantitiesOf = selectedEntries(readQuantity);

function selectedEntries(readValue: (reader: MessageReader) => string) {
  return (...wanted: readonly string[]): Kind<TextMap> => {
    const keys = wanted.map((key) => Buffer.from(key));
    return kind<TextMap>({
      absent: noEntries,
      fromProtobuf: (reader, before) => {
        const found = wantedEntry(reader, keys, readValue);
        return found ? { ...before, [wanted[found.index] ?? '']: found.value } : before;
      },
      fromJson: (value) => {
        const map = typed<object>('object', value);
        const found = wanted.filter((key) => Object.hasOwn(map, key));
        return found.length > 0 ? Object.fromEntries(found.map((key) => [key, asText(map[key as never])])) : noEntries;
      },
    });
  };
}

/** The same kind, of which equal values are one object, for each path. */
export function shared<T, Occurrence>(each: Kind<T, Occurrence>): Kind<T, Occurrence> {
  return (...path) => {
    const values = new SharedValues<T>();
    const field = each(...path);
    const finish = (value: T) => values.of(field.finish ? field.finish(value) : value);
    return { ...field, finish, fromJson: (value) => values.of(field.fromJson(value)) };
  };
}

function bounded(value: string): string {
  return value.slice(0, LONGEST_VALUE);
}

/** The same in a time that does not grow with the value. A character has at most four bytes. */
function boundedIn(reader: MessageReader): string {
  return bounded(reader.text(4 * LONGEST_VALUE));
}

/** Reads an entry whose key is one of `keys`; undefined for other keys. A node has dozens of others, so these allocate nothing. */
function wantedEntry(
  reader: MessageReader,
  keys: readonly Buffer[],
  readValue: (reader: MessageReader) => string,
): { index: number; value: string } | undefined {
  let index = -1;
  let start = reader.end;
  let end = reader.end;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag >>> 3 > 2) {
      reader.skip(tag & 7);
      continue;
    }
    if ((tag & 7) !== WIRE.bytes) throw new MalformedData(`the wire type ${tag & 7} in a map`);
    const outer = reader.enter();
    if (tag >>> 3 === 1) {
      index = keys.length - 1;
      while (index >= 0 && !reader.is(keys[index] as Buffer)) index--;
    } else {
      start = reader.at;
      end = reader.end;
    }
    reader.leave(outer);
  }
  if (index < 0) return undefined;
  const outer = reader.end;
  reader.at = start;
  reader.end = end;
  const value = readValue(reader);
  reader.end = outer;
  return { index, value };
}

function readEntry(reader: MessageReader, entries: string[]): void {
  if (entries.length > 2 * MOST_ENTRIES) return;
  if (entries.length === 2 * MOST_ENTRIES) {
    // The next ones are skipped without an error.
    entries.push('');
    throw new MalformedData(TOO_MANY);
  }
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
    else value = interner.text(reader);
    reader.leave(outer);
  }
  if (!isOdd(key)) entries.push(key, value);
}

/** Kubernetes has no labels and annotations with these keys, and `__proto__` would be lost in a JavaScript object. */
function isOdd(key: string): boolean {
  return key === '' || key === '__proto__';
}
