import assert from 'node:assert/strict';
import type { CreateNodegroupRequest } from '@aws-sdk/client-eks';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { isWrite } from '../awsCalls.ts';
import { nodeRoleArn, subnetIds } from '../fakes/localaws/network.ts';
import { messageOf } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

/** A node group as another client leaves it. */
interface Client {
  readonly client: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Sources: defaults.go of eksctl, values.yaml of ACK's chart, nodegroup.go of Cluster API Provider AWS, main.tf of the Terraform module. */
  readonly tags: Readonly<Record<string, string>>;
  /** The launch template that the client creates for the group. */
  readonly launchTemplate?: string;
}

const uidsOf = (nodes: readonly { readonly metadata?: { readonly uid?: string } }[]) =>
  nodes.map(({ metadata }) => metadata?.uid).sort();

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

  const clients: readonly Client[] = [
    {
      client: 'eksctl',
      name: 'made-by-eksctl',
      labels: { 'alpha.eksctl.io/cluster-name': 'test', 'alpha.eksctl.io/nodegroup-name': 'made-by-eksctl' },
      tags: {
        'alpha.eksctl.io/cluster-name': 'test',
        'alpha.eksctl.io/nodegroup-name': 'made-by-eksctl',
        'alpha.eksctl.io/nodegroup-type': 'managed',
        'aws:cloudformation:stack-name': 'eksctl-test-nodegroup-made-by-eksctl',
      },
      launchTemplate: 'eksctl-test-nodegroup-made-by-eksctl',
    },
    {
      client: 'the Terraform module terraform-aws-eks',
      name: 'windows-2026110112000000000000000a',
      labels: {},
      tags: { Name: 'windows', Environment: 'prod', GithubRepo: 'infrastructure' },
      launchTemplate: 'windows-eks-node-group-2026110112000000000000000b',
    },
    {
      client: 'the Terraform resource aws_eks_node_group without a launch template',
      name: 'made-by-terraform',
      labels: {},
      tags: {},
    },
    {
      client: 'ACK',
      name: 'made-by-ack',
      labels: {},
      tags: { 'services.k8s.aws/controller-version': 'eks-v1.9.0', 'services.k8s.aws/namespace': 'default' },
    },
    {
      client: 'Cluster API Provider AWS',
      name: 'default_windows-pool-0',
      labels: {},
      tags: { 'kubernetes.io/cluster/test': 'owned' },
    },
  ];
  for (const { client, name, labels, tags, launchTemplate } of clients) {
    it(`of ${client} keeps its nodes when a pool adopts it, and gets its labels and tags back with Retain`, async () => {
      if (launchTemplate)
        fixture.world.cloud.faults.launchTemplate({ name: launchTemplate, data: { EbsOptimized: true } });
      const template = launchTemplate ? { launchTemplate: { name: launchTemplate, version: '1' } } : {};
      await legacy(name, { labels, tags: {}, taints: [], ...template });
      const pool = name.replaceAll('_', '-');
      const left = { ...tags, 'winpool.dev/adoptable-by': pool };
      // CreateNodegroup rejects the tags that CloudFormation sets.
      fixture.world.cloud.faults.edit({ group: name, tags: { ...left } });
      const nodesBefore = await fixture.until('the nodes of the group', async () => {
        const nodes = await fixture.world.nodesOf(name);
        return nodes.length === 2 && nodes;
      });
      const nodeGroup = { name, adoption: 'IfUnowned', instanceTypes: ['m5.large'], ...template };
      await fixture.world.apply(poolManifest(pool, { nodeGroup, deletionPolicy: 'Retain' }));
      await becomes(pool, 'UpToDate', 'True/MatchesSpec');
      await becomes(pool, 'Ready', 'True/EnoughNodesVerified');
      assert.deepEqual(
        writes().filter((operation) => operation !== 'CreateOrUpdateTags'),
        ['TagResource', 'UpdateNodegroupConfig'],
      );
      assert.deepEqual(uidsOf(await fixture.world.nodesOf(name)), uidsOf(nodesBefore));
      await fixture.world.kubectl('delete', 'windowspool', pool, '--timeout=60s');
      const { labels: labelsAfter, taints, tags: tagsAfter } = groupIn(name) ?? {};
      assert.deepEqual(
        { labels: labelsAfter ?? {}, taints, tags: tagsAfter },
        { labels, taints: [{ key: 'os', value: 'windows', effect: 'NO_SCHEDULE' }], tags: left },
      );
      assert.deepEqual(uidsOf(await fixture.world.nodesOf(name)), uidsOf(nodesBefore));
      fixture.world.cloud.faults.consoleDelete({ group: name });
    });
  }

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
