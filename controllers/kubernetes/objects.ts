/** Kubernetes objects as their JSON has them. */
import type { V1ObjectMeta, V1OwnerReference } from '@kubernetes/client-node';
import type { Identity } from '../runtime/ports.ts';
import { same } from '../windowspool/util/sameValue.ts';

/**
 * The JSON of a type of @kubernetes/client-node. Its types describe deserialized objects: in JSON a time is a string and `_continue` is
 * `continue`. What it calls `any` is unknown. A server may send null for an empty list or time: read those with `??`. Import nothing but
 * types from that package: its runtime costs 33 MB of memory, however little of it is used.
 */
export type Wire<T> = 0 extends 1 & T
  ? unknown
  : T extends Date
    ? string
    : T extends readonly (infer Item)[]
      ? readonly Wire<Item>[]
      : T extends object
        ? { readonly [Key in keyof T as Key extends `_${infer Name}` ? Name : Key]: Wire<T[Key]> }
        : T;

type Meta = Required<Pick<V1ObjectMeta, 'name' | 'uid' | 'resourceVersion' | 'creationTimestamp'>>;

/** An object as the API server sends it, which fills in the metadata and writes `spec` and `status` even where they are empty. */
export type Stored<T> = Wire<T & { readonly metadata: Meta } & Required<Pick<T, keyof T & ('spec' | 'status')>>>;

/** The identity of records of cluster-scoped objects, or of those of one namespace. */
export const recordIdentity: Identity<{ readonly name: string; readonly resourceVersion: string }> = {
  key: ({ name }) => name,
  resourceVersion: ({ resourceVersion }) => resourceVersion,
};

/** The same identity. A change of nothing that is read, such as of a time, is no change. */
export function quietIdentity<T extends { readonly name: string; readonly resourceVersion: string }>(): Identity<T> {
  return {
    ...recordIdentity,
    absorbUnchanged: (known: { -readonly [Name in keyof T]: T[Name] }, newer) => {
      if (!same(known, { ...newer, resourceVersion: known.resourceVersion })) return false;
      known.resourceVersion = newer.resourceVersion;
      return true;
    },
  };
}

/** A condition of an object in any API. */
export interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** What the records of all kinds have. */
export function commonOf(metadata: Wire<V1ObjectMeta>) {
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    deleting: metadata.deletionTimestamp !== undefined,
  };
}

/** The reference to the controller of an object, such as the ReplicaSet of a pod. */
export function controllerOf(metadata: Wire<V1ObjectMeta> | undefined): Wire<V1OwnerReference> | undefined {
  return metadata?.ownerReferences?.find(({ controller }) => controller);
}

/** Converts a Kubernetes Time or MicroTime to epoch milliseconds; 0 if there is none. */
export function epochOf(time: string | undefined): number {
  return time === undefined ? 0 : Date.parse(time);
}

/** Converts epoch milliseconds to Kubernetes' MicroTime, which has six digits: `2026-01-01T00:00:00.000000Z`. */
export function microTimeOf(epoch: number): string {
  return new Date(epoch).toISOString().replace('Z', '000Z');
}
