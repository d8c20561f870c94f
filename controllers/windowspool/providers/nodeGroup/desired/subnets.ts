/** The subnets of a spec, selected by ID or by tags. Pure. */
import type { WindowsPoolSpec } from '../../../api/api.gen.ts';
import type { Subnet, SubnetTerm } from '../../../ports/prerequisites.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import type { CheckFacts, CheckInput } from '../model/checkFacts.ts';

/** The terms of the spec. */
export function subnetTerms(spec: WindowsPoolSpec): readonly SubnetTerm[] {
  return nodeGroupIn(spec).subnets;
}

/** Whether the spec selects subnets by tags, so that EC2 must resolve them. */
export function selectsByTags(spec: WindowsPoolSpec): boolean {
  return subnetTerms(spec).some(({ tags }) => tags !== undefined);
}

/** Whether the term selects the subnet. */
export function selects({ id, tags = {} }: SubnetTerm, subnet: Subnet): boolean {
  if (id !== undefined) return subnet.id === id;
  return Object.entries(tags).every(([key, value]) => subnet.tags[key] === value);
}

/** `subnet-1`, or `tags team=a, tier=private`. */
export function describeTerm({ id, tags = {} }: SubnetTerm): string {
  const named = Object.entries(tags).map(([key, value]) => `${key}=${value}`);
  return id ?? `${named.length === 1 ? 'tag' : 'tags'} ${named.join(', ')}`;
}

/** The IDs of the subnets in which a new group is created; undefined while tags are not resolved. */
export function resolvedSubnets(spec: WindowsPoolSpec, facts: CheckFacts | undefined): readonly string[] | undefined {
  if (!selectsByTags(spec)) return subnetTerms(spec).map(({ id = '' }) => id);
  return facts?.subnets?.ok ? facts.subnets.value.map(({ id }) => id) : undefined;
}

/** Whether an existing group has the subnets that the spec selects by ID. Which ones tags selected when it was created is not known. */
export function hasSubnets(found: readonly string[], spec: WindowsPoolSpec): boolean {
  const ids = subnetTerms(spec).flatMap(({ id }) => id ?? []);
  return ids.every((id) => found.includes(id)) && (selectsByTags(spec) || found.length === ids.length);
}

/** The subnets in which nodes are launched: those of the group, or those that a new group gets. */
export function launchSubnets({ facts, groupSubnets }: Pick<CheckInput, 'facts' | 'groupSubnets'>): readonly Subnet[] {
  const found = facts.subnets?.ok ? facts.subnets.value : [];
  return groupSubnets ? found.filter(({ id }) => groupSubnets.includes(id)) : found;
}
