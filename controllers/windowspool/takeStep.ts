import type { WindowsPool } from './api.gen.ts';
import { evictPods } from './disruption/evictPods.ts';
import { terminateInstance, terminationOf, unregisteredTerminationOf } from './disruption/terminateInstance.ts';
import type { ScalingTagChange } from './model/changes.ts';
import type { ObservedNodeGroup, ObservedState } from './model/observedState.ts';
import type { EvictionPass, Outcome } from './model/outcome.ts';
import type { PrerequisiteFacts } from './model/prerequisites.ts';
import type { Step } from './model/steps.ts';
import type { Writers } from './model/writers.ts';
import { WINDOWS_BUILD_LABEL } from './nodes/windows.ts';
import { scalingIn } from './poolKind.ts';
import type { CallError, CallResult } from './ports/callResult.ts';
import type { NodeGroup, NodeGroupStatus } from './ports/eks.ts';
import { ownershipTag } from './providers/eks/adoption.ts';
import { remembering } from './providers/eks/applied.ts';
import { changedTags } from './providers/eks/autoscalerTags.ts';
import { IPAM_KEY } from './providers/eks/prerequisites/addressMode.ts';
import { isAsDesired, isOwner } from './runtimeClass/runtimeClass.ts';
import { describeConfigStep, describeVersionChange, unreachable } from './steps.ts';

/** What enables Windows IPAM in the vpc-cni add-on: a text, by its schema. */
const ADDON_VALUES = { enableWindowsIpam: 'true' } as const;

/** The outcome after the step, and of a pass of a drain what it did; or why it was not done. */
type Result = (Outcome & Partial<EvictionPass>) | { readonly error: CallError };

/** Takes one step. What its answer tells is in the situation after it. */
export async function takeStep(step: Step, soFar: Outcome, writers: Writers, signal: AbortSignal): Promise<Result> {
  const { pool } = soFar.after;
  const changed = (change: Partial<ObservedState>): Outcome => ({ ...soFar, after: { ...soFar.after, ...change } });
  switch (step.kind) {
    case 'addFinalizer':
      return when(await writers.pools.addFinalizer(pool, signal), (value) => changed({ pool: value }));
    case 'removeFinalizer':
      return when(await writers.pools.removeFinalizer(pool, signal), () => ({ ...soFar, released: true }));
    case 'remember': {
      const status = remembering(pool.status, step.memory);
      return when(await writers.pools.writeStatus(pool, status, signal), (value) => changed({ pool: value }));
    }
    case 'reserveDisruption': {
      const status = remembering(pool.status, step.memory);
      return when(await writers.budget.reserve(pool, status, signal), (value) => changed({ pool: value }));
    }
    case 'adoptNodeGroup': {
      const tags = ownershipTag(pool);
      return when(await writers.nodeGroups.tag(step.group.arn, tags, signal), () =>
        changed({ group: withTags(soFar.after.group, { ...step.group.tags, ...tags }) }),
      );
    }
    case 'createAccessEntry':
      return when(await writers.accessEntries.create(step.role, step.token, signal), () =>
        withFacts(soFar, { accessEntry: { ok: true, value: { type: 'EC2_WINDOWS' } } }),
      );
    case 'updateAddon': {
      const { addon, token } = step;
      return when(await writers.addons.configure('vpc-cni', ADDON_VALUES, addon, token, signal), () =>
        withFacts(soFar, { cniAddon: { ok: true, value: { ...addon, status: 'UPDATING' } } }),
      );
    }
    case 'applyCniConfig':
      return when(await writers.system.setCniConfig(IPAM_KEY, 'true', step.seen, signal), () => withIpam(soFar));
    case 'createNodeGroup':
      return when(await writers.nodeGroups.create(step.desired, step.token, signal), (group) =>
        changed({ group: { kind: 'seen', group } }),
      );
    case 'updateConfig':
      return when(await writers.nodeGroups.updateConfig(step.group, step.change, step.token, signal), (update) => ({
        ...changed({ group: withStatus(soFar.after.group, 'UPDATING') }),
        accepted: {
          update,
          target: step.target,
          change: describeConfigStep(step),
          desired: desiredOf(step, pool),
        },
      }));
    case 'updateNodeGroupVersion':
      return when(await writers.nodeGroups.updateVersion(step.group, step.change, step.token, signal), (update) => ({
        ...changed({ group: withStatus(soFar.after.group, 'UPDATING') }),
        accepted: {
          update,
          target: step.target,
          change: describeVersionChange(step.change),
          desired: undefined,
        },
      }));
    case 'correctTags':
      return when(await correctTags(step, writers, signal), (tags) =>
        changed({ group: withTags(soFar.after.group, tags) }),
      );
    case 'correctScalingTags':
      return when(await correctScalingTags(step.change, writers, signal), () =>
        changed({ autoscaler: withScalingTags(soFar.after.autoscaler, step.change) }),
      );
    case 'deleteNodeGroup':
      return when(await writers.nodeGroups.delete(step.group, signal), () =>
        changed({ group: withStatus(soFar.after.group, 'DELETING') }),
      );
    case 'createRuntimeClass':
      return when(await writers.runtimeClasses.create(step.desired, pool, signal), () => soFar);
    case 'applyRuntimeClass':
      return when(await applyRuntimeClass(step, pool, writers, signal), () => soFar);
    case 'releaseRuntimeClass':
      return when(await writers.runtimeClasses.removeOwner(step.seen, pool, signal), () => soFar);
    case 'deleteRuntimeClass':
      return when(await writers.runtimeClasses.delete(step.seen, signal), () => soFar);
    case 'labelNode':
      return when(await writers.nodes.setLabel(step.node, WINDOWS_BUILD_LABEL, step.build, signal), () => soFar);
    case 'taintNode':
      return when(await writers.nodes.setTaints(step.node, step.change, signal), () => soFar);
    case 'markNode':
    case 'releaseNode':
      return when(await writers.nodes.setMarks(step.node, step.change, signal), () => soFar);
    case 'cordonNode':
      return when(await writers.nodes.cordon(step.node, signal), () => soFar);
    case 'evictPods':
      return when(await evictPods(step, writers.drains, signal), (pass) => ({ ...soFar, ...pass }));
    case 'terminateInstance':
      return when(await terminateInstance(terminationOf(step, soFar.after), writers, signal), () => soFar);
    case 'terminateUnregistered':
      return when(await terminateInstance(unregisteredTerminationOf(step), writers, signal), () => soFar);
    case 'uncordonNode':
      return when(await writers.nodes.restore(step.node, step.answer, signal), () => soFar);
    case 'reportDrained':
      return soFar;
    case 'setNodeCondition':
      return when(await writers.nodes.setVerified(step.node, step.condition, soFar.after.now, signal), () => soFar);
    default:
      return unreachable(step);
  }
}

