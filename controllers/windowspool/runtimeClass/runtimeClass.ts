/** What the RuntimeClass of a pool shall be: https://kubernetes.io/docs/concepts/containers/runtime-class/#scheduling */
import type { WindowsPool } from '../api.gen.ts';
import { POOL_KEY } from '../labels.ts';
import { REGISTRATION_TAINT } from '../nodes/nodeTaints.ts';
import { buildOf, imageBuildsOf, WINDOWS_BUILD_LABEL, yearOf } from '../nodes/windows.ts';
import type { Taint } from '../ports/nodes.ts';
import type { DesiredRuntimeClass, RuntimeClass, Toleration } from '../ports/runtimeClasses.ts';
import { canonical } from '../util/hash.ts';

/** Either spelling of the registration taint: EKS pools here, OpenShift's Windows nodes. */
const OS_TOLERATIONS: readonly Toleration[] = ['windows', 'Windows'].map((value) => ({
  key: REGISTRATION_TAINT.key,
  operator: 'Equal',
  value,
  effect: 'NoSchedule',
}));

/** The pool's RuntimeClass, undefined when it manages none. */
export function runtimeClassFor(pool: WindowsPool): DesiredRuntimeClass | undefined {
  const { spec } = pool;
  if (!spec.runtimeClass.manage) return undefined;
  const nodeSelector = {
    // The EKS webhook gives a pod an address only where its nodeSelector names the operating system.
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

/** Whether a RuntimeClass says exactly what the pool wants. */
export function isAsDesired(seen: RuntimeClass, desired: DesiredRuntimeClass): boolean {
  const parts = ({ handler, nodeSelector, tolerations, imageBuilds }: DesiredRuntimeClass) =>
    canonical({ handler, nodeSelector, imageBuilds, tolerations: tolerations.map(canonical).sort() });
  return parts(seen) === parts(desired);
}

/**
 * Whether somebody else's RuntimeClass does the job: same handler, it selects the operating system and no other build or pool, and it
 * tolerates every taint that the pool's own RuntimeClass would tolerate on its nodes.
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

export function isOwner(pool: WindowsPool, seen: RuntimeClass): boolean {
  return seen.owners.some((owner) => owner.uid === pool.metadata.uid);
}

/** Whether the object ends with this pool: no other pool owns it. */
export function isSoleOwner(pool: WindowsPool, seen: RuntimeClass): boolean {
  return isOwner(pool, seen) && seen.owners.length === 1;
}

/**
 * Whether another pool has the name for a RuntimeClass that says something else: whoever has it keeps it. Those of scope Version are the
 * same for all, and the schema refuses their names to others.
 */
export function isTaken(pool: WindowsPool, seen: RuntimeClass): boolean {
  const desired = runtimeClassFor(pool);
  if (!desired || pool.spec.runtimeClass.scope === 'Version') return false;
  return seen.owners.some(({ uid }) => uid !== pool.metadata.uid) && !isAsDesired(seen, desired);
}
