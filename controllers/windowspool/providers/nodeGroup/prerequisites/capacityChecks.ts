/** Checks on capacity: the quota of node groups, instance types and addresses. */

import type { InstanceType, Offering, Subnet } from '../../../ports/prerequisites.ts';
import { nodeGroupIn, scalingIn } from '../../../rules/nodeSource.ts';
import { count, joined } from '../../../util/words.ts';
import { warmPoolOf } from '../desired/desiredNodeGroup.ts';
import { describeTerm, selects, subnetTerms } from '../desired/subnets.ts';
import type { CheckInput, PrerequisiteCheck, PrerequisiteResult } from '../model/prerequisiteFacts.ts';
import { instanceTypesOf, resolvedTemplate, templateIn } from '../versions/launchTemplate.ts';
import {
  type AddressMode,
  addressesAtStart,
  addressesWhenFull,
  addressModeOf,
  describeMode,
  ignoredSettings,
} from './addressMode.ts';
import { failed, given, met, warning } from './check.ts';

/**
 * The quota "Managed node groups per cluster", which can be raised, and which no API of EKS returns:
 * https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html
 */
const DEFAULT_QUOTA = 30;

/** Ensures that there can be a second node group before it replaces the first: EKS would reject its creation. */
function nodeGroupQuota({ facts, cluster: { name } }: CheckInput): PrerequisiteResult | undefined {
  return given(facts, 'nodeGroups', (groups) =>
    groups.length < DEFAULT_QUOTA
      ? met
      : failed(
          `Cluster ${name} has ${DEFAULT_QUOTA} node groups or more, and by default EKS allows ${DEFAULT_QUOTA}. The replacement of the node group needs one more. Delete an unused node group, or, if the quota "Managed node groups per cluster" of the account is higher, add NodeGroupQuotaReached to the annotation winpool.dev/ignore-prerequisites`,
        ),
  );
}

/** Ensures that each instance type exists and that Windows pods can run on it. */
function instanceTypes({ spec, facts, region }: CheckInput): PrerequisiteResult | undefined {
  const wanted = desiredTypes(spec, facts);
  return given(facts, 'instanceTypes', (found) => {
    const wrong = wanted.map((name) => wrongWith(name, found, region)).filter((text) => text !== undefined);
    const inTemplate = templateIn(spec) && !nodeGroupIn(spec).instanceTypes;
    const field = inTemplate ? 'in the launch template' : 'in nodeGroup.instanceTypes';
    return wrong.length === 0 ? met : failed(`${wrong.join('. ')}. Set other instance types ${field}`);
  });
}

function desiredTypes(spec: CheckInput['spec'], facts: CheckInput['facts']): readonly string[] {
  return instanceTypesOf(spec, resolvedTemplate(facts));
}

function wrongWith(name: string, found: readonly InstanceType[], region: string): string | undefined {
  const type = found.find((candidate) => candidate.name === name);
  if (!type) return `Instance type ${name} does not exist in ${region}`;
  if (!type.architectures.includes('x86_64'))
    return `Instance type ${name} is ${joined(type.architectures)}, and Windows nodes need x86_64`;
  // One address is the node's own: https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html
  if (type.addressesPerInterface !== undefined && type.addressesPerInterface < 2)
    return `Instance type ${name} has no IP addresses for pods`;
  return undefined;
}

/** Ensures that each instance type is offered in at least one of the zones, and that each zone offers at least one of the types. */
function offered(input: CheckInput): PrerequisiteResult | undefined {
  const { spec, facts, region } = input;
  return given(facts, 'offerings', (offerings) =>
    given(facts, 'subnets', () => {
      const subnets = subnetsIn(input);
      const types = desiredTypes(spec, facts);
      const zones = [...new Set(subnets.map(({ zone }) => zone))].sort();
      // The check of instance types reports those that do not exist.
      const known = types.filter((type) => !isUnknown(type, facts.instanceTypes));
      if (zones.length === 0 || known.length === 0) return met;
      const nowhere = known.filter((type) => !zones.some((zone) => isOffered(offerings, type, zone)));
      if (nowhere.length > 0)
        return failed(
          `EC2 does not offer ${joined(nowhere)} in the zones of the pool's subnets (${joined(zones)}). Use subnets in other zones of ${region}, or other instance types`,
        );
      const without = zones.filter((zone) => !known.some((type) => isOffered(offerings, type, zone)));
      if (without.length === 0) return met;
      const ids = subnets.filter(({ zone }) => without.includes(zone)).map(({ id }) => id);
      return failed(
        `EC2 offers none of the pool's instance types (${joined(known)}) in ${joined(without)}, where ${joined(ids)} ${ids.length === 1 ? 'is' : 'are'}. Remove ${ids.length === 1 ? 'this subnet' : 'these subnets'}, or add an instance type that is offered there`,
      );
    }),
  );
}

