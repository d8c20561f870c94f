/** The part of the Auto Scaling client that is used, a module of its own that is loaded at its first use, like that of EC2. */
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
