/** Steps about an EKS node group, its scaling groups and the access entry of its role. */

import { AUTOSCALER_PREFIX, POOL_KEY } from '../../../api/labels.ts';
import type { ReleaseFailure } from '../../../model/disruption.ts';
import type { Outcome } from '../../../model/outcome.ts';
import type { Step } from '../../../model/steps.ts';
import type { Writers } from '../../../model/writers.ts';
import type { CallError, CallResult } from '../../../ports/callResult.ts';
import type { ConfigChange, NewNodeGroup, NodeGroup, NodeGroupStatus, VersionChange } from '../../../ports/eks.ts';
import type { Nodes } from '../../../ports/nodes.ts';
import { scalingIn } from '../../../rules/nodeSource.ts';
import { setAndRemove } from '../../../steps/describeTaints.ts';
import { changed, type StepKinds, when } from '../../../steps/stepKind.ts';
import { count } from '../../../util/words.ts';
import { ownershipTag } from '../desired/adoption.ts';
import { changedTags } from '../desired/autoscalerTags.ts';
import type { Difference, ScalingTagChange, TagChange } from '../model/changes.ts';
import type { EksState, ObservedNodeGroup } from '../model/groupState.ts';
import { describeChange, describeVersionChange } from './describeChange.ts';
import { withFacts } from './withFacts.ts';

const DONE: CallResult<void> = { ok: true, value: undefined };

/** Differences that the step corrects although the spec did not change. */
type Drift = readonly Difference[];

declare module '../../../model/steps.ts' {
  interface Steps {
    /** Adopts a group that no pool owns, by setting the pool's tag and nothing else. */
    adoptNodeGroup: { group: NodeGroup; pool: string };
    /** Creates an access entry of type EC2_WINDOWS, without which nodes with the role lack permissions. */
    createAccessEntry: { role: string; token: string };
    createNodeGroup: { desired: NewNodeGroup; token: string };
    createCanary: { desired: NewNodeGroup; token: string };
    /** Lets the second group shrink to zero, or shrinks it to zero, for which it must have no node, by an uncached read. */
    shrinkSecondGroup: { group: string; change: Pick<ConfigChange, 'scaling' | 'warmPool'>; token: string };
    /** Deletes the second group. One that was drained must have no node, by an uncached read. */
    deleteSecondGroup: { group: string; why: string; isDrained: boolean };
    updateConfig: {
      group: string;
      /** How many nodes EKS terminates, when the update shrinks the group. */
      ends?: number;
      change: ConfigChange;
      token: string;
      target: string;
      drift?: Drift;
      retain?: Retaining;
    };
    /** A rolling update to another Kubernetes version or AMI release. */
    updateNodeGroupVersion: {
      group: string;
      change: VersionChange;
      token: string;
      target: string;
      drift?: Drift;
      /** The release fails verification in another pool, but the spec asks for it. */
      failedElsewhere?: ReleaseFailure;
    };
    correctTags: {
      group: NodeGroup;
      change: TagChange;
      drift?: Drift;
      retain?: Retaining;
    };
    /** Sets tags on the scaling group that tell the cluster-autoscaler what a new node looks like. */
    correctScalingTags: { change: ScalingTagChange; retain?: Retaining };
    deleteNodeGroup: { group: string; why: string };
  }
}

export const nodeGroupSteps: StepKinds<
  | 'adoptNodeGroup'
  | 'createAccessEntry'
  | 'createNodeGroup'
  | 'createCanary'
  | 'updateConfig'
  | 'updateNodeGroupVersion'
  | 'correctTags'
  | 'correctScalingTags'
  | 'deleteNodeGroup'
  | 'shrinkSecondGroup'
  | 'deleteSecondGroup'
