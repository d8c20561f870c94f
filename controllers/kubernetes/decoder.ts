/**
 * Decodes lists and watches of JSON. Not client-node's informer: it keeps whole objects (17 KB of JSON for a node) and drops ERROR events.
 */
import type { KubernetesObject, V1WatchEvent } from '@kubernetes/client-node';
import type { ListPage, Unreadable, WatchEvent } from '../runtime/ports.ts';
import { foreignMessage, foreignText } from '../windowspool/ports/foreignText.ts';
import { exactText, identifier, itemsOf, textMap } from './fieldKinds.ts';
import { type FieldTable, jsonReader } from './fields.ts';
import { MalformedData, messageOf } from './kubernetesError.ts';
import type { Wire } from './objects.ts';
import { failureOfStatus, type Status, statusOfJson } from './status.ts';

/** Decodes a wire format of lists and watches to items of type T. */
export interface Decoder<T> {
  /** Accept headers. */
  readonly accept: { readonly list: string; readonly watch: string };
  page(body: Buffer): ListPage<T>;
  /** A decoder for one stream. It keeps state, because an event can span chunks. */
  stream(): EventDecoder<T>;
}

export interface EventDecoder<T> {
  /** Returns the events that this chunk completes. Throws at the first that is no event; one with a malformed object is UNREADABLE. */
  push(piece: Uint8Array): readonly WatchEvent<T>[];
  /** Call at the end of the stream. Throws if an event is incomplete. */
  end(): void;
}

/** The metadata of a list. Field numbers here and below: k8s.io/apimachinery v0.36 meta/v1 (generated.proto). */
export const listFields: FieldTable<{ readonly resourceVersion: string; readonly continueToken: string }> = {
  resourceVersion: identifier('metadata=1', 'resourceVersion=2'),
  continueToken: exactText('metadata=1', 'continue=3'),
};
const readListMeta = jsonReader(listFields);

/** The object of a BOOKMARK event. */
export interface Bookmark {
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export const bookmarkFields: FieldTable<Bookmark> = {
  resourceVersion: identifier('metadata=1', 'resourceVersion=6'),
  annotations: textMap('metadata=1', 'annotations=12'),
};
const readBookmark = jsonReader(bookmarkFields);

const NEWLINE = 0x0a;

/** Of an event. It is one object, and etcd stores at most 1.5 MiB. */
export const LARGEST_EVENT = 16 * 1024 * 1024;

/** Decodes JSON; a watch has one event a line. `transform` picks the fields to keep, so that the rest can be collected. */
export function jsonDecoder<O extends Wire<KubernetesObject>, T>(transform: (object: O) => T): Decoder<T> {
  return {
    accept: { list: 'application/json', watch: 'application/json' },
    page: (body) => {
      const list = parse(body);
      const { resourceVersion, continueToken } = readListMeta(list);
      const items = itemsOf((list as { readonly items?: unknown }).items ?? []) as readonly O[];
      const results = items.map((object) => attempt(() => transform(object), nameIn(object)));
      return pageOf(results, resourceVersion, continueToken);
    },
    stream: () =>
      eventsOf(new Lines(), (line) => {
        const { type, object } = (parse(line) ?? {}) as Partial<Wire<V1WatchEvent>> & { object?: O };
        if (!object) throw new MalformedData('an event without an object');
        return eventOf<T>(type, {
          item: () => attempt(() => transform(object), nameIn(object)),
          bookmark: () => readBookmark(object),
          status: () => statusOfJson(object),
        });
      }),
  };
}

/** Splits a stream into the texts of events. */
interface Framing {
  /** Passes on each text that this chunk completes. The memory of a text can be used again as soon as `onText` returns. */
  push(piece: Uint8Array, onText: (text: Buffer) => void): void;
  /** Throws if the stream ended inside an event. */
  end(): void;
}

/** Decodes the events of a stream. */
export function eventsOf<T>(framing: Framing, decode: (text: Buffer) => WatchEvent<T>): EventDecoder<T> {
  return {
    push: (piece) => {
      const events: WatchEvent<T>[] = [];
      framing.push(piece, (text) => events.push(decode(text)));
      return events;
    },
    end: () => framing.end(),
  };
}

/** An event of this type. `read`: reads its object, which is an item, a bookmark or a Status. */
export function eventOf<T>(
  type: unknown,
  read: { item(): Reading<T>; bookmark(): Bookmark; status(): Status },
): WatchEvent<T> {
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED': {
      const reading = read.item();
      return 'item' in reading ? { type, item: reading.item } : { type: 'UNREADABLE', ...reading.unreadable };
    }
    case 'BOOKMARK': {
      const { resourceVersion, annotations } = read.bookmark();
      // It marks the bookmark after the initial events of a watch list (apimachinery meta/v1, InitialEventsAnnotationKey).
      const initialEventsEnd = annotations['k8s.io/initial-events-end'] === 'true';
      return { type, resourceVersion, initialEventsEnd };
    }
    case 'ERROR': {
      const status = read.status();
      return {
        type,
        failure: failureOfStatus(status),
        message: status.message || `the watch failed: ${status.reason}`,
      };
    }
    default:
      throw new MalformedData(`an event of the unknown type ${foreignText(JSON.stringify(type) ?? 'undefined')}`);
  }
}

