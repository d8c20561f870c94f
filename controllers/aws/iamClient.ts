/** The IAM client with the commands in use only. Loaded lazily, as ec2Client.ts. */
import { ListAttachedRolePoliciesCommand } from '@aws-sdk/client-iam';
import type { IamOperations } from './calls.ts';

export { IAMClient } from '@aws-sdk/client-iam';

export const IAM_COMMANDS = { ListAttachedRolePolicies: ListAttachedRolePoliciesCommand } satisfies Record<
  keyof IamOperations,
  unknown
>;
