/** Random observed states for properties: every state of every part, combined. Most combinations are impossible, but nothing may throw. */
import fc from 'fast-check';
import type { SecondNodeGroup, WindowsPool } from '../api/api.gen.ts';
import {
  GATE_TAINT_KEY,
  GATE_TAINT_MISSING_CONDITION,
  IMAGES_PENDING_CONDITION,
  SMOKE_TEST_PENDING_CONDITION,
} from '../api/labels.ts';
import type { NodeMembershipView } from '../model/nodeMembershipView.ts';
import { podsOn } from '../nodePods/preparation.ts';
import { PoolNodes } from '../nodes/poolNodes.ts';
import { POD_ADDRESSES } from '../nodes/windowsVersions.ts';
import { CALL_ERROR_KINDS, type CallError } from '../ports/callResult.ts';
import type { NodeGroup } from '../ports/eks.ts';
import type { KarpenterObject, KarpenterView } from '../ports/karpenter.ts';
import type { MachinesView } from '../ports/machines.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import { configTargetOf } from '../providers/nodeGroup/changes/groupChanges.ts';
import type { CheckFacts } from '../providers/nodeGroup/model/checkFacts.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import type { EksState, ObservedCluster, ObservedNodeGroup } from '../providers/nodeGroup/model/groupState.ts';
import { PHASES, type ReplacementPhase } from '../providers/nodeGroup/secondGroup/phases.ts';
import { nodeSourceOf } from '../rules/nodeSource.ts';
import { derive } from './derived.ts';
import {
  CLUSTER_ARN,
  expectationIn,
  GROW,
  knownStatus,
  MINUTE,
  NEXT,
  NOW,
  RELEASE_FAILURE,
  sampleCluster,
  sampleError,
  sampleGroup,
  sampleNode,
  samplePool,
  sampleRuntimeClass,
  sampleTemplate,
  settings,
} from './fixtures.ts';
import {
  AMI_1,
  AMI_2,
  BY_TAGS,
  DISK_100,
  DISK_200,
  launchSettingsFor,
  ownTemplate,
  TEMPLATE_ID,
  TEMPLATE_NAME,
} from './launchSettingsScenes.ts';
import { sampleFacts, sampleSecurityGroup } from './prerequisites.ts';
import { randomConditions, randomRecords } from './randomConditions.ts';
import { randomNodePods } from './randomNodePods.ts';

const randomError: fc.Arbitrary<CallError> = fc.constantFrom(...CALL_ERROR_KINDS).map((kind) => sampleError(kind));

const ago = fc.integer({ min: 0, max: 120 * MINUTE }).map((ms) => NOW - ms);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

/** Open, closed, about to open, and invalid. */
const WINDOWS = ['0 12 * * *', '0 2 * * SAT', '1 12 * * *', '0 0 30 2 *', '99 * * * *'].map((schedule) => ({
  schedule,
  duration: '1h',
  timeZone: 'Etc/UTC',
}));

/** An image that some nodes have. */
const IMAGE = 'mcr.microsoft.com/windows/servercore:ltsc2022';

/** What status records of a replacement, as far as it matters. */
const randomReplacement: fc.Arbitrary<SecondNodeGroup> = fc
  .record(
    {
      phase: fc.constantFrom(...(Object.keys(PHASES) as ReplacementPhase[])),
      lastTransitionTime: ago.map((time) => new Date(time).toISOString()),
      absenceStartTime: ago.map((time) => new Date(time).toISOString()),
      blocked: ago.map((time) => ({ node: 'a', message: 'x'.repeat(1_024), time: new Date(time).toISOString() })),
    },
    { requiredKeys: ['phase', 'lastTransitionTime'] },
  )
  .map((rest) => ({ name: 'web', startTime: new Date(NOW - MINUTE).toISOString(), ...rest }));

