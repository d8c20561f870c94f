/** The AWS clients of a run. Every call is recorded with the names of its input and output members. */
import { AutoScaling } from '@aws-sdk/client-auto-scaling';
import { EC2 } from '@aws-sdk/client-ec2';
import { EKS } from '@aws-sdk/client-eks';
import { SSM } from '@aws-sdk/client-ssm';
// Only this program needs the identity of the caller, so it is a development dependency.
import { STS } from '@aws-sdk/client-sts';
import { toCallError } from '../../controllers/aws/errors.ts';
import type { CallErrorKind } from '../../controllers/windowspool/ports/callResult.ts';

/** A call: its input and output without values. */
export interface NotedCall {
  readonly service: string;
  readonly operation: string;
  readonly asked: unknown;
  /** The form of the output, or the error. */
  readonly answered: unknown;
  readonly milliseconds: number;
}

/** An error of AWS: its kind, its name, such as ResourceNotFoundException, and its message. */
export interface Refusal {
  readonly kind: CallErrorKind;
  readonly name: string;
  readonly message: string;
}

/** The result of a call that may be rejected. */
export type Reply<T> = { readonly output: T } | { readonly refusal: Refusal };

/** The unmodified SDK clients with the credentials of the SDK's default chain, or of a profile. */
export class Aws {
  readonly calls: NotedCall[];
  readonly eks: EKS;
  readonly ec2: EC2;
  readonly autoScaling: AutoScaling;
  readonly ssm: SSM;
  readonly sts: STS;

  constructor(region: string, profile?: string, calls: NotedCall[] = []) {
    const requestHandler = { connectionTimeout: 10_000, requestTimeout: 30_000, throwOnRequestTimeout: true };
    const config = { region, maxAttempts: 5, requestHandler, ...(profile !== undefined && { profile }) };
    this.calls = calls;
    this.eks = new EKS(config);
    this.ec2 = new EC2(config);
    this.autoScaling = new AutoScaling(config);
    this.ssm = new SSM(config);
    this.sts = new STS(config);
    for (const [service, client] of Object.entries(this.#clients())) this.#note(service, client);
  }

  close(): void {
    for (const client of Object.values(this.#clients())) client.destroy();
  }

  #clients() {
    return { eks: this.eks, ec2: this.ec2, autoscaling: this.autoScaling, ssm: this.ssm, sts: this.sts };
  }

  #note(service: string, client: { middlewareStack: { add: EKS['middlewareStack']['add'] } | object }): void {
    const stack = client.middlewareStack as EKS['middlewareStack'];
    stack.add(
      (next, context) => async (args) => {
        const start = performance.now();
        const note = (answered: unknown) =>
          this.calls.push({
            service,
            operation: String(context.commandName ?? '').replace(/Command$/, ''),
            asked: formOf(args.input),
            answered,
            milliseconds: Math.round(performance.now() - start),
          });
        try {
          const result = await next(args);
          note(formOf(result.output));
          return result;
        } catch (error) {
          note(error instanceof Error ? { error: error.name, message: error.message } : { error: String(error) });
          throw error;
        }
      },
      { step: 'initialize', name: 'noteCalls' },
    );
  }
}

/** Awaits a call whose rejection is a result. Throws other errors, such as a broken connection. */
export async function replyOf<T>(call: Promise<T>): Promise<Reply<T>> {
  try {
    return { output: await call };
  } catch (error) {
    if (error instanceof Error && '$metadata' in error && '$fault' in error)
      return { refusal: { kind: toCallError('', error).kind, name: error.name, message: error.message } };
    throw error;
  }
}

/** The output of a call; undefined if the resource does not exist. Throws any other rejection. */
export async function found<T>(call: Promise<T>): Promise<T | undefined> {
  const reply = await replyOf(call);
  if ('output' in reply) return reply.output;
  if (reply.refusal.name === 'ResourceNotFoundException') return undefined;
  throw new Error(`${reply.refusal.name}: ${reply.refusal.message}`);
}

/** Whether the same call may succeed later: EKS is busy with the resource, throttles the caller, or is unavailable. */
export const passes = ({ kind }: Refusal): boolean => ['busy', 'throttled', 'unavailable'].includes(kind);

/** Members whose keys are the user's. */
const MAPS = ['tags', 'labels', 'addOrUpdateLabels', 'Tags'];

/** The form of a value: names of members and types, no values. */
export function formOf(value: unknown, depth = 4): unknown {
  if (value instanceof Date) return 'date';
  if (Array.isArray(value)) return value.length === 0 || depth === 0 ? 'list' : [formOf(value[0], depth - 1)];
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  if (depth === 0) return 'structure';
  const members = Object.entries(value).filter(([name, item]) => name !== '$metadata' && item !== undefined);
  return Object.fromEntries(
    members.map(([name, item]) => [name, MAPS.includes(name) ? 'map' : formOf(item, depth - 1)]),
  );
}
