/** What the nodes of a node group add to NodesVerified: nodes that are missing, not counted, or hidden from the watch. */

import { NODE_GROUP_LABEL, OS_LABEL, WINDOWS } from '../../../api/labels.ts';
import { falseCondition, trueCondition, unknownCondition } from '../../../conditions/condition.ts';
import {
  firstNames,
  firstNodes,
  type NodesVerifiedParts,
  type Verification,
} from '../../../conditions/nodesVerified.ts';
import type { Instance } from '../../../ports/ec2.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import type { NodeRecord } from '../../../ports/nodes.ts';
import { count, duration, joined } from '../../../util/words.ts';
import { controllerWarnings } from '../checks/controllerWarnings.ts';
import { likelyCause } from '../checks/likelyCause.ts';
import { isOwnedBy, nodeGroupNamesOf } from '../desired/desiredNodeGroup.ts';
import type { EksDerived } from '../model/groupDue.ts';
import type { EksState } from '../model/groupState.ts';
import { desiredNodes, groupOf, lacksNodes, lateInstances } from '../observation/knownGroups.ts';
import { scriptFirst } from '../reporting/nodeScript.ts';

/** What a node group adds to NodesVerified. */
export const groupNodes: NodesVerifiedParts<EksDerived> = {
  missing: (s) => (s.poolNodes.unlabelledNodes.length > 0 ? lackingLabels(s) : waitingForGroup(s)),
  explain: (s, checks) => `${controllerWarnings(s)}${likelyCause(s, checks)}`,
  notCounted,
};

/** Nodes that claim to be of the node group, but are not; empty when there are none. */
function notCounted(s: EksState): string {
  const { nonMembers } = s.poolNodes;
  if (nonMembers.length === 0) return '';
  const names = firstNames(nonMembers.map((node) => node.name));
  const label = joined([...new Set(nonMembers.map(({ labels }) => `${NODE_GROUP_LABEL}=${labels[NODE_GROUP_LABEL]}`))]);
  const place = groupOf(s)?.warmPool ? ', which leaves out its warm pool' : '';
  return `${count(nonMembers.length, 'node')} with the label ${label} ${nonMembers.length === 1 ? 'is' : 'are'} not counted, because the last list of EC2 Auto Scaling does not have the instance in the node group${place}: ${names}.`;
}

/** The state while the group does not have all desired nodes; undefined when it has. */
function waitingForGroup(s: EksDerived): Verification | undefined {
  const { total } = s.poolNodes;
  const group = groupOf(s);
  if (group && !isOwnedBy(s.pool, group)) {
    const message = `The nodes of node group ${group.name} are not counted, because it is not managed by this pool.`;
    return falseCondition('Pending', message);
  }
  if (total === 0 && !mayHaveNodes(s, group)) {
    return falseCondition('Pending', 'Waiting for the node group.', 'working');
  }
  const desired = desiredNodes(s) ?? total;
  if (total === 0 && desired === 0) {
    return trueCondition('NoNodes', 'The desired size is 0.');
  }
  const missing = Math.max(0, desired - total);
  if (missing > 0 && group?.status === 'DELETING') {
    const message = `${total} of ${count(desired, 'node')} ${total === 1 ? 'is' : 'are'} left, because node group ${group.name} is being deleted.`;
    return unknownCondition('Pending', message);
  }
  return missing > 0 ? waitingForNodes(s, missing, desired) : undefined;
}

/** Whether the pool's group has been created, so that nodes can join. */
function mayHaveNodes({ pool }: EksState, group: NodeGroup | undefined): boolean {
  return group !== undefined && isOwnedBy(pool, group) && !['CREATING', 'CREATE_FAILED'].includes(group.status);
}

