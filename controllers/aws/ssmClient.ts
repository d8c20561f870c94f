/** The SSM client with the commands in use only. Loaded lazily, as ec2Client.ts. */
export { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
