import assert from 'node:assert/strict';
import { assertGolden } from '../../../test/goldenText.ts';
import { nodesOf, podSpec, readyPool, sampleMove } from '../testing/migrations.ts';
import { type PodSpec, placementOf, selectsOldPool } from './placement.ts';
import type { Move } from './side.ts';

const OS = { 'kubernetes.io/os': 'windows' };
const TOLERATION = [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }];
const BUILD = 'node.kubernetes.io/windows-build';
const DIGEST = `sha256:${'a'.repeat(64)}`;

const sameVersion = sampleMove({ from: readyPool('old') });
const ownClass = sampleMove({
  from: readyPool('old', { runtimeClass: { name: 'old' } }),
  to: readyPool('new', {
    runtimeClass: { name: 'new' },
    taints: [{ key: 'team', value: 'shop', effect: 'NoSchedule' }],
  }),
});
const empty = sampleMove({
  to: readyPool('new', { labels: { tier: 'web' }, taints: [{ key: 'team', effect: 'NoSchedule' }] }),
  toNodes: [],
});
const tainted = readyPool('new', { taints: [{ key: 'team', value: 'shop', effect: 'NoSchedule' }] });
const newer = sampleMove({
  from: readyPool('old'),
  to: readyPool('new', { windowsVersion: 'Windows2025' }),
});

function affinity(...matchExpressions: { key: string; operator: string; values?: string[] }[]): Partial<PodSpec> {
  const required = { nodeSelectorTerms: [{ matchExpressions }] };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
}

/** The templates of Deployments, or of another kind. */
const rows: readonly (readonly [
  what: string,
  spec: PodSpec,
  options?: { readonly move?: Move; readonly kind?: string },
])[] = [
  [
    'a RuntimeClass and an image of the old version',
    podSpec('example.com/cart:1.4-ltsc2019', { runtimeClassName: 'windows-2019' }),
  ],
  [
    'node selectors of the old pool',
    podSpec('cart:ltsc2022', {
      nodeSelector: {
        ...OS,
        [BUILD]: '10.0.17763',
        'winpool.dev/pool': 'old',
        'eks.amazonaws.com/nodegroup': 'old',
        disk: 'ssd',
      },
      tolerations: TOLERATION as PodSpec['tolerations'] & object,
    }),
  ],
  ['an image whose tag has no counterpart', podSpec('windows/servercore:1809', { runtimeClassName: 'windows-2022' })],
  [
    'images whose build is not known',
    podSpec(`cart@${DIGEST}`, {
      runtimeClassName: 'windows-2022',
      initContainers: [{ name: 'init', image: 'init:1' }],
    }),
  ],
  ['an image with control characters', podSpec('\x1b[2Jcart:ltsc2019', { runtimeClassName: 'windows-2022' })],
  [
    'a RuntimeClass that both pools have',
    podSpec('cart:ltsc2022', { runtimeClassName: 'windows-2022' }),
    { move: sameVersion },
  ],
  [
    'RuntimeClasses of single pools: the new one tolerates its taint',
    podSpec('cart:ltsc2022', { runtimeClassName: 'old' }),
    { move: ownClass },
  ],
  [
    'a taint that the pods do not tolerate',
    podSpec('cart:ltsc2022', { runtimeClassName: 'windows-2022' }),
    {
      move: sampleMove({
        from: readyPool('old'),
        to: tainted,
        toNodes: nodesOf(tainted, 2, {
          taints: [
            { key: 'os', value: 'windows', effect: 'NoSchedule' },
            { key: 'team', value: 'shop', effect: 'NoSchedule' },
            { key: 'later', effect: 'PreferNoSchedule' },
          ],
        }),
      }),
    },
  ],
  [
    'a new pool without nodes: its spec counts, and other labels are taken for granted',
    podSpec('cart:ltsc2022', { nodeSelector: { ...OS, zone: 'a', tier: 'api' } }),
    { move: empty },
  ],
  [
    'a required node affinity',
    podSpec('cart:ltsc2022', {
      runtimeClassName: 'windows-2022',
      ...affinity({ key: 'winpool.dev/pool', operator: 'In', values: ['old'] }),
    }),
  ],
  [
    'a node affinity that the new pool satisfies',
    podSpec('cart:ltsc2022', {
      runtimeClassName: 'windows-2022',
      ...affinity(
        { key: 'winpool.dev/pool', operator: 'NotIn', values: ['other'] },
        { key: BUILD, operator: 'Exists' },
        { key: 'spot', operator: 'DoesNotExist' },
      ),
    }),
  ],
  [
    'a node affinity with numbers, of which no node has the label',
    podSpec('cart:ltsc2022', {
      runtimeClassName: 'windows-2022',
      ...affinity({ key: 'cores', operator: 'Gt', values: ['4'] }),
    }),
  ],
  ['a nodeName', podSpec('cart:ltsc2022', { runtimeClassName: 'windows-2022', nodeName: 'old-1' })],
  [
    'a pod, whose spec has the selector of its RuntimeClass and its node',
    podSpec('cart:ltsc2022', {
      runtimeClassName: 'windows-2019',
      nodeName: 'old-1',
      nodeSelector: { ...OS, 'kubernetes.io/arch': 'amd64', [BUILD]: '10.0.17763' },
    }),
    { kind: 'Pod' },
  ],
  [
    'a HostProcess pod, whose image need not match',
    podSpec('agent:ltsc2019', {
      nodeSelector: OS,
      tolerations: TOLERATION as PodSpec['tolerations'] & object,
      securityContext: { windowsOptions: { hostProcess: true } },
      hostNetwork: true,
    }),
  ],
  [
    'an image of 2022 on 2025, which may run',
    podSpec('cart:ltsc2022', { runtimeClassName: 'windows-2022' }),
    { move: newer },
  ],
];