function when<T>(answer: CallResult<T>, next: (value: T) => Outcome & Partial<EvictionPass>): Result {
  return answer.ok ? next(answer.value) : { error: answer.error };
}

/** What the prerequisites look at, as it is from now on. */
function withFacts(soFar: Outcome, facts: Partial<PrerequisiteFacts>): Outcome {
  const { prerequisites } = soFar.after;
  if (!prerequisites) return soFar;
  return { ...soFar, after: { ...soFar.after, prerequisites: { ...prerequisites, ...facts } } };
}

/** Windows IPAM is on, and the pool goes on at once. */
function withIpam(soFar: Outcome): Outcome {
  const { ipamAttempts, now, prerequisites } = soFar.after;
  const data = prerequisites?.cniConfig?.ok ? prerequisites.cniConfig.value : undefined;
  const { after, ...rest } = withFacts(soFar, { cniConfig: { ok: true, value: { ...data, [IPAM_KEY]: 'true' } } });
  return { ...rest, after: { ...after, ipamAttempts: { ...ipamAttempts, applyCniConfig: now } } };
}

/** The group as EKS will show it from now on. */
function withStatus(view: ObservedNodeGroup, status: NodeGroupStatus): ObservedNodeGroup {
  return view.kind === 'seen' ? { kind: 'seen', group: { ...view.group, status } } : view;
}

function withTags(view: ObservedNodeGroup, tags: NodeGroup['tags']): ObservedNodeGroup {
  return view.kind === 'seen' ? { kind: 'seen', group: { ...view.group, tags } } : view;
}

/** What the cluster-autoscaler knows from now on. */
function withScalingTags(known: ObservedState['autoscaler'], change: ScalingTagChange): ObservedState['autoscaler'] {
  const { [change.scalingGroup]: found, ...others } = known?.tags ?? {};
  return known && { ...known, tags: { ...others, [change.scalingGroup]: changedTags(found ?? {}, change) } };
}

/** What the RuntimeClass is like is written only where it differs: the API server has less to do for an owner alone. */
async function applyRuntimeClass(
  { desired, seen }: Extract<Step, { kind: 'applyRuntimeClass' }>,
  pool: WindowsPool,
  { runtimeClasses }: Writers,
  signal: AbortSignal,
): Promise<CallResult<void>> {
  if (!isAsDesired(seen, desired)) {
    const answer = await runtimeClasses.apply(desired, seen, signal);
    if (!answer.ok) return answer;
  }
  return isOwner(pool, seen) ? { ok: true, value: undefined } : runtimeClasses.addOwner(seen, pool, signal);
}

async function correctScalingTags(
  { scalingGroup, set, remove }: ScalingTagChange,
  { scalingGroups }: Writers,
  signal: AbortSignal,
): Promise<CallResult<void>> {
  if (Object.keys(set).length > 0) {
    const answer = await scalingGroups.setTags(scalingGroup, set, signal);
    if (!answer.ok) return answer;
  }
  return remove.length > 0 ? scalingGroups.removeTags(scalingGroup, remove, signal) : { ok: true, value: undefined };
}

/** A size that was only lifted or lowered into the bounds is not the user's: that one is not sent again. */
function desiredOf({ change }: Extract<Step, { kind: 'updateConfig' }>, pool: WindowsPool): number | undefined {
  return change.scaling?.desired === scalingIn(pool.spec).desired ? change.scaling?.desired : undefined;
}

/** The tags as they are afterwards. */
async function correctTags(
  { group, change }: Extract<Step, { kind: 'correctTags' }>,
  { nodeGroups }: Writers,
  signal: AbortSignal,
): Promise<CallResult<NodeGroup['tags']>> {
  if (Object.keys(change.set).length > 0) {
    const answer = await nodeGroups.tag(group.arn, change.set, signal);
    if (!answer.ok) return answer;
  }
  if (change.remove.length > 0) {
    const answer = await nodeGroups.untag(group.arn, change.remove, signal);
    if (!answer.ok) return answer;
  }
  const kept = Object.entries(group.tags).filter(([key]) => !change.remove.includes(key));
  return { ok: true, value: { ...Object.fromEntries(kept), ...change.set } };
}
