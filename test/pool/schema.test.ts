import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chosenSeries } from '../../hack/controlplane/binaries.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { existingPool, karpenterPool, machinesPool, poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';

type Fields = Record<string, unknown>;
type Spec = Parameters<typeof poolManifest>[1];

const SAMPLES = fileURLToPath(new URL('../../config/samples/', import.meta.url));
const NODE_GROUP = {
  nodeRole: 'windows-nodes',
  subnets: [{ id: 'subnet-0a1000000000000aa' }],
};
const SIZE = { minSize: 1, maxSize: 2 };

/** A spec that must be rejected, and part of the message with the remedy. */
const refusals: readonly (readonly [what: string, spec: Spec, words: string])[] = [
  [
    'an unknown Windows version',
    { windowsVersion: 'Windows2016' },
    'spec.windowsVersion: Unsupported value: "Windows2016"',
  ],
  ['no role', { nodeGroup: { nodeRole: undefined } }, 'spec.nodeGroup.nodeRole: Required value'],
  [
    'a role with a path that is not an ARN',
    { nodeGroup: { nodeRole: 'nodes/windows' } },
    'spec.nodeGroup.nodeRole in body should match',
  ],
  ['no subnet', { nodeGroup: { subnets: [] } }, 'spec.nodeGroup.subnets in body should have at least 1 items'],
  ['an invalid subnet ID', { nodeGroup: { subnets: [{ id: 'private-a' }] } }, 'should match'],
  [
    'a subnet twice',
    { nodeGroup: { subnets: [{ id: 'subnet-0a000000' }, { id: 'subnet-0a000000' }] } },
    'subnets must be unique. Remove the duplicate',
  ],
  [
    'a subnet by ID and by tags',
    { nodeGroup: { subnets: [{ id: 'subnet-0a000000', tags: { tier: 'private' } }] } },
    'set either id or tags in each item',
  ],
  ['a subnet without ID and tags', { nodeGroup: { subnets: [{}] } }, 'set either id or tags in each item'],
  ['a subnet with empty tags', { nodeGroup: { subnets: [{ tags: {} }] } }, 'should have at least 1 properties'],
  ['an edition that does not exist', { nodeGroup: { edition: 'Nano' } }, 'Unsupported value: "Nano"'],
  [
    'a launch template with ID and name',
    { nodeGroup: { launchTemplate: { id: 'lt-0123456789abcdef0', name: 'windows' } } },
    'set either id or name of the launch template',
  ],
  ['a launch template without a name', { nodeGroup: { launchTemplate: { version: 1 } } }, 'set either id or name'],
  [
    'an invalid launch template ID',
    { nodeGroup: { launchTemplate: { id: 'windows' } } },
    'launchTemplate.id in body should match',
  ],
  [
    'a version that is not a number',
    { nodeGroup: { launchTemplate: { name: 'windows', version: '$Newest' } } },
    'launchTemplate.version in body should match',
  ],
  [
    'the version 0',
    { nodeGroup: { launchTemplate: { name: 'windows', version: 0 } } },
    'launchTemplate.version in body should be greater',
  ],
  [
    'a disk size together with a launch template',
    { nodeGroup: { launchTemplate: { name: 'windows' }, diskSizeGiB: 100 } },
    'Remove diskSizeGiB, and set the disk in the template',
  ],
  ...[
    { ami: { id: 'ami-0a000000' } },
    { disk: {} },
    { metadataOptions: {} },
    { securityGroups: [{ id: 'sg-0a000000' }] },
    { instanceTags: { team: 'web' } },
    { userData: { configMap: 'windows' } },
    { kubelet: { maxPods: 30 } },
  ].flatMap((launchSettings): (typeof refusals)[number][] => {
    const [field] = Object.keys(launchSettings);
    return [
      [
        `${field} together with a launch template`,
        { nodeGroup: { launchTemplate: { name: 'windows' }, ...launchSettings } },
        'set either launchTemplate, or launch settings',
      ],
      [
        `${field} together with diskSizeGiB`,
        { nodeGroup: { diskSizeGiB: 100, ...launchSettings } },
        'Remove diskSizeGiB, and set disk.sizeGiB',
      ],
    ];
  }),
  ['an AMI without an ID', { nodeGroup: { ami: {} } }, 'set either id or ssmParameter of the AMI'],
  [
    'an AMI by ID and by parameter',
    { nodeGroup: { ami: { id: 'ami-0a000000', ssmParameter: '/windowspool/golden' } } },
    'set either id or ssmParameter of the AMI',
  ],
  ['an invalid parameter', { nodeGroup: { ami: { ssmParameter: 'my golden' } } }, 'ssmParameter in body should match'],
  ['an invalid ID of an AMI', { nodeGroup: { ami: { id: 'web' } } }, 'ami.id in body should match'],
  ...[{ releaseVersion: '1.36-2026.03.17' }, { kubernetesVersion: '1.36' }].map((pin): (typeof refusals)[number] => [
    `an AMI together with ${Object.keys(pin)[0]}`,
    { nodeGroup: { ami: { id: 'ami-0a000000' }, ...pin } },
    'Remove releaseVersion and kubernetesVersion, or remove ami',
  ]),
  [
    'an AMI together with a warm pool',
    { nodeGroup: { ami: { id: 'ami-0a000000' }, warmPool: {} } },
    'EKS does not support warm pools with custom AMIs',
  ],
  [
    'a disk that is smaller than the AMI',
    { nodeGroup: { disk: { sizeGiB: 30 } } },
    'disk.sizeGiB in body should be greater than or equal to 50',
  ],
  ['a volume type of data disks', { nodeGroup: { disk: { type: 'st1' } } }, 'Unsupported value: "st1"'],
  ['io2 without iops', { nodeGroup: { disk: { type: 'io2' } } }, 'io1 and io2 volumes require iops'],
  ...[{ iops: 2999 }, { iops: 80_001 }, { type: 'io1', iops: 64_001 }, { type: 'gp2', iops: 3000 }].map(
    (disk): (typeof refusals)[number] => [
      `${JSON.stringify(disk)} of a disk`,
      { nodeGroup: { disk } },
      'iops must be 3000 to 80000 for gp3',
    ],
  ),
  [
    'a throughput of gp2',
    { nodeGroup: { disk: { type: 'gp2', throughput: 125 } } },
    'only gp3 volumes have a throughput',
  ],
  [
    'a key for a disk that is not encrypted',
    { nodeGroup: { disk: { encrypted: false, kmsKeyID: 'alias/disks' } } },
    'kmsKeyID requires encrypted: true',
  ],
  ['an invalid key', { nodeGroup: { disk: { kmsKeyID: 'my key' } } }, 'disk.kmsKeyID in body should match'],
  ['an unknown IMDS version', { nodeGroup: { metadataOptions: { httpTokens: 'required' } } }, 'supported values'],
  ['no security group', { nodeGroup: { securityGroups: [] } }, 'should have at least 1 items'],
  ['an invalid security group ID', { nodeGroup: { securityGroups: [{ id: 'web' }] } }, 'should match'],
  [
    'a security group twice',
    { nodeGroup: { securityGroups: [{ id: 'sg-0a000000' }, { id: 'sg-0a000000' }] } },
    'security groups must be unique. Remove the duplicate',
  ],
  [
    'a security group by ID and by tags',
    { nodeGroup: { securityGroups: [{ id: 'sg-0a000000', tags: { tier: 'windows' } }] } },
    'set either id or tags in each item',
  ],
  [
    'settings of the kubelet together with a release',
    { nodeGroup: { kubelet: { maxPods: 30 }, releaseVersion: '1.36-2026.02.11' } },
    'accepts neither a release nor a Kubernetes',
  ],
  [
    'settings of the kubelet together with a warm pool',
    { nodeGroup: { kubelet: { maxPods: 30 }, warmPool: {} } },
    'EKS does not support warm pools with custom AMIs',
  ],
  ...(
    [
      [{}, 'should have at least 1 properties'],
      [{ maxPods: 251 }, 'should be less than or equal to 250'],
      [{ systemReserved: { pid: '100' } }, 'cpu, memory and ephemeral-storage'],
      [{ kubeReserved: { memory: '2Gb' } }, 'kubeReserved.memory in body should match'],
      [{ systemReserved: { memory: '-2Gi' } }, 'systemReserved.memory in body should match'],
      [{ evictionHard: { 'pid.available': '10%' } }, 'on Windows, the kubelet has the eviction signals'],
      [{ evictionHard: { 'memory.available': '100%' } }, 'in body should match'],
      [{ evictionHard: { 'nodefs.available': '0' } }, 'the kubelet does not start with a threshold of zero bytes'],
      [{ evictionHard: { 'memory.available': '0.0Gi' } }, 'the kubelet does not start with a threshold of zero bytes'],
      [{ extraArgs: { 'max-pods': '250' } }, 'other fields of the pool set node-labels'],
      [{ extraArgs: { 'node-labels': 'a=b' } }, 'other fields of the pool set node-labels'],
      [{ extraArgs: { kubeconfig: 'x' } }, 'only arguments that tune the kubelet are accepted'],
      [{ extraArgs: { 'manifest-url': 'x' } }, 'only arguments that tune the kubelet are accepted'],
      [{ extraArgs: { 'image-credential-provider-bin-dir': 'x' } }, 'use your own launchTemplate'],
      [{ extraArgs: { v: 'http://x' } }, 'extraArgs.v in body should match'],
      [{ extraArgs: { '--v': '4' } }, 'without leading dashes'],
      [{ extraArgs: { v: '4 --kubeconfig=x' } }, 'extraArgs.v in body should match'],
      [{ extraArgs: { v: "'" } }, 'extraArgs.v in body should match'],
    ] as const
  ).map(([kubelet, message]): (typeof refusals)[number] => [
    `kubelet ${JSON.stringify(kubelet)}`,
    { nodeGroup: { ami: { id: 'ami-0123456789abcdef0' }, kubelet } },
    message,
  ]),
  ['a script without a ConfigMap', { nodeGroup: { userData: {} } }, 'userData.configMap: Required value'],
  ...['role/nodes; curl x', 'role/$(curl x)', 'role/nodes`x`'].map((role): (typeof refusals)[number] => [
    `the node role ${role}`,
    { nodeGroup: { nodeRole: `arn:aws:iam::111122223333:${role}` } },
    'spec.nodeGroup.nodeRole in body should match',
  ]),
  [
    'a ConfigMap of another namespace',
    { nodeGroup: { userData: { configMap: 'kube-system/windows' } } },
    'userData.configMap in body should match',
  ],
  [
    'a script after the bootstrap of EKS',
    { nodeGroup: { userData: { configMap: 'windows', phase: 'AfterBootstrap' } } },
    'unless the pool has a custom AMI',
  ],
  ['no instance tag', { nodeGroup: { instanceTags: {} } }, 'should have at least 1 properties'],
  ['an instance tag without a key', { nodeGroup: { instanceTags: { '': 'x' } } }, 'must have 1 to 128 characters'],
  [
    'an instance tag that EKS sets',
    { nodeGroup: { instanceTags: { 'eks:cluster-name': 'x' } } },
    'prefixes "aws:" and "eks:" are reserved for AWS',
  ],
  [
    'an instance tag of the operator',
    { nodeGroup: { instanceTags: { 'winpool.dev/pool': 'x' } } },
    'reserved for the operator. Choose another key',
  ],
  ['no instance type', { nodeGroup: { instanceTypes: [] } }, 'should have at least 1 items'],
  [
    'a tag with a reserved prefix of AWS',
    { nodeGroup: { tags: { 'aws:x': 'y' } } },
    'reserved for AWS. Choose another key',
  ],
  [
    'a release of another Kubernetes version than the pinned one',
    { nodeGroup: { kubernetesVersion: '1.36', releaseVersion: '1.35-2026.01.22' } },
    'releaseVersion must start with kubernetesVersion',
  ],
  ['maxUnavailable 0', { disruption: { maxUnavailable: 0 } }, 'spec.disruption.maxUnavailable'],
  ['a drain without a unit', { disruption: { drain: { timeout: '15' } } }, 'spec.disruption.drain.timeout'],
  [
    'a grace period of years',
    { disruption: { drain: { gracePeriod: '999999h' } } },
    'spec.disruption.drain.gracePeriod',
  ],
  ['a grace period of 0', { disruption: { drain: { gracePeriod: '0s' } } }, 'spec.disruption.drain.gracePeriod'],
  ['maxUnhealthy 0', { remediation: { maxUnhealthy: '0%' } }, 'spec.remediation.maxUnhealthy'],
  [
    'more than 100% of the nodes at a time',
    { disruption: { maxUnavailable: '101%' } },
    'spec.disruption.maxUnavailable',
  ],
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
    'a maintenance window with duration 0',
    { nodeGroup: { update: { maintenanceWindows: [{ schedule: '0 2 * * SAT', duration: '0h' }] } } },
    // Kubernetes 1.34 names the type in place of the value.
    `maintenanceWindows[0].duration: Invalid value: ${chosenSeries() === '1.34' ? '"string"' : '"0h"'}: must be from 1m to 168h`,
  ],
  [
    'a canary without nodes',
    { nodeGroup: { update: { canary: { nodes: 0 } } } },
    'update.canary.nodes in body should be greater',
  ],
  [
    'a canary of more than 10 nodes',
    { nodeGroup: { update: { canary: { nodes: 11 } }, scaling: { maxSize: 20 } } },
    'update.canary.nodes in body should be less',
  ],
  [
    'a canary with more nodes than the pool may have',
    { nodeGroup: { update: { canary: { nodes: 4 } } } },
    'the canary must not have more nodes than scaling.maxSize',
  ],
  ...['59s', '169h'].map((soakDuration): (typeof refusals)[number] => [
    `a canary that is watched for ${soakDuration}`,
    { nodeGroup: { update: { canary: { soakDuration } } } },
    'must be from 1m to 168h',
  ]),
  // Extensions of cron, some of which take long to find that a date never occurs.
  ...['@weekly', '0 0 1W * *', '0 0 L * *', '0 0 * * MON#2', '0 0 ? * *', '0 0 * * +SUN', '0 2 * *'].map(
    (schedule): (typeof refusals)[number] => [
      `the cron schedule ${schedule}`,
      { nodeGroup: { update: { maintenanceWindows: [{ schedule, duration: '4h' }] } } },
      'maintenanceWindows[0].schedule in body should match',
    ],
  ),
  [
    'a maintenance window of more than a week',
    { nodeGroup: { update: { maintenanceWindows: [{ schedule: '0 2 * * SAT', duration: '169h' }] } } },
    'must be from 1m to 168h',
  ],
  ...['http://169.254.169.254/latest', 'https://a@169.254.170.23/v1', 'http://[fd00:ec2::254]/'].map(
    (serviceURL): (typeof refusals)[number] => [
      `the metadata of instances at ${serviceURL} as a Service`,
      { verification: { smokeTest: { image: 'example.com/test:1', serviceURL } } },
      'not of the metadata of instances',
    ],
  ),
  [
    'a tag that is no key of an object',
    { nodeGroup: { tags: JSON.parse('{"__proto__":"v"}') } },
    'a tag key must not be __proto__',
  ],
  ...['karpenter.sh/disrupted', 'ToBeDeletedByClusterAutoscaler', 'DeletionCandidateOfClusterAutoscaler'].map(
    (key): (typeof refusals)[number] => [
      `the taint ${key}`,
      { taints: [{ key, value: 'x', effect: 'NoSchedule' }] },
      'mark nodes that they remove',
    ],
  ),
  ['a label of Karpenter', { labels: { 'karpenter.sh/nodepool': 'x' } }, 'reserved for Karpenter'],
  ['a drain of years', { disruption: { drain: { timeout: '999999h' } } }, 'must be from 1m to 24h'],
  ...['subnets', 'securityGroups'].map((field): (typeof refusals)[number] => [
    `a tag key of 129 characters in ${field}`,
    { nodeGroup: { [field]: [{ tags: { ['k'.repeat(129)]: 'v' } }] } },
    'a tag key must have 1 to 128 characters',
  ]),
  ['an invalid release', { nodeGroup: { releaseVersion: 'latest' } }, 'spec.nodeGroup.releaseVersion'],
  [
    'a Kubernetes version with a patch version',
    { nodeGroup: { kubernetesVersion: '1.36.1' } },
    'nodeGroup.kubernetesVersion',
  ],
  [
    'a reserved tag of the operator',
    { nodeGroup: { tags: { 'winpool.dev/pool': 'y' } } },
    'reserved for the operator. Choose another key',
  ],
  ['an unknown adoption', { nodeGroup: { adoption: 'Always' } }, 'Unsupported value: "Always"'],
  ['an unknown drift policy', { nodeGroup: { driftPolicy: 'Ignore' } }, 'supported values: "Correct", "Report"'],
  ['min above max', { nodeGroup: { scaling: { minSize: 4, maxSize: 2 } } }, 'minSize must not be greater than maxSize'],
  [
    'desired above max',
    { nodeGroup: { scaling: { minSize: 1, maxSize: 2, desiredSize: 3 } } },
    'desiredSize must be between minSize and maxSize',
  ],
  [
    'a warm pool whose minimum is above its capacity',
    { nodeGroup: { warmPool: { minSize: 3, maxGroupPreparedCapacity: 2 } } },
    'minSize must not be greater than maxGroupPreparedCapacity',
  ],
  [
    'a warm pool of bare metal instances that hibernate',
    { nodeGroup: { instanceTypes: ['m5.large', 'm5.metal'], warmPool: { poolState: 'Hibernated' } } },
    'Set poolState to Stopped or Running',
  ],
  [
    'a state of a warm pool as EKS spells it',
    { nodeGroup: { warmPool: { poolState: 'STOPPED' } } },
    'supported values: "Stopped", "Running", "Hibernated"',
  ],
  [
    'max 0',
    { nodeGroup: { scaling: { minSize: 0, maxSize: 0 } } },
    'spec.nodeGroup.scaling.maxSize in body should be greater',
  ],
  ['a label of Kubernetes', { labels: { 'node.kubernetes.io/x': 'y' } }, 'the kubelet refuses to start with them'],
  ['a label of a Kubernetes subdomain', { labels: { 'kubernetes.io/role': 'y' } }, 'Choose another prefix'],
  ['a label of EKS', { labels: { 'eks.amazonaws.com/nodegroup': 'y' } }, 'reserved for EKS and the operator'],
  ['a label key with a space', { labels: { 'my team': 'y' } }, 'a label key must be a name'],
  ['a label without a value, which EKS rejects', { labels: { team: '' } }, 'spec.labels.team'],
  [
    'an unknown taint effect',
    { taints: [{ key: 'gpu', effect: 'NO_SCHEDULE' }] },
    'spec.taints[0].effect: Unsupported value: "NO_SCHEDULE"',
  ],
  [
    'a taint that evicts running pods',
    { taints: [{ key: 'gpu', effect: 'NoExecute' }] },
    'spec.taints[0].effect: Unsupported value: "NoExecute"',
  ],
  [
    'the registration taint',
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
    'spec.verification.policy: Unsupported value: "Evict"',
  ],
  ['a check that does not exist', { verification: { warnOnly: ['Weather'] } }, 'Unsupported value: "Weather"'],
  ...['Ready', 'winpool.dev/Verified'].map(
    (type) =>
      [
        `${type}, which is always checked, as a required condition`,
        { verification: { requiredConditions: [{ type, status: 'True' }] } },
        'Ready is always checked',
      ] as const,
  ),
  [
    'a required condition without a status',
    { verification: { requiredConditions: [{ type: 'AntivirusReady' }] } },
    'verification.requiredConditions[0].status: Required value',
  ],
  [
    'a condition that makes nodes unhealthy with a status that does not exist',
    { verification: { unhealthyConditions: [{ type: 'DiskPressure', status: 'true' }] } },
    'unhealthyConditions[0].status: Unsupported value: "true"',
  ],
  ...[
    'GateTaintMissing',
    'KubeletReservationMismatch',
    'MaxPodsMismatch',
    'ForeignTaint',
    'UnsupportedWindowsVersion',
    'ReservedMemoryTooLow',
    'NodePressure',
  ].map(
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
  ['a pull of no images', { verification: { imagePrePull: {} } }, 'List images in requiredImages'],
  [
    'a pull that may take no time',
    { verification: { requiredImages: ['nginx'], imagePrePull: { timeout: '30s' } } },
    'timeout must be from 1m to 24h',
  ],
  [
    'a pull that may take days',
    { verification: { requiredImages: ['nginx'], imagePrePull: { timeout: '25h' } } },
    'timeout must be from 1m to 24h',
  ],
  [
    'a pull with a Secret twice',
    {
      verification: {
        requiredImages: ['nginx'],
        imagePrePull: { imagePullSecrets: [{ name: 'registry' }, { name: 'registry' }] },
      },
    },
    'Duplicate value',
  ],
  ['a smoke test without an image', { verification: { smokeTest: {} } }, 'smokeTest.image: Required value'],
  [
    'a smoke test of something else than a URL',
    { verification: { smokeTest: { image: 'nano', serviceURL: '--upload-file C:\\secret' } } },
    'smokeTest.serviceURL in body should match',
  ],
  [
    'a smoke test that may take no time',
    { verification: { smokeTest: { image: 'nano', timeout: '1s' } } },
    'timeout must be from 1m to 24h',
  ],
  ['a negative revision', { verification: { minimumRevision: -1 } }, 'spec.verification.minimumRevision'],
  [
    'an instance type twice',
    { nodeGroup: { instanceTypes: ['m5.large', 'm5.large'] } },
    'instance types must be unique. Remove the duplicate',
  ],
  [
    'a label key that is too long for EKS',
    { labels: { [`team.example.com/${'x'.repeat(60)}`]: 'y' } },
    'EKS accepts at most 63 characters in total',
  ],
  ['the name of a shared RuntimeClass', { runtimeClass: { name: 'windows-2022' } }, 'Choose another name'],
  [
    'a handler for a shared RuntimeClass',
    { runtimeClass: { handler: 'runhcs-wcow-hypervisor' } },
    'Set runtimeClass.name to use another handler',
  ],
  ['the handler docker', { runtimeClass: { name: 'mine', handler: 'docker' } }, 'Use runhcs-wcow-process'],
  ['an unknown deletion policy', { deletionPolicy: 'Orphan' }, 'spec.deletionPolicy: Unsupported value: "Orphan"'],
  ['a field that does not exist', { autoscaling: true }, 'unknown field "spec.autoscaling"'],
];

