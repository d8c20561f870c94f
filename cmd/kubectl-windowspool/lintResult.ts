/** What `lint` reads and returns. */
import type { V1ObjectMeta } from '@kubernetes/client-node';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import type { ImageAnswer } from '../../controllers/workloads/imageVariants.ts';
import type { Finding } from '../../controllers/workloads/lint.ts';

/** An object in a file, or of the cluster. */
export interface Manifest {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly metadata?: Wire<Pick<V1ObjectMeta, 'name' | 'generateName' | 'namespace' | 'ownerReferences'>>;
}

/** A workload and its findings, or another object that has findings. */
export interface LintedWorkload {
  /** The file of its manifest; absent for an object of the cluster. */
  readonly file?: string;
  readonly kind: string;
  /** Absent if the manifest has none. */
  readonly namespace?: string;
  readonly name: string;
  readonly findings: readonly Finding[];
  /** What the registries of its images say, with --images. */
  readonly images?: readonly ImageAnswer[];
  /** Why it could not be evaluated. */
  readonly error?: string;
}
