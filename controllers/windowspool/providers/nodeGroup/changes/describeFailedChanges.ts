/** Changes that EKS refused or failed to make: whether and when they are tried again. What failed is derived in derive/failures.ts. Pure. */

import type { WindowsPool } from '../../../api/api.gen.ts';
import { RETRY_ANNOTATION } from '../../../api/labels.ts';
import type { Reason } from '../../../api/reasons.ts';
import type { ConditionState } from '../../../model/conditions.ts';
import type { NodeGroupUpdate } from '../../../ports/eks.ts';
import { joined, uncapitalized } from '../../../util/words.ts';
import type { EksDerived, FailedTarget, Failures } from '../model/groupDue.ts';

/** The maximum number of entries in the schema. */
export const MOST_FAILED_CHANGES = 11;

/** The reason of a change that may succeed later. */
export const NOT_OFFERED = 'ReleaseNotOffered' satisfies Reason;

/** Whether the same change may succeed later, without a change of the spec. */
export function isRetriable({ reason }: Pick<FailedTarget, 'reason'>): boolean {
  return reason === NOT_OFFERED;
}

/** The failure of the change with this target. */
export function failureOf({ targets }: Failures, target: string): FailedTarget | undefined {
  return targets.find((failed) => failed.target === target);
}

/** The reason that conditions report for a failed change. */
export function reasonOf(failed: FailedTarget | undefined): Reason {
  return (failed?.reason ?? 'UpdateFailed') as Reason;
}

/** What speaks against a retry of a failed change, what to do before it, and when it is retried, in sentences. The command is the end. */
export function describeRetry({ pool, due }: EksDerived, failed: FailedTarget): string {
  if (isRetriable(failed)) return `Retried at each --resync-interval. To retry now: ${retryCommand(pool)}`;
  const elsewhere = failed.reason === 'UpdateFailed' ? due.version?.releaseFailure?.pool : undefined;
  const remedy = failed.remedy ? `${failed.remedy}, and retry` : 'Not retried until the spec changes or you run';
  if (!elsewhere) return `${remedy}: ${retryCommand(pool)}`;
  const first = `First fix WindowsPool ${elsewhere}, where this release fails verification (kubectl describe wp ${elsewhere}).`;
  const then = failed.remedy ? `Then ${uncapitalized(remedy)}` : 'Then retry';
  return `${first} ${then}: ${retryCommand(pool)}`;
}

/** The words of EKS about an update that has just failed, if the message has other ones. */
export function quoteOfUpdate(
  { pool, update }: EksDerived,
  { target, reason, message }: FailedTarget,
): Pick<ConditionState, 'quote'> {
  const isLast = pool.status?.nodeGroup?.update?.target === target;
  if (reason !== 'UpdateFailed' || update?.status !== 'Failed' || !isLast) return {};
  const words = update.errors.map(describeError).join(' ');
  return words === '' || message.includes(words) ? {} : { quote: words };
}

/** The command that retries a failed change. */
export function retryCommand({ metadata }: WindowsPool): string {
  return `kubectl annotate wp ${metadata.name} ${RETRY_ANNOTATION}=$(date +%s) --overwrite`;
}

/** The message of EKS, with the resources that it does not name itself. */
export function describeError({ code, message, resourceIds }: NodeGroupUpdate['errors'][number]): string {
  const named = resourceIds.filter((id) => !message.includes(id));
  return `${code}: ${message}${named.length > 0 ? ` (${joined(named)})` : ''}`;
}
