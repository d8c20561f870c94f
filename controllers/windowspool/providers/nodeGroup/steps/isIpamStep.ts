import type { StepError } from '../../../model/stepError.ts';
import type { Step } from '../../../model/steps.ts';
import type { IpamAttempts } from '../model/checkFacts.ts';

type IpamStep = Extract<Step, { kind: keyof IpamAttempts }>;

/** Whether the step changes Windows IPAM, which is a setting of the whole cluster. */
export function isIpamStep(step: { readonly kind: StepError['step'] }): step is IpamStep {
  return step.kind === 'updateAddon' || step.kind === 'applyCniConfig';
}
