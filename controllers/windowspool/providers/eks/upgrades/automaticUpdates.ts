/** When an automatic update begins. Pure. */

import type { ObservedState } from '../../../model/observedState.ts';
import { nodeGroupIn } from '../../../nodeSource.ts';
import type { VersionChange } from '../../../ports/eks.ts';
import { hasFailed, isAskedAgain } from '../failedTarget.ts';
import { isInWindow } from './maintenance.ts';
import { unverifiedRelease } from './releaseFailures.ts';
import { automaticChangeFor, versionChangeFor, versionTargetOf } from './versionChanges.ts';

/**
 * The version update that may begin now: it has not failed before, and waits neither for a maintenance window nor for a release to be
 * verified in another pool.
 */
export function nextVersionChange(s: ObservedState): VersionChange | undefined {
  const change = versionChangeFor(s);
  if (!change || hasFailed(s, versionTargetOf(s.pool, change)) || waitingForWindow(s) || unverifiedRelease(s))
    return undefined;
  return change;
}

/** The automatic update that waits for a maintenance window. Updates that the user pins or retries never wait. */
export function waitingForWindow(s: ObservedState): VersionChange | undefined {
  const change = automaticChangeFor(s);
  if (!change || isInWindow(nodeGroupIn(s.pool.spec).update.maintenanceWindows, s.now)) return undefined;
  const target = versionTargetOf(s.pool, change);
  return hasFailed(s, target) || isAskedAgain(s, target) ? undefined : change;
}
