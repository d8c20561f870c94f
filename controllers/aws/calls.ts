/** The AWS operations that the operator uses: those whose commands the client modules export. */
import type { CallErrorKind, CallResult } from '../windowspool/ports/callResult.ts';

/** A client module: a client of the SDK, and its commands in use. */
type ClientModule = Readonly<Record<string, abstract new (input: never) => object>>;

/** Input and output of a command of the SDK. */
type InputAndOutput<C> = C extends {
  readonly input: infer I;
  resolveMiddleware(...options: never): (...args: never) => Promise<{ readonly output: infer O }>;
}
  ? readonly [I, O]
  : never;

/** The operations of a client module, with input and output of each. */
type Operations<M extends ClientModule> = {
  readonly [K in keyof M as K extends `${infer O}Command` ? O : never]: InputAndOutput<InstanceType<M[K]>>;
};

type AnyOperations<Ops> = Readonly<Record<keyof Ops, readonly [unknown, unknown]>>;

/** Calls an operation of a service: through the SDK's client in production, in the local AWS' memory in simulations. Rejects with an error of the SDK. */
export type SdkCall<Ops extends AnyOperations<Ops>> = <O extends keyof Ops & string>(
  operation: O,
  input: Ops[O][0],
  signal: AbortSignal,
) => Promise<Ops[O][1]>;

/** The same within the limits of the service, with expected errors as values. */
export type Call<Ops extends AnyOperations<Ops>> = <O extends keyof Ops & string>(
  operation: O,
  input: Ops[O][0],
  signal: AbortSignal,
) => Promise<CallResult<Ops[O][1]>>;

export type EksOperations = Operations<typeof import('./eksClient.ts')>;
export type EksCall = Call<EksOperations>;
export type Ec2Operations = Operations<typeof import('./ec2Client.ts')>;
export type Ec2Call = Call<Ec2Operations>;
export type SsmOperations = Operations<typeof import('./ssmClient.ts')>;
export type SsmCall = Call<SsmOperations>;
export type IamOperations = Operations<typeof import('./iamClient.ts')>;
export type IamCall = Call<IamOperations>;
export type AutoScalingOperations = Operations<typeof import('./autoScalingClient.ts')>;
export type AutoScalingCall = Call<AutoScalingOperations>;

/** The AWS services in use. */
export type Service = 'eks' | 'ec2' | 'ssm' | 'autoscaling' | 'iam';

/** A finished call, for metrics. */
export interface FinishedCall {
  readonly service: Service;
  readonly operation: string;
  readonly result: 'ok' | CallErrorKind;
  /** `OK` or the error's name. */
  readonly code: string;
  /** Includes the SDK's retries, excludes waitedSeconds. */
  readonly tookSeconds: number;
  /** For the rate limiter. */
  readonly waitedSeconds: number;
  /** The attempts that the SDK reports; 1 if it reports none. */
  readonly attempts: number;
}

export type CallObserver = (call: FinishedCall) => void;
