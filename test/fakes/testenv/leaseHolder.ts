/** Which replica held the lease when a write arrived. */
import { type AuditEvent, describeWrite, isAccepted, isFencedWrite } from './audit.ts';

/** A write of a replica. `text` describes it. */
export interface ReplicaWrite {
  /** `lease`: the API server has accepted it, and the replica holds the lease from then on. `release`: no replica holds it from then on. */
  readonly kind: 'lease' | 'release' | 'write';
  readonly replica: string;
  readonly text: string;
}

/** The writes of replicas that did not hold the lease when they arrived. `writes` is in the order of arrival. */
export function writesWithoutLease<W extends ReplicaWrite>(writes: Iterable<W>): W[] {
  let holder: string | undefined;
  const found: W[] = [];
  for (const write of writes) {
    if (write.kind === 'lease') holder = write.replica;
    else if (write.kind === 'release') holder = undefined;
    else if (write.replica !== holder) found.push(write);
  }
  return found;
}

/** What a request of a replica in the audit log is; undefined if it neither changes the lease nor is a write that only the leader may send. */
export function replicaWrite(event: AuditEvent, replica: string): ReplicaWrite | undefined {
  const text = describeWrite(event);
  if (isFencedWrite(event)) return { kind: 'write', replica, text };
  const { verb, objectRef, requestObject } = event;
  if (objectRef?.resource !== 'leases' || !['create', 'update'].includes(verb) || !isAccepted(event)) return undefined;
  // Without a request object, a release cannot be distinguished. Its replica then counts as the holder.
  const { spec } = (requestObject ?? {}) as { readonly spec?: { readonly holderIdentity?: string } };
  const isReleased = spec !== undefined && !spec.holderIdentity;
  return { kind: isReleased ? 'release' : 'lease', replica, text };
}
