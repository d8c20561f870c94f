/** The actions of users, AWS and faults on a pool during its life. */
import fc from 'fast-check';
import { RETRY_ANNOTATION } from '../../../controllers/windowspool/api/labels.ts';
import { type NodeGroupPool, samplePool } from '../../../controllers/windowspool/testing/fixtures.ts';
import type { ConsoleEdit } from '../localaws/faults.ts';
import { nodeRoleArn, subnetIds } from '../localaws/network.ts';
import { switchTable } from '../localaws/switches.ts';
import { type Action, action, call, edits, given, group, ofPool, pool, top } from './action.ts';
import { LAUNCH_SETTINGS, launchSettingsEdits } from './launchSettings.ts';
import { type LocalAwsWorld, TEMPLATE } from './localAwsWorld.ts';

/** A release that was never published. */
export const UNPUBLISHED = '1.35-2020.01.01';

type Update = NodeGroupPool['spec']['nodeGroup']['update'];

/** A pool as its user first applies it: with launch settings, for which the operator creates a launch template, or else `db` with one of its user. */
export function newPool(name: string, setsLaunchSettings = false): NodeGroupPool {
  const template = { launchTemplate: { name: TEMPLATE, version: '$Default' }, diskSizeGiB: undefined };
  const nodeGroup = {
    nodeRole: nodeRoleArn,
    subnets: subnetIds.map((id) => ({ id })),
    instanceTypes: ['m5.large'],
    ...(setsLaunchSettings ? LAUNCH_SETTINGS : name === 'db' && template),
  };
  const metadata = { name, uid: `uid-${name}`, finalizers: [], generation: 0 };
  return samplePool({ nodeGroup: { ...nodeGroup, scaling: { minSize: 1, maxSize: 4 } } }, { metadata });
}

/** EKS publishes a release. */
export const newRelease = fc.constantFrom('2026.05.12', '2026.06.09').map((date) =>
  action(`the release ${date}`, {
    run: ({ cloud }) => {
      const newest = cloud.state.releases.at(-1)?.date ?? '';
      if (newest < date) cloud.faults.release({ date });
    },
  }),
);

/** Another canary, or none. */
export const canaryEdits = edits(
  'the canary',
  fc
    .option(fc.record({ nodes: fc.constantFrom(1, 2), soakDuration: fc.constantFrom('1m', '10m') }), { nil: undefined })
    .map((canary) => (spec) => group({ update: given({ ...spec.nodeGroup.update, canary }) as Update })(spec)),
);

