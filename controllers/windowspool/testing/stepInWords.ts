/** Steps in short form for tables of tests: the kind, and the arguments that matter. What users read about them is in test/golden/texts/steps.txt. */
import type { Step } from '../model/steps.ts';
import type { ConfigChange, NewNodeGroup, VersionChange } from '../ports/eks.ts';
import type { Taint } from '../ports/nodes.ts';
import type { LaunchSettings } from '../ports/ownTemplates.ts';
import type { WriteAheadRecord } from '../providers/nodeGroup/reporting/writeAheadStatus.ts';

type Words = readonly (string | number | false | undefined)[];

/** The kind of the step and its arguments, such as `updateNodeGroupVersion web 1.36-2026.03.17 force`. */
export function stepInWords(step: Step): string {
  if (step.kind === 'writeAhead' || step.kind === 'reserveUpdate') return recordInWords(step.ahead);
  const args = (ARGUMENTS[step.kind] as ((step: Step) => Words) | undefined)?.(step) ?? [];
  return [step.kind, ...args].filter((word) => word !== undefined && word !== false && word !== '').join(' ');
}

/** What a write of status records. */
function recordInWords(ahead: WriteAheadRecord): string {
  const { nodeGroupName, cluster, initial, sending = [], scalingTags, ownTemplate, reservation } = ahead;
  const what = ownTemplate
    ? `launch template ${ownTemplate}`
    : initial
      ? `${initial.applied.length} fields, desired ${initial.desired ?? 'open'}`
      : scalingTags
        ? `scaling tags ${scalingTags.join(', ')}`
        : `sending ${sending.includes('scaling') && sending.length > 4 ? `all ${sending.length} fields` : sending.join(', ')}`;
  const how = reservation ? 'reserve' : 'record';
  return `${how} ${nodeGroupName} of ${cluster.arn}: ${what}`;
}

const ARGUMENTS: { readonly [K in Step['kind']]?: (step: Extract<Step, { readonly kind: K }>) => Words } = {
  reserveDisruption: ({ reservation: { nodes = [] } }) => [
    `for ${nodes.map(({ name, operation, reason }) => `${name} (${reason ? `${operation}, ${reason}` : operation})`).join(', ')}`,
  ],
  adoptNodeGroup: ({ group }) => [group.name],
  createAccessEntry: ({ role }) => [role],
  updateAddon: ({ cluster }) => [cluster],
  applyCniConfig: ({ warning }) => [warning !== undefined && 'with a warning'],
  createLaunchTemplate: ({ template }) => [template.name, ...launchSettingsInWords(template.launchSettings)],
  createLaunchTemplateVersion: ({ version, change }) => [`${version}:`, change],
  deleteLaunchTemplateVersions: ({ versions }) => versions,
  deleteLaunchTemplate: ({ template }) => [template.name],
  createNodeGroup: ({ desired }) => [
    ...groupInWords(desired),
    ...Object.keys(desired.tags)
      .sort()
      .map((key) => `+${key}`),
  ],
  createCanary: ({ desired }) => [desired.name, desired.scaling.desiredSize],
  switchNodeGroup: ({ ahead, keepsMain }) => [
    ahead.nodeGroupName,
    ahead.second?.replacement && `second=${ahead.second.replacement.name}`,
    ahead.second?.canary && `canary=${ahead.second.canary.name}`,
    keepsMain && 'keepsMain',
  ],
  beginDraining: ({ ahead }) => [ahead.second?.replacement?.name],
  beginCanary: ({ ahead: { second } }) => {
    const { name, releaseVersion, templateVersion } = second?.canary ?? {};
    return [name, releaseVersion, templateVersion];
  },
  endCanary: ({ ahead }) => [ahead.second?.canary?.name, ahead.failed?.reason],
  shrinkSecondGroup: ({ group, change }) => [group, ...changeInWords(change)],
  deleteSecondGroup: ({ group, isDrained }) => [group, isDrained && 'drained'],
  updateConfig: ({ group, change, ends }) => [group, ...changeInWords(change), ends && `ends=${ends}`],
  updateNodeGroupVersion: ({ group, change }) => [group, ...versionInWords(change)],
  correctTags: ({ group, change }) => [group.name, ...signed(Object.keys(change.set), change.remove)],
  correctScalingTags: ({ change, retain }) => [
    change.scalingGroup,
    ...(retain ? ['retain'] : signed(Object.keys(change.set).map(shortKey), change.remove.map(shortKey))),
  ],
  deleteNodeGroup: ({ group }) => [group],
  createRuntimeClass: ({ desired }) => [desired.name],
  applyRuntimeClass: ({ desired }) => [desired.name],
  shareRuntimeClass: ({ seen }) => [seen.name],
  releaseRuntimeClass: ({ seen }) => [seen.name],
  deleteRuntimeClass: ({ seen }) => [seen.name],
  labelNode: ({ node, build }) => [node.name, build],
  markNode: ({ node, change }) => [node.name, ...labelsInWords(change.labels), ...taintsInWords(change.taints)],
  releaseNode: ({ node, change }) => [node.name, ...labelsInWords(change.labels), ...taintsInWords(change.taints)],
  taintNode: ({ node, change }) => [node.name, ...taintsInWords(change)],
  cordonNode: ({ node }) => [node.name],
  giveUpNode: ({ node }) => [node.name],
  evictPods: ({ node, evictions }) => [node.name, ...evictions.map(({ pod }) => pod.name)],
  terminateInstance: ({ entry, withPods }) => [entry.instanceID, entry.operation, withPods && `withPods=${withPods}`],
  terminateUnregistered: ({ entry }) => [entry.instanceID],
  reportDrained: ({ node }) => [node.name],
  uncordonNode: ({ node, answer }) => [node.name, answer?.value],
  createNodePod: ({ node, pod }) => [node.name, pod.purpose, pod.purpose === 'image-pull' && pod.containers[0]?.image],
  deleteNodePod: ({ pod }) => [pod.node, pod.name],
};

