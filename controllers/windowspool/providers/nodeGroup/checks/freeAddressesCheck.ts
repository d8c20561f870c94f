import { met, notMet, required, warning } from '../../../checks/check.ts';
import type { InstanceType, Subnet } from '../../../ports/prerequisites.ts';
import { scalingIn } from '../../../rules/nodeSource.ts';
import {
  type AddressMode,
  addressesAtStart,
  addressesWhenFull,
  addressModeOf,
  describeMode,
  ignoredSettings,
} from '../../../sizing/addressMode.ts';
import { count, joined } from '../../../util/words.ts';
import { warmPoolOf } from '../desired/desiredNodeGroup.ts';
import { launchSubnets } from '../desired/subnets.ts';
import type { CheckInput } from '../model/checkFacts.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';

const TOO_FEW = ['InsufficientFreeAddresses', 'InsufficientFreeAddressesInSubnet'] as const;

/**
 * Ensures that the subnets have addresses for the nodes that EKS starts first: the desired ones, as many as the group that is replaced has, or those of
 * a canary. Too few addresses for maxSize is a warning, because it only affects a pool that grows that far. What nodes use when they are full of pods is
 * reported and not required.
 */
export const freeAddresses: NodeGroupCheck = {
  ...required('TooFewAddresses', 'free-addresses', 'free addresses'),
  explains: ['NoPodAddresses', 'NodesMissing', ...TOO_FEW],
  // What a pool needs at its largest size is not missing now.
  explainsAsWarning: TOO_FEW,
  needs: ['subnets', 'cniConfig', 'instanceTypes'],
  evaluate(input) {
    const { spec, facts, creating, sizeToReplace, canaryNodes } = input;
    return given(facts, 'subnets', () => {
      const subnets = launchSubnets(input);
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
        return notMet(`${inWords(subnets)} ${free}, and ${need(first)}. ${modeIn(facts)}${remedy}, or ${lower}`);
      }
      if (most.free >= most.needed) return met;
      // The number of free addresses is not in the warning, because it changes with every pod: the metric has it.
      return warning(
        `${inWords(subnets)} too few free IP addresses to scale to nodeGroup.scaling.maxSize: ${need(most)}. ${modeIn(facts)}${remedy}, or lower maxSize from ${max}${most.moreWarm > 0 ? ' or the sizes of warmPool' : ''}`,
      );
    });
  },
};

/** The free addresses in the subnets of a pool, and those that it needs to scale to maxSize; undefined if the subnets are not known. */
export function addressesFor(input: CheckInput): { readonly free: number; readonly needed: number } | undefined {
  const subnets = launchSubnets(input);
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
