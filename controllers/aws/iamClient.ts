/** The part of the IAM client that is used, a module of its own that is loaded at its first use, like that of EC2. */
import { ListAttachedRolePoliciesCommand } from '@aws-sdk/client-iam';
import type { IamOperations } from './calls.ts';

export { IAMClient } from '@aws-sdk/client-iam';

export const IAM_COMMANDS = { ListAttachedRolePolicies: ListAttachedRolePoliciesCommand } satisfies Record<
  keyof IamOperations,
  unknown
>;
