/** The launch template of a pool: its name, its owner, and the version with the desired launch settings. Pure. */
import type { WindowsPool } from '../../../api/api.gen.ts';
import { POOL_KEY, USABLE_BY_TAG } from '../../../api/labels.ts';
import type { NodeGroup } from '../../../ports/eks.ts';
import type { LaunchSettings, OwnTemplate, OwnTemplateVersion } from '../../../ports/ownTemplates.ts';
import { hashOf } from '../../../util/hash.ts';
import type { EksState } from '../model/groupState.ts';
import { hasLaunchSettings } from './launchSettings.ts';

/**
 * EC2 accepts 3 to 125 letters, digits and `().-/_`, whatever its API reference says: awsdocs/aws-cloudformation-user-guide#132. The name is unique in a
 * Region of an account, as is that of a cluster.
 */
const NAME_LENGTH = 125;

/** The name of the pool's launch template: `winpool/prod/web`. */
export function ownTemplateNameOf({ metadata }: Pick<WindowsPool, 'metadata'>, cluster: string): string {
  const name = `winpool/${cluster}/${metadata.name}`;
  if (name.length <= NAME_LENGTH) return name;
  const hash = hashOf(name);
  return `${name.slice(0, NAME_LENGTH - hash.length - 1)}-${hash}`;
}

/** The tags that mark a template as the pool's. The second one also permits EKS to use it on behalf of the operator. */
export function ownerTags({ metadata }: WindowsPool, cluster: string): Readonly<Record<string, string>> {
  return { [POOL_KEY]: metadata.name, [USABLE_BY_TAG]: cluster };
}

/** Whether the template is the pool's, by its tags. */
export function isOwnTemplate(pool: WindowsPool, cluster: string, { tags }: Pick<OwnTemplate, 'tags'>): boolean {
  return Object.entries(ownerTags(pool, cluster)).every(([key, value]) => tags[key] === value);
}

/** Whether the group was created from a template with the name of the pool's. */
export function isMadeFromOwn(pool: WindowsPool, { arn, launchTemplate }: NodeGroup): boolean {
  return launchTemplate !== undefined && launchTemplate.name === ownTemplateNameOf(pool, clusterIn(arn));
}

/** arn:aws:eks:REGION:ACCOUNT:nodegroup/CLUSTER/NAME/UUID -> CLUSTER */
export function clusterIn(groupArn: string): string {
  return groupArn.split(':').at(-1)?.split('/')[1] ?? '';
}

/** The description of a version with these launch settings: it shows which versions are the operator's. */
export function descriptionOf(launchSettings: LaunchSettings): string {
  return `${DESCRIBED}${hashOf(launchSettings)}`;
}

const DESCRIBED = 'windowspool-operator ';

/** Whether the operator created the version. */
export function isOwnVersion({ description }: Pick<OwnTemplateVersion, 'description'>): boolean {
  return description.startsWith(DESCRIBED);
}

/** The pool's own template, if it exists and could be read. */
export function ownTemplateIn({
  pool,
  settings,
  ownTemplate: seen,
}: Pick<EksState, 'pool' | 'settings' | 'ownTemplate'>): OwnTemplate | undefined {
  if (seen?.kind !== 'seen' || !isOwnTemplate(pool, settings.clusterName, seen.template)) return undefined;
  return seen.template;
}

/**
 * Whether the group was created from the pool's template and that was deleted, also if another one has its name now: EKS works with its own copy, and
 * accepts no version of another template. Undefined while the template is not read.
 */
export function isTemplateDeleted(
  { pool, ownTemplate: seen }: Pick<EksState, 'pool'> & Partial<Pick<EksState, 'ownTemplate'>>,
  group: NodeGroup,
): boolean | undefined {
  if (!hasLaunchSettings(pool.spec) || !isMadeFromOwn(pool, group)) return false;
  if (seen === undefined) return undefined;
  return seen.kind === 'absent' || seen.template.id !== group.launchTemplate?.id;
}

/** The version with exactly the desired launch settings: that of the group if it fits, or else the newest. */
export function versionWith(
  template: OwnTemplate,
  launchSettings: LaunchSettings,
  group: Pick<NodeGroup, 'launchTemplate'> | undefined,
): OwnTemplateVersion | undefined {
  const wanted = hashOf(launchSettings);
  const fitting = template.versions.filter(
    ({ launchSettings: found, others }) => others.length === 0 && hashOf(found) === wanted,
  );
  return fitting.find(({ version }) => version === group?.launchTemplate?.version) ?? fitting[0];
}

/**
 * The newest version, if the operator created it for these launch settings and EC2 returns others. Then there is no point in creating another version: it
 * would be returned in the same way.
 */
export function unlikeWritten(
  { versions: [newest] }: OwnTemplate,
  launchSettings: LaunchSettings,
): OwnTemplateVersion | undefined {
  return newest?.description === descriptionOf(launchSettings) ? newest : undefined;
}
