import { AutoScalingServiceException } from '@aws-sdk/client-auto-scaling';
import { EC2ServiceException } from '@aws-sdk/client-ec2';
import { EKSServiceException } from '@aws-sdk/client-eks';
import { IAMServiceException } from '@aws-sdk/client-iam';
import { SSMServiceException } from '@aws-sdk/client-ssm';
import { STSServiceException } from '@aws-sdk/client-sts';
import type { AwsFault } from './awsFault.ts';
import { Faults } from './faults.ts';
import { callerArnOf, policyFor } from './localAws.ts';
import { LocalAwsState, type StateOptions } from './state.ts';
import type { Breakage } from './wire/callFaults.ts';
import { serviceOf } from './wire/calls.ts';
import { Front } from './wire/front.ts';
import type { OperationName, Operations } from './wire/operations.ts';
import type { Service } from './wire/shapes.ts';

/**
 * The same local AWS without a wire, for model tests: no sockets, no timers, only the given clock. Rejects with the errors of the SDK
 * clients: name, message and `$metadata.httpStatusCode` are equal.
 */
export class MemoryCloud {
  readonly state: LocalAwsState;
  readonly front: Front;
  readonly faults: Faults;
  #requests = 0;

  constructor(options: StateOptions & { readonly policy?: string }) {
    this.state = new LocalAwsState(options);
    this.front = new Front(this.state, policyFor(this.state, options.policy));
    this.faults = new Faults(this.state, this.front);
  }

  /** Sends one call. A call that hangs is rejected at once with the SDK's time-out: no real time passes here. */
  async send<K extends OperationName>(
    operation: K,
    input: Operations[K]['input'],
    signal?: AbortSignal,
  ): Promise<Operations[K]['output'] & { readonly $metadata: object }> {
    if (signal?.aborted === true) throw named('AbortError', 'Request aborted');
    const service = serviceOf(operation);
    const caller = { arn: callerArnOf(this.state), userAgent: 'memory' };
    const reply = await this.front.serve(service, operation, input, caller);
    if (reply.kind === 'breakage') throw breakageError(service, reply.breakage);
    this.#requests += 1;
    const $metadata = { requestId: `memory-${this.#requests}`, attempts: 1, totalRetryDelay: 0 };
    if (reply.kind === 'fault') {
      throw serviceError(service, reply.fault, { ...$metadata, httpStatusCode: reply.fault.httpStatus });
    }
    return { ...(reply.output as Operations[K]['output']), $metadata: { ...$metadata, httpStatusCode: 200 } };
  }
}

const exceptions = {
  eks: EKSServiceException,
  ec2: EC2ServiceException,
  autoscaling: AutoScalingServiceException,
  ssm: SSMServiceException,
  sts: STSServiceException,
  iam: IAMServiceException,
};

function serviceError(
  service: Service,
  { name, message, httpStatus }: Pick<AwsFault, 'name' | 'message' | 'httpStatus'>,
  $metadata: object,
): Error {
  return new exceptions[service]({ name, message, $fault: httpStatus < 500 ? 'client' : 'server', $metadata });
}

// The format of the SDK clients 3.1169.0; `faults over HTTP` in wire/callFaults.test.ts compares it.
function breakageError(service: Service, { kind, status }: Breakage): Error {
  const $metadata = { attempts: 1, totalRetryDelay: 0 };
  if (kind === 'reset')
    return Object.assign(named('TimeoutError', 'read ECONNRESET'), { code: 'ECONNRESET', $metadata });
  if (kind === 'hang')
    return Object.assign(named('TimeoutError', 'a request has exceeded the requestTimeout'), {
      code: 'ETIMEDOUT',
      $metadata,
    });
  const withStatus = { ...$metadata, httpStatusCode: status };
  if (kind === 'html' && isJson(service))
    return Object.assign(new SyntaxError('Unexpected token < in JSON'), { $metadata: withStatus });
  const message = isJson(service) ? 'UnknownError' : 'Unknown';
  return serviceError(service, { name: 'Unknown', message, httpStatus: status }, withStatus);
}

const isJson = (service: Service): boolean => service === 'eks' || service === 'ssm';

const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });
