import assert from 'node:assert/strict';
import type { WindowsPool, WindowsPoolSpec } from '../api/api.gen.ts';
import { runtimeClassReady } from '../conditions/runtimeClassReady.ts';
import { planFor } from '../plan.ts';
import type { RuntimeClass } from '../ports/runtimeClasses.ts';
import { describeStep } from '../steps/stepKinds.ts';
import {
  NOW,
  type ObservedStateChange,
  type SpecChange,
  sampleError,
  samplePool,
  sampleRuntimeClass,
  sampleState,
} from '../testing/fixtures.ts';
import { type Brief, textTable } from '../testing/goldenTexts.ts';
import { isAsDesired, isOwner, isReplaced, isSoleOwner, isTaken, misfitsOf, runtimeClassFor } from './runtimeClass.ts';

const check = textTable('conditions/RuntimeClassReady');

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
const HELM = 'Helm release kube-system/windows';
const ADOPTIONS = ['Never', 'IfUnowned'] as const;

const WRONG_HANDLER: Brief = ['misfit', 'docker', 'runhcs-wcow-process'];
const NO_TOLERATION: Brief = ['misfit', 'os=windows:NoSchedule'];
const wrongSelector = (found: string): Brief => [
  'misfit',
  `nodeSelector is ${found}`,
  ...Object.entries(selector).map(([key, value]) => `${key}=${value}`),
];

/** The RuntimeClass of the pool if a user created it with kubectl. */
function foreign(change: Partial<RuntimeClass> = {}, pool?: WindowsPool): RuntimeClass {
  return sampleRuntimeClass(pool, {
    managed: false,
    managedBy: undefined,
    adoptableBy: 'web',
    owners: [],
    ...change,
  });
}

function adopting(adoption: (typeof ADOPTIONS)[number], spec: SpecChange = {}): WindowsPool {
  return samplePool({ ...spec, runtimeClass: { adoption, ...spec.runtimeClass } });
}

describe('the RuntimeClass of a pool', () => {
  it('is shared by the pools of a Windows version', () => {
    const want = { name: 'windows-2022', handler: 'runhcs-wcow-process', nodeSelector: selector, tolerations };
    const taints: WindowsPoolSpec['taints'] = [{ key: 'gpu', effect: 'NoSchedule' }];
    assert.deepEqual(runtimeClassFor(samplePool({ taints })), want);
  });

  it('selects the pool and tolerates its taints if the spec names it', () => {
    const pool = samplePool({
      windowsVersion: 'Windows2025',
      runtimeClass: { name: 'isolated', handler: HYPERVISOR },
      taints: [
        { key: 'gpu', effect: 'NoSchedule' },
        { key: 'team', value: 'web', effect: 'PreferNoSchedule' },
      ],
    });
    assert.deepEqual(runtimeClassFor(pool), {
      name: 'isolated',
      handler: HYPERVISOR,
      nodeSelector: { ...selector, 'node.kubernetes.io/windows-build': '10.0.26100', 'winpool.dev/pool': 'web' },
      tolerations: [
        ...tolerations,
        { key: 'gpu', operator: 'Exists', effect: 'NoSchedule' },
        { key: 'team', operator: 'Equal', value: 'web', effect: 'PreferNoSchedule' },
      ],
    });
  });
});

describe('the content of a RuntimeClass', () => {
  const desired = runtimeClassFor(samplePool());
  const table: readonly (readonly [string, Partial<RuntimeClass>, boolean])[] = [
    ['is as desired if every field is equal', {}, true],
    ['is as desired in any order of the tolerations', { tolerations: [...tolerations].reverse() }, true],
    ['differs with another handler', { handler: HYPERVISOR }, false],
    ['differs with another nodeSelector', { nodeSelector: { ...selector, disk: 'ssd' } }, false],
    ['differs without one of the tolerations', { tolerations: tolerations.slice(1) }, false],
  ];
  for (const [name, change, want] of table) {
    it(name, () => assert.equal(isAsDesired(sampleRuntimeClass(undefined, change), desired), want));
  }
});

