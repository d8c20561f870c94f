import assert from 'node:assert/strict';
import type { MemoryCloud } from './memory.ts';
import type { Switches } from './switches.ts';
import { memoryCloud } from './testing/testClock.ts';
import { group, inState, rejection } from './testing/testGroup.ts';

describe('switches', () => {
  type Call = (cloud: MemoryCloud) => Promise<unknown>;
  const update =
    (change: object): Call =>
    (cloud) =>
      cloud.send('UpdateNodegroupConfig', { ...group, ...change });
  const remove: Call = (cloud) => cloud.send('DeleteNodegroup', group);
  const taints = (key: string) => ({ addOrUpdateTaints: [{ key, effect: 'NO_SCHEDULE' }] });
  const reserved = /^InvalidParameterException: .*Taint.*reserved prefixes/;
  const accepted = /^accepted$/;
  const rows: readonly (readonly [keyof Switches, string, Call, Readonly<Record<string, RegExp>>])[] = [
    [
      'updatesWhileDegraded',
      'DEGRADED',
      update({ scalingConfig: { maxSize: 6 } }),
      { accept: accepted, reject: /^ResourceInUseException: .*not in Active State/ },
    ],
    ['deleteWhileBusy', 'CREATING', remove, { accept: accepted, conflict: /^ResourceInUseException: .*being created/ }],
    ['deleteWhileBusy', 'UPDATING', remove, { accept: accepted, conflict: /^ResourceInUseException: .*being updated/ }],
    [
      'deleteWhileDeleting',
      'DELETING',
      remove,
      { accept: accepted, conflict: /^ResourceInUseException: .*being deleted/ },
    ],
    [
      'updatesWithoutChange',
      'ACTIVE',
      update({ scalingConfig: { maxSize: 5 } }),
      { accept: accepted, reject: /^InvalidParameterException: .*changes nothing/ },
    ],
    [
      'reservedTaints',
      'ACTIVE',
      update({ taints: taints('startup.kubernetes.io/x') }),
      { prefixes: accepted, subdomains: reserved, none: accepted },
    ],
    [
      'reservedTaints',
      'ACTIVE',
      update({ taints: taints('kubernetes.io/x') }),
      { prefixes: reserved, subdomains: reserved, none: accepted },
    ],
    [
      'missingUnderTagCondition',
      'ACTIVE',
      (cloud) => cloud.send('DeleteNodegroup', { ...group, nodegroupName: 'none' }),
      { notFound: /^ResourceNotFoundException/, denied: /^AccessDeniedException: .*eks:DeleteNodegroup/ },
    ],
  ];
  for (const [name, status, call, outcomes] of rows) {
    it(`${name} is ${Object.keys(outcomes).join(' or ')} while the group is ${status}`, async () => {
      for (const [value, outcome] of Object.entries(outcomes)) {
        const { cloud } = await inState(status, { [name]: value });
        assert.match(await rejection(call(cloud)), outcome, value);
      }
    });
  }

  it('rejects an unknown switch or value', () => {
    assert.throws(() => memoryCloud({ switches: { nonsense: 'on' } as never }), /no switch nonsense; there are/);
    assert.throws(
      () => memoryCloud({ switches: { deleteWhileBusy: 'maybe' } as never }),
      /it can be accept or conflict/,
    );
  });
});
