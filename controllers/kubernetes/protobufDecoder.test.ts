import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { WatchEvent } from '../runtime/ports.ts';
import type { NodeRecord } from '../windowspool/ports/nodes.ts';
import { jsonDecoder } from './decoder.ts';
import { MalformedData } from './kubernetesError.ts';
import { WIRE } from './messageReader.ts';
import { nodeFields } from './nodeFields.ts';
import { nodeRecordOf } from './nodes.ts';
import { protobufDecoder } from './protobufDecoder.ts';
import { anyNode } from './testing/anyNode.ts';
import { nodeFrame, nodeListBody, nodeMessage, stored, windowsNode } from './testing/nodes.ts';
import { each, envelope, frame, message, varint, type WrittenField } from './testing/protobufWriter.ts';
import { assertWellFormed } from './testing/wellFormed.ts';

type Event = WatchEvent<NodeRecord>;
const decoder = protobufDecoder({ apiVersion: 'v1', kind: 'Node', fields: nodeFields });
const json = jsonDecoder(nodeRecordOf);

const eventsOf = (stream: Buffer): readonly Event[] => decoder.stream().push(stream);
const nodeOf = (raw: Buffer): NodeRecord => {
  const [event] = eventsOf(frame('ADDED', envelope('v1', 'Node', raw)));
  assert.ok(event?.type === 'ADDED');
  return event.item;
};
const realistic = stored(windowsNode(7), 7);
const expectedRecord = nodeRecordOf(realistic);

/** A bookmark, as the API server sends it. */
function bookmark(resourceVersion: string, annotations: Record<string, string> = {}): Buffer {
  const metadata = message(
    [6, resourceVersion],
    ...each(12, Object.entries(annotations), ([key, value]) => message([1, key], [2, value])),
  );
  return frame('BOOKMARK', envelope('v1', 'Node', message([1, metadata], [2, message()], [3, message()])));
}

const expired = message(
  [1, message()],
  [2, 'Failure'],
  [3, 'too old resource version: 1 (5)'],
  [4, 'Expired'],
  [5, message([4, message([1, 'ResourceVersionTooLarge'], [2, 'm'])], [5, 3])],
  [6, 410],
);

const stream = Buffer.concat([
  nodeFrame('ADDED', stored(windowsNode(1), 1)),
  bookmark('5', { 'k8s.io/initial-events-end': 'true', other: 'x' }),
  nodeFrame('MODIFIED', stored({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'bare' } }, 2)),
  nodeFrame('DELETED', stored(windowsNode(3), 3)),
  bookmark('6'),
  frame('ERROR', envelope('v1', 'Status', expired)),
]);
const expected: readonly Event[] = [
  { type: 'ADDED', item: nodeRecordOf(stored(windowsNode(1), 1)) },
  { type: 'BOOKMARK', resourceVersion: '5', initialEventsEnd: true },
  { type: 'MODIFIED', item: nodeRecordOf(stored({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'bare' } }, 2)) },
  { type: 'DELETED', item: nodeRecordOf(stored(windowsNode(3), 3)) },
  { type: 'BOOKMARK', resourceVersion: '6', initialEventsEnd: false },
  {
    type: 'ERROR',
    failure: { status: 410, reason: 'Expired', causes: ['ResourceVersionTooLarge'], retryAfterMs: 3_000 },
    message: 'too old resource version: 1 (5)',
  },
];

describe('the protobuf decoder of nodes', () => {
  it('decodes the same record as the JSON decoder from any node', () => {
    fc.assert(fc.property(anyNode, (node) => assert.deepEqual(nodeOf(nodeMessage(node)), nodeRecordOf(node))));
  });

  it('decodes events of every type', () => {
    assert.deepEqual(eventsOf(stream), expected);
  });

  describe('decodes the same events regardless of chunk boundaries', () => {
    const readCut = (whole: Buffer, cut: number) => {
      const reading = decoder.stream();
      const read = [...reading.push(whole.subarray(0, cut)), ...reading.push(whole.subarray(cut))];
      reading.end();
      return read;
    };

    it('at every byte of short events', () => {
      const bare = stored({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'bare' } }, 2);
      const short = Buffer.concat([nodeFrame('ADDED', bare), bookmark('5'), nodeFrame('DELETED', bare)]);
      const whole = eventsOf(short);
      assert.equal(whole.length, 3);
      for (let cut = 0; cut <= short.length; cut++) assert.deepEqual(readCut(short, cut), whole, `cut at ${cut}`);
    });

    // Splitting these at every byte would take half a minute.
    it('at every 41st byte of long events', () => {
      for (let cut = 0; cut <= stream.length; cut += 41)
        assert.deepEqual(readCut(stream, cut), expected, `cut at ${cut}`);
    });
  });

  it('decodes the same events from single bytes', () => {
    const reading = decoder.stream();
    assert.deepEqual(
      [...stream].flatMap((byte) => [...reading.push(Uint8Array.of(byte))]),
      expected,
    );
  });

  it('decodes pages as the JSON decoder does', () => {
    fc.assert(
      fc.property(fc.array(anyNode, { maxLength: 5 }), fc.constantFrom('', 'more'), (items, continueToken) => {
        const list = { metadata: { resourceVersion: '7', continue: continueToken }, items };
        assert.deepEqual(
          decoder.page(nodeListBody('7', items, continueToken)),
          json.page(Buffer.from(JSON.stringify(list))),
        );
      }),
    );
  });

  it('uses the last occurrence of a field, and merges the parts of a message', () => {
    const once = nodeMessage(realistic);
    const more = message([1, message([6, '9'], [11, message([1, 'kubernetes.io/os'], [2, 'linux'])])]);
    const { labels, resourceVersion, ...rest } = nodeOf(Buffer.concat([once, more]));
    const { labels: first, resourceVersion: _, ...same } = expectedRecord;
    assert.deepEqual([labels, resourceVersion], [{ ...first, 'kubernetes.io/os': 'linux' }, '9']);
    assert.deepEqual(rest, same);
  });
});

