import type { ListPage, WatchEvent } from '../runtime/ports.ts';
import { KubernetesError } from './errors.ts';
import type { KubernetesObject } from './objects.ts';

/** A wire format of lists and watches, with the shape that its objects get here. */
export interface Decoder<T> {
  /** The Accept header of a list and of a watch. */
  readonly accept: { readonly list: string; readonly watch: string };
  page(body: Buffer): ListPage<T>;
  /** One for each stream, because events straddle the pieces that come off the network. */
  stream(): EventDecoder<T>;
}

interface EventDecoder<T> {
  /** The events that this piece completes. Throws at the first one that cannot be read. */
  push(piece: Uint8Array): readonly WatchEvent<T>[];
  /** The stream has ended. Throws when it ended inside an event. */
  end(): void;
}

interface JsonList<O> {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly O[] | null;
}

interface JsonEvent<O> {
  readonly type?: string;
  readonly object?: O;
}

interface JsonStatus {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly retryAfterSeconds?: number; readonly causes?: readonly { readonly reason?: string }[] };
}

const NEWLINE = 0x0a;

/** JSON, one event a line. `transform` keeps of an object what is wanted; the rest is garbage at once. */
export function jsonDecoder<O extends KubernetesObject, T>(transform: (object: O) => T): Decoder<T> {
  return {
    accept: { list: 'application/json', watch: 'application/json' },
    page: (body) => {
      const { metadata, items } = parse<JsonList<O>>(body);
      if (!metadata?.resourceVersion) throw malformed('a list without a resourceVersion');
      const page = { items: (items ?? []).map(transform), resourceVersion: metadata.resourceVersion };
      return metadata.continue ? { ...page, continueToken: metadata.continue } : page;
    },
    stream: () => new JsonEvents(transform),
  };
}

class JsonEvents<O extends KubernetesObject, T> implements EventDecoder<T> {
  readonly #transform: (object: O) => T;
  /** The begun line's pieces. */
  #begun: Uint8Array[] = [];

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
    if (from < piece.length) this.#begun.push(piece.subarray(from));
    return events;
  }

  end(): void {
    if (this.#begun.length > 0) throw malformed('the stream ended inside an event');
  }

  #complete(rest: Uint8Array): Buffer {
    if (this.#begun.length === 0) return Buffer.from(rest.buffer, rest.byteOffset, rest.byteLength);
    const line = Buffer.concat([...this.#begun, rest]);
    this.#begun = [];
    return line;
  }

  #event(line: Buffer): WatchEvent<T> {
    const { type, object } = parse<JsonEvent<O>>(line);
    if (!object) throw malformed('an event without an object');
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        return { type, item: this.#transform(object) };
      case 'BOOKMARK':
        return bookmark(object);
      case 'ERROR':
        return failure(object as JsonStatus);
      default:
        throw malformed(`an event of the unknown type ${JSON.stringify(type)}`);
    }
  }
}

function bookmark({ metadata }: KubernetesObject): WatchEvent<never> {
  if (!metadata?.resourceVersion) throw malformed('a bookmark without a resourceVersion');
  const initialEventsEnd = metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
  return { type: 'BOOKMARK', resourceVersion: metadata.resourceVersion, initialEventsEnd };
}

function failure({ code, reason, message, details }: JsonStatus): WatchEvent<never> {
  const causes = details?.causes?.flatMap((cause) => cause.reason ?? []);
  const retryAfterMs = details?.retryAfterSeconds === undefined ? undefined : details.retryAfterSeconds * 1000;
  return {
    type: 'ERROR',
    failure: { status: code, reason, causes, retryAfterMs },
    message: message ?? `the watch failed: ${reason}`,
  };
}

function parse<V>(text: Buffer): V {
  try {
    return JSON.parse(text.toString('utf8')) as V;
  } catch (cause) {
    throw malformed(cause instanceof Error ? cause.message : String(cause));
  }
}

function malformed(what: string): KubernetesError {
  return new KubernetesError(`malformed data from the API server: ${what}`, { reason: 'MalformedAnswer' });
}
