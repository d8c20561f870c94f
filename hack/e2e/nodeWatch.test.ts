import assert from 'node:assert/strict';
import { type Node, Registrations } from './nodeWatch.ts';

const node = (labels: readonly string[], taints: readonly string[] = [], ready = 'False'): Node => ({
  metadata: {
    name: 'win-1',
    labels: Object.fromEntries(['kubernetes.io/os=windows', ...labels].map((label) => label.split('='))),
  },
  spec: { taints: taints.map((key) => ({ key, effect: 'NoSchedule' })) },
  status: { conditions: [{ type: 'Ready', status: ready }] },
});

describe('the registration of a node', () => {
  it('has the keys of its first event, and the times of later ones', () => {
    const registrations = new Registrations();
    registrations.see({ type: 'ADDED', object: node(['a=1'], ['os']) }, 1_000);
    registrations.see({ type: 'MODIFIED', object: node(['a=1', 'b=2'], ['os']) }, 4_000);
    registrations.see({ type: 'MODIFIED', object: node(['a=1', 'b=3'], ['os', 'gate'], 'True') }, 21_000);
    assert.deepEqual(registrations.of('win-1'), {
      labels: ['kubernetes.io/os', 'a'],
      taints: ['os:NoSchedule'],
      later: { b: 3, 'gate:NoSchedule': 20 },
      readySeconds: 20,
      at: 1_000,
    });
  });

  it('is absent for an existing node, a deleted node, or another operating system', () => {
    const seen = new Registrations();
    seen.ignore('win-1');
    seen.see({ type: 'ADDED', object: node([]) }, 0);
    const other = new Registrations();
    other.see({ type: 'DELETED', object: node([]) }, 0);
    other.see({ type: 'ADDED', object: node(['kubernetes.io/os=linux']) }, 0);
    assert.deepEqual([seen.of('win-1'), other.of('win-1')], [undefined, undefined]);
  });
});
