/**
 * The work for a node grows with its size and not faster. Not measured in time: texts are cut before anything else reads them, and the steps of the
 * reader are counted.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { foreignMessage, foreignText } from '../windowspool/ports/foreignText.ts';
import type { NodeRecord } from '../windowspool/ports/nodes.ts';
import { protobufReader } from './fields.ts';
import { MessageReader } from './messageReader.ts';
import { nodeFields } from './nodeFields.ts';
import { nodeRecordOf } from './nodes.ts';
import { type NodeJson, nodeJson } from './testing/nodeJson.ts';
import { nodeMessage, stored } from './testing/nodes.ts';

const TEXTS = 300;

const readMessage = protobufReader(nodeFields);
const formats: readonly (readonly [name: string, read: (node: NodeJson) => NodeRecord])[] = [
  ['JSON', nodeRecordOf],
  ['protobuf', (node) => readMessage(new MessageReader(nodeMessage(node)))],
];

/** A node that has this text wherever a kubelet can put one. */
function reporting(text: string, message: string): NodeJson {
  const nodeInfo = {
    kernelVersion: text,
    containerRuntimeVersion: text,
    kubeletVersion: text,
    operatingSystem: text,
    architecture: text,
  };
  const condition = { status: 'False', reason: text, message };
  return stored(
    nodeJson('win-1', {
      labels: { 'example.com/label': text },
      annotations: { 'winpool.dev/replace': text },
      spec: { providerID: text, taints: [{ key: text, value: text, effect: 'NoSchedule' }] },
      status: {
        nodeInfo,
        capacity: { memory: text },
        allocatable: { memory: text },
        addresses: [{ type: 'Hostname', address: text }],
        runtimeHandlers: [{ name: text }],
        conditions: [
          { type: 'Ready', ...condition },
          { type: 'winpool.dev/Verified', ...condition },
        ],
      },
    }),
    1,
  );
}

const character = fc.constantFrom('.', '9', '1.', '<', ' ', 'Ki', '\u001b', '\n', 'é', '世', '🪟', '\u202e');
const anyText = fc
  .tuple(fc.string({ unit: character }), character, fc.constantFrom(0, 10, 200, 300, 5_000))
  .map(([start, repeated, times]) => start + repeated.repeat(times));

describe('a text of a node', () => {
  for (const [format, read] of formats) {
    it(`of any length is read as its first 256 characters, in ${format}`, () => {
      fc.assert(
        fc.property(anyText, (text) => {
          const record = read(reporting(text, text));
          assert.deepEqual(record, read(reporting(foreignText(text), foreignMessage(text))));
          for (const value of [record.kernelVersion, record.providerID, record.readyReason, ...record.addresses])
            assert.ok(value.length <= 256);
        }),
        { numRuns: TEXTS },
      );
    });
  }
});

/** How many calls of the reader it takes to read a message. */
function stepsFor(node: NodeJson): number {
  const reader = new MessageReader(nodeMessage(node));
  let steps = 0;
  const own = Object.getOwnPropertyDescriptors(MessageReader.prototype);
  const methods = Object.entries(own).filter(([name]) => name !== 'constructor');
  try {
    for (const [name, { value }] of methods)
      Object.defineProperty(MessageReader.prototype, name, {
        ...(own[name as never] as PropertyDescriptor),
        value(this: MessageReader, ...values: unknown[]) {
          steps++;
          return value.apply(this, values);
        },
      });
    readMessage(reader);
  } finally {
    Object.defineProperties(MessageReader.prototype, own);
  }
  return steps;
}

describe('the steps to read a node', () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `example.com/${index}`);
  const many: Readonly<Record<string, (count: number) => Parameters<typeof nodeJson>[1]>> = {
    labels: (count) => ({ labels: Object.fromEntries(names(count).map((name) => [name, 'x'])) }),
    annotations: (count) => ({ annotations: Object.fromEntries(names(count).map((name) => [name, 'x'])) }),
    taints: (count) => ({ spec: { taints: names(count).map((key) => ({ key, effect: 'NoSchedule' })) } }),
    resources: (count) => ({ status: { capacity: Object.fromEntries(names(count).map((name) => [name, '1'])) } }),
    conditions: (count) => ({ status: { conditions: names(count).map((type) => ({ type, status: 'True' })) } }),
    'conditions of one type': (count) => ({
      status: { conditions: names(count).map(() => ({ type: 'Ready', status: 'True' })) },
    }),
    addresses: (count) => ({ status: { addresses: names(count).map((address) => ({ type: 'Hostname', address })) } }),
    'runtime handlers': (count) => ({ status: { runtimeHandlers: names(count).map((name) => ({ name })) } }),
  };
  for (const [what, parts] of Object.entries(many))
    it(`are at most twice as many for twice the ${what}`, () => {
      const [once, twice] = [1_000, 2_000].map((count) => stepsFor(stored(nodeJson('win-1', parts(count)), 1)));
      assert.ok(once && twice && once > 1_000 && twice <= 2 * once, `${once} and ${twice} steps`);
    });
});
