/** Which tool manages a field of a pool, and so reverts a change of it. */
import type { V1ManagedFieldsEntry, V1ObjectMeta } from '@kubernetes/client-node';
import { managerOf } from '../../controllers/kubernetes/managerOf.ts';
import type { Wire } from '../../controllers/kubernetes/objects.ts';
import { joined } from '../../controllers/windowspool/util/words.ts';

/** What people edit with: it does not revert a change. https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers */
const EDITORS = ['kubectl-windowspool', 'kubectl-edit', 'kubectl-patch'];

/**
 * A warning about a tool that applies this field, or that applied the pool without it; undefined if no tool is known.
 * @param path in the spec, such as `nodeGroup.releaseVersion`
 */
export function managedFieldWarning(metadata: Wire<V1ObjectMeta>, path: string): string | undefined {
  const tool = managerOf(metadata);
  const writers = (metadata.managedFields ?? []).filter((entry) => !entry.subresource && owns(entry, `spec.${path}`));
  const owners = writers.map(({ manager = 'unknown' }) => manager).filter((manager) => !EDITORS.includes(manager));
  if (owners.length > 0) {
    const name = joined([...new Set(owners)]);
    const of = tool === undefined ? '' : ` of ${tool}`;
    return `${path} is managed by field manager ${name}${of}, which reverts this change when it applies the pool again. Change its source instead, or as well.`;
  }
  // Flux reverts what the field managers of kubectl changed, also in fields that its manifest does not set: docs/how-to/flux.md.
  return (
    tool &&
    `The pool is managed by ${tool}, which may revert this change. Set ${path} in its source instead, or as well.`
  );
}

/** fieldsV1 has `f:` before each name: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/ */
function owns({ fieldsV1 }: Wire<V1ManagedFieldsEntry>, path: string): boolean {
  let fields: unknown = fieldsV1;
  for (const name of path.split('.')) {
    fields = typeof fields === 'object' && fields !== null ? Reflect.get(fields, `f:${name}`) : undefined;
    if (fields === undefined) return false;
  }
  return true;
}