/** A pool with a node group, with any status. */
export const randomPool: fc.Arbitrary<WindowsPool> = fc
  .record({
    paused: fc.boolean(),
    deletionPolicy: fc.constantFrom('Delete' as const, 'Retain' as const),
    desired: maybe(fc.nat({ max: 5 })),
    min: fc.nat({ max: 3 }),
    warm: maybe(fc.nat({ max: 3 })),
    runtimeClassName: maybe(fc.constant('web')),
    runtimeClassAdoption: fc.constantFrom('Never' as const, 'IfUnowned' as const),
    windows: maybe(fc.subarray(WINDOWS, { minLength: 1 })),
    template: maybe(fc.constantFrom('$Latest', '$Default', 2, '3')),
    pulls: fc.boolean(),
    tests: fc.boolean(),
    launchSettings: maybe(
      fc.constantFrom(DISK_100, DISK_200, BY_TAGS, { instanceTags: { team: 'web' } }, AMI_1, AMI_2),
    ),
    created: fc.boolean(),
    policy: fc.constantFrom('Report' as const, 'Quarantine' as const, 'Gate' as const),
    going: fc.boolean(),
    held: fc.boolean(),
    known: fc.boolean(),
    failed: maybe(fc.constantFrom('create', 'update', 'other')),
    // Seen: the group had this release when it was last read. Recorded: it was rolled back from this release.
    release: maybe(fc.constantFrom('seen', 'recorded')),
    immutableChangePolicy: fc.constantFrom('Reject' as const, 'Replace' as const),
    replacement: maybe(randomReplacement),
    update: maybe(fc.constantFrom('InProgress', 'Failed', 'Successful')),
    conditions: randomConditions,
    records: randomRecords,
    time: ago,
  })
  .map((r) => {
    const spec = {
      paused: r.paused,
      deletionPolicy: r.deletionPolicy,
      runtimeClass: {
        ...(r.runtimeClassName && { name: r.runtimeClassName }),
        adoption: r.runtimeClassAdoption,
      },
      verification: {
        policy: r.policy,
        ...(r.pulls && { requiredImages: [IMAGE, 'nginx'], imagePrePull: { timeout: '30m' } }),
        ...(r.tests && {
          smokeTest: { image: IMAGE, serviceURL: 'https://kubernetes.default.svc.cluster.local', timeout: '10m' },
        }),
      },
      nodeGroup: {
        immutableChangePolicy: r.immutableChangePolicy,
        scaling: {
          minSize: r.min,
          maxSize: 5,
          ...(r.desired !== undefined && { desiredSize: Math.max(r.min, r.desired) }),
        },
        ...(r.warm !== undefined && {
          warmPool: { minSize: r.warm, poolState: 'Stopped' as const, reuseOnScaleIn: r.going },
        }),
        ...(r.windows && { update: { policy: 'Automatic' as const, force: false, maintenanceWindows: r.windows } }),
        ...(r.launchSettings && { diskSizeGiB: undefined, ...r.launchSettings }),
        ...(r.template && {
          ami: undefined,
          disk: undefined,
          securityGroups: undefined,
          instanceTags: undefined,
          instanceTypes: undefined,
          diskSizeGiB: undefined,
          launchTemplate: { name: 'windows', version: r.template },
        }),
      },
    };
    const metadata = {
      ...(r.going && { deletionTimestamp: '2026-03-01T12:00:00Z' }),
      ...(!r.held && { finalizers: [] }),
    };
    const bare = samplePool(spec, { metadata });
    if (!r.known) return bare;
    const targets: Record<string, string> = {
      create: sampleGroup(bare).tags['winpool.dev/created-from'] ?? '',
      update: configTargetOf(bare, GROW),
      other: 'other',
    };
    const time = new Date(r.time).toISOString();
    const failedTarget = {
      target: targets[r.failed ?? ''] ?? '',
      reason: 'UpdateRejected',
      message: 'EKS refused',
      time,
    };
    const update = { id: 'u-1', type: 'ConfigUpdate', target: configTargetOf(bare, GROW), status: r.update ?? '' };
    const status = knownStatus({
      ...(r.failed && { failedChanges: [failedTarget] }),
      ...(r.update && { update }),
      ...(r.release === 'seen' && { releaseVersion: NEXT }),
      ...(r.release === 'recorded' && { rollback: { from: NEXT, time } }),
      ...(r.replacement && { replacement: r.replacement }),
    });
    const tracking = {
      ...status?.tracking,
      ...(r.created && { ownTemplate: TEMPLATE_NAME }),
      ...r.records,
    };
    return { ...bare, status: { ...status, tracking, conditions: r.conditions } };
  });

/** The first and the last time of a node that the API server can write. */
const EXTREME = ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z'].map((time) => Date.parse(time));

/** A kubelet can report any quantity. */
const quantity = fc.constantFrom('8388608Ki', '6291456Ki', '9', '0', '-1', '9e999', '1e-9Ei', 'many', '');
const randomResources = fc.record({ memory: quantity, [POD_ADDRESSES]: quantity }, { requiredKeys: [] });

