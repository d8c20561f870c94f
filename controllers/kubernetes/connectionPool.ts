import { createHash } from 'node:crypto';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { Logger } from '../runtime/ports.ts';
import type { TlsOptions } from './credentials.ts';

/** More than the number of watches, each of which holds one: without HTTP/2 a request waits while all are taken. */
const CONNECTIONS = 32;
const CONNECT_TIMEOUT_MS = 10_000;
/** Node probes a silent connection after this time, then each second, ten times: a vanished peer shows in 25 s. */
const KEEP_ALIVE_MS = 15_000;

/** One pool of connections for everything, made anew when the CA or the client certificate changes. */
export class ConnectionPool {
  readonly #proxyUrl: string | undefined;
  readonly #log: Logger;
  #current: { readonly fingerprint: string; readonly dispatcher: Dispatcher } | undefined;

  constructor(proxyUrl: string | undefined, log: Logger) {
    this.#proxyUrl = proxyUrl;
    this.#log = log;
  }

  dispatcher(tls: TlsOptions): Dispatcher {
    const fingerprint = fingerprintOf(tls);
    if (this.#current?.fingerprint === fingerprint) return this.#current.dispatcher;
    if (this.#current) {
      this.#log.info({}, 'the CA or the client certificate changed; connecting anew');
      // Requests and watches that run may finish; the server ends each watch within minutes.
      this.#current.dispatcher
        .close()
        .catch((error: unknown) => this.#log.warn({ error: String(error) }, 'closing connections failed'));
    }
    const dispatcher = this.#create(tls);
    this.#current = { fingerprint, dispatcher };
    return dispatcher;
  }

  /** Ends every connection, whatever runs on it. */
  async close(): Promise<void> {
    await this.#current?.dispatcher.destroy();
    this.#current = undefined;
  }

  #create(tls: TlsOptions): Dispatcher {
    const options = { connections: CONNECTIONS, allowH2: false, pipelining: 1 };
    const connect = { timeout: CONNECT_TIMEOUT_MS, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
    if (this.#proxyUrl)
      return new ProxyAgent({ ...options, uri: this.#proxyUrl, requestTls: { ...connect, ...tls }, connect });
    return new Agent({ ...options, connect: { ...connect, ...tls } });
  }
}

function fingerprintOf(tls: TlsOptions): string {
  const hash = createHash('sha256');
  for (const part of [tls.ca, tls.cert, tls.key, tls.servername, String(tls.rejectUnauthorized)]) {
    hash.update(part ?? '').update('\0');
  }
  return hash.digest('hex');
}
