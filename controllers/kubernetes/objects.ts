/** The parts of Kubernetes' JSON that every object has. Only what is looked at; anything may be absent in what a server sends. */
interface ObjectMeta {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFields[];
}

/** Which fields a manager wrote last: https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management */
interface ManagedFields {
  readonly manager?: string;
  readonly subresource?: string;
  readonly time?: string;
  /** Of a ConfigMap: each key of its data with `f:` before it. */
  readonly fieldsV1?: { readonly 'f:data'?: Readonly<Record<string, unknown>> };
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** Whether the owner manages the object. */
  readonly controller?: boolean;
}

export interface KubernetesObject {
  readonly metadata?: ObjectMeta;
}

/** A Kubernetes time as epoch milliseconds; 0 when there is none. */
export function epochOf(time: string | undefined): number {
  return time === undefined ? 0 : Date.parse(time);
}

/** Epoch milliseconds as Kubernetes' MicroTime, which wants six digits: `2026-01-01T00:00:00.000000Z`. */
export function microTimeOf(epoch: number): string {
  return new Date(epoch).toISOString().replace('Z', '000Z');
}
