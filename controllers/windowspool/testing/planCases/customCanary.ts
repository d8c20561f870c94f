/** Custom AMIs that are tried on a canary first: it has a version of the launch template of its own. */

import type { SecondNodeGroup } from '../../api/api.gen.ts';
import type { NodeGroup } from '../../ports/eks.ts';
import { desiredLaunchSettings } from '../../providers/nodeGroup/launchTemplate/desiredLaunchSettings.ts';
import type { EksState } from '../../providers/nodeGroup/model/groupState.ts';
import { canaryTargetOf } from '../../providers/nodeGroup/secondGroup/canary.ts';
import { known } from '../answers.ts';
import { WITH_CANARY } from '../canaryScenes.ts';
import { derive } from '../derived.ts';
import { NOW, sampleCluster } from '../fixtures.ts';
import {
  AMI_1,
  AMI_2,
  launchSettingsFor,
  launchSettingsPool,
  launchSettingsState,
  ownTemplate,
  ownTemplateVersion,
  TEMPLATE_ID,
  TEMPLATE_NAME,
} from '../launchSettingsScenes.ts';
import { sampleFacts } from '../prerequisites.ts';
import { HASHED } from '../replacementScenes.ts';
import type { PlanCase } from './planCase.ts';

const UPDATE = { update: WITH_CANARY };
const BEGIN = `beginCanary ${HASHED} ${AMI_2.ami.id} 2`;
const CREATE = `createCanary ${HASHED} 2`;
const END = `endCanary ${HASHED}`;

const cluster = { kind: 'seen', cluster: sampleCluster() } as const;
/** The launch settings of the canary, which differ from those of the main group in the name of the group. */
const OF_CANARY =
  desiredLaunchSettings({ pool: launchSettingsPool(AMI_2), cluster, prerequisites: undefined }, HASHED) ??
  launchSettingsFor(AMI_2);
/** The first AMI, and the second one. */
const MAIN = [launchSettingsFor(AMI_1), launchSettingsFor(AMI_2)] as const;
const WITH_VERSION = { ownTemplate: ownTemplate([...MAIN, OF_CANARY]) } as const;
/** EC2 returns the version of the canary in another way than it was written. */
const UNLIKE = {
  ownTemplate: ownTemplate([], {
    versions: [ownTemplateVersion('3', OF_CANARY, { others: ['KeyName'] }), ...ownTemplate(MAIN).template.versions],
  }),
} as const;

const RECORD: SecondNodeGroup = {
  name: HASHED,
  phase: 'Creating',
  startTime: new Date(NOW).toISOString(),
  lastTransitionTime: new Date(NOW).toISOString(),
  target: canaryTargetOf(launchSettingsPool(AMI_2, UPDATE), {
    launchTemplate: { id: TEMPLATE_ID, version: '2' },
    force: false,
  }),
  releaseVersion: AMI_2.ami.id,
  templateVersion: '2',
};

/** A group with the first AMI whose spec has this one; the canary of the second one was recorded. */
const recorded = (
  { ami }: { readonly ami: { readonly id: string } } = AMI_2,
  change: Partial<EksState> = {},
  group: Partial<NodeGroup> = {},
) =>
  launchSettingsState(
    { ami },
    { launchSettings: AMI_1, group: { releaseVersion: AMI_1.ami.id, ...group }, status: { canary: RECORD } },
    UPDATE,
    { ownTemplate: ownTemplate(MAIN), second: { kind: 'absent' }, ...change },
  );

/** The same before the canary begins. */
const before = (change: Partial<EksState>) =>
  launchSettingsState(AMI_2, { launchSettings: AMI_1, group: { releaseVersion: AMI_1.ami.id } }, UPDATE, change);

const HAS_VERSION = {
  releaseVersion: AMI_2.ami.id,
  launchTemplate: { id: TEMPLATE_ID, name: TEMPLATE_NAME, version: '2' },
};

export const customCanaryCases: readonly PlanCase[] = [
  {
    name: 'another custom AMI is a version, and then a canary',
    observed: before({ ownTemplate: ownTemplate(MAIN.slice(0, 1)) }),
    want: [`createLaunchTemplateVersion 2: ami ${AMI_1.ami.id} -> ${AMI_2.ami.id}`],
    later: [BEGIN],
  },
  {
    name: 'a canary of a custom AMI begins when the launch template has the AMI',
    observed: before({ ownTemplate: ownTemplate(MAIN) }),
    want: [BEGIN],
  },
  {
    name: 'a canary of a custom AMI needs a version with its name in the user data',
    observed: recorded(),
    want: [`createLaunchTemplateVersion 3: for canary ${HASHED}, whose name is in the user data`],
    later: [CREATE],
  },
  {
    name: 'a canary of a custom AMI is created from its own version',
    observed: recorded(AMI_2, WITH_VERSION),
    want: [CREATE],
  },
  {
    name: 'a canary of a custom AMI is not created from a version that EC2 returns in another way, which is not written again',
    observed: recorded(AMI_2, UNLIKE),
    want: [],
    waits: { because: 'PrerequisitesMet LaunchTemplateInvalid', until: '20s' },
  },
  {
    name: 'a canary of a custom AMI gets no version while a prerequisite is not met',
    observed: recorded(AMI_2, {
      prerequisites: sampleFacts({ nodeGroups: known(Array.from({ length: 30 }, String)) }),
    }),
    want: [],
    waits: { because: 'PrerequisitesMet NodeGroupQuotaReached', until: '20s' },
  },
  {
    name: 'a canary of a custom AMI is not created while the launch template cannot be read',
    observed: derive({ ...recorded(), ownTemplate: undefined }),
    want: [],
    waits: { because: 'UpToDate CanaryRunning', until: '1s' },
  },
  {
    name: 'a canary of a custom AMI ends when the main group has its version',
    observed: recorded(AMI_2, WITH_VERSION, HAS_VERSION),
    want: [END],
  },
  {
    name: 'a canary of a custom AMI ends when the spec goes back, and the versions stay until it is gone',
    observed: recorded(AMI_1, WITH_VERSION),
    want: [END],
  },
  {
    name: 'a canary of a custom AMI does not end while the node group is updated',
    observed: recorded(AMI_2, WITH_VERSION, { ...HAS_VERSION, status: 'UPDATING' }),
    want: [],
    waits: { because: 'NodeGroupReady Updating', until: '1s' },
  },
];
