/** The checks that need only the API server, for users without AWS credentials. */

import { type CheckResult, runChecks } from '../../../checks/runChecks.ts';
import type { SystemObjects } from '../../../ports/prerequisites.ts';
import { linuxNode } from './linuxNodeCheck.ts';
import { legacyController, podWebhook } from './resourceControllerChecks.ts';
import { windowsIpam } from './windowsIpamCheck.ts';

/** Checks the cluster, whose name messages show. */
export async function checkSystem(
  system: SystemObjects,
  name: string,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  const [cniConfig, accepting, webhook, legacy] = await Promise.all([
    system.cniConfig(signal),
    system.linuxNode(signal),
    system.podWebhook(signal),
    system.legacyController(signal),
  ]);
  const facts = { complete: false, cniConfig, linuxNode: accepting, podWebhook: webhook, legacyController: legacy };
  const checks = [linuxNode, windowsIpam, legacyController, podWebhook];
  return runChecks(checks, { facts, cluster: { name } }, new Set()).all;
}
