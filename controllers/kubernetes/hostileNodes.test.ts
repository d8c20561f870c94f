import assert from 'node:assert/strict';
import { IMAGES_PENDING_CONDITION } from '../windowspool/api/labels.ts';
import { scrub } from '../windowspool/ports/callResult.ts';
import type { NodeRecord } from '../windowspool/ports/nodes.ts';
import { sentence } from '../windowspool/util/words.ts';
import { jsonDecoder } from './decoder.ts';
import { errorOfResponse } from './errors.ts';
import { nodeFields } from './nodeFields.ts';
import { nodeRecordOf } from './nodes.ts';
import { protobufDecoder } from './protobufDecoder.ts';
import type { NodeJson } from './testing/nodeJson.ts';
import { nodeFrame, stored, windowsNode } from './testing/nodes.ts';

const inProtobuf = protobufDecoder({ apiVersion: 'v1', kind: 'Node', fields: nodeFields });
const inJson = jsonDecoder(nodeRecordOf);
const healthy = stored(windowsNode(1), 1);
const record = nodeRecordOf(healthy);

/** The records of a node in both formats, which a healthy node follows on the same watch. */
function readBoth(node: NodeJson): readonly NodeRecord[] {
  const line = (object: NodeJson): string => `${JSON.stringify({ type: 'MODIFIED', object })}\n`;
  const streams = [
    inProtobuf.stream().push(Buffer.concat([nodeFrame('MODIFIED', node), nodeFrame('MODIFIED', healthy)])),
    inJson.stream().push(Buffer.from(line(node) + line(healthy))),
  ];
  return streams.map(([hostile, next]) => {
    assert.deepEqual(next, { type: 'MODIFIED', item: record });
    assert.ok(hostile?.type === 'MODIFIED');
    return hostile.item;
  });
}

/** The healthy node with another status. */
function reporting(status: NodeJson['status']): NodeJson {
  return { ...healthy, status: { ...healthy.status, ...status } };
}

function withOwnKey(key: string): Record<string, string> {
  return JSON.parse(`{"memory": "8Gi", ${JSON.stringify(key)}: "1"}`);
}

describe('a node whose kubelet reports', () => {
  for (const key of ['__proto__', '', 'constructor']) {
    it(`a resource with the key ${JSON.stringify(key)} has its other resources`, () => {
      for (const read of readBoth(reporting({ capacity: withOwnKey(key) })))
        assert.deepEqual(read, { ...record, capacity: { memory: '8Gi' } });
    });
  }

  it('a condition that changed before 1970 is read', () => {
    const since = '1901-12-13T20:45:51Z';
    const verified = { type: 'winpool.dev/Verified', status: 'True', lastTransitionTime: since };
    for (const read of readBoth(
      reporting({ conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }, verified] }),
    ))
      assert.deepEqual([read.ready, read.verifiedSince], ['True', Date.parse(since)]);
  });

  it('thousands of labels cannot be read, and costs no more than its first ones', () => {
    const labels = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`example.com/a-${index}`, 'b']));
    const labelled = (count: number) => ({ ...healthy, metadata: { ...healthy.metadata, labels: labels(count) } });
    for (const read of readBoth(labelled(2_048)))
      assert.deepEqual([read.unreadable, Object.keys(read.labels).length], ['', 2_048]);
    for (const read of readBoth(labelled(40_000))) {
      assert.equal(read.unreadable, 'metadata.labels: malformed data from the API server: more than 2048 entries');
      assert.ok(Object.keys(read.labels).length <= 2_048);
    }
  });

  it('control characters has none of them in its record', () => {
    const nodeInfo = { kernelVersion: '10.0.20348\u001b[2J', containerRuntimeVersion: 'a\nb\u202ec' };
    const conditions = [{ type: 'Ready', status: 'False', reason: '\u0007bell' }];
    for (const read of readBoth(reporting({ nodeInfo, conditions }))) {
      assert.deepEqual(
        [read.kernelVersion, read.containerRuntimeVersion, read.readyReason],
        ['10.0.20348\uFFFD[2J', 'a b\uFFFDc', '\uFFFDbell'],
      );
    }
  });

  it('an annotation of more than 16 KiB has the same part of it in both formats', () => {
    for (const character of ['a', 'é', '世', '🪟']) {
      const annotations = { 'winpool.dev/ownership': `a${character.repeat(20_000)}` };
      const node = { ...healthy, metadata: { ...healthy.metadata, annotations } };
      const [first, second] = readBoth(node).map(({ ownership }) => ownership);
      assert.deepEqual([first?.length, second], [16_384, first]);
    }
  });

  it('100,000 addresses has the first 128', () => {
    const addresses = Array.from({ length: 100_000 }, (_, index) => ({
      type: 'InternalIP',
      address: `address-${index}`,
    }));
    for (const read of readBoth(reporting({ addresses })))
      assert.deepEqual(
        read.addresses,
        addresses.slice(0, 128).map(({ address }) => address),
      );
  });

  it('20 images with 8,000 names each has the first 16 names of the first 16', () => {
    const names = Array.from({ length: 8_000 }, (_, index) => `example.com/app:${index}`);
    const images = Array.from({ length: 20 }, () => ({ names, sizeBytes: 1 }));
    for (const read of readBoth(reporting({ images })))
      assert.deepEqual(read.images, Array.from({ length: 16 }, () => names.slice(0, 16)).flat());
  });

  it('8,000 runtime handlers has the first 64', () => {
    const runtimeHandlers = Array.from({ length: 8_000 }, (_, index) => ({ name: `handler-${index}` }));
    for (const read of readBoth(reporting({ runtimeHandlers })))
      assert.deepEqual(
        read.runtimeHandlers,
        runtimeHandlers.slice(0, 64).map(({ name }) => name),
      );
  });

  it('20,000 resources and conditions is read', () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `example.com/${index}`);
    const capacity = { ...Object.fromEntries(names.map((name) => [name, '1'])), memory: '8Gi' };
    const conditions = [...names.map((type) => ({ type, status: 'True' })), { type: 'Ready', status: 'False' }];
    for (const read of readBoth(reporting({ capacity, conditions })))
      assert.deepEqual([read.capacity, read.ready], [{ memory: '8Gi' }, 'False']);
  });

  it('20,000 conditions has the first 64, and those of the operator, which it would write again and again', () => {
    const others = Array.from({ length: 20_000 }, (_, index) => ({ type: `example.com/${index}`, status: 'True' }));
    const own = { type: IMAGES_PENDING_CONDITION, status: 'True' };
    const want = [...others.slice(0, 64), own].map(({ type, status }) => `${type}=${status}`);
    for (const read of readBoth(reporting({ conditions: [...others, own, own] })))
      assert.deepEqual(read.conditions, want);
  });
});

