/** The Auto Scaling client with the commands in use only. Loaded lazily, as ec2Client.ts. */
import {
  CreateOrUpdateTagsCommand,
  DeleteTagsCommand,
  DescribeAutoScalingGroupsCommand,
  TerminateInstanceInAutoScalingGroupCommand,
} from '@aws-sdk/client-auto-scaling';
import type { AutoScalingOperations } from './calls.ts';

export { AutoScalingClient } from '@aws-sdk/client-auto-scaling';

export const AUTO_SCALING_COMMANDS = {
  CreateOrUpdateTags: CreateOrUpdateTagsCommand,
  DeleteTags: DeleteTagsCommand,
  DescribeAutoScalingGroups: DescribeAutoScalingGroupsCommand,
  TerminateInstanceInAutoScalingGroup: TerminateInstanceInAutoScalingGroupCommand,
} satisfies Record<keyof AutoScalingOperations, unknown>;
