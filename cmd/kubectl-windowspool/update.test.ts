import assert from 'node:assert/strict';
import type { WindowsPool } from '../../controllers/windowspool/api/api.gen.ts';
import {
  existingPool,
  knownStatus,
  NEXT,
  type SpecChange,
  samplePool,
} from '../../controllers/windowspool/testing/fixtures.ts';
import { assertGolden } from '../../test/goldenText.ts';
import { Failure } from './failure.ts';
import { managedFieldWarning } from './fieldManagers.ts';
import { updateLines, updateOf } from './update.ts';

const RUNNING = '1.36-2026.02.11';
const group = { releaseVersion: RUNNING, latestReleaseVersion: NEXT };
const pool = (spec: SpecChange = {}, nodeGroup: Parameters<typeof knownStatus>[0] = {}): WindowsPool =>
  samplePool(spec, { status: { ...knownStatus({ ...group, ...nodeGroup }), nodes: { total: 3 } } });
const set = (nodeGroup: object) => ({ spec: { nodeGroup } });

const updates: readonly (readonly [what: string, pool: WindowsPool, release: string | undefined, patch?: object])[] = [
  ['to the newest release', pool(), undefined, set({ releaseVersion: NEXT })],
  [
    'to a release of another Kubernetes version',
    pool({ nodeGroup: { kubernetesVersion: '1.35' } }),
    NEXT,
    set({ releaseVersion: NEXT, kubernetesVersion: '1.36' }),
  ],
  [
    'of a paused pool with a limit, a canary, windows and automatic updates, during another update',
    pool(
      {
        paused: true,
        disruption: { maxUnavailable: '40%' },
        nodeGroup: {
          update: {
            policy: 'Automatic',
            maintenanceWindows: [{ schedule: '0 2 * * SAT', duration: '4h' }],
            canary: { nodes: 1, soakDuration: '30m' },
          },
        },
      },
      { update: { id: 'u', type: 'VersionUpdate', target: 't', status: 'InProgress' } },
    ),
    NEXT,
    set({ releaseVersion: NEXT }),
  ],
  ['to the release that the nodes run', pool(), RUNNING, set({ releaseVersion: RUNNING })],
  ['to an older release', pool(), '1.35-2025.01.01', set({ releaseVersion: '1.35-2025.01.01' })],
  ['to the release in the spec', pool({ nodeGroup: { releaseVersion: NEXT } }), NEXT],
];

describe('kubectl windowspool update', () => {
  for (const [what, each, release, patch] of updates)
    it(`changes the spec: ${what}`, () => assert.deepEqual(updateOf(each, release).patch, patch));

  it('shows what follows', async () => {
    const texts = updates.map(([what, each, release]) =>
      [`# ${what}`, ...updateLines('web', updateOf(each, release).notes, 80)].join('\n'),
    );
    await assertGolden('plugin/update', `${texts.join('\n\n')}\n`);
  });

  const rejected: readonly (readonly [what: string, pool: WindowsPool, message: RegExp])[] = [
    ['existing nodes', existingPool(), /has no node group\. .* tool that created them\.$/],
    ['a custom AMI', pool({ nodeGroup: { ami: { id: 'ami-0a000001' } } }), /Change nodeGroup\.ami /],
    ['settings of the kubelet', pool({ nodeGroup: { kubelet: { maxPods: 20 } } }), /update\.policy: Automatic\.$/],
    ['no known release', samplePool(), /--release\.$/],
  ];
  for (const [what, each, message] of rejected)
    it(`rejects a pool with ${what}`, () =>
      assert.throws(
        () => updateOf(each),
        (error) => error instanceof Failure && message.test(error.message),
      ));
});

describe('the warning about a managed field', () => {
  const applied = (manager: string, field: string, more: object = {}) => ({
    managedFields: [
      { manager, operation: 'Apply', fieldsV1: { 'f:spec': { 'f:nodeGroup': { [field]: {} } } }, ...more },
    ],
  });
  const flux = {
    labels: { 'kustomize.toolkit.fluxcd.io/name': 'pools', 'kustomize.toolkit.fluxcd.io/namespace': 'ops' },
  };
  const rows: readonly (readonly [what: string, metadata: object, warning: RegExp | undefined])[] = [
    ['no tool', {}, undefined],
    ['an editor', applied('kubectl-edit', 'f:releaseVersion'), undefined],
    [
      'a field manager',
      applied('argocd-controller', 'f:releaseVersion'),
      /by field manager argocd-controller, which reverts/,
    ],
    [
      'a field manager of a known tool',
      { ...flux, ...applied('kustomize-controller', 'f:releaseVersion') },
      /kustomize-controller of Flux Kustomization ops\/pools, which reverts/,
    ],
    [
      'a tool that does not set the field',
      { ...flux, ...applied('kustomize-controller', 'f:nodeRole') },
      /by Flux Kustomization ops\/pools, which may revert/,
    ],
    ['a subresource', applied('kubelet', 'f:releaseVersion', { subresource: 'status' }), undefined],
  ];
  for (const [what, metadata, warning] of rows)
    it(`names the tool: ${what}`, () => {
      const text = managedFieldWarning(metadata, 'nodeGroup.releaseVersion');
      if (warning) assert.match(text ?? '', warning);
      else assert.equal(text, undefined);
    });
});
