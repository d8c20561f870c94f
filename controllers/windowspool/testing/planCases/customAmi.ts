/** A custom AMI: its launch template with the user data, and the group of type CUSTOM. */

import type { NodeGroupSpec } from '../../api/api.gen.ts';
import { foundTexts } from '../../providers/nodeGroup/launchTemplate/desiredLaunchSettings.ts';
import type { EksDerived } from '../../providers/nodeGroup/model/groupDue.ts';
import type { EksState } from '../../providers/nodeGroup/model/groupState.ts';
import { known } from '../answers.ts';
import { derive } from '../derived.ts';
import { CLUSTER_ARN, NEXT, sampleCluster, sampleError } from '../fixtures.ts';
import {
  AMI_1,
  AMI_2,
  DISK_100,
  launchSettingsFor,
  launchSettingsPool,
  launchSettingsState,
  launchSettingsToBe,
  ownTemplate,
  ownTemplateVersion,
  TEMPLATE_ID,
  TEMPLATE_NAME,
} from '../launchSettingsScenes.ts';
import { sampleFacts } from '../prerequisites.ts';
import { HASHED } from '../replacementScenes.ts';
import { AUTOMATIC, inWindow, SATURDAYS } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';

const CREATE = `createNodeGroup web CUSTOM m5.large ${TEMPLATE_ID}@1 3 of 3-5 +winpool.dev/created-from +winpool.dev/pool`;
const SEND_ALL = `record web of ${CLUSTER_ARN}: sending all 18 fields`;
const update = (version: number) => `updateNodeGroupVersion web ${TEMPLATE_ID}@${version}`;
const add = (change: string, version = 2) => `createLaunchTemplateVersion ${version}: ${change}`;
/** The steps for another label, which the user data has too. */
const OTHER_LABEL = [
  add('userData changed (kubelet: node-labels)'),
  `record web of ${CLUSTER_ARN}: sending label team`,
  'updateConfig web +team',
];
const FIRST = ownTemplate([launchSettingsFor(AMI_1)]);
const CUSTOM_GROUP = { releaseVersion: AMI_1.ami.id };

/** A group with the first AMI, whose pool has these launch settings now. */
const changed = (
  launchSettings: Partial<NodeGroupSpec>,
  rest: Parameters<typeof launchSettingsState>[2] = {},
  change: Partial<EksState> = {},
) => launchSettingsState(launchSettings, { launchSettings: AMI_1, group: CUSTOM_GROUP }, rest, change);

/** The same with another change of the spec. */
function withSpec(state: EksDerived, spec: Partial<EksState['pool']['spec']>): EksDerived {
  return derive({ ...state, pool: { ...state.pool, spec: { ...state.pool.spec, ...spec } } });
}

/** The same in a cluster with another endpoint, which the user data names. */
function moved(state: EksDerived): EksDerived {
  const cluster = { kind: 'seen', cluster: sampleCluster({ endpoint: 'https://other.example' }) } as const;
  const after = { ...state, cluster };
  if (state.group.kind !== 'seen') return derive(after);
  const launchSettings = foundTexts(ownTemplateVersion('1', launchSettingsFor(AMI_1)), after);
  return derive({ ...after, group: { kind: 'seen', group: { ...state.group.group, launchSettings } } });
}

/** A group of a launch template with an AMI of EKS, whose pool has a custom one now, or the other way round. */
const otherKind = (from: Partial<NodeGroupSpec>, to: Partial<NodeGroupSpec>, rest: Partial<NodeGroupSpec> = {}) =>
  launchSettingsState(
    to,
    { launchSettings: from, group: from.ami ? CUSTOM_GROUP : {} },
    { accessEntryManagement: 'EKS', ...rest },
    { prerequisites: sampleFacts(), newestRelease: known(NEXT) },
  );
/** The pool follows a parameter. */
const GOLDEN = { ami: { ssmParameter: '/windowspool/golden' } } as const;
const valued = (value: string) => ({ prerequisites: sampleFacts({ imageParameter: known(value) }) });

