/** How an object of Karpenter differs from its manifest. Pure. */

import { TEMPLATE_HASH_ANNOTATION } from '../../api/labels.ts';
import type { KarpenterKind, KarpenterManifest, KarpenterObject } from '../../ports/karpenter.ts';
import { canonical } from '../../util/hash.ts';
import type { DueObject } from './karpenterState.ts';

type Parts = Readonly<Record<string, unknown>>;

/** What is due for an object of this kind. Optional fields that other clients have set stay. */
export function dueObject(seen: KarpenterObject | undefined, manifest: KarpenterManifest): DueObject {
  if (!seen) return { manifest, changes: [], isDrifted: false, replacesNodes: false };
  const { kind, metadata, spec } = manifest;
  const [live, desired] = [partsOf[kind](recordIn(seen.spec)), partsOf[kind](recordIn(spec))];
  const owned: readonly string[] = seen.ownFields;
  const differs = NAMES[kind].filter((part) =>
    desired[part] === undefined ? owned.includes(part) : !covers(live[part], desired[part], part),
  );
  const changes = seen.createdFor === metadata.name ? differs : [...differs, OWN_LABELS];
  const isApplied = seen.manifestHash === metadata.annotations[TEMPLATE_HASH_ANNOTATION];
  return {
    manifest,
    changes,
    isDrifted: isApplied && changes.length > 0,
    replacesNodes: changes.some((part) => REPLACING[kind].includes(part)),
  };
}

/** The labels of the object itself, by which a NodePool is found. */
const OWN_LABELS = 'metadata.labels';

/** The parts that are compared. */
const NAMES: Readonly<Record<KarpenterKind, readonly string[]>> = {
  NodePool: [
    ...['weight', 'limits', 'consolidationPolicy', 'consolidateAfter', 'budgets', 'labels', 'nodeClassRef'],
    ...['requirements', 'taints', 'startupTaints', 'expireAfter', 'terminationGracePeriod'],
  ],
  EC2NodeClass: [
    ...['amiFamily', 'amiSelectorTerms', 'role', 'subnetSelectorTerms', 'securityGroupSelectorTerms'],
    ...['blockDeviceMappings', 'metadataOptions', 'tags', 'kubelet', 'userData'],
  ],
};

/**
 * Those whose change replaces every node. Of a NodePool, Karpenter compares a hash of them with that of each NodeClaim; of an EC2NodeClass, too, and nodes with another
 * AMI or other security groups have drifted as well. Nodes in subnets that stay selected remain.
 */
const REPLACING: Readonly<Record<KarpenterKind, readonly string[]>> = {
  NodePool: ['labels', 'nodeClassRef', 'taints', 'startupTaints', 'expireAfter', 'terminationGracePeriod'],
  EC2NodeClass: NAMES.EC2NodeClass.filter((part) => part !== 'subnetSelectorTerms'),
};

/** Maps in which other clients may have members of their own. */
const SHARED: readonly string[] = ['limits', 'tags', 'kubelet'];
/** Lists whose order has no meaning. */
const SETS: readonly string[] = ['taints', 'startupTaints', 'requirements'];

const partsOf: Readonly<Record<KarpenterKind, (spec: Parts) => Parts>> = {
  NodePool: ({ weight, limits, disruption, template }) => {
    const { metadata, spec } = recordIn(template);
    return { weight, limits, ...recordIn(disruption), ...recordIn(metadata), ...recordIn(spec) };
  },
  EC2NodeClass: (spec) => spec,
};

/** Whether a stored value is what is desired. An empty list may be stored as none, and a quantity as a number or a text. */
function covers(live: unknown, desired: unknown, part = ''): boolean {
  if (Array.isArray(desired)) {
    const items: readonly unknown[] = Array.isArray(live) ? live : [];
    if (SETS.includes(part)) return covers(sorted(items), sorted(desired));
    return items.length === desired.length && desired.every((item, index) => covers(items[index], item));
  }
  if (typeof desired === 'object' && desired !== null) {
    const [known, wanted] = [recordIn(live), Object.entries(desired).filter(([, value]) => value !== undefined)];
    const isWhole = SHARED.includes(part) || Object.keys(known).length === wanted.length;
    return isWhole && wanted.every(([key, value]) => covers(known[key], value));
  }
  return String(live) === String(desired);
}

function sorted(items: readonly unknown[]): readonly unknown[] {
  return [...items].sort((a, b) => (canonical(a) < canonical(b) ? -1 : 1));
}

/** The value if it is a record; otherwise an empty one. */
export function recordIn(value: unknown): Parts {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Parts) : {};
}
