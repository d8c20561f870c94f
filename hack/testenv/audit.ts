/** The operator's requests in the API server's audit log: their users, and which of them were denied. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { WATCHER } from './watchEvents.ts';

/** The operator's user name in the API server. */
export const OPERATOR_USER = 'system:serviceaccount:winpool-system:windowspool-operator';

/** The prefix of its user agent. */
export const OPERATOR_AGENT = 'windowspool-operator/';

/** The fields of an audit.k8s.io/v1 Event that are read. */
export interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly name?: string;
    readonly namespace?: string;
  };
  /** Only of evictions: see the audit policy in hack/controlplane/layout.ts. */
  readonly requestObject?: unknown;
  readonly responseStatus?: { readonly code?: number; readonly reason?: string };
}

/**
 * Every completed request in the order of the log; with `containing`, only those whose line contains this text. After many suites the log
 * exceeds the maximum length of a string, so it is read line by line.
 */
export async function readAudit(path: string, containing = ''): Promise<AuditEvent[]> {
  const events: AuditEvent[] = [];
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line === '' || !line.includes(containing)) continue;
    const event: AuditEvent = JSON.parse(line);
    if (event.stage === 'ResponseComplete' || event.stage === 'ResponseStarted') events.push(event);
  }
  return events;
}

/** Requests of the operator's program, by its user agent, with any user name. Watches of tests with its client are not included. */
export function ofOperator(events: readonly AuditEvent[]): AuditEvent[] {
  return events.filter(({ userAgent }) => userAgent?.startsWith(OPERATOR_AGENT) && !userAgent.endsWith(`/${WATCHER}`));
}

/** Requests that the API server's authorization refused. */
export function refused<T extends Pick<AuditEvent, 'responseStatus'>>(events: readonly T[]): T[] {
  return events.filter(({ responseStatus }) => responseStatus?.code === 401 || responseStatus?.code === 403);
}
