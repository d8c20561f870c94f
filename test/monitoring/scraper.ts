/** A scraper of /metrics over TLS. */
import { request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';

export interface Scrape {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The first name of the certificate that the operator presented. */
  readonly certificate: string;
}

export interface ScrapeOptions {
  /** The token of a ServiceAccount; without it no header is sent. */
  readonly token?: string;
  /** Replaces `Bearer TOKEN`. */
  readonly authorization?: string;
  /** The authority that must have signed the certificate; by default any certificate is accepted. */
  readonly ca?: string;
  readonly method?: string;
  /** The address of the client, such as 127.0.0.2. */
  readonly localAddress?: string;
}

/** The port on which an operator serves its metrics. Throws when it serves none. */
export function metricsPort({ lines }: OperatorProcess): number {
  const port = lines.find((line) => line.metricsPort !== undefined)?.metricsPort;
  if (typeof port !== 'number') throw new Error('the operator has not said where it serves metrics');
  return port;
}

/** Scrapes once, on a connection of its own. */
export function scrape(operator: OperatorProcess, options: ScrapeOptions = {}): Promise<Scrape> {
  const { token, ca, method = 'GET', localAddress } = options;
  const authorization = options.authorization ?? (token === undefined ? undefined : `Bearer ${token}`);
  const { promise, resolve, reject } = Promise.withResolvers<Scrape>();
  const sent = request({
    host: '127.0.0.1',
    port: metricsPort(operator),
    path: '/metrics',
    method,
    servername: 'localhost',
    ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
    headers: { ...(authorization !== undefined && { authorization }) },
    agent: false,
    ...(localAddress !== undefined && { localAddress }),
    signal: AbortSignal.timeout(30_000),
  });
  sent.on('error', reject).on('response', (answer) => {
    const shown = (answer.socket as TLSSocket).getPeerX509Certificate()?.subjectAltName ?? '';
    let body = '';
    answer.on('error', reject).on('data', (data) => {
      body += data;
    });
    answer.on('end', () => {
      const certificate = shown.split(', ')[0]?.replace('DNS:', '') ?? '';
      resolve({ status: answer.statusCode ?? 0, body, headers: answer.headers, certificate });
    });
  });
  sent.end();
  return promise;
}
