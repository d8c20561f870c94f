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

/** The EKS operations that are used: input and output of each. config/aws/iam-policy.json grants them. */
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

/** The EC2 operations that are used. */
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

/** The SSM operations that are used. */
export interface SsmOperations {
  GetParameter: [GetParameterCommandInput, GetParameterCommandOutput];
}

/** The IAM operations that are used. */
export interface IamOperations {
  ListAttachedRolePolicies: [ListAttachedRolePoliciesCommandInput, ListAttachedRolePoliciesCommandOutput];
}

/** The Auto Scaling operations that are used. */
export interface AutoScalingOperations {
  CreateOrUpdateTags: [CreateOrUpdateTagsCommandInput, CreateOrUpdateTagsCommandOutput];
  DeleteTags: [DeleteTagsCommandInput, DeleteTagsCommandOutput];
  DescribeAutoScalingGroups: [DescribeAutoScalingGroupsCommandInput, DescribeAutoScalingGroupsCommandOutput];
  TerminateInstanceInAutoScalingGroup: [
    TerminateInstanceInAutoScalingGroupCommandInput,
    TerminateInstanceInAutoScalingGroupCommandOutput,
  ];
}

/** One Auto Scaling call. */
export type AutoScalingCall = <O extends keyof AutoScalingOperations>(
  operation: O,
  input: AutoScalingOperations[O][0],
  signal: AbortSignal,
) => Promise<AutoScalingOperations[O][1]>;

/** One IAM call. */
export type IamCall = <O extends keyof IamOperations>(
  operation: O,
  input: IamOperations[O][0],
  signal: AbortSignal,
) => Promise<IamOperations[O][1]>;

/** One SSM call. */
export type SsmCall = <O extends keyof SsmOperations>(
  operation: O,
  input: SsmOperations[O][0],
  signal: AbortSignal,
) => Promise<SsmOperations[O][1]>;

/** One EC2 call. */
export type Ec2Call = <O extends keyof Ec2Operations>(
  operation: O,
  input: Ec2Operations[O][0],
  signal: AbortSignal,
) => Promise<Ec2Operations[O][1]>;

/** One EKS call. The SDK's client is behind it in production, the local AWS' memory in model tests. */
export type EksCall = <O extends keyof EksOperations>(
  operation: O,
  input: EksOperations[O][0],
  signal: AbortSignal,
) => Promise<EksOperations[O][1]>;

/** The services of AWS that are used. */
export type Service = 'eks' | 'ec2' | 'ssm' | 'autoscaling' | 'iam';

/** A finished call, for metrics. */
export interface FinishedCall {
  readonly service: Service;
  readonly operation: string;
  readonly result: 'ok' | CallErrorKind;
  /** `OK` or the error's name. */
  readonly code: string;
  /** With the SDK's own retries, without the wait. */
  readonly tookSeconds: number;
  /** For the rate limiter. */
  readonly waitedSeconds: number;
  /** How often the SDK tried, as it says; 1 where it does not. */
  readonly attempts: number;
}

export type CallObserver = (call: FinishedCall) => void;
