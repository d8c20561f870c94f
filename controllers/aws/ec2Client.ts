/** The EC2 client with the commands in use only: all of them take 75 MB of memory. A separate module, so that it can be loaded lazily. */
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
