import assert from 'node:assert/strict';
import type { CreateNodegroupRequest } from '@aws-sdk/client-eks';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { nodeRoleArn, subnetIds } from '../../hack/localaws/network.ts';
import { ofOperator, readAudit } from '../../hack/testenv/audit.ts';
import { conditionOf, messageOf } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

/** The operations that change AWS. */
const WRITES = /^(Create|Update|Delete|Tag|Untag)/;

describe('a node group that was there before', () => {
  const stage = withOperator('--resync-interval=1s');

  const groupIn = (name: string) => stage.world.cloud.state.groups.get(name)?.nodegroup;
  const becomes = (name: string, type: string, state: string) =>
    stage.world.waitForPool(name, `to have ${type}=${state}`, (pool) => conditionOf(pool, type) === state);
  const patch = (name: string, spec: object) => stage.world.patchPool(name, spec);
  const writes = () =>
    stage.world.cloud
      .calls()
      .map(({ operation }) => operation)
      .filter((operation) => WRITES.test(operation));

  /** A group as created with Terraform: two nodes, a label, a taint and a tag of its own. */
  async function legacy(name: string, change: Partial<CreateNodegroupRequest> = {}): Promise<void> {
    stage.world.cloud.faults.consoleCreate({
      nodegroupName: name,
      nodeRole: nodeRoleArn,
      subnets: [subnetIds[0], subnetIds[1]],
      amiType: 'WINDOWS_CORE_2022_x86_64',
      instanceTypes: ['m5.large'],
      scalingConfig: { minSize: 0, maxSize: 6, desiredSize: 2 },
      labels: { team: 'legacy', tier: 'old' },
      taints: [{ key: 'dedicated', value: 'windows', effect: 'NO_SCHEDULE' }],
      tags: { terraform: 'true' },
      ...change,
    });
    await waitFor(() => groupIn(name)?.status === 'ACTIVE', { what: `node group ${name}`, timeoutMs: 60_000 });
    stage.world.cloud.resetCalls();
  }

  const adopting = (name: string, spec: object = {}) =>
    poolManifest(name, { labels: { tier: 'web' }, nodeGroup: { adoption: 'IfUnowned' }, ...spec });

  it('is planned by --dry-run, which writes nothing to AWS or to the cluster', async () => {
    await legacy('planned');
    await stage.operator.stop();
    await stage.world.apply(adopting('planned'));
    const before = (await stage.world.pool('planned'))?.metadata.resourceVersion;
    const from = (await readAudit(stage.world.controlPlane.auditLog)).length;
    const dry = stage.world.operator(['--dry-run']);
    await waitFor(() => !dry.running && dry.unlabelledNode.length >= 13, {
      what: 'the dry run to end',
      timeoutMs: 60_000,
      explain: () => dry.tail(),
    });
    assert.deepEqual(dry.unlabelledNode, [
      'WindowsPool planned: 3 steps',
      '  now:',
      '    adopt node group planned: set the tag winpool.dev/pool=planned.',
      '    create RuntimeClass windows-2022.',
      '  then:',
      '    update node group planned: labels set tier, winpool.dev/pool, winpool.dev/windows-build; taints set os:NoSchedule; scaling min 1, max 3.',
      '  the node group differs:',
      '    label tier is old and the spec says web.',
      '    label winpool.dev/pool is missing and the spec says planned.',
      '    label winpool.dev/windows-build is missing and the spec says 10.0.20348.',
      '    scaling is 0 to 6 and the spec says 1 to 3.',
      '    tag winpool.dev/pool is missing and the spec says planned.',
      '    taint os:NoSchedule is missing and the spec says windows.',
    ]);
    const verbs = new Set(
      ofOperator((await readAudit(stage.world.controlPlane.auditLog)).slice(from)).map(({ verb }) => verb),
    );
    assert.ok(verbs.has('list') || verbs.has('watch'), 'the audit log shows the dry run');
    assert.deepEqual(
      [...verbs].filter((verb) => !['get', 'list', 'watch'].includes(verb)),
      [],
    );
    assert.deepEqual(writes(), []);
    assert.equal((await stage.world.pool('planned'))?.metadata.resourceVersion, before);
  });

  it('gets the tag first, then what it lacks; what is of others stays, and so does its size', async () => {
    stage.operator = await stage.world
      .operator(['--poll-interval=200ms', '--retry-base=50ms', '--resync-interval=1s', '--leader-elect=false'])
      .ready();
    await becomes('planned', 'UpToDate', 'True/AsSpecified');
    const pool = await becomes('planned', 'Ready', 'True/Verified');
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
        tags: { terraform: 'true', 'winpool.dev/pool': 'planned' },
        scalingConfig: { minSize: 1, maxSize: 3, desiredSize: 2 },
      },
    );
    assert.equal(pool?.status?.nodes?.total, 2);
  });

  it('is left as it was found when its pool goes with Retain, and can be adopted again', async () => {
    await patch('planned', { deletionPolicy: 'Retain' });
    await stage.world.kubectl('delete', 'windowspool', 'planned', '--timeout=60s');
    const { labels, tags } = groupIn('planned') ?? {};
    assert.deepEqual([labels, tags], [{ team: 'legacy', tier: 'web' }, { terraform: 'true' }]);
    await stage.world.apply(adopting('second', { nodeGroup: { name: 'planned', adoption: 'IfUnowned' } }));
    await becomes('second', 'UpToDate', 'True/AsSpecified');
    assert.equal(groupIn('planned')?.tags?.['winpool.dev/pool'], 'second');
  });

  it('of another pool is refused, and taken as soon as that pool left it', async () => {
    await stage.world.apply(adopting('third', { nodeGroup: { name: 'planned', adoption: 'IfUnowned' } }));
    const pool = await becomes('third', 'Stalled', 'True/NotOwned');
    assert.match(messageOf(pool, 'Ready'), /^A node group planned exists that belongs to WindowsPool second\./);
    await patch('second', { deletionPolicy: 'Retain' });
    await stage.world.kubectl('delete', 'windowspool', 'second', '--timeout=60s');
    await becomes('third', 'UpToDate', 'True/AsSpecified');
    await stage.world.kubectl('delete', 'windowspool', 'third', '--timeout=30s');
    assert.equal(groupIn('planned'), undefined);
  });

  it('that two pools want at the same time becomes that of one, and only that one says so', async () => {
    await legacy('wanted');
    const names = ['left', 'right'];
    const items = names.map((name) => adopting(name, { nodeGroup: { name: 'wanted', adoption: 'IfUnowned' } }));
    await stage.world.apply({ apiVersion: 'v1', kind: 'List', items });
    const reported = async () => {
      const text = await stage.world.kubectl('get', 'events.events.k8s.io', '-n', 'default', '-o', 'json');
      const events: { regarding: { name: string }; reason: string }[] = JSON.parse(text).items;
      return events.filter((event) => event.reason === 'NodeGroupAdopted').map(({ regarding }) => regarding.name);
    };
    const owner = await waitFor(() => groupIn('wanted')?.tags?.['winpool.dev/pool'], {
      what: 'an owner',
      timeoutMs: 30_000,
    });
    const [other = ''] = names.filter((name) => name !== owner);
    const pool = await becomes(other, 'Stalled', 'True/NotOwned');
    assert.match(messageOf(pool, 'Ready'), new RegExp(`belongs to WindowsPool ${owner}\\.`));
    await becomes(owner, 'UpToDate', 'True/AsSpecified');
    await waitFor(async () => (await reported()).includes(owner), { what: 'the event', timeoutMs: 30_000 });
    assert.ok(!(await reported()).includes(other), `${other} says that it has the group`);
    await stage.world.kubectl('delete', 'windowspool', other, '--timeout=30s');
    await stage.world.kubectl('delete', 'windowspool', owner, '--timeout=30s');
  });

  it('is taken when it is DEGRADED, and brought to the spec', async () => {
    await legacy('ailing');
    const issues = [{ code: 'AsgInstanceLaunchFailures' as const, message: 'No capacity', resourceIds: ['eks-asg'] }];
    stage.world.cloud.faults.healthIssue({ group: 'ailing', issues });
    await stage.world.apply(adopting('ailing'));
    const pool = await becomes('ailing', 'UpToDate', 'True/AsSpecified');
    assert.match(messageOf(pool, 'NodeGroupReady'), /is DEGRADED: AsgInstanceLaunchFailures: No capacity/);
    assert.equal(groupIn('ailing')?.tags?.['winpool.dev/pool'], 'ailing');
    assert.equal(groupIn('ailing')?.labels?.tier, 'web');
    await stage.world.kubectl('delete', 'windowspool', 'ailing', '--timeout=30s');
  });

  it('is only reported with driftPolicy Report', async () => {
    await legacy('reported');
    await stage.world.apply(adopting('reported', { driftPolicy: 'Report' }));
    const pool = await becomes('reported', 'UpToDate', 'False/Drifted');
    assert.match(messageOf(pool, 'UpToDate'), /label tier is old and the spec says web; .*set driftPolicy: Correct\.$/);
    assert.deepEqual(pool?.status?.pendingSteps, [
      'update node group reported: labels set tier, winpool.dev/pool, winpool.dev/windows-build; taints set os:NoSchedule; scaling min 1, max 3',
    ]);
    await becomes('reported', 'NodesVerified', 'False/RegistrationTaintMissing');
    assert.deepEqual(writes(), ['TagResource', 'CreateOrUpdateTags']);
    await patch('reported', { driftPolicy: 'Correct' });
    await becomes('reported', 'UpToDate', 'True/AsSpecified');
    await stage.world.kubectl('delete', 'windowspool', 'reported', '--timeout=30s');
  });

  it('that differs in what EKS cannot change says so, is not replaced, and the spec can be put right', async () => {
    await legacy('rigid', { subnets: [subnetIds[2]] });
    await stage.world.apply(adopting('rigid'));
    const pool = await becomes('rigid', 'Stalled', 'True/ImmutableDifference');
    assert.match(messageOf(pool, 'Ready'), /subnets are .* Put the spec right, or create another pool\.$/);
    await patch('rigid', { nodeGroup: { subnets: [{ id: subnetIds[2] }] } });
    await becomes('rigid', 'Ready', 'True/Verified');
    assert.ok(!writes().includes('CreateNodegroup') && !writes().includes('DeleteNodegroup'), writes().join());
    await stage.world.kubectl('delete', 'windowspool', 'rigid', '--timeout=30s');
  });

  const refusals: readonly (readonly [string, string, object, Partial<CreateNodegroupRequest>, string, RegExp])[] = [
    [
      'of another Windows version',
      'older',
      {},
      { amiType: 'WINDOWS_CORE_2019_x86_64' },
      'True/AdoptionRefused',
      /AMI type is WINDOWS_CORE_2019_x86_64 and windowsVersion Windows2022 needs/,
    ],
    [
      'of Linux nodes',
      'linux',
      {},
      { amiType: 'AL2023_x86_64_STANDARD' },
      'True/AdoptionRefused',
      /AMI type is AL2023_x86_64_STANDARD/,
    ],
    [
      'that nobody wants adopted',
      'never',
      { nodeGroup: { adoption: 'Never' } },
      {},
      'True/NotOwned',
      /Set spec\.nodeGroup\.adoption: IfUnowned to take it over/,
    ],
  ];
  for (const [what, name, spec, change, stalled, words] of refusals) {
    it(`${what} is refused and never touched`, async () => {
      await legacy(name, { ...change, scalingConfig: { minSize: 0, maxSize: 1, desiredSize: 0 } });
      await stage.world.apply(adopting(name, spec));
      const pool = await becomes(name, 'Stalled', stalled);
      assert.match(messageOf(pool, 'Ready'), words);
      await stage.world.kubectl('delete', 'windowspool', name, '--timeout=60s');
      assert.deepEqual(writes(), []);
      stage.world.cloud.faults.consoleDelete({ group: name });
    });
  }
});

describe('a pool that waits for the name of a node group', () => {
  // The next poll would be due in ten minutes.
  const stage = withOperator();

  it('makes its own as soon as the pool that has it is gone', async () => {
    await stage.world.apply(poolManifest('holder', { nodeGroup: { name: 'shared' } }));
    await stage.world.waitForPool('holder', 'to be Ready', (pool) => conditionOf(pool, 'Ready') === 'True/Verified');
    await stage.world.apply(poolManifest('waiter', { nodeGroup: { name: 'shared' } }));
    await stage.world.waitForPool('waiter', 'to wait', (pool) => conditionOf(pool, 'Stalled') === 'True/NotOwned');
    await stage.world.kubectl('delete', 'windowspool', 'holder', '--timeout=30s');
    await stage.world.waitForPool('waiter', 'to be Ready', (pool) => conditionOf(pool, 'Ready') === 'True/Verified');
  });
});
