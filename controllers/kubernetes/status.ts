import type { ApiFailure } from '../runtime/ports.ts';
import { repeated, sentence, text, whole } from './fieldKinds.ts';
import { type FieldTable, jsonReader, protobufReader } from './fields.ts';
import { MalformedData } from './kubernetesError.ts';
import { MessageReader } from './messageReader.ts';
import { type Envelope, isProtobuf, openEnvelope } from './protobufEnvelope.ts';

interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** The fields of a Kubernetes Status that are used. Absent ones are empty or 0. */
export interface Status {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly retryAfterSeconds: number;
  readonly causes: readonly StatusCause[];
}

const causes = repeated<StatusCause>(
  { reason: text('reason=1'), message: sentence('message=2'), field: text('field=3') },
  (cause) => cause,
);

/** Field numbers of k8s.io/apimachinery v0.36 meta/v1 (generated.proto). */
const statusFields: FieldTable<Status> = {
  message: sentence('message=3'),
  reason: text('reason=4'),
  retryAfterSeconds: whole('details=5', 'retryAfterSeconds=5'),
  causes: causes('details=5', 'causes=4'),
  code: whole('code=6'),
};

export const statusOfJson: (object: unknown) => Status = jsonReader(statusFields);
const readProtobuf = protobufReader(statusFields);

/** Throws MalformedData if the object is not a Status. */
export function statusOfEnvelope({ kind, raw }: Envelope): Status {
  if (kind !== 'Status') throw new MalformedData(`a ${kind} instead of a Status`);
  return readProtobuf(raw);
}

/** Reads a Status in JSON or protobuf; undefined for other bodies, such as a load balancer's page. */
export function statusOfBody(body: Buffer): Status | undefined {
  try {
    if (isProtobuf(body)) return statusOfEnvelope(openEnvelope(new MessageReader(body)));
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    const isStatus = typeof parsed === 'object' && parsed !== null && (parsed as { kind?: string }).kind === 'Status';
    return isStatus ? statusOfJson(parsed) : undefined;
  } catch {
    return undefined;
  }
}

/** Converts a Status to the failure that the engine handles. */
export function failureOfStatus({ code, reason, retryAfterSeconds, causes }: Status): ApiFailure {
  return {
    status: code || undefined,
    reason: reason || undefined,
    causes: causes.map((cause) => cause.reason).filter((cause) => cause !== ''),
    retryAfterMs: retryAfterOf(retryAfterSeconds),
  };
}

/** No server may stop a cache for longer. Kubernetes itself sends 1 to 10 seconds. */
const LONGEST_RETRY_AFTER_SECONDS = 60;

/** The milliseconds to wait, which a server asks for in seconds; undefined if it asks for none. */
export function retryAfterOf(seconds: number | undefined): number | undefined {
  return seconds !== undefined && seconds > 0 ? Math.min(seconds, LONGEST_RETRY_AFTER_SECONDS) * 1_000 : undefined;
}
