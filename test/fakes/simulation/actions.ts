/** The actions of users, AWS and faults on a pool during its life. */
import fc from 'fast-check';
import { RETRY_ANNOTATION } from '../../../controllers/windowspool/labels.ts';
import { type NodeGroupPool, samplePool } from '../../../controllers/windowspool/testing/fixtures.ts';
import type { ConsoleEdit } from '../localaws/faults.ts';
import { nodeRoleArn, subnetIds } from '../localaws/network.ts';
import { switchTable } from '../localaws/switches.ts';
import { type Action, action, call, edits, group, ofPool, POOLS, pool, top } from './action.ts';
import { IMAGE_PARAMETER, type LocalAwsWorld, TEMPLATE } from './localAwsWorld.ts';
import { MACHINE, machineEdits } from './machine.ts';
import { nodeActions } from './nodeActions.ts';

/** A release that was never published. */
export const UNPUBLISHED = '1.35-2020.01.01';

const MINUTE = 60_000;

/** A pool as its user first applies it: with a machine, for which the operator creates a launch template, or else `db` with one of its user. */
export function newPool(name: string, setsMachine = false): NodeGroupPool {
  const template = { launchTemplate: { name: TEMPLATE, version: '$Default' }, diskSizeGiB: undefined };
  const nodeGroup = {
    nodeRole: nodeRoleArn,
    subnets: subnetIds.map((id) => ({ id })),
    instanceTypes: ['m5.large'],
    ...(setsMachine ? MACHINE : name === 'db' && template),
  };
  const metadata = { name, uid: `uid-${name}`, finalizers: [], generation: 0 };
  return samplePool({ nodeGroup: { ...nodeGroup, scaling: { minSize: 1, maxSize: 4 } } }, { metadata });
}

const newRelease = fc.constantFrom('2026.05.12', '2026.06.09').map((date) =>
  action(`the release ${date}`, {
    run: ({ cloud }) => {
      const newest = cloud.state.releases.at(-1)?.date ?? '';
      if (newest < date) cloud.faults.release({ date });
    },
  }),
);

const canaryEdits = edits(
  'the canary',
  fc
    .option(fc.record({ nodes: fc.constantFrom(1, 2), soakDuration: fc.constantFrom('1m', '10m') }))
    .map((canary) => (given) => {
      const { canary: _before, ...update } = given.nodeGroup.update;
      return { ...given, nodeGroup: { ...given.nodeGroup, update: { ...update, ...(canary && { canary }) } } };
    }),
);

