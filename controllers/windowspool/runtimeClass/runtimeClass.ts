/** The desired RuntimeClass of a pool: https://kubernetes.io/docs/concepts/containers/runtime-class/#scheduling */
import type { WindowsPool } from '../api/api.gen.ts';
import { POOL_KEY } from '../api/labels.ts';
import { REGISTRATION_TAINT, registrationTaintsOf } from '../nodes/nodeTaints.ts';
import { buildOf, WINDOWS_BUILD_LABEL, yearOf } from '../nodes/windowsVersions.ts';
import type { Taint } from '../ports/nodes.ts';
import type { DesiredRuntimeClass, RuntimeClass, Toleration } from '../ports/runtimeClasses.ts';
import { same } from '../util/sameValue.ts';
import { compact, joined } from '../util/words.ts';

/** Both spellings of the registration taint: `windows` for EKS pools, `Windows` for OpenShift's Windows nodes. */
export const OS_TOLERATIONS: readonly Toleration[] = ['windows', 'Windows'].map((value) => ({
  key: REGISTRATION_TAINT.key,
  operator: 'Equal',
  value,
  effect: 'NoSchedule',
}));

/** The desired RuntimeClass of the pool: its own if the spec names it, otherwise the one that all pools of the version share. */
export function runtimeClassFor({ metadata, spec }: WindowsPool): DesiredRuntimeClass {
  const { name, handler } = spec.runtimeClass;
  const nodeSelector = {
    // The EKS webhook requests an address only for pods whose nodeSelector names the operating system.
    'kubernetes.io/os': 'windows',
    'kubernetes.io/arch': 'amd64',
    [WINDOWS_BUILD_LABEL]: buildOf(spec.windowsVersion),
  };
  if (name === undefined)
    return { name: `windows-${yearOf(spec.windowsVersion)}`, handler, nodeSelector, tolerations: OS_TOLERATIONS };
  return {
    name,
    handler,
    nodeSelector: { ...nodeSelector, [POOL_KEY]: metadata.name },
    tolerations: [...OS_TOLERATIONS, ...(spec.taints ?? []).map(tolerationOf)],
  };
}

/** The toleration of a taint in a spec. */
export function tolerationOf(taint: {
  key: string;
  value?: string;
  effect: Toleration['effect'] & string;
}): Toleration {
  return taint.value
    ? { key: taint.key, operator: 'Equal', value: taint.value, effect: taint.effect }
    : { key: taint.key, operator: 'Exists', effect: taint.effect };
}

/** Whether a RuntimeClass has exactly the desired content; tolerations in any order. Each change of its owners asks for each pool that shares it. */
export function isAsDesired(seen: RuntimeClass, { handler, nodeSelector, tolerations }: DesiredRuntimeClass): boolean {
  const has = (wanted: Toleration) => seen.tolerations.some((toleration) => same(toleration, wanted));
  return (
    seen.handler === handler &&
    same(seen.nodeSelector, nodeSelector) &&
    seen.tolerations.length === tolerations.length &&
    tolerations.every(has)
  );
}

/**
 * Why the pool cannot use a RuntimeClass that it does not manage, as clauses; empty if it can. It must have the same handler, select the operating
 * system and no other build or pool, and tolerate every taint that the pool's own RuntimeClass would tolerate.
 */
export function misfitsOf(seen: RuntimeClass, desired: DesiredRuntimeClass, pool: WindowsPool): string[] {
  const isOtherSelector =
    !selectsWindows(seen) ||
    Object.entries(seen.nodeSelector).some(([key, value]) => desired.nodeSelector[key] !== value);
  const { runtimeClass, taints = [] } = pool.spec;
  const needed = [...registrationTaintsOf(pool.spec), ...(runtimeClass.name ? taints : [])];
  const missing = untolerated(needed, seen.tolerations);
  return compact([
    seen.handler !== desired.handler && `its handler is ${seen.handler}, expected ${desired.handler}`,
    isOtherSelector && `its nodeSelector is ${inWords(seen.nodeSelector)}, expected ${inWords(desired.nodeSelector)}`,
    missing.length > 0 && `it has no toleration for ${joined(missing.map(describeTaint))}`,
  ]);
}

