import assert from 'node:assert/strict';
import type { CreateNodegroupRequest } from '@aws-sdk/client-eks';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { isWrite } from '../awsCalls.ts';
import { nodeRoleArn, subnetIds } from '../fakes/localaws/network.ts';
import { messageOf } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

describe('an existing node group', () => {
  const fixture = withOperator('--resync-interval=1s', '--enable-node-group-adoption');

  const groupIn = (name: string) => fixture.world.cloud.state.groups.get(name)?.nodegroup;
  const becomes = (name: string, type: string, state: string) =>
    fixture.world.waitForConditions(name, `${type}=${state}`);
  const patch = (name: string, spec: object) => fixture.world.patchPool(name, spec);
  const writes = () =>
    fixture.world.cloud
      .calls()
      .filter(isWrite)
      .map(({ operation }) => operation);

  /** A group as created with Terraform: two nodes, a label, a taint and a tag of its own. */
  async function legacy(name: string, change: Partial<CreateNodegroupRequest> = {}): Promise<void> {
    fixture.world.cloud.faults.consoleCreate({
      nodegroupName: name,
      nodeRole: nodeRoleArn,
      subnets: [subnetIds[0], subnetIds[1]],
      amiType: 'WINDOWS_CORE_2022_x86_64',
      instanceTypes: ['m5.large'],
      scalingConfig: { minSize: 0, maxSize: 6, desiredSize: 2 },
      labels: { team: 'legacy', tier: 'old' },
      taints: [{ key: 'dedicated', value: 'windows', effect: 'NO_SCHEDULE' }],
      tags: { terraform: 'true', 'winpool.dev/adoptable-by': name },
      ...change,
    });
    await waitFor(() => groupIn(name)?.status === 'ACTIVE', { what: `node group ${name}` });
    fixture.world.cloud.resetCalls();
  }

  /** Permits a pool to adopt a group, as an AWS administrator. */
  const permit = (group: string, pool: string) =>
    fixture.world.cloud.faults.edit({ group, tags: { ...groupIn(group)?.tags, 'winpool.dev/adoptable-by': pool } });

  const adopting = (name: string, spec: object = {}) =>
    poolManifest(name, { labels: { tier: 'web' }, nodeGroup: { adoption: 'IfUnowned' }, ...spec });

  it('gets the tag first, then the missing settings, and keeps its size and the settings of others', async () => {
    await legacy('planned');
    await fixture.world.apply(adopting('planned'));
    await becomes('planned', 'UpToDate', 'True/MatchesSpec');
    const pool = await becomes('planned', 'Ready', 'True/EnoughNodesVerified');
    assert.deepEqual(
      writes().filter((operation) => operation !== 'CreateOrUpdateTags'),
      ['TagResource', 'UpdateNodegroupConfig'],
    );
    const { labels, taints, tags, scalingConfig } = groupIn('planned') ?? {};
    assert.deepEqual(
      { labels, taints, tags, scalingConfig },
      {
        labels: {
          team: 'legacy',
          tier: 'web',
          'winpool.dev/pool': 'planned',
          'winpool.dev/windows-build': '10.0.20348',
        },
        taints: [
          { key: 'dedicated', value: 'windows', effect: 'NO_SCHEDULE' },
          { key: 'os', value: 'windows', effect: 'NO_SCHEDULE' },
        ],
        tags: { terraform: 'true', 'winpool.dev/adoptable-by': 'planned', 'winpool.dev/pool': 'planned' },
        scalingConfig: { minSize: 1, maxSize: 3, desiredSize: 2 },
      },
    );
    assert.equal(pool?.status?.nodes?.total, 2);
  });

  it('is as it was before when its pool is deleted with Retain, and can be adopted again', async () => {
    await patch('planned', { deletionPolicy: 'Retain' });
    await fixture.world.kubectl('delete', 'windowspool', 'planned', '--timeout=60s');
    const { labels, tags } = groupIn('planned') ?? {};
    assert.deepEqual(
      [labels, tags],
      [
        { team: 'legacy', tier: 'web' },
        { terraform: 'true', 'winpool.dev/adoptable-by': 'planned' },
      ],
    );
    permit('planned', 'second');
    await fixture.world.apply(adopting('second', { nodeGroup: { name: 'planned', adoption: 'IfUnowned' } }));
    await becomes('second', 'UpToDate', 'True/MatchesSpec');
    assert.equal(groupIn('planned')?.tags?.['winpool.dev/pool'], 'second');
  });

  const refusals: readonly (readonly [string, string, object, Partial<CreateNodegroupRequest>, string, RegExp])[] = [
    [
      'of another Windows version',
      'older',
      {},
      { amiType: 'WINDOWS_CORE_2019_x86_64' },
      'True/AdoptionRejected',
      /\bWINDOWS_CORE_2019_x86_64\b.*\bwindowsVersion Windows2022\b/,
    ],
    [
      'of Linux nodes',
      'linux',
      {},
      { amiType: 'AL2023_x86_64_STANDARD' },
      'True/AdoptionRejected',
      /AMI type is AL2023_x86_64_STANDARD/,
    ],
    [
      'that names another pool',
      'unnamed',
      {},
      { tags: { 'winpool.dev/adoptable-by': 'other' } },
      'True/AdoptionRejected',
      /tag winpool\.dev\/adoptable-by=other\b.* --tags winpool\.dev\/adoptable-by=unnamed$/,
    ],
    [
      'with adoption Never',
      'never',
      { nodeGroup: { adoption: 'Never' } },
      {},
      'True/NotOwned',
      /\bnodeGroup\.name\b.* --tags winpool\.dev\/adoptable-by=never$/,
    ],
  ];
  for (const [what, name, spec, change, stalled, words] of refusals) {
    it(`${what} is rejected and never changed`, async () => {
      await legacy(name, { ...change, scalingConfig: { minSize: 0, maxSize: 1, desiredSize: 0 } });
      await fixture.world.apply(adopting(name, spec));
      const pool = await becomes(name, 'Stalled', stalled);
      assert.match(messageOf(pool, 'Stalled'), words);
      await fixture.world.kubectl('delete', 'windowspool', name, '--timeout=60s');
      assert.deepEqual(writes(), []);
      fixture.world.cloud.faults.consoleDelete({ group: name });
    });
  }
});