/** Pools of existing nodes that must be rejected: a selector and the rest of the spec. */
const FRA = { matchLabels: { site: 'fra' } };
const refusalsOfExisting: readonly (readonly [what: string, selector: Fields, spec: Fields, words: string])[] = [
  [
    'both nodeGroup and existingNodes',
    FRA,
    { nodeGroup: { ...NODE_GROUP, scaling: SIZE } },
    'set exactly one of nodeGroup',
  ],
  [
    'remediation that replaces existing nodes',
    FRA,
    { remediation: { policy: 'Replace' } },
    'Set remediation.policy: Report to have them reported',
  ],
  ['an empty selector', {}, {}, 'an empty selector would match every Windows node'],
  ['a selector with empty terms', { matchLabels: {}, matchExpressions: [] }, {}, 'Add at least one label'],
  ['the label of a pool', { matchLabels: { 'winpool.dev/pool': 'web' } }, {}, 'Select by other labels'],
  [
    'an expression on the label of a pool',
    { matchExpressions: [{ key: 'winpool.dev/pool', operator: 'Exists' }] },
    {},
    'Select by other labels',
  ],
  ['an invalid label', { matchLabels: { 'my site': 'fra' } }, {}, 'a label key must be a name'],
  [
    'In without values',
    { matchExpressions: [{ key: 'a', operator: 'In' }] },
    {},
    'In and NotIn require at least one value',
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

/** Pools of machines that must be rejected: changes of the reference, and the rest of the spec. */
const refusalsOfMachines: readonly (readonly [what: string, ref: Fields, spec: Fields, words: string])[] = [
  ['both machines and existingNodes', {}, { existingNodes: { selector: FRA } }, 'set exactly one of nodeGroup'],
  ['an API without machines', { apiVersion: 'apps/v1' }, {}, 'supported values: "cluster.x-k8s.io/v1beta2"'],
  ['a kind without machines', { kind: 'Machine' }, {}, 'supported values: "MachineDeployment", "MachineSet"'],
  [
    'a MachineDeployment of OpenShift',
    { apiVersion: 'machine.openshift.io/v1beta1' },
    {},
    'the Machine API of OpenShift has only MachineSets. Set kind: MachineSet',
  ],
  [
    'a gate on OpenShift',
    { apiVersion: 'machine.openshift.io/v1beta1', kind: 'MachineSet' },
    { verification: { policy: 'Gate' } },
    'Set verification.policy: Quarantine',
  ],
  [
    'an update of a MachineSet',
    {},
    {
      machines: {
        ref: { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'MachineSet', namespace: 'clusters', name: 'windows' },
        update: { policy: 'Automatic' },
      },
    },
    'only a MachineDeployment',
  ],
  ['a name that is no name', { name: 'Windows Nodes' }, {}, 'spec.machines.ref.name'],
];

const MACHINE_TEMPLATE = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'MachineDeployment',
  metadata: { namespace: 'clusters', name: 'windows' },
  spec: { clusterName: 'prod', template: { spec: { anything: [{ at: 'all' }] } } },
};
const INFRASTRUCTURE_TEMPLATE = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind: 'AzureMachineTemplate',
  spec: { template: { spec: { vmSize: 'Standard_D2s_v3' } } },
};