> = {
  adoptNodeGroup: {
    subject: () => 'nodeGroup',
    describe: ({ group, pool }) => `adopt node group ${group.name}: set the tag ${POOL_KEY}=${pool}`,
    reason: 'NodeGroupAdopted',
    writesAws: true,
    blocks: 'nodeGroup',
    run: async ({ group }, outcome: Outcome<EksState>, { nodeGroups }, signal) => {
      const tags = ownershipTag(outcome.after.pool);
      return when(await nodeGroups.tag(group.arn, tags, signal), () =>
        changed(outcome, withGroup(outcome.after, group.name, { tags: { ...group.tags, ...tags } })),
      );
    },
  },
  createAccessEntry: {
    subject: () => 'nodeGroup',
    describe: ({ role }) => `create an access entry of type EC2_WINDOWS for ${role}`,
    reason: 'AccessEntryCreated',
    writesAws: true,
    blocks: 'nodeGroup',
    run: async ({ role, token }, outcome: Outcome<EksState>, { accessEntries }, signal) =>
      when(await accessEntries.create(role, outcome.after.settings.defaultTags, token, signal), () =>
        withFacts(outcome, { accessEntry: { ok: true, value: { type: 'EC2_WINDOWS' } } }),
      ),
  },
  createNodeGroup: {
    subject: () => 'nodeGroup',
    describe: ({ desired: { name, amiType, scaling, ...wanted } }) =>
      `create node group ${name} (${amiType}, ${describeMachines(wanted)}, ${count(scaling.desiredSize, 'node')}, ${scaling.minSize} to ${scaling.maxSize})`,
    onlyStarts: true,
    reason: 'NodeGroupCreated',
    writesAws: true,
    appliesSpec: true,
    blocks: 'nodeGroup',
    run: async ({ desired, token }, outcome: Outcome<EksState>, { nodeGroups }, signal) =>
      when(await nodeGroups.create(desired, token, signal), (group) =>
        changed(outcome, { group: { kind: 'seen', group } }),
      ),
  },
  createCanary: {
    subject: () => 'secondNodeGroup',
    describe: ({ desired: { name, scaling } }) => `create canary ${name} (${count(scaling.desiredSize, 'node')})`,
    onlyStarts: true,
    reason: 'NodeGroupCreated',
    writesAws: true,
    appliesSpec: true,
    blocks: 'secondNodeGroup',
    run: async ({ desired, token }, outcome: Outcome<EksState>, { nodeGroups }, signal) =>
      when(await nodeGroups.create(desired, token, signal), (group) =>
        changed(outcome, { second: { kind: 'seen', group } }),
      ),
  },
  updateConfig: {
    subject: () => 'nodeGroup',
    describe: (step) => `update node group ${step.group}: ${describeUpdateConfig(step)}`,
    onlyStarts: true,
    reason: 'NodeGroupUpdated',
    writesAws: true,
    appliesSpec: true,
    startsUpdate: true,
    blocks: 'nodeGroup',
    describeLeftover: () => "keeps the operator's labels and taints",
    run: async (step, outcome: Outcome<EksState>, { nodeGroups }, signal) =>
      when(await nodeGroups.updateConfig(step.group, step.change, step.token, signal), (update) => ({
        ...changed(outcome, withGroup(outcome.after, step.group, { status: 'UPDATING' })),
        accepted: {
          update,
          target: step.target,
          change: describeUpdateConfig(step),
          desired: desiredSizeOf(step, outcome.after),
        },
      })),
  },
  updateNodeGroupVersion: {
    subject: () => 'nodeGroup',
    describe: ({ group, change }) =>
      `update node group ${group}: ${describeVersionChange(change)} (replaces every node)`,
    onlyStarts: true,
    reason: 'NodeGroupUpdated',
    writesAws: true,
    appliesSpec: true,
    startsUpdate: true,
    blocks: 'nodeGroup',
    run: async ({ group, change, token, target }, outcome: Outcome<EksState>, { nodeGroups }, signal) =>
      when(await nodeGroups.updateVersion(group, change, token, signal), (update) => ({
        ...changed(outcome, withGroup(outcome.after, group, { status: 'UPDATING' })),
        accepted: { update, target, change: describeVersionChange(change), desired: undefined },
      })),
  },
  correctTags: {
    subject: () => 'nodeGroup',
    describe: ({ group, change }) =>
      `correct the tags of node group ${group.name}: ${setAndRemove(Object.keys(change.set), change.remove)}`,
    reason: 'TagsCorrected',
    writesAws: true,
    appliesSpec: true,
    blocks: 'nodeGroup',
    describeLeftover: () => 'keeps its winpool.dev tags',
    // The nodes of a retained group are found by them.
    isLast: ({ retain }) => retain === true,
    run: async (step, outcome: Outcome<EksState>, writers, signal) =>
      when(await correctTags(step, writers, signal), (tags) =>
        changed(outcome, withGroup(outcome.after, step.group.name, { tags })),
      ),
  },
  correctScalingTags: {
    subject: ({ change }) => `Auto Scaling group ${change.scalingGroup}`,
    describe: ({ change, retain }) =>
      retain
        ? `remove the tags for the cluster-autoscaler from Auto Scaling group ${change.scalingGroup}`
        : `correct the tags for the cluster-autoscaler on Auto Scaling group ${change.scalingGroup}: ${describeScalingTags(change)}`,
    writesAws: true,
    describeLeftover: () => 'keeps the tags for the cluster-autoscaler on its Auto Scaling group',
    run: async ({ change }, outcome: Outcome<EksState>, writers, signal) =>
      when(await correctScalingTags(change, writers, signal), () =>
        changed(outcome, { autoscaler: withScalingTags(outcome.after.autoscaler, change) }),
      ),
  },
  deleteNodeGroup: {
    subject: () => 'nodeGroup',
    describe: ({ group, why }) => `delete node group ${group}: ${why}`,
    onlyStarts: true,
    reason: 'NodeGroupDeleted',
    writesAws: true,
    blocks: 'nodeGroup',
    run: async ({ group }, outcome: Outcome<EksState>, { nodeGroups }, signal) =>
      when(await nodeGroups.delete(group, signal), () =>
        changed(outcome, withGroup(outcome.after, group, { status: 'DELETING' })),
      ),
  },
  shrinkSecondGroup: {
    subject: () => 'secondNodeGroup',
    describe: ({ group, change }) => `update node group ${group}, which is drained: ${describeChange(change)}`,
    onlyStarts: true,
    reason: 'NodeGroupUpdated',
    writesAws: true,
    blocks: 'secondNodeGroup',
    // Not recorded as an update: its result shows in the group.
    run: async ({ group, change, token }, outcome: Outcome<EksState>, { nodeGroups, nodes }, signal) => {
      const refused = change.scaling?.desiredSize === 0 && (await unlessEmpty(group, outcome.after, nodes, signal));
      if (refused) return { error: refused };
      return when(await nodeGroups.updateConfig(group, change, token, signal), () =>
        changed(outcome, withGroup(outcome.after, group, { status: 'UPDATING' })),
      );
    },
  },
  deleteSecondGroup: {
    subject: () => 'secondNodeGroup',
    describe: ({ group, why }) => `delete node group ${group}: ${why}`,
    onlyStarts: true,
    reason: 'NodeGroupDeleted',
    writesAws: true,
    blocks: 'secondNodeGroup',
    run: async ({ group, isDrained }, outcome: Outcome<EksState>, { nodeGroups, nodes }, signal) => {
      const refused = isDrained && (await unlessEmpty(group, outcome.after, nodes, signal));
      if (refused) return { error: refused };
      return when(await nodeGroups.delete(group, signal), () =>
        changed(outcome, withGroup(outcome.after, group, { status: 'DELETING' })),
      );
    },
  },
};

