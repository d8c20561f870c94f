/**
 * The members of AWS' answers that the operator reads, and their bounds. The SDK passes on what a response has, of any type and length, so that a
 * broken proxy or endpoint could crash the operator, or fill its status with what the API server rejects.
 */
import type { CallResult } from '../windowspool/ports/callResult.ts';
import { foreignText } from '../windowspool/ports/foreignText.ts';
import { isWritable } from '../windowspool/ports/foreignTime.ts';
import type { AutoScalingOperations, Ec2Operations, EksOperations, IamOperations, SsmOperations } from './calls.ts';
import { malformed } from './errors.ts';

/**
 * - A number is a text of at most as many characters, such as a name. It is never cut, because it could then name another object.
 * - `message`: a text that is cut. `document`: an opaque text, such as a token.
 * - `present`: only whether there is a value, whatever it is.
 * - `[shape, most]`: a list of at most as many items. `texts`: a map of texts, such as tags.
 */
type Shape<T> = 'present' | ValueShape<T>;
type ValueShape<T> = T extends string
  ? number | 'message' | 'document'
  : T extends number
    ? 'number'
    : T extends boolean
      ? 'flag'
      : T extends Date
        ? 'time'
        : T extends readonly (infer Item)[]
          ? readonly [Shape<Item>, number]
          : string extends keyof T
            ? 'texts'
            : { readonly [Name in keyof T]?: Shape<NonNullable<T[Name]>> };
type AnyShape =
  | number
  | 'present'
  | 'message'
  | 'document'
  | 'number'
  | 'flag'
  | 'time'
  | 'texts'
  | readonly [AnyShape, number]
  | { readonly [name: string]: AnyShape };

type AllOperations = EksOperations & Ec2Operations & SsmOperations & IamOperations & AutoScalingOperations;
type Answers = { readonly [Name in keyof AllOperations]: Shape<AllOperations[Name][1]> };

/** Longer than the ARN of a role with the longest path. */
const ARN = 2_048;
/** A page of EC2 has at most 1,000 items, and a scaling group at most the 10,000 instances of a pool and as many in a warm pool. */
const ITEMS = 20_000;
/** AWS accepts 50 tags, and EKS 50 taints. */
const ENTRIES = 1_000;
const TAGS = [{ Key: 256, Value: 512 }, ENTRIES] as const;

/** A security group has at most 1,000 rules, each with one peer. */
const PERMISSIONS = [
  {
    IpProtocol: 64,
    FromPort: 'number',
    ToPort: 'number',
    UserIdGroupPairs: [{ GroupId: 64 }, ENTRIES],
    IpRanges: [{ CidrIp: 64 }, ENTRIES],
    Ipv6Ranges: [{ CidrIpv6: 64 }, ENTRIES],
    PrefixListIds: [{ PrefixListId: 64 }, ENTRIES],
  },
  ENTRIES,
] as const;
const LAUNCH_TEMPLATE = {
  LaunchTemplateId: 64,
  LaunchTemplateName: 128,
  DefaultVersionNumber: 'number',
  Tags: TAGS,
} as const;
const USED_TEMPLATE = { LaunchTemplateId: 64, Version: 32 } as const;
const EBS = {
  VolumeSize: 'number',
  VolumeType: 64,
  DeleteOnTermination: 'flag',
  Encrypted: 'flag',
  KmsKeyId: ARN,
  SnapshotId: 64,
  Iops: 'number',
  Throughput: 'number',
} as const;
/** EC2 accepts 16 KiB, and returns them in base64. */
const USER_DATA = 24_000;
/** Settings of a launch template of which only the presence matters. */
const PRESENT = {
  KernelId: 'present',
  EbsOptimized: 'present',
  KeyName: 'present',
  Monitoring: 'present',
  Placement: 'present',
  RamDiskId: 'present',
  DisableApiTermination: 'present',
  ElasticGpuSpecifications: 'present',
  ElasticInferenceAccelerators: 'present',
  SecurityGroups: 'present',
  CreditSpecification: 'present',
  CapacityReservationSpecification: 'present',
  LicenseSpecifications: 'present',
  EnclaveOptions: 'present',
  InstanceRequirements: 'present',
  PrivateDnsNameOptions: 'present',
  MaintenanceOptions: 'present',
  DisableApiStop: 'present',
  NetworkPerformanceOptions: 'present',
  SecondaryInterfaces: 'present',
} as const;