/** Machines of pools that must be rejected, with another template. */
const refusalsOfTemplates: readonly (readonly [what: string, machines: Fields, words: string])[] = [
  ['neither a ref nor a template', { template: undefined }, 'set exactly one of ref'],
  [
    'both a ref and a template',
    { ref: { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'MachineSet', namespace: 'a', name: 'a' } },
    'set exactly one of ref',
  ],
  [
    'a MachineDeployment of OpenShift as a template',
    { template: { ...MACHINE_TEMPLATE, apiVersion: 'machine.openshift.io/v1beta1' } },
    'has only MachineSets',
  ],
  [
    'an infrastructure template of a MachinePool',
    { template: { ...MACHINE_TEMPLATE, kind: 'MachinePool', infrastructureTemplate: INFRASTRUCTURE_TEMPLATE } },
    'only a MachineDeployment or MachineSet of Cluster API has an infrastructure template',
  ],
  [
    'an infrastructure template of another kind',
    { template: { ...MACHINE_TEMPLATE, infrastructureTemplate: { ...INFRASTRUCTURE_TEMPLATE, kind: 'Secret' } } },
    'spec.machines.template.infrastructureTemplate.kind',
  ],
  [
    'an update of a template of a MachineSet',
    { template: { ...MACHINE_TEMPLATE, kind: 'MachineSet' }, update: { policy: 'Automatic' } },
    'only a MachineDeployment',
  ],
  [
    'a label of the operator in a template',
    {
      template: {
        ...MACHINE_TEMPLATE,
        metadata: { ...MACHINE_TEMPLATE.metadata, labels: { 'winpool.dev/pool': 'other' } },
      },
    },
    'are reserved for the operator',
  ],
];

