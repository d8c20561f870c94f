/** The AWS operations that the operator uses. */
import type {
  CreateOrUpdateTagsCommandInput,
  CreateOrUpdateTagsCommandOutput,
  DeleteTagsCommandInput,
  DeleteTagsCommandOutput,
  DescribeAutoScalingGroupsCommandInput,
  DescribeAutoScalingGroupsCommandOutput,
  TerminateInstanceInAutoScalingGroupCommandInput,
  TerminateInstanceInAutoScalingGroupCommandOutput,
} from '@aws-sdk/client-auto-scaling';
import type {
  DescribeImagesCommandInput,
  DescribeImagesCommandOutput,
  DescribeInstancesCommandInput,
  DescribeInstancesCommandOutput,
  DescribeInstanceTypeOfferingsCommandInput,
  DescribeInstanceTypeOfferingsCommandOutput,
  DescribeInstanceTypesCommandInput,
  DescribeInstanceTypesCommandOutput,
  DescribeLaunchTemplateVersionsCommandInput,
  DescribeLaunchTemplateVersionsCommandOutput,
  DescribeSubnetsCommandInput,
  DescribeSubnetsCommandOutput,
} from '@aws-sdk/client-ec2';
import type {
  CreateAccessEntryCommandInput,
  CreateAccessEntryCommandOutput,
  CreateNodegroupCommandInput,
  CreateNodegroupCommandOutput,
  DeleteNodegroupCommandInput,
  DeleteNodegroupCommandOutput,
  DescribeAccessEntryCommandInput,
  DescribeAccessEntryCommandOutput,
  DescribeAddonCommandInput,
  DescribeAddonCommandOutput,
  DescribeClusterCommandInput,
  DescribeClusterCommandOutput,
  DescribeNodegroupCommandInput,
  DescribeNodegroupCommandOutput,
  DescribeUpdateCommandInput,
  DescribeUpdateCommandOutput,
  TagResourceCommandInput,
  TagResourceCommandOutput,
  UntagResourceCommandInput,
  UntagResourceCommandOutput,
  UpdateAddonCommandInput,
  UpdateAddonCommandOutput,
  UpdateNodegroupConfigCommandInput,
  UpdateNodegroupConfigCommandOutput,
  UpdateNodegroupVersionCommandInput,
  UpdateNodegroupVersionCommandOutput,
} from '@aws-sdk/client-eks';
import type { ListAttachedRolePoliciesCommandInput, ListAttachedRolePoliciesCommandOutput } from '@aws-sdk/client-iam';
import type { GetParameterCommandInput, GetParameterCommandOutput } from '@aws-sdk/client-ssm';
import type { CallErrorKind } from '../windowspool/ports/callResult.ts';

/** The EKS operations in use: input and output of each. config/aws/iam-policy.json allows them. */
export interface EksOperations {
  DescribeCluster: [DescribeClusterCommandInput, DescribeClusterCommandOutput];
  CreateNodegroup: [CreateNodegroupCommandInput, CreateNodegroupCommandOutput];
  DescribeNodegroup: [DescribeNodegroupCommandInput, DescribeNodegroupCommandOutput];
  UpdateNodegroupConfig: [UpdateNodegroupConfigCommandInput, UpdateNodegroupConfigCommandOutput];
  UpdateNodegroupVersion: [UpdateNodegroupVersionCommandInput, UpdateNodegroupVersionCommandOutput];
  DeleteNodegroup: [DeleteNodegroupCommandInput, DeleteNodegroupCommandOutput];
  DescribeUpdate: [DescribeUpdateCommandInput, DescribeUpdateCommandOutput];
  TagResource: [TagResourceCommandInput, TagResourceCommandOutput];
  UntagResource: [UntagResourceCommandInput, UntagResourceCommandOutput];
  DescribeAddon: [DescribeAddonCommandInput, DescribeAddonCommandOutput];
  UpdateAddon: [UpdateAddonCommandInput, UpdateAddonCommandOutput];
  DescribeAccessEntry: [DescribeAccessEntryCommandInput, DescribeAccessEntryCommandOutput];
  CreateAccessEntry: [CreateAccessEntryCommandInput, CreateAccessEntryCommandOutput];
}

