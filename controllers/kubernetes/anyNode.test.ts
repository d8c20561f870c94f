/** Lists and events with any node: one that cannot be read never costs the others. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { jsonDecoder } from './decoder.ts';
import { MalformedData } from './kubernetesError.ts';
import { nodeRecordOf } from './nodes.ts';

const VALUES = 1_000;

const inJson = jsonDecoder(nodeRecordOf);

/** What a program that is not an API server may write instead of a value. */
const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom('', -1, 1e300, 2 ** 53, 'x'.repeat(5_000), '10000-01-01T00:00:00Z', '1969-07-20T20:17:40Z'),
  // The keys that an object literal cannot have.
  fc
    .constantFrom('{"__proto__":{"name":"x"}}', '{"":"","constructor":[],"__proto__":null}')
    .map((text) => JSON.parse(text)),
);

describe('a response that is no list', () => {
  const rejected = (read: () => unknown): void => {
    try {
      read();
    } catch (error) {
      assert.ok(error instanceof MalformedData, String(error));
    }
  };

  it('is a list all the same or malformed, for any JSON', () => {
    const list = fc.record({
      metadata: fc.oneof(anyValue, fc.record({ resourceVersion: anyValue, continue: anyValue })),
      items: anyValue,
    });
    fc.assert(
      fc.property(fc.oneof(anyValue, list), (body) =>
        rejected(() => {
          const page = inJson.page(Buffer.from(JSON.stringify(body)));
          assert.deepEqual([typeof page.resourceVersion, typeof (page.continueToken ?? '')], ['string', 'string']);
        }),
      ),
      { numRuns: VALUES },
    );
  });

  it('is an event all the same or malformed, for any JSON', () => {
    const type = fc.oneof(anyValue, fc.constantFrom('ADDED', 'BOOKMARK', 'ERROR'));
    const metadata = fc.record({ resourceVersion: anyValue, annotations: anyValue });
    const object = fc.oneof(anyValue, fc.record({ metadata: fc.oneof(anyValue, metadata) }));
    fc.assert(
      fc.property(fc.oneof(anyValue, fc.record({ type, object })), (event) =>
        rejected(() => {
          for (const read of inJson.stream().push(Buffer.from(`${JSON.stringify(event)}\n`)))
            if (read.type === 'BOOKMARK') assert.equal(typeof read.resourceVersion, 'string');
        }),
      ),
      { numRuns: VALUES },
    );
  });

  const odd: readonly [what: string, body: unknown][] = [
    ['nothing', null],
    ['items that are no list', { metadata: { resourceVersion: '7' }, items: {} }],
    ['a number for a version', { metadata: { resourceVersion: 7 }, items: [] }],
    ['a number for a token', { metadata: { resourceVersion: '7', continue: 7 }, items: [] }],
  ];
  for (const [what, body] of odd)
    it(`is malformed if it has ${what}`, () => {
      assert.throws(() => inJson.page(Buffer.from(JSON.stringify(body))), MalformedData);
    });
});
