import assert from 'node:assert/strict';
import type { CreateNodegroupRequest } from '@aws-sdk/client-eks';
import { nodeRoleArn } from '../network.ts';
import type { NodeEvent } from '../records.ts';
import type { Switches } from '../switches.ts';
import { bootstrapData, openPolicy, sampleGroup } from '../testing/fixtures.ts';
import { memoryCloud } from '../testing/testClock.ts';
import { statusOf } from '../testing/testGroup.ts';
import { imageIdFor } from './images.ts';

const ImageId = imageIdFor('WINDOWS_CORE_2022_x86_64', '1.36-2026.04.18');
const kubelet = '--node-labels=team=web,tier= --register-with-taints=os=windows:NoSchedule,gpu=:NoExecute';
const labels = { tier: 'group' };
const taints = [{ key: 'group', value: '', effect: 'NO_SCHEDULE' as const }];

/** A group whose launch template has an image and this user data, with the events of its nodes. */
async function groupWith(UserData: string | undefined, switches: Partial<Switches> = {}) {
  const { cloud, clock } = memoryCloud({ policy: openPolicy, switches });
  const events: NodeEvent[] = [];
  cloud.state.onNodeEvent((event) => events.push(event));
  cloud.faults.launchTemplate({ name: 'mine', data: { ImageId, ...(UserData !== undefined && { UserData }) } });
  const { amiType: _type, ...request } = sampleGroup({ launchTemplate: { name: 'mine' }, labels, taints });
  await cloud.send('CreateNodegroup', request as CreateNodegroupRequest);
  clock.advance(30);
  return { cloud, events, status: await statusOf(cloud) };
}

describe('the user data of a launch template with an image', () => {
  const others: readonly (readonly [what: string, userData: string | undefined])[] = [
    ['is missing', undefined],
    ['calls no bootstrap script', Buffer.from('<powershell>Get-Date</powershell>').toString('base64')],
    ['has no tag of PowerShell', Buffer.from('Start-EKSBootstrap.ps1 -EKSClusterName demo').toString('base64')],
    ['names another cluster', bootstrapData('', { name: 'other' })],
    ['names another endpoint', bootstrapData('', { endpoint: 'https://10.0.0.1' })],
    ['has another certificate authority', bootstrapData('', { caData: 'b3RoZXI=' })],
  ];
  for (const [what, userData] of others) {
    it(`lets no node join if it ${what}`, async () => {
      const { status, events } = await groupWith(userData);
      assert.equal(status, 'CREATE_FAILED');
      assert.deepEqual(events, []);
    });
  }

  for (const settingsOfCustomNodes of ['later', 'never'] as const) {
    it(`sets the labels and taints of the kubelet; EKS adds those of the group ${settingsOfCustomNodes}`, async () => {
      const { status, events } = await groupWith(bootstrapData(kubelet), { settingsOfCustomNodes });
      assert.equal(status, 'ACTIVE');
      const [joined] = events.filter(({ kind }) => kind === 'join');
      assert.deepEqual(joined?.instance.nodeLabels, { team: 'web', tier: '' });
      assert.deepEqual(joined?.instance.registerWithTaints, [
        { key: 'os', value: 'windows', effect: 'NO_SCHEDULE' },
        { key: 'gpu', value: '', effect: 'NO_EXECUTE' },
      ]);
      const later = events.flatMap((event) => (event.kind === 'relabel' ? [event.after] : []));
      const all = { ...labels, 'eks.amazonaws.com/nodegroup': 'web' };
      const expected = settingsOfCustomNodes === 'never' ? [] : [all, all];
      assert.deepEqual(
        later.map((group) => group.labels),
        expected,
      );
      assert.ok(later.every((group) => group.taints?.[0]?.key === 'group'));
    });
  }

  it('lets no node join with a label that a kubelet rejects', async () => {
    const { status } = await groupWith(bootstrapData('--node-labels=kubernetes.io/team=web'));
    assert.equal(status, 'CREATE_FAILED');
  });

  it('can be one with a table of parameters', async () => {
    const script = Buffer.from(bootstrapData(kubelet), 'base64')
      .toString()
      .replaceAll(/-(\w+) "(.*?)"/g, "$1 = '$2'\n");
    const { events } = await groupWith(Buffer.from(script).toString('base64'));
    assert.deepEqual(events.find(({ kind }) => kind === 'join')?.instance.nodeLabels, { team: 'web', tier: '' });
  });

  it('does not change the access that EKS grants: as to Linux nodes, because it does not know the operating system', async () => {
    const { cloud, clock } = memoryCloud({ policy: openPolicy });
    cloud.faults.accessEntry({ principalArn: nodeRoleArn, exists: false });
    cloud.faults.launchTemplate({ name: 'mine', data: { ImageId, UserData: bootstrapData() } });
    const { amiType: _type, ...request } = sampleGroup({ launchTemplate: { name: 'mine' } });
    await cloud.send('CreateNodegroup', request as CreateNodegroupRequest);
    clock.advance(30);
    assert.equal(cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_LINUX');
    const { nodegroup } = await cloud.send('DescribeNodegroup', { clusterName: 'demo', nodegroupName: 'web' });
    assert.equal(nodegroup?.status, 'DEGRADED');
  });
});
