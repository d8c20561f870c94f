import fc from 'fast-check';
import { NODE_RESOURCES } from '../../windowspool/ports/nodes.ts';
import type { NodeJson } from './nodeJson.ts';

/** What a kubelet may report: also control characters, characters that change the direction of text, and far too much. */
const hostile = fc.constantFrom(
  '\u001b[31mred\n',
  '\u202egnp.exe',
  'a'.repeat(300),
  '🪟'.repeat(200),
  '.'.repeat(5_000),
);
const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.constant('Grüße, 世界 🪟'), hostile);
/** Of an annotation that is kept whole. */
const value = fc.oneof(text, fc.constantFrom('🪟'.repeat(9_000), 'é'.repeat(16_383), 'a'.repeat(20_000)));
const some = fc.string({ minLength: 1 });
const key = fc
  .tuple(
    fc.constantFrom('example.com', 'kubernetes.io', 'topology.kubernetes.io'),
    fc.stringMatching(/^[a-z0-9]{1,20}$/),
  )
  .map(([domain, name]) => `${domain}/${name}`);
/** In whole seconds, as in the API server's JSON, from the year 0 to 9999. */
const time = fc
  .integer({ min: Date.parse('0000-01-01') / 1000, max: Date.parse('9999-12-31') / 1000 })
  .map((seconds) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z'));

/** The API server accepts any keys of resources from a kubelet. */
const oddKey = fc.constantFrom('', '__proto__', 'constructor', ...NODE_RESOURCES);
const resources = (value: fc.Arbitrary<string>) =>
  fc.array(fc.tuple(fc.oneof(key, oddKey), value), { maxLength: 25 }).map((entries) => {
    const map: Record<string, string> = {};
    // An assignment to __proto__ would not add a key.
    for (const [name, quantity] of entries)
      Object.defineProperty(map, name, { value: quantity, enumerable: true, configurable: true, writable: true });
    return map;
  });
const map = (value: fc.Arbitrary<string>) => fc.dictionary(key, value, { maxKeys: 25, noNullPrototype: true });
const optional = <T extends object>(fields: { [Name in keyof T]: fc.Arbitrary<T[Name]> }) =>
  fc.record(fields, { requiredKeys: [], noNullPrototype: true });

const taint = fc.record(
  { key, value: some, effect: fc.constantFrom('NoSchedule', 'NoExecute', 'PreferNoSchedule'), timeAdded: time },
  { requiredKeys: ['key', 'effect'], noNullPrototype: true },
);
const condition = fc.record(
  {
    type: fc.constantFrom('Ready', 'MemoryPressure', 'PIDPressure', 'winpool.dev/Verified'),
    status: fc.constantFrom('True', 'False', 'Unknown'),
    reason: text,
    message: text,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  },
  { requiredKeys: ['type', 'status'], noNullPrototype: true },
);
const quantity = fc.constantFrom('4', '110', '16776700Ki', '500m', '1Gi', '0', '12e6');
const handler = fc.constantFrom('', 'runhcs-wcow-process', 'runhcs-wcow-hypervisor');
const image = fc.record({ names: fc.array(text, { maxLength: 3 }), sizeBytes: fc.maxSafeNat() });

/** A Node with a name, a uid and a version, and any of the other fields. */
export const anyNode: fc.Arbitrary<NodeJson> = fc.record(
  {
    apiVersion: fc.constant('v1' as const),
    kind: fc.constant('Node' as const),
    metadata: fc.record(
      {
        name: some,
        uid: some,
        resourceVersion: fc.nat().map(String),
        creationTimestamp: time,
        deletionTimestamp: time,
        labels: map(text),
        annotations: fc
          .tuple(
            map(text),
            optional({ 'winpool.dev/replace': text, 'winpool.dev/remove': text, 'winpool.dev/ownership': value }),
          )
          .map(([others, annotations]) => ({ ...others, ...annotations })),
        finalizers: fc.array(key, { maxLength: 3 }),
      },
      { requiredKeys: ['name', 'uid', 'resourceVersion'], noNullPrototype: true },
    ),
    spec: optional({ providerID: text, unschedulable: fc.boolean(), taints: fc.array(taint, { maxLength: 20 }) }),
    status: optional({
      capacity: resources(quantity),
      allocatable: resources(quantity),
      addresses: fc.array(fc.record({ type: text, address: text }), { maxLength: 4 }),
      conditions: fc.array(condition, { maxLength: 6 }),
      nodeInfo: optional({
        kernelVersion: text,
        containerRuntimeVersion: text,
        kubeletVersion: text,
        osImage: text,
        operatingSystem: text,
        architecture: text,
      }),
      runtimeHandlers: fc.array(optional({ name: handler, features: optional({ userNamespaces: fc.boolean() }) }), {
        maxLength: 4,
      }),
      images: fc.array(image, { maxLength: 4 }),
    }),
  },
  { requiredKeys: ['apiVersion', 'kind', 'metadata'], noNullPrototype: true },
);