const nodegroup = {
  nodegroupName: 63,
  nodegroupArn: ARN,
  status: 64,
  amiType: 64,
  capacityType: 64,
  instanceTypes: [64, ITEMS],
  // As many as status accepts.
  subnets: [64, 50],
  nodeRole: ARN,
  diskSize: 'number',
  launchTemplate: { id: 64, name: 128, version: 32 },
  version: 32,
  releaseVersion: 64,
  scalingConfig: { minSize: 'number', maxSize: 'number', desiredSize: 'number' },
  labels: 'texts',
  taints: [{ key: 256, value: 256, effect: 64 }, ENTRIES],
  updateConfig: { maxUnavailable: 'number', maxUnavailablePercentage: 'number', updateStrategy: 64 },
  warmPoolConfig: {
    enabled: 'flag',
    minSize: 'number',
    maxGroupPreparedCapacity: 'number',
    poolState: 64,
    reuseOnScaleIn: 'flag',
  },
  tags: 'texts',
  health: { issues: [{ code: 128, message: 'message', resourceIds: [ARN, ITEMS] }, ITEMS] },
  resources: { autoScalingGroups: [{ name: 256 }, 10] },
  modifiedAt: 'time',
  createdAt: 'time',
} as const;
const update = {
  id: 128,
  type: 64,
  status: 64,
  createdAt: 'time',
  errors: [{ errorCode: 128, errorMessage: 'message', resourceIds: [ARN, ITEMS] }, ITEMS],
} as const;