/**
 * Why the group may have nodes; undefined if an uncached read shows none. A node with its label that is Ready counts even if the list of the group's instances lacks
 * it, because that list can be incomplete.
 */
async function unlessEmpty(
  group: string,
  { poolNodes }: EksState,
  nodes: Nodes,
  signal: AbortSignal,
): Promise<CallError | undefined> {
  const left = await nodes.ofGroup(group, signal);
  if (!left.ok) return left.error;
  const node = left.value.find((each) => !each.deleting && (poolNodes.isMember(each) || each.ready === 'True'));
  if (!node) return undefined;
  const message = `node group ${group} still has node ${node.name}`;
  return { kind: 'conflict', operation: 'list nodes', code: 'NotEmpty', message };
}

/**
 * Describes the update and its effect on pods: when a group shrinks, EKS drains the nodes for 15 minutes and then terminates them regardless of
 * PodDisruptionBudgets. https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateNodegroupConfig.html
 */
function describeUpdateConfig({ change, ends = 0 }: Extract<Step, { kind: 'updateConfig' }>): string {
  const note = ends > 0 ? ` (EKS terminates ${count(ends, 'node')} and ignores PodDisruptionBudgets)` : '';
  return describeChange(change) + note;
}

/** Instance types and launch template: `m5.large`, `m5.large, version 3 of launch template windows`. */
function describeMachines({ instanceTypes, launchTemplate }: Pick<NewNodeGroup, 'instanceTypes' | 'launchTemplate'>) {
  const types = instanceTypes.join(', ');
  if (!launchTemplate) return types;
  const { id, name, version } = launchTemplate;
  return `${types}${types && ', '}version ${version} of launch template ${name ?? id}`;
}

