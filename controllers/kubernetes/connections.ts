import { type AgentOptions, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Logger } from '../runtime/ports.ts';
import type { TlsOptions } from './authentication.ts';

/** Must exceed the number of watches: over HTTP/1.1 each watch occupies a connection, and a request waits while all are occupied. */
const CONNECTIONS = 32;
/** Node closes connections that are idle for longer. An old idle connection may be half-open, and a request on it would time out. */
const IDLE_MS = 5_000;

/** The pool of connections. A new pool replaces it when the CA or the client certificate changes. */
export class Connections {
  readonly #secure: boolean;
  readonly #proxyUrl: string | undefined;
  readonly #log: Logger;
  #current: { readonly tls: TlsOptions; readonly agent: HttpAgent } | undefined;
  /** Replaced pools, which may still serve requests. */
  readonly #retired: HttpAgent[] = [];

  /** @param server the API server's URL */
  constructor(server: string, proxyUrl: string | undefined, log: Logger) {
    this.#secure = server.startsWith('https:');
    this.#proxyUrl = proxyUrl;
    this.#log = log;
  }

  /** Returns the pool for these TLS options. */
  agent(tls: TlsOptions): HttpAgent {
    if (this.#current && sameTls(this.#current.tls, tls)) return this.#current.agent;
    if (this.#current) {
      this.#log.info({}, 'the CA or the client certificate changed; reconnecting');
      this.#retire(this.#current.agent);
    }
    this.#current = { tls, agent: this.#create(tls) };
    return this.#current.agent;
  }

  /** Closes every connection, including those in use. */
  close(): void {
    for (const agent of this.#retired.splice(0)) agent.destroy();
    this.#current?.agent.destroy();
    this.#current = undefined;
  }

  #create(tls: TlsOptions): HttpAgent {
    const options: AgentOptions = { keepAlive: true, maxSockets: CONNECTIONS, timeout: IDLE_MS };
    if (this.#proxyUrl) options.proxyEnv = { HTTP_PROXY: this.#proxyUrl, HTTPS_PROXY: this.#proxyUrl };
    return this.#secure ? new HttpsAgent({ ...options, ...tls }) : new HttpAgent(options);
  }

  /** Lets running requests and watches finish. The server ends each watch within minutes. */
  #retire(agent: HttpAgent): void {
    this.#retired.push(agent);
    agent.keepSocketAlive = () => false;
    for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }
}

function sameTls(one: TlsOptions, other: TlsOptions): boolean {
  return (
    sameBytes(one.ca, other.ca) &&
    sameBytes(one.cert, other.cert) &&
    sameBytes(one.key, other.key) &&
    one.servername === other.servername &&
    one.rejectUnauthorized === other.rejectUnauthorized
  );
}

function sameBytes(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}
