/** The SSM client with the commands in use only. Loaded lazily, as ec2Client.ts. */
import { GetParameterCommand } from '@aws-sdk/client-ssm';
import type { SsmOperations } from './calls.ts';

export { SSMClient } from '@aws-sdk/client-ssm';

export const SSM_COMMANDS = { GetParameter: GetParameterCommand } satisfies Record<keyof SsmOperations, unknown>;