describe('a RuntimeClass that no pool created', () => {
  const desired = runtimeClassFor(samplePool());
  const table: readonly (readonly [string, Partial<RuntimeClass>, readonly Brief[]])[] = [
    ['fits if its content is as desired', {}, []],
    ['fits if it selects only the operating system', { nodeSelector: { 'kubernetes.io/os': 'windows' } }, []],
    ['fits if it tolerates every value of the taint', { tolerations: [{ key: 'os', operator: 'Exists' }] }, []],
    ['fits if it tolerates every taint', { tolerations: [{ operator: 'Exists' }] }, []],
    [
      'fits if its toleration has no operator',
      { tolerations: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }] },
      [],
    ],
    ['does not fit with another handler', { handler: 'docker' }, [WRONG_HANDLER]],
    [
      'does not fit if it does not select the operating system, because pods then get no IP address',
      { nodeSelector: {} },
      [wrongSelector('empty')],
    ],
    [
      'does not fit if it selects another operating system',
      { nodeSelector: { 'kubernetes.io/os': 'linux' } },
      [wrongSelector('kubernetes.io/os=linux')],
    ],
    [
      'does not fit if it selects another build',
      { nodeSelector: { 'kubernetes.io/os': 'windows', 'node.kubernetes.io/windows-build': '10.0.17763' } },
      [wrongSelector('kubernetes.io/os=windows and node.kubernetes.io/windows-build=10.0.17763')],
    ],
    [
      'does not fit if it selects a label that the nodes lack',
      { nodeSelector: { 'kubernetes.io/os': 'windows', disk: 'ssd' } },
      [wrongSelector('kubernetes.io/os=windows and disk=ssd')],
    ],
    ['does not fit without a toleration', { tolerations: [] }, [NO_TOLERATION]],
    ['does not fit with only the other spelling of the taint', { tolerations: tolerations.slice(1) }, [NO_TOLERATION]],
    [
      'does not fit if it tolerates another effect',
      { tolerations: [{ key: 'os', operator: 'Exists', effect: 'PreferNoSchedule' }] },
      [NO_TOLERATION],
    ],
    [
      'does not fit if it tolerates another key',
      { tolerations: [{ key: 'gpu', operator: 'Exists' }] },
      [NO_TOLERATION],
    ],
    [
      'does not fit for several reasons',
      { handler: 'docker', nodeSelector: {}, tolerations: [] },
      [WRONG_HANDLER, wrongSelector('empty'), NO_TOLERATION],
    ],
  ];
  for (const [name, change, want] of table) {
    const texts = () => misfitsOf(foreign(change), desired, samplePool()).map((misfit) => `misfit: ${misfit}`);
    check(name, texts, want);
  }

  it('fits without a toleration if the nodes have no taint', () => {
    const untainted = samplePool({ registrationTaint: 'None' });
    assert.deepEqual(misfitsOf(foreign({ tolerations: [] }), desired, untainted), []);
  });

  it('must tolerate the taints of the pool if the pool names it', () => {
    const pool = samplePool({
      runtimeClass: { name: 'web' },
      taints: [
        { key: 'gpu', value: 'a', effect: 'PreferNoSchedule' },
        { key: 'spot', effect: 'NoSchedule' },
      ],
    });
    const own = runtimeClassFor(pool);
    const exist = ['gpu', 'spot'].map((key) => ({ key, operator: 'Exists' }) as const);
    const misfits = (change: Partial<RuntimeClass>) => misfitsOf(foreign(change, pool), own, pool);
    assert.deepEqual(misfits({ tolerations: own.tolerations }), []);
    assert.deepEqual(misfits({ tolerations: [...tolerations, ...exist] }), []);
    assert.deepEqual(misfits({ tolerations }), ['it has no toleration for gpu=a:PreferNoSchedule and spot:NoSchedule']);
  });

  const replaced: readonly (readonly [string, RuntimeClass, (typeof ADOPTIONS)[number], boolean])[] = [
    ['is replaced with IfUnowned if it does not fit', foreign({ handler: 'docker' }), 'IfUnowned', true],
    ['is not replaced with Never', foreign({ handler: 'docker' }), 'Never', false],
    ['is not replaced if it fits', foreign({ tolerations: [{ operator: 'Exists' }] }), 'IfUnowned', false],
    [
      'is not replaced without the consent of its owner',
      foreign({ handler: 'docker', adoptableBy: 'api' }),
      'IfUnowned',
      false,
    ],
    [
      'is not replaced if it does not select Windows nodes',
      foreign({ handler: 'docker', nodeSelector: { a: 'b' } }),
      'IfUnowned',
      false,
    ],
    ['is not replaced if Helm manages it', foreign({ handler: 'docker', managedBy: HELM }), 'IfUnowned', false],
  ];
  for (const [name, seen, adoption, want] of replaced) {
    it(name, () => assert.equal(isReplaced(seen, adopting(adoption)), want));
  }
});

