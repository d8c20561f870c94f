/** The launch template that the operator creates for the launch settings in the spec, and its versions. */

import { versionTargetOf } from '../../providers/nodeGroup/versions/versionChanges.ts';
import { known } from '../answers.ts';
import { CLUSTER_ARN, knownStatus, LEAVING, sampleGroup, sampleState } from '../fixtures.ts';
import {
  BY_TAGS,
  DISK_100,
  DISK_200,
  launchSettingsFor,
  launchSettingsPool,
  launchSettingsState,
  launchSettingsToBe,
  ownTemplate,
  ownTemplateVersion,
  TEMPLATE_ID,
  TEMPLATE_NAME,
  taggedGroups,
  withGroups,
} from '../launchSettingsScenes.ts';
import { sampleFacts } from '../prerequisites.ts';
import { otherAuthority, unreachable } from '../sights.ts';
import { AUTOMATIC, failed, inWindow, SATURDAYS } from '../upgradeScenes.ts';
import type { PlanCase } from './planCase.ts';

const [SMALL, LARGE] = [launchSettingsFor(DISK_100), launchSettingsFor(DISK_200)];
const CREATE_TEMPLATE = [
  `record web of ${CLUSTER_ARN}: launch template ${TEMPLATE_NAME}`,
  `createLaunchTemplate ${TEMPLATE_NAME} 100GiB`,
];
const SEND_ALL = `record web of ${CLUSTER_ARN}: sending all 18 fields`;
const create = (template: string) =>
  `createNodeGroup web WINDOWS_CORE_2022_x86_64 m5.large ${template}@1 3 of 3-5 +winpool.dev/created-from +winpool.dev/pool`;
const SETTINGS =
  'template ami, template userData, template disk.sizeGiB, template disk.type, template disk.iops, template disk.throughput, template disk.encrypted, template disk.kmsKeyID, template metadataOptions.httpTokens, template metadataOptions.httpPutResponseHopLimit, template securityGroups, template instanceTags, template other settings';
const RESERVE = `reserve web of ${CLUSTER_ARN}: sending ${SETTINGS}`;
const RESERVE_DRIFT = (drift: string) => RESERVE.replace(new RegExp(`, template ${drift}|template ${drift}, `), '');
const update = (version: number, id = TEMPLATE_ID) => `updateNodeGroupVersion web 1.36-2026.02.11 ${id}@${version}`;
const add = (change: string, version = 2) => `createLaunchTemplateVersion ${version}: ${change}`;
const DELETE_TEMPLATE = `deleteLaunchTemplate ${TEMPLATE_NAME}`;

const BOTH = ownTemplate([SMALL, LARGE]);
const bareGroup = { launchTemplate: undefined, diskSizeGiB: 50 };
/** What EKS rejects when the new version is sent. */
const FAILED = failed(
  versionTargetOf(launchSettingsPool(DISK_200), {
    kubernetesVersion: '1.36',
    releaseVersion: '1.36-2026.02.11',
    launchTemplate: { id: TEMPLATE_ID, version: '2' },
    force: false,
  }),
);
const FOREIGN = { tags: { 'winpool.dev/pool': 'web', 'winpool.dev/usable-by': 'other' } };
const deleted = (launchSettings: object, change: Parameters<typeof launchSettingsToBe>[1] = {}, tracking = {}) =>
  launchSettingsToBe(launchSettings, {
    pool: {
      ...launchSettingsPool(launchSettings, {}, { ...knownStatus(), tracking }),
      metadata: { ...launchSettingsPool(launchSettings).metadata, ...LEAVING },
    },
    ...change,
  });

