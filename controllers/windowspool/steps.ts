import { AUTOSCALER_PREFIX, POOL_KEY } from './labels.ts';
import type { ScalingTagChange } from './model/changes.ts';
import type { TaintChange } from './model/poolNodes.ts';
import type { IpamAttempts } from './model/prerequisites.ts';
import type { NodeStep, Step } from './model/steps.ts';
import { WINDOWS_BUILD_LABEL } from './nodes/windows.ts';
import type { ConfigChange, NewNodeGroup, VersionChange } from './ports/eks.ts';
import type { NodeMarks, Taint } from './ports/nodes.ts';
import { IPAM_KEY } from './providers/eks/prerequisites/addressMode.ts';
import { count } from './words.ts';

export function isNodeStep(step: Step): step is NodeStep {
  return 'node' in step;
}

/** Whether a node stays although somebody still wants it to go. */
export function isGivenUp(step: Step): boolean {
  return step.kind === 'uncordonNode' && step.answer !== undefined;
}

/** Whether another tool may undo the step. */
export function mayBeReverted(step: Step): boolean {
  return step.kind === 'applyCniConfig' && step.warning !== undefined;
}

/** The step as a sentence for status.pendingSteps; undefined for what changes nothing but what is told. */
export function describeStep(step: Step): string | undefined {
  switch (step.kind) {
    case 'addFinalizer':
    case 'removeFinalizer':
    case 'remember':
    case 'setNodeCondition':
      return undefined;
    case 'reserveDisruption':
      return step.begins?.join('; ');
    case 'adoptNodeGroup':
      return `adopt node group ${step.group.name}: set the tag ${POOL_KEY}=${step.pool}`;
    case 'createAccessEntry':
      return `create an access entry of type EC2_WINDOWS for ${step.role}`;
    case 'updateAddon':
      return `set enableWindowsIpam: "true" in the vpc-cni add-on of cluster ${step.cluster}`;
    case 'applyCniConfig':
      return `set ${IPAM_KEY}: "true" in ConfigMap kube-system/amazon-vpc-cni${step.warning === undefined ? '' : `. ${step.warning}`}`;
    case 'createNodeGroup': {
      const { min, max, desired } = step.desired.scaling;
      return `create node group ${step.desired.name} (${step.desired.amiType}, ${describeMachines(step.desired)}, ${count(desired, 'node')}, ${min} to ${max})`;
    }
    case 'updateConfig':
      return `update node group ${step.group}: ${describeConfigStep(step)}`;
    case 'updateNodeGroupVersion':
      return `update node group ${step.group}: ${describeVersionChange(step.change)}`;
    case 'correctTags':
      return `correct the tags of node group ${step.group.name}: ${list('set', Object.keys(step.change.set))}${list('remove', step.change.remove)}`.trimEnd();
    case 'correctScalingTags':
      if (step.retain) return `take the cluster-autoscaler's tags from scaling group ${step.change.scalingGroup}`;
      return `correct the cluster-autoscaler's tags of scaling group ${step.change.scalingGroup}: ${describeScalingTags(step.change)}`;
    case 'deleteNodeGroup':
      return `delete node group ${step.group}: ${step.why}`;
    case 'createRuntimeClass':
      return `create RuntimeClass ${step.desired.name}`;
    case 'applyRuntimeClass':
      return `apply RuntimeClass ${step.desired.name}`;
    case 'releaseRuntimeClass':
      return `give up ownership of RuntimeClass ${step.seen.name}`;
    case 'deleteRuntimeClass':
      return `delete RuntimeClass ${step.seen.name}`;
    case 'labelNode':
      return `label node ${step.node.name} with ${WINDOWS_BUILD_LABEL}=${step.build}`;
    case 'markNode':
      return `give node ${step.node.name} what the pool says: ${describeMarks(step.change)}`;
    case 'releaseNode':
      return `give node ${step.node.name} back what it had: ${describeMarks(step.change)}`;
    case 'cordonNode':
      return `cordon node ${step.node.name}`;
    case 'evictPods':
      return `evict ${count(step.evictions.length, 'pod')} from node ${step.node.name}`;
    case 'terminateInstance': {
      const shrinks = step.entry.operation === 'Remove' ? ', and make the node group smaller by it' : '';
      const left = step.withPods === undefined ? '' : ` with its ${count(step.withPods, 'pod')}`;
      return `end instance ${step.entry.instance} of node ${step.node.name}${left}${shrinks}`;
    }
    case 'terminateUnregistered':
      return `end instance ${step.entry.instance}, which is no node`;
    case 'reportDrained':
      return step.text;
    case 'uncordonNode':
      return [`let node ${step.node.name} stay`, step.answer?.value, step.answer?.why].filter(Boolean).join(': ');
    case 'taintNode':
      return `correct the taints of node ${step.node.name}: ${describeTaints(step.change)}`;
    default:
      return unreachable(step);
  }
}

