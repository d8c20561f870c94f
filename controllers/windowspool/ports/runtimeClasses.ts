/** RuntimeClasses in the API server. */
import type { WindowsPool } from '../api/api.gen.ts';
import type { CallResult } from './callResult.ts';
import type { TaintEffect } from './nodes.ts';

/** A toleration, as in the Pod API. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: 'Equal' | 'Exists';
  readonly value?: string;
  readonly effect?: TaintEffect;
}

/** The fields of a RuntimeClass that the operator manages. */
export interface DesiredRuntimeClass {
  readonly name: string;
  readonly handler: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Toleration[];
}

/** A RuntimeClass in the cluster. */
export interface RuntimeClass extends DesiredRuntimeClass {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleting: boolean;
  /** Whether a WindowsPool created it: the label `app.kubernetes.io/managed-by=windowspool-operator`. */
  readonly managed: boolean;
  /** The tool that manages it, by its labels and annotations: `Helm release kube-system/windows`. */
  readonly managedBy: string | undefined;
  /** The pool that may replace it: the annotation `winpool.dev/adoptable-by`. */
  readonly adoptableBy?: string;
  /** Names and UIDs of the WindowsPools that own it. */
  readonly owners: readonly { readonly name: string; readonly uid: string }[];
}

/** Reads and writes RuntimeClasses. Writes apply only to the observed object. */
export interface RuntimeClasses {
  /** From the cache. */
  get(name: string): RuntimeClass | undefined;
  /** Creates a RuntimeClass that the pool owns; error `conflict` if it exists. */
  create(desired: DesiredRuntimeClass, pool: WindowsPool, signal: AbortSignal): Promise<CallResult<void>>;
  /** Server-side apply of everything except the owners; error `conflict` if the object was replaced. */
  apply(desired: DesiredRuntimeClass, seen: RuntimeClass, signal: AbortSignal): Promise<CallResult<void>>;
  /** Adds the pool's owner reference; error `conflict` if the object was replaced or deleted. */
  addOwner(seen: RuntimeClass, pool: WindowsPool, signal: AbortSignal): Promise<CallResult<void>>;
  /** Removes the pool's owner reference; error `conflict` if the object has changed. */
  removeOwner(seen: RuntimeClass, pool: WindowsPool, signal: AbortSignal): Promise<CallResult<void>>;
  /** Deletes exactly the observed object. */
  delete(seen: RuntimeClass, signal: AbortSignal): Promise<CallResult<void>>;
}
