import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { HostLookups } from './hostLookups.ts';

/** A DNS server with these records. The name of an entry with an error code fails with it. */
class Zone {
  readonly asked: string[] = [];
  records: Readonly<Record<string, readonly string[] | string>>;

  constructor(records: Zone['records']) {
    this.records = records;
  }

  readonly resolve4 = (async (name: string) => this.#answer(name)) as unknown as ResolverParts['resolve4'];
  readonly resolvePtr = async (name: string) => this.#answer(name);

  /** Until when other questions than about new names get no answer. */
  hold: Promise<void> | undefined;

  async #answer(question: string): Promise<string[]> {
    this.asked.push(question);
    if (question.startsWith('slow')) await this.hold;
    const answer = this.records[question] ?? 'ENOTFOUND';
    if (typeof answer === 'string') throw Object.assign(new Error(answer), { code: answer });
    return [...answer];
  }
}

type ResolverParts = NonNullable<ConstructorParameters<typeof HostLookups>[1]>;

describe('look-ups of hosts', () => {
  let ending: AbortController;
  let changes: number;
  beforeEach(() => {
    ending = new AbortController();
    changes = 0;
  });
  afterEach(() => ending.abort());

  function start(records: Zone['records'], entries: readonly string[]) {
    const zone = new Zone(records);
    const lookups = new HostLookups(() => changes++, zone);
    lookups.follow(entries);
    void lookups.run(ending.signal);
    return { zone, lookups };
  }

  async function until(what: string, isTrue: () => boolean): Promise<void> {
    for (let turn = 0; turn < 500 && !isTrue(); turn++) await sleep(10);
    assert.ok(isTrue(), what);
  }

  it('find the addresses of names and the names of addresses', async () => {
    const records = {
      'win-1.example.com': ['10.0.0.2', '10.0.0.1'],
      '3.0.0.10.in-addr.arpa': ['WIN-3.example.com.', 'other.example.com', '10.0.0.5.', 'gone.example.com'],
      'WIN-3.example.com.': ['10.0.0.3'],
      'other.example.com': ['10.0.0.4'],
    };
    const { lookups } = start(records, ['10.0.0.3', 'win-1.example.com', 'win-2.example.com']);
    await lookups.synced;
    assert.deepEqual(
      [...lookups.hosts],
      [
        ['win-1.example.com', { addresses: ['10.0.0.1', '10.0.0.2'], error: '' }],
        ['win-2.example.com', { addresses: [], error: '' }],
        ['10.0.0.3', { addresses: ['win-3.example.com'], error: '' }],
      ],
    );
    assert.ok(changes <= 2, `${changes} changes`);
  });

  it('keep what was known when a server fails, and forget it when there are no records twice', async () => {
    const { zone, lookups } = start({ 'win-1': ['10.0.0.1'] }, ['win-1']);
    await lookups.synced;
    zone.records = { 'win-1': 'ETIMEOUT' };
    lookups.follow(['win-1', 'win-2']);
    await until('the second look-up', () => lookups.hosts.has('win-2'));
    assert.deepEqual(lookups.hosts.get('win-1'), { addresses: ['10.0.0.1'], error: 'ETIMEOUT' });
    zone.records = {};
    lookups.follow(['win-1']);
    await until('the third look-up', () => !lookups.hosts.has('win-2'));
    await until('the first of two answers', () => lookups.hosts.get('win-1')?.error === 'ENOTFOUND');
    assert.deepEqual(lookups.hosts.get('win-1')?.addresses, ['10.0.0.1']);
    lookups.follow(['win-1', 'win-3']);
    await until('the second of two answers', () => lookups.hosts.get('win-1')?.error === '');
    assert.deepEqual(lookups.hosts.get('win-1'), { addresses: [], error: '' });
  });

  it('of other entries are used while a server does not answer for one, and new ones come first', async () => {
    const slow = Array.from({ length: 40 }, (_, index) => `slow-${String(index).padStart(2, '0')}`);
    const { zone, lookups } = start({}, slow);
    await lookups.synced;
    const held = Promise.withResolvers<void>();
    zone.hold = held.promise;
    zone.records = { 'win-new': ['10.0.0.1'] };
    lookups.follow([...slow, 'win-new']);
    await until('the new name', () => lookups.hosts.get('win-new')?.addresses.length === 1);
    held.resolve();
  });

  it('tell failures from answers with a real resolver', async () => {
    // Nothing listens there.
    const resolver = new Resolver({ timeout: 200, tries: 1 });
    resolver.setServers(['127.0.0.1:9']);
    const lookups = new HostLookups(() => changes++, resolver);
    lookups.follow(['10.0.0.1', 'win-1.example.com']);
    void lookups.run(ending.signal);
    await lookups.synced;
    for (const [entry, { error }] of lookups.hosts) assert.match(error, /^E(CONNREFUSED|TIMEOUT)$/, entry);
    assert.equal(lookups.hosts.size, 2);
  });

  it('report no change while the answers stay the same', async () => {
    const { zone, lookups } = start({ 'win-1': ['10.0.0.1', '10.0.0.2'] }, ['win-1']);
    await lookups.synced;
    const before = lookups.hosts;
    zone.records = { 'win-1': ['10.0.0.2', '10.0.0.1'] };
    lookups.follow(['win-1', 'win-1']);
    await until('the second look-up', () => zone.asked.length === 3);
    await sleep(20);
    assert.deepEqual([changes, lookups.hosts === before], [1, true]);
  });

  it('are limited', async () => {
    const { zone, lookups } = start(
      {},
      Array.from({ length: 1_500 }, (_, index) => `win-${index}`),
    );
    await lookups.synced;
    assert.equal(zone.asked.length, 1_000);
  });

  it('end when they are stopped', async () => {
    const lookups = new HostLookups(() => changes++, new Zone({}));
    const running = lookups.run(ending.signal);
    ending.abort();
    await Promise.all([running, lookups.synced]);
    assert.equal(changes, 0);
  });
});
