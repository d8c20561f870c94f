import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { KubeletSpec } from '../../../api/api.gen.ts';
import { samplePool } from '../../../testing/fixtures.ts';
import { kubeletArguments, TUNING_ARGUMENTS } from './kubelet.ts';

const argumentsOf = (kubelet?: KubeletSpec) =>
  kubeletArguments(samplePool({ nodeGroup: { ...(kubelet && { kubelet }) } }).spec);

describe('the arguments of the kubelet', () => {
  it('are none without settings', () => {
    assert.deepEqual(argumentsOf(), {});
  });

  it('have each setting in the notation of the kubelet, sorted', () => {
    const kubelet: KubeletSpec = {
      systemReserved: { memory: '2Gi', cpu: '500m' },
      kubeReserved: { memory: '512Mi' },
      evictionHard: { 'nodefs.available': '10%', 'memory.available': '500Mi' },
      maxPods: 30,
      extraArgs: { v: '4' },
    };
    assert.deepEqual(argumentsOf(kubelet), {
      v: '4',
      'system-reserved': 'cpu=500m,memory=2Gi',
      'kube-reserved': 'memory=512Mi',
      'eviction-hard': 'memory.available<500Mi,nodefs.available<10%',
      'max-pods': '30',
    });
  });

  for (const [evictionHard, expected] of [
    [{ 'memory.available': '1Gi' }, 'memory.available<1Gi,nodefs.available<10%'],
    [{ 'nodefs.available': '15%' }, 'memory.available<500Mi,nodefs.available<15%'],
    [{ 'imagefs.available': '15%' }, 'imagefs.available<15%,memory.available<500Mi,nodefs.available<10%'],
  ] as const)
    it(`keep the default thresholds of the kubelet in addition to ${Object.keys(evictionHard)}`, () => {
      assert.deepEqual(argumentsOf({ evictionHard }), { 'eviction-hard': expected });
    });

  it('are not replaced by extraArgs, which the schema rejects for these names', () => {
    assert.deepEqual(argumentsOf({ maxPods: 30, extraArgs: { 'max-pods': '250' } }), { 'max-pods': '30' });
  });

  it('are none that do more than tune the kubelet, even if the schema of another release accepts them', () => {
    const others = [
      'manifest-url',
      'image-credential-provider-bin-dir',
      'volume-plugin-dir',
      'feature-gates',
      '__proto__',
    ];
    assert.deepEqual(argumentsOf({ extraArgs: Object.fromEntries(others.map((name) => [name, '1'])) }), {});
    assert.deepEqual(argumentsOf({ extraArgs: { v: '10' } }), {});
  });

  it('that extraArgs accepts are those in the schema', async () => {
    const schema = await readFile(new URL('../../../../../crds/windowspools.yaml', import.meta.url), 'utf8');
    const [, list = ''] = /name in \['node-labels', (.*)\]\)"\n.*only arguments that tune/.exec(schema) ?? [];
    const accepted = [...list.matchAll(/'([^']+)'/g)].map(([, name]) => name).slice(6);
    assert.deepEqual(accepted, [...TUNING_ARGUMENTS]);
  });
});
