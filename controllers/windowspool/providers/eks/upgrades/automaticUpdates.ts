/** When an update begins that nobody asked for by name. Pure. */

import type { ObservedState } from '../../../model/observedState.ts';
import { nodeGroupIn } from '../../../nodeSource.ts';
import type { VersionChange } from '../../../ports/eks.ts';
import { hasFailed, isAskedAgain } from '../failedTarget.ts';
import { isInWindow } from './maintenance.ts';
import { unverifiedRelease } from './releaseFailures.ts';
import { automaticChangeFor, versionChangeFor, versionTargetOf } from './versionChanges.ts';

/** The update of the version that may begin now: it did not fail before, and waits for no maintenance window and no other pool's nodes. */
export function nextVersionChange(s: ObservedState): VersionChange | undefined {
  const change = versionChangeFor(s);
  if (!change || hasFailed(s, versionTargetOf(s.pool, change)) || waitingForWindow(s) || unverifiedRelease(s))
    return undefined;
  return change;
}

/** The automatic update that waits for a maintenance window. What the user pins, or wants to be tried again, never does. */
export function waitingForWindow(s: ObservedState): VersionChange | undefined {
  const change = automaticChangeFor(s);
  if (!change || isInWindow(nodeGroupIn(s.pool.spec).update.maintenanceWindows, s.now)) return undefined;
  const target = versionTargetOf(s.pool, change);
  return hasFailed(s, target) || isAskedAgain(s, target) ? undefined : change;
}
