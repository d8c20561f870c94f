/** Lists and events with any node: one that cannot be read never costs the others. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { NodeRecord } from '../windowspool/ports/nodes.ts';
import { jsonDecoder } from './decoder.ts';
import { MalformedData } from './kubernetesError.ts';
import { nodeFields } from './nodeFields.ts';
import { nodeRecordOf } from './nodes.ts';
import { protobufDecoder } from './protobufDecoder.ts';
import { nodeJson } from './testing/nodeJson.ts';
import { nodeMessage, stored } from './testing/nodes.ts';
import { envelope, frame, message, varint } from './testing/protobufWriter.ts';

const VALUES = 1_000;

const inProtobuf = protobufDecoder({ apiVersion: 'v1', kind: 'Node', fields: nodeFields });
const inJson = jsonDecoder(nodeRecordOf);
const healthy = stored(nodeJson('win-1'), 1);
const healthyMessage = nodeMessage(healthy);

/** What a program that is not an API server may write instead of a value. */
const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom('', -1, 1e300, 2 ** 53, 'x'.repeat(5_000), '10000-01-01T00:00:00Z', '1969-07-20T20:17:40Z'),
  // The keys that an object literal cannot have.
  fc
    .constantFrom('{"__proto__":{"name":"x"}}', '{"":"","constructor":[],"__proto__":null}')
    .map((text) => JSON.parse(text)),
);

describe('the time of a node', () => {
  const created = (seconds: number | bigint) =>
    message([1, message([8, Buffer.concat([Buffer.of(1 << 3), varint(seconds)])])]);
  const read = (raw: Buffer): NodeRecord => {
    const [event] = inProtobuf
      .stream()
      .push(frame('ADDED', envelope('v1', 'Node', Buffer.concat([healthyMessage, raw]))));
    assert.ok(event?.type === 'ADDED');
    return event.item;
  };

  const anySeconds = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.maxSafeInteger().map(BigInt),
    fc.integer().map((seconds) => BigInt(seconds) * 1000n),
  );

  it('is one that Kubernetes can write, or unreadable, for any number of seconds', () => {
    fc.assert(
      fc.property(anySeconds, (seconds) => {
        const { createdAt, unreadable } = read(created(seconds));
        assert.match(new Date(createdAt).toISOString(), /^\d{4}-/);
        assert.ok(unreadable || BigInt(createdAt) === seconds * 1000n);
      }),
    );
  });

  for (const time of ['0000-01-01T00:00:00Z', '1969-07-20T20:17:40Z', '9999-12-31T23:59:59Z'])
    it(`can be ${time} in both formats`, () => {
      const at = Date.parse(time);
      const inBoth = [
        read(created(at / 1000)),
        nodeRecordOf({ ...healthy, metadata: { ...healthy.metadata, creationTimestamp: time } }),
      ];
      for (const { createdAt, unreadable } of inBoth) assert.deepEqual([createdAt, unreadable], [at, '']);
    });

  for (const time of ['10000-01-01T00:00:00Z', '+010000-01-01T00:00:00Z', '-000001-12-31T23:59:59Z', 'soon'])
    it(`cannot be ${time} in any format`, () => {
      const inBoth = [
        read(created(Date.parse('+010000-01-01T00:00:00Z') / 1000)),
        nodeRecordOf({ ...healthy, metadata: { ...healthy.metadata, creationTimestamp: time } }),
      ];
      for (const { unreadable } of inBoth) assert.match(unreadable, /^metadata.creationTimestamp: .*the time/);
    });
});

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
