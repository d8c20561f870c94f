/** The part of the SSM client that is used, a module of its own that is loaded at its first use, like that of EC2. */
import { GetParameterCommand } from '@aws-sdk/client-ssm';
import type { SsmOperations } from './calls.ts';

export { SSMClient } from '@aws-sdk/client-ssm';

export const SSM_COMMANDS = { GetParameter: GetParameterCommand } satisfies Record<keyof SsmOperations, unknown>;
