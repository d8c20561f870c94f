/** The RuntimeClass that the spec names, and the one that it named before. */
import type { RuntimeClass } from '../../ports/runtimeClasses.ts';
import { knownStatus, samplePool, sampleRuntimeClass, sampleState } from '../fixtures.ts';
import type { PlanCase } from './planCase.ts';

const pool = samplePool({}, { status: knownStatus() });
const own = samplePool(
  { runtimeClass: { name: 'web', handler: 'runhcs-wcow-hypervisor' } },
  { status: { ...knownStatus(), runtimeClass: { name: 'web' } } },
);
const adopting = samplePool({ runtimeClass: { adoption: 'IfUnowned' } }, { status: knownStatus() });
const adoptingOwn = samplePool(
  { runtimeClass: { ...own.spec.runtimeClass, adoption: 'IfUnowned' } },
  { status: { ...knownStatus(), runtimeClass: { name: 'web' } } },
);
const api = { name: 'api', uid: 'uid-api' };
const web = { name: 'web', uid: 'uid-web' };

/** The RuntimeClass of the pool if a user created it with kubectl and another handler. */
function foreign(of = pool, change: Partial<RuntimeClass> = {}): RuntimeClass {
  return sampleRuntimeClass(of, {
    managed: false,
    managedBy: undefined,
    adoptableBy: 'web',
    owners: [],
    handler: 'docker',
    ...change,
  });
}