function isUnknown(name: string, types: CheckInput['facts']['instanceTypes']): boolean {
  return types?.ok === true && !types.value.some((type) => type.name === name);
}

function isOffered(offerings: readonly Offering[], type: string, zone: string): boolean {
  return offerings.some((offering) => offering.instanceType === type && offering.zone === zone);
}

/** Ensures that each item of the spec selects a subnet. */
function subnetsExist({ spec, facts, region, cluster }: CheckInput): PrerequisiteResult | undefined {
  return given(facts, 'subnets', (found) => {
    const missing = subnetTerms(spec).filter((term) => !found.some((subnet) => selects(term, subnet)));
    if (missing.length === 0) return met;
    const where = missing.some(({ tags }) => tags) ? `in VPC ${cluster.vpcId}` : `in ${region}`;
    return failed(`No subnet matches ${joined(missing.map(describeTerm))} ${where}. Correct nodeGroup.subnets`);
  });
}

/** Reports subnets that match the tags of the spec since the group was created: EKS cannot change the subnets of a group. */
function subnetsUsed({ facts, groupSubnets }: CheckInput): PrerequisiteResult | undefined {
  if (!groupSubnets) return undefined;
  return given(facts, 'subnets', (found) => {
    const unused = found.map(({ id }) => id).filter((id) => !groupSubnets.includes(id));
    if (unused.length === 0) return met;
    return warning(
      `${joined(unused)} ${unused.length === 1 ? 'matches' : 'match'} nodeGroup.subnets but ${unused.length === 1 ? 'is' : 'are'} not used, because EKS cannot change the subnets of a node group. To use ${unused.length === 1 ? 'it' : 'them'}, set nodeGroup.immutableChangePolicy: Replace and select ${unused.length === 1 ? 'it' : 'them'} by ID, or create another pool`,
    );
  });
}

/** The subnets in which nodes are launched: those of the group, or those that a new group gets. */
function subnetsIn({ facts, groupSubnets }: Pick<CheckInput, 'facts' | 'groupSubnets'>): readonly Subnet[] {
  const found = facts.subnets?.ok ? facts.subnets.value : [];
  return groupSubnets ? found.filter(({ id }) => groupSubnets.includes(id)) : found;
}

/**
 * Ensures that the subnets have addresses for the nodes that EKS starts first: the desired ones, as many as the group that is replaced has, or those of
 * a canary. Too few addresses for maxSize is a warning, because it only affects a pool that grows that far. What nodes use when they are full of pods is
 * reported and not required.
 */
function freeAddresses(input: CheckInput): PrerequisiteResult | undefined {
  const { spec, facts, creating, sizeToReplace, canaryNodes } = input;
  return given(facts, 'subnets', () => {
    const subnets = subnetsIn(input);
    const { minSize: min, maxSize: max, desiredSize: desired } = scalingIn(spec);
    const first =
      canaryNodes === undefined
        ? addressesIn(subnets, input, { nodes: sizeToReplace ?? desired ?? min, warm: 0 })
        : addressesIn(subnets, { ...input, instances: 0, warmInstances: 0 }, { nodes: canaryNodes, warm: 0 });
    const most = addressesIn(subnets, input, largest(spec));
    if (subnets.length === 0) return met;
    const need = ({ needed, more, moreWarm }: typeof most) => {
      const warm = moreWarm > 0 ? ` and ${count(moreWarm, 'instance')} of the warm pool` : '';
      const verb = more + moreWarm === 1 ? 'needs' : 'need';
      return `${count(more, 'more node')}${warm} ${verb} at least ${needed}${whenFull(facts, more)}`;
    };
    // EKS cannot change the subnets of a node group.
    const remedy = creating ? 'Add a subnet' : 'Free addresses';
    if (first.free < first.needed) {
      const free = `${first.free} free IP ${first.free === 1 ? 'address' : 'addresses'}`;
      const field = desired === undefined ? `minSize from ${min}` : `desiredSize from ${desired}`;
      const lower =
        canaryNodes !== undefined
          ? `lower nodeGroup.update.canary.nodes from ${canaryNodes}`
          : sizeToReplace === undefined
            ? `lower nodeGroup.scaling.${field}`
            : `lower the size of the current node group from ${sizeToReplace}`;
      return failed(`${inWords(subnets)} ${free}, and ${need(first)}. ${modeIn(facts)}${remedy}, or ${lower}`);
    }
    if (most.free >= most.needed) return met;
    // The number of free addresses is not in the warning, because it changes with every pod: the metric has it.
    return warning(
      `${inWords(subnets)} too few free IP addresses to scale to nodeGroup.scaling.maxSize: ${need(most)}. ${modeIn(facts)}${remedy}, or lower maxSize from ${max}${most.moreWarm > 0 ? ' or the sizes of warmPool' : ''}`,
    );
  });
}

