/** Look-ups of the hosts in a list: the IPv4 addresses of DNS names, and the DNS names of IPv4 addresses. */
import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { same } from '../../controllers/kubernetes/sameValue.ts';
import { isAddress } from '../../controllers/windowspool/membership/windowsInstances.ts';
import type { Host, Hosts } from '../../controllers/windowspool/ports/nodes.ts';
import { inParallel } from '../../controllers/windowspool/util/inParallel.ts';

/** A record with a lifetime of an hour can move earlier, and one of a minute is not worth more questions. */
const REFRESH_MS = 300_000;
const AT_ONCE = 8;
/** Entries that are looked up. A list has as many as a cluster has Windows nodes. */
const MOST = 1_000;
/** Of a server, which is asked twice. */
const TIMEOUT = { timeout: 2_000, tries: 2 };
/** The answers that there are no records. Others are failures: https://nodejs.org/api/dns.html#error-codes */
const NONE = ['ENOTFOUND', 'ENODATA'];

/** What is asked. Its servers are those of the pod: CoreDNS, which forwards other names. */
export type HostResolver = Pick<Resolver, 'resolve4' | 'reverse'>;

/** Keeps what look-ups of a list find up to date. */
export class HostLookups {
  readonly #resolver: HostResolver;
  readonly #changed: () => void;
  #entries: readonly string[] = [];
  #hosts: Hosts = new Map();
  #wake = Promise.withResolvers<void>();
  readonly #first = Promise.withResolvers<void>();

  /** @param changed called when a look-up has found something else */
  constructor(changed: () => void, resolver: HostResolver = new Resolver(TIMEOUT)) {
    this.#changed = changed;
    this.#resolver = resolver;
  }

  /** What was found. Entries that were not looked up yet are missing. */
  get hosts(): Hosts {
    return this.#hosts;
  }

  /** Resolves when the entries of the first call of `follow` were looked up, or the signal aborted. */
  get synced(): Promise<void> {
    return this.#first.promise;
  }

  /** Looks up these entries from now on: valid ones, in lower case. */
  follow(entries: readonly string[]): void {
    const now = entries.slice(0, MOST);
    if (same(now, this.#entries)) return;
    this.#entries = now;
    this.#wake.resolve();
  }

  /** Looks up until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers();
      await this.#lookUpAll(signal);
      if (this.#entries.length > 0) this.#first.resolve();
      const ending = new AbortController();
      const later = sleep(REFRESH_MS, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
      await Promise.race([later, this.#wake.promise, aborted]);
      ending.abort();
    }
    this.#first.resolve();
  }

  async #lookUpAll(signal: AbortSignal): Promise<void> {
    const found = await inParallel(
      this.#entries,
      AT_ONCE,
      async (entry): Promise<[string, Host]> => [
        entry,
        signal.aborted ? { addresses: [], error: 'aborted' } : await this.#lookUp(entry),
      ],
    );
    if (signal.aborted) return;
    const hosts = new Map(found);
    if (same([...hosts], [...this.#hosts])) return;
    this.#hosts = hosts;
    this.#changed();
  }

  /** A failure keeps what was known: a host must not leave its pool because a DNS server is down. */
  async #lookUp(entry: string): Promise<Host> {
    try {
      const found = await (isAddress(entry) ? this.#resolver.reverse(entry) : this.#resolver.resolve4(entry));
      const addresses = found.map((address) => address.toLowerCase().replace(/\.$/, '')).sort();
      return { addresses: addresses.slice(0, MOST_ADDRESSES), error: '' };
    } catch (error) {
      const { code = 'EUNKNOWN' } = error as { code?: string };
      if (NONE.includes(code)) return { addresses: [], error: '' };
      return { addresses: this.#hosts.get(entry)?.addresses ?? [], error: code };
    }
  }
}

/** Of one entry. A host has one or two. */
const MOST_ADDRESSES = 16;
