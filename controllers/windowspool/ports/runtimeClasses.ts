/** RuntimeClasses. */
import type { WindowsPool } from '../api.gen.ts';
import type { CallResult } from './callResult.ts';
import type { TaintEffect } from './nodes.ts';

export interface Toleration {
  readonly key?: string;
  readonly operator?: 'Equal' | 'Exists';
  readonly value?: string;
  readonly effect?: TaintEffect;
}

/** The parts of a RuntimeClass that the operator decides. */
export interface DesiredRuntimeClass {
  readonly name: string;
  readonly handler: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Toleration[];
  /** The annotation winpool.dev/image-builds: the builds of images that its nodes run. Empty when there is none. */
  readonly imageBuilds: string;
}

/** A RuntimeClass in the cluster. */
export interface RuntimeClass extends DesiredRuntimeClass {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleting: boolean;
  /** Whether a WindowsPool made it: the label `app.kubernetes.io/managed-by=windowspool-operator`. */
  readonly managed: boolean;
  /** Names and UIDs of the WindowsPools that own it. */
  readonly owners: readonly { readonly name: string; readonly uid: string }[];
}

export interface RuntimeClasses {
  /** From the cache. */
  get(name: string): RuntimeClass | undefined;
  /** Creates one that does not exist, owned by the pool; the trouble `conflict` when it does. */
  create(desired: DesiredRuntimeClass, pool: WindowsPool, signal: AbortSignal): Promise<CallResult<void>>;
  /** Server-side apply of all but the owners, only on the object that was observed; the trouble `conflict` when it is another by now. */
  apply(desired: DesiredRuntimeClass, seen: RuntimeClass, signal: AbortSignal): Promise<CallResult<void>>;
  /** Adds the pool's owner reference to the object that was observed; the trouble `conflict` when it is another or gone by now. */
  addOwner(seen: RuntimeClass, pool: WindowsPool, signal: AbortSignal): Promise<CallResult<void>>;
  /** Removes the pool's owner reference from the object as it was observed; the trouble `conflict` when it has changed since. */
  removeOwner(seen: RuntimeClass, pool: WindowsPool, signal: AbortSignal): Promise<CallResult<void>>;
  /** Deletes the very object that was observed. */
  delete(seen: RuntimeClass, signal: AbortSignal): Promise<CallResult<void>>;
}