/** Its group has the first AMI, and the parameter this one. */
const following = (
  value: string,
  rest: Parameters<typeof launchSettingsState>[2] = {},
  change: Partial<EksState> = {},
) =>
  launchSettingsState(GOLDEN, { launchSettings: GOLDEN, group: CUSTOM_GROUP }, rest, {
    ownTemplate: FIRST,
    ...valued(value),
    ...change,
  });

const BLUE_GREEN = { immutableChangePolicy: 'Replace' } as const;

const noAccess = (mode: string, mapping: boolean) => {
  const groups = ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'];
  const roleArn = 'arn:aws:iam::111122223333:role/windows-nodes';
  return {
    cluster: { kind: 'seen', cluster: sampleCluster({ authenticationMode: mode }) } as const,
    prerequisites: sampleFacts({
      accessEntry: mode === 'CONFIG_MAP' ? undefined : known(undefined),
      roleMappings: known(mapping ? [{ roleArn, groups }] : []),
    } as never),
    ownTemplate: FIRST,
  };
};
/** A pool without a group that creates the access entry. */
const managing = (change: Partial<EksState>) =>
  launchSettingsToBe(AMI_1, { ...change, pool: launchSettingsPool(AMI_1, { accessEntryManagement: 'Operator' }) });

export const customAmiCases: readonly PlanCase[] = [
  {
    name: 'a pool with a custom AMI gets a launch template with it, and then a group of that type',
    observed: launchSettingsToBe(AMI_1),
    want: [
      `record web of ${CLUSTER_ARN}: launch template ${TEMPLATE_NAME}`,
      `createLaunchTemplate ${TEMPLATE_NAME} ami-0a000001 50GiB`,
    ],
    later: [CREATE.replace(TEMPLATE_ID, TEMPLATE_NAME)],
  },
  {
    name: 'the group is created from the version with the AMI and the user data',
    observed: launchSettingsToBe(AMI_1, { ownTemplate: FIRST }),
    want: [SEND_ALL, CREATE],
  },
  {
    name: 'a version with the AMI and other user data is not used',
    observed: launchSettingsToBe(AMI_1, {
      ownTemplate: ownTemplate([launchSettingsFor(AMI_1, { userData: 'other' })]),
    }),
    want: [add('userData changed (kubelet: node-labels, register-with-taints)')],
    later: [CREATE.replace('@1', '@2')],
  },
  { name: 'a group with the custom AMI needs nothing', observed: changed(AMI_1), want: [], rests: { until: '10m' } },
  {
    name: 'a group with a custom AMI does not follow the releases of EKS',
    observed: changed(AMI_1, AUTOMATIC, { newestRelease: known(NEXT) }),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'another custom AMI is a version, and then a rolling update, outside of maintenance windows too',
    observed: changed(AMI_2, inWindow(SATURDAYS)),
    want: [add('ami ami-0a000001 -> ami-0a000002')],
    later: [update(2)],
  },
  {
    name: 'another custom AMI waits for the budget',
    observed: changed(AMI_2, {}, { otherPools: { disrupted: ['api'], failures: [] } }),
    want: [add('ami ami-0a000001 -> ami-0a000002')],
    later: [],
  },
  {
    name: 'other labels are other user data, because the kubelet of a custom AMI sets them',
    observed: withSpec(changed(AMI_1), { labels: { team: 'web' } }),
    want: OTHER_LABEL,
    later: [update(2)],
  },
  {
    name: 'other taints are, too',
    observed: withSpec(changed(AMI_1), { taints: [{ key: 'gpu', effect: 'NoSchedule' }] }),
    want: [
      add('userData changed (kubelet: register-with-taints)'),
      `record web of ${CLUSTER_ARN}: sending taint gpu:NoSchedule`,
      'updateConfig web +gpu:NoSchedule',
    ],
    later: [update(2)],
  },
  {
    name: 'user data that differs although the spec did not change is only reported with policy Manual',
    observed: moved(changed(AMI_1)),
    want: [],
    waits: { because: 'UpToDate UpdateAvailable', until: '10m' },
  },
  {
    name: 'it is followed with policy Automatic',
    observed: moved(changed(AMI_1, AUTOMATIC)),
    want: [add('userData changed')],
    later: [update(2)],
  },
  {
    name: 'user data of another client is reverted',
    observed: launchSettingsState(
      AMI_1,
      {
        launchSettings: AMI_1,
        group: { ...CUSTOM_GROUP, launchTemplate: { id: TEMPLATE_ID, name: TEMPLATE_NAME, version: '2' } },
      },
      {},
      {
        ownTemplate: ownTemplate([], {
          versions: [
            ownTemplateVersion('2', launchSettingsFor(AMI_1, { userData: 'theirs' }), { description: '' }),
            ownTemplateVersion('1', launchSettingsFor(AMI_1)),
          ],
        }),
      },
    ),
    want: [
      `reserve web of ${CLUSTER_ARN}: sending template ami, template disk.sizeGiB, template disk.type, template disk.iops, template disk.throughput, template disk.encrypted, template disk.kmsKeyID, template metadataOptions.httpTokens, template metadataOptions.httpPutResponseHopLimit, template securityGroups, template instanceTags`,
      update(1),
    ],
  },
  {
    name: 'the first custom AMI is a difference that EKS cannot change',
    observed: otherKind(DISK_100, { ...DISK_100, ...AMI_1 }),
    want: [],
    waits: { because: 'NodeGroupReady ImmutableDifference', until: '10m' },
  },
  {
    name: 'it is the reason for a replacement if the spec allows one',
    observed: otherKind(DISK_100, { ...DISK_100, ...AMI_1 }, BLUE_GREEN),
    want: [`switchNodeGroup ${HASHED} second=web`],
  },
  {
    name: 'a custom AMI is not removed from a group, and a release is not sent to it',
    observed: otherKind({ ...DISK_100, ...AMI_1 }, DISK_100, { releaseVersion: NEXT }),
    want: [],
    waits: { because: 'NodeGroupReady ImmutableDifference', until: '10m' },
  },
  {
    name: 'its removal is the reason for a replacement, too',
    observed: otherKind({ ...DISK_100, ...AMI_1 }, DISK_100, BLUE_GREEN),
    want: [`switchNodeGroup ${HASHED} second=web`],
  },
  {
    name: 'a group without a launch template is replaced for both',
    observed: launchSettingsState(
      AMI_1,
      { launchSettings: DISK_100, group: { launchTemplate: undefined, diskSizeGiB: 50 } },
      BLUE_GREEN,
      { ownTemplate: { kind: 'absent' } },
    ),
    want: [`switchNodeGroup ${HASHED} second=web`],
  },
  {
    name: 'the AMI in a parameter is that of the template',
    observed: launchSettingsToBe(GOLDEN, { ownTemplate: FIRST, ...valued('ami-0a000001') }),
    want: [SEND_ALL, CREATE],
  },
  {
    name: 'nothing is created while the parameter cannot be read',
    observed: launchSettingsToBe(GOLDEN, {
      ownTemplate: FIRST,
      prerequisites: sampleFacts({ imageParameter: { ok: false, error: sampleError('denied') } }),
    }),
    want: [],
    waits: { because: 'PrerequisitesMet AccessDenied', until: '20s' },
  },
  {
    name: 'nothing is created while the value of the parameter is not the ID of an AMI',
    observed: launchSettingsToBe(GOLDEN, { ownTemplate: FIRST, ...valued('latest') }),
    want: [],
    waits: { because: 'PrerequisitesMet AMIInvalid', until: '20s' },
  },
  {
    name: 'a group with the AMI in the parameter needs nothing',
    observed: following('ami-0a000001'),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'another AMI in the parameter is only reported with policy Manual',
    observed: following('ami-0a000002'),
    want: [],
    waits: { because: 'UpToDate UpdateAvailable', until: '10m' },
  },
  {
    name: 'the other AMI is followed with policy Automatic',
    observed: following('ami-0a000002', AUTOMATIC),
    want: [add('ami ami-0a000001 -> ami-0a000002')],
    later: [update(2)],
  },
  {
    name: 'the other AMI is followed in a maintenance window',
    observed: following('ami-0a000002', inWindow(SATURDAYS), {
      ownTemplate: ownTemplate([launchSettingsFor(AMI_1), launchSettingsFor(AMI_2)]),
    }),
    want: [],
    waits: { because: 'UpToDate WaitingForWindow', until: '10m' },
  },
  {
    name: 'an AMI whose nodes fail in another pool is not followed',
    observed: following('ami-0a000002', AUTOMATIC, {
      ownTemplate: ownTemplate([launchSettingsFor(AMI_1), launchSettingsFor(AMI_2)]),
      otherPools: {
        disrupted: [],
        failures: [{ pool: 'api', kind: 'CUSTOM', release: 'ami-0a000002', node: 'a', finding: 'WrongBuild: no' }],
      },
    }),
    want: [],
    waits: { because: 'UpToDate ReleaseNotVerified', until: '10m' },
  },
  {
    name: 'an AMI in the parameter that no node can start from is not followed',
    observed: following('ami-0a000002', AUTOMATIC, {
      prerequisites: sampleFacts({
        imageParameter: known('ami-0a000002'),
        image: known({ id: 'ami-0a000002', found: undefined }),
      }),
    }),
    want: [],
    waits: { because: 'PrerequisitesMet AMIInvalid', until: '20s' },
  },
  {
    name: 'another change with policy Manual does not change the AMI',
    observed: withSpec(following('ami-0a000002'), { labels: { team: 'web' } }),
    want: OTHER_LABEL,
    later: [update(2)],
  },
  {
    name: 'another parameter is another AMI at once',
    observed: launchSettingsState(
      { ami: { ssmParameter: '/windowspool/other' } },
      { launchSettings: GOLDEN, group: CUSTOM_GROUP },
      inWindow(SATURDAYS),
      { ownTemplate: FIRST, ...valued('ami-0a000002') },
    ),
    want: [add('ami ami-0a000001 -> ami-0a000002')],
    later: [update(2)],
  },
  {
    name: 'the ID in place of the parameter with the same AMI changes nothing',
    observed: launchSettingsState(AMI_1, { launchSettings: GOLDEN, group: CUSTOM_GROUP }, {}, { ownTemplate: FIRST }),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'a replacement does not begin while the parameter cannot be read',
    observed: launchSettingsState(
      GOLDEN,
      { launchSettings: GOLDEN, group: { ...CUSTOM_GROUP, instanceTypes: ['m5.xlarge'] } },
      BLUE_GREEN,
      {
        ownTemplate: FIRST,
        prerequisites: sampleFacts({ imageParameter: { ok: false, error: sampleError('unavailable') } }),
      },
    ),
    want: [],
    waits: { because: 'UpToDate ImmutableDifference', until: '20s' },
  },
  {
    name: 'nothing is created before the node role has an access entry: EKS would create one for Linux',
    observed: launchSettingsToBe(AMI_1, noAccess('API', false)),
    want: [],
    waits: { because: 'PrerequisitesMet NodeAccessInvalid', until: '20s' },
  },
  {
    name: 'nor while aws-auth maps the role and an entry of EKS would take precedence',
    observed: launchSettingsToBe(AMI_1, noAccess('API_AND_CONFIG_MAP', true)),
    want: [],
    waits: { because: 'PrerequisitesMet NodeAccessInvalid', until: '20s' },
  },
  {
    name: 'the access entry is created before a group with a custom AMI, although aws-auth maps the role',
    observed: managing(noAccess('API_AND_CONFIG_MAP', true)),
    want: [SEND_ALL, 'createAccessEntry arn:aws:iam::111122223333:role/windows-nodes', CREATE],
  },
  {
    name: 'nothing is created while aws-auth does not map the role and there are no access entries',
    observed: managing(noAccess('CONFIG_MAP', false)),
    want: [],
    waits: { because: 'PrerequisitesMet NodeAccessInvalid', until: '20s' },
  },
  {
    name: 'the group is created if aws-auth maps the role and there are no access entries',
    observed: launchSettingsToBe(AMI_1, noAccess('CONFIG_MAP', true)),
    want: [SEND_ALL, CREATE],
  },
];