const shortKey = (key: string) => key.replace('k8s.io/cluster-autoscaler/node-template/', '');

/** `+a +b -c`: what is set and what is removed. */
function signed(set: readonly string[], remove: readonly string[]): string[] {
  return [...set.map((key) => `+${key}`), ...remove.map((key) => `-${key}`)];
}

function labelsInWords(labels: Readonly<Record<string, string | null>>): string[] {
  return Object.entries(labels).map(([key, value]) => `${value === null ? '-' : '+'}${key}`);
}

function taintsInWords({
  set,
  remove,
}: {
  readonly set: readonly Taint[];
  readonly remove: readonly Taint[];
}): string[] {
  const named = ({ key, effect }: Taint) => `${key}:${effect}`;
  return signed(set.map(named), remove.map(named));
}

/** `maxSize=9 minSize=3`. */
function settingsInWords(settings: object | undefined): string[] {
  return Object.entries(settings ?? {}).map(([name, value]) => `${name}=${value}`);
}

function changeInWords({ labels, taints, scaling, update, warmPool }: ConfigChange): string[] {
  return [
    ...(labels ? signed(Object.keys(labels.set), labels.remove) : []),
    ...(taints ? taintsInWords(taints) : []),
    ...settingsInWords(scaling),
    ...settingsInWords(update),
    ...(warmPool === 'Removed' ? ['warmPool=Removed'] : warmPool ? ['warmPool', ...settingsInWords(warmPool)] : []),
  ];
}

function versionInWords({ kubernetesVersion, releaseVersion, launchTemplate, force }: VersionChange): Words {
  return [
    releaseVersion ?? (kubernetesVersion && `newest for ${kubernetesVersion}`),
    templateInWords(launchTemplate),
    force && 'force',
  ];
}

function templateInWords(template: VersionChange['launchTemplate']): string | undefined {
  return template && `${template.name ?? template.id}@${template.version}`;
}

function groupInWords({ name, amiType, instanceTypes, launchTemplate, scaling }: NewNodeGroup): Words {
  const { desiredSize, minSize, maxSize } = scaling;
  return [
    name,
    amiType,
    instanceTypes?.join(),
    templateInWords(launchTemplate),
    `${desiredSize} of ${minSize}-${maxSize}`,
  ];
}

function launchSettingsInWords({ imageId, disk }: LaunchSettings): Words {
  return [imageId, `${disk.sizeGiB}GiB`];
}
