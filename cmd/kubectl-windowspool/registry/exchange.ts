/** Bounded requests to a registry. They never send credentials or tokens to another host, and follow no answer into a private network. */
import { BlockList, isIP } from 'node:net';
import { readChunks } from '../../../controllers/kubernetes/exchange.ts';
import { messageOf } from '../../../controllers/kubernetes/kubernetesError.ts';
import { isLoopback } from './reference.ts';

const MOST_REDIRECTS = 5;

/** Addresses that only a private network has, among them that of the metadata of EC2 instances. */
const PRIVATE = new BlockList();
for (const [network, prefix, family] of [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['::', 127, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
] as const)
  PRIVATE.addSubnet(network, prefix, family);

/** A request. */
export interface Request {
  readonly url: URL;
  readonly accept?: string;
  /** The header Authorization, which only the host of `url` gets. */
  readonly authorization?: string | undefined;
  /** The fields of a form to post. */
  readonly form?: Readonly<Record<string, string>>;
  readonly mostBytes: number;
}

/** A response, with its body as a whole. */
export interface Response {
  readonly status: number;
  /** The header WWW-Authenticate. */
  readonly challenge: string;
  readonly body: Buffer;
}

/** How long to wait. */
export interface Waiting {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** The host did not answer, so further requests to it would fail, too. */
export class Unreachable extends Error {}

/** Sends a request, and follows redirects. Throws `Unreachable`, or an error with the bound that the answer exceeds. */
export async function exchange(
  { url, accept, authorization, form, mostBytes }: Request,
  waiting: Waiting,
): Promise<Response> {
  const signal = AbortSignal.any([waiting.signal, AbortSignal.timeout(waiting.timeoutMs)]);
  let target = url;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const response = await fetch(target, {
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      headers: {
        ...(accept && { accept }),
        ...(authorization && target.origin === url.origin && { authorization }),
      },
      redirect: 'manual',
      signal,
    }).catch((error: unknown) => fail(target, error, waiting));
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null || form) {
      const body = await bodyOf(response, mostBytes, target).catch((error: unknown) => fail(target, error, waiting));
      return { status: response.status, challenge: response.headers.get('www-authenticate') ?? '', body };
    }
    await response.body?.cancel();
    target = followed(target, location, url);
  }
  throw new Error(`${url.host} redirects more than ${MOST_REDIRECTS} times`);
}

/** The URL of an answer of a registry. Throws if the client must not follow it. */
export function followed(from: URL, location: string, registry: URL): URL {
  const to = URL.parse(location, from.href);
  if (to && mayFollow(registry, to)) return to;
  throw new Error(`${from.host} refers to ${to ? `${to.protocol}//${to.host}` : 'no URL'}, which is not followed`);
}

/** Over HTTP only on this machine, for a registry on this machine. Names of hosts are not resolved: HTTPS authenticates them. */
function mayFollow(registry: URL, to: URL): boolean {
  if (to.origin === registry.origin) return true;
  if (isLoopback(to)) return isLoopback(registry);
  const address = to.hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(address);
  const isPrivate = family !== 0 && PRIVATE.check(address, family === 6 ? 'ipv6' : 'ipv4');
  return to.protocol === 'https:' && !isPrivate;
}

async function bodyOf({ body }: globalThis.Response, mostBytes: number, { host }: URL): Promise<Buffer> {
  if (!body) return Buffer.alloc(0);
  const { chunks, isWhole } = await readChunks(body as unknown as AsyncIterable<Buffer>, mostBytes);
  if (isWhole) return Buffer.concat(chunks);
  throw new TooLarge(`${host} answers with more than ${mostBytes / 1024} KiB`);
}

class TooLarge extends Error {}

function fail({ host }: URL, error: unknown, { signal, timeoutMs }: Waiting): never {
  signal.throwIfAborted();
  if (error instanceof TooLarge) throw error;
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  // `fetch failed` has the cause.
  const why = isLate ? `no answer within ${timeoutMs / 1_000} s` : messageOf((error as Error).cause ?? error);
  throw new Unreachable(`${host} cannot be reached: ${why}`);
}
