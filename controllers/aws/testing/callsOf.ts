/** Calls of a service without its SDK client, for tests of the adapters. */
import { realClock } from '../../runtime/clock.ts';
import type {
  AutoScalingOperations,
  Call,
  Ec2Operations,
  EksOperations,
  IamOperations,
  SdkCall,
  SsmOperations,
} from '../calls.ts';
import { AwsRateLimiter } from '../rateLimiter.ts';

type AllOperations = EksOperations & Ec2Operations & SsmOperations & IamOperations & AutoScalingOperations;

/** Calls that `send` answers in place of any service. */
export function callsOf(send: (operation: string, input: never) => Promise<unknown>): Call<AllOperations> {
  return new AwsRateLimiter(() => undefined, realClock).calls('eks', send as unknown as SdkCall<AllOperations>);
}
