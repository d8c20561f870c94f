/** Steps that enable Windows IPAM for the whole cluster. */

import { IPAM_KEY } from '../../../checks/windowsIpam.ts';
import type { Outcome } from '../../../model/outcome.ts';
import { changed, type StepKinds, when } from '../../../steps/stepKind.ts';
import type { EksState } from '../model/groupState.ts';
import { withFacts } from './withFacts.ts';

/** The configuration value that enables Windows IPAM in the vpc-cni add-on: a string in its schema. */
const ADDON_VALUES = { enableWindowsIpam: 'true' } as const;

import type { Addon, ConfigMapOwner } from '../../../ports/prerequisites.ts';

declare module '../../../model/steps.ts' {
  interface Steps {
    /** Enables Windows IPAM for the whole cluster in the vpc-cni add-on, when that owns the setting. */
    updateAddon: { cluster: string; addon: Addon; token: string };
    /** Enables Windows IPAM for the whole cluster in ConfigMap kube-system/amazon-vpc-cni. */
    applyCniConfig: {
      seen: ConfigMapOwner | undefined;
      /** Which tool may revert it, and the remedy. */
      warning?: string;
    };
  }
}

export const windowsIpamSteps: StepKinds<'updateAddon' | 'applyCniConfig'> = {
  updateAddon: {
    subject: () => 'Windows IPAM',
    describe: ({ cluster }) => `set enableWindowsIpam: "true" in the vpc-cni add-on of cluster ${cluster}`,
    reason: 'WindowsIPAMEnabled',
    writesAws: true,
    startsUpdate: true,
    run: async ({ addon, token }, outcome: Outcome<EksState>, { addons }, signal) =>
      when(await addons.configure('vpc-cni', ADDON_VALUES, addon, token, signal), () =>
        withFacts(outcome, { cniAddon: { ok: true, value: { ...addon, status: 'UPDATING' } } }),
      ),
  },
  applyCniConfig: {
    subject: () => 'Windows IPAM',
    describe: ({ warning }) =>
      `set ${IPAM_KEY}: "true" in ConfigMap kube-system/amazon-vpc-cni${warning === undefined ? '' : `. ${warning}`}`,
    reason: 'WindowsIPAMEnabled',
    isWarning: ({ warning }) => warning !== undefined,
    needsFreshRead: true,
    waitsForRead: true,
    run: async ({ seen }, outcome: Outcome<EksState>, { system }, signal) =>
      when(await system.setCniConfig(IPAM_KEY, 'true', seen, signal), () => {
        const { ipamAttempts, now, prerequisites } = outcome.after;
        const data = prerequisites?.cniConfig?.ok ? prerequisites.cniConfig.value : undefined;
        // The pool continues in the same run.
        const known = withFacts(outcome, { cniConfig: { ok: true, value: { ...data, [IPAM_KEY]: 'true' } } });
        return changed(known, { ipamAttempts: { ...ipamAttempts, applyCniConfig: now } });
      }),
  },
};
