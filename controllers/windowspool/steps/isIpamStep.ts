import type { IpamAttempts } from '../model/prerequisites.ts';
import type { Step } from '../model/steps.ts';

/** Whether the step changes Windows IPAM, which is a setting of the whole cluster. */
export function isIpamStep(step: { readonly kind: string }): step is Extract<Step, { kind: keyof IpamAttempts }> {
  return step.kind === 'updateAddon' || step.kind === 'applyCniConfig';
}
