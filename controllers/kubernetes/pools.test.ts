import assert from 'node:assert/strict';
import { Store } from '../runtime/store.ts';
import { silentLog } from '../runtime/testing/silentLog.ts';
import type { WindowsPool } from '../windowspool/api/api.gen.ts';
import { samplePool } from '../windowspool/testing/fixtures.ts';
import { createPools, poolIdentity } from './pools.ts';
import { json, loopback } from './testing/loopbackServer.ts';

const { signal } = new AbortController();

describe('the list of pools', () => {
  const pool = (name: string, annotations?: Readonly<Record<string, string>>): WindowsPool => {
    const { spec, metadata } = samplePool();
    return { spec, metadata: { ...metadata, name, ...(annotations && { annotations }) } } as WindowsPool;
  };
  const listed = async (...pages: readonly (readonly WindowsPool[])[]) => {
    await using server = await loopback(({ query }, response) => {
      const page = Number(query.continue ?? 0);
      const metadata = { resourceVersion: '9', ...(page + 1 < pages.length && { continue: String(page + 1) }) };
      json(response, 200, { metadata, items: pages[page] });
    });
    const store = new Store<WindowsPool>({ identity: poolIdentity, log: silentLog });
    const answer = await createPools(server.client, store).list(signal);
    assert.ok(answer.ok);
    return { pools: answer.value, limits: server.requests.map(({ query }) => query.limit) };
  };

  it('is read in pages, so that large pools of some users do not stop all others', async () => {
    const { pools, limits } = await listed([pool('a'), pool('b')], [pool('c')]);
    assert.deepEqual(
      pools.map(({ metadata }) => metadata.name),
      ['a', 'b', 'c'],
    );
    assert.deepEqual(limits, ['100', '100']);
  });

  it('has no annotations of others, which can have 256 KiB', async () => {
    const { pools } = await listed([
      pool('a', { 'winpool.dev/retry': '1', 'example.com/note': 'x' }),
      pool('b', { a: 'b' }),
    ]);
    assert.deepEqual(
      pools.map(({ metadata }) => metadata.annotations),
      [{ 'winpool.dev/retry': '1' }, undefined],
    );
  });
});
