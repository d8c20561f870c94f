/** /metrics: over TLS for clients that the API server authorizes, or without TLS on loopback. */
import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import type { Registry } from 'prom-client';
import type { KubernetesClient } from '../../../controllers/kubernetes/client.ts';
import { createReviews } from '../../../controllers/kubernetes/reviews.ts';
import type { Logger } from '../../../controllers/runtime/ports.ts';
import type { Address } from '../flagValues.ts';
import { certificateMetrics } from '../metrics/catalogue.ts';
import type { Options } from '../options.ts';
import { CertificateFiles } from './certificateFiles.ts';
import { ScrapeAccess } from './scrapeAccess.ts';
import { selfSigned } from './selfSigned.ts';
import { type Answer, serve, text } from './serve.ts';

const PATH = '/metrics';
/** Timeout of a review: two fit into the ten seconds that Prometheus waits for a scrape, so that it receives the cause. */
const REVIEW_MS = 4_000;

interface Sources {
  readonly registry: Registry;
  readonly client: KubernetesClient;
}

type Flags = Pick<Options, 'metricsSecure' | 'metricsCertDir'>;

/** Serves the registry until disposed. Rejects when the address or the certificate cannot be used. */
export async function startMetrics(
  flags: Flags,
  address: Address,
  sources: Sources,
  log: Logger,
): Promise<AsyncDisposable> {
  if (flags.metricsSecure) return startSecure(flags, address, sources, log);
  const endpoint = await serve('metrics-address', address, { [PATH]: () => show(sources) });
  log.info({ metricsPort: endpoint.port }, 'serving metrics without TLS');
  return endpoint;
}

async function startSecure(
  { metricsCertDir: dir }: Flags,
  address: Address,
  { registry, client }: Sources,
  log: Logger,
): Promise<AsyncDisposable> {
  const ending = new AbortController();
  const access = new ScrapeAccess(createReviews(client, REVIEW_MS), log, () => performance.now(), ending.signal);
  const files = dir === undefined ? undefined : new CertificateFiles(dir, log, certificateMetrics(registry));
  const pair = files ? await files.first() : selfSigned([hostname(), 'localhost'], Date.now());
  const routes = { [PATH]: guarded(access, () => show({ registry })) };
  const endpoint = await serve('metrics-address', address, routes, { tls: pair });
  files?.follow((next) => endpoint.useCertificate(next));
  log.info({ metricsPort: endpoint.port, certificate: dir ?? 'self-signed' }, 'serving metrics over TLS');
  return {
    [Symbol.asyncDispose]: async () => {
      files?.[Symbol.dispose]();
      ending.abort(new DOMException('the operator is stopping', 'AbortError'));
      await endpoint[Symbol.asyncDispose]();
    },
  };
}

async function show({ registry }: Pick<Sources, 'registry'>): Promise<Answer> {
  return { status: 200, contentType: registry.contentType, body: await registry.metrics() };
}

/** Authorizes the request before it is answered. */
function guarded(access: ScrapeAccess, answer: () => Promise<Answer>) {
  return async ({ headers, method = 'GET', socket }: IncomingMessage): Promise<Answer> => {
    const client = socket.remoteAddress ?? '';
    const refusal = await access.refusal(headers.authorization, method.toLowerCase(), PATH, client);
    if (!refusal) return answer();
    return text(refusal.status, refusal.text, refusal.status === 401 ? { 'www-authenticate': 'Bearer' } : {});
  };
}
