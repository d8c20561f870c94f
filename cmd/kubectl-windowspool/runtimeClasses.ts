/** The RuntimeClasses of the cluster. */
import { readPages } from '../../controllers/kubernetes/pages.ts';
import { apiPath } from '../../controllers/kubernetes/paths.ts';
import type { Toleration } from '../../controllers/windowspool/ports/runtimeClasses.ts';
import type { LintedRuntimeClass } from '../../controllers/workloads/lint.ts';
import type { Cluster } from './cluster.ts';

const LIMITS = { limit: 500, most: 10_000 };

/** A RuntimeClass with the fields that the rules read, and what it adds to pods. */
export interface ClusterRuntimeClass extends LintedRuntimeClass {
  readonly scheduling?: {
    readonly nodeSelector: Readonly<Record<string, string>>;
    readonly tolerations: readonly Toleration[];
  };
}

/** All RuntimeClasses. */
export function runtimeClassesOf({ client, signal, flags }: Cluster): Promise<readonly ClusterRuntimeClass[]> {
  const options = { signal, timeoutMs: flags.requestTimeout, ...LIMITS };
  return readPages<ClusterRuntimeClass, ClusterRuntimeClass>(
    client,
    apiPath('node.k8s.io/v1', 'runtimeclasses'),
    options,
    ({ metadata, handler, scheduling }) => ({
      metadata: { name: metadata.name },
      handler,
      ...(scheduling && {
        scheduling: { nodeSelector: { ...scheduling.nodeSelector }, tolerations: [...(scheduling.tolerations ?? [])] },
      }),
    }),
  );
}
