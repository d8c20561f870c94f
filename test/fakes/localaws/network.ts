import type {
  _InstanceType,
  ArchitectureType,
  InstanceTypeHypervisor,
  InstanceTypeInfo,
  IpPermission,
  SupportedAdditionalProcessorFeature,
} from '@aws-sdk/client-ec2';

/** The account of the local AWS. */
export const accountId = '111122223333';

/** An existing node role with the trust policy for EC2. */
export const nodeRoleArn = `arn:aws:iam::${accountId}:role/windows-nodes`;

/** An existing role without the trust policy for EC2. */
export const untrustedRoleArn = `arn:aws:iam::${accountId}:role/windows-nodes-untrusted`;

/** The role of the cluster. */
export const clusterRoleName = 'eks-cluster';
export const clusterRoleArn = `arn:aws:iam::${accountId}:role/${clusterRoleName}`;

/** Every role of the account. */
export const roleArns: readonly string[] = [
  nodeRoleArn,
  untrustedRoleArn,
  `arn:aws:iam::${accountId}:role/linux-nodes`,
  clusterRoleArn,
];

/** The VPC of the cluster. */
export const vpcId = 'vpc-0a1b2c3d4e5f60718';

/** The security group that EKS creates with a cluster. Nodes that do not have it cannot reach the control plane. */
export const clusterSecurityGroupId = 'sg-0a1b2c3d4e5f60718';

/** A security group of the VPC, with its rules as EC2 has them. */
export interface SecurityGroupRecord {
  readonly inbound: IpPermission[];
  readonly outbound: IpPermission[];
  readonly tags: Readonly<Record<string, string>>;
}

/** Those that EKS gives the cluster security group: https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html */
export const clusterSecurityGroup: SecurityGroupRecord = {
  inbound: [{ IpProtocol: '-1', UserIdGroupPairs: [{ GroupId: clusterSecurityGroupId, UserId: accountId }] }],
  outbound: [{ IpProtocol: '-1', IpRanges: [{ CidrIp: '0.0.0.0/0' }] }],
  tags: {},
};

/** The subnets of the cluster, one in each of three zones. */
export const subnetIds = ['subnet-0a1000000000000aa', 'subnet-0a2000000000000bb', 'subnet-0a3000000000000cc'] as const;

/** A subnet of the VPC. `network` is the third byte of its /24 range. */
export interface SubnetRecord {
  readonly id: string;
  readonly zone: string;
  readonly zoneId: string;
  readonly network: number;
  freeAddresses: number;
  /** The user's tags, in addition to that of the cluster. */
  tags: Readonly<Record<string, string>>;
}

/** Subnets in zones a, b and c of the region. */
export function subnetsOf(region: string, ids: readonly string[] = subnetIds): SubnetRecord[] {
  const zoneLetters = ['a', 'b', 'c'];
  const shortRegion = region.replace(/^(\w+)-(\w)\w*-(\d)$/, '$1$2$3');
  return ids.map((id, index) => ({
    id,
    zone: `${region}${zoneLetters[index]}`,
    zoneId: `${shortRegion}-az${index + 1}`,
    network: index + 1,
    // A /24 has 256 addresses, of which AWS reserves 5.
    freeAddresses: 251,
    tags: {},
  }));
}

const row = (
  InstanceType: _InstanceType,
  DefaultVCpus: number,
  SizeInMiB: number,
  MaximumNetworkInterfaces: number,
  Ipv4AddressesPerInterface: number,
  {
    architecture = 'x86_64',
    hypervisor = 'nitro',
    isMetal = false,
    features = [],
  }: {
    architecture?: ArchitectureType;
    hypervisor?: InstanceTypeHypervisor;
    isMetal?: boolean;
    features?: SupportedAdditionalProcessorFeature[];
  } = {},
) =>
  ({
    InstanceType,
    CurrentGeneration: hypervisor === 'nitro',
    SupportedUsageClasses: ['on-demand', 'spot'],
    BareMetal: isMetal,
    HibernationSupported: !isMetal,
    ...(!isMetal && { Hypervisor: hypervisor }),
    ProcessorInfo: {
      SupportedArchitectures: [architecture],
      ...(features.length > 0 && { SupportedFeatures: features }),
    },
    VCpuInfo: { DefaultVCpus },
    MemoryInfo: { SizeInMiB },
    NetworkInfo: { MaximumNetworkInterfaces, Ipv4AddressesPerInterface, Ipv6Supported: true },
  }) satisfies InstanceTypeInfo;

/** The instance types on offer. Figures: the AWS table of network interfaces and addresses per instance type. */
export const instanceTypes = [
  row('t3.medium', 2, 4096, 3, 6),
  row('t3.large', 2, 8192, 3, 12),
  row('t3.xlarge', 4, 16384, 4, 15),
  row('m5.large', 2, 8192, 3, 10),
  row('m5.xlarge', 4, 16384, 4, 15),
  row('m5.2xlarge', 8, 32768, 4, 15),
  row('m5.4xlarge', 16, 65536, 8, 30),
  row('m6i.large', 2, 8192, 3, 10),
  row('m6i.xlarge', 4, 16384, 4, 15),
  row('m6i.2xlarge', 8, 32768, 4, 15),
  row('m6i.4xlarge', 16, 65536, 8, 30),
  row('c5.large', 2, 4096, 3, 10),
  row('c5.xlarge', 4, 8192, 4, 15),
  row('r5.large', 2, 16384, 3, 10),
  row('r5.xlarge', 4, 32768, 4, 15),
  row('m4.large', 2, 8192, 2, 10, { hypervisor: 'xen' }),
  row('m5.metal', 96, 393216, 15, 50, { isMetal: true }),
  row('m8i.large', 2, 8192, 3, 20, { features: ['nested-virtualization'] }),
  row('t4g.medium', 2, 4096, 3, 6, { architecture: 'arm64' }),
  row('m6g.large', 2, 8192, 3, 10, { architecture: 'arm64' }),
];

/** The instance type of that name. */
export const instanceType = (name: string): ReturnType<typeof row> | undefined =>
  instanceTypes.find(({ InstanceType }) => InstanceType === name);
