/** Pools with launch settings, with the operator's launch template and their groups. */
import type { NodeGroupSpec, WindowsPool } from '../api/api.gen.ts';
import type { NodeGroup } from '../ports/eks.ts';
import type { LaunchSettings, OwnTemplate, OwnTemplateVersion } from '../ports/ownTemplates.ts';
import { desiredFields, entriesOf } from '../providers/nodeGroup/changes/appliedFields.ts';
import { desiredLaunchSettings, foundTexts } from '../providers/nodeGroup/launchTemplate/desiredLaunchSettings.ts';
import { descriptionOf } from '../providers/nodeGroup/launchTemplate/ownTemplate.ts';
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

type LaunchSettingsSpec = Partial<
  Pick<NodeGroupSpec, 'ami' | 'disk' | 'metadataOptions' | 'securityGroups' | 'instanceTags' | 'userData'>
>;
type Rest = Omit<Partial<NodeGroupSpec>, keyof LaunchSettingsSpec | 'diskSizeGiB'>;
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

/** A pool that sets these launch settings; none: it has no launch template. */
export function launchSettingsPool(
  launchSettings: LaunchSettingsSpec,
  rest: Rest = {},
  status?: WindowsPool['status'],
) {
  return samplePool({ nodeGroup: { diskSizeGiB: undefined, ...launchSettings, ...rest } }, status ? { status } : {});
}

/** The content of the template for these launch settings. */
export function launchSettingsFor(
  spec: LaunchSettingsSpec,
  change: Partial<LaunchSettings> = {},
  prerequisites?: EksState['prerequisites'],
): LaunchSettings {
  const cluster = { kind: 'seen', cluster: sampleCluster() } as const;
  const launchSettings = desiredLaunchSettings({ pool: launchSettingsPool(spec), cluster, prerequisites });
  if (!launchSettings) throw new Error('select security groups by ID, and set them here; give the facts for a script');
  return { ...launchSettings, ...change };
}

/** A version that the operator created. */
export function ownTemplateVersion(
  version: string,
  launchSettings: LaunchSettings,
  change: Partial<OwnTemplateVersion> = {},
): OwnTemplateVersion {
  return { version, launchSettings, others: [], description: descriptionOf(launchSettings), ...change };
}

/** The pool's template with versions of these launch settings: the first is version 1. */
export function ownTemplate(
  wanted: readonly LaunchSettings[],
  change: Partial<OwnTemplate> = {},
): Extract<EksState['ownTemplate'], { kind: 'seen' }> {
  const versions = wanted
    .map((launchSettings, index) => ownTemplateVersion(String(index + 1), launchSettings))
    .reverse();
  const tags = { 'winpool.dev/pool': 'web', 'winpool.dev/usable-by': 'prod' };
  const template = { id: TEMPLATE_ID, name: TEMPLATE_NAME, tags, defaultVersion: '1', versions };
  return { kind: 'seen', template: { ...template, ...change } };
}

/** The group that was created from version 1 of the template with these launch settings, and the record of its fields. */
interface Before {
  readonly launchSettings: LaunchSettingsSpec;
  readonly status?: Status;
  readonly group?: Partial<NodeGroup>;
}

/** A pool whose launch settings were `before.launchSettings` when its group last matched the spec, and is `launchSettings` now. */
export function launchSettingsState(
  launchSettings: LaunchSettingsSpec,
  before: Before = { launchSettings },
  rest: Rest = {},
  change: Partial<EksState> = {},
): EksDerived {
  const earlier = launchSettingsPool(before.launchSettings, rest);
  const applied = entriesOf(desiredFields(earlier));
  const pool = launchSettingsPool(launchSettings, rest, knownStatus({ applied, ...before.status }));
  const cluster = { kind: 'seen', cluster: sampleCluster() } as const;
  const prerequisites = change.prerequisites ?? sampleFacts();
  const template = change.ownTemplate ?? ownTemplate([launchSettingsFor(before.launchSettings)]);
  const seen = { pool, cluster, prerequisites };
  const group = sampleGroup(earlier, {
    launchTemplate: { id: TEMPLATE_ID, name: TEMPLATE_NAME, version: '1' },
    ...before.group,
  });
  const used = template.kind === 'seen' ? versionOf(template.template, group) : undefined;
  const view = { ...group, ...(used && { launchSettings: foundTexts(used, seen) }) };
  const autoscaler = { tags: {}, templateVersions: [], podAddresses: 9, warmInstances: 0 };
  return sampleState({
    ...seen,
    group: { kind: 'seen', group: view },
    ownTemplate: template,
    autoscaler,
    ...change,
  });
}

function versionOf({ id, versions }: OwnTemplate, { launchTemplate }: NodeGroup) {
  return launchTemplate?.id === id ? versions.find(({ version }) => version === launchTemplate.version) : undefined;
}

/** The same pool before its group and its template exist. */
export function launchSettingsToBe(launchSettings: LaunchSettingsSpec, change: Partial<EksState> = {}): EksDerived {
  return sampleState({
    pool: launchSettingsPool(launchSettings),
    group: { kind: 'absent' },
    nodes: [],
    prerequisites: sampleFacts(),
    ownTemplate: { kind: 'absent' },
    ...change,
  });
}

/** Security groups with the tag tier=windows, as facts. */
export function taggedGroups(...ids: readonly string[]) {
  const value = ids.map((id) => sampleSecurityGroup({ id, tags: { tier: 'windows' } }));
  return { prerequisites: sampleFacts({ securityGroups: { ok: true, value } }) } as const;
}

/** The spec that selects them. */
export const BY_TAGS = { securityGroups: [{ tags: { tier: 'windows' } }] } as const satisfies LaunchSettingsSpec;

/** Launch settings with these security groups and that of the cluster. */
export function withGroups(...ids: readonly string[]): LaunchSettings {
  return launchSettingsFor({}, { securityGroups: [...ids, CLUSTER_SECURITY_GROUP].sort() });
}