describe('a RuntimeClass that a pool created', () => {
  it('is not replaced as unowned', () => {
    const seen = sampleRuntimeClass(undefined, { handler: 'docker' });
    assert.equal(isReplaced(seen, adopting('IfUnowned')), false);
  });

  const web = { name: 'web', uid: 'uid-web' };
  const api = { name: 'api', uid: 'uid-api' };
  const own = samplePool({ runtimeClass: { name: 'web' } });
  const table: readonly (readonly [string, RuntimeClass['owners'], readonly [boolean, boolean, boolean]])[] = [
    ['can have no owner, after a pool that was deleted retained it', [], [false, false, true]],
    ['can be owned by this pool only', [web], [true, true, false]],
    ['can be owned by this pool and another one', [web, api], [true, false, true]],
    ['can be owned by another pool', [api], [false, false, true]],
    ['can be owned by a deleted pool of the same name', [{ name: 'web', uid: 'uid-old' }], [false, false, true]],
  ];
  for (const [name, owners, want] of table) {
    it(name, () => {
      const seen = sampleRuntimeClass(own, { owners, tolerations: [] });
      assert.deepEqual([isOwner(own, seen), isSoleOwner(own, seen), isTaken(own, seen)], want);
    });
  }

  it('is shared by several pools if its content is as desired by each of them', () => {
    const seen = sampleRuntimeClass(own, { owners: [web, api] });
    assert.deepEqual([isTaken(own, seen), isTaken(samplePool(), seen)], [false, false]);
  });
});

/** The condition RuntimeClassReady in one line. */
function conditionOf(change: ObservedStateChange): string {
  const { status, reason, message } = runtimeClassReady(sampleState(change));
  return `${status} ${reason}: ${message}`;
}

describe('the condition RuntimeClassReady', () => {
  const rows: readonly (readonly [string, ObservedStateChange, Brief])[] = [
    [
      'shows the name for pods and the build of the nodes',
      { pool: samplePool({ windowsVersion: 'Windows2025', runtimeClass: { name: 'isolated' } }) },
      ['True Available', 'isolated', '10.0.26100'],
    ],
    ['is Pending until it is created', { runtimeClass: undefined }, ['False Pending', 'windows-2022']],
    [
      'is Pending until the content is as desired',
      { runtimeClass: sampleRuntimeClass(undefined, { tolerations: [] }) },
      ['False Pending', 'windows-2022'],
    ],
  ];
  for (const [name, change, want] of rows) check(name, () => [conditionOf(change)], [want]);

  describe('with a RuntimeClass that no pool created', () => {
    const notOwned = (...misfits: readonly Brief[]): Brief => [
      'False NotOwned',
      'windows-2022',
      ...misfits.flatMap(([, ...args]) => args),
      'runtimeClass.name',
      'runtimeClass.adoption: IfUnowned',
    ];
    const docker = foreign({ handler: 'docker' });
    const adopted = adopting('IfUnowned');
    const denied = sampleError('denied', { operation: 'DELETE runtimeclasses' });
    const unowned: readonly (readonly [string, ObservedStateChange, Brief])[] = [
      [
        'is NotOwned with Never, and the message names only the handler if only the handler differs',
        { pool: adopting('Never'), runtimeClass: docker },
        notOwned(WRONG_HANDLER),
      ],
      [
        'is NotOwned with Never, and the message names only the nodeSelector if only the nodeSelector differs',
        { pool: adopting('Never'), runtimeClass: foreign({ nodeSelector: { 'kubernetes.io/os': 'windows', a: 'b' } }) },
        notOwned(wrongSelector('kubernetes.io/os=windows and a=b')),
      ],
      [
        'is NotOwned with Never, and the message names only the taint if only a toleration is missing',
        { pool: adopting('Never'), runtimeClass: foreign({ tolerations: [] }) },
        notOwned(NO_TOLERATION),
      ],
      [
        'is NotOwned with Never, and the message names everything that differs',
        {
          pool: adopting('Never'),
          runtimeClass: foreign({
            handler: 'docker',
            nodeSelector: { 'kubernetes.io/os': 'windows', a: 'b' },
            tolerations: [],
          }),
        },
        notOwned(WRONG_HANDLER, wrongSelector('kubernetes.io/os=windows and a=b'), NO_TOLERATION),
      ],
      [
        'is NotOwned with IfUnowned until the owner permits the replacement, and the message has the command',
        { pool: adopted, runtimeClass: foreign({ handler: 'docker', adoptableBy: 'api' }) },
        [
          'False NotOwned',
          'windows-2022',
          'kubectl annotate --overwrite runtimeclass windows-2022 winpool.dev/adoptable-by=web',
        ],
      ],
      [
        'is NotOwned with IfUnowned if the RuntimeClass does not select Windows nodes',
        { pool: adopted, runtimeClass: foreign({ nodeSelector: {} }) },
        ['False NotOwned', 'windows-2022', 'never replaces one that does not select Windows nodes'],
      ],
      [
        'is Pending with IfUnowned until the RuntimeClass is replaced',
        { pool: adopted, runtimeClass: docker },
        ['False Pending', 'windows-2022'],
      ],
      [
        'is Pending with IfUnowned while the RuntimeClass is being deleted',
        { pool: adopted, runtimeClass: { ...docker, deleting: true } },
        ['False Pending', 'windows-2022'],
      ],
      [
        'says that a paused pool replaces the RuntimeClass when it is resumed',
        { pool: adopting('IfUnowned', { paused: true }), runtimeClass: foreign({ tolerations: [] }) },
        ['False Pending', 'windows-2022', 'resumed'],
      ],
      [
        'is Failed if the RuntimeClass cannot be deleted',
        { pool: adopted, runtimeClass: docker, errors: [{ at: NOW, step: 'deleteRuntimeClass', error: denied }] },
        ['False Failed', 'DELETE runtimeclasses', 'the call was denied'],
      ],
    ];
    for (const [name, change, want] of unowned) check(name, () => [conditionOf(change)], [want]);

    it('makes the pool Stalled with Never', () => {
      const s = sampleState({ pool: adopting('Never'), runtimeClass: docker });
      assert.equal(runtimeClassReady(s).stalled, true);
    });

    for (const adoption of ADOPTIONS) {
      const fitting = foreign({ nodeSelector: { 'kubernetes.io/os': 'windows' } });
      for (const managedBy of [undefined, HELM]) {
        const how = `${adoption} if the RuntimeClass${managedBy ? ' of Helm' : ''} fits`;
        const texts = () => [conditionOf({ pool: adopting(adoption), runtimeClass: { ...fitting, managedBy } })];
        check(`is Unmanaged with ${how}`, texts, [['True Unmanaged', 'windows-2022']]);
      }

      const pool = adopting(adoption, { runtimeClass: { name: 'isolated' } });
      const runtimeClass = foreign({ handler: 'docker', managedBy: HELM }, pool);
      const [, ...misfit] = WRONG_HANDLER;
      check(
        `is NotOwned with ${adoption} if Helm manages the RuntimeClass, and the message names the release`,
        () => [conditionOf({ pool, runtimeClass })],
        [['False NotOwned', 'isolated', HELM, ...misfit, 'runtimeClass.name']],
      );
    }
  });
});