function inWords(selector: Readonly<Record<string, string>>): string {
  return joined(Object.entries(selector).map(([key, value]) => `${key}=${value}`)) || 'empty';
}

/** `key=value:effect`, as kubectl writes a taint. */
export function describeTaint({ key, value, effect }: Taint): string {
  return `${key}${value ? `=${value}` : ''}:${effect}`;
}

/**
 * Whether the operator replaces a RuntimeClass that no pool created: it does not fit, no other tool manages it, and the spec and its owner allow it. Users
 * who can edit pools must not change how the pods of others run by that alone.
 */
export function isReplaced(seen: RuntimeClass, pool: WindowsPool): boolean {
  const isUnowned = !seen.managed && seen.managedBy === undefined;
  const isAllowed = pool.spec.runtimeClass.adoption === 'IfUnowned' && seen.adoptableBy === pool.metadata.name;
  return isUnowned && isAllowed && selectsWindows(seen) && misfitsOf(seen, runtimeClassFor(pool), pool).length > 0;
}

/** Whether pods with the RuntimeClass run on Windows nodes: another one is never replaced. */
export function selectsWindows({ nodeSelector }: Pick<RuntimeClass, 'nodeSelector'>): boolean {
  return nodeSelector['kubernetes.io/os'] === 'windows';
}

/** The taints that none of the tolerations matches. */
export function untolerated(taints: readonly Taint[], tolerations: readonly Toleration[]): Taint[] {
  return taints.filter((taint) => !tolerations.some((toleration) => covers(toleration, taint)));
}

/** Whether a toleration matches a taint: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#concepts */
function covers({ key, operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean {
  const sameKey = key === undefined ? operator === 'Exists' : key === taint.key;
  const sameValue = operator === 'Exists' || value === (taint.value ?? '');
  return sameKey && sameValue && (effect === undefined || effect === taint.effect);
}

/** The UIDs of the owners of a RuntimeClass: each of a thousand pools that share it asks for its own. */
const uidsOf = new WeakMap<RuntimeClass, ReadonlySet<string>>();

/** Whether the pool has an owner reference in the RuntimeClass. */
export function isOwner(pool: WindowsPool, seen: RuntimeClass): boolean {
  let uids = uidsOf.get(seen);
  if (!uids) {
    uids = new Set(seen.owners.map(({ uid }) => uid));
    uidsOf.set(seen, uids);
  }
  return uids.has(pool.metadata.uid);
}

/** Whether this is the RuntimeClass of the pool, and needs no change: it has the desired content, and the pool is one of its owners. */
export function isAvailable(pool: WindowsPool, seen: RuntimeClass): boolean {
  if (!seen.managed || seen.deleting || !isOwner(pool, seen)) return false;
  const desired = runtimeClassFor(pool);
  return seen.name === desired.name && isAsDesired(seen, desired);
}

/** Whether the RuntimeClass is deleted with this pool: no other pool owns it. */
export function isSoleOwner(pool: WindowsPool, seen: RuntimeClass): boolean {
  return isOwner(pool, seen) && seen.owners.length === 1;
}

/**
 * Whether a RuntimeClass with the same name and different content is not this pool's: it is another pool's, or a pool that was deleted has left it for its
 * pods (deletionPolicy Retain). Shared RuntimeClasses are the same for all pools, and the schema reserves their names.
 */
export function isTaken(pool: WindowsPool, seen: RuntimeClass): boolean {
  if (pool.spec.runtimeClass.name === undefined) return false;
  const isSole = seen.owners.length > 0 && seen.owners.every(({ uid }) => uid === pool.metadata.uid);
  return !isSole && !isAsDesired(seen, runtimeClassFor(pool));
}
