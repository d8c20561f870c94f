/** Which failed checks show that a release is bad, not a node. Pure. */

import type { NodeCheck } from '../api/reasons.ts';
import type { CheckFailure } from '../model/poolNodesView.ts';

/** Checks that depend on the AMI alone. Whether a node is Ready or has addresses depends on more, and the least revision on the spec of its pool. */
const ofTheRelease: ReadonlySet<string> = new Set<NodeCheck>([
  'UnknownKernelVersion',
  'WrongBuild',
  'WrongContainerRuntime',
  'KubeletVersionSkew',
]);

/** Whether a node fails this check because of its AMI. */
export function isOfTheRelease({ reason }: { readonly reason: string }): boolean {
  return ofTheRelease.has(reason);
}

/** `WrongBuild: runs build 10.0.17763` */
export function describeFinding({
  reason,
  message,
}: Pick<CheckFailure, 'message'> & { readonly reason: string }): string {
  return `${reason}: ${message}`;
}
