/** Shared by the suites about several replicas: which one leads, and what it wrote. */
import { waitFor } from '../../hack/controlplane/wait.ts';
import { type AuditEvent, isFencedWrite, ofOperator, readAudit } from '../fakes/testenv/audit.ts';
import type { OperatorProcess } from '../fakes/testenv/operatorProcess.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';

/** Of two replicas or more. Leader election has its default times: a lease of 15 s, renewed every 2 s, given up after 10 s. */
export const REPLICA_FLAGS = ['--poll-interval=200ms', '--retry-base=50ms', '--retry-max=1s'];

export const LEASE = ['lease', 'windowspool-operator', '-n', 'kube-system'] as const;

/** Whether the replica leads, according to its metric. */
async function leads(operator: OperatorProcess): Promise<boolean> {
  if (!operator.running) return false;
  const { body } = await operator.get('/metrics');
  return /^leader_election_master_status\{.*\} 1$/m.test(body);
}

/** Waits until the replica leads. */
export async function untilLeads(operator: OperatorProcess): Promise<void> {
  const what = 'the replica to lead';
  await waitFor(() => leads(operator), { what, timeoutMs: 80_000, intervalMs: 50, explain: () => operator.tail() });
}

/** Every write of operators so far that only the leader may send, in the order of the audit log. */
export async function writesOfOperators({ controlPlane }: TestEnv): Promise<AuditEvent[]> {
  return ofOperator(await readAudit(controlPlane.auditLog)).filter(isFencedWrite);
}