/** `set label/team remove taint/gpu`: keys without their common prefix. */
function describeScalingTags({ set, remove }: ScalingTagChange): string {
  const short = (keys: readonly string[]) => keys.map((key) => key.replace(AUTOSCALER_PREFIX, ''));
  return setAndRemove(short(Object.keys(set)), short(remove));
}

/** The groups as EKS describes them after a call about one of them. */
function withGroup(
  { group, second }: Pick<EksState, 'group' | 'second'>,
  name: string,
  change: { readonly status: NodeGroupStatus } | Pick<NodeGroup, 'tags'>,
): Pick<EksState, 'group' | 'second'> {
  const after = (view: ObservedNodeGroup): ObservedNodeGroup =>
    view.kind === 'seen' && view.group.name === name ? { kind: 'seen', group: { ...view.group, ...change } } : view;
  return { group: after(group), ...(second && { second: after(second) }) };
}

/** The tags of the scaling groups after the call. */
function withScalingTags(known: EksState['autoscaler'], change: ScalingTagChange): EksState['autoscaler'] {
  const { [change.scalingGroup]: found, ...others } = known?.tags ?? {};
  return known && { ...known, tags: { ...others, [change.scalingGroup]: changedTags(found ?? {}, change) } };
}

async function correctScalingTags(
  { scalingGroup, set, remove }: ScalingTagChange,
  { scalingGroups }: Writers,
  signal: AbortSignal,
): Promise<CallResult<void>> {
  const added = Object.keys(set).length > 0 ? await scalingGroups.setTags(scalingGroup, set, signal) : DONE;
  return added.ok && remove.length > 0 ? scalingGroups.removeTags(scalingGroup, remove, signal) : added;
}

/** The desired size, if it is the spec's. A size that was only moved into the bounds is not, and is not sent again. */
function desiredSizeOf({ change }: Extract<Step, { kind: 'updateConfig' }>, { pool }: EksState) {
  return change.scaling?.desiredSize === scalingIn(pool.spec).desiredSize ? change.scaling?.desiredSize : undefined;
}

/** Sets and removes the tags, and returns the tags of the group after that. */
async function correctTags(
  { group, change: { set, remove } }: Extract<Step, { kind: 'correctTags' }>,
  { nodeGroups }: Writers,
  signal: AbortSignal,
): Promise<CallResult<NodeGroup['tags']>> {
  const added = Object.keys(set).length > 0 ? await nodeGroups.tag(group.arn, set, signal) : DONE;
  const both = added.ok && remove.length > 0 ? await nodeGroups.untag(group.arn, remove, signal) : added;
  if (!both.ok) return both;
  const kept = Object.entries(group.tags).filter(([key]) => !remove.includes(key));
  return { ok: true, value: { ...Object.fromEntries(kept), ...set } };
}
