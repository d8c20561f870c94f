import assert from 'node:assert/strict';
import type { PendingStep, WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import type { DrainPod } from '../../controllers/windowspool/ports/pods.ts';
import {
  existingPool,
  knownStatus,
  NOW,
  sampleNode,
  sampleNodes,
  samplePool,
} from '../../controllers/windowspool/testing/fixtures.ts';
import { podOn } from '../../controllers/windowspool/testing/nodeScenes.ts';
import { assertGolden } from '../../test/goldenText.ts';
import { Failure } from './failure.ts';
import { findNode, type OperationPlan, operationLines } from './nodeOperation.ts';
import { changeLines, pendingLines, poolsIn, specChanges } from './plan.ts';
import { changeOf, type PoolOperation } from './poolOperation.ts';

const [first = sampleNode(), ...others] = sampleNodes(3);

const pod = (name: string, change: Partial<DrainPod> = {}) => podOn({ name, ...change });

const denied = {
  ok: false,
  error: { kind: 'denied', operation: 'list pods', code: 'Forbidden', message: 'you may not' },
} as const;

function plan(change: Partial<OperationPlan> = {}): OperationPlan {
  const status = { ...knownStatus(), nodes: { desired: 3 } };
  return {
    operation: 'Replace',
    node: first,
    pool: samplePool({ disruption: { maxUnavailable: '40%' } }, { status }),
    nodes: [first, ...others],
    pods: { ok: true, value: [] },
    stuck: { ok: true, value: [] },
    now: NOW,
    ...change,
  };
}

const cordoned: NodeRecord = { ...sampleNode({ name: 'ip-10-0-1-2.eu-west-1.compute.internal' }), unschedulable: true };

const plans: Readonly<Record<string, OperationPlan>> = {
  'a node without pods': plan(),
  'pods, one of which a budget blocks': plan({
    pods: { ok: true, value: [pod('cart-0'), pod('web-1'), pod('proxy', { controller: 'DaemonSet' })] },
    stuck: { ok: true, value: [{ namespace: 'shop', name: 'cart-0', budgets: ['cart'] }] },
  }),
  'a pod without a controller': plan({ pods: { ok: true, value: [pod('bare', { controller: undefined })] } }),
  'another node is unavailable': plan({ nodes: [first, cordoned] }),
  'no limit in the spec': plan({ pool: samplePool() }),
  'pods that may not be listed': plan({ pods: denied, stuck: denied }),
  'a node that is excluded from draining, of a paused pool': plan({
    node: { ...first, annotations: { 'winpool.dev/exclude-from-drain': 'true' } },
    pool: samplePool({ paused: true }),
  }),
  'a removal that the operator rejects': plan({ operation: 'Remove' }),
  'a node that another tool created': plan({ pool: existingPool() }),
};

describe('kubectl windowspool replace and remove', () => {
  it('show what they disrupt', async () => {
    const texts = Object.entries(plans).map(([name, each]) => [`# ${name}`, ...operationLines(each, 80)].join('\n'));
    await assertGolden('plugin/operations', `${texts.join('\n\n')}\n`);
  });

  it('find a node by its name or the first part of it', () => {
    const nodes = [sampleNode({ name: 'a.one' }), sampleNode({ name: 'a.two' }), sampleNode({ name: 'b.one' })];
    const found = (name: string) => {
      try {
        return findNode(name, nodes).name;
      } catch (error) {
        assert.ok(error instanceof Failure);
        return error.message;
      }
    };
    const rows = [
      ['a.one', /^a\.one$/],
      ['b', /^b\.one$/],
      ['a', /\ba\.one and a\.two\b/],
      ['b.onw', /"b\.onw".*"b\.one"\?$/],
      ['nothing-like-it', /"nothing-like-it" .* kubectl windowspool nodes$/],
    ] as const;
    for (const [typed, expected] of rows) assert.match(found(typed), expected);
  });
});

const failed = {
  target: 't',
  reason: 'UpdateFailed',
  message: 'PodEvictionFailure',
  remedy: 'Relax the PodDisruptionBudget',
  time: '2026-03-01T11:00:00Z',
};
const update = { id: 'u', type: 'VersionUpdate', target: 't', status: 'InProgress' };
const leaving = {
  name: 'ip-1',
  uid: 'u',
  instanceID: 'i-1',
  operation: 'Replace' as const,
  startTime: '2026-03-01T11:00:00Z',
};
const PENDING = [
  { description: 'update the labels', reason: 'Paused' },
  { description: 'update the taints', reason: 'Drifted' },
];
const annotated = { metadata: { annotations: { 'winpool.dev/paused': 'true' } } };

const poolOperations: readonly (readonly [
  operation: PoolOperation,
  what: string,
  pool: WindowsPool,
  patch: object | undefined,
])[] = [
  ['retry', 'nothing failed', samplePool(), { metadata: { annotations: { 'winpool.dev/retry': '1772366400' } } }],
  [
    'retry',
    'an update failed',
    samplePool({}, { status: knownStatus({ failedChanges: [failed] }) }),
    { metadata: { annotations: { 'winpool.dev/retry': '1772366400' } } },
  ],
  [
    'pause',
    'during an update and a drain',
    samplePool(
      {},
      {
        status: {
          ...knownStatus({ update }),
          disruption: { reason: 'NodeReplacement', startTime: leaving.startTime, nodes: [leaving] },
        },
      },
    ),
    annotated,
  ],
  ['pause', 'already paused', samplePool({ paused: true }), undefined],
  [
    'resume',
    'paused by annotation',
    samplePool({}, { ...annotated, status: { ...knownStatus(), pendingSteps: PENDING } }),
    { metadata: { annotations: { 'winpool.dev/paused': null } } },
  ],
  [
    'resume',
    'paused by the spec',
    samplePool({ paused: true }),
    { metadata: { annotations: { 'winpool.dev/paused': null } }, spec: { paused: false } },
  ],
  ['resume', 'not paused', samplePool(), undefined],
];

describe('kubectl windowspool retry, pause and resume', () => {
  for (const [operation, what, pool, patch] of poolOperations)
    it(`${operation}: ${what}`, () => assert.deepEqual(changeOf(operation, pool, NOW).patch, patch));

  it('show what follows', async () => {
    const texts = poolOperations.map(([operation, what, pool]) =>
      [`# ${operation}: ${what}`, ...changeOf(operation, pool, NOW).notes].join('\n'),
    );
    await assertGolden('plugin/pool-operations', `${texts.join('\n\n')}\n`);
  });
});

describe('kubectl windowspool plan', () => {
  it('shows the changes of a spec by field', () => {
    const before = { labels: { 'a/b': 'x' }, nodeGroup: { minSize: 1, tags: ['one', 'two'] }, paused: false };
    const after = { labels: {}, nodeGroup: { minSize: 2, tags: ['one'] }, paused: false };
    assert.deepEqual(specChanges(before, after), [
      '+ labels: {}',
      '- labels."a/b": "x"',
      '~ nodeGroup.minSize: 1 -> 2',
      '- nodeGroup.tags[1]: "two"',
    ]);
    assert.deepEqual(changeLines('web', samplePool(), samplePool()), ['WindowsPool web: the spec does not change']);
  });

  it('shows pending steps that an older operator wrote without a reason', () => {
    const texts = ['update the labels'] as unknown as PendingStep[];
    const pool = samplePool({}, { status: { ...knownStatus(), observedGeneration: 1, pendingSteps: texts } });
    assert.deepEqual(pendingLines(pool, 80), [
      'Pool web has pending changes.',
      'Not made yet:',
      '  - update the labels',
    ]);
  });

  it('shows pending steps with their reason, also that of a later release of the operator', () => {
    const status = {
      ...knownStatus(),
      observedGeneration: 1,
      pendingSteps: [...PENDING, { description: 'paint the nodes', reason: 'AwaitingPaint' }],
    };
    const rows = [
      samplePool(),
      samplePool({}, { status: { ...status, pendingSteps: [] } }),
      samplePool({ paused: true }, { status }),
    ].map((pool) => pendingLines(pool, 80));
    assert.deepEqual(rows, [
      ['The operator has not observed the current spec of pool web yet.'],
      ['No changes are due for pool web.'],
      [
        'Pool web has pending changes.',
        'When the pool is resumed:',
        '  - update the labels',
        'Not corrected, because nodeGroup.driftPolicy is Report:',
        '  - update the taints',
        'Not made yet (AwaitingPaint):',
        '  - paint the nodes',
      ],
    ]);
  });

  const broken: readonly (readonly [text: string, message: string])[] = [
    ['', 'No WindowsPool found in f.yaml.'],
    ['kind: Pod', 'No WindowsPool found in f.yaml.'],
    ['kind: WindowsPool', 'A WindowsPool in f.yaml has no metadata.name.'],
  ];
  for (const [text, message] of broken)
    it(`rejects ${text || 'an empty file'}`, () => assert.throws(() => poolsIn(text, 'f.yaml'), { message }));
  it('reads all pools of a file, and says where YAML is broken', () => {
    const text =
      'kind: WindowsPool\nmetadata: {name: a}\n---\nkind: Pod\n---\nkind: WindowsPool\nmetadata: {name: b}\n';
    assert.deepEqual(
      poolsIn(text, 'f.yaml').map(({ metadata }) => metadata.name),
      ['a', 'b'],
    );
    assert.throws(() => poolsIn('a: [', 'f.yaml'), /^Failure: f\.yaml is not YAML: .* at line 1/);
  });
});
