/**
 * Decodes lists and watches of JSON. Not client-node's informer: it keeps whole objects (17 KB of JSON for a node) and drops ERROR events.
 */
import type { KubernetesObject, V1ListMeta, V1WatchEvent } from '@kubernetes/client-node';
import type { ListPage, WatchEvent } from '../runtime/ports.ts';
import { MalformedData } from './kubernetesError.ts';
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
  /** Returns the events that this chunk completes. Throws at the first malformed event. */
  push(piece: Uint8Array): readonly WatchEvent<T>[];
  /** Call at the end of the stream. Throws if an event is incomplete. */
  end(): void;
}

const NEWLINE = 0x0a;

/** Decodes JSON; a watch has one event a line. `transform` picks the fields to keep, so that the rest can be collected. */
export function jsonDecoder<O extends Wire<KubernetesObject>, T>(transform: (object: O) => T): Decoder<T> {
  return {
    accept: { list: 'application/json', watch: 'application/json' },
    page: (body) => {
      const { metadata, items } = parse<{ metadata?: Wire<V1ListMeta>; items?: readonly O[] | null }>(body);
      if (!metadata?.resourceVersion) throw new MalformedData('a list without a resourceVersion');
      const page = { items: (items ?? []).map(transform), resourceVersion: metadata.resourceVersion };
      return metadata.continue ? { ...page, continueToken: metadata.continue } : page;
    },
    stream: () => new JsonEvents(transform),
  };
}

class JsonEvents<O extends Wire<KubernetesObject>, T> implements EventDecoder<T> {
  readonly #transform: (object: O) => T;
  /** Chunks of the incomplete line. */
  #partial: Uint8Array[] = [];

  constructor(transform: (object: O) => T) {
    this.#transform = transform;
  }

  push(piece: Uint8Array): readonly WatchEvent<T>[] {
    const events: WatchEvent<T>[] = [];
    let from = 0;
    for (let to = piece.indexOf(NEWLINE); to >= 0; to = piece.indexOf(NEWLINE, from)) {
      const line = this.#complete(piece.subarray(from, to));
      if (line.length > 0) events.push(this.#event(line));
      from = to + 1;
    }
    if (from < piece.length) this.#partial.push(piece.subarray(from));
    return events;
  }

  end(): void {
    if (this.#partial.length > 0) throw new MalformedData('the stream ended inside an event');
  }

  #complete(rest: Uint8Array): Buffer {
    if (this.#partial.length === 0) return Buffer.from(rest.buffer, rest.byteOffset, rest.byteLength);
    const line = Buffer.concat([...this.#partial, rest]);
    this.#partial = [];
    return line;
  }

  #event(line: Buffer): WatchEvent<T> {
    const { type, object } = parse<Wire<V1WatchEvent> & { object?: O }>(line);
    if (!object) throw new MalformedData('an event without an object');
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        return { type, item: this.#transform(object) };
      case 'BOOKMARK':
        return bookmarkOf(object);
      case 'ERROR':
        return failureEvent(statusOfJson(object));
      default:
        throw new MalformedData(`an event of the unknown type ${JSON.stringify(type)}`);
    }
  }
}

function bookmarkOf({ metadata }: Wire<KubernetesObject>): WatchEvent<never> {
  if (!metadata?.resourceVersion) throw new MalformedData('a bookmark without a resourceVersion');
  return bookmarkEvent(metadata.resourceVersion, metadata.annotations ?? {});
}

/** An annotation marks the bookmark after the initial events of a watch list (apimachinery meta/v1, InitialEventsAnnotationKey). */
export function bookmarkEvent(
  resourceVersion: string,
  annotations: Readonly<Record<string, string>>,
): WatchEvent<never> {
  const initialEventsEnd = annotations['k8s.io/initial-events-end'] === 'true';
  return { type: 'BOOKMARK', resourceVersion, initialEventsEnd };
}

/** The object of an ERROR event is a Status. */
export function failureEvent(status: Status): WatchEvent<never> {
  const message = status.message || `the watch failed: ${status.reason}`;
  return { type: 'ERROR', failure: failureOfStatus(status), message };
}

function parse<V>(text: Buffer): V {
  try {
    return JSON.parse(text.toString('utf8')) as V;
  } catch (cause) {
    throw new MalformedData(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
