/** Lists and events with any node: one that cannot be read never costs the others. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { WatchEvent } from '../runtime/ports.ts';
import type { NodeRecord } from '../windowspool/ports/nodes.ts';
import { anyJson, spoilt } from '../windowspool/testing/anyJson.ts';
import { jsonDecoder } from './decoder.ts';
import { MalformedData } from './kubernetesError.ts';
import { nodeFields } from './nodeFields.ts';
import { nodeRecordOf } from './nodes.ts';
import { protobufDecoder } from './protobufDecoder.ts';
import { anyNode } from './testing/anyNode.ts';
import { nodeJson } from './testing/nodeJson.ts';
import { nodeMessage, stored } from './testing/nodes.ts';
import { each, envelope, frame, message, varint } from './testing/protobufWriter.ts';
import { assertWellFormed } from './testing/wellFormed.ts';

const VALUES = 1_000;
const BYTES = 1_500;

const inProtobuf = protobufDecoder({ apiVersion: 'v1', kind: 'Node', fields: nodeFields });
const inJson = jsonDecoder(nodeRecordOf);
const healthy = stored(nodeJson('win-1'), 1);
const healthyMessage = nodeMessage(healthy);
const record = nodeRecordOf(healthy);

/** What a list and a watch make of a node between two healthy ones, which must be read. */
function between(page: ReturnType<typeof inJson.page>, events: readonly WatchEvent<NodeRecord>[]): void {
  const { items, unreadable = [] } = page;
  assert.equal(items.length + unreadable.length, 3);
  assert.deepEqual([items.at(0), items.at(-1)], [record, record]);
  const [before, event, after, ...more] = events;
  assert.deepEqual([before, after, more], [{ type: 'ADDED', item: record }, { type: 'ADDED', item: record }, []]);
  const read = items.length === 3 ? { type: 'ADDED', item: items[1] } : { type: 'UNREADABLE', ...unreadable[0] };
  assert.deepEqual(event, read);
  for (const item of items) assertWellFormed(item, record);
  for (const { name, message: text } of unreadable) assert.ok(name.length <= 256 && text.length <= 1_024);
}

describe('a node of a list and of a watch', () => {
  it('can be any JSON', () => {
    fc.assert(
      fc.property(fc.oneof(anyJson.filter(Boolean), spoilt(anyNode)), (node) => {
        const list = { metadata: { resourceVersion: '7' }, items: [healthy, node, healthy] };
        const lines = list.items.map((object) => `${JSON.stringify({ type: 'ADDED', object })}\n`);
        between(inJson.page(Buffer.from(JSON.stringify(list))), inJson.stream().push(Buffer.from(lines.join(''))));
      }),
      { numRuns: VALUES },
    );
  });

  it('can be nothing in a list', () => {
    const items = [null, healthy, 0, '', false];
    const { unreadable = [], ...page } = inJson.page(
      Buffer.from(JSON.stringify({ metadata: { resourceVersion: '7' }, items })),
    );
    assert.deepEqual([page.items, unreadable.length], [[record], 4]);
  });

  const listed = (raw: Buffer) => {
    const items = [healthyMessage, raw, healthyMessage];
    const list = message([1, message([2, '7'])], ...each(2, items, (item) => item));
    const events = items.map((item) => frame('ADDED', envelope('v1', 'Node', item)));
    between(inProtobuf.page(envelope('v1', 'NodeList', list)), inProtobuf.stream().push(Buffer.concat(events)));
  };
  const valid = fc.oneof(anyNode.map(nodeMessage), fc.constant(healthyMessage));

  it('can be any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => listed(Buffer.from(bytes))),
      { numRuns: BYTES },
    );
  });

  it('can be protobuf that is cut, with bytes changed', () => {
    const change = fc.tuple(fc.nat(), fc.nat({ max: 255 }));
    fc.assert(
      fc.property(valid, fc.array(change, { maxLength: 5 }), fc.nat(), fc.boolean(), (raw, changes, length, isCut) => {
        const bytes = Buffer.from(raw.subarray(0, isCut ? length % (raw.length + 1) : raw.length));
        for (const [at, mask] of changes)
          if (bytes.length > 0) bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ mask;
        listed(bytes);
      }),
      { numRuns: BYTES },
    );
  });
});

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
      metadata: fc.oneof(anyJson, fc.record({ resourceVersion: anyJson, continue: anyJson })),
      items: anyJson,
    });
    fc.assert(
      fc.property(fc.oneof(anyJson, list), (body) =>
        rejected(() => {
          const page = inJson.page(Buffer.from(JSON.stringify(body)));
          assert.deepEqual([typeof page.resourceVersion, typeof (page.continueToken ?? '')], ['string', 'string']);
        }),
      ),
      { numRuns: VALUES },
    );
  });

  it('is an event all the same or malformed, for any JSON', () => {
    const type = fc.oneof(anyJson, fc.constantFrom('ADDED', 'BOOKMARK', 'ERROR'));
    const metadata = fc.record({ resourceVersion: anyJson, annotations: anyJson });
    const object = fc.oneof(anyJson, fc.record({ metadata: fc.oneof(anyJson, metadata) }));
    fc.assert(
      fc.property(fc.oneof(anyJson, fc.record({ type, object })), (event) =>
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
