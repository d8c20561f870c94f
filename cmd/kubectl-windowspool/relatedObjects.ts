/** What `lint` finds in the objects that serve workloads on Windows: Services, network policies, volumes. */
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { type LintedRuntimeClass, windowsFactsOf } from '../../controllers/workloads/lint.ts';
import { relatedFindingsOf, windowsWorkloadOf } from '../../controllers/workloads/related.ts';
import type { WindowsWorkload } from '../../controllers/workloads/relatedRules.ts';
import type { Cluster } from './cluster.ts';
import type { LintedWorkload, Manifest } from './lintResult.ts';
import { listAllowed, type Resource } from './workloadLists.ts';

/** What the rules about related objects know of a workload; undefined for other objects, for Linux, and for what `lint` reports as an error. */
export function windowsWorkload(
  manifest: Manifest,
  classes: readonly LintedRuntimeClass[],
): WindowsWorkload | undefined {
  try {
    const facts = windowsFactsOf(manifest, classes);
    return facts && windowsWorkloadOf(manifest, facts);
  } catch {
    return undefined;
  }
}

/** The result for an object that serves these workloads; undefined without findings. `claims` are PersistentVolumeClaims. */
export function lintedRelated(
  manifest: Manifest,
  workloads: readonly WindowsWorkload[],
  claims: readonly object[],
): LintedWorkload | undefined {
  const findings = relatedFindingsOf(manifest, workloads, claims);
  if (findings.length === 0) return undefined;
  const { kind, metadata } = manifest;
  const namespace = metadata?.namespace === undefined ? {} : { namespace: metadata.namespace };
  return { kind: String(kind), ...namespace, name: metadata?.name ?? '(no name)', findings };
}

/** Those of any namespace. Namespaces and what AWS defines are not read: for them, events say why pods are not created. */
const SERVING: Readonly<Record<string, Resource>> = {
  Service: ['v1', 'services'],
  NetworkPolicy: ['networking.k8s.io/v1', 'networkpolicies'],
};
const CLAIMS: Resource = ['v1', 'persistentvolumeclaims'];
const STORAGE_CLASSES: Resource = ['storage.k8s.io/v1', 'storageclasses'];

/** The results for the related objects of the cluster, of one namespace or of all; `skipped` gets what the user may not list. */
export async function lintRelatedInCluster(
  cluster: Cluster,
  namespace: string | undefined,
  workloads: readonly WindowsWorkload[],
  skipped: string[],
): Promise<LintedWorkload[]> {
  if (workloads.length === 0) return [];
  const found: LintedWorkload[] = [];
  for (const [kind, resource] of Object.entries(SERVING)) {
    const lintOne = (object: Wire<Manifest>) => lintedRelated({ ...object, kind }, workloads, []);
    found.push(...(await listAllowed<Manifest, LintedWorkload>(cluster, resource, namespace, skipped, lintOne)));
  }
  if (workloads.every(({ claims, claimTemplates }) => claims.length + claimTemplates.length === 0)) return found;
  const isMounted = (claim: Wire<Manifest>) =>
    workloads.some(({ claims }) => claims.includes(claim.metadata?.name ?? '')) ? claim : undefined;
  const claims = await listAllowed<Manifest, Wire<Manifest>>(cluster, CLAIMS, namespace, skipped, isMounted);
  const lintClass = (object: Wire<Manifest>) => lintedRelated({ ...object, kind: 'StorageClass' }, workloads, claims);
  found.push(...(await listAllowed<Manifest, LintedWorkload>(cluster, STORAGE_CLASSES, undefined, skipped, lintClass)));
  return found;
}
