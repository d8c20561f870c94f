/** Facts of a cluster that meets all prerequisites, and changes of them for tests. */
import fc from 'fast-check';
import type { CheckReason } from '../api/reasons.ts';
import { type CheckResults, runChecks } from '../checks/runChecks.ts';
import type { CallErrorKind } from '../ports/callResult.ts';
import type { Addon, ConfigMapOwner, Image, SecurityGroup, Subnet } from '../ports/prerequisites.ts';
import { checks } from '../providers/nodeGroup/checks/checks.ts';
import type { CheckFacts, CheckInput, Facts } from '../providers/nodeGroup/model/checkFacts.ts';
import { known } from './answers.ts';
import { MINUTE, NOW, sampleCluster, sampleError, samplePool } from './fixtures.ts';

const TWO_ZONES: readonly Subnet[] = [
  { id: 'subnet-0a000000', zone: 'eu-west-1a', freeAddresses: 251, tags: {} },
  { id: 'subnet-0b000000', zone: 'eu-west-1b', freeAddresses: 251, tags: {} },
];

/** The same subnets, if both were in one zone. */
export const ONE_ZONE: readonly Subnet[] = TWO_ZONES.map((subnet) => ({ ...subnet, zone: 'eu-west-1a' }));

/** The cluster security group with the rules that EKS gives it: https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html */
export function sampleSecurityGroup(change: Partial<SecurityGroup> = {}): SecurityGroup {
  return {
    id: 'sg-0a000000',
    tags: {},
    inbound: [{ protocol: 'all', groups: ['sg-0a000000'], hasAddresses: false }],
    outbound: [{ protocol: 'all', groups: [], hasAddresses: true }],
    ...change,
  };
}

/** All facts are known, all prerequisites are met, and there is no advice: IPAM enabled, an access entry, two zones with addresses. */
export function sampleFacts(change: Partial<CheckFacts> = {}): CheckFacts {
  return {
    complete: true,
    cniConfig: known({ 'enable-windows-ipam': 'true' }),
    cniAddon: known(undefined),
    legacyController: known(false),
    clusterRolePolicies: known(['AmazonEKSClusterPolicy', 'AmazonEKSVPCResourceController']),
    podWebhook: known(true),
    accessEntry: known({ type: 'EC2_WINDOWS' }),
    roleMappings: known([]),
    linuxNode: known({ acceptsPods: true }),
    linuxRoles: known([{ group: 'linux', nodeRoleArn: 'arn:aws:iam::111122223333:role/linux-nodes' }]),
    instanceTypes: known([{ name: 'm5.large', architectures: ['x86_64'], addressesPerInterface: 10 }]),
    offerings: known([
      { instanceType: 'm5.large', zone: 'eu-west-1a' },
      { instanceType: 'm5.large', zone: 'eu-west-1b' },
    ]),
    subnets: known(TWO_ZONES),
    subnetZones: known(TWO_ZONES),
    unmanagedNodes: known([]),
    dnsNodes: known(['linux-1', 'linux-2']),
    instanceFeatures: known([{ name: 'm5.large', architectures: ['x86_64'], addressesPerInterface: 10 }]),
    securityRules: known([sampleSecurityGroup()]),
    encryptsVolumes: known(true),
    ...change,
  };
}

/** A custom AMI of the sample pool's Windows version. */
export function sampleImage(change: Partial<Image> = {}): Image {
  return {
    id: 'ami-0a000001',
    name: 'Windows_Server-2022-English-Core-Golden-17',
    state: 'available',
    isWindows: true,
    architecture: 'x86_64',
    isOfAmazon: false,
    createdAt: NOW - 40 * 24 * 60 * MINUTE,
    ...change,
  };
}

/** The vpc-cni add-on as EKS describes it: ACTIVE, and without a setting for Windows. */
export function sampleAddon(change: Partial<Addon> = {}): Addon {
  return { status: 'ACTIVE', windowsIpam: false, issues: [], modifiedAt: NOW - 60 * MINUTE, ...change };
}

/** ConfigMap amazon-vpc-cni that kubectl created and no tool manages. */
export function sampleConfigMapOwner(change: Partial<ConfigMapOwner> = {}): ConfigMapOwner {
  return {
    uid: 'config-map-uid',
    resourceVersion: '7',
    managedBy: undefined,
    lastWriter: 'kubectl-edit at 2026-03-01T11:00:00Z',
    ...change,
  };
}

/** A pool in that cluster whose group is not created yet. */
export function sampleInput({ facts, ...change }: Partial<CheckInput> = {}): CheckInput {
  return {
    spec: samplePool().spec,
    cluster: sampleCluster(),
    region: 'eu-west-1',
    facts: facts ?? sampleFacts(),
    creating: true,
    groupStatus: undefined,
    groupSubnets: undefined,
    managesAccessEntry: false,
    instances: 0,
    warmInstances: 0,
    ...change,
  };
}

