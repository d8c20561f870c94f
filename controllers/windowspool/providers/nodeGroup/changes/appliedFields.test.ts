import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { NodeGroup } from '../../../ports/eks.ts';
import { APPLIED, CLUSTER_ARN, knownStatus, sampleGroup, samplePool } from '../../../testing/fixtures.ts';
import { statusWith } from '../reporting/writeAheadStatus.ts';
import { desiredFields, entriesOf, nextApplied } from './appliedFields.ts';
import { appliedOf, isApplied } from './appliedRecord.ts';

const fieldsOf = (entries: readonly string[] | undefined) =>
  entries?.map((entry) => entry.slice(0, entry.lastIndexOf('=')));
const digest = (field: string, value: string) => entriesOf(new Map([[field, value]]));

describe('the record of applied fields', () => {
  it('has the fields of the spec and those of the operator', () => {
    const pool = samplePool({
      labels: { team: 'web' },
      taints: [{ key: 'gpu', effect: 'NoSchedule' }],
      nodeGroup: { tags: { cost: '42' } },
    });
    assert.deepEqual([...desiredFields(pool)].sort(), [
      ['label team', 'web'],
      ['label winpool.dev/pool', 'web'],
      ['label winpool.dev/windows-build', '10.0.20348'],
      ['scaling', '3 to 5'],
      ['tag cost', '42'],
      ['tag winpool.dev/pool', 'web'],
      ['taint gpu:NoSchedule', ''],
      ['taint os:NoSchedule', 'windows'],
    ]);
  });

  it('has the digests of the previous version of the operator, because with others an upgrade would replace all nodes', () => {
    const pool = samplePool({
      labels: { team: 'web' },
      taints: [{ key: 'gpu', effect: 'NoSchedule' }],
      nodeGroup: {
        diskSizeGiB: undefined,
        ami: { ssmParameter: '/golden' },
        kubelet: {
          systemReserved: { memory: '2Gi', cpu: '500m' },
          kubeReserved: { memory: '512Mi' },
          evictionHard: { 'memory.available': '1Gi' },
          maxPods: 30,
          extraArgs: { v: '4' },
        },
        userData: { configMap: 'windows', key: 'a.ps1', phase: 'BeforeBootstrap' },
        instanceTags: { cost: '42' },
        securityGroups: [{ id: 'sg-1' }, { tags: { team: 'web' } }],
      },
    });
    assert.deepEqual(entriesOf(desiredFields(pool)), [
      'label team=bde14896',
      'label winpool.dev/pool=bde14896',
      'label winpool.dev/windows-build=72596fb2',
      'scaling=e5972416',
      'tag winpool.dev/pool=bde14896',
      'taint gpu:NoSchedule=12ae32cb',
      'taint os:NoSchedule=e2946cab',
      'template ami=fc3b7eb2',
      'template disk.encrypted=18d10c7d',
      'template disk.iops=12ae32cb',
      'template disk.kmsKeyID=12ae32cb',
      'template disk.sizeGiB=4ec621b2',
      'template disk.throughput=12ae32cb',
      'template disk.type=efd5b1f3',
      'template instanceTags=dab19446',
      'template metadataOptions.httpPutResponseHopLimit=391552c0',
      'template metadataOptions.httpTokens=c4589514',
      'template other settings=12ae32cb',
      'template securityGroups=66149e5a',
      'template userData=967482a4',
    ]);
  });

  const followed = [
    [{ diskSizeGiB: undefined, kubelet: { maxPods: 30 } }, ['template ami=0674d0d0', 'template userData=d2320968']],
    [{ launchTemplate: { name: 'windows', version: '7' } }, ['template version=266aa588']],
    [{ releaseVersion: '1.36-2026.02.11' }, ['release=c7fcf91a']],
    [{ warmPool: { minSize: 1, poolState: 'Stopped', reuseOnScaleIn: true } }, ['warmPool=f28c98ec']],
  ] as const;
  for (const [nodeGroup, digests] of followed)
    it(`has the digests of the previous version of the operator for ${Object.keys(nodeGroup).at(-1)}`, () => {
      const found = entriesOf(desiredFields(samplePool({ nodeGroup })));
      assert.deepEqual(
        digests.filter((digest) => !found.includes(digest)),
        [],
      );
    });

  it('returns what was recorded, whatever the keys and values', () => {
    const fields = fc.array(fc.tuple(fc.string(), fc.string()), { maxLength: 5 }).map((pairs) => new Map(pairs));
    fc.assert(
      fc.property(fields, fc.string(), (recorded, other) => {
        const applied = appliedOf(samplePool({}, { status: knownStatus({ applied: entriesOf(recorded) }) }));
        assert.deepEqual([...(applied?.keys() ?? [])].sort(), [...recorded.keys()].sort());
        for (const [field, value] of recorded) {
          assert.equal(isApplied(applied, field, value), true);
          assert.equal(isApplied(applied, field, other), other === value);
        }
      }),
    );
  });

  it('is replaced for a new group, and marks fields before they are sent', () => {
    const cluster = { name: 'prod', arn: CLUSTER_ARN };
    const first = statusWith(undefined, { cluster, nodeGroupName: 'web', initial: { applied: ['a=1'], desired: 3 } });
    const nodeGroup = { name: 'web' };
    assert.deepEqual(first, { cluster, nodeGroup, tracking: { applied: ['a=1'], lastAppliedDesiredSize: 3 } });
    const sending = statusWith(first, { cluster, nodeGroupName: 'web', sending: ['a', 'label b'] });
    assert.deepEqual(sending.tracking, { applied: ['a=?', 'label b=?'], lastAppliedDesiredSize: 3 });
    const again = statusWith(sending, { cluster, nodeGroupName: 'web', initial: { applied: [], desired: undefined } });
    assert.deepEqual(again, { cluster, nodeGroup, tracking: { applied: [] } });
  });
});

