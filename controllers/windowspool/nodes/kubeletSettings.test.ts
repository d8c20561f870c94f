import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { KubeletSpec } from '../api/api.gen.ts';
import { sampleExpectation, sampleNode } from '../testing/fixtures.ts';
import { textTable } from '../testing/goldenTexts.ts';
import { maxPodsMismatch, reservationMismatch, reservedMemoryOf } from './kubeletSettings.ts';

const check = textTable('kubeletSettings');

const textsOf = (mismatch: string | undefined) => (mismatch === undefined ? [] : [`mismatch: ${mismatch}`]);

const KI = 1024;
const GI = KI ** 3;
const CAPACITY = { memory: 8 * GI, cpu: 4, 'ephemeral-storage': 52_427_772 * KI };
type Amounts = typeof CAPACITY;

/** What the check finds on a node that reserves this, in bytes and CPUs. */
function found(kubelet: KubeletSpec | undefined, reserved: Partial<Amounts>, capacity: Amounts = CAPACITY) {
  const left = { ...capacity };
  for (const [name, amount] of Object.entries(reserved) as [keyof Amounts, number][]) left[name] -= amount;
  const quantities = (amounts: Amounts) => ({
    memory: String(amounts.memory),
    cpu: `${Math.round(amounts.cpu * 1000)}m`,
    'ephemeral-storage': String(amounts['ephemeral-storage']),
  });
  const node = sampleNode({ capacity: quantities(capacity), allocatable: quantities(left) });
  return reservationMismatch(node, sampleExpectation({ nodeGroup: { ...(kubelet && { kubelet }) } }));
}

const memory = { systemReserved: { memory: '1536Mi' }, kubeReserved: { memory: '512Mi' } };
const everyPart = { ...memory, evictionHard: { 'memory.available': '500Mi' } };

const ignoring = (value: string) => ({ extraArgs: { 'experimental-allocatable-ignore-eviction': value } });

describe('what a node reserves', () => {
  const rows: readonly (readonly [
    what: string,
    kubelet: KubeletSpec | undefined,
    reserved: Partial<Amounts>,
    mismatch?: string,
  ])[] = [
    ['no settings', undefined, { memory: GI }],
    ['arguments without reservations', { extraArgs: { v: '4' } }, {}],
    ['both reservations', memory, { memory: 2 * GI }],
    ['both reservations, and the default threshold', memory, { memory: 2.5 * GI }],
    ['a difference below the precision', memory, { memory: 2 * GI - 2 * KI }],
    ['less memory', memory, { memory: 2 * GI - 3 * KI }, '2097149Ki of memory instead of at least 2048Mi'],
    ['every part', everyPart, { memory: 2548 * KI ** 2 }],
    ['less than every part', everyPart, { memory: 2 * GI }, '2048Mi of memory instead of 2548Mi'],
    ['more than every part', everyPart, { memory: 3 * GI }, '3072Mi of memory instead of 2548Mi'],
    [
      'less than a threshold in percent',
      { evictionHard: { 'memory.available': '10%' } },
      { memory: GI / 2 },
      '512Mi of memory instead of at least 838861Ki',
    ],
    ['a threshold of images, which the kubelet does not reserve', { evictionHard: { 'imagefs.available': '9%' } }, {}],
    [
      'every part but the threshold, which the kubelet ignores',
      { ...everyPart, ...ignoring('true') },
      { memory: 2 * GI },
    ],
    [
      'every part with a threshold that the kubelet ignores',
      { ...everyPart, ...ignoring('1') },
      { memory: 2548 * KI ** 2 },
      '2548Mi of memory instead of 2048Mi',
    ],
    [
      'every part, which the kubelet does not ignore',
      { ...everyPart, ...ignoring('false') },
      { memory: 2548 * KI ** 2 },
    ],
    ['CPU', { systemReserved: { cpu: '1' } }, { cpu: 1 }],
    ['no CPU', { systemReserved: { cpu: '250m' }, kubeReserved: { cpu: '0.25' } }, {}, '0m of cpu instead of 500m'],
    [
      'less of each resource',
      {
        systemReserved: { memory: '2Gi', cpu: '500m', 'ephemeral-storage': '1Gi' },
        evictionHard: { 'nodefs.available': '1Gi' },
      },
      { memory: GI },
      '1024Mi of memory instead of at least 2048Mi, 0m of cpu instead of at least 500m',
    ],
  ];
  for (const [what, kubelet, reserved, mismatch] of rows)
    check(
      `${mismatch === undefined ? 'matches' : 'differs from'} the spec: ${what}`,
      () => textsOf(found(kubelet, reserved)),
      mismatch === undefined ? [] : [['mismatch', mismatch, 'nodeGroup.kubelet']],
    );

  check(
    'cannot be more than its capacity',
    () => textsOf(found({ systemReserved: { memory: '9Gi' } }, { memory: 8 * GI })),
    [['mismatch', '8192Mi', '9216Mi', 'nodeGroup.kubelet', 'capacity']],
  );

  it('is not checked for a resource that the node does not report', () => {
    const kubelet = { systemReserved: { memory: '2Gi', cpu: '1', 'ephemeral-storage': '1Gi' } };
    for (const capacity of [{}, { memory: 'x', cpu: '', 'ephemeral-storage': '1' }])
      assert.equal(
        reservationMismatch(sampleNode({ capacity, allocatable: {} }), sampleExpectation({ nodeGroup: { kubelet } })),
        undefined,
      );
  });

  /** As the kubelet does, with its 32-bit floating-point number for percentages. */
  const thresholdOf = (percent: number, capacity: number) =>
    Math.floor(capacity * Math.fround(Math.fround(percent) / 100));

  it('matches the settings of any kubelet, and differs as soon as one of them is another one', () => {
    const mebibytes = fc.integer({ min: 0, max: 2_000 });
    const settings = fc.record({
      system: mebibytes,
      kube: mebibytes,
      percent: fc.integer({ min: 0, max: 9_999 }).map((hundredths) => hundredths / 100),
      total: fc.integer({ min: 4 * KI ** 2, max: KI ** 3 }).map((kibibytes) => kibibytes * KI),
      milliCpus: fc.integer({ min: 0, max: 2_000 }),
    });
    const other = fc.integer({ min: 1, max: 2_000 });
    fc.assert(
      fc.property(settings, other, ({ system, kube, percent, total, milliCpus }, change) => {
        const kubelet = {
          systemReserved: { memory: `${system}Mi`, cpu: `${milliCpus}m` },
          kubeReserved: { memory: `${kube}Mi`, cpu: '0' },
          evictionHard: { 'memory.available': `${percent}%` },
        };
        const capacity = { ...CAPACITY, memory: total };
        const reserved = {
          memory: (system + kube) * KI ** 2 + thresholdOf(percent, total),
          cpu: milliCpus / 1000,
        };
        assert.equal(found(kubelet, reserved, capacity), undefined);
        const others = [
          { ...reserved, memory: reserved.memory + change * KI ** 2 },
          { ...reserved, memory: reserved.memory - change * KI ** 2 },
          { ...reserved, cpu: reserved.cpu + change / 1000 },
          { ...reserved, cpu: reserved.cpu - change / 1000 },
        ];
        for (const one of others) assert.match(found(kubelet, one, capacity) ?? '', /^reserves -?\d+/);
      }),
    );
  });
});