describe('the changes of a template that moves to another pool', () => {
  it('name the field, and its old and new value', async () => {
    const texts = rows.map(([what, spec, { move = sampleMove(), kind = 'Deployment' } = {}]) => {
      const { changes, advice } = placementOf(spec, kind, move);
      return [`# ${what}`, ...changes.map(({ text }) => text), ...advice].join('\n');
    });
    await assertGolden('plugin/migrate-placement', `${texts.join('\n\n')}\n`);
  });

  const selecting: readonly (readonly [what: string, spec: PodSpec, expected: boolean])[] = [
    ['the RuntimeClass of the old pool', podSpec('a', { runtimeClassName: 'windows-2019' }), true],
    ['the build of the old pool', podSpec('a', { nodeSelector: { [BUILD]: '10.0.17763' } }), true],
    ['the name of the old pool', podSpec('a', { nodeSelector: { 'winpool.dev/pool': 'old' } }), true],
    ['the old pool by affinity', podSpec('a', affinity({ key: BUILD, operator: 'In', values: ['10.0.17763'] })), true],
    [
      'a third pool of the old version',
      podSpec('a', { nodeSelector: { 'winpool.dev/pool': 'third', [BUILD]: '10.0.17763' } }),
      false,
    ],
    ['only Windows', podSpec('a', { nodeSelector: OS }), false],
    ['Linux', podSpec('a', { nodeSelector: { 'kubernetes.io/os': 'linux' } }), false],
    ['nothing', podSpec('a'), false],
    ['the new pool', podSpec('a', { runtimeClassName: 'windows-2022' }), false],
    ['an unknown RuntimeClass', podSpec('a', { runtimeClassName: 'gvisor' }), false],
  ];
  for (const [what, spec, expected] of selecting)
    it(`a template that selects ${what} ${expected ? 'needs' : 'does not need'} the old pool`, () =>
      assert.equal(selectsOldPool(spec, sampleMove()), expected));
});
