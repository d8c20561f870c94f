/** Taints that EKS may reject because of their prefix. Pure. */
import type { WindowsPool } from '../../../api/api.gen.ts';
import { readinessTaintIn } from '../../../nodes/nodeTaints.ts';
import type { CallError } from '../../../ports/callResult.ts';

/**
 * Whether EKS rejected the prefix of a taint. Users saw it reject `kubernetes.io/arch`, without quoting its words; those for labels are "Label cannot contain
 * reserved prefixes [kubernetes.io/, k8s.io/, eks.amazonaws.com/]". The API server accepts no such labels in a pool.
 */
export function isReservedTaint({ kind, message }: CallError): boolean {
  return (
    kind === 'refused' && /\b(?:taint|label|key)s?\b.*(?:reserved|prefix)|startup-taint|readiness\.k8s/i.test(message)
  );
}

/** What to do about a taint of the spec that EKS rejects, as the rest of a message; empty for other errors. The Node Readiness Controller accepts no other prefix. */
export function remedyForTaint({ spec }: WindowsPool, error: CallError): string {
  const taint = readinessTaintIn(spec);
  if (!taint || !isReservedTaint(error)) return '';
  return `${error.message.endsWith('.') ? '' : '.'} The pool sets the taint ${taint.key}. Remove verification.readinessTaint: the operator then gates the nodes itself`;
}
