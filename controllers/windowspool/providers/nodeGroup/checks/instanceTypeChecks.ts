/** Checks on the instance types. */

import { met, notMet, required } from '../../../checks/check.ts';
import { INSTANCE_TYPE_CHECK, instanceTypeFault } from '../../../checks/instanceTypes.ts';
import type { Offering } from '../../../ports/prerequisites.ts';
import { nodeGroupIn } from '../../../rules/nodeSource.ts';
import { joined } from '../../../util/words.ts';
import { launchSubnets } from '../desired/subnets.ts';
import type { CheckInput } from '../model/checkFacts.ts';
import { instanceTypesOf, resolvedTemplate, templateIn } from '../versions/userLaunchTemplate.ts';
import { given, type NodeGroupCheck } from './nodeGroupCheck.ts';

/** Ensures that each instance type exists and that Windows pods can run on it. */
export const instanceTypes: NodeGroupCheck = {
  ...INSTANCE_TYPE_CHECK,
  explains: ['Ec2InstanceTypeDoesNotExist', 'Unsupported'],
  needs: ['instanceTypes', 'launchTemplate'],
  evaluate({ spec, facts, region }) {
    const wanted = desiredTypes(spec, facts);
    return given(facts, 'instanceTypes', (found) => {
      const wrong = wanted.map((name) => instanceTypeFault(name, found, region)).filter((text) => text !== undefined);
      const inTemplate = templateIn(spec) && !nodeGroupIn(spec).instanceTypes;
      const field = inTemplate ? 'in the launch template' : 'in nodeGroup.instanceTypes';
      return wrong.length === 0 ? met : notMet(`${wrong.join('. ')}. Set other instance types ${field}`);
    });
  },
};

function desiredTypes(spec: CheckInput['spec'], facts: CheckInput['facts']): readonly string[] {
  return instanceTypesOf(spec, resolvedTemplate(facts));
}

/** Ensures that each instance type is offered in at least one of the zones, and that each zone offers at least one of the types. */
export const offerings: NodeGroupCheck = {
  ...required('InstanceTypeNotOffered', 'zones', 'the zones of the instance types'),
  explains: ['NodesMissing', 'Unsupported'],
  needs: ['offerings', 'subnets', 'instanceTypes', 'launchTemplate'],
  evaluate(input) {
    const { spec, facts, region } = input;
    return given(facts, 'offerings', (offerings) =>
      given(facts, 'subnets', () => {
        const subnets = launchSubnets(input);
        const types = desiredTypes(spec, facts);
        const zones = [...new Set(subnets.map(({ zone }) => zone))].sort();
        // The check of instance types reports those that do not exist.
        const known = types.filter((type) => !isUnknown(type, facts.instanceTypes));
        if (zones.length === 0 || known.length === 0) return met;
        const nowhere = known.filter((type) => !zones.some((zone) => isOffered(offerings, type, zone)));
        if (nowhere.length > 0)
          return notMet(
            `EC2 does not offer ${joined(nowhere)} in the zones of the pool's subnets (${joined(zones)}). Use subnets in other zones of ${region}, or other instance types`,
          );
        const without = zones.filter((zone) => !known.some((type) => isOffered(offerings, type, zone)));
        if (without.length === 0) return met;
        const ids = subnets.filter(({ zone }) => without.includes(zone)).map(({ id }) => id);
        return notMet(
          `EC2 offers none of the pool's instance types (${joined(known)}) in ${joined(without)}, where ${joined(ids)} ${ids.length === 1 ? 'is' : 'are'}. Remove ${ids.length === 1 ? 'this subnet' : 'these subnets'}, or add an instance type that is offered there`,
        );
      }),
    );
  },
};

function isUnknown(name: string, types: CheckInput['facts']['instanceTypes']): boolean {
  return types?.ok === true && !types.value.some((type) => type.name === name);
}

function isOffered(offerings: readonly Offering[], type: string, zone: string): boolean {
  return offerings.some((offering) => offering.instanceType === type && offering.zone === zone);
}