describe('two pools with one RuntimeClass that no pool created', () => {
  /** What the pool does about the RuntimeClass, and the reason of its condition. */
  const reconciled = (pool: WindowsPool, runtimeClass: RuntimeClass | undefined): readonly string[] => {
    const s = sampleState({ pool, runtimeClass });
    const steps = planFor(s).steps.filter(({ kind }) => kind.endsWith('RuntimeClass'));
    return [...steps.map((step) => describeStep(step) ?? step.kind), runtimeClassReady(s).reason];
  };
  const named = (name: string, pool: WindowsPool): WindowsPool => ({
    ...pool,
    metadata: { ...pool.metadata, name, uid: `uid-${name}` },
  });
  const owner = ({ metadata: { name, uid } }: WindowsPool) => ({ name, uid });

  it('share the new one after the pool with IfUnowned replaced it', () => {
    const [never, adopter] = [named('never', adopting('Never')), named('adopter', adopting('IfUnowned'))];
    const seen = foreign({ handler: 'docker', adoptableBy: 'adopter' });
    assert.deepEqual(reconciled(never, seen), ['NotOwned']);
    assert.deepEqual(reconciled(adopter, seen), ['delete RuntimeClass windows-2022', 'Pending']);
    for (const pool of [never, adopter]) {
      assert.deepEqual(reconciled(pool, undefined), ['create RuntimeClass windows-2022', 'Pending']);
    }
    const replaced = sampleRuntimeClass(adopter);
    assert.deepEqual(reconciled(never, replaced), ['share RuntimeClass windows-2022', 'Pending']);
    const shared = { ...replaced, owners: [owner(adopter), owner(never)] };
    for (const pool of [never, adopter]) assert.deepEqual(reconciled(pool, shared), ['Available']);
  });

  it('keep it if it fits both', () => {
    const seen = foreign({ nodeSelector: { 'kubernetes.io/os': 'windows' } });
    for (const adoption of ADOPTIONS)
      assert.deepEqual(reconciled(named(adoption, adopting(adoption)), seen), ['Unmanaged']);
  });

  it('do not replace the RuntimeClass of the other pool if both name it and have IfUnowned', () => {
    const spec: SpecChange = { runtimeClass: { name: 'isolated' } };
    const [first, second] = ['first', 'second'].map((name) => named(name, adopting('IfUnowned', spec))) as [
      WindowsPool,
      WindowsPool,
    ];
    const seen = foreign({ handler: 'docker', adoptableBy: 'first' }, first);
    assert.deepEqual(reconciled(first, seen), ['delete RuntimeClass isolated', 'Pending']);
    assert.deepEqual(reconciled(second, seen), ['NotOwned']);
    const created = sampleRuntimeClass(first);
    assert.deepEqual(reconciled(first, created), ['Available']);
    assert.deepEqual(reconciled(second, created), ['NotOwned']);
  });
});
