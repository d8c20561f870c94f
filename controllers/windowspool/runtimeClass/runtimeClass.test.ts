import assert from 'node:assert/strict';
import type { WindowsPoolSpec } from '../api.gen.ts';
import { runtimeClassReady } from '../conditions/runtimeClassReady.ts';
import type { RuntimeClass } from '../ports/runtimeClasses.ts';
import { samplePool, sampleRuntimeClass, sampleState } from '../testing/fixtures.ts';
import { fits, isAsDesired, isOwner, isSoleOwner, isTaken, runtimeClassFor } from './runtimeClass.ts';

const selector = {
  'kubernetes.io/os': 'windows',
  'kubernetes.io/arch': 'amd64',
  'node.kubernetes.io/windows-build': '10.0.20348',
};
const tolerations = [
  { key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' },
  { key: 'os', operator: 'Equal', value: 'Windows', effect: 'NoSchedule' },
] as const;
const HYPERVISOR = 'runhcs-wcow-hypervisor';

describe('the RuntimeClass of a pool', () => {
  it('is shared by the pools of a Windows version', () => {
    const want = {
      name: 'windows-2022',
      handler: 'runhcs-wcow-process',
      nodeSelector: selector,
      tolerations,
      imageBuilds: '10.0.20348',
    };
    const taints: WindowsPoolSpec['taints'] = [{ key: 'gpu', effect: 'NoSchedule' }];
    assert.deepEqual(runtimeClassFor(samplePool({ taints })), want);
  });

  it('with scope Pool selects the pool and tolerates its own taints', () => {
    const pool = samplePool({
      windowsVersion: 'Windows2025',
      runtimeClass: { scope: 'Pool', name: 'isolated', handler: HYPERVISOR },
      taints: [
        { key: 'gpu', effect: 'NoSchedule' },
        { key: 'team', value: 'web', effect: 'NoExecute' },
      ],
    });
    assert.deepEqual(runtimeClassFor(pool), {
      name: 'isolated',
      handler: HYPERVISOR,
      nodeSelector: { ...selector, 'node.kubernetes.io/windows-build': '10.0.26100', 'winpool.dev/pool': 'web' },
      tolerations: [
        ...tolerations,
        { key: 'gpu', operator: 'Exists', effect: 'NoSchedule' },
        { key: 'team', operator: 'Equal', value: 'web', effect: 'NoExecute' },
      ],
      imageBuilds: '10.0.26100',
    });
  });

  it('says that images of 2022 run there, too, where the pool of 2025 is relaxed', () => {
    const relaxed = { scope: 'Pool', imageCompatibility: 'Relaxed' } as const;
    const desired = runtimeClassFor(samplePool({ windowsVersion: 'Windows2025', runtimeClass: relaxed }));
    assert.equal(desired?.imageBuilds, '10.0.26100,10.0.20348');
    assert.equal(desired?.nodeSelector['node.kubernetes.io/windows-build'], '10.0.26100');
  });

  it('with scope Pool is called like the pool where the spec gives no name', () => {
    assert.equal(runtimeClassFor(samplePool({ runtimeClass: { scope: 'Pool' } }))?.name, 'web');
  });

  it('is none when the pool manages none', () => {
    assert.equal(runtimeClassFor(samplePool({ runtimeClass: { manage: false } })), undefined);
  });
});

describe('a RuntimeClass is as wanted', () => {
  const desired = runtimeClassFor(samplePool()) ?? assert.fail();
  const table: readonly (readonly [string, Partial<RuntimeClass>, boolean])[] = [
    ['when it says the same', {}, true],
    ['in whatever order its tolerations are', { tolerations: [...tolerations].reverse() }, true],
    ['not with another handler', { handler: HYPERVISOR }, false],
    ['not with other builds of images', { imageBuilds: '10.0.26100,10.0.20348' }, false],
    ['not without builds of images', { imageBuilds: '' }, false],
    ['not with another selector', { nodeSelector: { ...selector, disk: 'ssd' } }, false],
    ['not without a toleration', { tolerations: tolerations.slice(1) }, false],
  ];
  for (const [name, change, want] of table) {
    it(name, () => assert.equal(isAsDesired(sampleRuntimeClass(undefined, change), desired), want));
  }
});

describe('a RuntimeClass of somebody else fits', () => {
  const desired = runtimeClassFor(samplePool()) ?? assert.fail();
  const table: readonly (readonly [string, Partial<RuntimeClass>, boolean])[] = [
    ['when it says the same', {}, true],
    ['when it selects the operating system alone', { nodeSelector: { 'kubernetes.io/os': 'windows' } }, true],
    ['when it tolerates every value', { tolerations: [{ key: 'os', operator: 'Exists' }] }, true],
    ['when it tolerates everything', { tolerations: [{ operator: 'Exists' }] }, true],
    ['when it gives no operator', { tolerations: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }] }, true],
    ['not with another handler', { handler: 'docker' }, false],
    ['not without the operating system, for then pods get no address', { nodeSelector: {} }, false],
    [
      'not when it selects another build',
      { nodeSelector: { ...selector, 'node.kubernetes.io/windows-build': '10.0.17763' } },
      false,
    ],
    ['not when it selects something that the nodes lack', { nodeSelector: { ...selector, disk: 'ssd' } }, false],
    ['not without a toleration', { tolerations: [] }, false],
    ['not with the other spelling alone', { tolerations: tolerations.slice(1) }, false],
    ['not with another effect', { tolerations: [{ key: 'os', operator: 'Exists', effect: 'NoExecute' }] }, false],
    ['not with another key', { tolerations: [{ key: 'gpu', operator: 'Exists' }] }, false],
  ];
  for (const [name, change, want] of table) {
    it(name, () => assert.equal(fits(sampleRuntimeClass(undefined, change), desired, samplePool()), want));
  }

  it('without a toleration where the nodes have no taint', () => {
    const untainted = samplePool({ registrationTaint: false });
    assert.equal(fits(sampleRuntimeClass(undefined, { tolerations: [] }), desired, untainted), true);
  });

  it('only with a toleration of each taint of the pool where the RuntimeClass is its own', () => {
    const pool = samplePool({
      runtimeClass: { scope: 'Pool' },
      taints: [{ key: 'gpu', value: 'a', effect: 'NoExecute' }],
    });
    const own = runtimeClassFor(pool);
    assert.ok(own);
    const gpu = { key: 'gpu', operator: 'Exists' } as const;
    assert.equal(fits({ ...sampleRuntimeClass(pool), tolerations: own.tolerations }, own, pool), true);
    assert.equal(fits({ ...sampleRuntimeClass(pool), tolerations: [...tolerations, gpu] }, own, pool), true);
    assert.equal(fits({ ...sampleRuntimeClass(pool), tolerations }, own, pool), false);
  });
});

