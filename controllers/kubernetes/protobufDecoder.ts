import type { ListPage } from '../runtime/ports.ts';
import {
  attempt,
  bookmarkFields,
  type Decoder,
  eventOf,
  eventsOf,
  listFields,
  pageOf,
  type Reading,
} from './decoder.ts';
import { messages, problem, text } from './fieldKinds.ts';
import { type FieldTable, protobufReader } from './fields.ts';
import { Frames } from './frames.ts';
import { MalformedData } from './kubernetesError.ts';
import { MessageReader } from './messageReader.ts';
import { type Envelope, openEnvelope, readWatchEvent } from './protobufEnvelope.ts';
import { statusOfEnvelope } from './status.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

export interface ProtobufCollection<T> {
  /** `v1` */
  readonly apiVersion: string;
  /** Of an item: `Node`. */
  readonly kind: string;
  readonly fields: FieldTable<T>;
}

/** Decodes the fields of the table from Kubernetes' protobuf, and skips the rest. Custom resources have no protobuf. */
export function protobufDecoder<T extends object>(collection: ProtobufCollection<T>): Decoder<T> {
  const expect = (envelope: Envelope, kind: string): MessageReader => {
    if (envelope.kind === kind && envelope.apiVersion === collection.apiVersion) return envelope.raw;
    throw new MalformedData(`a ${envelope.apiVersion} ${envelope.kind} instead of a ${collection.apiVersion} ${kind}`);
  };
  const readItem = attemptOf(protobufReader(collection.fields));
  const readPage = pageReader(readItem);
  return {
    accept: { list: PROTOBUF, watch: `${PROTOBUF};stream=watch` },
    page: (body) => readPage(expect(openEnvelope(new MessageReader(body)), `${collection.kind}List`)),
    stream: () =>
      eventsOf(new Frames(), (frame) => {
        const { type, object } = readWatchEvent(new MessageReader(frame));
        const envelope = openEnvelope(object);
        return eventOf(type, {
          item: () => readItem(expect(envelope, collection.kind)),
          bookmark: () => readBookmark(expect(envelope, collection.kind)),
          status: () => statusOfEnvelope(envelope),
        });
      }),
  };
}

const readName = protobufReader<{ name: string; problem: string }>({ name: text('metadata=1', 'name=1'), problem });

/** Reads an item. Leaves the reader within the bounds of the item, wherever it failed. */
function attemptOf<T>(read: (reader: MessageReader) => T): (reader: MessageReader) => Reading<T> {
  return (reader) => {
    const { bytes, at, end } = reader;
    const reading = attempt(() => read(reader), '');
    if ('item' in reading) return reading;
    reader.end = end;
    const named = attempt(() => readName(new MessageReader(bytes, at, end)).name, '');
    return { unreadable: { ...reading.unreadable, name: 'item' in named ? named.item : '' } };
  };
}

function pageReader<T>(readItem: (reader: MessageReader) => Reading<T>): (reader: MessageReader) => ListPage<T> {
  const read = protobufReader<{
    readonly resourceVersion: string;
    readonly continueToken: string;
    readonly readings: readonly Reading<T>[];
  }>({
    ...listFields,
    readings: messages(readItem)('items=2'),
  });
  return (reader) => {
    const { readings, resourceVersion, continueToken } = read(reader);
    return pageOf(readings, resourceVersion, continueToken);
  };
}

const readBookmark = protobufReader(bookmarkFields);