const spec: readonly fc.Arbitrary<Action>[] = [
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
      )
      .map((warmPool) => (given) => {
        const { warmPool: _before, ...rest } = given.nodeGroup;
        return { ...given, nodeGroup: { ...rest, ...(warmPool && { warmPool }) } };
      }),
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
      .map(([policy, schedule]) => (given) => {
        const { canary } = given.nodeGroup.update;
        const windows = schedule && { maintenanceWindows: [{ schedule, duration: '1h', timeZone: 'Etc/UTC' }] };
        return group({ update: { policy, force: false, ...windows, ...(canary && { canary }) } })(given);
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
      .map((releaseVersion) => (given) => {
        const { releaseVersion: _before, kubernetesVersion: _version, ...rest } = given.nodeGroup;
        return { ...given, nodeGroup: { ...rest, ...(releaseVersion && { releaseVersion }) } };
      }),
  ),
  edits(
    'the Kubernetes version',
    fc.constantFrom('1.35', '1.36', undefined).map((kubernetesVersion) => (given) => {
      const { kubernetesVersion: _before, releaseVersion: _release, ...rest } = given.nodeGroup;
      return { ...given, nodeGroup: { ...rest, ...(kubernetesVersion && { kubernetesVersion }) } };
    }),
  ),
  edits(
    'the version of the launch template',
    fc.constantFrom('1', '2', '$Latest', '$Default').map((version) => (given) => {
      const { launchTemplate } = given.nodeGroup;
      return launchTemplate ? group({ launchTemplate: { ...launchTemplate, version } })(given) : given;
    }),
  ),
  machineEdits,
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

const objects: readonly fc.Arbitrary<Action>[] = [
  ofPool('apply', (world, name) => {
    if (!world.pools.has(name)) world.apply(newPool(name));
  }),
  ofPool('apply with a machine', (world, name) => {
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

const consoles: readonly fc.Arbitrary<Action>[] = [
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

const crash: fc.Arbitrary<Action> = fc.integer({ min: 1, max: 12 }).map((count) =>
  action(`the process ends after ${count} calls`, {
    run: (world) => {
      world.callsLeft = count;
    },
  }),
);

const faults: readonly fc.Arbitrary<Action>[] = [
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
  call('is throttled', (calls, operation) => calls.throttle({ operation })),
  call('fails', (calls, operation) => calls.serverError({ operation })),
  call('loses its answer', (calls, operation) => calls.reset({ operation, after: true })),
  fc
    .record({
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

const time: fc.Arbitrary<Action> = fc
  .constantFrom(1_000, 3_000, 30_000, 2 * MINUTE, 20 * MINUTE)
  .map((ms) => action(`${ms / 1_000} s pass`, { passes: ms }));

/** Some of these actions, in any order. */
function anyOf(
  ...all: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<Action>])[]
): fc.Arbitrary<readonly Action[]> {
  const one = fc.oneof(...all.map(([weight, arbitrary]) => ({ weight, arbitrary })));
  return fc.array(one, { minLength: 3, maxLength: 20 });
}

/** Any actions. Time passes often, so that operations overlap. */
const anyActions = anyOf(
  [5, time],
  [5, fc.oneof(...spec)],
  [2, fc.oneof(...objects)],
  [3, fc.oneof(...consoles)],
  [4, fc.oneof(...faults)],
  [2, nodeActions],
);

/** Any action but the passing of time. */
export const actionsOfLife: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.oneof(...spec) },
  { weight: 2, arbitrary: fc.oneof(...objects) },
  { weight: 3, arbitrary: fc.oneof(...consoles) },
  { weight: 4, arbitrary: fc.oneof(...faults) },
  { weight: 4, arbitrary: nodeActions },
);

/** Both pools have three nodes. */
export const populated: readonly Action[] = [
  action('both pools', { run: (world) => world.apply(newPool('db')), passes: 5 * MINUTE }),
  action('three nodes each', {
    run: ({ cloud }) => {
      const scalingConfig = { minSize: 1, desiredSize: 3, maxSize: 4 };
      for (const group of POOLS) if (cloud.state.groups.has(group)) cloud.faults.edit({ group, scalingConfig });
    },
    passes: 20 * MINUTE,
  }),
];

/** Mostly actions on nodes, and few others. */
const ofNodes: fc.Arbitrary<readonly Action[]> = anyOf(
  [6, time],
  [9, nodeActions],
  [1, fc.oneof(...spec)],
  [1, fc.oneof(...objects)],
  [1, fc.oneof(...consoles)],
  [2, fc.oneof(...faults, ...Array<fc.Arbitrary<Action>>(6).fill(crash))],
).map((actions) => [...populated, ...actions]);

/** A pool with a machine, which often changes. */
const ofMachine: fc.Arbitrary<readonly Action[]> = anyOf(
  [5, time],
  [5, machineEdits],
  [1, canaryEdits],
  [2, fc.oneof(...spec)],
  [2, fc.oneof(...objects)],
  [1, fc.oneof(...consoles)],
  [3, fc.oneof(...faults)],
).map((actions) => [
  action('a pool with a machine', { run: (world) => world.apply(newPool('db', true)), passes: 5 * MINUTE }),
  ...actions,
]);

/** Updates are automatic, and begin with a canary. */
const TRIED = { update: { policy: 'Automatic', force: false, canary: { nodes: 1, soakDuration: '5m' } } } as const;

/** Both pools follow the newest release, which is tried on a canary first. */
const tried: readonly Action[] = [
  action('both pools, with canaries', {
    run: (world) => {
      for (const name of POOLS) {
        const { spec: given, ...rest } = (world.pools.get(name) as NodeGroupPool | undefined) ?? newPool(name);
        world.apply({ ...rest, spec: group(TRIED)(given) });
      }
    },
    passes: 5 * MINUTE,
  }),
];

/** A pool follows the custom AMI in a parameter, which is tried on a canary first. */
const triedImages: readonly Action[] = [
  action('a pool with a custom AMI, with canaries', {
    run: (world) => {
      const { spec: given, ...rest } = newPool('db', true);
      world.apply({ ...rest, spec: group({ ...TRIED, ami: { ssmParameter: IMAGE_PARAMETER } })(given) });
    },
    passes: 5 * MINUTE,
  }),
];

/** Mostly new versions and what interrupts their canaries. */
const canaryLife = (begin: readonly Action[], versions: fc.Arbitrary<Action>): fc.Arbitrary<readonly Action[]> =>
  anyOf(
    [6, time],
    [4, fc.oneof(versions, versions, canaryEdits)],
    [2, fc.oneof(...spec)],
    [1, fc.oneof(...objects)],
    [1, fc.oneof(...consoles)],
    [3, fc.oneof(...faults, ...Array<fc.Arbitrary<Action>>(6).fill(crash))],
    [2, nodeActions],
  ).map((actions) => [...begin, ...actions]);

const ofCanaries = fc.oneof(canaryLife(tried, newRelease), canaryLife(triedImages, machineEdits));

/** The actions of a life. */
export const anyLife: fc.Arbitrary<readonly Action[]> = fc.oneof(anyActions, ofNodes, ofMachine, ofCanaries);