/** A node of any kind, in any state. */
export const randomNode: fc.Arbitrary<NodeRecord> = fc
  .record({
    name: fc.nat({ max: 30 }).map((i) => `ip-10-0-1-${i}`),
    ready: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
    createdAt: fc.oneof(ago, fc.constantFrom(...EXTREME)),
    kernelVersion: fc.oneof(fc.constant('10.0.20348.2762'), fc.constant('10.0.26100.1'), fc.string()),
    labels: fc.constantFrom({}, sampleNode().labels),
    taints: fc.constantFrom([], [...sampleNode().taints]),
    kubeletVersion: fc.oneof(fc.constant('v1.36.1-eks-1234567'), fc.constant('v1.33.0'), fc.string()),
    containerRuntimeVersion: fc.oneof(fc.constant('containerd://2.1.6'), fc.string()),
    capacity: randomResources,
    allocatable: randomResources,
    verified: maybe(
      fc.record({ status: fc.constantFrom('True', 'False', 'Unknown'), reason: fc.string(), message: fc.string() }),
    ),
    conditions: fc.subarray([
      `${IMAGES_PENDING_CONDITION}=True`,
      `${SMOKE_TEST_PENDING_CONDITION}=True`,
      `${IMAGES_PENDING_CONDITION}=False`,
      `${SMOKE_TEST_PENDING_CONDITION}=False`,
      `${GATE_TAINT_MISSING_CONDITION}=True`,
    ]),
    verifiedSince: fc.oneof(ago, fc.constantFrom(0, ...EXTREME)),
  })
  .map(sampleNode);

const randomGroup: fc.Arbitrary<Partial<NodeGroup>> = fc.record(
  {
    status: fc.constantFrom('CREATING', 'ACTIVE', 'UPDATING', 'DELETING', 'CREATE_FAILED', 'DELETE_FAILED', 'DEGRADED'),
    tags: fc.constantFrom({}, { 'winpool.dev/pool': 'api' }),
    scaling: fc.nat({ max: 5 }).map((desiredSize) => ({ minSize: 0, maxSize: 5, desiredSize })),
    labels: fc.dictionary(fc.string(), fc.string()),
    warmPool: fc.constantFrom(undefined, {
      minSize: 1,
      maxGroupPreparedCapacity: undefined,
      poolState: 'Running' as const,
      reuseOnScaleIn: true,
    }),
    createdAt: ago,
    modifiedAt: ago,
    diskSizeGiB: fc.constantFrom(undefined, 50, 100),
    launchTemplate: fc.constantFrom(
      undefined,
      { id: 'lt-0a1b2c3d', name: 'windows', version: '2' },
      { id: 'lt-2', name: 'other', version: '1' },
      { id: TEMPLATE_ID, name: TEMPLATE_NAME, version: '1' },
    ),
    launchSettings: fc.constantFrom({}, { 'disk.sizeGiB': '100', instanceTags: 'x'.repeat(15_000) }),
    healthIssues: fc.array(
      fc.record({
        code: fc.constantFrom('Unknown', 'x'.repeat(128)),
        message: fc.constantFrom('It broke.', 'x'.repeat(1_024)),
        resourceIds: fc.constantFrom(['i-1'], Array<string>(100).fill('x'.repeat(2_048))),
      }),
      { maxLength: 30 },
    ),
    subnets: fc.constantFrom(
      ['subnet-1'],
      Array.from({ length: 50 }, (_, index) => `subnet-${index}`),
    ),
  },
  { requiredKeys: [] },
);

/** The launch template in EC2. */
const randomTemplate = fc.oneof(
  randomError.map((error) => ({ ok: false as const, error })),
  fc.constantFrom(undefined, '2', '3').chain((version) =>
    fc
      .record({
        instanceType: fc.constantFrom(undefined, 'm5.large'),
        forbidden: fc.subarray([{ field: 'ImageId' as const, value: 'ami-1' }]),
      })
      .map((change) => ({
        ok: true as const,
        value: version === undefined ? undefined : sampleTemplate(version, change),
      })),
  ),
);

const wanted = [DISK_100, DISK_200, { instanceTags: { team: 'web' } }].map((launchSettings) =>
  launchSettingsFor(launchSettings),
);

