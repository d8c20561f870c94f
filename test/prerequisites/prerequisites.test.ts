import assert from 'node:assert/strict';
import { nodeRoleArn, subnetIds } from '../fakes/localaws/network.ts';
import { conditionOf, type TestEnv, windowsIpam } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { awsAuth, LINUX, linuxGroup, withPrerequisites } from './prerequisitesFixture.ts';

/** How a prerequisite is removed and restored, and what the pool reports meanwhile. */
interface Row {
  readonly what: string;
  readonly name: string;
  readonly spec?: Parameters<typeof poolManifest>[1];
  readonly violate: (world: TestEnv) => unknown;
  readonly restore: (world: TestEnv) => unknown;
  readonly reason: string;
  readonly words: RegExp;
}

const rows: readonly Row[] = [
  {
    what: 'EKS publishes an AMI for a version that the operator does not list',
    name: 'newer',
    violate: ({ cloud }) => cloud.faults.cluster({ version: '1.38' }),
    restore: ({ cloud }) => cloud.faults.cluster({ version: '1.36' }),
    reason: 'UnsupportedVersion',
    words: /Windows Server 2022 Core for Kubernetes 1\.38 in eu-west-1\b/,
  },
  {
    what: 'a Linux node accepts pods',
    name: 'nolinux',
    violate: (world) => world.kubectl('cordon', ...LINUX),
    restore: (world) => world.kubectl('uncordon', ...LINUX),
    reason: 'NoLinuxNode',
    words: /No Linux node accepts pods.*\bkubectl uncordon \S+$/,
  },
  {
    what: 'Windows IPAM is enabled in the ConfigMap',
    name: 'ipam',
    violate: (world) => world.apply(windowsIpam(false)),
    restore: (world) => world.apply(windowsIpam(true)),
    reason: 'WindowsIPAMDisabled',
    words: /Windows IPAM is disabled.*\bkubectl -n kube-system patch configmap amazon-vpc-cni\b/,
  },
  {
    what: 'the legacy VPC resource controller is deleted',
    name: 'legacy',
    violate: (world) =>
      world.kubectl('-n', 'kube-system', 'create', 'deployment', 'vpc-resource-controller', '--image=old'),
    restore: (world) => world.kubectl('-n', 'kube-system', 'delete', 'deployment', 'vpc-resource-controller'),
    reason: 'LegacyResourceController',
    words: /Deployment kube-system\/vpc-resource-controller exists/,
  },
  {
    what: 'aws-auth maps the node role to its groups, without access entries',
    name: 'awsauth',
    violate: async (world) => {
      world.cloud.faults.cluster({ authenticationMode: 'CONFIG_MAP' });
      await world.apply(awsAuth(['system:bootstrappers', 'system:nodes']));
    },
    restore: (world) => world.apply(awsAuth(['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'])),
    reason: 'NodeAccessInvalid',
    words: /maps node role \S+ without eks:kube-proxy-windows/,
  },
  {
    what: 'the subnets have free addresses for the prefixes of the nodes',
    name: 'prefixes',
    violate: async (world) => {
      for (const id of subnetIds) world.cloud.faults.subnet({ id, freeAddresses: 5 });
      await world.apply(windowsIpam(true, { 'enable-windows-prefix-delegation': 'true' }));
    },
    restore: (world) => world.apply(windowsIpam(true)),
    reason: 'TooFewAddresses',
    words: /\b10 free IP addresses\b.*\b1 more node\b.*\b17 \(145\b.*\/28\b/,
  },
];

describe('the prerequisites of a pool', () => {
  const { fixture, is, message, remove, creations, measured } = withPrerequisites();

  for (const { what, name, spec, violate, restore, reason, words } of rows) {
    it(`${what}: nothing is created before, and the pool continues after that`, async () => {
      fixture.world.cloud.resetCalls();
      await violate(fixture.world);
      await fixture.world.apply(poolManifest(name, spec));
      await is(name, 'PrerequisitesMet', `False/${reason}`);
      await is(name, 'Ready', `False/${reason}`);
      assert.match(await message(name, 'PrerequisitesMet'), words);
      assert.match(await message(name, 'PrerequisitesMet'), /See https:\/\/\S+\/reference\/checks\.md#[a-z0-9-]+\./);
      assert.ok((await measured(name)).includes(`False/${reason}`), `the metric of ${reason}`);
      assert.equal(creations(name), 0);
      await restore(fixture.world);
      await is(name, 'Ready', 'True/EnoughNodesVerified');
      assert.equal(conditionOf(await fixture.world.pool(name), 'PrerequisitesMet'), 'True/Met');
      assert.deepEqual(await measured(name), []);
      assert.equal(creations(name), 1);
      await remove(name);
    });
  }

  it('can be ignored with the annotation, which the status, an event and the metric report', async () => {
    await linuxGroup(fixture.world, 'linux', nodeRoleArn);
    await fixture.world.apply(poolManifest('ignoring'));
    await is('ignoring', 'PrerequisitesMet', 'False/NodeRoleShared');
    const ignore = (reason: string) =>
      fixture.world.kubectl(
        'annotate',
        'windowspool',
        'ignoring',
        `winpool.dev/ignore-prerequisites=${reason}`,
        '--overwrite',
      );
    await ignore('NodeRoleShard');
    await fixture.world.waitForPool('ignoring', 'to suggest the right name', (pool) =>
      /NodeRoleShard \(did you mean NodeRoleShared\?\)/.test(JSON.stringify(pool?.status?.conditions)),
    );
    assert.equal(creations('ignoring'), 0);
    await ignore('NodeRoleShared');
    await is('ignoring', 'PrerequisitesMet', 'True/PrerequisitesIgnored');
    await is('ignoring', 'Ready', 'True/EnoughNodesVerified');
    assert.deepEqual(await measured('ignoring'), ['Ignored/NodeRoleShared']);
    assert.notDeepEqual(await fixture.world.notesOf('PrerequisitesIgnored'), []);
    await remove('ignoring');
  });

  it('of a Ready pool are read again at once when the user requests another attempt', async () => {
    await fixture.world.apply(poolManifest('again'));
    await is('again', 'Ready', 'True/EnoughNodesVerified');
    fixture.world.cloud.faults.accessEntry({ type: 'EC2_LINUX' });
    await fixture.world.kubectl('annotate', 'windowspool', 'again', 'winpool.dev/retry=1');
    await is('again', 'PrerequisitesMet', 'False/NodeAccessInvalid');
    fixture.world.cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
    await is('again', 'PrerequisitesMet', 'True/Met');
    await remove('again');
  });

  it('include an access entry that the operator creates if the spec says so, and keeps when the pool is deleted', async () => {
    fixture.world.cloud.faults.accessEntry({ exists: false });
    await fixture.world.apply(poolManifest('manages', { nodeGroup: { accessEntryManagement: 'Operator' } }));
    await is('manages', 'Ready', 'True/EnoughNodesVerified');
    assert.equal(fixture.world.cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_WINDOWS');
    await remove('manages');
    assert.equal(fixture.world.cloud.state.accessEntries.get(nodeRoleArn)?.type, 'EC2_WINDOWS');
  });
});
