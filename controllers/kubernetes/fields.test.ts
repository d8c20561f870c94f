import assert from 'node:assert/strict';
import { entriesOf, kind, presence, text, whole } from './fieldKinds.ts';
import { type FieldTable, jsonReader, protobufReader } from './fields.ts';
import { MessageReader } from './messageReader.ts';
import { message, type WrittenField } from './testing/protobufWriter.ts';

interface Sample {
  readonly outer: string;
  readonly inner: string;
  readonly hasInner: boolean;
  readonly count: number;
}

const table: FieldTable<Sample> = {
  outer: text('outer=1'),
  inner: text('first=2', 'second=3', 'inner=4'),
  hasInner: presence('first=2', 'second=3', 'inner=4'),
  count: whole('first=2', 'count=5'),
};
const fromProtobuf = (...fields: readonly WrittenField[]): Sample =>
  protobufReader(table)(new MessageReader(message(...fields)));
const fromJson = jsonReader(table);

describe('a table of fields', () => {
  const absent = { outer: '', inner: '', hasInner: false, count: 0 };
  const samples: [what: string, protobuf: readonly WrittenField[], json: unknown, record: Sample][] = [
    ['an empty message', [], {}, absent],
    ['empty messages', [[2, message([3, message()])]], { first: { second: {} } }, absent],
    ['null', [], { outer: null, first: null }, absent],
    [
      'everything',
      [
        [1, 'a'],
        [2, message([3, message([4, 'b'])], [5, 7])],
      ],
      { outer: 'a', first: { second: { inner: 'b' }, count: 7 } },
      { outer: 'a', inner: 'b', hasInner: true, count: 7 },
    ],
    [
      'any order',
      [
        [2, message([5, 7], [3, message([4, 'b'])])],
        [1, 'a'],
      ],
      { first: { count: 7, second: { inner: 'b' } }, outer: 'a' },
      { outer: 'a', inner: 'b', hasInner: true, count: 7 },
    ],
    [
      'unknown fields',
      [
        [9, 'x'],
        [2, message([9, 9])],
      ],
      { other: 1, first: { other: 2 } },
      absent,
    ],
  ];
  for (const [what, protobuf, json, record] of samples) {
    it(`reads ${what} from both formats`, () => {
      assert.deepEqual(fromProtobuf(...protobuf), record);
      assert.deepEqual(fromJson(json), record);
    });
  }

  it('creates separate values for each record', () => {
    const first = fromProtobuf([1, 'a']);
    assert.deepEqual(fromProtobuf(), absent);
    assert.equal(first.outer, 'a');
  });

  it('reads a value once for all fields that read it in the same way', () => {
    let reads = 0;
    const length = kind<number, string>({
      absent: 0,
      read: (reader) => {
        reads++;
        return reader.text();
      },
      fromProtobuf: (value, before) => before + value.length,
      fromJson: () => 0,
    });
    const read = protobufReader({ own: text('a=1'), first: length('a=1'), second: length('a=1'), last: text('a=1') });
    const record = read(new MessageReader(message([1, 'abc'], [1, 'de'])));
    assert.deepEqual(record, { own: 'de', first: 5, second: 5, last: 'de' });
    assert.equal(reads, 2);
  });

  it('reads the wanted entries of a map, whatever is around them', () => {
    const read = protobufReader({ entries: entriesOf('a', 'b')('map=1'), next: text('next=2') });
    const cases: [entries: readonly Buffer[], found: Record<string, string>][] = [
      [[message([1, 'a'], [2, 'x'])], { a: 'x' }],
      [[message([2, 'x'], [1, 'a'])], { a: 'x' }],
      [[message([1, 'a'])], { a: '' }],
      [[message([1, 'a'], [2, 'x'], [3, 'unknown'])], { a: 'x' }],
      [[message([1, 'other'], [2, 'x']), message([1, 'b'], [2, 'y'])], { b: 'y' }],
      [[message([1, 'a'], [2, 'x']), message([1, 'a'], [2, 'y'])], { a: 'y' }],
      [[message()], {}],
    ];
    for (const [entries, found] of cases) {
      const written = message(...entries.map((entry) => [1, entry] as const), [2, 'z']);
      assert.deepEqual(read(new MessageReader(written)), { entries: found, next: 'z' });
    }
  });

  it('rejects fields that cannot be read together', () => {
    const clashes = /cannot be read together/;
    assert.throws(() => protobufReader({ a: text('a=1'), b: text('a=1', 'b=2') }), clashes);
    assert.throws(() => protobufReader({ a: whole('a=1'), b: whole('a=1') }), clashes);
    assert.throws(() => protobufReader({ a: text('x=1', 'a=1'), b: whole('x=1', 'a=1') }), clashes);
  });
});