/** The template that the operator creates, or another with its name. */
const randomOwnTemplate = fc.constantFrom<NonNullable<EksState['ownTemplate']>>(
  { kind: 'absent' },
  ownTemplate(wanted.slice(0, 1)),
  ownTemplate(wanted.slice(0, 2)),
  ownTemplate(wanted, { defaultVersion: '2' }),
  ownTemplate(wanted, { tags: {} }),
  ownTemplate(wanted, { id: 'lt-2' }),
);

const randomSecurityGroups = fc.constantFrom<NonNullable<CheckFacts['securityGroups']>>(
  { ok: false, error: sampleError('denied') },
  ...[[], ['sg-0b000000'], ['sg-0b000000', 'sg-0c000000']].map((ids) => ({
    ok: true as const,
    value: ids.map((id) => sampleSecurityGroup({ id, tags: { tier: 'windows' } })),
  })),
);

const randomAutoscaler = fc.record({
  tags: fc.constantFrom(
    {},
    { 'eks-web-0a1b': {} },
    { 'eks-web-0a1b': { 'k8s.io/cluster-autoscaler/node-template/taint/os': '' } },
  ),
  templateVersions: fc.constantFrom([], [`${TEMPLATE_ID} 1`]),
  podAddresses: maybe(fc.constant(9)),
  warmInstances: fc.nat({ max: 3 }),
});

const randomCluster: fc.Arbitrary<ObservedCluster> = fc.oneof(
  fc.constant({ kind: 'absent' } as const),
  fc.tuple(randomError, ago).map(([error, since]) => ({ kind: 'unreachable' as const, error, since })),
  fc
    .record({ isOurs: fc.boolean(), arn: fc.constantFrom(CLUSTER_ARN, 'arn:aws:eks:eu-west-1:1:cluster/prod') })
    .map((change) => ({
      kind: 'seen' as const,
      cluster: sampleCluster(change),
    })),
);

function randomView(pool: WindowsPool): fc.Arbitrary<ObservedNodeGroup> {
  if (nodeSourceOf(pool).marksNodes) return fc.constant({ kind: 'absent' });
  const group = randomGroup.map((change) => sampleGroup(pool, change));
  return fc.oneof(
    group.map((seen) => ({ kind: 'seen' as const, group: seen })),
    fc.constant({ kind: 'absent' as const }),
    fc
      .record({ error: randomError, since: ago, last: maybe(group) })
      .map((rest) => ({ kind: 'unreachable' as const, ...rest })),
    fc
      .record({
        contradiction: fc.constantFrom('absent' as const, 'unowned' as const, 'groupFailed' as const),
        since: ago,
        last: maybe(group),
      })
      .map(({ last, ...rest }) => ({
        kind: 'unconfirmed' as const,
        certainty: { kind: 'seenOnce' as const, ...rest },
        last,
      })),
  );
}

function randomRuntimeClass(pool: EksState['pool']): fc.Arbitrary<EksState['runtimeClass']> {
  const owner = fc.constantFrom({ name: 'web', uid: 'uid-web' }, { name: 'api', uid: 'uid-api' });
  const change = fc.record(
    {
      deleting: fc.boolean(),
      handler: fc.constant('other'),
      tolerations: fc.constant([]),
      owners: fc.uniqueArray(owner, { selector: ({ uid }) => uid }),
    },
    { requiredKeys: [] },
  );
  const manager = fc.constantFrom(
    {},
    { managed: false, managedBy: undefined },
    { managed: false, managedBy: 'Helm release kube-system/windows' },
  );
  return maybe(
    fc.tuple(change, manager).map(([differing, managed]) => sampleRuntimeClass(pool, { ...differing, ...managed })),
  );
}