/** Changes of the spec. */
export const specEdits: readonly fc.Arbitrary<Action>[] = [
  edits(
    'sizes',
    fc
      .tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 2, max: 5 }), fc.option(fc.integer({ min: 0, max: 5 })))
      .map(([min, max, size]) =>
        group({
          scaling: {
            minSize: min,
            maxSize: max,
            ...(size !== null && { desiredSize: Math.min(max, Math.max(min, size)) }),
          },
        }),
      ),
  ),
  edits(
    'the warm pool',
    fc
      .option(
        fc.record({
          minSize: fc.integer({ min: 0, max: 2 }),
          poolState: fc.constantFrom('Stopped' as const, 'Running' as const, 'Hibernated' as const),
          reuseOnScaleIn: fc.boolean(),
        }),
        { nil: undefined },
      )
      .map((warmPool) => group({ warmPool })),
  ),
  edits(
    'labels',
    fc.dictionary(fc.constantFrom('team', 'tier'), fc.constantFrom('a', 'b')).map((labels) => top({ labels })),
  ),
  edits(
    'taints',
    fc
      .subarray(['gpu', 'team'])
      .map((keys) => top({ taints: keys.map((key) => ({ key, value: 'yes', effect: 'NoSchedule' as const })) })),
  ),
  edits(
    'tags',
    fc.dictionary(fc.constantFrom('cost', 'owner'), fc.constantFrom('1', '2')).map((tags) => group({ tags })),
  ),
  edits(
    'the verification policy',
    fc.constantFrom('Report', 'Quarantine', 'Gate').map((policy) => top({ verification: { policy } })),
  ),
  edits(
    'the drift policy',
    fc.constantFrom('Correct' as const, 'Report' as const).map((driftPolicy) => group({ driftPolicy })),
  ),
  edits(
    'the update policy',
    fc
      .tuple(
        fc.constantFrom('Manual', 'Automatic'),
        fc.option(fc.constantFrom('* * * * *', '0 2 * * SAT', '99 2 * * *')),
      )
      .map(([policy, schedule]) => (spec) => {
        const { canary } = spec.nodeGroup.update;
        const windows = schedule && { maintenanceWindows: [{ schedule, duration: '1h', timeZone: 'Etc/UTC' }] };
        return group({ update: given({ policy, force: false, ...windows, canary }) as Update })(spec);
      }),
  ),
  canaryEdits,
  edits(
    'the deletion policy',
    fc.constantFrom('Delete', 'Retain').map((deletionPolicy) => top({ deletionPolicy })),
    ({ retained, pools }, name) => pools.get(name)?.spec.deletionPolicy === 'Retain' && retained.add(name),
  ),
  edits(
    'the adoption',
    fc.constantFrom('Never', 'IfUnowned').map((adoption) => group({ adoption })),
    // The settings of a group before its adoption count as an edit.
    ({ edited }, name) => edited.add(name),
  ),
  edits(
    'the release',
    fc
      .constantFrom('1.35-2026.02.17', '1.35-2026.03.17', '1.35-2026.04.18', UNPUBLISHED, undefined)
      .map((releaseVersion) => group({ releaseVersion, kubernetesVersion: undefined })),
  ),
  edits(
    'the Kubernetes version',
    fc
      .constantFrom('1.35', '1.36', undefined)
      .map((kubernetesVersion) => group({ kubernetesVersion, releaseVersion: undefined })),
  ),
  edits(
    'the version of the launch template',
    fc.constantFrom('1', '2', '$Latest', '$Default').map((version) => (spec) => {
      const { launchTemplate } = spec.nodeGroup;
      return launchTemplate ? group({ launchTemplate: { ...launchTemplate, version } })(spec) : spec;
    }),
  ),
  launchSettingsEdits,
  edits(
    'the instance type',
    fc
      .constantFrom('m5.large', 'm5.xlarge', 'm5.2xlarge')
      .map((type) => group({ immutableChangePolicy: 'Replace', instanceTypes: [type] })),
  ),
  edits(
    'the disruption',
    fc.constantFrom(1, 2, '50%').map((maxUnavailable) => top({ disruption: { maxUnavailable } })),
  ),
  edits(
    'the pause',
    fc.boolean().map((paused) => top({ paused })),
  ),
];

/** Pools that are applied, deleted or retried. */
export const objects: readonly fc.Arbitrary<Action>[] = [
  ofPool('apply', (world, name) => {
    if (!world.pools.has(name)) world.apply(newPool(name));
  }),
  ofPool('apply with launch settings', (world, name) => {
    if (!world.pools.has(name)) world.apply(newPool(name, true));
  }),
  ofPool('delete', (world, name) => world.remove(name)),
  ofPool('retry', retry),
];

/** A user sets the annotation winpool.dev/retry. */
export function retry(world: LocalAwsWorld, name: string): void {
  const known = world.pools.get(name);
  if (!known) return;
  const annotations = { ...known.metadata.annotations, [RETRY_ANNOTATION]: String(world.now) };
  world.apply({ ...known, metadata: { ...known.metadata, annotations } });
}

/** A user edits a group in the console, unless it is missing or busy. */
function consoleEdits(what: string, edit: fc.Arbitrary<Omit<ConsoleEdit, 'group'>>): fc.Arbitrary<Action> {
  return fc.tuple(pool, edit).map(([name, change]) =>
    action(`console: ${what} of ${name}`, {
      run: ({ cloud, edited }) => {
        cloud.state.timeline.settle();
        if (cloud.state.groups.get(name)?.nodegroup.status !== 'ACTIVE') return;
        edited.add(name);
        cloud.faults.edit({ group: name, ...change });
      },
    }),
  );
}

/** Changes by users of AWS. */
export const consoles: readonly fc.Arbitrary<Action>[] = [
  consoleEdits(
    'labels',
    fc.dictionary(fc.constantFrom('team', 'tier', 'theirs'), fc.constantFrom('a', 'x')).map((labels) => ({ labels })),
  ),
  consoleEdits(
    'taints',
    fc
      .subarray(['os', 'gpu', 'theirs'])
      .map((keys) => ({ taints: keys.map((key) => ({ key, value: 'windows', effect: 'NO_SCHEDULE' as const })) })),
  ),
  consoleEdits(
    'sizes',
    fc.integer({ min: 1, max: 4 }).map((desiredSize) => ({ scalingConfig: { minSize: 1, desiredSize, maxSize: 4 } })),
  ),
  ofPool('console: delete', ({ cloud }, name) => {
    cloud.state.timeline.settle();
    if (cloud.state.groups.get(name)?.nodegroup.status === 'ACTIVE') cloud.faults.consoleDelete({ group: name });
  }),
];

