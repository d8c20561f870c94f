/** The IAM client with the commands in use only. Loaded lazily, as ec2Client.ts. */
export { GetRoleCommand, IAMClient, ListAttachedRolePoliciesCommand } from '@aws-sdk/client-iam';