/** Nodes on the pool's instances that the watch of its Windows nodes does not show: they lost a label, or run another operating system. */
function lackingLabels({ pool, poolNodes, settings: { clusterName } }: EksState): Verification {
  const foreign = poolNodes.unlabelledNodes.filter(({ operatingSystem }) => ![WINDOWS, ''].includes(operatingSystem));
  const [main = '', ...others] = nodeGroupNamesOf(pool);
  const groupOf = (node: NodeRecord) => others.find((name) => name === poolNodes.groupOf(node)) ?? main;
  const [alien] = foreign;
  if (alien) return wrongSystem(foreign, clusterName, groupOf(alien));
  const renamed = poolNodes.unlabelledNodes.filter((node) => node.labels[NODE_GROUP_LABEL] !== groupOf(node));
  const [one] = renamed;
  // The label is that of one group: nodes of another one follow.
  const [label, unlabelledNodes] = one
    ? [`${NODE_GROUP_LABEL}=${groupOf(one)}`, renamed.filter((node) => groupOf(node) === groupOf(one))]
    : [`${OS_LABEL}=${WINDOWS}`, poolNodes.unlabelledNodes];
  const message = `${count(unlabelledNodes.length, 'node')} of the pool ${unlabelledNodes.length === 1 ? 'lacks' : 'lack'} the label ${label}, by which nodes are counted: ${firstNames(unlabelledNodes.map((node) => node.name))}.`;
  const remedy = `Terminate the instance, or restore the label: kubectl label node NAME ${label}`;
  return { ...falseCondition('MembershipLabelRemoved', message), remedy };
}

/** Nodes of another operating system, as measured by the kubelet; the label of the watch can be changed. They are Ready, so nothing improves by waiting. */
function wrongSystem(nodes: readonly NodeRecord[], cluster: string, group: string): Verification {
  const named = nodes.map(({ name, operatingSystem }) => `${name} runs ${operatingSystem}`);
  const [which, what] = nodes.length === 1 ? ['a node that does', 'the instance'] : ['nodes that do', 'the instances'];
  const message = `${count(nodes.length, 'instance')} of the pool joined as ${which} not run Windows: ${firstNames(named)}.`;
  const remedy = `Check the AMI and the AMI type of the node group, and the launch template of its Auto Scaling group, and terminate ${what}: aws eks describe-nodegroup --cluster-name ${cluster} --nodegroup-name ${group} --query 'nodegroup.[amiType,releaseVersion,launchTemplate,resources]'`;
  return { ...falseCondition('WrongOperatingSystem', message), remedy };
}

/** Instances that are not nodes yet: joining within the join grace period, missing after it. */
function waitingForNodes(s: EksDerived, missing: number, desired: number): Verification {
  const late = lateInstances(s);
  if (!lacksNodes(s)) {
    const text = `${s.poolNodes.total} of ${count(desired, 'node')} joined, ${missing} joining.`;
    return unknownCondition('Joining', text, firstNodes(s));
  }
  const grace = duration(s.settings.joinGraceMs);
  const named = late && late.length > 0 ? `: ${runningInstances(late)}` : '';
  const message = `${missing} of ${count(desired, 'node')} did not join within ${grace}${named}.${likelyCause(s, ['NodesMissing'])}${late?.length === 0 ? '' : scriptFirst(s)}`;
  return { ...falseCondition('NodesMissing', message), remedy: remedyForLate(late, s.poolNodes.total) };
}

/** `instance i-1 is running`. */
function runningInstances(late: readonly Instance[]): string {
  const [noun, verb] = late.length === 1 ? ['instance', 'is'] : ['instances', 'are'];
  return `${noun} ${joined(late.map(({ id }) => id))} ${verb} running`;
}

/** When other nodes joined, their role has access: then the cause is on the instance. */
function remedyForLate(late: readonly Instance[] | undefined, joinedNodes: number): string {
  if (late?.length === 0)
    return 'No running instance is waiting to join. Check the activity history of the Auto Scaling group.';
  const [first] = late ?? [];
  const access = 'Check that the EKS access entry of the node role has the type EC2_WINDOWS. ';
  const session = first
    ? ` To open a session, which needs the policy AmazonSSMManagedInstanceCore in the node role: aws ssm start-session --target ${first.id}`
    : '';
  return `${joinedNodes > 0 ? '' : access}Check the kubelet log on the instance${late && late.length > 1 ? 's' : ''}.${session}`;
}