describe('a value of the wrong type', () => {
  const wrong: readonly [what: string, status: object, problem: RegExp][] = [
    ['a number for a version', { nodeInfo: { kernelVersion: 5 } }, /^status.nodeInfo.kernelVersion: .*number.*string/],
    ['a string for a list', { addresses: 'none' }, /^status.addresses: .*a string instead of a list/],
    [
      'a time that is none',
      { conditions: [{ type: 'winpool.dev/Verified', lastTransitionTime: 'yesterday' }] },
      /the time "yesterday"/,
    ],
    ['a list for a map', { capacity: 'all' }, /^status.capacity: .*a string instead of a object/],
  ];
  for (const [what, status, problem] of wrong) {
    it(`costs the node only that value, in JSON: ${what}`, () => {
      const { unreadable, kubeletVersion } = nodeRecordOf({ ...healthy, status: { ...healthy.status, ...status } });
      assert.match(unreadable, problem);
      assert.equal(kubeletVersion, 'nodeInfo' in status ? '' : record.kubeletVersion);
    });
  }

  it('a time that is none in a condition leaves it its conditions, in JSON', () => {
    const wrong = { type: 'MemoryPressure', status: 'True', lastTransitionTime: 'yesterday' };
    const { conditions } = nodeRecordOf(reporting({ conditions: [wrong, { type: 'DiskPressure', status: 'True' }] }));
    assert.deepEqual(conditions, ['MemoryPressure=True', 'DiskPressure=True']);
  });
});

/** Where the work is not linear, a text of this length takes minutes, and the test runs into its time-out. */
const LENGTH = 1_000_000;

describe('a megabyte of', () => {
  for (const character of ['.', '<', ' ', '(', '\u001b', '9', 'request id ', '🪟']) {
    const text = character.repeat(LENGTH / character.length);

    it(`${JSON.stringify(character)} in a version is cut`, () => {
      const nodeInfo = { kernelVersion: text, containerRuntimeVersion: text, kubeletVersion: text };
      for (const { kernelVersion, containerRuntimeVersion } of readBoth(reporting({ nodeInfo })))
        assert.deepEqual([kernelVersion.length, containerRuntimeVersion.length], [256, 256]);
    });

    it(`${JSON.stringify(character)} in an error is cut`, () => {
      assert.ok(errorOfResponse(502, undefined, Buffer.from(text)).message.length < 300);
      assert.ok(scrub(text).length <= 1_024);
      assert.match(sentence(`${text}x`), /x\.$/);
    });
  }
});

describe('an endless event', () => {
  for (const [format, decoder, start] of [
    ['JSON', inJson, Buffer.from('{"type":"ADDED"')],
    ['protobuf', inProtobuf, Buffer.from([0x7f, 0xff, 0xff, 0xff])],
  ] as const) {
    it(`is an error after 16 MiB at most, in ${format}`, () => {
      const reading = decoder.stream();
      assert.throws(() => {
        reading.push(start);
        for (let mebibyte = 0; mebibyte < 17; mebibyte++) reading.push(Buffer.alloc(1024 * 1024, ' '));
      }, /an event of/);
    });
  }
});

describe('the time that a server asks a client to wait', () => {
  const body = (retryAfterSeconds: number) =>
    Buffer.from(JSON.stringify({ kind: 'Status', details: { retryAfterSeconds } }));
  const cases: readonly [header: string | undefined, body: Buffer, ms: number | undefined][] = [
    ['99999999', Buffer.alloc(0), 60_000],
    ['1e9', Buffer.alloc(0), 60_000],
    ['-5', Buffer.alloc(0), undefined],
    ['Infinity', Buffer.alloc(0), 60_000],
    ['soon', Buffer.alloc(0), undefined],
    ['2', body(9), 2_000],
    [undefined, body(99_999_999), 60_000],
    [undefined, body(-1), undefined],
    [undefined, body(9), 9_000],
  ];
  for (const [header, text, ms] of cases) {
    it(`is ${ms} ms for the header ${header} and the body ${text}`, () => {
      assert.equal(errorOfResponse(429, header, text).retryAfterMs, ms);
    });
  }
});
