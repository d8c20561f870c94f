import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TestEnv } from '../../hack/testenv/testEnv.ts';
import { existingPool, poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';

type Fields = Record<string, unknown>;
type Spec = Parameters<typeof poolManifest>[1];

const SAMPLES = fileURLToPath(new URL('../../config/samples/', import.meta.url));
const NODE_GROUP = {
  nodeRoleArn: 'arn:aws:iam::111122223333:role/windows-nodes',
  subnets: [{ id: 'subnet-0a1000000000000aa' }],
};

/** A spec that must be rejected, and part of the message with the remedy. */
const refusals: readonly (readonly [what: string, spec: Spec, words: string])[] = [
  [
    'an unknown Windows version',
    { windowsVersion: 'Windows2016' },
    'Unsupported value: "Windows2016": supported values: "Windows2019", "Windows2022", "Windows2025"',
  ],
  ['no role', { nodeGroup: { nodeRoleArn: undefined } }, 'spec.nodeGroup.nodeRoleArn: Required value'],
  [
    'a role that is no ARN',
    { nodeGroup: { nodeRoleArn: 'windows-nodes' } },
    'spec.nodeGroup.nodeRoleArn in body should match',
  ],
  ['no subnet', { nodeGroup: { subnets: [] } }, 'spec.nodeGroup.subnets in body should have at least 1 items'],
  ['a subnet that is no id', { nodeGroup: { subnets: [{ id: 'private-a' }] } }, 'should match'],
  [
    'a subnet twice',
    { nodeGroup: { subnets: [{ id: 'subnet-0a000000' }, { id: 'subnet-0a000000' }] } },
    'Duplicate value',
  ],
  ['an edition that does not exist', { nodeGroup: { edition: 'Nano' } }, 'Unsupported value: "Nano"'],
  [
    'a launch template by id and by name',
    { nodeGroup: { launchTemplate: { id: 'lt-0123456789abcdef0', name: 'windows' } } },
    'name the launch template by its id or by its name, not by both',
  ],
  ['a launch template without a name', { nodeGroup: { launchTemplate: { version: 1 } } }, 'by its id or by its name'],
  [
    'a launch template by no id',
    { nodeGroup: { launchTemplate: { id: 'windows' } } },
    'launchTemplate.id in body should match',
  ],
  [
    'a version that is no number',
    { nodeGroup: { launchTemplate: { name: 'windows', version: '$Newest' } } },
    'launchTemplate.version in body should match',
  ],
  [
    'a version before the first',
    { nodeGroup: { launchTemplate: { name: 'windows', version: 0 } } },
    'launchTemplate.version in body should be greater than or equal to 1',
  ],
  [
    'a disk size beside a launch template',
    { nodeGroup: { launchTemplate: { name: 'windows' }, diskSizeGiB: 100 } },
    'Leave diskSizeGiB out and describe the disk in the template',
  ],
  ['no instance type', { nodeGroup: { instanceTypes: [] } }, 'should have at least 1 items'],
  ['an AWS tag that belongs to AWS', { nodeGroup: { tags: { 'aws:x': 'y' } } }, 'belong to AWS. Choose another key'],
  [
    'a release of another Kubernetes version than the pinned one',
    { nodeGroup: { kubernetesVersion: '1.36', releaseVersion: '1.35-2026.01.22' } },
    'a release begins with its Kubernetes version',
  ],
  ['no node at a time', { disruption: { maxUnavailable: 0 } }, 'spec.disruption.maxUnavailable'],
  ['a drain without a unit', { disruption: { drain: { timeout: '15' } } }, 'spec.disruption.drain.timeout'],
  ['a drain without grace', { disruption: { drain: { gracePeriod: '0s' } } }, 'spec.disruption.drain.gracePeriod'],
  ['no node that may fail', { remediation: { maxUnhealthy: '0%' } }, 'spec.remediation.maxUnhealthy'],
  ['more than all nodes at a time', { disruption: { maxUnavailable: '101%' } }, 'spec.disruption.maxUnavailable'],
  [
    'an update strategy that does not exist',
    { nodeGroup: { update: { strategy: 'MINIMAL' } } },
    'supported values: "Default", "Minimal"',
  ],
  [
    'a maintenance window without a duration',
    { nodeGroup: { update: { maintenanceWindows: [{ schedule: '0 2 * * SAT' }] } } },
    'maintenanceWindows[0].duration: Required value',
  ],
  [
    'a maintenance window that lasts no time',
    { nodeGroup: { update: { maintenanceWindows: [{ schedule: '0 2 * * SAT', duration: '0h' }] } } },
    'maintenanceWindows[0].duration in body should match',
  ],
  [
    'a schedule that is no cron line',
    { nodeGroup: { update: { maintenanceWindows: [{ schedule: '@weekly', duration: '4h' }] } } },
    'maintenanceWindows[0].schedule in body should match',
  ],
  ['a release that is none', { nodeGroup: { releaseVersion: 'latest' } }, 'spec.nodeGroup.releaseVersion'],
  ['a Kubernetes version with a patch', { nodeGroup: { kubernetesVersion: '1.36.1' } }, 'nodeGroup.kubernetesVersion'],
  [
    'an AWS tag that belongs to the operator',
    { nodeGroup: { tags: { 'winpool.dev/pool': 'y' } } },
    'belong to the operator. Choose another key',
  ],
  ['an adoption of what others own', { nodeGroup: { adoption: 'Always' } }, 'Unsupported value: "Always"'],
  ['an unknown drift policy', { driftPolicy: 'Ignore' }, 'supported values: "Correct", "Report"'],
  ['min above max', { scaling: { min: 4, max: 2 } }, 'min must not be greater than max'],
  ['desired above max', { scaling: { min: 1, max: 2, desired: 3 } }, 'desired must lie between min and max'],
  ['max 0', { scaling: { min: 0, max: 0 } }, 'spec.scaling.max in body should be greater than or equal to 1'],
  [
    'a label of Kubernetes',
    { labels: { 'node.kubernetes.io/x': 'y' } },
    'belong to Kubernetes: the kubelet refuses to start with them',
  ],
  ['a label of a Kubernetes subdomain', { labels: { 'kubernetes.io/role': 'y' } }, 'Choose another prefix'],
  ['a label of EKS', { labels: { 'eks.amazonaws.com/nodegroup': 'y' } }, 'belong to EKS and to the operator'],
  ['a label key with a space', { labels: { 'my team': 'y' } }, 'a label key is a name'],
  ['a label without a value, which EKS refuses', { labels: { team: '' } }, 'spec.labels.team'],
  [
    'an unknown taint effect',
    { taints: [{ key: 'gpu', effect: 'NO_SCHEDULE' }] },
    'Unsupported value: "NO_SCHEDULE": supported values: "NoSchedule", "NoExecute", "PreferNoSchedule"',
  ],
  [
    'the registration taint by hand',
    { taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }] },
    'Set registrationTaint instead',
  ],
  [
    'a taint of Kubernetes',
    { taints: [{ key: 'node.kubernetes.io/x', effect: 'NoSchedule' }] },
    'Choose another prefix',
  ],
  [
    'a taint twice',
    {
      taints: [
        { key: 'a', effect: 'NoSchedule' },
        { key: 'a', value: 'b', effect: 'NoSchedule' },
      ],
    },
    'Duplicate value',
  ],
  [
    'a policy that does not exist',
    { verification: { policy: 'Evict' } },
    'Unsupported value: "Evict": supported values: "Report", "Quarantine", "Gate"',
  ],
  ['a check that does not exist', { verification: { warnOnly: ['Weather'] } }, 'Unsupported value: "Weather"'],
  ...['ArrivedUngated', 'ForeignTaint', 'UnsupportedWindowsVersion', 'LittleReservedMemory'].map(
    (check) =>
      [
        `${check}, which always warns, as a check that only warns`,
        { verification: { warnOnly: [check] } },
        `Unsupported value: "${check}"`,
      ] as const,
  ),
  [
    'a reserved memory without a unit',
    { verification: { minimumReservedMemory: '2048' } },
    'verification.minimumReservedMemory in body should match',
  ],
  ['a negative revision', { verification: { minimumRevision: -1 } }, 'spec.verification.minimumRevision'],
  [
    'an instance type twice',
    { nodeGroup: { instanceTypes: ['m5.large', 'm5.large'] } },
    'an instance type stands here twice',
  ],
  [
    'a label key that is too long for EKS',
    { labels: { [`team.example.com/${'x'.repeat(60)}`]: 'y' } },
    'EKS takes at most 63 characters in all',
  ],
  [
    'the name of a shared RuntimeClass',
    { runtimeClass: { scope: 'Pool', name: 'windows-2022' } },
    'Choose another name',
  ],
  ['a name for a shared RuntimeClass', { runtimeClass: { name: 'mine' } }, 'Set scope: Pool to choose a name'],
  [
    'a handler for a shared RuntimeClass',
    { runtimeClass: { handler: 'runhcs-wcow-hypervisor' } },
    'Set scope: Pool to choose a handler',
  ],
  [
    'images of another build on a shared RuntimeClass',
    { windowsVersion: 'Windows2025', runtimeClass: { imageCompatibility: 'Relaxed' } },
    'Set scope: Pool to have images of Windows Server 2022, too',
  ],
  [
    'images of another build before Windows Server 2025',
    { runtimeClass: { scope: 'Pool', imageCompatibility: 'Relaxed' } },
    'only Windows Server 2025 runs images of another build',
  ],
  [
    'a compatibility of images that does not exist',
    { runtimeClass: { imageCompatibility: 'Any' } },
    'Unsupported value: "Any": supported values: "Strict", "Relaxed"',
  ],
  ['the handler docker', { runtimeClass: { scope: 'Pool', handler: 'docker' } }, 'Use runhcs-wcow-process'],
  [
    'an unknown deletion policy',
    { deletionPolicy: 'Orphan' },
    'Unsupported value: "Orphan": supported values: "Delete", "Retain"',
  ],
  ['a field that does not exist', { autoscaling: true }, 'unknown field "spec.autoscaling"'],
];

