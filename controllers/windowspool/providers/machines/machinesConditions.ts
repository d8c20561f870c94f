/** The conditions of a pool of machines. Pure. */

import { OS_LABEL, WINDOWS } from '../../api/labels.ts';
import { falseCondition, trueCondition, unknownCondition } from '../../conditions/condition.ts';
import { describeDenied, missingPermission, type OutsidePermissions } from '../../conditions/missingPermission.ts';
import { firstNodes, nodesVerified, type Verification } from '../../conditions/nodesVerified.ts';
import { type Readiness, sizeIsZero } from '../../conditions/ready.ts';
import { runtimeClassReady } from '../../conditions/runtimeClassReady.ts';
import { type PartsOf, summarize } from '../../conditions/summary.ts';
import { unmetInCluster } from '../../membership/clusterChecks.ts';
import { contended } from '../../membership/contended.ts';
import type { MachinesConditions } from '../../model/conditions.ts';
import type { Decision } from '../../model/decisions.ts';
import type { RunResult } from '../../model/outcome.ts';
import type { CallError } from '../../ports/callResult.ts';
import { joined } from '../../util/words.ts';
import { instancesOf } from './instances.ts';
import { templateIn } from './machineSetManifest.ts';
import { machinesReady } from './machinesReady.ts';
import { liveMachines, type MachinesDerived, objectName, setOf } from './machinesState.ts';
import { unsupportedOnPlatform } from './platformVersions.ts';

const REMEDY = 'Delete one of the pools, or narrow existingNodes if one of them has it.';

type Parts = PartsOf<MachinesConditions>;

/** The conditions of a pool of machines. */
export function machinesConditions(result: RunResult<MachinesDerived>): MachinesConditions {
  const { after: s } = result;
  const parts: Parts = {
    PrerequisitesMet:
      missingPermission(s, permissionsFor(s)) ?? unmetInCluster(s) ?? unsupportedOnPlatform(s) ?? permitted(),
    MachinesReady:
      contended(s, `machines.${templateIn(s.pool) ? 'template' : 'ref'}`, REMEDY) ?? machinesReady(s, result.decisions),
    RuntimeClassReady: runtimeClassReady(s),
    NodesVerified: nodesVerified(s, { missing: (one) => missing(one, result.decisions) }),
  };
  return summarize(result, parts, readiness);
}

/** How many nodes a message names. */
const NODES_IN_MESSAGE = 3;

/** The state while the Machines have not brought all nodes. */
function missing(s: MachinesDerived, decisions: readonly Decision[]): Verification | undefined {
  const { total } = s.poolNodes;
  const set = setOf(s);
  if (!set)
    return total === 0
      ? unknownCondition('MachinesUnknown', 'The Machines of the pool are not known. See MachinesReady.')
      : undefined;
  if (set.replicas === 0 && total === 0) return trueCondition('NoNodes', `${objectName(s)} has no Machines.`);
  if (total >= set.replicas) return undefined;
  const state = machinesReady(s, decisions);
  const instances = instancesOf(s)?.nodes.map((node) => ({ node, providerID: 'one of its MachinePool' }));
  const [first, ...others] = (instances ?? liveMachines(s)).filter(({ node }) => !s.poolNodes.has(node));
  if (state.status === 'True' && !s.membership?.contested && first) {
    const names = joined(
      [first, ...others].map(({ node }) => node),
      NODES_IN_MESSAGE,
    );
    const uncounted = `${total} of ${set.replicas} nodes of ${objectName(s)} count. Not counted: ${names}. A node counts if it has the label ${OS_LABEL}=${WINDOWS} and the provider ID of its Machine (${first.providerID || 'none yet'}).`;
    return { ...falseCondition('NodesMissing', uncounted), remedy: `See: kubectl describe node ${first.node}` };
  }
  const message = `${total} of ${set.replicas} nodes of ${objectName(s)} have joined. See MachinesReady.`;
  return state.working ? unknownCondition('Joining', message, firstNodes(s)) : falseCondition('NodesMissing', message);
}

/** Steps of machines.template. A role for infrastructure templates is beside it in docs/how-to/cluster-api.md. */
const OF_TEMPLATES = /^(create|patch|delete) (machinedeployments|machinesets|machinepools|\w+machinetemplates)$/;

/** The permissions for Machines have a role of their own. */
function permissionsFor({ machines }: MachinesDerived): OutsidePermissions {
  const { error } = machines.kind === 'unknown' ? machines : {};
  const roleFor = ({ operation }: CallError) =>
    OF_TEMPLATES.test(operation)
      ? 'config/machine-templates'
      : operation.includes('machine')
        ? 'config/machines'
        : 'config/rbac';
  return {
    denied: () => (error?.kind === 'denied' ? error : undefined),
    describe: (denied) => describeDenied(denied, roleFor(denied)),
    roleFor,
  };
}

function permitted() {
  const message = 'The operator has the permissions that it needs. Pools of machines have no prerequisites in EKS.';
  return trueCondition('Met', message);
}

const readiness: Readiness<Parts> = {
  source: 'MachinesReady',
  stallsDeletion: [],
  empty: (s) => (setOf(s as MachinesDerived)?.replicas === 0 ? sizeIsZero(s) : undefined),
};
