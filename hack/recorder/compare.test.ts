import assert from 'node:assert/strict';
import fc from 'fast-check';
import { aligned } from './align.ts';
import { compareEntries, type IsExpected } from './compare.ts';
import type { Json, Observation } from './entry.ts';
import { FORMAT } from './entry.ts';
import { compareRecordings } from './recordings.ts';

const create = (data: Observation['data'], answer: Json = 'a'): Observation => ({
  kind: 'call',
  name: 'CreateNodegroup',
  of: 'web',
  data,
  answer,
});
const read: Observation = { kind: 'call', name: 'DescribeNodegroup', of: 'web', data: {}, answer: 'a' };
const run = (after: number): Observation => ({ kind: 'run', name: 'run', of: 'web', data: { after } });
const status = (data: Observation['data']): Observation => ({ kind: 'status', name: 'status', of: 'web', data });
const event = (message: string): Observation => ({
  kind: 'event',
  name: 'NodeGroupCreated',
  of: 'web',
  data: { type: 'Normal', message },
});
const requeue = (ms: number): Observation => ({ kind: 'requeue', name: 'requeue', data: { ms } });
const step = (node: string): Observation => ({ kind: 'step', name: 'cordonNode', of: node, data: { node } });
const action = (world: string): Observation => ({ kind: 'action', name: 'apply web', data: { world } });
const pending = (description: Json, reason = 'Paused'): Observation =>
  status({ pendingSteps: [{ description, reason }] });
const ready = (fields: Observation['data']): Observation => status({ conditions: { Ready: fields } });

/** The differences as `group path`. */
function found(
  before: readonly Observation[],
  after: readonly Observation[],
  isExpected?: IsExpected,
  [oldInput, newInput]: readonly [Json, Json] = [0, 0],
): { list: string[]; isCut: boolean } {
  const entries = [
    { name: 'x', input: oldInput, observations: before },
    { name: 'x', input: newInput, observations: after },
  ] as const;
  const { differences, isCut } = compareEntries(...entries, isExpected);
  return { list: differences.map(({ group, path }) => `${group} ${path}`), isCut };
}

