import type { ApiFailure } from '../runtime/ports.ts';
import { repeated, text, whole } from './fieldKinds.ts';
import { type FieldTable, jsonReader, protobufReader } from './fields.ts';
import { MalformedData } from './kubernetesError.ts';
import { MessageReader } from './messageReader.ts';
import { type Envelope, isProtobuf, openEnvelope } from './protobufEnvelope.ts';

interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** The parts of a Kubernetes Status that are looked at. Texts are empty and numbers 0 where it does not say. */
export interface Status {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly retryAfterSeconds: number;
  readonly causes: readonly StatusCause[];
}

const causes = repeated<StatusCause>(
  { reason: text('reason=1'), message: text('message=2'), field: text('field=3') },
  (cause) => cause,
);

/** Numbers of k8s.io/apimachinery v0.36 meta/v1 (generated.proto). */
const statusFields: FieldTable<Status> = {
  message: text('message=3'),
  reason: text('reason=4'),
  retryAfterSeconds: whole('details=5', 'retryAfterSeconds=5'),
  causes: causes('details=5', 'causes=4'),
  code: whole('code=6'),
};

export const statusOfJson: (object: unknown) => Status = jsonReader(statusFields);
const readProtobuf = protobufReader(statusFields);

/** Throws MalformedData when something else is in it. */
export function statusOfEnvelope({ kind, raw }: Envelope): Status {
  if (kind !== 'Status') throw new MalformedData(`a ${kind} in place of a Status`);
  return readProtobuf(raw);
}

/** The Status in an error's body, of whatever format; undefined when it is none, such as a load balancer's page. */
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

/** What the engine looks at in a failure. */
export function failureOfStatus({ code, reason, retryAfterSeconds, causes }: Status): ApiFailure {
  return {
    status: code || undefined,
    reason: reason || undefined,
    causes: causes.map((cause) => cause.reason).filter((cause) => cause !== ''),
    retryAfterMs: retryAfterSeconds > 0 ? retryAfterSeconds * 1000 : undefined,
  };
}
