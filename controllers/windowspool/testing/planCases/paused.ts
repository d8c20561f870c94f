/** The pending steps of a paused pool. */
import { PAUSED_ANNOTATION } from '../../labels.ts';
import { known } from '../answers.ts';
import { knownStatus, LEAVING, samplePool, sampleState, settings } from '../fixtures.ts';
import { DISK_100, DISK_200, machineState } from '../machineScenes.ts';
import { sampleConfigMapOwner, sampleFacts } from '../prerequisites.ts';
import { seen } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { DELETE, GROW_STEPS } from './steps.ts';

/** A pool whose size was changed since its group was created. */
const resized = samplePool({ nodeGroup: { scaling: { minSize: 3, maxSize: 9 } } }, { status: knownStatus() });

const machine = machineState(DISK_200, { machine: DISK_100 });

export const pausedCases: readonly PlanCase[] = [
  {
    name: 'of a pool that the spec pauses',
    observed: sampleState({ pool: { ...resized, spec: { ...resized.spec, paused: true } }, group: seen() }),
    want: GROW_STEPS.slice(1),
  },
  {
    name: 'of a pool that the annotation pauses',
    observed: sampleState({
      pool: { ...resized, metadata: { ...resized.metadata, annotations: { [PAUSED_ANNOTATION]: 'true' } } },
      group: seen(),
    }),
    want: GROW_STEPS.slice(1),
  },
  {
    name: 'of a paused pool whose machine was changed',
    observed: { ...machine, pool: { ...machine.pool, spec: { ...machine.pool.spec, paused: true } } },
    want: [
      'create version 2 of launch template winpool/prod/web: disk.sizeGiB 100 -> 200',
      'update node group web: release 1.36-2026.02.11 with version 2 of launch template lt-0e1f2a3b',
    ],
  },
  {
    name: 'of a paused pool that needs Windows IPAM',
    observed: sampleState({
      pool: samplePool({ paused: true }, { status: knownStatus() }),
      settings: { ...settings, enableWindowsIpam: true },
      prerequisites: sampleFacts({
        cniConfig: known({}),
        cniConfigOwner: known(sampleConfigMapOwner()),
      }),
    }),
    want: ['set enable-windows-ipam: "true" in ConfigMap kube-system/amazon-vpc-cni'],
  },
  {
    name: 'of a paused pool that is being deleted',
    observed: sampleState({ pool: samplePool({ paused: true }, { metadata: LEAVING, status: knownStatus() }) }),
    want: [DELETE],
  },
];