describe('the comparison of two entries', () => {
  const rows: readonly [title: string, Observation[], Observation[], string[]][] = [
    ['a token', [create({ token: 'a' })], [create({ token: 'b' })], ['bodies call CreateNodegroup.token']],
    ['a call', [create({}), read], [read], ['calls call CreateNodegroup']],
    ['the order of calls', [create({}), read], [read, create({})], Array(2).fill('calls call DescribeNodegroup')],
    ['a step', [step('a'), step('b')], [step('b')], ['steps step cordonNode']],
    ['a reason', [ready({ reason: 'A' })], [ready({ reason: 'B' })], ['reasons status.conditions.Ready.reason']],
    ['a message', [ready({ message: 'a' })], [ready({ message: 'b' })], ['texts status.conditions.Ready.message']],
    ['a condition', [status({})], [ready({ reason: 'A' })], ['reasons status.conditions.Ready.reason']],
    ['a field of a status', [status({})], [status({ b: { c: { d: 1 } } })], ['statuses status.b.c.d']],
    ['a field that stays', [status({ b: null })], [status({ b: { c: 1 } })], ['statuses status.b.c']],
    ['a status', [], [status({ b: 1 })], ['statuses status.b']],
    ['a pending step', [pending('a')], [pending('b')], ['texts status.pendingSteps.0.description']],
    ['the reason of a pending step', [pending('a')], [pending('a', 'B')], ['reasons status.pendingSteps.0.reason']],
    [
      'a pending step without a reason',
      [status({ pendingSteps: ['a'] })],
      [pending('b')],
      ['texts status.pendingSteps.0'],
    ],
    ['an event', [event('a')], [], ['events event NodeGroupCreated']],
    ['the text of an event', [event('a')], [event('b')], ['texts event NodeGroupCreated.message']],
    ['the time of the next run', [requeue(1)], [requeue(2)], ['requeues requeue.ms']],
    ['the time of a run', [run(1)], [run(2)], ['requeues run.after']],
    ['another simulation', [action('a')], [action('b')], ['inputs action apply web.world']],
    ['another answer', [create({}, 'a')], [create({}, 'b')], ['inputs call CreateNodegroup']],
    ['a result of another body', [create({ a: 1 }, 'a')], [create({}, 'b')], ['bodies call CreateNodegroup.a']],
  ];
  for (const [title, before, after, expected] of rows)
    it(`finds ${title}`, () => assert.deepEqual(found(before, after).list, expected));

  it('does not call it another simulation after another text in a call', () => {
    const result = found([create({ message: 'a' }), action('a')], [create({ message: 'b' }), action('b')]);
    assert.deepEqual(result, { list: ['texts call CreateNodegroup.message'], isCut: false });
  });

  it('compares a pending step without a reason by its description', () => {
    assert.deepEqual(found([status({ pendingSteps: ['a'] })], [pending('a')]).list, []);
  });

  it('finds nothing in equal entries', () => {
    const all = [run(1), action('a'), create({}), status({}), event('a'), requeue(1)];
    assert.deepEqual(found(all, all), { list: [], isCut: false });
  });

  it('does not compare what follows from another input', () => {
    const input = [{ spec: { a: 1 } }, { spec: { a: 2 } }] as const;
    assert.deepEqual(found([step('a')], [step('b')], undefined, input).list, ['inputs input.spec.a']);
  });

  it('does not list the fields of another input altogether', () => {
    const all = (value: string) => Object.fromEntries(Array.from({ length: 21 }, (_, index) => [index, value]));
    assert.deepEqual(found([], [], undefined, [all('a'), all('b')]).list, ['inputs input']);
  });

  it('compares what follows from another input that is expected', () => {
    const isExpected: IsExpected = ({ path }) => path === 'input.spec.b';
    const { list } = found([step('a')], [step('b')], isExpected, [{ spec: {} }, { spec: { b: 2 } }]);
    assert.deepEqual(list, ['inputs input.spec.b', 'steps step cordonNode', 'steps step cordonNode']);
  });

  it('compares a life up to the end of the run that makes another call', () => {
    const before = [run(1), create({ a: 1 }), ready({ reason: 'A' }), run(1), event('a')];
    const after = [run(1), create({ a: 2 }), ready({ reason: 'B' }), run(1)];
    assert.deepEqual(found(before, after), {
      list: ['bodies call CreateNodegroup.a', 'reasons status.conditions.Ready.reason'],
      isCut: true,
    });
  });

  it('compares a life further after another call that is expected', () => {
    const before = [run(1), create({}), run(1), event('a')];
    const after = [run(1), create({}), read, run(1)];
    assert.deepEqual(
      found(before, after, ({ group }) => group === 'calls'),
      {
        list: ['calls call DescribeNodegroup', 'events event NodeGroupCreated'],
        isCut: false,
      },
    );
  });

  it('compares a life only up to a run at another time, even if that is expected', () => {
    const { list, isCut } = found([run(1), event('a')], [run(2)], () => true);
    assert.deepEqual({ list, isCut }, { list: ['requeues run.after'], isCut: true });
  });
});

describe('pairs of observations', () => {
  const observations = fc.array(fc.constantFrom(...['a', 'b', 'c'].map(step)));

  it('have each observation once, in order, and those of a pair are about the same', () => {
    fc.assert(
      fc.property(observations, observations, (before, after) => {
        const pairs = [...aligned(before, after)];
        assert.deepEqual(
          pairs.flatMap((pair) => pair.before ?? []),
          before,
        );
        assert.deepEqual(
          pairs.flatMap((pair) => pair.after ?? []),
          after,
        );
        for (const pair of pairs) if (pair.before && pair.after) assert.deepEqual(pair.before, pair.after);
      }),
    );
  });
});

describe('the comparison of two recordings', () => {
  const recording = (format: number, ...names: string[]): string =>
    [{ format }, ...names.map((name) => ({ name, input: 0, observations: [] }))]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('');

  it('counts the cases that both have, and names those of one, in any order', () => {
    const result = compareRecordings(recording(FORMAT, 'a', 'b', 'c'), recording(FORMAT, 'd', 'c', 'a'), () => false);
    const { differences, ...counts } = result;
    assert.deepEqual(
      { ...counts, names: differences.map(({ path, case: name }) => `${path}: ${name}`) },
      { cases: 2, cut: 0, names: ['only after: d', 'only before: b'] },
    );
  });

  it('fails for another format', () => {
    const other = recording(FORMAT + 1);
    assert.throws(() => compareRecordings(other, recording(FORMAT), () => false), /format/);
  });
});
