/** The collection of a simulated server as bytes on a wire, which a test can break at any byte. */
import assert from 'node:assert/strict';
import { StreamFailure } from '../../runtime/failure.ts';
import type { Clock, ListPage, WatchEvent } from '../../runtime/ports.ts';
import type { SimulatedItem, SimulatedServer } from '../../runtime/testing/simulatedServer.ts';
import type { KubernetesClient, RequestOptions, StreamOptions } from '../client.ts';
import { type Decoder, jsonDecoder } from '../decoder.ts';
import { identifier, whole } from '../fieldKinds.ts';
import { type FieldTable, jsonReader } from '../fields.ts';
import { protobufDecoder } from '../protobufDecoder.ts';
import { each, envelope, frame, message, type WrittenField } from './protobufWriter.ts';

const KIND = { apiVersion: 'example.com/v1', kind: 'Item' };

const fields: FieldTable<SimulatedItem> = {
  key: identifier('metadata=1', 'name=1'),
  uid: identifier('metadata=1', 'uid=5'),
  resourceVersion: identifier('metadata=1', 'resourceVersion=6'),
  value: whole('spec=2', 'value=1'),
};

/** How the server encodes, and the decoder for it. */
export interface WireFormat {
  readonly decoder: Decoder<SimulatedItem>;
  event(event: WatchEvent<SimulatedItem>): Buffer;
  page(page: ListPage<SimulatedItem>): Buffer;
}

const ENDS = { 'k8s.io/initial-events-end': 'true' };

const inJson: WireFormat = {
  decoder: jsonDecoder(jsonReader(fields)),
  event: (event) => {
    const object = (): object => {
      if (event.type === 'ERROR')
        return { kind: 'Status', code: event.failure.status, reason: event.failure.reason, message: event.message };
      if (event.type !== 'BOOKMARK') return jsonOf(itemOf(event));
      const annotations = event.initialEventsEnd ? ENDS : undefined;
      return { metadata: { resourceVersion: event.resourceVersion, annotations } };
    };
    return Buffer.from(`${JSON.stringify({ type: event.type, object: object() })}\n`);
  },
  page: ({ items, resourceVersion, continueToken }) =>
    Buffer.from(JSON.stringify({ metadata: { resourceVersion, continue: continueToken }, items: items.map(jsonOf) })),
};

/** A server does not know what its client cannot read. */
function itemOf(event: Exclude<WatchEvent<SimulatedItem>, { readonly type: 'BOOKMARK' | 'ERROR' }>): SimulatedItem {
  assert.ok(event.type !== 'UNREADABLE');
  return event.item;
}

function jsonOf({ key, uid, resourceVersion, value }: SimulatedItem): object {
  return { metadata: { name: key, uid, resourceVersion }, spec: { value } };
}

const inProtobuf: WireFormat = {
  decoder: protobufDecoder({ ...KIND, fields }),
  event: (event) => {
    if (event.type === 'ERROR') {
      const status = message([3, event.message], [4, event.failure.reason], [6, event.failure.status]);
      return frame(event.type, envelope('v1', 'Status', status));
    }
    const object = event.type === 'BOOKMARK' ? bookmarkMessage(event) : itemMessage(itemOf(event));
    return frame(event.type, envelope(KIND.apiVersion, KIND.kind, object));
  },
  page: ({ items, resourceVersion, continueToken = '' }) => {
    const list = message([1, message([2, resourceVersion], [3, continueToken])], ...each(2, items, itemMessage));
    return envelope(KIND.apiVersion, `${KIND.kind}List`, list);
  },
};

function itemMessage({ key, uid, resourceVersion, value }: SimulatedItem): Buffer {
  return message([1, message([1, key], [5, uid], [6, resourceVersion])], [2, message([1, value])]);
}

function bookmarkMessage(bookmark: { resourceVersion: string; initialEventsEnd: boolean }): Buffer {
  const entries = Object.entries(bookmark.initialEventsEnd ? ENDS : {});
  const annotations = entries.map(([key, value]): WrittenField => [12, message([1, key], [2, value])]);
  return message([1, message([6, bookmark.resourceVersion], ...annotations)]);
}

