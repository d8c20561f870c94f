import { sharedText, text } from './fieldKinds.ts';
import { type ProtobufField, protobufReader, type Step } from './fields.ts';
import { MalformedData } from './kubernetesError.ts';
import { MessageReader, WIRE } from './messageReader.ts';

/** The prefix of every object in protobuf (apimachinery pkg/runtime/serializer/protobuf). */
const MAGIC = Buffer.from('k8s\0', 'latin1');

/** An object that is not decoded yet, with its type. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The object's own message. */
  readonly raw: MessageReader;
}

/** A required inner message, as a reader of its own. */
function message(...path: readonly Step[]): ProtobufField<MessageReader> {
  const absent = new MessageReader(Buffer.alloc(0));
  return { path, wire: WIRE.bytes, absent, required: true, fromProtobuf: (reader) => reader.rest() };
}

const readUnknown = protobufReader<Envelope & { readonly contentEncoding: string }>({
  apiVersion: sharedText('typeMeta=1', 'apiVersion=1'),
  kind: sharedText('typeMeta=1', 'kind=2'),
  raw: message('raw=2'),
  contentEncoding: text('contentEncoding=3'),
});

/** Reads a meta/v1 WatchEvent. Its object has an envelope of its own. */
export const readWatchEvent: (reader: MessageReader) => { readonly type: string; readonly object: MessageReader } =
  protobufReader({ type: sharedText('type=1'), object: message('object=2', 'raw=1') });

/** Whether an object in protobuf starts at this offset. */
export function isProtobuf(bytes: Buffer, at = 0): boolean {
  return MAGIC.every((byte, index) => bytes[at + index] === byte);
}

/** Reads an envelope: the prefix and a runtime.Unknown (apimachinery pkg/runtime/generated.proto). */
export function openEnvelope({ bytes, at, end }: MessageReader): Envelope {
  if (end - at < MAGIC.length || !isProtobuf(bytes, at)) throw new MalformedData('an object that is not protobuf');
  const { contentEncoding, ...envelope } = readUnknown(new MessageReader(bytes, at + MAGIC.length, end));
  if (contentEncoding !== '') throw new MalformedData(`an object in the encoding ${JSON.stringify(contentEncoding)}`);
  return envelope;
}