/** Pools of existing nodes that must be refused: a selector and the rest of the spec. */
const FRA = { matchLabels: { site: 'fra' } };
const refusalsOfExisting: readonly (readonly [what: string, selector: Fields, spec: Fields, words: string])[] = [
  ['both kinds of nodes', FRA, { nodeGroup: NODE_GROUP, scaling: { min: 1, max: 2 } }, 'Set exactly one of the two'],
  ['existing nodes with a size', FRA, { scaling: { min: 1, max: 2 } }, 'Take scaling away'],
  ['existing nodes with a drift policy', FRA, { driftPolicy: 'Report' }, 'driftPolicy is about node groups'],
  ['an empty selector', {}, {}, 'an empty selector would match every Windows node'],
  ['a selector with empty terms', { matchLabels: {}, matchExpressions: [] }, {}, 'Name at least one label'],
  ['the label of a pool', { matchLabels: { 'winpool.dev/pool': 'web' } }, {}, 'Select by other labels'],
  [
    'an expression on the label of a pool',
    { matchExpressions: [{ key: 'winpool.dev/pool', operator: 'Exists' }] },
    {},
    'Select by other labels',
  ],
  ['a label that is none', { matchLabels: { 'my site': 'fra' } }, {}, 'a label key is a name'],
  [
    'In without values',
    { matchExpressions: [{ key: 'a', operator: 'In' }] },
    {},
    'In and NotIn need at least one value',
  ],
  [
    'Exists with values',
    { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
    {},
    'Exists and DoesNotExist take no values',
  ],
  [
    'an unknown operator',
    { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] },
    {},
    'supported values: "In"',
  ],
];

