import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { NodeGroup } from '../../ports/eks.ts';
import { APPLIED, CLUSTER_ARN, knownStatus, sampleGroup, samplePool } from '../../testing/fixtures.ts';
import { appliedOf, desiredFields, entriesOf, isApplied, nextApplied, remembering } from './applied.ts';

const fieldsOf = (entries: readonly string[] | undefined) =>
  entries?.map((entry) => entry.slice(0, entry.lastIndexOf('=')));
const digest = (field: string, value: string) => entriesOf(new Map([[field, value]]));

describe('the memory of what was applied', () => {
  it('names the fields of the spec and the operator’s own', () => {
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

  it('knows what it was told, whatever is in keys and values', () => {
    const fields = fc.array(fc.tuple(fc.string(), fc.string()), { maxLength: 5 }).map((pairs) => new Map(pairs));
    fc.assert(
      fc.property(fields, fc.string(), (reported, other) => {
        const applied = appliedOf(samplePool({}, { status: knownStatus({ applied: entriesOf(reported) }) }));
        assert.deepEqual([...(applied?.keys() ?? [])].sort(), [...reported.keys()].sort());
        for (const [field, value] of reported) {
          assert.equal(isApplied(applied, field, value), true);
          assert.equal(isApplied(applied, field, other), other === value);
        }
      }),
    );
  });

  it('is written anew for a new group, and marks fields before they are sent', () => {
    const cluster = { name: 'prod', arn: CLUSTER_ARN };
    const anew = remembering(undefined, { cluster, nodeGroupName: 'web', initial: { applied: ['a=1'], desired: 3 } });
    assert.deepEqual(anew, { cluster, nodeGroup: { name: 'web', applied: ['a=1'], lastAppliedDesired: 3 } });
    const sending = remembering(anew, { cluster, nodeGroupName: 'web', sending: ['a', 'label b'] });
    assert.deepEqual(sending.nodeGroup, { name: 'web', applied: ['a=?', 'label b=?'], lastAppliedDesired: 3 });
    const again = remembering(sending, { cluster, nodeGroupName: 'web', initial: { applied: [], desired: undefined } });
    assert.deepEqual(again.nodeGroup, { name: 'web', applied: [] });
  });
});

describe('the memory after a look', () => {
  const labelled = (team: string, applied: readonly string[]) =>
    samplePool({ labels: { team } }, { status: knownStatus({ applied: [...APPLIED, ...applied].sort() }) });
  const group = (labels: Record<string, string>, change: Partial<NodeGroup> = {}) =>
    sampleGroup(undefined, { labels: { ...sampleGroup().labels, ...labels }, ...change });
  const team = (entries: readonly string[] | undefined) => entries?.filter((entry) => entry.startsWith('label team'));
  const [web = ''] = digest('label team', 'web');
  const [db = ''] = digest('label team', 'db');

  const table: readonly (readonly [string, string[] | undefined, string[]])[] = [
    ['has what is as the spec says', team(nextApplied(labelled('web', []), group({ team: 'web' }), false)), [web]],
    ['has no field that was never sent', team(nextApplied(labelled('web', []), group({}), false)), []],
    ['keeps what an edit changed', team(nextApplied(labelled('web', [web]), group({ team: 'db' }), false)), [web]],
    [
      'keeps what a change of the spec is still to change',
      team(nextApplied(labelled('web', [db]), group({ team: 'db' }), false)),
      [db],
    ],
    [
      'does not trust what was only sent',
      team(nextApplied(labelled('web', ['label team=?']), group({ team: 'db' }), false)),
      ['label team=?'],
    ],
    [
      'knows it again when it is seen',
      team(nextApplied(labelled('web', ['label team=?']), group({ team: 'web' }), false)),
      [web],
    ],
    [
      'waits for EKS to be done',
      team(nextApplied(labelled('web', ['label team=?']), group({ team: 'web' }, { status: 'UPDATING' }), false)),
      ['label team=?'],
    ],
    [
      'keeps what the spec dropped until it is gone',
      team(nextApplied(samplePool({}, { status: knownStatus({ applied: [web] }) }), group({ team: 'web' }), false)),
      [web],
    ],
    [
      'forgets what the spec dropped when it is gone',
      team(nextApplied(samplePool({}, { status: knownStatus({ applied: [web] }) }), group({}), false)),
      [],
    ],
    [
      'has all of the spec when it was lost',
      fieldsOf(nextApplied(samplePool(), group({}), false)),
      fieldsOf(APPLIED) ?? [],
    ],
  ];
  for (const [name, found, want] of table) it(name, () => assert.deepEqual(found, want));

  const both = ['ACTIVE', 'UPDATING'] as const;
  type Size = readonly [string, number | undefined, isSent: boolean, isOpen: boolean, readonly (typeof both)[number][]];
  const sizes: readonly Size[] = [
    ['stays open until it is known', 4, false, true, both],
    ['stays open while EKS works on the group, which may get another one', 3, false, true, ['UPDATING']],
    ['is settled when EKS took it', 4, true, false, both],
    ['is settled when the group has it', 3, false, false, ['ACTIVE']],
    ['is settled when the spec has none', undefined, false, false, both],
  ];
  for (const [name, desired, isSent, isOpen, statuses] of sizes) {
    it(`a size that was perhaps sent ${name}`, () => {
      const scaling = desired === undefined ? {} : { desired };
      const pool = samplePool({ scaling }, { status: knownStatus({ applied: [...APPLIED, 'desired=?'].sort() }) });
      for (const status of statuses) {
        assert.equal(nextApplied(pool, sampleGroup(undefined, { status }), isSent)?.includes('desired=?'), isOpen);
      }
    });
  }
});