/**
 * The update in words, and what it does to pods: EKS drains the nodes of a group that gets smaller for 15 minutes and ends them then, whatever
 * PodDisruptionBudgets say. https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateNodegroupConfig.html
 */
export function describeConfigStep({ change, ends = 0 }: Extract<Step, { kind: 'updateConfig' }>): string {
  const note = ends > 0 ? ` (EKS ends ${count(ends, 'node')} and ignores PodDisruptionBudgets)` : '';
  return describeChange(change) + note;
}

/** Instance types and launch template: `m5.large`, `m5.large of version 3 of launch template windows`. */
function describeMachines({ instanceTypes, launchTemplate }: NewNodeGroup): string {
  const types = instanceTypes.join(', ');
  if (!launchTemplate) return types;
  const { id, name, version } = launchTemplate;
  return `${types}${types && ' '}of version ${version} of launch template ${name ?? id}`;
}

/** The change in words, in a fixed order: `labels set team; scaling max 5`. */
export function describeChange({ labels, taints, scaling, update }: ConfigChange): string {
  const parts: string[] = [];
  if (labels) parts.push(`labels ${list('set', Object.keys(labels.set))}${list('remove', labels.remove)}`.trimEnd());
  if (taints) parts.push(`taints ${describeTaints(taints)}`);
  if (scaling)
    parts.push(
      `scaling ${Object.entries(scaling)
        .map(([bound, size]) => `${bound} ${size}`)
        .join(', ')}`,
    );
  if (update) {
    const settings = Object.entries(update).map(([setting, value]) => `${setting} ${value}`);
    parts.push(`update ${settings.join(', ')}`);
  }
  return parts.join('; ');
}

/** `set label/team remove taint/gpu`: keys without what all of them begin with. */
function describeScalingTags({ set, remove }: ScalingTagChange): string {
  const short = (keys: readonly string[]) => keys.map((key) => key.replace(AUTOSCALER_PREFIX, ''));
  return `${list('set', short(Object.keys(set)))}${list('remove', short(remove))}`.trimEnd();
}

/** `labels set team remove tier; taints set gpu:NoSchedule`. */
function describeMarks({ labels, taints }: NodeMarks): string {
  const keys = (isWanted: (value: string | null) => boolean) =>
    Object.keys(labels).filter((key) => isWanted(labels[key] ?? null));
  const inLabels = `${list(
    'set',
    keys((value) => value !== null),
  )}${list(
    'remove',
    keys((value) => value === null),
  )}`.trimEnd();
  const inTaints = describeTaints(taints);
  const parts = [...(inLabels ? [`labels ${inLabels}`] : []), ...(inTaints ? [`taints ${inTaints}`] : [])];
  return parts.join('; ') || 'the record of what it had';
}

/** `set gpu:NoSchedule remove old:NoExecute`: key and effect are what a taint is known by. */
function describeTaints({ set, remove }: TaintChange): string {
  const named = ({ key, effect }: Taint) => `${key}:${effect}`;
  return `${list('set', set.map(named))}${list('remove', remove.map(named))}`.trimEnd();
}

/** `newest release of 1.36`, `release 1.36-2026.03.17 with version 3 of launch template windows, by force`. */
export function describeVersionChange({
  kubernetesVersion,
  releaseVersion,
  launchTemplate,
  force,
}: VersionChange): string {
  const what = releaseVersion ? `release ${releaseVersion}` : `newest release of ${kubernetesVersion}`;
  const { id, name, version } = launchTemplate ?? {};
  const template = version === undefined ? '' : ` with version ${version} of launch template ${name ?? id}`;
  return `${what}${template}${force ? ', by force' : ''}`;
}

function list(verb: string, names: readonly string[]): string {
  return names.length > 0 ? `${verb} ${names.join(', ')} ` : '';
}

/** Whether the step writes to AWS: such a step is only taken on what was read in the same reconcile. */
export function touchesAws({ kind }: { readonly kind: string }): boolean {
  return [
    'adoptNodeGroup',
    'createAccessEntry',
    'updateAddon',
    'createNodeGroup',
    'updateConfig',
    'updateNodeGroupVersion',
    'correctTags',
    'correctScalingTags',
    'deleteNodeGroup',
    'terminateInstance',
    'terminateUnregistered',
  ].includes(kind);
}

/** Whether the step changes Windows IPAM, which is a setting of the whole cluster. */
export function isIpamStep(step: { readonly kind: string }): step is Extract<Step, { kind: keyof IpamAttempts }> {
  return step.kind === 'updateAddon' || step.kind === 'applyCniConfig';
}

/** Makes the compiler check that every case is handled. */
export function unreachable(value: never): never {
  throw new Error(`unhandled case: ${JSON.stringify(value)}`);
}