/** Both formats that the operator reads. */
export const wireFormats = { JSON: inJson, protobuf: inProtobuf } as const;

/**
 * What happens to a response after `at` bytes. `reset`: the connection breaks. `end`: the response ends as if it were complete. `stall`: nothing
 * for 20 s, then the rest. `freeze`: nothing more. `expire`: the connection breaks, and the server compacts its history. `repeat`: the connection
 * breaks, and the next watch starts with events that were already delivered.
 */
export type Break = 'none' | 'reset' | 'end' | 'stall' | 'freeze' | 'expire' | 'repeat';
export const BREAKS: readonly Break[] = ['none', 'reset', 'end', 'stall', 'freeze', 'expire', 'repeat'];

export interface Breaking {
  readonly how: Break;
  readonly at: number;
  /** The network splits the response into chunks of at most this size. */
  readonly pieceBytes: number;
}

const WHOLE: Breaking = { how: 'none', at: 0, pieceBytes: Number.POSITIVE_INFINITY };

/** Stands in for KubernetesClient. */
export class SimulatedWire implements Pick<KubernetesClient, 'requestBytes' | 'stream'> {
  /** What happens to the next responses, in order. Later ones are not broken. */
  readonly breakings: Breaking[] = [];
  readonly #server: SimulatedServer;
  readonly #clock: Clock;
  readonly #format: WireFormat;

  constructor(server: SimulatedServer, clock: Clock, format: WireFormat) {
    this.#server = server;
    this.#clock = clock;
    this.#format = format;
  }

  async requestBytes(_method: string, _path: string, { query = {}, signal }: RequestOptions): Promise<Buffer> {
    const resourceVersion = String(query.resourceVersion ?? '');
    const options = { resourceVersion, ...(query.limit !== undefined && { limit: Number(query.limit) }) };
    const paged = query.continue === undefined ? options : { ...options, continueToken: String(query.continue) };
    const answer = this.#format.page(await this.#server.list(paged, signal));
    const pieces: Uint8Array[] = [];
    for await (const piece of this.#send(() => [answer], signal)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async *stream(_path: string, { query = {}, signal }: StreamOptions): AsyncGenerator<Uint8Array> {
    const batches = this.#server.watch(
      {
        resourceVersion: String(query.resourceVersion ?? ''),
        sendInitialEvents: query.sendInitialEvents === true,
        timeoutSeconds: Number(query.timeoutSeconds),
      },
      signal,
    );
    const format = this.#format;
    async function* answer(): AsyncGenerator<Buffer> {
      for await (const batch of batches) yield Buffer.concat(batch.map((event) => format.event(event)));
    }
    yield* this.#send(answer, signal);
  }

  async *#send(
    answer: () => AsyncIterable<Buffer> | Iterable<Buffer>,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const { how, at, pieceBytes } = this.breakings.shift() ?? WHOLE;
    let sent = 0;
    for await (const bytes of answer()) {
      const here = how === 'none' || at < sent || at >= sent + bytes.length ? bytes.length : at - sent;
      yield* inPieces(bytes.subarray(0, here), pieceBytes);
      if (here < bytes.length) {
        if (how === 'end') return;
        await this.#inflict(how, signal);
        yield* inPieces(bytes.subarray(here), pieceBytes);
      }
      sent += bytes.length;
    }
  }

  async #inflict(how: Break, signal: AbortSignal): Promise<void> {
    if (how === 'stall') return this.#clock.sleep(20_000, signal);
    if (how === 'freeze') return this.#clock.sleep(Number.MAX_SAFE_INTEGER, signal);
    if (how === 'expire') this.#server.compact();
    if (how === 'repeat') this.#server.faults.unshift('repeat');
    throw new StreamFailure('read ECONNRESET');
  }
}

function* inPieces(bytes: Buffer, most: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += most) yield bytes.subarray(at, at + most);
}
