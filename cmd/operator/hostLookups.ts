/** Look-ups of the hosts in a list: the IPv4 addresses of DNS names, and the DNS names of IPv4 addresses. */
import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { comparable, isAddress } from '../../controllers/windowspool/membership/windowsInstances.ts';
import type { Host, Hosts } from '../../controllers/windowspool/ports/nodes.ts';
import { inParallel } from '../../controllers/windowspool/util/inParallel.ts';
import { same } from '../../controllers/windowspool/util/sameValue.ts';

/** A record with a lifetime of an hour can move earlier, and one of a minute is not worth more questions. */
const REFRESH_MS = 300_000;
/** Between two passes of a list that changes all the time, and between two uses of what was found. */
const PAUSE_MS = 1_000;
const AT_ONCE = 8;
/** Entries that are looked up. A list has as many as a cluster has Windows nodes. */
const MOST = 1_000;
/** Of one entry. A host has one or two. */
const MOST_ADDRESSES = 16;
/** Of a server, which is asked twice. */
const TIMEOUT = { timeout: 2_000, tries: 2 };
/** The answers that there are no records. Others are failures: https://nodejs.org/api/dns.html#error-codes */
const NONE = ['ENOTFOUND', 'ENODATA'];

/** What is asked. Its servers are those of the pod: CoreDNS, which forwards other names. Not `reverse`, whose errors do not tell failures from answers. */
export type HostResolver = Pick<Resolver, 'resolve4' | 'resolvePtr'> & Partial<Pick<Resolver, 'cancel'>>;

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

  /** Looks up these entries from now on: valid ones, in lower case. Names come first, because only few nodes lack their address. */
  follow(entries: readonly string[]): void {
    const now = [...entries].sort((a, b) => Number(isAddress(a)) - Number(isAddress(b))).slice(0, MOST);
    if (same(now, this.#entries)) return;
    this.#entries = now;
    this.#wake.resolve();
  }

  /** Looks up until the signal aborts. Never rejects, unless `changed` throws. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = () => {
      this.#wake.resolve();
      this.#resolver.cancel?.();
    };
    signal.addEventListener('abort', stop, { once: true });
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers();
      await this.#lookUpAll(signal);
      if (this.#entries.length > 0) this.#first.resolve();
      const ending = new AbortController();
      const later = sleep(REFRESH_MS, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
      await Promise.race([later, this.#wake.promise]);
      ending.abort();
      await sleep(PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
    this.#first.resolve();
  }

  /** Entries that were never looked up come first. Ends early if others are followed meanwhile. What is found is used at least each second. */
  async #lookUpAll(signal: AbortSignal): Promise<void> {
    const entries = this.#entries;
    const found = new Map(this.#hosts);
    const publish = () => {
      // Also without entries that are no longer followed.
      const hosts = entries.flatMap((entry): [string, Host][] => {
        const host = found.get(entry);
        return host ? [[entry, host]] : [];
      });
      this.#publish(new Map(hosts));
    };
    publish();
    let publishedAt = Number.NEGATIVE_INFINITY;
    const newFirst = [...entries].sort((a, b) => Number(found.has(a)) - Number(found.has(b)));
    await inParallel(newFirst, AT_ONCE, async (entry) => {
      if (signal.aborted || this.#entries !== entries) return;
      const host = await this.#lookUp(entry);
      if (signal.aborted) return;
      found.set(entry, host);
      if (performance.now() - publishedAt < PAUSE_MS) return;
      publishedAt = performance.now();
      publish();
    });
    if (!signal.aborted) publish();
  }

  #publish(hosts: Hosts): void {
    if (same([...hosts], [...this.#hosts])) return;
    this.#hosts = hosts;
    this.#changed();
  }

  /**
   * A failure keeps what was known, and so does the first answer that there are no records: a host must not leave its pool because a DNS server is down or is
   * being updated.
   */
  async #lookUp(entry: string): Promise<Host> {
    try {
      const found = isAddress(entry) ? await this.#namesOf(entry) : await this.#resolver.resolve4(entry);
      const addresses = found.map(comparable).sort();
      return { addresses: addresses.slice(0, MOST_ADDRESSES), error: '' };
    } catch (error) {
      const { code = 'EUNKNOWN' } = error as { code?: string };
      const { addresses = [], error: before } = this.#hosts.get(entry) ?? {};
      if (NONE.includes(code) && (addresses.length === 0 || before === code)) return { addresses: [], error: '' };
      return { addresses, error: code };
    }
  }

  /** The names of an address that have it, too: the owner of its reverse zone cannot name the hosts of others. */
  async #namesOf(address: string): Promise<string[]> {
    const names = await this.#resolver.resolvePtr(`${address.split('.').reverse().join('.')}.in-addr.arpa`);
    const confirmed: string[] = [];
    for (const name of names.slice(0, MOST_ADDRESSES))
      if (!isAddress(comparable(name)) && (await this.#hasAddress(name, address))) confirmed.push(name);
    return confirmed;
  }

  async #hasAddress(name: string, address: string): Promise<boolean> {
    try {
      return (await this.#resolver.resolve4(name)).includes(address);
    } catch (error) {
      if (NONE.includes((error as { code?: string }).code ?? '')) return false;
      throw error;
    }
  }
}
