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
  /** With microseconds: when the request arrived, and when the event was recorded, which is before the response is sent. */
  readonly requestReceivedTimestamp?: string;
  readonly stageTimestamp?: string;
  readonly user: { readonly username: string; readonly extra?: Readonly<Record<string, readonly string[]>> };
  readonly impersonatedUser?: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly name?: string;
    readonly namespace?: string;
  };
  /** By default only of evictions: see the audit policy in hack/controlplane/layout.ts. */
  readonly requestObject?: unknown;
  readonly responseStatus?: { readonly code?: number; readonly reason?: string };
}

/** Every completed request in the order of the log; with `containing`, only those whose line contains this text. */
export async function readAudit(path: string, containing = ''): Promise<AuditEvent[]> {
  const events: AuditEvent[] = [];
  for await (const event of auditEvents(path, containing)) events.push(event);
  return events;
}

/** The same, one after the other: after many suites the log exceeds the maximum length of a string, and a long log the memory. */
export async function* auditEvents(path: string, containing = ''): AsyncGenerator<AuditEvent> {
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line === '' || !line.includes(containing)) continue;
    const event: AuditEvent = JSON.parse(line);
    if (event.stage === 'ResponseComplete' || event.stage === 'ResponseStarted') yield event;
  }
}

/** Requests of the operator's program, by its user agent, with any user name. Watches of tests with its client are not included. */
export function ofOperator(events: readonly AuditEvent[]): AuditEvent[] {
  return events.filter(({ userAgent }) => userAgent?.startsWith(OPERATOR_AGENT) && !userAgent.endsWith(`/${WATCHER}`));
}

/** Requests that the API server's authorization refused. */
export function refused<T extends Pick<AuditEvent, 'responseStatus'>>(events: readonly T[]): T[] {
  return events.filter(({ responseStatus }) => responseStatus?.code === 401 || responseStatus?.code === 403);
}

/** The verbs of the API server that change objects. */
export const WRITES: readonly string[] = ['create', 'update', 'patch', 'delete', 'deletecollection'];

/** Whether only the leader may send the request: all writes but those of leases, which every candidate sends, and reviews of scrapers. */
export function isFencedWrite({ verb, objectRef: { resource = '' } = {} }: AuditEvent): boolean {
  return WRITES.includes(verb) && resource !== 'leases' && !resource.endsWith('reviews');
}

/** Whether the API server has carried out the request. */
export function isAccepted({ responseStatus }: Pick<AuditEvent, 'responseStatus'>): boolean {
  return (responseStatus?.code ?? 500) < 300;
}

/** `patch nodes/status a: 200`. The names of events are random. */
export function describeWrite({ verb, objectRef = {}, responseStatus }: AuditEvent): string {
  const { resource, subresource, name = '' } = objectRef;
  const what = subresource ? `${resource}/${subresource}` : resource;
  return `${verb} ${what}${resource === 'events' ? '' : ` ${name}`}: ${responseStatus?.code}`;
}
