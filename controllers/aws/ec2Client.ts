/**
 * The part of the EC2 client that is used, a module of its own that is loaded when EC2 is first asked. The bundle then holds these commands
 * only: all of them cost 75 MB.
 */
import {
  DescribeImagesCommand,
  DescribeInstancesCommand,
  DescribeInstanceTypeOfferingsCommand,
  DescribeInstanceTypesCommand,
  DescribeLaunchTemplateVersionsCommand,
  DescribeSubnetsCommand,
} from '@aws-sdk/client-ec2';
import type { Ec2Operations } from './calls.ts';

export { EC2Client } from '@aws-sdk/client-ec2';

export const EC2_COMMANDS = {
  DescribeImages: DescribeImagesCommand,
  DescribeInstances: DescribeInstancesCommand,
  DescribeInstanceTypeOfferings: DescribeInstanceTypeOfferingsCommand,
  DescribeInstanceTypes: DescribeInstanceTypesCommand,
  DescribeLaunchTemplateVersions: DescribeLaunchTemplateVersionsCommand,
  DescribeSubnets: DescribeSubnetsCommand,
} satisfies Record<keyof Ec2Operations, unknown>;
