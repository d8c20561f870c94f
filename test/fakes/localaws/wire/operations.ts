import type * as autoscaling from '@aws-sdk/client-auto-scaling';
import type * as ec2 from '@aws-sdk/client-ec2';
import type * as eks from '@aws-sdk/client-eks';
import type * as iam from '@aws-sdk/client-iam';
import type * as ssm from '@aws-sdk/client-ssm';
import type * as sts from '@aws-sdk/client-sts';

/** The operations that the local AWS serves, with their input and output as the SDK clients have them. */
export interface Operations {
  DescribeCluster: { input: eks.DescribeClusterRequest; output: eks.DescribeClusterResponse };
  CreateNodegroup: { input: eks.CreateNodegroupRequest; output: eks.CreateNodegroupResponse };
  DescribeNodegroup: { input: eks.DescribeNodegroupRequest; output: eks.DescribeNodegroupResponse };
  ListNodegroups: { input: eks.ListNodegroupsRequest; output: eks.ListNodegroupsResponse };
  DeleteNodegroup: { input: eks.DeleteNodegroupRequest; output: eks.DeleteNodegroupResponse };
  UpdateNodegroupConfig: { input: eks.UpdateNodegroupConfigRequest; output: eks.UpdateNodegroupConfigResponse };
  UpdateNodegroupVersion: { input: eks.UpdateNodegroupVersionRequest; output: eks.UpdateNodegroupVersionResponse };
  DescribeUpdate: { input: eks.DescribeUpdateRequest; output: eks.DescribeUpdateResponse };
  TagResource: { input: eks.TagResourceRequest; output: eks.TagResourceResponse };
  UntagResource: { input: eks.UntagResourceRequest; output: eks.UntagResourceResponse };
  DescribeAddon: { input: eks.DescribeAddonRequest; output: eks.DescribeAddonResponse };
  UpdateAddon: { input: eks.UpdateAddonRequest; output: eks.UpdateAddonResponse };
  CreateAccessEntry: { input: eks.CreateAccessEntryRequest; output: eks.CreateAccessEntryResponse };
  DescribeAccessEntry: { input: eks.DescribeAccessEntryRequest; output: eks.DescribeAccessEntryResponse };
  DescribeInstances: { input: ec2.DescribeInstancesRequest; output: ec2.DescribeInstancesResult };
  DescribeInstanceTypes: { input: ec2.DescribeInstanceTypesRequest; output: ec2.DescribeInstanceTypesResult };
  DescribeInstanceTypeOfferings: {
    input: ec2.DescribeInstanceTypeOfferingsRequest;
    output: ec2.DescribeInstanceTypeOfferingsResult;
  };
  DescribeSecurityGroups: {
    input: ec2.DescribeSecurityGroupsRequest;
    output: ec2.DescribeSecurityGroupsResult;
  };
  DescribeSubnets: { input: ec2.DescribeSubnetsRequest; output: ec2.DescribeSubnetsResult };
  GetEbsEncryptionByDefault: {
    input: ec2.GetEbsEncryptionByDefaultRequest;
    output: ec2.GetEbsEncryptionByDefaultResult;
  };
  DescribeImages: { input: ec2.DescribeImagesRequest; output: ec2.DescribeImagesResult };
  DescribeLaunchTemplates: {
    input: ec2.DescribeLaunchTemplatesRequest;
    output: ec2.DescribeLaunchTemplatesResult;
  };
  DescribeLaunchTemplateVersions: {
    input: ec2.DescribeLaunchTemplateVersionsRequest;
    output: ec2.DescribeLaunchTemplateVersionsResult;
  };
  CreateLaunchTemplate: { input: ec2.CreateLaunchTemplateRequest; output: ec2.CreateLaunchTemplateResult };
  CreateLaunchTemplateVersion: {
    input: ec2.CreateLaunchTemplateVersionRequest;
    output: ec2.CreateLaunchTemplateVersionResult;
  };
  DeleteLaunchTemplateVersions: {
    input: ec2.DeleteLaunchTemplateVersionsRequest;
    output: ec2.DeleteLaunchTemplateVersionsResult;
  };
  DeleteLaunchTemplate: { input: ec2.DeleteLaunchTemplateRequest; output: ec2.DeleteLaunchTemplateResult };
  DescribeAutoScalingGroups: {
    input: autoscaling.AutoScalingGroupNamesType;
    output: autoscaling.AutoScalingGroupsType;
  };
  CreateOrUpdateTags: { input: autoscaling.CreateOrUpdateTagsType; output: Record<string, never> };
  DeleteTags: { input: autoscaling.DeleteTagsType; output: Record<string, never> };
  SetDesiredCapacity: { input: autoscaling.SetDesiredCapacityType; output: Record<string, never> };
  TerminateInstanceInAutoScalingGroup: {
    input: autoscaling.TerminateInstanceInAutoScalingGroupType;
    output: autoscaling.ActivityType;
  };
  GetParameter: { input: ssm.GetParameterRequest; output: ssm.GetParameterResult };
  GetCallerIdentity: { input: sts.GetCallerIdentityRequest; output: sts.GetCallerIdentityResponse };
  GetRole: { input: iam.GetRoleRequest; output: iam.GetRoleResponse };
  ListAttachedRolePolicies: {
    input: iam.ListAttachedRolePoliciesRequest;
    output: iam.ListAttachedRolePoliciesResponse;
  };
}

/** The name of a served operation. */
export type OperationName = keyof Operations;

/** The caller. */
export interface Caller {
  readonly arn: string;
  readonly userAgent: string;
  /** The administrator of the account, without a policy. */
  readonly isAdministrator?: boolean;
}
