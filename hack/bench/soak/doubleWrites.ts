/** Finds writes that must not exist: of a replica that did not lead, second terminations of an instance, second node groups of a pool. */
import type { CallEntry } from '../../../test/fakes/localaws/wire/callLog.ts';
import { type AuditEvent, isAccepted } from '../../../test/fakes/testenv/audit.ts';
import { type ReplicaWrite, replicaWrite, writesWithoutLease } from '../../../test/fakes/testenv/leaseHolder.ts';

/** A call to AWS that may change something. */
export type AwsWrite = Pick<CallEntry, 'at' | 'operation' | 'input' | 'userAgent' | 'result' | 'isDone'>;

/** Whether an operation of AWS may change something. */
export function isAwsWrite({ operation }: Pick<CallEntry, 'operation'>): boolean {
  return !/^(Describe|Get|List)/.test(operation);
}

export interface TimedWrite extends ReplicaWrite {
  /** In milliseconds since the epoch: of a write, when it arrived; of the lease, when it was written. */
  readonly at: number;
  readonly isAccepted: boolean;
}

/** Names the replica of a request; undefined if it is of another client. */
export type ReplicaOf<T> = (request: T) => string | undefined;

/** A request in the audit log as a write of a replica; undefined if it is none. */
export function timedWrite(event: AuditEvent, replicaOf: ReplicaOf<AuditEvent>): TimedWrite | undefined {
  const replica = replicaOf(event);
  const write = replica === undefined ? undefined : replicaWrite(event, replica);
  if (!write) return undefined;
  // The holder writes nothing before it has the response, which is sent after this time.
  const time = write.kind === 'write' ? event.requestReceivedTimestamp : event.stageTimestamp;
  if (time === undefined) throw new Error(`The audit log has no time of ${write.text}.`);
  return { ...write, at: Date.parse(time), isAccepted: isAccepted(event) };
}

/** A call to AWS as a write of a replica. */
export function timedCall(call: AwsWrite, replica: string): TimedWrite {
  const { at, operation, result, isDone } = call;
  return { kind: 'write', replica, text: `${operation}: ${result}`, at: Date.parse(at), isAccepted: isDone };
}

/** A replica reports that it was paused while it sent requests, which may have arrived after the pause: the limit in test/README.md. */
export interface PauseReport {
  readonly replica: string;
  /** When it continued. */
  readonly at: number;
  /** How many requests it was sending. */
  readonly requests: number;
}

/** A request arrives within this time after the process continued and sent it, on a busy machine, too. */
const ARRIVAL_MS = 2_000;

/** What the writes of all replicas show. */
export interface LeaseReport {
  readonly writes: number;
  /** How often another replica than the last one wrote the lease. */
  readonly takeovers: number;
  /** Writes that were carried out, of replicas that did not hold the lease. */
  readonly accepted: readonly string[];
  /** The same, except those that a replica was sending when it was paused. */
  readonly unexplained: readonly string[];
  /** Writes that were rejected, of replicas that did not hold the lease. */
  readonly rejected: readonly string[];
}

/** Compares each write with the holder of the lease at its time. The order of `writes` does not matter. */
export function leaseReport(writes: readonly TimedWrite[], pauses: readonly PauseReport[] = []): LeaseReport {
  // The lease first: times are compared by milliseconds, and its new holder may write within the same one.
  const rank = ({ kind }: TimedWrite) => (kind === 'write' ? 1 : 0);
  const ordered = writes.toSorted((a, b) => a.at - b.at || rank(a) - rank(b));
  const holders = ordered.filter(({ kind }) => kind === 'lease').map(({ replica }) => replica);
  const stray = writesWithoutLease(ordered);
  const accepted = stray.filter((write) => write.isAccepted);
  const describe = ({ at, replica, text }: TimedWrite) => `${new Date(at).toISOString()} ${replica}: ${text}`;
  return {
    writes: ordered.filter(({ kind }) => kind === 'write').length,
    takeovers: holders.filter((holder, index) => index > 0 && holder !== holders[index - 1]).length,
    accepted: accepted.map(describe),
    unexplained: unexplained(accepted, pauses).map(describe),
    rejected: stray.filter((write) => !write.isAccepted).map(describe),
  };
}

/** The writes that no report of a pause explains. Each report explains at most as many as its replica was sending. */
function unexplained(writes: readonly TimedWrite[], pauses: readonly PauseReport[]): TimedWrite[] {
  const left = pauses.map((pause) => ({ ...pause }));
  return writes.filter(({ replica, at }) => {
    const pause = left.find(
      (each) => each.replica === replica && each.requests > 0 && Math.abs(at - each.at) <= ARRIVAL_MS,
    );
    if (pause) pause.requests--;
    return pause === undefined;
  });
}

/** The instances that AWS was asked to terminate more than once, with success. */
export function doubleTerminations(calls: readonly AwsWrite[]): string[] {
  const counts = new Map<string, number>();
  for (const { operation, input, isDone } of calls) {
    if (operation !== 'TerminateInstanceInAutoScalingGroup' || !isDone) continue;
    const { InstanceId: id = '' } = input as { readonly InstanceId?: string };
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > 1).map(([id, count]) => `${id}: ${count} times`);
}

/** Node groups that were created while a group of the same name, from another request, was not deleted. `calls` is in the order of arrival. */
export function doubleCreations(calls: readonly AwsWrite[]): string[] {
  const tokens = new Map<string, string>();
  const found: string[] = [];
  for (const { operation, input, isDone, at } of calls) {
    const { nodegroupName: name = '', clientRequestToken: token = '' } = input as {
      readonly nodegroupName?: string;
      readonly clientRequestToken?: string;
    };
    if (!isDone) continue;
    if (operation === 'DeleteNodegroup') tokens.delete(name);
    if (operation !== 'CreateNodegroup') continue;
    // The same token is the same request for EKS.
    if ((tokens.get(name) ?? token) !== token) found.push(`${name} at ${at}`);
    tokens.set(name, token);
  }
  return found;
}
