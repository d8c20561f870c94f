/** Pools that set their machine, with the operator's launch template and their groups. */
import type { NodeGroupSpec, WindowsPool } from '../api/api.gen.ts';
import type { NodeGroup } from '../ports/eks.ts';
import type { Machine, MachineTemplate, MachineVersion } from '../ports/machineTemplates.ts';
import { desiredFields, entriesOf } from '../providers/nodeGroup/changes/appliedFields.ts';
import { desiredMachine, foundTexts } from '../providers/nodeGroup/launchTemplate/desiredMachine.ts';
import { descriptionOf } from '../providers/nodeGroup/launchTemplate/machineTemplate.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import type { EksState } from '../providers/nodeGroup/model/groupState.ts';
import {
  CLUSTER_SECURITY_GROUP,
  knownStatus,
  sampleCluster,
  sampleGroup,
  samplePool,
  sampleState,
} from './fixtures.ts';
import { sampleFacts, sampleSecurityGroup } from './prerequisites.ts';

type MachineSpec = Partial<
  Pick<NodeGroupSpec, 'ami' | 'disk' | 'metadataOptions' | 'securityGroups' | 'instanceTags' | 'userData'>
>;
type Rest = Omit<Partial<NodeGroupSpec>, keyof MachineSpec | 'diskSizeGiB'>;
type Status = NonNullable<Parameters<typeof knownStatus>[0]>;

export const TEMPLATE_NAME = 'winpool/prod/web';
export const TEMPLATE_ID = 'lt-0e1f2a3b';

/** A root volume of 100 GiB, as the API server stores it. */
export const DISK_100 = { disk: { sizeGiB: 100, type: 'gp3', encrypted: true } } as const;
/** A custom AMI, and a newer one. */
export const [AMI_1, AMI_2] = ['ami-0a000001', 'ami-0a000002'].map((id) => ({ ami: { id } })) as [
  { ami: { id: string } },
  { ami: { id: string } },
];

/** The same with 200 GiB. */
export const DISK_200 = { disk: { ...DISK_100.disk, sizeGiB: 200 } } as const;

/** A pool that sets this machine; none: it has no launch template. */
export function machinePool(machine: MachineSpec, rest: Rest = {}, status?: WindowsPool['status']) {
  return samplePool({ nodeGroup: { diskSizeGiB: undefined, ...machine, ...rest } }, status ? { status } : {});
}

/** The content of the template for this machine. */
export function machineFor(
  spec: MachineSpec,
  change: Partial<Machine> = {},
  prerequisites?: EksState['prerequisites'],
): Machine {
  const cluster = { kind: 'seen', cluster: sampleCluster() } as const;
  const machine = desiredMachine({ pool: machinePool(spec), cluster, prerequisites });
  if (!machine) throw new Error('select security groups by ID, and set them here; give the facts for a script');
  return { ...machine, ...change };
}

/** A version that the operator created. */
export function machineVersion(
  version: string,
  machine: Machine,
  change: Partial<MachineVersion> = {},
): MachineVersion {
  return { version, machine, others: [], description: descriptionOf(machine), ...change };
}

/** The pool's template with versions of these machines: the first is version 1. */
export function machineTemplate(
  machines: readonly Machine[],
  change: Partial<MachineTemplate> = {},
): Extract<EksState['machineTemplate'], { kind: 'seen' }> {
  const versions = machines.map((machine, index) => machineVersion(String(index + 1), machine)).reverse();
  const tags = { 'winpool.dev/pool': 'web', 'winpool.dev/usable-by': 'prod' };
  const template = { id: TEMPLATE_ID, name: TEMPLATE_NAME, tags, defaultVersion: '1', versions };
  return { kind: 'seen', template: { ...template, ...change } };
}

/** The group that was created from version 1 of the template with this machine, and the record of its fields. */
interface Before {
  readonly machine: MachineSpec;
  readonly status?: Status;
  readonly group?: Partial<NodeGroup>;
}

/** A pool whose machine was `before.machine` when its group last matched the spec, and is `machine` now. */
export function machineState(
  machine: MachineSpec,
  before: Before = { machine },
  rest: Rest = {},
  change: Partial<EksState> = {},
): EksDerived {
  const earlier = machinePool(before.machine, rest);
  const applied = entriesOf(desiredFields(earlier));
  const pool = machinePool(machine, rest, knownStatus({ applied, ...before.status }));
  const cluster = { kind: 'seen', cluster: sampleCluster() } as const;
  const prerequisites = change.prerequisites ?? sampleFacts();
  const template = change.machineTemplate ?? machineTemplate([machineFor(before.machine)]);
  const seen = { pool, cluster, prerequisites };
  const group = sampleGroup(earlier, {
    launchTemplate: { id: TEMPLATE_ID, name: TEMPLATE_NAME, version: '1' },
    ...before.group,
  });
  const used = template.kind === 'seen' ? versionOf(template.template, group) : undefined;
  const view = { ...group, ...(used && { machine: foundTexts(used, seen) }) };
  const autoscaler = { tags: {}, templateVersions: [], podAddresses: 9, warmInstances: 0 };
  return sampleState({
    ...seen,
    group: { kind: 'seen', group: view },
    machineTemplate: template,
    autoscaler,
    ...change,
  });
}

function versionOf({ id, versions }: MachineTemplate, { launchTemplate }: NodeGroup) {
  return launchTemplate?.id === id ? versions.find(({ version }) => version === launchTemplate.version) : undefined;
}

/** The same pool before its group and its template exist. */
export function machineToBe(machine: MachineSpec, change: Partial<EksState> = {}): EksDerived {
  return sampleState({
    pool: machinePool(machine),
    group: { kind: 'absent' },
    nodes: [],
    prerequisites: sampleFacts(),
    machineTemplate: { kind: 'absent' },
    ...change,
  });
}

/** Security groups with the tag tier=windows, as facts. */
export function taggedGroups(...ids: readonly string[]) {
  const value = ids.map((id) => sampleSecurityGroup({ id, tags: { tier: 'windows' } }));
  return { prerequisites: sampleFacts({ securityGroups: { ok: true, value } }) } as const;
}

/** The spec that selects them. */
export const BY_TAGS = { securityGroups: [{ tags: { tier: 'windows' } }] } as const satisfies MachineSpec;

/** A machine with these security groups and that of the cluster. */
export function withGroups(...ids: readonly string[]): Machine {
  return machineFor({}, { securityGroups: [...ids, CLUSTER_SECURITY_GROUP].sort() });
}
