/** The objects of Karpenter that a pool has, as they should be. Pure. */

import type { WindowsPool } from '../../api/api.gen.ts';
import { MANAGED_BY, MANAGED_BY_LABEL, POOL_KEY, TEMPLATE_HASH_ANNOTATION } from '../../api/labels.ts';
import type { KarpenterKind, KarpenterManifest, KarpenterObject } from '../../ports/karpenter.ts';
import { karpenterIn } from '../../rules/nodeSource.ts';
import { hashOf } from '../../util/hash.ts';
import { dueObject } from './dueObject.ts';
import { type DueKarpenter, type KarpenterState, objectIn } from './karpenterState.ts';
import { resolveNodeClass } from './nodeClassFacts.ts';
import { nodeClassSpecFor } from './nodeClassManifest.ts';
import { nodePoolSpecFor } from './nodePoolManifest.ts';

/** What is due for each of them. */
export function dueObjects(
  s: Pick<KarpenterState, 'pool' | 'now' | 'karpenter' | 'nodeClassFacts'>,
): Pick<DueKarpenter, 'objects' | 'unresolved'> {
  const { pool, now } = s;
  const { nodeClass } = karpenterIn(pool.spec);
  const dueFor = (kind: KarpenterKind, spec: KarpenterManifest['spec']) => {
    const seen = objectIn(s, kind);
    return dueObject(seen, manifestOf(kind, spec, pool, seen));
  };
  const nodePool = { NodePool: dueFor('NodePool', nodePoolSpecFor(pool, now)) };
  if (!nodeClass) return { objects: nodePool };
  const resolved = resolveNodeClass(s, nodeClass);
  if (typeof resolved === 'string') return { objects: nodePool, unresolved: resolved };
  const spec = nodeClassSpecFor(pool.spec, nodeClass, resolved);
  return { objects: { ...nodePool, EC2NodeClass: dueFor('EC2NodeClass', spec) } };
}

/** The manifest, with the version of the object that it changes as a precondition. */
function manifestOf(
  kind: KarpenterKind,
  spec: KarpenterManifest['spec'],
  { metadata: { name } }: Pick<WindowsPool, 'metadata'>,
  seen: KarpenterObject | undefined,
): KarpenterManifest {
  return {
    kind,
    metadata: {
      name,
      labels: { [POOL_KEY]: name, [MANAGED_BY_LABEL]: MANAGED_BY },
      annotations: { [TEMPLATE_HASH_ANNOTATION]: hashOf(spec) },
      ...(seen && { uid: seen.uid, resourceVersion: seen.resourceVersion }),
    },
    spec,
  };
}
