import { type AgentOptions, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Logger } from '../runtime/ports.ts';
import type { TlsOptions } from './credentials.ts';

/** More than the number of watches, each of which holds one: without HTTP/2 a request waits while all are taken. */
const CONNECTIONS = 32;
/** What nobody uses may have gone half-open, and the next request would wait on it in vain. Node closes a connection that idles longer. */
const IDLE_MS = 5_000;

/** One pool of connections for everything, made anew when the CA or the client certificate changes. */
export class Connections {
  readonly #secure: boolean;
  readonly #proxyUrl: string | undefined;
  readonly #log: Logger;
  #current: { readonly tls: TlsOptions; readonly agent: HttpAgent } | undefined;
  /** Replaced ones, on which a request may still run. */
  readonly #retired: HttpAgent[] = [];

  /** @param server the API server's URL */
  constructor(server: string, proxyUrl: string | undefined, log: Logger) {
    this.#secure = server.startsWith('https:');
    this.#proxyUrl = proxyUrl;
    this.#log = log;
  }

  /** The connections that trust and show these certificates. */
  agent(tls: TlsOptions): HttpAgent {
    if (this.#current && sameTls(this.#current.tls, tls)) return this.#current.agent;
    if (this.#current) {
      this.#log.info({}, 'the CA or the client certificate changed; connecting anew');
      this.#retire(this.#current.agent);
    }
    this.#current = { tls, agent: this.#create(tls) };
    return this.#current.agent;
  }

  /** Ends every connection, whatever runs on it. */
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

  /** Requests and watches that run may finish; the server ends each watch within minutes. */
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