/** One change for each setting: the fields before and after, and the description of the new version. */
const changes: readonly (readonly [before: object, after: object, change: string])[] = [
  [DISK_100, DISK_200, 'disk.sizeGiB 100 -> 200'],
  [
    DISK_100,
    { disk: { ...DISK_100.disk, type: 'io2', iops: 5000 } },
    'disk.type gp3 -> io2, disk.iops not set -> 5000',
  ],
  [DISK_100, { disk: { ...DISK_100.disk, throughput: 250 } }, 'disk.throughput not set -> 250'],
  [DISK_100, { disk: { ...DISK_100.disk, encrypted: false } }, 'disk.encrypted true -> false'],
  [DISK_100, { disk: { ...DISK_100.disk, kmsKeyID: 'alias/disks' } }, 'disk.kmsKeyID not set -> alias/disks'],
  [
    DISK_100,
    { ...DISK_100, metadataOptions: { httpTokens: 'Optional', httpPutResponseHopLimit: 2 } },
    'metadataOptions.httpTokens Required -> Optional, metadataOptions.httpPutResponseHopLimit 1 -> 2',
  ],
  [
    { instanceTags: { team: 'web' } },
    { instanceTags: { team: 'web', cost: '7' } },
    'instanceTags team=web -> cost=7, team=web',
  ],
  [
    DISK_100,
    { ...DISK_100, securityGroups: [{ id: 'sg-0c000000' }] },
    'securityGroups not set -> sg-0a000000, sg-0c000000',
  ],
  [
    { ...DISK_100, securityGroups: [{ id: 'sg-0c000000' }] },
    DISK_100,
    'securityGroups sg-0a000000, sg-0c000000 -> not set',
  ],
];