const ANSWERS: Answers = {
  DescribeNodegroup: { nodegroup },
  CreateNodegroup: { nodegroup },
  UpdateNodegroupConfig: { update },
  UpdateNodegroupVersion: { update },
  DescribeUpdate: { update },
  DeleteNodegroup: {},
  ListNodegroups: { nodegroups: [64, ITEMS], nextToken: 'document' },
  TagResource: {},
  UntagResource: {},
  DescribeCluster: {
    cluster: {
      name: 100,
      arn: ARN,
      roleArn: ARN,
      status: 64,
      version: 32,
      resourcesVpcConfig: { vpcId: 64, clusterSecurityGroupId: 64, securityGroupIds: [64, ENTRIES] },
      endpoint: ARN,
      kubernetesNetworkConfig: { ipFamily: 64, serviceIpv4Cidr: 64 },
      accessConfig: { authenticationMode: 64 },
      computeConfig: { enabled: 'flag' },
      certificateAuthority: { data: 16_384 },
    },
  },
  DescribeAddon: {
    addon: {
      status: 64,
      configurationValues: 'document',
      serviceAccountRoleArn: ARN,
      health: { issues: [{ code: 128, message: 'message' }, ITEMS] },
      modifiedAt: 'time',
    },
  },
  UpdateAddon: {},
  DescribeAccessEntry: { accessEntry: { type: 64 } },
  CreateAccessEntry: {},
  DescribeInstanceTypes: {
    InstanceTypes: [
      {
        InstanceType: 64,
        BareMetal: 'flag',
        HibernationSupported: 'flag',
        MemoryInfo: { SizeInMiB: 'number' },
        ProcessorInfo: { SupportedArchitectures: [64, ITEMS], SupportedFeatures: [64, ITEMS] },
        NetworkInfo: { Ipv4AddressesPerInterface: 'number' },
        Hypervisor: 64,
      },
      ITEMS,
    ],
    NextToken: 'document',
  },
  DescribeInstanceTypeOfferings: {
    InstanceTypeOfferings: [{ InstanceType: 64, Location: 64 }, ITEMS],
    NextToken: 'document',
  },
  DescribeSubnets: {
    Subnets: [{ SubnetId: 64, AvailabilityZone: 64, AvailableIpAddressCount: 'number', Tags: TAGS }, ITEMS],
    NextToken: 'document',
  },
  DescribeSecurityGroups: {
    SecurityGroups: [{ GroupId: 64, Tags: TAGS, IpPermissions: PERMISSIONS, IpPermissionsEgress: PERMISSIONS }, ITEMS],
    NextToken: 'document',
  },
  DescribeInstances: {
    Reservations: [
      {
        Instances: [
          { InstanceId: 64, PrivateDnsName: 256, LaunchTime: 'time', State: { Name: 64 }, Tags: TAGS },
          ITEMS,
        ],
      },
      ITEMS,
    ],
    NextToken: 'document',
  },
  DescribeLaunchTemplateVersions: {
    LaunchTemplateVersions: [
      {
        LaunchTemplateId: 64,
        LaunchTemplateName: 128,
        VersionNumber: 'number',
        VersionDescription: 256,
        LaunchTemplateData: {
          ...PRESENT,
          InstanceType: 64,
          IamInstanceProfile: { Name: 256, Arn: ARN },
          InstanceMarketOptions: { MarketType: 64 },
          NetworkInterfaces: [{ SubnetId: 64, Groups: [64, ENTRIES] }, ITEMS],
          CpuOptions: { NestedVirtualization: 64 },
          HibernationOptions: { Configured: 'flag' },
          InstanceInitiatedShutdownBehavior: 64,
          ImageId: ARN,
          UserData: USER_DATA,
          BlockDeviceMappings: [{ DeviceName: 256, Ebs: EBS }, ITEMS],
          MetadataOptions: { HttpTokens: 64, HttpPutResponseHopLimit: 'number', HttpEndpoint: 64 },
          SecurityGroupIds: [64, ENTRIES],
          // The texts are not cleaned: they are compared with those of the spec.
          TagSpecifications: [{ ResourceType: 64, Tags: [{ Key: 'document', Value: 'document' }, ENTRIES] }, ITEMS],
        },
      },
      ITEMS,
    ],
    NextToken: 'document',
  },
  GetEbsEncryptionByDefault: { EbsEncryptionByDefault: 'flag' },
  DescribeLaunchTemplates: { LaunchTemplates: [LAUNCH_TEMPLATE, ITEMS] },
  CreateLaunchTemplate: { LaunchTemplate: LAUNCH_TEMPLATE },
  CreateLaunchTemplateVersion: { LaunchTemplateVersion: { VersionNumber: 'number' } },
  DeleteLaunchTemplateVersions: {
    UnsuccessfullyDeletedLaunchTemplateVersions: [
      { VersionNumber: 'number', ResponseError: { Code: 128, Message: 'message' } },
      ITEMS,
    ],
  },
  DeleteLaunchTemplate: {},
  DescribeImages: {
    Images: [{ Name: 256, State: 64, Platform: 64, Architecture: 64, CreationDate: 64, DeprecationTime: 64 }, ITEMS],
    NextToken: 'document',
  },
  GetParameter: { Parameter: { Value: 256 } },
  DescribeAutoScalingGroups: {
    AutoScalingGroups: [
      {
        AutoScalingGroupName: 256,
        Tags: TAGS,
        LaunchTemplate: USED_TEMPLATE,
        MixedInstancesPolicy: { LaunchTemplate: { LaunchTemplateSpecification: USED_TEMPLATE } },
        Instances: [{ InstanceId: 64, LifecycleState: 64, LaunchTemplate: USED_TEMPLATE }, ITEMS],
        WarmPoolSize: 'number',
      },
      ITEMS,
    ],
    NextToken: 'document',
  },
  CreateOrUpdateTags: {},
  DeleteTags: {},
  TerminateInstanceInAutoScalingGroup: {},
  ListAttachedRolePolicies: { AttachedPolicies: [{ PolicyName: 128 }, ITEMS], IsTruncated: 'flag', Marker: 'document' },
};

/** Of messages: {@link scrub} cuts them further, after it removed request IDs. */
const MESSAGE_LENGTH = 4_096;
/** Configuration values, certificates and tokens have some kilobytes. */
const DOCUMENT_LENGTH = 256 * 1024;

