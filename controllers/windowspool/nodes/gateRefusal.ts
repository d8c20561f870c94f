/** Where EKS refuses the key of the gate's taint, another one is used. Pure. */
import type { Outcome } from '../act.ts';
import { PLAIN_GATE_TAINT_KEY } from '../labels.ts';
import type { Situation, StepTrouble } from '../situation.ts';
import { GATE_TAINT, gateTaintOf } from './nodeTaints.ts';

const CODE = 'GateTaintRefused';

/**
 * A refusal of the usual key is no fault of the spec: it becomes trouble that passes, because the next try is with the other key. No source
 * says that EKS refuses it. Labels with kubernetes.io/ were once refused ("cannot contain reserved prefixes"), hence the words looked for.
 */
export function excuseGateKey(outcome: Outcome): Outcome {
  const { after } = outcome;
  if (!after.troubles.some((entry) => isGateRefusal(entry, after))) return outcome;
  const troubles = after.troubles.map((entry) =>
    isGateRefusal(entry, after)
      ? { ...entry, trouble: { ...entry.trouble, kind: 'conflict' as const, code: CODE } }
      : entry,
  );
  return { ...outcome, after: { ...after, troubles } };
}

/** The key that replaces the usual one; none while that was not refused. */
export function gateTaintState({ pool, troubles }: Situation): { readonly gateTaint?: string } {
  const isRefused = troubles.some(({ trouble }) => trouble.code === CODE);
  const gateTaint = isRefused ? PLAIN_GATE_TAINT_KEY : pool.status?.nodeGroup?.gateTaint;
  return gateTaint === undefined ? {} : { gateTaint };
}

function isGateRefusal({ step, trouble }: StepTrouble, { pool }: Situation): boolean {
  const isSent = step === 'createNodeGroup' || step === 'updateConfig';
  const isUsual = pool.spec.verification.policy === 'Gate' && gateTaintOf(pool) === GATE_TAINT;
  const words = /taint.*(reserved|prefix|startup-taint)/i;
  return isSent && isUsual && trouble.kind === 'refused' && words.test(trouble.message);
}
