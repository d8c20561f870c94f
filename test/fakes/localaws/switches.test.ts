import assert from 'node:assert/strict';
import type { MemoryCloud } from './memory.ts';
import type { Switches } from './switches.ts';
import { openPolicy, sampleCluster, sampleGroup } from './testing/fixtures.ts';
import { memoryCloud } from './testing/testClock.ts';
import { group, inState, rejection } from './testing/testGroup.ts';

describe('switches', () => {
  const rows: readonly (readonly [keyof Switches, string, string, RegExp, (cloud: MemoryCloud) => Promise<unknown>])[] =
    [
      [
        'updatesWhileDegraded',
        'accept',
        'DEGRADED',
        /^accepted$/,
        (cloud) => cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 6 } }),
      ],
      [
        'updatesWhileDegraded',
        'reject',
        'DEGRADED',
        /^ResourceInUseException: .*not in Active State/,
        (cloud) => cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 6 } }),
      ],
      ['deleteWhileBusy', 'accept', 'CREATING', /^accepted$/, (cloud) => cloud.send('DeleteNodegroup', group)],
      [
        'deleteWhileBusy',
        'conflict',
        'CREATING',
        /^ResourceInUseException: .*being created/,
        (cloud) => cloud.send('DeleteNodegroup', group),
      ],
      ['deleteWhileBusy', 'accept', 'UPDATING', /^accepted$/, (cloud) => cloud.send('DeleteNodegroup', group)],
      [
        'deleteWhileBusy',
        'conflict',
        'UPDATING',
        /^ResourceInUseException: .*being updated/,
        (cloud) => cloud.send('DeleteNodegroup', group),
      ],
      ['deleteWhileDeleting', 'accept', 'DELETING', /^accepted$/, (cloud) => cloud.send('DeleteNodegroup', group)],
      [
        'deleteWhileDeleting',
        'conflict',
        'DELETING',
        /^ResourceInUseException: .*being deleted/,
        (cloud) => cloud.send('DeleteNodegroup', group),
      ],
      [
        'updatesWithoutChange',
        'accept',
        'ACTIVE',
        /^accepted$/,
        (cloud) => cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 5 } }),
      ],
      [
        'updatesWithoutChange',
        'reject',
        'ACTIVE',
        /^InvalidParameterException: .*changes nothing/,
        (cloud) => cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize: 5 } }),
      ],
      [
        'reservedLabels',
        'kubelet',
        'ACTIVE',
        /^accepted$/,
        (cloud) =>
          cloud.send('UpdateNodegroupConfig', { ...group, labels: { addOrUpdateLabels: { 'kubernetes.io/x': 'y' } } }),
      ],
      [
        'reservedLabels',
        'reject',
        'ACTIVE',
        /^InvalidParameterException: .*Label.*\[kubernetes\.io\/, k8s\.io\/, eks\.amazonaws\.com\/\]/,
        (cloud) =>
          cloud.send('UpdateNodegroupConfig', { ...group, labels: { addOrUpdateLabels: { 'kubernetes.io/x': 'y' } } }),
      ],
      ...(['accept', 'reject'] as const).map((value): (typeof rows)[number] => [
        'reservedTaints',
        value,
        'ACTIVE',
        value === 'accept'
          ? /^accepted$/
          : /^InvalidParameterException: .*Taint.*\[kubernetes\.io\/, k8s\.io\/, eks\.amazonaws\.com\/\]/,
        (cloud) =>
          cloud.send('UpdateNodegroupConfig', {
            ...group,
            taints: { addOrUpdateTaints: [{ key: 'startup.kubernetes.io/x', effect: 'NO_SCHEDULE' }] },
          }),
      ]),
      [
        'missingUnderTagCondition',
        'notFound',
        'ACTIVE',
        /^ResourceNotFoundException: .*No node group found for name: none\./,
        (cloud) => cloud.send('DeleteNodegroup', { ...group, nodegroupName: 'none' }),
      ],
    ];
  for (const [name, value, status, outcome, act] of rows) {
    it(`${name}=${value} returns ${outcome.source.slice(0, 70)} while ${status}`, async () => {
      const { cloud } = await inState(status, { [name]: value });
      assert.match(await rejection(act(cloud)), outcome);
    });
  }

  it('missingUnderTagCondition=denied returns 403 for a group that does not exist', async () => {
    const { cloud } = memoryCloud({ switches: { missingUnderTagCondition: 'denied' } });
    assert.match(
      await rejection(cloud.send('DeleteNodegroup', group)),
      /^AccessDeniedException: .*eks:DeleteNodegroup/,
    );
  });

  it('updateOrder decides the order of ListUpdates', async () => {
    for (const [updateOrder, reversed] of [
      ['oldestFirst', false],
      ['newestFirst', true],
    ] as const) {
      const { cloud, clock } = await inState('ACTIVE', { updateOrder }, openPolicy);
      const ids: (string | undefined)[] = [];
      for (const maxSize of [6, 7]) {
        ids.push((await cloud.send('UpdateNodegroupConfig', { ...group, scalingConfig: { maxSize } })).update?.id);
        clock.advance(2);
      }
      const { updateIds } = await cloud.send('ListUpdates', { name: 'demo', nodegroupName: 'web' });
      assert.deepEqual(updateIds, reversed ? ids.reverse() : ids);
    }
  });

  it('instanceNodegroupTag decides the tags of instances', async () => {
    for (const [instanceNodegroupTag, keys] of [
      ['on', ['aws:autoscaling:groupName', 'eks:cluster-name', 'eks:nodegroup-name']],
      ['off', ['aws:autoscaling:groupName']],
    ] as const) {
      const { cloud } = await inState('ACTIVE', { instanceNodegroupTag });
      const { Reservations } = await cloud.send('DescribeInstances', {});
      assert.deepEqual(
        Reservations?.[0]?.Instances?.[0]?.Tags?.map(({ Key }) => Key),
        keys,
      );
    }
  });

  it('rejects an unknown switch or value', () => {
    assert.throws(() => memoryCloud({ switches: { nonsense: 'on' } as never }), /no switch nonsense; there are/);
    assert.throws(
      () => memoryCloud({ switches: { deleteWhileBusy: 'maybe' } as never }),
      /it can be accept or conflict/,
    );
  });
});

describe('Windows outside the commercial Regions', () => {
  for (const [answer, region, want] of [
    ['reject', 'us-gov-west-1', /^InvalidParameterException: .*commercial AWS Regions/],
    ['reject', 'cn-north-1', /^InvalidParameterException: .*commercial AWS Regions/],
    ['reject', 'ca-central-1', /^accepted$/],
    ['accept', 'us-gov-west-1', /^accepted$/],
  ] as const) {
    it(`${answer}: CreateNodegroup in ${region} is ${want.source}`, async () => {
      const switches = { windowsOutsideCommercialRegions: answer };
      const { cloud } = memoryCloud({ cluster: { ...sampleCluster, region }, switches });
      const found = await cloud.send('CreateNodegroup', sampleGroup({ amiType: 'WINDOWS_CORE_2022_x86_64' })).then(
        () => 'accepted',
        (error: Error) => `${error.name}: ${error.message}`,
      );
      assert.match(found, want);
    });
  }
});