describe('the record after a read of the group', () => {
  const labelled = (team: string, applied: readonly string[]) =>
    samplePool({ labels: { team } }, { status: knownStatus({ applied: [...APPLIED, ...applied].sort() }) });
  const group = (labels: Record<string, string>, change: Partial<NodeGroup> = {}) =>
    sampleGroup(undefined, { labels: { ...sampleGroup().labels, ...labels }, ...change });
  const team = (entries: readonly string[] | undefined) => entries?.filter((entry) => entry.startsWith('label team'));
  const [web = ''] = digest('label team', 'web');
  const [db = ''] = digest('label team', 'db');

  const table: readonly (readonly [string, string[] | undefined, string[]])[] = [
    ['has fields that match the spec', team(nextApplied(labelled('web', []), group({ team: 'web' }))), [web]],
    ['does not have fields that were never sent', team(nextApplied(labelled('web', []), group({}))), []],
    ['keeps fields that were edited', team(nextApplied(labelled('web', [web]), group({ team: 'db' }))), [web]],
    [
      'keeps fields with a pending change of the spec',
      team(nextApplied(labelled('web', [db]), group({ team: 'db' }))),
      [db],
    ],
    [
      'does not count fields as applied that were only sent',
      team(nextApplied(labelled('web', ['label team=?']), group({ team: 'db' }))),
      ['label team=?'],
    ],
    [
      'counts them as applied when they are observed',
      team(nextApplied(labelled('web', ['label team=?']), group({ team: 'web' }))),
      [web],
    ],
    [
      'waits until EKS has finished',
      team(nextApplied(labelled('web', ['label team=?']), group({ team: 'web' }, { status: 'UPDATING' }))),
      ['label team=?'],
    ],
    [
      'keeps fields that the spec dropped until they are gone',
      team(nextApplied(samplePool({}, { status: knownStatus({ applied: [web] }) }), group({ team: 'web' }))),
      [web],
    ],
    [
      'drops fields that the spec dropped when they are gone',
      team(nextApplied(samplePool({}, { status: knownStatus({ applied: [web] }) }), group({}))),
      [],
    ],
    [
      'has all fields of the spec when the group was just created from it',
      fieldsOf(nextApplied(labelled('web', ['label old=?']), group({}), { isNew: true })),
      fieldsOf([...APPLIED, web].sort()) ?? [],
    ],
    [
      'has all fields of the spec after it was lost',
      fieldsOf(nextApplied(samplePool(), group({}))),
      fieldsOf(APPLIED) ?? [],
    ],
  ];
  for (const [name, found, want] of table) it(name, () => assert.deepEqual(found, want));

  const both = ['ACTIVE', 'UPDATING'] as const;
  type Size = readonly [string, number | undefined, isSent: boolean, isOpen: boolean, readonly (typeof both)[number][]];
  const sizes: readonly Size[] = [
    ['stays open until the result is known', 4, false, true, both],
    ['stays open while EKS updates the group, which may get another size', 3, false, true, ['UPDATING']],
    ['is settled when EKS accepted it', 4, true, false, both],
    ['is settled when the group has it', 3, false, false, ['ACTIVE']],
    ['is settled when the spec has none', undefined, false, false, both],
  ];
  for (const [name, desired, isSent, isOpen, statuses] of sizes) {
    it(`a size that may have been sent ${name}`, () => {
      const scaling = desired === undefined ? {} : { desiredSize: desired };
      const pool = samplePool(
        { nodeGroup: { scaling } },
        { status: knownStatus({ applied: [...APPLIED, 'desired=?'].sort() }) },
      );
      for (const status of statuses) {
        assert.equal(
          nextApplied(pool, sampleGroup(undefined, { status }), { isSizeSent: isSent }).includes('desired=?'),
          isOpen,
        );
      }
    });
  }
});
