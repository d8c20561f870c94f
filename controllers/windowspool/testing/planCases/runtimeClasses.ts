/** The RuntimeClass that the spec names, and the one that it named before. */
import { knownStatus, samplePool, sampleRuntimeClass, sampleState } from '../fixtures.ts';
import type { PlanCase } from './planCase.ts';

const pool = samplePool({}, { status: knownStatus() });
const own = samplePool(
  { runtimeClass: { scope: 'Pool', handler: 'runhcs-wcow-hypervisor' } },
  { status: { ...knownStatus(), runtimeClass: { name: 'web' } } },
);
const unmanaged = samplePool({ runtimeClass: { manage: false } }, { status: knownStatus() });
const api = { name: 'api', uid: 'uid-api' };
const web = { name: 'web', uid: 'uid-web' };

export const runtimeClassCases: readonly PlanCase[] = [
  {
    name: 'a missing RuntimeClass is created',
    observed: sampleState({ pool, runtimeClass: undefined }),
    want: ['create RuntimeClass windows-2022'],
  },
  {
    name: 'a pool that manages no RuntimeClass creates none',
    observed: sampleState({ pool: unmanaged, runtimeClass: undefined }),
    want: [],
  },
  {
    name: 'a RuntimeClass of another pool is shared',
    observed: sampleState({ pool, runtimeClass: sampleRuntimeClass(pool, { owners: [api] }) }),
    want: ['apply RuntimeClass windows-2022: owner'],
  },
  {
    name: 'a RuntimeClass of another pool that somebody changed is shared and put right',
    observed: sampleState({ pool, runtimeClass: sampleRuntimeClass(pool, { owners: [api], tolerations: [] }) }),
    want: ['apply RuntimeClass windows-2022: content owner'],
  },
  {
    name: 'a RuntimeClass that somebody changed is put right',
    observed: sampleState({ pool, runtimeClass: sampleRuntimeClass(pool, { tolerations: [] }) }),
    want: ['apply RuntimeClass windows-2022: content'],
  },
  {
    name: 'a RuntimeClass that was there before is never written to',
    observed: sampleState({
      pool,
      runtimeClass: sampleRuntimeClass(pool, { managed: false, owners: [], tolerations: [] }),
    }),
    want: [],
  },
  {
    name: 'a RuntimeClass that is being deleted is not written to',
    observed: sampleState({
      pool,
      runtimeClass: sampleRuntimeClass(pool, { deleting: true, owners: [] }),
    }),
    want: [],
  },
  {
    name: 'another handler is reached by deleting the RuntimeClass',
    observed: sampleState({
      pool: own,
      runtimeClass: sampleRuntimeClass(own, { handler: 'runhcs-wcow-process' }),
    }),
    want: ['delete RuntimeClass web'],
  },
  {
    name: 'a RuntimeClass with another handler that other pools use is left',
    observed: sampleState({
      pool: own,
      runtimeClass: sampleRuntimeClass(own, { handler: 'runhcs-wcow-process', owners: [web, api] }),
    }),
    want: [],
  },
  {
    name: 'two pools that choose one name for different RuntimeClasses do not fight',
    observed: sampleState({
      pool: own,
      runtimeClass: sampleRuntimeClass(own, { tolerations: [], owners: [api] }),
    }),
    want: [],
  },
  {
    name: 'the RuntimeClass that the spec no longer names is deleted when nobody else owns it',
    observed: sampleState({ pool: own, formerRuntimeClass: sampleRuntimeClass(pool) }),
    want: ['delete RuntimeClass windows-2022'],
  },
  {
    name: 'the RuntimeClass that the spec no longer names stays with its other owners, and the new one is made',
    observed: sampleState({
      pool: own,
      runtimeClass: undefined,
      formerRuntimeClass: sampleRuntimeClass(pool, { owners: [web, api] }),
    }),
    want: ['give up ownership of RuntimeClass windows-2022', 'create RuntimeClass web'],
  },
  {
    name: 'a former RuntimeClass that is not ours, or goes already, is left',
    observed: sampleState({
      pool: unmanaged,
      runtimeClass: undefined,
      formerRuntimeClass: sampleRuntimeClass(pool, { deleting: true }),
    }),
    want: [],
  },
  {
    name: 'a former RuntimeClass of other pools is left',
    observed: sampleState({
      pool: unmanaged,
      runtimeClass: undefined,
      formerRuntimeClass: sampleRuntimeClass(pool, { owners: [api] }),
    }),
    want: [],
  },
];