export const launchSettingsCases: readonly PlanCase[] = [
  {
    name: 'a pool that sets launch settings gets a launch template first',
    observed: launchSettingsToBe(DISK_100),
    want: CREATE_TEMPLATE,
    later: [create(TEMPLATE_NAME)],
  },
  {
    name: 'the group is created from the version of the template that was read',
    observed: launchSettingsToBe(DISK_100, { ownTemplate: ownTemplate([SMALL]) }),
    want: [SEND_ALL, create(TEMPLATE_ID)],
  },
  {
    name: 'nothing is created before the template is read',
    observed: launchSettingsToBe(DISK_100, { ownTemplate: undefined }),
    want: [],
    waits: { because: 'NodeGroupReady Creating', until: '10m' },
  },
  {
    name: 'nothing is created while a prerequisite is not met',
    observed: launchSettingsToBe(DISK_100, {
      prerequisites: sampleFacts({ linuxNode: known({ acceptsPods: false }) }),
    }),
    want: [],
    waits: { because: 'PrerequisitesMet NoLinuxNode', until: '20s' },
  },
  {
    name: 'a template that was left behind gets a version for other launch settings',
    observed: launchSettingsToBe(DISK_200, { ownTemplate: ownTemplate([SMALL]) }),
    want: [add('disk.sizeGiB 100 -> 200')],
    later: [create(TEMPLATE_ID).replace('@1', '@2')],
  },
  {
    name: 'a template with the tags of another cluster is not used',
    observed: launchSettingsToBe(DISK_100, { ownTemplate: ownTemplate([LARGE], FOREIGN) }),
    want: [],
    waits: { because: 'PrerequisitesMet LaunchTemplateNotOwned', until: '20s' },
  },
  {
    name: 'a template is not created in another cluster',
    observed: launchSettingsToBe(DISK_100, { cluster: otherAuthority }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10m' },
  },
  {
    name: 'a template that the pool does not use any more is deleted',
    observed: sampleState({ ownTemplate: ownTemplate([SMALL]) }),
    want: [`deleteLaunchTemplate ${TEMPLATE_NAME}`],
  },
  {
    name: 'a template is not deleted while the group cannot be read',
    observed: sampleState({
      ownTemplate: ownTemplate([SMALL]),
      cluster: unreachable(),
    }),
    want: [],
    waits: { because: 'PrerequisitesMet AWSUnavailable', until: 'backoff' },
  },
  {
    name: 'a template is not deleted while a group that the pool does not own has the name',
    observed: sampleState({
      ownTemplate: ownTemplate([SMALL]),
      group: { kind: 'seen', group: sampleGroup(undefined, { tags: {} }) },
    }),
    want: [],
    waits: { because: 'NodeGroupReady NotOwned', until: '10m' },
  },
  {
    name: 'a template of another owner is not deleted',
    observed: sampleState({ ownTemplate: ownTemplate([SMALL], FOREIGN) }),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'a group with the desired launch settings needs nothing',
    observed: launchSettingsState(DISK_100),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'nor does it when the spec now names the defaults of gp3',
    observed: launchSettingsState(
      { disk: { ...DISK_100.disk, iops: 3000, throughput: 125 } },
      { launchSettings: DISK_100 },
    ),
    want: [],
    rests: { until: '10m' },
  },
  ...changes.map(([before, after, change]): PlanCase => {
    return {
      name: `changed launch settings are a version, and then a rolling update: ${change}`,
      observed: launchSettingsState(after, { launchSettings: before }),
      want: [add(change)],
      later: [RESERVE, update(2)].slice(1),
    };
  }),
  {
    name: 'an existing version with the desired launch settings is used',
    observed: launchSettingsState(DISK_200, { launchSettings: DISK_100 }, {}, { ownTemplate: BOTH }),
    want: [RESERVE, update(2)],
  },
  {
    name: 'launch settings and a release are one update',
    observed: launchSettingsState(
      DISK_200,
      { launchSettings: DISK_100 },
      { releaseVersion: '1.36-2026.03.17' },
      { ownTemplate: BOTH },
    ),
    want: [RESERVE, update(2).replace('02.11', '03.17')],
  },
  {
    name: 'a version that failed is not sent again',
    observed: launchSettingsState(
      DISK_200,
      { launchSettings: DISK_100, status: { failedChanges: [FAILED] } },
      {},
      { ownTemplate: BOTH },
    ),
    want: [],
    waits: { because: 'NodeGroupReady UpdateFailed', until: '10m' },
  },
  {
    name: 'a version that failed is not sent again, also while the template cannot be read',
    observed: launchSettingsState(
      DISK_200,
      {
        launchSettings: DISK_100,
        status: {
          failedChanges: [FAILED],
          launchTemplate: { id: TEMPLATE_ID, name: TEMPLATE_NAME, version: '1', desiredVersion: '2' },
        },
      },
      {},
      { ownTemplate: undefined },
    ),
    want: [],
    waits: { because: 'NodeGroupReady UpdateFailed', until: '10m' },
  },
  {
    name: 'no version is sent while the template cannot be read',
    observed: launchSettingsState(
      DISK_200,
      {
        launchSettings: DISK_100,
        status: { launchTemplate: { id: TEMPLATE_ID, name: TEMPLATE_NAME, version: '1', desiredVersion: '2' } },
      },
      {},
      { ownTemplate: undefined },
    ),
    want: [],
    waits: { because: 'UpToDate UpdatePending', until: '10m' },
  },
  {
    name: 'a group of another cluster gets no version',
    observed: launchSettingsState(DISK_200, { launchSettings: DISK_100 }, {}, { cluster: otherAuthority }),
    want: [],
    waits: { because: 'PrerequisitesMet ClusterMismatch', until: '10m' },
  },
  {
    name: 'a group that was created without a template gets none',
    observed: launchSettingsState(DISK_200, { launchSettings: DISK_100, group: bareGroup }),
    want: [],
    waits: { because: 'NodeGroupReady ImmutableDifference', until: '10m' },
  },
  {
    name: 'a group whose template was deleted and recreated keeps its version',
    observed: launchSettingsState(DISK_200, {
      launchSettings: DISK_100,
      group: { launchTemplate: { id: 'lt-1', name: TEMPLATE_NAME, version: '1' } },
    }),
    want: [],
    waits: { because: 'PrerequisitesMet LaunchTemplateNotFound', until: '20s' },
  },
  {
    name: 'a version that EC2 returns differently is not written again',
    observed: launchSettingsState(
      DISK_200,
      { launchSettings: DISK_100 },
      {},
      {
        ownTemplate: ownTemplate([SMALL], {
          versions: [ownTemplateVersion('2', LARGE, { others: ['UserData'] }), ownTemplateVersion('1', SMALL)],
        }),
      },
    ),
    want: [],
    waits: { because: 'PrerequisitesMet LaunchTemplateInvalid', until: '20s' },
  },
  {
    name: 'a version of another client with other settings is not used',
    observed: launchSettingsState(
      DISK_200,
      { launchSettings: DISK_100 },
      {},
      {
        ownTemplate: ownTemplate([SMALL], {
          versions: [
            ownTemplateVersion('2', LARGE, { others: ['UserData'], description: '' }),
            ownTemplateVersion('1', SMALL),
          ],
        }),
      },
    ),
    want: [add('disk.sizeGiB 100 -> 200', 3)],
    later: [update(3)],
  },
  {
    name: 'a group with another version than that of the spec is corrected',
    observed: launchSettingsState(
      DISK_100,
      { launchSettings: DISK_100, group: { launchTemplate: { id: TEMPLATE_ID, name: TEMPLATE_NAME, version: '2' } } },
      {},
      { ownTemplate: BOTH },
    ),
    want: [RESERVE_DRIFT('disk.sizeGiB'), update(1)],
  },
  {
    name: 'such a difference is only reported with driftPolicy Report',
    observed: launchSettingsState(
      DISK_100,
      { launchSettings: DISK_100, group: { launchTemplate: { id: TEMPLATE_ID, name: TEMPLATE_NAME, version: '2' } } },
      { driftPolicy: 'Report' },
      { ownTemplate: BOTH },
    ),
    want: [],
    waits: { because: 'UpToDate Drifted', until: '10m' },
    later: [update(1)],
  },
  {
    name: 'a group whose version was deleted needs nothing while the spec does not change',
    observed: launchSettingsState(
      DISK_100,
      { launchSettings: DISK_100, group: { launchTemplate: { id: TEMPLATE_ID, name: TEMPLATE_NAME, version: '9' } } },
      {},
      { ownTemplate: ownTemplate([SMALL]) },
    ),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'security groups are selected by tags',
    observed: launchSettingsState(
      BY_TAGS,
      { launchSettings: DISK_100, group: {} },
      {},
      { ...taggedGroups('sg-0b000000', 'sg-0c000000'), ownTemplate: ownTemplate([SMALL]) },
    ),
    want: [add('disk.sizeGiB 100 -> 50, securityGroups not set -> sg-0a000000, sg-0b000000, sg-0c000000')],
    later: [update(2)],
  },
  {
    name: 'other security groups with the tags are only reported with policy Manual',
    observed: launchSettingsState(
      BY_TAGS,
      { launchSettings: BY_TAGS },
      {},
      { ...taggedGroups('sg-0b000000', 'sg-0c000000'), ownTemplate: ownTemplate([withGroups('sg-0b000000')]) },
    ),
    want: [],
    waits: { because: 'UpToDate UpdateAvailable', until: '10m' },
  },
  {
    name: 'they are followed with policy Automatic',
    observed: launchSettingsState(BY_TAGS, { launchSettings: BY_TAGS }, AUTOMATIC, {
      ...taggedGroups('sg-0b000000', 'sg-0c000000'),
      ownTemplate: ownTemplate([withGroups('sg-0b000000')]),
    }),
    want: [add('securityGroups sg-0a000000, sg-0b000000 -> sg-0a000000, sg-0b000000, sg-0c000000')],
    later: [update(2)],
  },
  {
    name: 'they are followed in a maintenance window',
    observed: launchSettingsState(BY_TAGS, { launchSettings: BY_TAGS }, inWindow(SATURDAYS), {
      ...taggedGroups('sg-0b000000', 'sg-0c000000'),
      ownTemplate: ownTemplate([withGroups('sg-0b000000'), withGroups('sg-0b000000', 'sg-0c000000')]),
    }),
    want: [],
    waits: { because: 'UpToDate WaitingForWindow', until: '10m' },
  },
  {
    name: 'nothing changes while tags select no security group',
    observed: launchSettingsState(
      BY_TAGS,
      { launchSettings: DISK_100 },
      {},
      { ...taggedGroups(), ownTemplate: ownTemplate([SMALL]) },
    ),
    want: [],
    waits: { because: 'PrerequisitesMet SecurityGroupNotFound', until: '20s' },
  },
  {
    name: 'a change of the launch settings does not wait for a maintenance window',
    observed: launchSettingsState(DISK_200, { launchSettings: DISK_100 }, inWindow(SATURDAYS), { ownTemplate: BOTH }),
    want: [RESERVE, update(2)],
  },
  {
    name: 'a change of the launch settings waits for the budget',
    observed: launchSettingsState(
      DISK_200,
      { launchSettings: DISK_100 },
      {},
      {
        ownTemplate: BOTH,
        otherPools: { disrupted: ['api'], failures: [] },
      },
    ),
    want: [],
    waits: { because: 'UpToDate WaitingForBudget', until: '10m' },
  },
  {
    name: 'old versions are deleted, except the default, the newest, and those of the scaling group',
    observed: launchSettingsState(
      DISK_100,
      { launchSettings: DISK_100, group: { launchTemplate: { id: TEMPLATE_ID, name: TEMPLATE_NAME, version: '4' } } },
      {},
      {
        ownTemplate: ownTemplate([LARGE, LARGE, LARGE, SMALL, LARGE, LARGE]),
        autoscaler: { tags: {}, templateVersions: [`${TEMPLATE_ID} 3`, 'lt-1 2'], podAddresses: 9, warmInstances: 0 },
      },
    ),
    want: ['deleteLaunchTemplateVersions 5 2'],
  },
  {
    name: 'no version is deleted while an update is in progress',
    observed: launchSettingsState(
      DISK_100,
      {
        launchSettings: DISK_100,
        status: { update: { id: 'u-1', type: 'VersionUpdate', target: 'x', status: 'InProgress' } },
        group: { launchTemplate: { id: TEMPLATE_ID, name: TEMPLATE_NAME, version: '3' } },
      },
      {},
      { ownTemplate: ownTemplate([LARGE, LARGE, SMALL]) },
    ),
    want: [],
    rests: { until: '1s' },
  },
  {
    name: 'versions of other clients are not deleted',
    observed: launchSettingsState(
      DISK_100,
      { launchSettings: DISK_100, group: { launchTemplate: { id: TEMPLATE_ID, name: TEMPLATE_NAME, version: '3' } } },
      {},
      {
        ownTemplate: ownTemplate([], {
          versions: [
            ownTemplateVersion('3', SMALL),
            ownTemplateVersion('2', LARGE, { description: 'by hand' }),
            ownTemplateVersion('1', LARGE),
          ],
        }),
      },
    ),
    want: [],
    rests: { until: '10m' },
  },
  {
    name: 'the template of a deleted pool is deleted after its group',
    observed: deleted(DISK_100, { ownTemplate: ownTemplate([SMALL]) }),
    want: [DELETE_TEMPLATE, 'removeFinalizer'],
  },
  {
    name: 'it is not deleted before',
    observed: deleted(DISK_100, { ...launchSettingsState(DISK_100), ...{ pool: deleted(DISK_100).pool } }),
    want: ['deleteNodeGroup web'],
  },
  {
    name: 'the template of a deleted pool is deleted even if its spec needs none any more',
    observed: deleted({}, { ownTemplate: ownTemplate([SMALL]) }, { ownTemplate: TEMPLATE_NAME }),
    want: [DELETE_TEMPLATE, 'removeFinalizer'],
  },
  {
    name: 'a deleted pool waits until its template can be read',
    observed: deleted(DISK_100, { ownTemplate: undefined }),
    want: [],
    waits: { because: 'NodeGroupReady Deleting', until: '20s' },
  },
  {
    name: 'a deleted pool keeps a template of another owner',
    observed: deleted(DISK_100, { ownTemplate: ownTemplate([SMALL], FOREIGN) }),
    want: ['removeFinalizer'],
  },
  { name: 'a deleted pool without a template is finalized', observed: deleted(DISK_100), want: ['removeFinalizer'] },
];
