/** Uses another key for the gate taint if EKS rejects the default key. Pure. */
import { PLAIN_GATE_TAINT_KEY } from '../../../api/labels.ts';
import type { Outcome } from '../../../model/outcome.ts';
import type { StepError } from '../../../model/stepError.ts';
import { GATE_TAINT, gateTaintOf } from '../../../nodes/nodeTaints.ts';
import type { EksState } from '../model/groupState.ts';
import { isReservedTaint } from './reservedTaints.ts';

const CODE = 'GateTaintRefused';

/**
 * Turns the rejection of the default key into a transient error, because the next attempt uses the other key and the spec is not at fault. No source
 * says whether EKS rejects the key, which is in a subdomain of kubernetes.io.
 */
export function tolerateGateKey(outcome: Outcome<EksState>): Outcome<EksState> {
  const { after } = outcome;
  if (!after.errors.some((entry) => isGateRefusal(entry, after))) return outcome;
  const errors = after.errors.map((entry) =>
    isGateRefusal(entry, after)
      ? { ...entry, error: { ...entry.error, kind: 'conflict' as const, code: CODE } }
      : entry,
  );
  return { ...outcome, after: { ...after, errors } };
}

/** The key that replaces the default one; absent while EKS has not rejected that. */
export function gateTaintState({ pool, errors }: EksState): { readonly gateTaint?: string } {
  const isRefused = errors.some(({ error }) => error.code === CODE);
  const gateTaint = isRefused ? PLAIN_GATE_TAINT_KEY : pool.status?.tracking?.gateTaint;
  return gateTaint === undefined ? {} : { gateTaint };
}

function isGateRefusal({ step, error }: StepError, { pool }: EksState): boolean {
  const isSent = step === 'createNodeGroup' || step === 'updateConfig' || step === 'createCanary';
  const isDefaultKey = pool.spec.verification.policy === 'Gate' && gateTaintOf(pool) === GATE_TAINT;
  return isSent && isDefaultKey && isReservedTaint(error);
}