describe('the number of pods that a node accepts', () => {
  const podsPerCore = { extraArgs: { 'pods-per-core': '10' } };
  const rows: readonly (readonly [kubelet: KubeletSpec | undefined, pods: string, expected?: number])[] = [
    [undefined, '250'],
    [{ systemReserved: { cpu: '1' } }, '250'],
    [{ maxPods: 30 }, '30'],
    [{ maxPods: 30 }, '110', 30],
    [{ maxPods: 110 }, '30', 110],
    [{ maxPods: 110, ...podsPerCore }, '40'],
    [{ maxPods: 30, ...podsPerCore }, '30'],
    [{ maxPods: 110, ...podsPerCore }, '110', 40],
    [{ maxPods: 30, extraArgs: { 'pods-per-core': '0' } }, '30'],
  ];
  for (const [kubelet, pods, expected] of rows)
    check(
      `${expected === undefined ? 'can be' : 'cannot be'} ${pods} with 4 CPUs and ${JSON.stringify(kubelet)}`,
      () => {
        const node = sampleNode({ capacity: { pods, cpu: '4' } });
        return textsOf(maxPodsMismatch(node, sampleExpectation({ nodeGroup: { ...(kubelet && { kubelet }) } })));
      },
      expected === undefined ? [] : [['mismatch', `${pods} pods`, `${expected}`, 'nodeGroup.kubelet']],
    );

  it('is not checked on a node that does not report it', () => {
    for (const capacity of [{}, { pods: 'many' }])
      assert.equal(
        maxPodsMismatch(sampleNode({ capacity }), sampleExpectation({ nodeGroup: { kubelet: { maxPods: 30 } } })),
        undefined,
      );
  });
});

describe('the memory that a node reserves', () => {
  const rows: readonly (readonly [capacity: string, allocatable: string, reserved: string | undefined])[] = [
    ['8Gi', '6Gi', '2048Mi'],
    ['8388608Ki', '7876607Ki', '500Mi'],
    ['8Gi', '8Gi', '0Mi'],
    ['8Gi', '9Gi', '0Mi'],
    ['8Gi', '', undefined],
    ['all', '8Gi', undefined],
  ];
  for (const [capacity, allocatable, reserved] of rows)
    it(`is ${reserved} of a node with ${capacity || 'nothing'} of which ${allocatable || 'an unknown part'} is allocatable`, () => {
      assert.equal(
        reservedMemoryOf({ capacity: { memory: capacity }, allocatable: { memory: allocatable } }),
        reserved,
      );
    });
});
