import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineMetrics } from '../../controllers/runtime/metrics.ts';
import { existingPool } from '../../controllers/windowspool/testing/fixtures.ts';
import { InstanceLists } from './instanceLists.ts';
import { DeniableServer, silent } from './testing/deniableServer.ts';

const pool = existingPool({ existingNodes: { instancesConfigMap: { namespace: 'hosts', name: 'windows-instances' } } });

const configMap = { metadata: { name: 'windows-instances', uid: 'uid' }, data: { '10.0.0.1': 'username=a' } };

describe('lists of hosts', () => {
  it('of older pools are watched, in whichever order the pools are known', async () => {
    const server = new DeniableServer(configMap);
    const changed: string[] = [];
    const metrics = { reflector: () => ({}) } as unknown as EngineMetrics;
    const lists = new InstanceLists(server.client, silent, metrics, (name) => changed.push(name));
    const named = (name: string, minute: number) => ({
      ...existingPool({
        existingNodes: { instancesConfigMap: { namespace: name, name: 'windows-instances' } },
      }),
      metadata: { ...pool.metadata, name, creationTimestamp: `2026-03-01T11:${String(minute).padStart(2, '0')}:00Z` },
    });
    const younger = Array.from({ length: 8 }, (_, index) => named(`a-${index}`, 10 + index));
    const [oldest, last = assert.fail()] = [named('z', 1), younger.at(-1)];
    try {
      for (const each of younger) lists.follow(each.metadata.name, each);
      lists.follow('z', oldest);
      for (let turn = 0; turn < 1_000 && lists.of(oldest).kind !== 'seen'; turn++) await sleep(10);
      assert.equal(lists.of(oldest).kind, 'seen');
      assert.deepEqual([lists.of(last).kind, changed.includes('a-7')], ['unknown', true]);
    } finally {
      lists.stop();
    }
  });

  it('are watched up to a number, and the next one when a pool no longer names its list', async () => {
    const server = new DeniableServer(configMap);
    const lists = new InstanceLists(
      server.client,
      silent,
      { reflector: () => ({}) } as unknown as EngineMetrics,
      () => undefined,
    );
    const pools = Array.from({ length: 9 }, (_, index) => ({
      ...existingPool({
        existingNodes: { instancesConfigMap: { namespace: `hosts-${index}`, name: 'windows-instances' } },
      }),
      metadata: { ...pool.metadata, name: `p-${index}` },
    }));
    const [first = assert.fail(), last = assert.fail()] = [pools[0], pools[8]];
    try {
      for (const each of pools) lists.follow(each.metadata.name, each);
      const refused = lists.of(last);
      assert.match(
        refused.kind === 'unknown' ? (refused.error?.message ?? '') : '',
        /more than 8 ConfigMaps.*hosts-8\/windows-instances/,
      );
      lists.follow(first.metadata.name, undefined);
      for (let turn = 0; turn < 1_000 && lists.of(last).kind !== 'seen'; turn++) await sleep(10);
      assert.equal(lists.of(last).kind, 'seen');
    } finally {
      lists.stop();
    }
  });
});

describe('a list of hosts', () => {
  it('becomes unknown when the permission to read it is revoked, and known when it is granted again', async () => {
    const server = new DeniableServer(configMap);
    const metrics = { reflector: () => ({}) } as unknown as EngineMetrics;
    const heard: string[] = [];
    const lists: InstanceLists = new InstanceLists(server.client, silent, metrics, () => {
      const list = lists.of(pool);
      heard.push(list.kind === 'unknown' ? `unknown ${list.error?.kind}` : list.kind);
    });
    const becomes = async (state: string) => {
      for (let turn = 0; turn < 1_000 && heard.at(-1) !== state; turn++) await sleep(10);
      assert.equal(heard.at(-1), state);
    };
    try {
      lists.follow('web', pool);
      await becomes('seen');
      server.denies = true;
      await becomes('unknown denied');
      server.denies = false;
      await becomes('seen');
    } finally {
      lists.stop();
    }
  });
});