/** The results of all checks. */
export function examine(input: CheckInput, ignored: ReadonlySet<CheckReason> = new Set()): CheckResults {
  return runChecks(checks, input, ignored);
}

export function unasked(kind: CallErrorKind = 'denied'): {
  readonly ok: false;
  readonly error: ReturnType<typeof sampleError>;
} {
  return { ok: false, error: sampleError(kind, { operation: 'DescribeAddon' }) };
}

const some = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof(
    arbitrary.map(known),
    fc.constantFrom<CallErrorKind>('denied', 'throttled', 'unavailable', 'gone', 'unknown').map(unasked),
  );

const role = fc.constantFrom('windows-nodes', 'linux-nodes').map((name) => `arn:aws:iam::111122223333:role/${name}`);
const zone = fc.constantFrom('eu-west-1a', 'eu-west-1b', 'eu-west-1c');

/** Any facts of advice, each of them known or failed. */
export const randomAdviceFacts: fc.Arbitrary<Facts> = fc.record({
  subnetZones: some(fc.subarray([...TWO_ZONES, ...ONE_ZONE.slice(1)])),
  unmanagedNodes: some(fc.subarray(['kops-1', 'kops-2'])),
  dnsNodes: some(fc.array(fc.constantFrom('linux-1', 'linux-2'), { maxLength: 3 })),
  instanceFeatures: some(fc.constant([{ name: 'm5.large', architectures: ['x86_64'], addressesPerInterface: 10 }])),
  securityRules: some(fc.subarray([sampleSecurityGroup({ inbound: [] })])),
  encryptsVolumes: some(fc.boolean()),
});

/** Any facts, each of them known, failed, or not read. */
export const randomFacts: fc.Arbitrary<CheckFacts> = fc.record(
  {
    complete: fc.boolean(),
    cniConfig: some(
      fc.option(
        fc.dictionary(
          fc.constantFrom('enable-windows-ipam', 'enable-windows-prefix-delegation'),
          fc.constantFrom('true', 'false', ''),
        ),
        {
          nil: undefined,
        },
      ),
    ),
    cniAddon: some(
      fc.option(
        fc.record({
          status: fc.constantFrom('ACTIVE', 'UPDATING', 'UPDATE_FAILED', 'CREATE_FAILED'),
          windowsIpam: fc.constantFrom(true, false, undefined),
          issues: fc.subarray(['ConfigurationConflict: Conflicts found']),
          modifiedAt: fc.constantFrom(0, NOW),
        }),
        { nil: undefined },
      ),
    ),
    cniConfigOwner: some(fc.option(fc.constant(sampleConfigMapOwner()), { nil: undefined })),
    legacyController: some(fc.boolean()),
    ami: some(fc.boolean()),
    imageParameter: some(fc.constantFrom('ami-0a000001', 'ami-0a000002', 'none', undefined)),
    image: some(
      fc.record({ id: fc.constant('ami-0a000001'), found: fc.option(fc.constant(sampleImage()), { nil: undefined }) }),
    ),
    clusterRolePolicies: some(fc.subarray(['AmazonEKSClusterPolicy', 'AmazonEKSVPCResourceController'])),
    podWebhook: some(fc.boolean()),
    accessEntry: some(
      fc.option(fc.record({ type: fc.constantFrom('EC2_WINDOWS', 'EC2_LINUX', 'STANDARD') }), { nil: undefined }),
    ),
    roleMappings: some(
      fc.array(
        fc.record({
          roleArn: role,
          groups: fc.subarray(['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows']),
        }),
      ),
    ),
    linuxNode: some(fc.record({ acceptsPods: fc.boolean() })),
    nodeGroups: some(fc.constantFrom(['web'], Array.from({ length: 30 }, String))),
    linuxRoles: some(fc.array(fc.record({ group: fc.constant('linux'), nodeRoleArn: role }))),
    instanceTypes: some(
      fc.array(
        fc.record({
          name: fc.constantFrom('m5.large', 'm6g.large'),
          architectures: fc.subarray(['x86_64', 'arm64']),
          addressesPerInterface: fc.option(fc.nat({ max: 30 }), { nil: undefined }),
        }),
      ),
    ),
    offerings: some(fc.array(fc.record({ instanceType: fc.constantFrom('m5.large', 'm6g.large'), zone }))),
    subnets: some(
      fc.array(
        fc.record({
          id: fc.constantFrom('subnet-0a000000', 'subnet-0b000000'),
          zone,
          freeAddresses: fc.nat({ max: 300 }),
          tags: fc.constantFrom({}, { tier: 'windows' }),
        }),
      ),
    ),
  },
  { requiredKeys: ['complete'] },
);
