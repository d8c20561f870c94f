/** A pool for which the operator has a launch template: its changes, and what is wrong with its template in the end. */
import fc from 'fast-check';
import type { WindowsPool } from '../../controllers/windowspool/api.gen.ts';
import { nodeGroupNameOf } from '../../controllers/windowspool/providers/eks/nodeGroup.ts';
import { type Action, edits, group } from './action.ts';
import { type LocalAwsWorld, SCRIPTS } from './localAwsWorld.ts';

/** The machine of a new pool. */
export const MACHINE = { diskSizeGiB: undefined, disk: { sizeGiB: 100, type: 'gp3', encrypted: true } } as const;

const change = fc.oneof(
  fc.constantFrom(100, 200).map((sizeGiB) => ({ disk: { ...MACHINE.disk, sizeGiB } })),
  fc.dictionary(fc.constantFrom('team'), fc.constantFrom('a', 'b')).map((instanceTags) => ({ instanceTags })),
  fc
    .constantFrom(...Object.keys(SCRIPTS))
    .map((key) => ({ userData: { configMap: 'windows', key, phase: 'BeforeBootstrap' as const } })),
);

/** Another machine. A pool that sets none can never get one. */
export const machineEdits: fc.Arbitrary<Action> = edits(
  'the machine',
  change.map((machine) => (spec) => (spec.nodeGroup.disk ? group(machine)(spec) : spec)),
);

/** Whose launch template a group has, or should have. */
type TemplateOwner = 'operator' | 'user' | 'none';

/** Whether the group has a launch template of another owner than the spec asks for, and keeps it: EKS cannot change that. */
export function hasOtherOwner(world: LocalAwsWorld, pool: WindowsPool): boolean {
  const { spec } = pool;
  if (spec.nodeGroup?.replacement === 'BlueGreen') return false;
  const { launchTemplate } = world.cloud.state.group(nodeGroupNameOf(pool)).nodegroup;
  const given: TemplateOwner = launchTemplate === undefined ? 'none' : ownerOf(launchTemplate.name);
  const wanted: TemplateOwner = spec.nodeGroup?.disk ? 'operator' : spec.nodeGroup?.launchTemplate ? 'user' : 'none';
  return given !== wanted;
}

function ownerOf(name = ''): TemplateOwner {
  return name.startsWith('winpool/') ? 'operator' : 'user';
}

/** Whether new instances of the group have the machine of the spec. Does not use the operator's own comparison. */
export function hasMachine({ cloud: { state } }: LocalAwsWorld, pool: WindowsPool): boolean {
  const { disk, instanceTags = {}, userData } = pool.spec.nodeGroup ?? {};
  if (!disk) return true;
  const { id = '', version } = state.group(nodeGroupNameOf(pool)).nodegroup.launchTemplate ?? {};
  const data = state.launchTemplates.get(id)?.versions.find(({ number }) => String(number) === version)?.data;
  const tags = data?.TagSpecifications?.find(({ ResourceType }) => ResourceType === 'instance')?.Tags ?? [];
  const found = Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value]));
  return (
    data?.BlockDeviceMappings?.[0]?.Ebs?.VolumeSize === disk.sizeGiB &&
    JSON.stringify(found) === JSON.stringify(instanceTags) &&
    Buffer.from(data?.UserData ?? '', 'base64').toString() === expectedScript(userData?.key)
  );
}

/** The user data with the script of this key; empty if there is none. */
function expectedScript(key: string | undefined): string {
  const script = key === undefined ? undefined : SCRIPTS[key];
  return script === undefined ? '' : `<powershell>\n${script}\n</powershell>\n`;
}

/** Launch templates that a deleted pool has left, although it never retained its group. */
export function leftTemplates({ cloud, retained }: LocalAwsWorld, name: string): string[] {
  const left = [...cloud.state.launchTemplates.values()].filter(({ tags }) => tags?.['winpool.dev/pool'] === name);
  return left.length > 0 && !retained.has(name) ? ['the pool is gone and left its launch template'] : [];
}
