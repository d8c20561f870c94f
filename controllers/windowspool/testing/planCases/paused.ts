/** The pending steps of a paused pool. */

import type { KubeletSpec, WindowsPoolSpec } from '../../api/api.gen.ts';
import { PAUSED_ANNOTATION } from '../../api/labels.ts';
import type { EksDerived } from '../../providers/nodeGroup/model/groupDue.ts';
import { known } from '../answers.ts';
import { derive } from '../derived.ts';
import { knownStatus, LEAVING, samplePool, sampleState, settings } from '../fixtures.ts';
import { AMI_1, DISK_100, DISK_200, launchSettingsState } from '../launchSettingsScenes.ts';
import { sampleConfigMapOwner, sampleFacts } from '../prerequisites.ts';
import { seen } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { DELETE, GROW_STEPS } from './steps.ts';

/** A pool whose size was changed since its group was created. */
const resized = samplePool({ nodeGroup: { scaling: { minSize: 3, maxSize: 9 } } }, { status: knownStatus() });

const launchSettings = launchSettingsState(DISK_200, { launchSettings: DISK_100 });

/** A paused pool with a custom AMI, whose spec was changed since its group was created. */
function customAmi(change: Partial<WindowsPoolSpec>, kubelet?: KubeletSpec): EksDerived {
  const before = { launchSettings: AMI_1, group: { releaseVersion: AMI_1.ami.id } };
  const observed = launchSettingsState({ ...AMI_1, ...(kubelet && { kubelet }) }, before);
  return derive({ ...observed, pool: { ...observed.pool, spec: { ...observed.pool.spec, ...change, paused: true } } });
}
const newUserData = (what: string) => `createLaunchTemplateVersion 2: userData changed (kubelet: ${what})`;
const ROLLING_UPDATE = 'updateNodeGroupVersion web lt-0e1f2a3b@2';

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
    name: 'of a paused pool whose launch settings were changed',
    observed: derive({
      ...launchSettings,
      pool: { ...launchSettings.pool, spec: { ...launchSettings.pool.spec, paused: true } },
    }),
    want: [
      'createLaunchTemplateVersion 2: disk.sizeGiB 100 -> 200',
      'updateNodeGroupVersion web 1.36-2026.02.11 lt-0e1f2a3b@2',
    ],
  },
  {
    name: 'of a paused pool whose labels were changed: with a custom AMI, they are in the user data, so every node is replaced',
    observed: customAmi({ labels: { team: 'web' } }),
    want: [newUserData('node-labels'), 'updateConfig web +team', ROLLING_UPDATE],
  },
  {
    name: 'of a paused pool whose taints were changed, with a custom AMI',
    observed: customAmi({ taints: [{ key: 'gpu', effect: 'NoSchedule' }] }),
    want: [newUserData('register-with-taints'), 'updateConfig web +gpu:NoSchedule', ROLLING_UPDATE],
  },
  {
    name: 'of a paused pool whose kubelet was changed, with a custom AMI',
    observed: customAmi({}, { maxPods: 30, systemReserved: { memory: '2Gi' } }),
    want: [newUserData('max-pods, system-reserved'), ROLLING_UPDATE],
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
    want: ['applyCniConfig'],
  },
  {
    name: 'of a paused pool that is being deleted',
    observed: sampleState({ pool: samplePool({ paused: true }, { metadata: LEAVING, status: knownStatus() }) }),
    want: [DELETE],
  },
];
