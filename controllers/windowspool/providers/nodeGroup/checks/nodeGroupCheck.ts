/** What the checks of a pool with a node group have in common. */

import { type Answer, type Check, unknown } from '../../../checks/check.ts';
import type { CallError, CallResult } from '../../../ports/callResult.ts';
import type { Cluster } from '../../../ports/eks.ts';
import type { CheckFacts, CheckInput, FactName, FactValue } from '../model/checkFacts.ts';
import { factTable } from './factTable.ts';

/** A check of a pool with a node group. */
export type NodeGroupCheck = Check<CheckInput, FactName>;

/** A check of the cluster that does not depend on a pool. */
export type SystemCheck = Check<SystemInput, FactName>;

/** The part of the input that does not depend on a pool. */
export type SystemInput = Pick<CheckInput, 'facts' | 'windowsIpam'> & { readonly cluster: Pick<Cluster, 'name'> };

/** Evaluates one fact. Undefined when it was not read, `unknown` when reading it failed. */
export function given<N extends FactName>(
  facts: CheckFacts,
  name: N,
  evaluate: (value: FactValue<N>) => Answer | undefined,
): Answer | undefined {
  const fact = facts[name] as CallResult<FactValue<N>> | undefined;
  if (!fact) return undefined;
  return fact.ok ? evaluate(fact.value) : unread(name, fact.error);
}

/** The answer of a check whose fact could not be read. */
export function unread(fact: FactName, error: CallError): Answer {
  const permissions = Object.values(factTable).map(({ permission }) => permission);
  return unknown(error, factTable[fact].permission, permissions);
}