function randomMembership({ spec }: WindowsPool, nodes: readonly NodeRecord[]): fc.Arbitrary<NodeMembershipView> {
  const list = fc.constantFrom(
    { kind: 'unknown' as const },
    { kind: 'absent' as const },
    { kind: 'seen' as const, data: {} },
  );
  const malformed = [{ entry: 'a_b', message: 'is wrong' }];
  return fc.record({
    listed: spec.existingNodes?.instancesConfigMap
      ? fc.record({
          list,
          unknown: fc.constantFrom([], ['10.0.0.1']),
          lookups: fc.constant(new Map([['win-1', 'cannot be looked up: ETIMEOUT']])),
          unanswered: fc.constantFrom([], ['win-1']),
          doubles: fc.constantFrom([], [['10.0.0.1', 'win-1'] as const]),
          malformed: fc.constant(malformed),
          hasUsernames: fc.boolean(),
        })
      : fc.constant(undefined),
    contested: fc.constantFrom(undefined, { node: 'x', holder: 'api', more: 0 }),
    toRelease: fc.subarray([...nodes]),
    awaited: fc.subarray(nodes.map(({ name }) => name)).map((names) => new Set(names)),
    contention: fc.constantFrom({ nodes: [], until: Number.POSITIVE_INFINITY }, { nodes: ['a'], until: NOW + MINUTE }),
    nextReadAt: fc.constantFrom(Number.POSITIVE_INFINITY, NOW + MINUTE),
  });
}

/** Any observed state of the sample pool with other settings. */
export const randomObservedState: fc.Arbitrary<EksDerived> = randomPool.chain(observedStateOf);

const randomMachines: fc.Arbitrary<MachinesView> = fc.oneof(
  maybe(randomError).map((error) => ({ kind: 'unknown' as const, ...(error && { error }) })),
  fc.constant({ kind: 'absent' as const }),
  fc.record({
    kind: fc.constant('seen' as const),
    set: fc.record({
      name: fc.constant('windows'),
      uid: fc.constant('uid-windows'),
      resourceVersion: fc.constant('1'),
      deleting: fc.boolean(),
      replicas: fc.nat(4),
      outdated: fc.nat(3),
      isRollingOut: fc.boolean(),
      isOnDelete: fc.boolean(),
      isObserved: fc.boolean(),
      pausedBy: fc.constantFrom('', 'spec.paused is true'),
      sizedBy: fc.constantFrom('', 'an autoscaler'),
      createdFor: fc.constantFrom('', 'web', 'api'),
      templateHash: fc.constantFrom('', '0123456789abcdef'),
      clusterName: fc.constantFrom('', 'workloads'),
      infrastructureTemplate: fc.constantFrom('', 'SimMachineTemplate/windows-1'),
      usableBy: fc.constantFrom('', 'web'),
      problem: fc.constantFrom('', 'no capacity'),
      controllerUid: fc.constant(''),
    }),
    sets: fc.nat({ max: 3 }),
    machines: fc.array(
      fc.record({
        name: fc.constantFrom('a', 'b', 'c'),
        uid: fc.constantFrom('uid-a', 'uid-b'),
        resourceVersion: fc.constant('1'),
        createdAt: ago,
        deleting: fc.boolean(),
        node: fc.constantFrom('', 'node-1', 'node-2'),
        providerID: fc.constantFrom('', 'sim://a', 'sim://b'),
        labels: fc.constant({}),
        hasReadinessGate: fc.boolean(),
        verified: fc.constantFrom('', 'True', 'False', 'Unknown'),
        isOutdated: fc.boolean(),
        hasFailed: fc.boolean(),
        problem: fc.constantFrom('', 'InvalidConfiguration'),
        controllerUid: fc.constant('uid-windows'),
        goesAtSize: fc.constantFrom(undefined, 1, 3),
        drainExcludedBy: fc.constantFrom('nobody', 'operator', 'user'),
      }),
      { maxLength: 5 },
    ),
  }),
);

const randomKarpenterObject: fc.Arbitrary<KarpenterObject> = fc.record({
  name: fc.constant('web'),
  uid: fc.constant('uid-web'),
  resourceVersion: fc.constant('1'),
  deleting: fc.boolean(),
  createdFor: fc.constantFrom('', 'web', 'api'),
  adoptableBy: fc.constantFrom('', 'web', 'api'),
  manifestHash: fc.constantFrom('', '0123456789abcdef'),
  appliedAt: fc.oneof(fc.constant(0), ago),
  spec: fc.oneof(fc.jsonValue(), fc.constant({ weight: 5, limits: { cpu: 1 }, template: { spec: { taints: [] } } })),
  ownFields: fc.subarray(['weight', 'limits', 'terminationGracePeriod', 'tags'] as const),
  ready: fc.constantFrom('', 'Unknown', 'True', 'False'),
  readySince: fc.oneof(fc.constant(0), ago),
  problem: fc.constantFrom('', 'NodeClass not found'),
  registrationProblem: fc.constantFrom('', 'nodes did not register'),
});

