/** A pool for which the operator has a launch template: its changes, and what is wrong with its template in the end. */
import fc from 'fast-check';
import type { AmiSpec, WindowsPool } from '../../../controllers/windowspool/api/api.gen.ts';
import { nodeGroupNameOf } from '../../../controllers/windowspool/providers/nodeGroups.ts';
import { type Action, action, edits, group } from './action.ts';
import { IMAGE_PARAMETER, IMAGES, type LocalAwsWorld, SCRIPTS } from './localAwsWorld.ts';

/** The launch settings of a new pool. */
export const LAUNCH_SETTINGS = {
  diskSizeGiB: undefined,
  disk: { sizeGiB: 100, type: 'gp3', encrypted: true },
} as const;

const change = fc.oneof(
  fc.constantFrom(100, 200).map((sizeGiB) => ({ disk: { ...LAUNCH_SETTINGS.disk, sizeGiB } })),
  fc.dictionary(fc.constantFrom('team'), fc.constantFrom('a', 'b')).map((instanceTags) => ({ instanceTags })),
  fc
    .constantFrom(...Object.keys(SCRIPTS))
    .map((key) => ({ userData: { configMap: 'windows', key, phase: 'BeforeBootstrap' as const } })),
);

/** Other launch settings. A pool that sets none can never get one. */
const settingEdits: fc.Arbitrary<Action> = edits(
  'the launch settings',
  change.map((launchSettings) => (spec) => (spec.nodeGroup.disk ? group(launchSettings)(spec) : spec)),
);

/** Another AMI, also the first custom one and the AMI of EKS again, which need another node group. */
const imageEdits: fc.Arbitrary<Action> = edits(
  'the AMI',
  fc
    .constantFrom(...IMAGES.map((id) => ({ id })), { ssmParameter: IMAGE_PARAMETER }, undefined)
    .map((ami) => (spec) => (spec.nodeGroup.disk ? group({ ami, immutableChangePolicy: 'Replace' })(spec) : spec)),
);

/** The pipeline that makes AMIs writes the parameter. */
const parameterEdits: fc.Arbitrary<Action> = fc.constantFrom(...IMAGES).map((value) =>
  action(`AMI ${value} in the parameter`, {
    run: ({ cloud }) => cloud.faults.parameter({ name: IMAGE_PARAMETER, value }),
  }),
);

/** Any change of the launch settings. */
export const launchSettingsEdits: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: settingEdits },
  { weight: 2, arbitrary: imageEdits },
  { weight: 1, arbitrary: parameterEdits },
);

/** Whose launch template a group has, or should have. */
type TemplateOwner = 'operator' | 'user' | 'none';

/** Whether the group has a launch template of another owner than the spec asks for, and keeps it: EKS cannot change that. */
export function hasOtherOwner(world: LocalAwsWorld, pool: WindowsPool): boolean {
  const { spec } = pool;
  if (spec.nodeGroup?.immutableChangePolicy === 'Replace') return false;
  const { launchTemplate } = world.cloud.state.group(nodeGroupNameOf(pool)).nodegroup;
  const given: TemplateOwner = launchTemplate === undefined ? 'none' : ownerOf(launchTemplate.name);
  const wanted: TemplateOwner = spec.nodeGroup?.disk ? 'operator' : spec.nodeGroup?.launchTemplate ? 'user' : 'none';
  return given !== wanted;
}

function ownerOf(name = ''): TemplateOwner {
  return name.startsWith('winpool/') ? 'operator' : 'user';
}

/** Whether new instances of the group have the launch settings of the spec. Does not use the operator's own comparison. */
export function hasLaunchSettings({ cloud: { state } }: LocalAwsWorld, pool: WindowsPool): boolean {
  const { ami, disk, instanceTags = {}, userData } = pool.spec.nodeGroup ?? {};
  if (!disk) return true;
  const { amiType, launchTemplate } = state.group(nodeGroupNameOf(pool)).nodegroup;
  const { id = '', version } = launchTemplate ?? {};
  const data = state.launchTemplates.get(id)?.versions.find(({ number }) => String(number) === version)?.data;
  const tags = data?.TagSpecifications?.find(({ ResourceType }) => ResourceType === 'instance')?.Tags ?? [];
  const found = Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value]));
  return (
    data?.BlockDeviceMappings?.[0]?.Ebs?.VolumeSize === disk.sizeGiB &&
    JSON.stringify(found) === JSON.stringify(instanceTags) &&
    (amiType === 'CUSTOM') === (ami !== undefined) &&
    hasImage(ami, data?.ImageId) &&
    hasUserData(pool, Buffer.from(data?.UserData ?? '', 'base64').toString(), userData?.key)
  );
}

/** Which AMI of the parameter a group has depends on the update policy. */
function hasImage(ami: AmiSpec | undefined, found: string | undefined): boolean {
  if (ami?.ssmParameter !== undefined) return IMAGES.some((id) => id === found);
  return ami?.id === found;
}

/** Nodes with a custom AMI get the labels of the spec, and the script, from the user data. */
function hasUserData({ spec }: WindowsPool, found: string, key: string | undefined): boolean {
  if (!spec.nodeGroup?.ami) return found === expectedScript(key);
  const labels = Object.entries(spec.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  const script = key === undefined ? '' : (SCRIPTS[key] ?? '');
  return found.includes('Start-EKSBootstrap.ps1') && [...labels, script].every((part) => found.includes(part));
}

/** The user data with the script of this key; empty if there is none. */
function expectedScript(key: string | undefined): string {
  const script = key === undefined ? undefined : SCRIPTS[key];
  if (script === undefined) return '';
  const stop = "$ErrorActionPreference = 'Stop'";
  const lines = [stop, `$before = [scriptblock]::Create('${script}')`, stop.replace('Stop', 'Continue'), '& $before'];
  return `<powershell>\n${lines.join('\n')}\n</powershell>\n`;
}

/** Launch templates that a deleted pool has left, although it never retained its group. */
export function leftTemplates({ cloud, retained }: LocalAwsWorld, name: string): string[] {
  const left = [...cloud.state.launchTemplates.values()].filter(({ tags }) => tags?.['winpool.dev/pool'] === name);
  return left.length > 0 && !retained.has(name) ? ['the pool is gone and left its launch template'] : [];
}