/** The EC2 operations in use. */
export interface Ec2Operations {
  DescribeImages: [DescribeImagesCommandInput, DescribeImagesCommandOutput];
  DescribeInstances: [DescribeInstancesCommandInput, DescribeInstancesCommandOutput];
  DescribeInstanceTypes: [DescribeInstanceTypesCommandInput, DescribeInstanceTypesCommandOutput];
  DescribeInstanceTypeOfferings: [
    DescribeInstanceTypeOfferingsCommandInput,
    DescribeInstanceTypeOfferingsCommandOutput,
  ];
  DescribeLaunchTemplateVersions: [
    DescribeLaunchTemplateVersionsCommandInput,
    DescribeLaunchTemplateVersionsCommandOutput,
  ];
  DescribeSubnets: [DescribeSubnetsCommandInput, DescribeSubnetsCommandOutput];
}

/** The SSM operations in use. */
export interface SsmOperations {
  GetParameter: [GetParameterCommandInput, GetParameterCommandOutput];
}

/** The IAM operations in use. */
export interface IamOperations {
  ListAttachedRolePolicies: [ListAttachedRolePoliciesCommandInput, ListAttachedRolePoliciesCommandOutput];
}

/** The Auto Scaling operations in use. */
export interface AutoScalingOperations {
  CreateOrUpdateTags: [CreateOrUpdateTagsCommandInput, CreateOrUpdateTagsCommandOutput];
  DeleteTags: [DeleteTagsCommandInput, DeleteTagsCommandOutput];
  DescribeAutoScalingGroups: [DescribeAutoScalingGroupsCommandInput, DescribeAutoScalingGroupsCommandOutput];
  TerminateInstanceInAutoScalingGroup: [
    TerminateInstanceInAutoScalingGroupCommandInput,
    TerminateInstanceInAutoScalingGroupCommandOutput,
  ];
}

/** Calls an Auto Scaling operation. */
export type AutoScalingCall = <O extends keyof AutoScalingOperations>(
  operation: O,
  input: AutoScalingOperations[O][0],
  signal: AbortSignal,
) => Promise<AutoScalingOperations[O][1]>;

/** Calls an IAM operation. */
export type IamCall = <O extends keyof IamOperations>(
  operation: O,
  input: IamOperations[O][0],
  signal: AbortSignal,
) => Promise<IamOperations[O][1]>;

/** Calls an SSM operation. */
export type SsmCall = <O extends keyof SsmOperations>(
  operation: O,
  input: SsmOperations[O][0],
  signal: AbortSignal,
) => Promise<SsmOperations[O][1]>;

/** Calls an EC2 operation. */
export type Ec2Call = <O extends keyof Ec2Operations>(
  operation: O,
  input: Ec2Operations[O][0],
  signal: AbortSignal,
) => Promise<Ec2Operations[O][1]>;

/** Calls an EKS operation: through the SDK's client in production, in the local AWS' memory in simulations. */
export type EksCall = <O extends keyof EksOperations>(
  operation: O,
  input: EksOperations[O][0],
  signal: AbortSignal,
) => Promise<EksOperations[O][1]>;

/** The AWS services in use. */
export type Service = 'eks' | 'ec2' | 'ssm' | 'autoscaling' | 'iam';

/** A finished call, for metrics. */
export interface FinishedCall {
  readonly service: Service;
  readonly operation: string;
  readonly result: 'ok' | CallErrorKind;
  /** `OK` or the error's name. */
  readonly code: string;
  /** Includes the SDK's retries, excludes waitedSeconds. */
  readonly tookSeconds: number;
  /** For the rate limiter. */
  readonly waitedSeconds: number;
  /** The attempts that the SDK reports; 1 if it reports none. */
  readonly attempts: number;
}

export type CallObserver = (call: FinishedCall) => void;
