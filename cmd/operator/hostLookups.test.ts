import assert from 'node:assert/strict';
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
  readonly reverse = async (address: string) => this.#answer(address);

  #answer(question: string): string[] {
    this.asked.push(question);
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
    const records = { 'win-1.example.com': ['10.0.0.2', '10.0.0.1'], '10.0.0.3': ['WIN-3.example.com.'] };
    const { lookups } = start(records, ['10.0.0.3', 'win-1.example.com', 'win-2.example.com']);
    await lookups.synced;
    assert.deepEqual(
      [...lookups.hosts],
      [
        ['10.0.0.3', { addresses: ['win-3.example.com'], error: '' }],
        ['win-1.example.com', { addresses: ['10.0.0.1', '10.0.0.2'], error: '' }],
        ['win-2.example.com', { addresses: [], error: '' }],
      ],
    );
    assert.equal(changes, 1);
  });

  it('keep what was known when a server fails, and forget it when there are no records', async () => {
    const { zone, lookups } = start({ 'win-1': ['10.0.0.1'] }, ['win-1']);
    await lookups.synced;
    zone.records = { 'win-1': 'ETIMEOUT' };
    lookups.follow(['win-1', 'win-2']);
    await until('the second look-up', () => lookups.hosts.has('win-2'));
    assert.deepEqual(lookups.hosts.get('win-1'), { addresses: ['10.0.0.1'], error: 'ETIMEOUT' });
    zone.records = {};
    lookups.follow(['win-1']);
    await until('the third look-up', () => !lookups.hosts.has('win-2'));
    assert.deepEqual(lookups.hosts.get('win-1'), { addresses: [], error: '' });
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
