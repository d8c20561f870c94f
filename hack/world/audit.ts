/** What the API server's audit log says of the operator: under whose name it came, and what it was refused. */
import { readFile } from 'node:fs/promises';
import { WATCHER } from './watchEvents.ts';

/** The operator's name to the API server. */
export const OPERATOR_USER = 'system:serviceaccount:winpool-system:windowspool-operator';

/** The fields of an audit.k8s.io/v1 Event that are looked at. */
export interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string };
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly name?: string;
    readonly namespace?: string;
  };
  readonly responseStatus?: { readonly code?: number; readonly reason?: string };
}

/** Every answered request in the order of the log. */
export async function readAudit(path: string): Promise<AuditEvent[]> {
  const text = await readFile(path, 'utf8');
  const events = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): AuditEvent => JSON.parse(line));
  return events.filter(({ stage }) => stage === 'ResponseComplete' || stage === 'ResponseStarted');
}

/** Requests of the operator's program, by its user agent, whatever name it used. What tests watch with its client is not the operator's. */
export function ofOperator(events: readonly AuditEvent[]): AuditEvent[] {
  return events.filter(
    ({ userAgent }) => userAgent?.startsWith('windowspool-operator/') && !userAgent.endsWith(`/${WATCHER}`),
  );
}

/** Requests that the API server's authorization refused. */
export function refused(events: readonly AuditEvent[]): AuditEvent[] {
  return events.filter(({ responseStatus }) => responseStatus?.code === 401 || responseStatus?.code === 403);
}