const NODE_CLASS = {
  role: 'KarpenterWindowsNodeRole-prod',
  subnets: [{ tags: { 'karpenter.sh/discovery': 'prod' } }],
  securityGroups: [{ tags: { 'karpenter.sh/discovery': 'prod' } }],
  ami: { id: 'ami-0123456789abcdef0' },
};

/** A node class that the operator creates, with these changes. */
function ownNodeClass(change: object): Fields {
  return { nodeClassRef: undefined, nodeClass: { ...NODE_CLASS, ...change } };
}

/** Pools of Karpenter that must be rejected: changes of spec.karpenter, and the rest of the spec. */
const refusalsOfKarpenter: readonly (readonly [what: string, karpenter: Fields, spec: Fields, words: string])[] = [
  ['both karpenter and existingNodes', {}, { existingNodes: { selector: FRA } }, 'set exactly one of nodeGroup'],
  ['a node class without a reference', { nodeClassRef: undefined }, {}, 'set exactly one of nodeClass'],
  ['both a node class and a reference', { nodeClass: NODE_CLASS }, {}, 'set exactly one of nodeClass'],
  ['an AMI without an ID and a parameter', ownNodeClass({ ami: {} }), {}, 'set either id or ssmParameter of the AMI'],
  [
    'an AMI with both an ID and a parameter',
    ownNodeClass({ ami: { ...NODE_CLASS.ami, ssmParameter: '/windowspool/golden' } }),
    {},
    'set either id or ssmParameter of the AMI',
  ],
  ['user data without a ConfigMap', ownNodeClass({ userData: {} }), {}, 'userData.configMap: Required value'],
  [
    'a setting of the kubelet that Windows does not have',
    ownNodeClass({ kubelet: { cpuCFSQuota: false } }),
    {},
    'unknown field "spec.karpenter.nodeClass.kubelet.cpuCFSQuota"',
  ],
  [
    'soft eviction thresholds without grace periods',
    ownNodeClass({ kubelet: { evictionSoft: { 'memory.available': '1Gi' } } }),
    {},
    'set evictionSoft and evictionSoftGracePeriod together',
  ],
  [
    'a grace period of another threshold',
    ownNodeClass({
      kubelet: {
        evictionSoft: { 'memory.available': '1Gi' },
        evictionSoftGracePeriod: { 'nodefs.available': '2m' },
      },
    }),
    {},
    'must have the same names',
  ],
  [
    'an image garbage collection that ends above where it starts',
    ownNodeClass({ kubelet: { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 80 } }),
    {},
    'imageGCHighThresholdPercent must be greater',
  ],
  [
    'a requirement that the operator sets',
    { requirements: [{ key: 'kubernetes.io/os', operator: 'In', values: ['linux'] }] },
    {},
    'Remove these requirements',
  ],
  [
    'a requirement that Karpenter does not accept',
    { requirements: [{ key: 'karpenter.sh/nodepool', operator: 'Exists' }] },
    {},
    'Karpenter does not accept the keys',
  ],
  [
    'Exists with values in a requirement',
    { requirements: [{ key: 'zone', operator: 'Exists', values: ['a'] }] },
    {},
    'Exists and DoesNotExist take no values',
  ],
  ['a limit that is no quantity', { limits: { memory: '64GB' } }, {}, 'spec.karpenter.limits.memory'],
  ['an age of minutes', { expireAfter: '5m' }, {}, 'must be at least 1h'],
  ['a drain of seconds', { terminationGracePeriod: '1s' }, {}, 'must be at least 5m'],
  [
    'settings of a drain that Karpenter does itself',
    {},
    { disruption: { drain: { timeout: '10m' } } },
    'set karpenter.terminationGracePeriod',
  ],
];

