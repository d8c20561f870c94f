import assert from 'node:assert/strict';
import type { KubernetesObject } from '@kubernetes/client-node';
import fc from 'fast-check';
import type { WatchEvent } from '../runtime/ports.ts';
import { jsonDecoder } from './decoder.ts';
import type { Wire } from './objects.ts';

type Named = Wire<KubernetesObject> & { readonly extra?: string };
const decoder = jsonDecoder((object: Named) => `${object.metadata?.name}@${object.metadata?.resourceVersion}`);

const events = [
  { type: 'ADDED', object: { metadata: { name: 'ä', resourceVersion: '1' }, extra: 'x'.repeat(200) } },
  { type: 'MODIFIED', object: { metadata: { name: 'b', resourceVersion: '2' } } },
  { type: 'DELETED', object: { metadata: { name: 'b', resourceVersion: '3' } } },
  { type: 'BOOKMARK', object: { metadata: { resourceVersion: '4' } } },
  {
    type: 'BOOKMARK',
    object: { metadata: { resourceVersion: '5', annotations: { 'k8s.io/initial-events-end': 'true' } } },
  },
  { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } },
];
const bytes = Buffer.from(`${events.map((event) => JSON.stringify(event)).join('\n')}\n`);
const expected: WatchEvent<string>[] = [
  { type: 'ADDED', item: 'ä@1' },
  { type: 'MODIFIED', item: 'b@2' },
  { type: 'DELETED', item: 'b@3' },
  { type: 'BOOKMARK', resourceVersion: '4', initialEventsEnd: false },
  { type: 'BOOKMARK', resourceVersion: '5', initialEventsEnd: true },
  {
    type: 'ERROR',
    failure: { status: 410, reason: 'Expired', causes: [], retryAfterMs: undefined },
    message: 'too old',
  },
];

describe('the JSON decoder', () => {
  it('decodes the same events regardless of chunk boundaries', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 40, size: 'max' }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const stream = decoder.stream();
        const read = at.slice(1).flatMap((end, index) => [...stream.push(bytes.subarray(at[index], end))]);
        stream.end();
        assert.deepEqual(read, expected);
      }),
    );
  });

  it('rejects a stream that ends inside an event', () => {
    const ends = [...bytes.keys()].filter((at) => bytes[at] === 0x0a).map((at) => at + 1);
    for (let length = 1; length < bytes.length; length++) {
      const stream = decoder.stream();
      const whole = ends.filter((end) => end <= length).length;
      assert.deepEqual(stream.push(bytes.subarray(0, length)), expected.slice(0, whole));
      if (ends.includes(length)) stream.end();
      else assert.throws(() => stream.end(), /ended inside an event/);
    }
  });

  const malformed: [line: string, error: RegExp][] = [
    ['{"type":"ADDED","object":', /malformed data/],
    ['<html>', /malformed data/],
    ['{"type":"ADDED"}', /an event without an object/],
    ['{"type":"RENAMED","object":{}}', /unknown type "RENAMED"/],
    ['{"object":{}}', /unknown type undefined/],
    ['{"type":"BOOKMARK","object":{}}', /without metadata.resourceVersion/],
  ];
  for (const [line, error] of malformed) {
    it(`rejects the event ${line}`, () => {
      assert.throws(() => decoder.stream().push(Buffer.from(`${line}\n`)), error);
    });
  }

  it('decodes pages', () => {
    const page = (body: object) => decoder.page(Buffer.from(JSON.stringify(body)));
    const items = [{ metadata: { name: 'a', resourceVersion: '1' } }];
    assert.deepEqual(page({ metadata: { resourceVersion: '7', continue: 'more' }, items }), {
      items: ['a@1'],
      resourceVersion: '7',
      continueToken: 'more',
    });
    assert.deepEqual(page({ metadata: { resourceVersion: '7', continue: '' }, items: null }), {
      items: [],
      resourceVersion: '7',
    });
    assert.throws(() => page({ items }), /without metadata.resourceVersion/);
  });
});
