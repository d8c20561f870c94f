/** What the operator sent to the local AWS, since its calls were last reset. */
import { type CallEntry, nodeGroupIn } from './fakes/localaws/wire/callLog.ts';
import type { TestEnv } from './fakes/testenv/testEnv.ts';

type World = Pick<TestEnv, 'cloud'>;

/** The calls of an operation; with a node group, those about it. */
export function callsOf({ cloud }: World, operation: string, group?: string): CallEntry[] {
  return cloud
    .calls()
    .filter((call) => call.operation === operation && (group === undefined || nodeGroupIn(call) === group));
}

/** What these calls change: their inputs without the names and the token, which all have. */
export function changesIn(world: World, operation: string, group?: string): Record<string, unknown>[] {
  return callsOf(world, operation, group).map(({ input }) => {
    const { clusterName, nodegroupName, clientRequestToken, ...change } = input as Record<string, unknown>;
    return change;
  });
}

/** How often the local AWS was asked to create the node group. */
export function creationsOf(world: World, group: string): number {
  return callsOf(world, 'CreateNodegroup', group).length;
}

/** The calls that can change something. */
export function isWrite({ operation }: Pick<CallEntry, 'operation'>): boolean {
  return !/^(Describe|Get|List)/.test(operation);
}

/** The instances that calls of the operator have terminated: a call that EKS refused did nothing. */
export function terminatedBy(calls: readonly CallEntry[]): string[] {
  return calls
    .filter(({ operation, result }) => operation === 'TerminateInstanceInAutoScalingGroup' && result === 'ok')
    .map(({ input }) => (input as { readonly InstanceId: string }).InstanceId);
}