const issues = [{ code: 'NodeCreationFailure' as const, message: 'the instances did not join', resourceIds: ['i-1'] }];
const errors = [{ errorCode: 'NodeCreationFailure' as const, errorMessage: 'they did not join', resourceIds: ['i-1'] }];

/** The process ends at one of its next calls. */
export const crash: fc.Arbitrary<Action> = fc.integer({ min: 1, max: 12 }).map((count) =>
  action(`the process ends after ${count} calls`, {
    run: (world) => {
      world.callsLeft = count;
    },
  }),
);

/** What goes wrong, and what EKS and users of AWS change beside the operator. */
export const faults: readonly fc.Arbitrary<Action>[] = [
  ofPool('the creation fails of', ({ cloud }, name) => cloud.faults.createFailure({ group: name, issues })),
  ofPool('the next update fails of', ({ cloud }, name) => cloud.faults.updateFailure({ group: name, errors })),
  ofPool('the deletion fails of', ({ cloud }, name) => cloud.faults.deleteFailure({ group: name, issues })),
  ofPool('a bad node comes to', ({ cloud }, name) => cloud.faults.nextNode({ group: name, build: '10.0.17763' })),
  ofPool('an instance ends of', ({ cloud, nodes }, name) => {
    cloud.state.timeline.settle();
    const living = [...cloud.state.instances.values()].find((one) => one.group === name && one.state === 'running');
    if (living && nodes.length > 0) cloud.faults.terminateInstance({ node: living.id });
  }),
  ofPool('health issues of', ({ cloud }, name) => {
    cloud.state.timeline.settle();
    if (cloud.state.groups.get(name)?.nodegroup.status === 'ACTIVE') cloud.faults.healthIssue({ group: name, issues });
  }),
  ofPool('better health of', healed),
  fc.constant(
    action('an upgrade of the control plane', {
      run: ({ cloud }) => {
        cloud.state.timeline.settle();
        const { status, version } = cloud.state.clusterState;
        if (status === 'ACTIVE' && version === '1.35') cloud.faults.upgradeCluster({ version: '1.36' });
      },
    }),
  ),
  fc.constant(
    action('a rollback of the control plane', {
      run: ({ cloud }) => {
        cloud.state.timeline.settle();
        const { status, upgraded } = cloud.state.clusterState;
        if (status === 'ACTIVE' && upgraded) cloud.faults.rollbackCluster({ force: true });
      },
    }),
  ),
  call('is throttled', (calls, operation) => calls.throttle({ operation })),
  call('fails', (calls, operation) => calls.serverError({ operation })),
  call('loses its answer', (calls, operation) => calls.reset({ operation, after: true })),
  fc
    .record({
      earlierNodegroupVersions: fc.constantFrom(...switchTable.earlierNodegroupVersions),
      updatesWhileDegraded: fc.constantFrom(...switchTable.updatesWhileDegraded),
      rolloutGrowth: fc.constantFrom(...switchTable.rolloutGrowth),
      nodesOfWarmInstances: fc.constantFrom(...switchTable.nodesOfWarmInstances),
      nodesOfReusedInstances: fc.constantFrom(...switchTable.nodesOfReusedInstances),
      outdatedWarmInstances: fc.constantFrom(...switchTable.outdatedWarmInstances),
    })
    .map((answers) =>
      action(`answers of EKS: ${JSON.stringify(answers)}`, {
        run: ({ cloud }) => void Object.assign(cloud.state.switches, answers),
      }),
    ),
  crash,
  fc.constant(
    action('a new version of the launch template', {
      run: ({ cloud }) => void cloud.faults.launchTemplate({ name: TEMPLATE, data: {} }),
    }),
  ),
  fc.constant(
    action('another default version of the launch template', {
      run: ({ cloud }) => {
        const { version } = cloud.faults.launchTemplate({ name: TEMPLATE });
        cloud.faults.launchTemplate({ name: TEMPLATE, defaultVersion: version });
      },
    }),
  ),
  newRelease,
];

/** Clears the health issues of a group. */
export function healed({ cloud }: LocalAwsWorld, name: string): void {
  cloud.state.timeline.settle();
  if (cloud.state.groups.get(name)?.nodegroup.status === 'DEGRADED')
    cloud.faults.healthIssue({ group: name, issues: [] });
}
