import assert from 'node:assert/strict';
import type { CreateNodegroupRequest } from '@aws-sdk/client-eks';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { nodeRoleArn, subnetIds } from '../fakes/localaws/network.ts';
import { conditionOf, messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

/** The operations that change AWS. */
const WRITES = /^(Create|Update|Delete|Tag|Untag)/;

describe('an existing node group', () => {
  const fixture = withOperator('--resync-interval=1s', '--enable-node-group-adoption');

  const groupIn = (name: string) => fixture.world.cloud.state.groups.get(name)?.nodegroup;
  const becomes = (name: string, type: string, state: string) =>
    fixture.world.waitForPool(name, `to have ${type}=${state}`, (pool) => conditionOf(pool, type) === state);
  const patch = (name: string, spec: object) => fixture.world.patchPool(name, spec);
  const writes = () =>
    fixture.world.cloud
      .calls()
      .map(({ operation }) => operation)
      .filter((operation) => WRITES.test(operation));

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
    await waitFor(() => groupIn(name)?.status === 'ACTIVE', { what: `node group ${name}`, timeoutMs: 60_000 });
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

  it('of another pool is rejected, and adopted as soon as that pool released it', async () => {
    await fixture.world.apply(adopting('third', { nodeGroup: { name: 'planned', adoption: 'IfUnowned' } }));
    const pool = await becomes('third', 'Stalled', 'True/NotOwned');
    assertNames(messageOf(pool, 'Stalled'), 'Node group planned', 'WindowsPool second');
    permit('planned', 'third');
    await patch('second', { deletionPolicy: 'Retain' });
    await fixture.world.kubectl('delete', 'windowspool', 'second', '--timeout=60s');
    await becomes('third', 'UpToDate', 'True/MatchesSpec');
    await fixture.world.kubectl('delete', 'windowspool', 'third', '--timeout=30s');
    assert.equal(groupIn('planned'), undefined);
  });

  it('is adopted only by the pool that it names', async () => {
    await legacy('wanted');
    permit('wanted', 'left');
    const names = ['left', 'right'];
    const items = names.map((name) => adopting(name, { nodeGroup: { name: 'wanted', adoption: 'IfUnowned' } }));
    await fixture.world.apply({ apiVersion: 'v1', kind: 'List', items });
    await becomes('left', 'UpToDate', 'True/MatchesSpec');
    const pool = await becomes('right', 'Stalled', 'True/NotOwned');
    assert.match(messageOf(pool, 'Stalled'), /is managed by WindowsPool left,/);
    await fixture.world.kubectl('delete', 'windowspools', ...names, '--timeout=30s');
  });

  it('is adopted when it is DEGRADED, and updated to the spec', async () => {
    await legacy('ailing');
    const issues = [{ code: 'AsgInstanceLaunchFailures' as const, message: 'No capacity', resourceIds: ['eks-asg'] }];
    fixture.world.cloud.faults.healthIssue({ group: 'ailing', issues });
    await fixture.world.apply(adopting('ailing'));
    const pool = await becomes('ailing', 'UpToDate', 'True/MatchesSpec');
    assert.match(messageOf(pool, 'NodeGroupReady'), /is DEGRADED: AsgInstanceLaunchFailures: No capacity/);
    assert.equal(groupIn('ailing')?.tags?.['winpool.dev/pool'], 'ailing');
    assert.equal(groupIn('ailing')?.labels?.tier, 'web');
    await fixture.world.kubectl('delete', 'windowspool', 'ailing', '--timeout=30s');
  });

  it('is not changed with driftPolicy Report, which reports the differences', async () => {
    await legacy('reported');
    await fixture.world.apply(adopting('reported', { nodeGroup: { adoption: 'IfUnowned', driftPolicy: 'Report' } }));
    const pool = await becomes('reported', 'UpToDate', 'False/Drifted');
    assertNames(messageOf(pool, 'UpToDate'), 'label tier is old (expected web)', 'nodeGroup.driftPolicy: Correct');
    const [step, ...others] = pool?.status?.pendingSteps ?? [];
    assert.deepEqual(others, []);
    assert.equal(step?.reason, 'Drifted');
    assertNames(
      step.description,
      'update node group reported',
      'labels set tier',
      'taints set os:NoSchedule',
      'minSize 1, maxSize 3',
    );
    await becomes('reported', 'NodesVerified', 'False/RegistrationTaintMissing');
    assert.deepEqual(writes(), ['TagResource', 'CreateOrUpdateTags']);
    await patch('reported', { nodeGroup: { driftPolicy: 'Correct' } });
    await becomes('reported', 'UpToDate', 'True/MatchesSpec');
    await fixture.world.kubectl('delete', 'windowspool', 'reported', '--timeout=30s');
  });

  it('is not replaced if it differs in fields that EKS cannot change, and the spec can be corrected', async () => {
    await legacy('rigid', { subnets: [subnetIds[2]] });
    await fixture.world.apply(adopting('rigid'));
    const pool = await becomes('rigid', 'Stalled', 'True/ImmutableDifference');
    assertNames(messageOf(pool, 'Stalled'), 'subnets', 'nodeGroup.immutableChangePolicy: Replace');
    await patch('rigid', { nodeGroup: { subnets: [{ id: subnetIds[2] }] } });
    await becomes('rigid', 'Ready', 'True/EnoughNodesVerified');
    assert.ok(!writes().includes('CreateNodegroup') && !writes().includes('DeleteNodegroup'), writes().join());
    await fixture.world.kubectl('delete', 'windowspool', 'rigid', '--timeout=30s');
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
      /tag winpool\.dev\/adoptable-by=other\b.* to unnamed\b/,
    ],
    [
      'with adoption Never',
      'never',
      { nodeGroup: { adoption: 'Never' } },
      {},
      'True/NotOwned',
      /\bnodeGroup\.name\b.*\/adoption\.md/,
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

describe('a pool that waits for the name of a node group', () => {
  // The next poll would be due in ten minutes.
  const fixture = withOperator();

  it('creates its own as soon as the other pool is gone', async () => {
    await fixture.world.apply(poolManifest('holder', { nodeGroup: { name: 'shared' } }));
    await fixture.world.waitForPool(
      'holder',
      'to be Ready',
      (pool) => conditionOf(pool, 'Ready') === 'True/EnoughNodesVerified',
    );
    await fixture.world.apply(poolManifest('waiter', { nodeGroup: { name: 'shared' } }));
    await fixture.world.waitForPool('waiter', 'to wait', (pool) => conditionOf(pool, 'Stalled') === 'True/NotOwned');
    await fixture.world.kubectl('delete', 'windowspool', 'holder', '--timeout=30s');
    await fixture.world.waitForPool(
      'waiter',
      'to be Ready',
      (pool) => conditionOf(pool, 'Ready') === 'True/EnoughNodesVerified',
    );
  });
});