/** The free addresses in the subnets of a pool, and those that it needs to scale to maxSize; undefined if the subnets are not known. */
export function addressesFor(input: CheckInput): { readonly free: number; readonly needed: number } | undefined {
  const subnets = subnetsIn(input);
  return subnets.length > 0 ? addressesIn(subnets, input, largest(input.spec)) : undefined;
}

/** A size that the pool scales to, in nodes and in instances of its warm pool. */
interface Size {
  readonly nodes: number;
  readonly warm: number;
}

function largest(spec: CheckInput['spec']): Size {
  const { maxSize: nodes } = scalingIn(spec);
  const { minSize = 0, maxGroupPreparedCapacity = nodes } = warmPoolOf(spec).warmPool ?? {};
  return { nodes, warm: Math.max(minSize, maxGroupPreparedCapacity - nodes) };
}

/** An instance of a warm pool already has one of the addresses that it needs as a node. */
function addressesIn(subnets: readonly Subnet[], { facts, instances, warmInstances }: CheckInput, size: Size) {
  const more = Math.max(0, size.nodes - instances);
  const started = Math.min(more, warmInstances);
  const moreWarm = Math.max(0, size.warm - (warmInstances - started));
  const free = subnets.reduce((sum, subnet) => sum + subnet.freeAddresses, 0);
  return { more, moreWarm, needed: more * perNode(facts) - started + moreWarm, free };
}

/** The minimum number of addresses that a node uses when it starts. */
function perNode(facts: CheckInput['facts']): number {
  const mode = addressModeIn(facts);
  const types = typesIn(facts);
  return types.length === 0 ? addressesAtStart(mode) : Math.min(...types.map((type) => addressesAtStart(mode, type)));
}

function whenFull(facts: CheckInput['facts'], nodes: number): string {
  const mode = addressModeIn(facts);
  const known = typesIn(facts).flatMap((type) => addressesWhenFull(mode, type) ?? []);
  return known.length === 0 ? '' : ` (${nodes * Math.max(...known)} when full of pods)`;
}

/** The address mode that the numbers are based on, when it could be read, and its ignored settings. */
function modeIn(facts: CheckInput['facts']): string {
  if (!facts.cniConfig?.ok) return '';
  const ignored = ignoredSettings(facts.cniConfig.value).map(
    (text) => ` ConfigMap kube-system/amazon-vpc-cni has an invalid value that is ignored: ${text}.`,
  );
  return `${describeMode(addressModeIn(facts), typesIn(facts))}.${ignored.join('')} `;
}

/** The address mode; without the ConfigMap, the defaults of the controller. */
function addressModeIn({ cniConfig }: CheckInput['facts']): AddressMode {
  return addressModeOf(cniConfig?.ok ? cniConfig.value : undefined);
}

function typesIn({ instanceTypes: types }: CheckInput['facts']): readonly InstanceType[] {
  return types?.ok ? types.value : [];
}

/** `Subnet a has`, `Subnets a and b together have`. */
function inWords(subnets: readonly Subnet[]): string {
  const ids = joined(subnets.map(({ id }) => id));
  return subnets.length === 1 ? `Subnet ${ids} has` : `Subnets ${ids} together have`;
}

/** Checks on the number of node groups, on instance types, subnets and addresses, by importance. */
export const capacityChecks: readonly PrerequisiteCheck[] = [
  {
    reason: 'NodeGroupQuotaReached',
    about: 'the number of node groups',
    section: 'node-group-quota',
    look: nodeGroupQuota,
  },
  { reason: 'InstanceTypeUnsupported', about: 'the instance types', section: 'instance-types', look: instanceTypes },
  { reason: 'SubnetNotFound', about: 'the subnets', section: 'subnets', look: subnetsExist },
  { reason: 'InstanceTypeNotOffered', about: 'the zones of the instance types', section: 'zones', look: offered },
  { reason: 'TooFewAddresses', about: 'free addresses', section: 'free-addresses', look: freeAddresses },
  { reason: 'SubnetNotUsed', about: 'unused subnets', section: 'new-subnets', look: subnetsUsed },
];
