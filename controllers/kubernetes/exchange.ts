/** One HTTP request. Uses node:http, because loading undici takes 20 MB of memory. */
import { type Agent, type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import type { Socket } from 'node:net';

const CONNECT_TIMEOUT_MS = 10_000;
/** TCP keep-alive starts after this time and probes each second, ten times: a peer that vanished is detected within 25 s. */
const KEEP_ALIVE_MS = 15_000;

export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | undefined;
  readonly agent: Agent;
  /** Aborts the exchange at any time, including while the body is read. */
  readonly signal: AbortSignal;
  /** Time-out for the response headers. Default: none. */
  readonly headersTimeoutMs?: number;
  /** Called when the connection is established, right before anything is sent. If it throws, nothing is sent. */
  readonly beforeSend?: (() => void) | undefined;
}

/** Resolves with the response when its headers arrive, whatever its status. */
export async function send({
  url,
  body,
  headersTimeoutMs,
  beforeSend,
  ...options
}: Exchange): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // Node sets no content-length for the body of a DELETE.
  const length = body !== undefined && { 'content-length': String(Buffer.byteLength(body)) };
  const headers = { ...options.headers, ...length };
  const request = (url.protocol === 'https:' ? overHttps : overHttp)(url, { ...options, headers }, resolve);
  const limit = (ms: number, what: string) => setTimeout(() => request.destroy(timeoutOf(what, ms)), ms);
  // The listener stays, but a later error is reported by the response.
  request.on('error', reject);
  const start = (): void => {
    try {
      beforeSend?.();
      request.end(body);
    } catch (error) {
      request.destroy(error as Error);
    }
  };
  request.once('socket', (socket) => {
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    if (!socket.connecting) return start();
    const connecting = limit(CONNECT_TIMEOUT_MS, 'connection');
    for (const event of [connectedEvent(socket), 'close']) socket.once(event, () => clearTimeout(connecting));
    socket.once(connectedEvent(socket), start);
  });
  const waiting = headersTimeoutMs === undefined ? undefined : limit(headersTimeoutMs, 'response');
  try {
    return await promise;
  } finally {
    clearTimeout(waiting);
  }
}

/** Reads the chunks of a stream. Stops, and destroys it, as soon as they have more than `maxBytes`: then they are not whole. */
export async function readChunks(
  stream: AsyncIterable<Buffer>,
  maxBytes: number,
): Promise<{ readonly chunks: readonly Buffer[]; readonly isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop destroys the stream.
    if (size > maxBytes) return { chunks, isWhole: false };
  }
  return { chunks, isWhole: true };
}

function connectedEvent(socket: Socket): string {
  return 'encrypted' in socket ? 'secureConnect' : 'connect';
}

function timeoutOf(what: string, ms: number): Error {
  return Object.assign(new Error(`no ${what} within ${ms / 1_000} s`), { code: 'ETIMEDOUT' });
}