const randomKarpenter: fc.Arbitrary<KarpenterView> = fc.oneof(
  maybe(randomError).map((error) => ({ kind: 'unknown' as const, ...(error && { error }) })),
  fc.record({
    kind: fc.constant('seen' as const),
    nodeClass: maybe(randomKarpenterObject),
    nodePool: maybe(randomKarpenterObject),
    others: fc.array(randomKarpenterObject, { maxLength: 2 }),
    claims: fc.array(
      fc.record({
        name: fc.constantFrom('a', 'b', 'c'),
        uid: fc.constantFrom('uid-a', 'uid-b'),
        resourceVersion: fc.constant('1'),
        createdAt: ago,
        deleting: fc.boolean(),
        nodePoolUid: fc.constant('uid-web'),
        node: fc.constantFrom('', 'node-1', 'node-2'),
        providerID: fc.constantFrom('', 'sim://a', 'sim://b'),
        startupTaints: fc.subarray([GATE_TAINT_KEY, 'other']),
        isInitialized: fc.boolean(),
        drift: fc.constantFrom('', 'NodePoolDrifted'),
        problem: fc.constantFrom('', 'no capacity'),
      }),
      { maxLength: 5 },
    ),
  }),
);

/** Any observed state of this pool. */
export function observedStateOf(pool: WindowsPool): fc.Arbitrary<EksDerived> {
  const isMarked = nodeSourceOf(pool).marksNodes;
  return fc
    .record({
      cluster: isMarked ? fc.constant({ kind: 'absent' as const }) : randomCluster,
      group: randomView(pool),
      second: isMarked ? fc.constant(undefined) : maybe(randomView(pool)),
      nodes: fc.uniqueArray(randomNode, { selector: ({ name }) => name, maxLength: 6 }),
      karpenter: randomKarpenter,
      machines: randomMachines,
      instances: maybe(fc.array(ago.map((launchedAt) => ({ id: 'i-1', privateDnsName: '', launchedAt })))),
      update: maybe(
        fc.constantFrom('InProgress' as const, 'Failed' as const, 'Successful' as const).map((status) => ({
          id: 'u-1',
          type: 'ConfigUpdate',
          status,
          createdAt: NOW,
          errors: [],
        })),
      ),
      runtimeClass: randomRuntimeClass(pool),
      formerRuntimeClass: randomRuntimeClass(samplePool()),
      serverVersion: fc.constantFrom('v1.36.3', undefined),
      newestRelease: maybe(
        fc.constantFrom('1.36-2026.02.11', '1.36-2026.03.17').map((value) => ({ ok: true, value }) as const),
      ),
      prerequisites: maybe(
        fc
          .tuple(randomTemplate, randomSecurityGroups)
          .map(([launchTemplate, securityGroups]) => sampleFacts({ launchTemplate, securityGroups })),
      ),
      ownTemplate: maybe(randomOwnTemplate),
      autoscaler: maybe(randomAutoscaler),
      otherPools: fc.record({ disrupted: fc.subarray(['api', 'batch']), failures: fc.subarray([RELEASE_FAILURE]) }),
      errors: fc.array(
        fc.record({
          at: fc.constant(NOW),
          step: fc.constantFrom(
            'writeAhead',
            'createLaunchTemplate',
            'createLaunchTemplateVersion',
            'deleteLaunchTemplateVersions',
            'deleteLaunchTemplate',
            'createNodeGroup',
            'updateConfig',
            'updateNodeGroupVersion',
            'correctScalingTags',
            'deleteNodeGroup',
            'createRuntimeClass',
            'labelNode',
            'taintNode',
            'setNodeCondition',
            'describeUpdate',
          ),
          error: randomError,
        }),
        { maxLength: 2 },
      ),
    })
    .chain(({ nodes, second, ...known }): fc.Arbitrary<EksDerived> => {
      const rest = { ...known, ...(second && { second }) };
      const expected = expectationIn({ pool, settings, ...rest });
      const seen = isMarked ? randomMembership(pool, nodes).map((membership) => ({ membership })) : fc.constant({});
      return fc.tuple(seen, randomNodePods(pool, nodes)).map(([membership, nodePods]) => {
        const poolNodes = new PoolNodes(nodes, expected, NOW, (node) => podsOn(nodePods, node));
        return derive({ pool, now: NOW, settings, poolNodes, ...membership, nodePods, ...rest });
      });
    });
}
