/** A script for nodes: its launch template, and what happens when it changes. */
import type { NodeGroupSpec } from '../../api/api.gen.ts';
import type { EksDerived } from '../../providers/nodeGroup/model/groupDue.ts';
import type { EksState } from '../../providers/nodeGroup/model/groupState.ts';
import { known } from '../answers.ts';
import { CLUSTER_ARN } from '../fixtures.ts';
import {
  AMI_1,
  launchSettingsFor,
  launchSettingsState,
  launchSettingsToBe,
  ownTemplate,
  TEMPLATE_ID,
  TEMPLATE_NAME,
} from '../launchSettingsScenes.ts';
import { sampleFacts, unasked } from '../prerequisites.ts';
import { AUTOMATIC, inWindow, SATURDAYS } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';

const script = (key = 'a.ps1', phase: 'BeforeBootstrap' | 'AfterBootstrap' = 'BeforeBootstrap') => ({
  userData: { configMap: 'windows', key, phase },
});
/** The facts with this text of the script. */
const facts = (text: string | undefined) =>
  sampleFacts({ userData: known({ namespace: 'winpool-system', keys: ['a.ps1'], text, isBinary: false }) });
const template = (spec: Partial<NodeGroupSpec>, text: string) =>
  ownTemplate([launchSettingsFor(spec, {}, facts(text))]);

/** A pool whose nodes have the first script, whose ConfigMap has this text now, and which names this script now. */
function changed(
  text: string | undefined,
  rest: Parameters<typeof launchSettingsState>[2] = {},
  now: Partial<NodeGroupSpec> = script(),
  before: Partial<NodeGroupSpec> = script(),
  change: Partial<EksState> = {},
): EksDerived {
  const launchSettings = { launchSettings: before, ...(before.ami && { group: { releaseVersion: before.ami.id } }) };
  const observed = { prerequisites: facts(text), ownTemplate: template(before, 'first'), ...change };
  return launchSettingsState(now, launchSettings, rest, observed);
}

const ADD = 'createLaunchTemplateVersion 2: userData changed';
const UPDATE_CUSTOM = `updateNodeGroupVersion web ${TEMPLATE_ID}@2`;
const UPDATE = `updateNodeGroupVersion web 1.36-2026.02.11 ${TEMPLATE_ID}@2`;

export const userDataCases: readonly PlanCase[] = [
  {
    name: 'a pool with a script gets a launch template, which does not show it',
    observed: launchSettingsToBe(script(), { prerequisites: facts('first') }),
    want: [
      `record web of ${CLUSTER_ARN}: launch template ${TEMPLATE_NAME}`,
      `createLaunchTemplate ${TEMPLATE_NAME} 50GiB`,
    ],
    later: [
      `createNodeGroup web WINDOWS_CORE_2022_x86_64 m5.large ${TEMPLATE_NAME}@1 3 of 3-5 +winpool.dev/created-from +winpool.dev/pool`,
    ],
  },
  {
    name: 'nothing is created while the script does not exist',
    observed: launchSettingsToBe(script(), { prerequisites: facts(undefined) }),
    want: [],
    waits: { because: 'PrerequisitesMet UserDataNotFound', until: '20s' },
  },
  {
    name: 'nothing is created while the script cannot be read',
    observed: launchSettingsToBe(script(), { prerequisites: sampleFacts({ userData: unasked() }) }),
    want: [],
    waits: { because: 'PrerequisitesMet AccessDenied', until: '20s' },
  },
  {
    name: 'a group with the script needs nothing',
    observed: changed('first', AUTOMATIC),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'a group keeps its script while the ConfigMap is missing',
    observed: changed(undefined, AUTOMATIC),
    want: [],
    waits: { because: 'PrerequisitesMet UserDataNotFound', until: '20s' },
  },
  {
    name: 'another text in the ConfigMap changes nothing with policy Manual',
    observed: changed('second'),
    want: [],
    waits: { because: 'UpToDate UpdateAvailable', until: '10m' },
  },
  {
    name: 'another text in the ConfigMap is a rolling update with policy Automatic',
    observed: changed('second', AUTOMATIC),
    want: [ADD],
    later: [UPDATE],
  },
  {
    name: 'another text in the ConfigMap waits for the budget',
    observed: changed('second', AUTOMATIC, script(), script(), { otherPools: { disrupted: ['api'], failures: [] } }),
    want: [ADD],
    later: [],
  },
  {
    name: 'another key is a rolling update, with policy Manual and outside of maintenance windows too',
    observed: changed('second', inWindow(SATURDAYS), script('b.ps1')),
    want: [ADD],
    later: [UPDATE],
  },
  {
    name: 'another key with the same text changes nothing',
    observed: changed('first', {}, script('b.ps1')),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'a script without the tags of user data is the same with them',
    observed: changed('<powershell>\r\nfirst\r\n</powershell>', AUTOMATIC),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'a script of a pool with a custom AMI is a part of its user data',
    observed: changed('second', AUTOMATIC, { ...AMI_1, ...script() }, { ...AMI_1, ...script() }),
    want: [ADD],
    later: [UPDATE_CUSTOM],
  },
  {
    name: 'a script of a pool with a custom AMI can move behind the bootstrap',
    observed: changed('first', {}, { ...AMI_1, ...script('a.ps1', 'AfterBootstrap') }, { ...AMI_1, ...script() }),
    want: [ADD],
    later: [UPDATE_CUSTOM],
  },
];