describe('the API server', () => {
  let world: TestEnv;
  before(async function () {
    this.timeout(600_000);
    world = await theWorld();
  });

  for (const [what, spec, words] of refusals) {
    it(`refuses ${what}`, async () => {
      await assert.rejects(
        world.apply(poolManifest('refused', spec), '--dry-run=server', '--validate=strict'),
        (error: Error) => {
          assert.ok(error.message.includes(words), `expected "${words}" in:\n${error.message}`);
          return true;
        },
      );
    });
  }

  for (const [what, selector, spec, words] of refusalsOfExisting) {
    it(`refuses ${what}`, async () => {
      const answer = await answerTo(existingPool('refused', selector, spec), '--dry-run=server', '--validate=strict');
      assert.ok(answer.includes(words), `expected "${words}" in:\n${answer}`);
    });
  }

  for (const sample of globSync('existing-nodes/*.yaml', { cwd: SAMPLES }).sort()) {
    it(`accepts the sample ${sample}`, () =>
      world.kubectl('apply', '-f', `${SAMPLES}${sample}`, '--dry-run=server', '--validate=strict'));
  }

  it('refuses a pool without any nodes, and one that has no size', async () => {
    const bare = { apiVersion: 'winpool.dev/v1alpha1', kind: 'WindowsPool', metadata: { name: 'bare' } };
    const none = await answerTo({ ...bare, spec: { windowsVersion: 'Windows2022' } }, '--dry-run=server');
    assert.match(none, /Set exactly one of the two/);
    const unsaid = { windowsVersion: 'Windows2022', existingNodes: {} };
    const nowhere = await answerTo({ ...bare, spec: unsaid }, '--dry-run=server');
    assert.match(nowhere, /Set selector, instancesConfigMap or both/);
    const unsized = { windowsVersion: 'Windows2022', nodeGroup: NODE_GROUP };
    assert.match(await answerTo({ ...bare, spec: unsized }, '--dry-run=server'), /Set scaling\.min and scaling\.max/);
  });

  it('lets no pool change its kind, and a selector change at any time', async () => {
    await world.apply(existingPool('kind', FRA));
    await world.apply(existingPool('kind', { matchExpressions: [{ key: 'site', operator: 'Exists' }] }));
    const other = { spec: { existingNodes: null, nodeGroup: NODE_GROUP, scaling: { min: 1, max: 2 } } };
    await assert.rejects(
      world.kubectl('patch', 'windowspool', 'kind', '--type=merge', '-p', JSON.stringify(other)),
      /cannot take each other's place/,
    );
    await world.kubectl('delete', 'windowspool', 'kind');
  });

  for (const [name, words] of [
    ['web.prod', 'must be a DNS label'],
    ['a'.repeat(64), 'must be a DNS label'],
  ] as const) {
    it(`refuses the name ${name.slice(0, 10)}`, async () => {
      await assert.rejects(world.apply(poolManifest(name), '--dry-run=server'), new RegExp(words));
    });
  }

  it('accepts the sample and fills in what was left out', async () => {
    await world.apply(poolManifest('defaults'));
    const pool = await world.pool('defaults');
    await world.kubectl('delete', 'windowspool', 'defaults');
    assert.deepEqual(pool?.spec, {
      windowsVersion: 'Windows2022',
      nodeGroup: {
        edition: 'Core',
        nodeRoleArn: 'arn:aws:iam::111122223333:role/windows-nodes',
        subnets: [{ id: 'subnet-0a1000000000000aa' }, { id: 'subnet-0a2000000000000bb' }],
        capacityType: 'OnDemand',
        adoption: 'Never',
        update: { policy: 'Manual', force: false },
        manageAccessEntry: false,
      },
      scaling: { min: 1, max: 3 },
      registrationTaint: true,
      verification: { policy: 'Report' },
      runtimeClass: { manage: true, scope: 'Version', handler: 'runhcs-wcow-process', imageCompatibility: 'Strict' },
      driftPolicy: 'Correct',
      deletionPolicy: 'Delete',
      paused: false,
    });
  });

  it('lets the version of a launch template change at any time', async () => {
    const versioned = (version?: string | number) =>
      poolManifest('template', { nodeGroup: { launchTemplate: { name: 'windows', ...(version && { version }) } } });
    await world.apply(versioned());
    await setStatus('template', { nodeGroup: { name: 'template', status: 'ACTIVE' } });
    assert.equal((await world.pool('template'))?.spec.nodeGroup?.launchTemplate?.version, '$Default');
    for (const version of [3, '4', '$Latest', '$Default']) await world.apply(versioned(version));
    await world.kubectl('delete', 'windowspool', 'template');
  });

  it('keeps another Windows version for another pool', async () => {
    await world.apply(poolManifest('version'));
    await assert.rejects(
      world.apply(poolManifest('version', { windowsVersion: 'Windows2025' })),
      /another Windows version is another pool/,
    );
    await world.kubectl('delete', 'windowspool', 'version');
  });

  const setStatus = (name: string, status: object) =>
    world.kubectl(
      'patch',
      'windowspool',
      name,
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify({ status }),
    );
  const answerTo = (manifest: object, ...flags: readonly string[]) =>
    world.apply(manifest, ...flags).then(
      () => 'accepted',
      (error: Error) => error.message,
    );

  const immutable: readonly (readonly [field: string, nodeGroup: Record<string, unknown>])[] = [
    ['edition', { edition: 'Full' }],
    ['nodeRoleArn', { nodeRoleArn: 'arn:aws:iam::111122223333:role/other' }],
    ['subnets', { subnets: [{ id: 'subnet-0a1000000000000aa' }] }],
    ['instanceTypes', { instanceTypes: ['m5.xlarge'] }],
    ['capacityType', { capacityType: 'Spot' }],
    ['diskSizeGiB', { diskSizeGiB: 100 }],
    ['launchTemplate', { launchTemplate: { name: 'windows' } }],
  ];
  for (const [field, nodeGroup] of immutable) {
    it(`lets ${field} change only while there is no node group, a failed one, or one that differs`, async () => {
      const name = `immutable-${field.toLowerCase()}`;
      await world.apply(poolManifest(name));
      await world.apply(poolManifest(name, { nodeGroup }));
      await setStatus(name, { nodeGroup: { name, status: 'ACTIVE' } });
      const refused = await answerTo(poolManifest(name));
      assert.match(refused, new RegExp(`spec\\.nodeGroup\\.${field}: Invalid value.*Create another WindowsPool`, 's'));
      await setStatus(name, { nodeGroup: { differs: true } });
      await world.apply(poolManifest(name));
      await setStatus(name, { nodeGroup: { status: 'CREATE_FAILED', differs: null } });
      await world.apply(poolManifest(name, { nodeGroup }));
      await world.kubectl('delete', 'windowspool', name);
    });
  }

  it('lets the name of the node group change only until EKS is asked for it', async () => {
    const renamed = poolManifest('renamed', { nodeGroup: { name: 'other' } });
    await world.apply(poolManifest('renamed'));
    await world.apply(renamed);
    await setStatus('renamed', { cluster: { name: 'demo', arn: 'arn:aws:eks:eu-west-1:111122223333:cluster/demo' } });
    await setStatus('renamed', { nodeGroup: { name: 'other', status: 'CREATE_FAILED' } });
    assert.match(
      await answerTo(poolManifest('renamed')),
      /EKS cannot rename a node group.*Create another WindowsPool/s,
    );
    await world.kubectl('delete', 'windowspool', 'renamed');
  });

  it('keeps the names of the shared RuntimeClasses from those of a pool', async () => {
    const own = { runtimeClass: { scope: 'Pool' } };
    assert.match(await answerTo(poolManifest('windows-2019', own)), /has the name of a shared RuntimeClass/);
  });
});
