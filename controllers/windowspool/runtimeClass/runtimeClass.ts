/** The desired RuntimeClass of a pool: https://kubernetes.io/docs/concepts/containers/runtime-class/#scheduling */
import type { WindowsPool } from '../api.gen.ts';
import { POOL_KEY } from '../labels.ts';
import { REGISTRATION_TAINT } from '../nodes/nodeTaints.ts';
import { buildOf, imageBuildsOf, WINDOWS_BUILD_LABEL, yearOf } from '../nodes/windows.ts';
import type { Taint } from '../ports/nodes.ts';
import type { DesiredRuntimeClass, RuntimeClass, Toleration } from '../ports/runtimeClasses.ts';
import { canonical } from '../util/hash.ts';

/** Both spellings of the registration taint: `windows` for EKS pools, `Windows` for OpenShift's Windows nodes. */
const OS_TOLERATIONS: readonly Toleration[] = ['windows', 'Windows'].map((value) => ({
  key: REGISTRATION_TAINT.key,
  operator: 'Equal',
  value,
  effect: 'NoSchedule',
}));

/** The desired RuntimeClass of the pool; undefined when it manages none. */
export function runtimeClassFor(pool: WindowsPool): DesiredRuntimeClass | undefined {
  const { spec } = pool;
  if (!spec.runtimeClass.manage) return undefined;
  const nodeSelector = {
    // The EKS webhook requests an address only for pods whose nodeSelector names the operating system.
    'kubernetes.io/os': 'windows',
    'kubernetes.io/arch': 'amd64',
    [WINDOWS_BUILD_LABEL]: buildOf(spec.windowsVersion),
  };
  const imageBuilds = imageBuildsOf(spec.windowsVersion, spec.runtimeClass.imageCompatibility).join();
  if (spec.runtimeClass.scope === 'Version') {
    const name = `windows-${yearOf(spec.windowsVersion)}`;
    return { name, handler: spec.runtimeClass.handler, nodeSelector, tolerations: OS_TOLERATIONS, imageBuilds };
  }
  return {
    name: spec.runtimeClass.name ?? pool.metadata.name,
    handler: spec.runtimeClass.handler,
    nodeSelector: { ...nodeSelector, [POOL_KEY]: pool.metadata.name },
    tolerations: [...OS_TOLERATIONS, ...(spec.taints ?? []).map(tolerationOf)],
    imageBuilds,
  };
}

function tolerationOf(taint: { key: string; value?: string; effect: Toleration['effect'] & string }): Toleration {
  return taint.value
    ? { key: taint.key, operator: 'Equal', value: taint.value, effect: taint.effect }
    : { key: taint.key, operator: 'Exists', effect: taint.effect };
}

/** Whether a RuntimeClass has exactly the desired content. */
export function isAsDesired(seen: RuntimeClass, desired: DesiredRuntimeClass): boolean {
  const parts = ({ handler, nodeSelector, tolerations, imageBuilds }: DesiredRuntimeClass) =>
    canonical({ handler, nodeSelector, imageBuilds, tolerations: tolerations.map(canonical).sort() });
  return parts(seen) === parts(desired);
}

/**
 * Whether the pool can use a RuntimeClass that it does not manage: it has the same handler, selects the operating system and no other build or pool,
 * and tolerates every taint that the pool's own RuntimeClass would tolerate.
 */
export function fits(seen: RuntimeClass, desired: DesiredRuntimeClass, pool: WindowsPool): boolean {
  const selectsOs = seen.nodeSelector['kubernetes.io/os'] === 'windows';
  const selectsOnlyOurs = Object.entries(seen.nodeSelector).every(
    ([key, value]) => desired.nodeSelector[key] === value,
  );
  const { registrationTaint, runtimeClass, taints = [] } = pool.spec;
  const needed = [...(registrationTaint ? [REGISTRATION_TAINT] : []), ...(runtimeClass.scope === 'Pool' ? taints : [])];
  const tolerates = needed.every((taint) => seen.tolerations.some((toleration) => covers(toleration, taint)));
  return seen.handler === desired.handler && selectsOs && selectsOnlyOurs && tolerates;
}

/** https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#concepts */
function covers({ key, operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean {
  const sameKey = key === undefined ? operator === 'Exists' : key === taint.key;
  const sameValue = operator === 'Exists' || value === (taint.value ?? '');
  return sameKey && sameValue && (effect === undefined || effect === taint.effect);
}

/** Whether the pool has an owner reference in the RuntimeClass. */
export function isOwner(pool: WindowsPool, seen: RuntimeClass): boolean {
  return seen.owners.some((owner) => owner.uid === pool.metadata.uid);
}

/** Whether the RuntimeClass is deleted with this pool: no other pool owns it. */
export function isSoleOwner(pool: WindowsPool, seen: RuntimeClass): boolean {
  return isOwner(pool, seen) && seen.owners.length === 1;
}

/**
 * Whether another pool has a RuntimeClass with the same name and different content, and keeps it. RuntimeClasses of scope Version are the same for
 * all pools, and the schema reserves their names.
 */
export function isTaken(pool: WindowsPool, seen: RuntimeClass): boolean {
  const desired = runtimeClassFor(pool);
  if (!desired || pool.spec.runtimeClass.scope === 'Version') return false;
  return seen.owners.some(({ uid }) => uid !== pool.metadata.uid) && !isAsDesired(seen, desired);
}
