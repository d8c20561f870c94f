import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Entry, Observation } from './entry.ts';
import { lifeEntries, replicatedLifeEntries } from './lives.ts';
import { digest, outline, plain } from './plain.ts';
import { stateEntries } from './planned.ts';
import { statusChange } from './statusChange.ts';

async function entriesOf(seed: number): Promise<Entry[]> {
  const all: Entry[] = [];
  for (const entries of [stateEntries(seed, 5), lifeEntries(seed, 1), replicatedLifeEntries(seed, 1)])
    for await (const entry of entries) all.push(entry);
  return all;
}

describe('a recording', function () {
  // A life takes a tenth of a second, and several times that on a busy machine.
  this.timeout(30_000);
  let entries: Entry[];
  const named = (name: string): Observation[] =>
    entries.flatMap(({ observations }) => observations.filter((each) => each.name === name));
  before(async () => {
    entries = await entriesOf(1);
  });

  it('is the same each time', async () => {
    assert.deepEqual(await entriesOf(1), entries);
  });

  it('has other inputs for another seed', async () => {
    const others = new Set(entries.map(({ input }) => digest(input)));
    for await (const { input } of stateEntries(2, 5)) assert.equal(others.has(digest(input)), false);
  });

  it('has stable names', () => {
    const names = entries.map(({ name }) => name);
    assert.deepEqual(names.slice(4), ['state 4 of seed 1', 'life 0 of seed 1', 'life 0 of two replicas of seed 1']);
  });

  it('has calls with their tokens and answers, statuses, events, metrics and times', () => {
    const [creation] = named('CreateNodegroup');
    assert.match(String(creation?.data.clientRequestToken), /^web-/);
    assert.equal(typeof creation?.answer, 'string');
    for (const name of ['status', 'NodeGroupCreated', 'gauges', 'requeue', 'run', 'nodes.setConditions'])
      assert.notEqual(named(name).length, 0, name);
  });

  it('has no error', () => assert.deepEqual(named('error'), []));
});

describe('recorded data', () => {
  class Nodes {
    readonly names = new Set(['b', 'a']);
    readonly #hidden = 1;

    get total(): number {
      return this.names.size + this.#hidden;
    }

    first(): string {
      return 'b';
    }
  }

  it('is JSON with sorted keys, and has what getters return', () => {
    const value = { nodes: new Nodes(), at: new Date(0), by: new Map([['x', Number.POSITIVE_INFINITY]]), a: undefined };
    assert.equal(
      JSON.stringify(plain(value)),
      '{"at":"1970-01-01T00:00:00.000Z","by":{"x":"Infinity"},"nodes":{"names":["b","a"],"total":3}}',
    );
  });

  it('has a hash of what is long or deep, which differs if that does', () => {
    const [a, b] = ['a', 'b'].map((end) => plain('x'.repeat(5_000) + end));
    assert.notEqual(a, b);
    assert.ok(String(a).length < 2_100);
    const deep = (value: string) => outline({ a: { b: { long: value.repeat(50) } } }, 2);
    assert.deepEqual(deep('x'), { a: { b: hashOf({ long: 'x'.repeat(50) }) } });
  });

  it('has the fields of a status that change, with conditions by type', () => {
    const condition = (type: string, reason: string) => ({ type, status: 'True', reason });
    const before = { conditions: [condition('Ready', 'A'), condition('Stalled', 'C')], nodes: { total: 1, ready: 1 } };
    const after = { conditions: [condition('Ready', 'B')], nodes: { total: 2, ready: 1 }, builds: ['x'] };
    assert.deepEqual(statusChange(before, after), {
      conditions: { Ready: { reason: 'B' }, Stalled: null },
      nodes: { total: 2 },
      builds: ['x'],
    });
  });
});

function hashOf(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}
