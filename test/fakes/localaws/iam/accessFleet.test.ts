import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shippedPolicy } from '../localAws.ts';
import type { MemoryCloud } from '../memory.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { active, rejection } from '../testing/testGroup.ts';

describe('permissions for instances, Auto Scaling groups and parameters', () => {
  let folder: string;
  const statement = (Action: string, key: string, value: string) => ({
    Effect: 'Allow',
    Action,
    Resource: '*',
    Condition: { StringEquals: { [key]: value } },
  });
  /** The shipped policy without that permission, and with the tested permission only for groups with that name. */
  const withRight = async (Action: string, key: string, value: string): Promise<MemoryCloud> => {
    const shipped = JSON.parse(readFileSync(shippedPolicy, 'utf8')) as { Statement: { Action: string | string[] }[] };
    const others = shipped.Statement.filter((other) => ![other.Action].flat().includes(Action));
    const policy = join(folder, `${value}.json`);
    await writeFile(policy, JSON.stringify({ Statement: [...others, statement(Action, key, value)] }));
    const { cloud, clock } = memoryCloud({ policy });
    await active(cloud, clock);
    return cloud;
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'policy-'));
  });
  after(() => rm(folder, { recursive: true }));

  const asg = (cloud: MemoryCloud) => cloud.state.groups.get('web')?.autoScalingGroup ?? '';
  const instance = (cloud: MemoryCloud) => [...cloud.state.instances.keys()][0] ?? '';
  const rows: readonly (readonly [string, string, (cloud: MemoryCloud) => Promise<unknown>, RegExp])[] = [
    [
      'autoscaling:SetDesiredCapacity',
      'autoscaling:ResourceTag/eks:nodegroup-name',
      (cloud) => cloud.send('SetDesiredCapacity', { AutoScalingGroupName: asg(cloud), DesiredCapacity: 3 }),
      /^AccessDenied: .*autoscaling:SetDesiredCapacity on resource: arn:aws:autoscaling:.*autoScalingGroupName\/eks-web-/,
    ],
    [
      'autoscaling:CreateOrUpdateTags',
      'aws:ResourceTag/eks:nodegroup-name',
      (cloud) => cloud.send('CreateOrUpdateTags', { Tags: [{ ResourceId: asg(cloud), Key: 'a', Value: 'b' }] }),
      /^AccessDenied: .*autoscaling:CreateOrUpdateTags/,
    ],
    [
      'autoscaling:DeleteTags',
      'aws:ResourceTag/eks:nodegroup-name',
      (cloud) => cloud.send('DeleteTags', { Tags: [{ ResourceId: asg(cloud), Key: 'a' }] }),
      /^AccessDenied: .*autoscaling:DeleteTags/,
    ],
    [
      'autoscaling:TerminateInstanceInAutoScalingGroup',
      'aws:ResourceTag/eks:nodegroup-name',
      (cloud) =>
        cloud.send('TerminateInstanceInAutoScalingGroup', {
          InstanceId: instance(cloud),
          ShouldDecrementDesiredCapacity: false,
        }),
      /^AccessDenied: .*autoscaling:TerminateInstanceInAutoScalingGroup/,
    ],
  ];
  for (const [action, key, call, denied] of rows) {
    it(`${action} can be limited to resources with tags`, async () => {
      assert.equal(await rejection(call(await withRight(action, key, 'web'))), 'accepted');
      assert.match(await rejection(call(await withRight(action, key, 'other'))), denied);
    });
  }

  it('autoscaling:CreateOrUpdateTags can be limited to the tags that it sets', async () => {
    const cloud = await withRight('autoscaling:CreateOrUpdateTags', 'aws:RequestTag/a', 'b');
    const tag = (Value: string) => ({ Tags: [{ ResourceId: asg(cloud), Key: 'a', Value }] });
    assert.equal(await rejection(cloud.send('CreateOrUpdateTags', tag('b'))), 'accepted');
    assert.match(await rejection(cloud.send('CreateOrUpdateTags', tag('c'))), /^AccessDenied/);
  });

  it('are denied by default', async () => {
    const { cloud, clock } = memoryCloud();
    await active(cloud, clock);
    const calls: readonly (readonly [() => Promise<unknown>, RegExp])[] = [
      [() => cloud.send('SetDesiredCapacity', { AutoScalingGroupName: 'none', DesiredCapacity: 1 }), /^AccessDenied/],
    ];
    for (const [call, denied] of calls) assert.match(await rejection(call()), denied);
  });
});
