/** The RuntimeClasses of the cluster. */
import { readPages } from '../../controllers/kubernetes/pages.ts';
import type { LintedRuntimeClass } from '../../controllers/workloads/lint.ts';
import type { Cluster } from './cluster.ts';

const PATH = '/apis/node.k8s.io/v1/runtimeclasses';
const LIMITS = { limit: 500, most: 10_000 };

/** All RuntimeClasses, with the fields that the rules read. */
export function runtimeClassesOf({ client, signal, flags }: Cluster): Promise<readonly LintedRuntimeClass[]> {
  const options = { signal, timeoutMs: flags.requestTimeout, ...LIMITS };
  return readPages<LintedRuntimeClass, LintedRuntimeClass>(
    client,
    PATH,
    options,
    ({ metadata, handler, scheduling }) => ({
      metadata: { name: metadata.name },
      handler,
      ...(scheduling && { scheduling: { nodeSelector: { ...scheduling.nodeSelector } } }),
    }),
  );
}