/** An item of a collection, or why it cannot be read. */
export type Reading<T> = { readonly item: T } | { readonly unreadable: Unreadable };

/** Reads an item; one that cannot be read must not hide the others. */
export function attempt<T>(read: () => T, name: string): Reading<T> {
  try {
    return { item: read() };
  } catch (error) {
    return { unreadable: { name, message: foreignMessage(messageOf(error)) } };
  }
}

export function pageOf<T>(readings: readonly Reading<T>[], resourceVersion: string, continueToken = ''): ListPage<T> {
  const items: T[] = [];
  const unreadable: Unreadable[] = [];
  for (const reading of readings) {
    if ('item' in reading) items.push(reading.item);
    else unreadable.push(reading.unreadable);
  }
  return {
    items,
    resourceVersion,
    ...(unreadable.length > 0 && { unreadable }),
    ...(continueToken !== '' && { continueToken }),
  };
}

function nameIn(object: Wire<KubernetesObject>): string {
  const name: unknown = object?.metadata?.name;
  return typeof name === 'string' ? foreignText(name) : '';
}

/** The lines of a stream that are not empty. */
class Lines implements Framing {
  /** Chunks of the incomplete line. */
  #partial: Uint8Array[] = [];
  #partialBytes = 0;

  push(piece: Uint8Array, onLine: (line: Buffer) => void): void {
    let from = 0;
    for (let to = piece.indexOf(NEWLINE); to >= 0; to = piece.indexOf(NEWLINE, from)) {
      const line = this.#complete(piece.subarray(from, to));
      if (line.length > 0) onLine(line);
      from = to + 1;
    }
    if (from < piece.length) this.#keep(piece.subarray(from));
  }

  end(): void {
    if (this.#partial.length > 0) throw new MalformedData('the stream ended inside an event');
  }

  #keep(rest: Uint8Array): void {
    this.#partial.push(rest);
    this.#partialBytes += rest.length;
    if (this.#partialBytes > LARGEST_EVENT) throw new MalformedData(`an event of more than ${LARGEST_EVENT} bytes`);
  }

  #complete(rest: Uint8Array): Buffer {
    if (this.#partial.length === 0) return Buffer.from(rest.buffer, rest.byteOffset, rest.byteLength);
    const line = Buffer.concat([...this.#partial, rest]);
    this.#partial = [];
    this.#partialBytes = 0;
    return line;
  }
}

function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'));
  } catch (cause) {
    throw new MalformedData(messageOf(cause), { cause });
  }
}