describe('the API server', () => {
  let world: TestEnv;
  before(async function () {
    this.timeout(600_000);
    world = await theWorld();
  });

  for (const [what, spec, words] of refusals) {
    it(`rejects ${what}`, async () => {
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
    it(`rejects ${what}`, async () => {
      const answer = await answerTo(existingPool('refused', selector, spec), '--dry-run=server', '--validate=strict');
      assert.ok(answer.includes(words), `expected "${words}" in:\n${answer}`);
    });
  }

  for (const [what, ref, spec, words] of refusalsOfMachines) {
    it(`rejects ${what}`, async () => {
      const answer = await answerTo(machinesPool('refused', ref, spec), '--dry-run=server', '--validate=strict');
      assert.ok(answer.includes(words), `expected "${words}" in:\n${answer}`);
    });
  }

  for (const [what, karpenter, spec, words] of refusalsOfKarpenter) {
    it(`rejects ${what}`, async () => {
      const answer = await answerTo(karpenterPool('refused', karpenter, spec), '--dry-run=server', '--validate=strict');
      assert.ok(answer.includes(words), `expected "${words}" in:\n${answer}`);
    });
  }

  it('rejects another node class of a pool of Karpenter, and accepts a change of its requirements', async () => {
    await world.apply(karpenterPool('drifting'));
    await world.apply(karpenterPool('drifting', { requirements: [{ key: 'zone', operator: 'Exists' }] }));
    const other = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'other' };
    assert.match(await answerTo(karpenterPool('drifting', { nodeClassRef: other })), /nodeClassRef is immutable/);
    const made = { nodeClass: NODE_CLASS, nodeClassRef: undefined };
    assert.match(await answerTo(karpenterPool('drifting', made)), /cannot switch between nodeClass and nodeClassRef/);
    await world.kubectl('delete', 'windowspool', 'drifting');
  });

  const templatePool = (machines: Fields = {}) =>
    machinesPool('made', {}, { machines: { template: MACHINE_TEMPLATE, ...machines } });

  for (const [what, machines, words] of refusalsOfTemplates) {
    it(`rejects ${what}`, async () => {
      const answer = await answerTo(templatePool(machines), '--dry-run=server', '--validate=strict');
      assert.ok(answer.includes(words), `expected "${words}" in:\n${answer}`);
    });
  }

  it('keeps each field of a template, and rejects another object, but not a change', async () => {
    await world.apply(templatePool());
    const stored = await world.pool('made');
    assert.deepEqual(stored?.spec.machines, { template: MACHINE_TEMPLATE });
    const spec = { clusterName: 'other' };
    await world.apply(
      templatePool({ template: { ...MACHINE_TEMPLATE, spec, apiVersion: 'cluster.x-k8s.io/v1beta1' } }),
    );
    const metadata = { namespace: 'clusters', name: 'other' };
    assert.match(await answerTo(templatePool({ template: { ...MACHINE_TEMPLATE, metadata } })), /are immutable/);
    assert.match(await answerTo(machinesPool('made')), /cannot switch between ref and template/);
    const more = { ...MACHINE_TEMPLATE, infrastructureTemplate: INFRASTRUCTURE_TEMPLATE };
    assert.match(await answerTo(templatePool({ template: more })), /infrastructureTemplate/);
    await world.kubectl('delete', 'windowspool', 'made');
  });

  it('rejects another object of a pool of machines, and accepts another version of its API', async () => {
    await world.apply(machinesPool('moved'));
    await world.apply(machinesPool('moved', { apiVersion: 'cluster.x-k8s.io/v1beta1' }));
    assert.match(
      await answerTo(machinesPool('moved', { name: 'other' })),
      /machines\.ref is immutable, except for the version/,
    );
    await world.kubectl('delete', 'windowspool', 'moved');
  });

  for (const sample of globSync(
    [
      'existing-nodes/*.yaml',
      'karpenter/pool.yaml',
      'machines/cluster-api.yaml',
      'machines/cluster-api-template.yaml',
      '{canary,custom-ami,launch-settings,node-readiness}/windowspool.yaml',
      '{logs,storage}/*.yaml',
    ],
    {
      cwd: SAMPLES,
    },
  ).sort()) {
    it(`accepts the sample ${sample}`, () =>
      world.kubectl('apply', '-f', `${SAMPLES}${sample}`, '--dry-run=server', '--validate=strict'));
  }

  it('rejects a pool without nodes, and one without a size', async () => {
    const bare = { apiVersion: 'winpool.dev/v1alpha1', kind: 'WindowsPool', metadata: { name: 'bare' } };
    const none = await answerTo({ ...bare, spec: { windowsVersion: 'Windows2022' } }, '--dry-run=server');
    assert.match(none, /set exactly one of nodeGroup/);
    const withoutSource = { windowsVersion: 'Windows2022', existingNodes: {} };
    const nowhere = await answerTo({ ...bare, spec: withoutSource }, '--dry-run=server');
    assert.match(nowhere, /set selector, instancesConfigMap, or both/);
    const withoutScaling = { windowsVersion: 'Windows2022', nodeGroup: NODE_GROUP };
    assert.match(
      await answerTo({ ...bare, spec: withoutScaling }, '--dry-run=server'),
      /spec\.nodeGroup\.scaling: Required value/,
    );
  });

  it('rejects a change between nodeGroup and existingNodes, and accepts a change of the selector', async () => {
    await world.apply(existingPool('kind', FRA));
    await world.apply(existingPool('kind', { matchExpressions: [{ key: 'site', operator: 'Exists' }] }));
    const other = { spec: { existingNodes: null, nodeGroup: { ...NODE_GROUP, scaling: SIZE } } };
    await assert.rejects(
      world.kubectl('patch', 'windowspool', 'kind', '--type=merge', '-p', JSON.stringify(other)),
      /cannot switch between nodeGroup, karpenter, machines and existingNodes/,
    );
    await world.kubectl('delete', 'windowspool', 'kind');
  });

  for (const [name, words] of [
    ['web.prod', 'must be a DNS label'],
    ['a'.repeat(64), 'must be a DNS label'],
  ] as const) {
    it(`rejects the name ${name.slice(0, 10)}`, async () => {
      await assert.rejects(world.apply(poolManifest(name), '--dry-run=server'), new RegExp(words));
    });
  }

  it('accepts the sample and sets its defaults', async () => {
    await world.apply(poolManifest('defaults'));
    const pool = await world.pool('defaults');
    await world.kubectl('delete', 'windowspool', 'defaults');
    assert.deepEqual(pool?.spec, {
      windowsVersion: 'Windows2022',
      nodeGroup: {
        edition: 'Core',
        nodeRole: 'arn:aws:iam::111122223333:role/windows-nodes',
        subnets: [{ id: 'subnet-0a1000000000000aa' }, { id: 'subnet-0a2000000000000bb' }],
        capacityType: 'OnDemand',
        adoption: 'Never',
        update: { policy: 'Manual', force: false },
        accessEntryManagement: 'EKS',
        scaling: { minSize: 1, maxSize: 3 },
        driftPolicy: 'Correct',
        immutableChangePolicy: 'Reject',
      },
      registrationTaint: 'OSWindows',
      verification: { policy: 'Report' },
      runtimeClass: { handler: 'runhcs-wcow-process', adoption: 'Never' },
      deletionPolicy: 'Delete',
      paused: false,
    });
  });

  it('accepts a change of the launch template version at any time', async () => {
    const versioned = (version?: string | number) =>
      poolManifest('template', { nodeGroup: { launchTemplate: { name: 'windows', ...(version && { version }) } } });
    await world.apply(versioned());
    await setStatus('template', { nodeGroup: { name: 'template', status: 'ACTIVE' } });
    assert.equal((await world.pool('template'))?.spec.nodeGroup?.launchTemplate?.version, '$Default');
    for (const version of [3, '4', '$Latest', '$Default']) await world.apply(versioned(version));
    await world.kubectl('delete', 'windowspool', 'template');
  });

  it('rejects a change of the Windows version', async () => {
    await world.apply(poolManifest('version'));
    await assert.rejects(
      world.apply(poolManifest('version', { windowsVersion: 'Windows2025' })),
      /windowsVersion is immutable/,
    );
    await world.kubectl('delete', 'windowspool', 'version');
  });

  const setStatus = (name: string, status: object) => world.patchPoolStatus(name, status);
  const answerTo = (manifest: object, ...flags: readonly string[]) =>
    world.apply(manifest, ...flags).then(
      () => 'accepted',
      (error: Error) => error.message,
    );

  const immutable: readonly (readonly [field: string, nodeGroup: Record<string, unknown>])[] = [
    ['edition', { edition: 'Full' }],
    ['nodeRole', { nodeRole: 'other' }],
    ['subnets', { subnets: [{ id: 'subnet-0a1000000000000aa' }] }],
    ['instanceTypes', { instanceTypes: ['m5.xlarge'] }],
    ['capacityType', { capacityType: 'Spot' }],
    ['diskSizeGiB', { diskSizeGiB: 100 }],
    ['launchTemplate', { launchTemplate: { name: 'windows' } }],
  ];
  for (const [field, nodeGroup] of immutable) {
    it(`accepts a change of ${field} only while there is no node group, a failed one, or one that differs`, async () => {
      const name = `immutable-${field.toLowerCase()}`;
      await world.apply(poolManifest(name));
      await world.apply(poolManifest(name, { nodeGroup }));
      await setStatus(name, { nodeGroup: { name, status: 'ACTIVE' } });
      const refused = await answerTo(poolManifest(name));
      const words = `EKS cannot change nodeGroup.${field}.*Set nodeGroup.immutableChangePolicy to Replace`;
      assert.match(refused, new RegExp(`spec\\.nodeGroup: Invalid value.*${words}`, 's'));
      await setStatus(name, { nodeGroup: { differs: true } });
      await world.apply(poolManifest(name));
      await setStatus(name, { nodeGroup: { status: 'CREATE_FAILED', differs: null } });
      await world.apply(poolManifest(name, { nodeGroup }));
      await world.kubectl('delete', 'windowspool', name);
    });
  }

  const wanted: readonly Record<string, unknown>[] = [
    { ami: { id: 'ami-0a000001' } },
    { disk: {} },
    { metadataOptions: {} },
    { securityGroups: [{ id: 'sg-0a000000' }] },
    { instanceTags: { team: 'web' } },
    { userData: { configMap: 'windows' } },
  ];
  it('accepts the first launch setting only before there is a node group, and its changes also later', async () => {
    const name = 'launch-settings';
    await world.apply(poolManifest(name));
    await setStatus(name, { nodeGroup: { name, status: 'ACTIVE' } });
    const only = /spec\.nodeGroup: Invalid value.*EKS cannot change the launch settings from none to some/s;
    for (const nodeGroup of wanted) assert.match(await answerTo(poolManifest(name, { nodeGroup })), only);
    await setStatus(name, { nodeGroup: { differs: true } });
    await world.apply(poolManifest(name, { nodeGroup: { disk: { sizeGiB: 100 } } }));
    await setStatus(name, { nodeGroup: { differs: null } });
    await world.apply(poolManifest(name, { nodeGroup: { instanceTags: { team: 'web' } } }));
    assert.match(await answerTo(poolManifest(name)), only);
    assert.match(await answerTo(poolManifest(name, { nodeGroup: { diskSizeGiB: 50 } })), only);
    const template = { nodeGroup: { launchTemplate: { name: 'windows' } } };
    assert.match(await answerTo(poolManifest(name, template)), only);
    await setStatus(name, { nodeGroup: { status: 'CREATE_FAILED' } });
    await world.apply(poolManifest(name));
    await world.kubectl('delete', 'windowspool', name);
  });

  it('accepts the first custom AMI and its removal only before there is a node group, and another AMI also later', async () => {
    const name = 'custom';
    const ami = { id: 'ami-0a000001' };
    await world.apply(poolManifest(name, { nodeGroup: { disk: {} } }));
    await setStatus(name, { nodeGroup: { name, status: 'ACTIVE' } });
    const only = /spec\.nodeGroup: Invalid value.*EKS cannot change ami or kubelet from none to some/s;
    assert.match(await answerTo(poolManifest(name, { nodeGroup: { disk: {}, ami } })), only);
    await world.apply(poolManifest(name, { nodeGroup: { disk: {}, ami, immutableChangePolicy: 'Replace' } }));
    await world.apply(poolManifest(name, { nodeGroup: { ami: { id: 'ami-0a000002' } } }));
    assert.match(await answerTo(poolManifest(name, { nodeGroup: { disk: {} } })), only);
    await setStatus(name, { nodeGroup: { status: 'CREATE_FAILED' } });
    await world.apply(poolManifest(name, { nodeGroup: { disk: {} } }));
    await world.kubectl('delete', 'windowspool', name);
  });

  it('gives the launch settings secure defaults, and leaves a pool without launch settings as it is', async () => {
    const stored = async (nodeGroup: Record<string, unknown>) => {
      const answer = await world.apply(poolManifest('defaults', { nodeGroup }), '--dry-run=server', '--output=json');
      const { disk, metadataOptions } = JSON.parse(answer).spec.nodeGroup;
      return { disk, metadataOptions };
    };
    assert.deepEqual(await stored({}), { disk: undefined, metadataOptions: undefined });
    assert.deepEqual(await stored({ disk: {}, metadataOptions: {} }), {
      disk: { sizeGiB: 50, type: 'gp3', encrypted: true },
      metadataOptions: { httpTokens: 'Required', httpPutResponseHopLimit: 1 },
    });
  });

  for (const [field, nodeGroup] of immutable) {
    it(`accepts a change of ${field} at any time if a second node group may replace the first`, async () => {
      const name = `replaced-${field.toLowerCase()}`;
      await world.apply(poolManifest(name));
      await setStatus(name, { nodeGroup: { name, status: 'ACTIVE' } });
      // Both changes at once.
      await world.apply(poolManifest(name, { nodeGroup: { ...nodeGroup, immutableChangePolicy: 'Replace' } }));
      await world.apply(poolManifest(name, { nodeGroup: { immutableChangePolicy: 'Replace' } }));
      const refused = await answerTo(
        poolManifest(name, { nodeGroup: { ...nodeGroup, immutableChangePolicy: 'Reject' } }),
      );
      assert.match(refused, new RegExp(`spec\\.nodeGroup: Invalid value.*EKS cannot change nodeGroup\\.${field}`, 's'));
      await world.kubectl('delete', 'windowspool', name);
    });
  }

  it('rejects another name and another Windows version also if a second node group may replace the first', async () => {
    const replaced = (nodeGroup: object, spec: object = {}) =>
      answerTo(poolManifest('fixed', { ...spec, nodeGroup: { immutableChangePolicy: 'Replace', ...nodeGroup } }));
    assert.equal(await replaced({}), 'accepted');
    await setStatus('fixed', { cluster: { name: 'demo', arn: 'arn:aws:eks:eu-west-1:111122223333:cluster/demo' } });
    await setStatus('fixed', { nodeGroup: { name: 'fixed', status: 'ACTIVE' } });
    assert.match(await replaced({ name: 'other' }), /EKS cannot rename a node group/);
    assert.match(await replaced({}, { windowsVersion: 'Windows2025' }), /windowsVersion is immutable/);
    assert.match(await replaced({ immutableChangePolicy: 'Recreate' }), /supported values: "Reject", "Replace"/);
    await world.kubectl('delete', 'windowspool', 'fixed');
  });

  it('accepts subnets by ID and by tags in one list', () =>
    world.apply(
      poolManifest('tagged', {
        nodeGroup: { subnets: [{ id: 'subnet-0a1000000000000aa' }, { tags: { tier: 'private', team: 'web' } }] },
      }),
      '--dry-run=server',
      '--validate=strict',
    ));

  it('accepts the node role as a name or as an ARN', async () => {
    const withRole = (nodeRole: string) => poolManifest('role', { nodeGroup: { nodeRole } });
    await world.apply(withRole('windows-nodes'));
    await setStatus('role', { nodeGroup: { name: 'role', status: 'ACTIVE' } });
    await world.apply(withRole('arn:aws:iam::111122223333:role/windows-nodes'));
    await world.apply(withRole('windows-nodes'));
    await world.kubectl('delete', 'windowspool', 'role');
  });

  it('accepts a change of nodeGroup.name only until EKS creates the group', async () => {
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
});
