import assert from 'node:assert/strict';
import type { KubeletSpec } from '../api.gen.ts';
import { samplePool } from '../testing/fixtures.ts';
import { missingReservation } from './kubeletSettings.ts';

const GI = 1024 ** 2;
const spec = (kubelet?: KubeletSpec) => samplePool({ nodeGroup: { ...(kubelet && { kubelet }) } }).spec;
/** A node of 8 GiB that reserves this much, in KiB. */
const node = (reserved: number) => ({
  capacity: { memory: `${8 * GI}Ki` },
  allocatable: { memory: `${8 * GI - reserved}Ki` },
});
const FIX = ': replace the node, or wait for the rolling update';

describe('the memory that a node reserves', () => {
  const memory = { systemReserved: { memory: '1536Mi' }, kubeReserved: { memory: '512Mi' } };
  const rows: readonly (readonly [
    what: string,
    kubelet: KubeletSpec | undefined,
    seen: ReturnType<typeof node>,
    found?: string,
  ])[] = [
    ['no settings', undefined, node(0)],
    ['both reservations', memory, node(2 * GI)],
    ['both reservations, and the default threshold', memory, node(2 * GI + 512_000)],
    ['a difference that is less than the rounding of the kubelet', memory, node(2 * GI - 4)],
    ['less memory', memory, node(2 * GI - 5), 'reserves 2047Mi of memory, and nodeGroup.kubelet sets 2048Mi'],
    [
      'a threshold in addition',
      { ...memory, evictionHard: { 'memory.available': '500Mi' } },
      node(2 * GI),
      'reserves 2048Mi of memory, and nodeGroup.kubelet sets 2548Mi',
    ],
    [
      'a threshold in percent',
      { evictionHard: { 'memory.available': '10%' } },
      node(GI / 2),
      'reserves 512Mi of memory, and nodeGroup.kubelet sets 819Mi',
    ],
    ['a threshold of disks only', { evictionHard: { 'nodefs.available': '10%' } }, node(0)],
    ['cpu only', { systemReserved: { cpu: '1' } }, node(0)],
  ];
  for (const [what, kubelet, seen, found] of rows)
    it(`${found === undefined ? 'is enough' : 'is not enough'}: ${what}`, () => {
      assert.equal(missingReservation(seen, spec(kubelet)), found && found + FIX);
    });

  it('is not checked without its capacity', () => {
    for (const capacity of [{}, { memory: 'x' }])
      assert.equal(missingReservation({ capacity, allocatable: {} }, spec(memory)), undefined);
  });
});
