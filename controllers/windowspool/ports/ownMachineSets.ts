/** The objects that the operator creates from machines.template of pools. */
import type { MachineSetReference } from '../api/api.gen.ts';
import type { CallResult } from './callResult.ts';
import type { MachineSet } from './machines.ts';

/** A manifest that the API server checks. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    /** Preconditions of a change. */
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** An object with the infrastructure template to which it refers. */
export interface MachineSetManifests {
  readonly object: Manifest;
  readonly infrastructure?: Manifest;
}

/** Writes them. */
export interface OwnMachineSets {
  /**
   * Creates the infrastructure template, unless it exists, and then creates or changes the object: fields that an earlier manifest had are removed. Error
   * `conflict` if the object has changed since it was seen, or exists although it was not seen.
   */
  apply(
    ref: MachineSetReference,
    manifests: MachineSetManifests,
    isNew: boolean,
    signal: AbortSignal,
  ): Promise<CallResult<void>>;
  /** Deletes the object. Success if it is gone. */
  delete(ref: MachineSetReference, seen: MachineSet, signal: AbortSignal): Promise<CallResult<void>>;
  /** Deletes the infrastructure templates of the pool of this kind to which neither an object of the pool nor a MachineSet of its namespace refers. */
  pruneTemplates(
    ref: MachineSetReference,
    template: Pick<Manifest, 'apiVersion' | 'kind'>,
    pool: string,
    signal: AbortSignal,
  ): Promise<CallResult<void>>;
}
