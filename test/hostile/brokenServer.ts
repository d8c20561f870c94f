/** A proxy before the API server that can answer some requests as no API server does, while it relays all others. */
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../hack/controlplane/controlplane.ts';
import { type ApiProxy, type Exchange, relay, startApiProxy } from '../engine/apiProxy.ts';

type Answer = Pick<Exchange, 'request' | 'response' | 'gone'>;

/** Requests that get another answer. */
export interface Breakage {
  /** Of the method and URL, such as `GET /api/v1/nodes?watch=true`. */
  readonly requests: RegExp;
  readonly answer: (exchange: Answer) => Promise<void>;
}

const MEGABYTE = 2 ** 20;
const JSON_TYPE = { 'content-type': 'application/json' };

/** A byte each second. */
export async function trickle({ response, gone }: Answer): Promise<void> {
  response.writeHead(200, JSON_TYPE);
  while (!gone.aborted) {
    response.write('{');
    await sleep(1_000, undefined, { signal: gone });
  }
}

/** Too many requests, and the next one is welcome in 30 years. */
export async function refuseForYears({ response }: Answer): Promise<void> {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'TooManyRequests', code: 429 };
  response.writeHead(429, { ...JSON_TYPE, 'retry-after': '1000000000' }).end(JSON.stringify(status));
}

/** The page of a proxy, which says that all is well. */
export async function answerHtml({ response }: Answer): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/html' }).end(`<html>${'<'.repeat(64 * 1024)}</html>`);
}

/** A line that has no end. */
export async function endlessLine({ response, gone }: Answer): Promise<void> {
  response.writeHead(200, JSON_TYPE);
  response.write('{"type":"ADDED","object":{"kind":"');
  const piece = Buffer.alloc(MEGABYTE, 'x');
  while (!gone.aborted) if (!response.write(piece)) await once(response, 'drain', { signal: gone });
}

/** A list of so many objects, which are these again and again, in pages as requested. */
export function listOf(kind: string, items: readonly object[], count: number): Breakage['answer'] {
  const texts = items.map((item) => Buffer.from(JSON.stringify(item)));
  return async ({ request, response, gone }) => {
    const query = new URL(request.url ?? '', 'https://localhost').searchParams;
    const begin = Number(query.get('continue') ?? 0);
    const end = Math.min(count, begin + Number(query.get('limit') ?? count));
    const metadata = { resourceVersion: '1', ...(end < count && { continue: String(end) }) };
    response.writeHead(200, JSON_TYPE);
    response.write(`{"kind":"${kind}","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[`);
    for (let index = begin; index < end && !gone.aborted; index += 1) {
      if (index > begin) response.write(',');
      if (!response.write(texts[index % texts.length])) await once(response, 'drain', { signal: gone });
    }
    response.end(']}');
  };
}

export class BrokenServer implements AsyncDisposable {
  readonly #answered = new Map<Breakage, number>();
  readonly #open = new Set<Exchange['response']>();
  #breakages: readonly Breakage[] = [];
  #proxy: ApiProxy | undefined;

  private constructor() {}

  /** Starts it for the user of a kubeconfig. At first, it relays all requests. */
  static async start(controlPlane: ControlPlane, userKubeconfig: string): Promise<BrokenServer> {
    const server = new BrokenServer();
    server.#proxy = await startApiProxy(controlPlane, userKubeconfig, (exchange) => server.#serve(exchange));
    return server;
  }

  get kubeconfig(): string {
    if (!this.#proxy) throw new Error('it was not started');
    return this.#proxy.kubeconfig;
  }

  /** From now on these requests get another answer. Connections that are open are closed, so that watches are opened again. */
  break(breakages: readonly Breakage[]): void {
    this.#breakages = breakages;
    for (const response of this.#open) response.destroy();
  }

  /** From now on it relays all requests. Answers that it has begun go on. */
  repair(): void {
    this.#breakages = [];
  }

  /** How many requests have got this answer. */
  answered(breakage: Breakage): number {
    return this.#answered.get(breakage) ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy?.[Symbol.asyncDispose]();
  }

  async #serve(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const body = await buffer(request);
    const breakage = this.#breakages.find(({ requests }) => requests.test(`${request.method} ${request.url}`));
    if (breakage) {
      this.#answered.set(breakage, this.answered(breakage) + 1);
      await breakage.answer(exchange);
      return;
    }
    this.#open.add(response);
    response.once('close', () => this.#open.delete(response));
    const isWatch = /[?&]watch=(?:true|1)\b/.test(request.url ?? '');
    const pass = async () => {};
    await relay(exchange, body, isWatch, { before: pass, after: pass });
  }
}