describe('a RuntimeClass belongs', () => {
  const web = { name: 'web', uid: 'uid-web' };
  const api = { name: 'api', uid: 'uid-api' };
  const own = samplePool({ runtimeClass: { scope: 'Pool' } });
  const table: readonly (readonly [string, RuntimeClass['owners'], readonly [boolean, boolean, boolean]])[] = [
    ['to nobody', [], [false, false, false]],
    ['to the pool alone', [web], [true, true, false]],
    ['to the pool and another', [web, api], [true, false, true]],
    ['to another', [api], [false, false, true]],
    ['to a pool of the same name that is gone', [{ name: 'web', uid: 'uid-old' }], [false, false, true]],
  ];
  for (const [name, owners, want] of table) {
    it(name, () => {
      const seen = sampleRuntimeClass(own, { owners, tolerations: [] });
      assert.deepEqual([isOwner(own, seen), isSoleOwner(own, seen), isTaken(own, seen)], want);
    });
  }

  it('to several when it says what each of them wants', () => {
    const seen = sampleRuntimeClass(own, { owners: [web, api] });
    assert.deepEqual([isTaken(own, seen), isTaken(samplePool(), seen)], [false, false]);
    assert.equal(isTaken(samplePool({ runtimeClass: { manage: false } }), seen), false);
  });
});

describe('the condition RuntimeClassReady', () => {
  const own = (imageCompatibility: 'Strict' | 'Relaxed') =>
    samplePool({ windowsVersion: 'Windows2025', runtimeClass: { scope: 'Pool', imageCompatibility } });
  const table = [
    ['Strict', 'Pods with runtimeClassName: web run on Windows build 10.0.26100.'],
    [
      'Relaxed',
      'Pods with runtimeClassName: web run on Windows build 10.0.26100. Images of build 10.0.20348 run there, too.',
    ],
  ] as const;
  for (const [compatibility, message] of table) {
    it(`says which images run there with ${compatibility}`, () => {
      const s = sampleState({ pool: own(compatibility) });
      assert.deepEqual(runtimeClassReady(s), { status: 'True', reason: 'Available', message });
    });
  }

  it('is False until the RuntimeClass says so, too', () => {
    const s = sampleState({ pool: own('Relaxed'), runtimeClass: sampleRuntimeClass(own('Strict')) });
    assert.equal(runtimeClassReady(s).reason, 'Pending');
  });
});
