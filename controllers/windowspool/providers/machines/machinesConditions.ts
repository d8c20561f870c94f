/** The conditions of a pool of machines. Pure. */

import { falseCondition, trueCondition, unknownCondition } from '../../conditions/condition.ts';
import { missingPermission } from '../../conditions/missingPermission.ts';
import { firstNodes, nodesVerified, type Verification } from '../../conditions/nodesVerified.ts';
import type { Readiness } from '../../conditions/ready.ts';
import { runtimeClassReady } from '../../conditions/runtimeClassReady.ts';
import { type PartsOf, summarize } from '../../conditions/summary.ts';
import { contended } from '../../membership/contended.ts';
import type { MachinesConditions } from '../../model/conditions.ts';
import type { Decision } from '../../model/decisions.ts';
import type { RunResult } from '../../model/outcome.ts';
import { machinesReady } from './machinesReady.ts';
import { type MachinesDerived, objectName, setOf } from './machinesState.ts';

type Parts = PartsOf<MachinesConditions>;

/** The conditions of a pool of machines. */
export function machinesConditions(result: RunResult<MachinesDerived>): MachinesConditions {
  const { after: s } = result;
  const parts: Parts = {
    PrerequisitesMet:
      missingPermission(s, { denied: () => undefined, describe: () => '', roleFor: () => 'config/machines' }) ??
      permitted(),
    MachinesReady: contended(s, 'machines.ref') ?? machinesReady(s, result.decisions),
    RuntimeClassReady: runtimeClassReady(s),
    NodesVerified: nodesVerified(s, { missing: (one) => missing(one, result.decisions) }),
  };
  return summarize(result, parts, readiness);
}

/** The state while the Machines have not brought all nodes. */
function missing(s: MachinesDerived, decisions: readonly Decision[]): Verification | undefined {
  const { total } = s.poolNodes;
  const set = setOf(s);
  if (!set)
    return total === 0 ? unknownCondition('MachinesUnknown', 'The Machines of the pool are not known.') : undefined;
  if (set.replicas === 0 && total === 0) return trueCondition('NoNodes', `${objectName(s)} has no Machines.`);
  if (total >= set.replicas) return undefined;
  const message = `${total} of ${set.replicas} nodes of ${objectName(s)} have joined. See MachinesReady.`;
  return machinesReady(s, decisions).working
    ? unknownCondition('Joining', message, firstNodes(s))
    : falseCondition('NodesMissing', message);
}

function permitted() {
  const message = 'The operator has the permissions that it needs. Pools of machines have no prerequisites in EKS.';
  return trueCondition('Met', message);
}

const readiness: Readiness<Parts> = {
  source: 'MachinesReady',
  stallsDeletion: [],
  isEmpty: (s) => setOf(s as MachinesDerived)?.replicas === 0,
};