describe('unexpected protobuf', () => {
  const number = fc.integer({ min: 18, max: 2 ** 29 - 1 });
  const fixed = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const tagged =
    (wireType: number) =>
    ([at, value]: [number, Uint8Array]) =>
      Buffer.concat([varint(at * 8 + wireType), value]);
  const unknownField = fc.oneof(
    fc.tuple(number, fc.maxSafeNat()).map((field) => message(field)),
    fc.tuple(number, fc.uint8Array({ maxLength: 300 })).map((field) => message(field)),
    fc.tuple(number, fixed(8)).map(tagged(WIRE.fixed64)),
    fc.tuple(number, fixed(4)).map(tagged(WIRE.fixed32)),
  );

  it('has unknown fields skipped, of every wire type and in every message', () => {
    fc.assert(
      fc.property(anyNode, fc.array(unknownField, { maxLength: 5 }), fc.array(unknownField), (node, before, after) => {
        const unknown = (...raw: readonly Buffer[]): Buffer => Buffer.concat([...before, ...raw, ...after]);
        // Protobuf merges repeated messages, so metadata, spec and status get unknown fields, too.
        const inside = message([1, unknown()], [2, unknown()], [3, message([7, unknown()])]);
        assert.deepEqual(nodeOf(unknown(nodeMessage(node), inside)), nodeRecordOf(node));
      }),
    );
  });

  const malformed: [what: string, stream: Buffer, error: RegExp][] = [
    ['an event of an unknown type', nodeFrame('RENAMED', realistic), /unknown type "RENAMED"/],
    ['an event without an object', frame('ADDED', message()), /not protobuf/],
    ['an event that is JSON', frame('ADDED', Buffer.from('{"kind":"Node"}')), /not protobuf/],
    ['an empty event', Buffer.alloc(4), /an object without object.raw/],
    ['another kind', frame('ADDED', envelope('v1', 'Pod', nodeMessage(realistic))), /a v1 Pod instead of a v1 Node/],
    ['another version', frame('ADDED', envelope('v2', 'Node', nodeMessage(realistic))), /a v2 Node instead/],
    ['an ERROR that is a Node', frame('ERROR', envelope('v1', 'Node', nodeMessage(realistic))), /instead of a Status/],
    [
      'an object without a message',
      frame('ADDED', Buffer.concat([Buffer.from('k8s\0'), message([1, message([1, 'v1'], [2, 'Node'])])])),
      /without raw/,
    ],
    [
      'a compressed object',
      frame('ADDED', Buffer.concat([envelope('v1', 'Node', message()), message([3, 'gzip'])])),
      /encoding "gzip"/,
    ],
    ['a bookmark without a version', bookmark(''), /without metadata.resourceVersion/],
  ];
  for (const [what, bytes, error] of malformed) {
    it(`is rejected if it is ${what}`, () => {
      assert.throws(() => eventsOf(bytes), error);
    });
  }

  const labelled = (...entry: WrittenField[]) => message([1, message([11, message(...entry)])]);
  const odd: [what: string, raw: Buffer][] = [
    ['without a key', labelled([2, 'b'])],
    ['that would change its map', labelled([1, '__proto__'], [2, 'b'])],
  ];
  for (const [what, raw] of odd) {
    it(`leaves out a label ${what}`, () => {
      assert.deepEqual(nodeOf(Buffer.concat([nodeMessage(realistic), raw])), expectedRecord);
    });
  }

  const wrong: [what: string, raw: Buffer, problem: RegExp][] = [
    ['a number for a name', message([1, message([1, 5])]), /wire type 0 for metadata=1 name=1/],
    ['a fixed64 for a name', message([1, Buffer.from([(1 << 3) | 1, 0, 0, 0, 0, 0, 0, 0, 0])]), /wire type 1 for/],
    ['a string for the seconds', message([1, message([8, message([1, 'x'])])]), /wire type 2 for seconds=1/],
    ['a number for a label', labelled([1, 'a'], [2, 5]), /^metadata.labels: .*the wire type 0 in a map/],
  ];
  for (const [what, raw, problem] of wrong) {
    it(`costs a node only the value if it has ${what}`, () => {
      const { unreadable, ...others } = nodeOf(Buffer.concat([nodeMessage(realistic), raw]));
      assert.match(unreadable, problem);
      assert.deepEqual({ ...others, unreadable: '', createdAt: expectedRecord.createdAt }, expectedRecord);
    });
  }

  const lost: [what: string, raw: Buffer, name: string, error: RegExp][] = [
    ['without a name', nodeMessage(stored({ ...realistic, metadata: { name: '' } }, 1)), '', /without metadata.name/],
    ['with a number for its metadata', message([1, 5]), '', /wire type 0 for/],
    ['without a UID', message([1, message([1, 'win-1'], [6, '8'])]), 'win-1', /without metadata.uid/],
    ['with a group', Buffer.of((1 << 3) | 3), '', /wire type 3/],
  ];
  for (const [what, raw, name, error] of lost) {
    it(`costs a list and a watch only the node ${what}`, () => {
      const [before, bad, after] = eventsOf(
        Buffer.concat([
          nodeFrame('ADDED', realistic),
          frame('ADDED', envelope('v1', 'Node', raw)),
          nodeFrame('ADDED', realistic),
        ]),
      );
      const read = { type: 'ADDED', item: expectedRecord };
      assert.deepEqual([before, after], [read, read]);
      assert.ok(bad?.type === 'UNREADABLE');
      assert.match(bad.message, error);
      assert.equal(bad.name, name);
      const items = [nodeMessage(realistic), raw, nodeMessage(realistic)];
      const list = message([1, message([2, '7'])], ...each(2, items, (item) => item));
      const { type: _, ...unreadable } = bad;
      assert.deepEqual(decoder.page(envelope('v1', 'NodeList', list)), {
        items: [expectedRecord, expectedRecord],
        unreadable: [unreadable],
        resourceVersion: '7',
      });
    });
  }

  it('is rejected if it is a list of another kind or without a version', () => {
    assert.throws(() => decoder.page(envelope('v1', 'PodList', message())), /a v1 PodList instead of a v1 NodeList/);
    assert.throws(() => decoder.page(nodeListBody('', [])), /without metadata.resourceVersion/);
    assert.throws(() => decoder.page(Buffer.from('{"kind":"NodeList"}')), /not protobuf/);
    assert.throws(() => decoder.page(Buffer.alloc(0)), /not protobuf/);
  });

  it('is rejected if a page is truncated, unless it is complete', () => {
    const body = nodeListBody('7', [realistic, stored(windowsNode(8), 8)]);
    const whole = decoder.page(body);
    for (let length = 0; length < body.length; length++) {
      try {
        assert.deepEqual(decoder.page(body.subarray(0, length)), whole, `cut at ${length}`);
      } catch (error) {
        assert.ok(error instanceof MalformedData, String(error));
      }
    }
  });

  it('is rejected if an event is truncated, also if its frame is complete', () => {
    const event = nodeFrame('ADDED', realistic).subarray(4);
    for (let length = 0; length < event.length; length++) {
      const header = Buffer.alloc(4);
      header.writeUInt32BE(length);
      const cut = Buffer.concat([header, event.subarray(0, length)]);
      try {
        const [read] = eventsOf(cut);
        assert.ok(read?.type === 'UNREADABLE' || (read?.type === 'ADDED' && read.item.unreadable), `cut at ${length}`);
      } catch (error) {
        assert.ok(error instanceof MalformedData, String(error));
      }
    }
  });

  it('is rejected if bytes are corrupted, or decoded to records of the same shape', () => {
    const change = fc.tuple(fc.nat({ max: stream.length - 1 }), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 5 }), (changes) => {
        const bytes = Buffer.from(stream);
        for (const [at, mask] of changes) bytes[at] = (bytes[at] ?? 0) ^ mask;
        try {
          for (const event of eventsOf(bytes)) if ('item' in event) assertWellFormed(event.item, expectedRecord);
        } catch (error) {
          assert.ok(error instanceof MalformedData, String(error));
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it('is rejected if it is noise', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 400 }), (noise) => {
        const bytes = Buffer.from(noise);
        assert.throws(() => decoder.page(bytes), MalformedData);
        assert.throws(() => eventsOf(frame('ADDED', bytes)), MalformedData);
        assert.throws(() => eventsOf(frame('ADDED', Buffer.concat([Buffer.from('k8s\0'), bytes]))), MalformedData);
      }),
    );
  });
});