/**
 * The answer with only the members that the operator reads. Null counts as absent; a value of another type or beyond its bounds is an error of the
 * kind `unavailable`, because less than the whole answer would be worse: what is missing would count as deleted.
 */
export function checkedAnswer<T>(operation: string, value: T): CallResult<T> {
  const shape = (ANSWERS as Readonly<Record<string, AnyShape | undefined>>)[operation];
  if (shape === undefined) return { ok: true, value };
  try {
    return { ok: true, value: (read(shape, value, '') ?? {}) as T };
  } catch (error) {
    if (error instanceof Misfit) return { ok: false, error: malformed(operation, `with ${error.message}`) };
    throw error;
  }
}

/** A value that does not have its shape: `nodegroup.taints: a string instead of a list`. */
class Misfit extends Error {
  constructor(path: string, what: string) {
    super(path === '' ? what : `${path}: ${what}`);
  }
}

function read(shape: AnyShape, value: unknown, path: string): unknown {
  if (value === undefined || value === null) return undefined;
  switch (shape) {
    case 'present':
      return Array.isArray(value) ? value.slice(0, 1).map(() => true) : true;
    case 'message':
      return foreignText(typed<string>(value, 'string', path), MESSAGE_LENGTH);
    case 'document':
      return bounded(typed<string>(value, 'string', path), DOCUMENT_LENGTH, path);
    case 'number':
      if (!Number.isFinite(value)) throw new Misfit(path, `a ${typeof value} instead of a number`);
      return value;
    case 'flag':
      return typed<boolean>(value, 'boolean', path);
    case 'time':
      return time(value, path);
    case 'texts':
      return texts(value, path);
  }
  if (typeof shape === 'number') return foreignText(bounded(typed<string>(value, 'string', path), shape, path), shape);
  return Array.isArray(shape)
    ? list(shape as readonly [AnyShape, number], value, path)
    : members(shape as Members, value, path);
}

type Members = { readonly [name: string]: AnyShape };

function members(shape: Members, value: unknown, path: string): unknown {
  const object = objectOf(value, path);
  const found: [name: string, value: unknown][] = [];
  for (const [name, inner] of Object.entries(shape)) {
    const member = read(inner, object[name], path === '' ? name : `${path}.${name}`);
    if (member !== undefined) found.push([name, member]);
  }
  return Object.fromEntries(found);
}

function list([shape, most]: readonly [AnyShape, number], value: unknown, path: string): unknown {
  if (!Array.isArray(value)) throw new Misfit(path, `a ${typeof value} instead of a list`);
  if (value.length > most) throw new Misfit(path, `${value.length} items, more than ${most}`);
  return value.map((item) => read(shape, item, path) ?? refuseNull(path));
}

function refuseNull(path: string): never {
  throw new Misfit(path, 'an item that is null');
}

/** The texts of labels and tags are not cleaned: they are compared with those of the spec. */
function texts(value: unknown, path: string): unknown {
  const entries = Object.entries(objectOf(value, path));
  if (entries.length > ENTRIES) throw new Misfit(path, `${entries.length} entries, more than ${ENTRIES}`);
  for (const [key, text] of entries) {
    bounded(key, ARN, path);
    bounded(typed<string>(text, 'string', path), ARN, path);
  }
  return Object.fromEntries(entries);
}

function time(value: unknown, path: string): Date {
  if (!(value instanceof Date)) throw new Misfit(path, `a ${typeof value} instead of a time`);
  if (!isWritable(value.getTime())) throw new Misfit(path, 'a time outside the years 0 to 9999');
  return value;
}

function objectOf(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (Array.isArray(value)) throw new Misfit(path, 'a list instead of an object');
  return typed<Readonly<Record<string, unknown>>>(value, 'object', path);
}

function typed<T>(value: unknown, type: 'string' | 'boolean' | 'object', path: string): T {
  if (typeof value !== type)
    throw new Misfit(path, `a ${typeof value} instead of a${type === 'object' ? 'n' : ''} ${type}`);
  return value as T;
}

function bounded(text: string, most: number, path: string): string {
  if (text.length > most) throw new Misfit(path, `${text.length} characters, more than ${most}`);
  return text;
}