export const runtimeClassCases: readonly PlanCase[] = [
  {
    name: 'a missing RuntimeClass is created',
    observed: sampleState({ pool, runtimeClass: undefined }),
    want: ['createRuntimeClass windows-2022'],
  },
  {
    name: 'a RuntimeClass of another pool is shared',
    observed: sampleState({ pool, runtimeClass: sampleRuntimeClass(pool, { owners: [api] }) }),
    want: ['shareRuntimeClass windows-2022'],
  },
  {
    name: 'a RuntimeClass of another pool that a user changed is shared and corrected',
    observed: sampleState({ pool, runtimeClass: sampleRuntimeClass(pool, { owners: [api], tolerations: [] }) }),
    want: ['applyRuntimeClass windows-2022', 'shareRuntimeClass windows-2022'],
  },
  {
    name: 'a RuntimeClass that a user changed is corrected',
    observed: sampleState({ pool, runtimeClass: sampleRuntimeClass(pool, { tolerations: [] }) }),
    want: ['applyRuntimeClass windows-2022'],
  },
  {
    name: 'a RuntimeClass that no pool created is not changed with adoption Never',
    observed: sampleState({ pool, runtimeClass: foreign() }),
    want: [],
    waits: { because: 'RuntimeClassReady NotOwned', until: '10m' },
  },
  {
    name: 'a RuntimeClass that no pool created and that does not fit is deleted with adoption IfUnowned',
    observed: sampleState({ pool: adopting, runtimeClass: foreign() }),
    want: ['deleteRuntimeClass windows-2022'],
  },
  {
    name: 'a RuntimeClass whose owner did not permit it is not changed with adoption IfUnowned',
    observed: sampleState({ pool: adopting, runtimeClass: foreign(adopting, { adoptableBy: 'api' }) }),
    want: [],
    waits: { because: 'RuntimeClassReady NotOwned', until: '10m' },
  },
  {
    name: 'a RuntimeClass that lacks a toleration is also deleted with adoption IfUnowned',
    observed: sampleState({
      pool: adopting,
      runtimeClass: foreign(adopting, { handler: 'runhcs-wcow-process', tolerations: [] }),
    }),
    want: ['deleteRuntimeClass windows-2022'],
  },
  {
    name: 'a RuntimeClass is not created again until the deletion of the unowned one is complete',
    observed: sampleState({ pool: adopting, runtimeClass: foreign(adopting, { deleting: true }) }),
    want: [],
    waits: { because: 'RuntimeClassReady Pending', until: '10m' },
  },
  {
    name: 'a RuntimeClass is created after the unowned one was deleted',
    observed: sampleState({ pool: adopting, runtimeClass: undefined }),
    want: ['createRuntimeClass windows-2022'],
  },
  {
    name: 'a RuntimeClass that another pool created after the unowned one was deleted is shared',
    observed: sampleState({ pool: adopting, runtimeClass: sampleRuntimeClass(adopting, { owners: [api] }) }),
    want: ['shareRuntimeClass windows-2022'],
  },
  {
    name: 'a RuntimeClass that no pool created and that fits is not changed with adoption IfUnowned',
    observed: sampleState({
      pool: adopting,
      runtimeClass: foreign(adopting, {
        handler: 'runhcs-wcow-process',
        nodeSelector: { 'kubernetes.io/os': 'windows' },
      }),
    }),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'a RuntimeClass that Helm manages is not changed with adoption IfUnowned',
    observed: sampleState({
      pool: adopting,
      runtimeClass: foreign(adopting, { managedBy: 'Helm release kube-system/windows' }),
    }),
    want: [],
    waits: { because: 'RuntimeClassReady NotOwned', until: '10m' },
  },
  {
    name: 'a RuntimeClass of another pool is not replaced with adoption IfUnowned',
    observed: sampleState({
      pool: adoptingOwn,
      runtimeClass: sampleRuntimeClass(adoptingOwn, { handler: 'docker', owners: [api] }),
    }),
    want: [],
    waits: { because: 'RuntimeClassReady NotOwned', until: '10m' },
  },
  {
    name: 'a RuntimeClass that is being deleted is not changed',
    observed: sampleState({
      pool,
      runtimeClass: sampleRuntimeClass(pool, { deleting: true, owners: [] }),
    }),
    want: [],
    waits: { because: 'RuntimeClassReady Pending', until: '10m' },
  },
  {
    name: 'a RuntimeClass with another handler is deleted to be recreated',
    observed: sampleState({
      pool: own,
      runtimeClass: sampleRuntimeClass(own, { handler: 'runhcs-wcow-process' }),
    }),
    want: ['deleteRuntimeClass web'],
  },
  {
    name: 'a RuntimeClass with another handler is not deleted if other pools own it',
    observed: sampleState({
      pool: own,
      runtimeClass: sampleRuntimeClass(own, { handler: 'runhcs-wcow-process', owners: [web, api] }),
    }),
    want: [],
    waits: { because: 'RuntimeClassReady NotOwned', until: '10m' },
  },
  {
    name: 'two pools with one name for different RuntimeClasses do not overwrite each other',
    observed: sampleState({
      pool: own,
      runtimeClass: sampleRuntimeClass(own, { tolerations: [], owners: [api] }),
    }),
    want: [],
    waits: { because: 'RuntimeClassReady NotOwned', until: '10m' },
  },
  {
    name: 'a RuntimeClass that the spec no longer names is deleted if no other pool owns it',
    observed: sampleState({ pool: own, formerRuntimeClass: sampleRuntimeClass(pool) }),
    want: ['deleteRuntimeClass windows-2022'],
  },
  {
    name: 'a RuntimeClass that the spec no longer names is released if other pools own it, and the new one is created',
    observed: sampleState({
      pool: own,
      runtimeClass: undefined,
      formerRuntimeClass: sampleRuntimeClass(pool, { owners: [web, api] }),
    }),
    want: ['releaseRuntimeClass windows-2022', 'createRuntimeClass web'],
  },
  {
    name: 'a former RuntimeClass that is being deleted is not changed',
    observed: sampleState({ pool: own, formerRuntimeClass: sampleRuntimeClass(pool, { deleting: true }) }),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'a former RuntimeClass of other pools is not changed',
    observed: sampleState({ pool: own, formerRuntimeClass: sampleRuntimeClass(pool, { owners: [api] }) }),
    want: [],
    rests: { until: '10m' },
  },
];
