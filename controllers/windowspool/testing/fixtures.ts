/** Short constructors of the domain's objects for tests. Each object is complete and healthy; a test only sets the differences. */

import type { NodeGroupSpec, Tracking, WindowsPool, WindowsPoolSpec, WindowsPoolStatus } from '../api/api.gen.ts';
import { FINALIZER } from '../api/labels.ts';
import { withoutSteps } from '../derive.ts';
import type { ReleaseFailure } from '../model/disruption.ts';
import type { Derived } from '../model/due.ts';
import type { Settings } from '../model/observedState.ts';
import type { RunResult } from '../model/outcome.ts';
import type { Expectation } from '../model/poolNodesView.ts';
import { tolerationsOn } from '../nodePods/need.ts';
import { podsOn } from '../nodePods/preparation.ts';
import { expectationOf } from '../nodes/expectation.ts';
import { roleArnOf } from '../nodes/nodeRole.ts';
import { PoolNodes } from '../nodes/poolNodes.ts';
import { planFor } from '../plan.ts';
import type { CallError, CallErrorKind } from '../ports/callResult.ts';
import type { Cluster, NewNodeGroup, NodeGroup } from '../ports/eks.ts';
import type { KarpenterView } from '../ports/karpenter.ts';
import type { MachinesView } from '../ports/machines.ts';
import type { NodePod } from '../ports/nodePods.ts';
import type { NodeRecord } from '../ports/nodes.ts';
import type { LaunchTemplate } from '../ports/prerequisites.ts';
import type { RuntimeClass } from '../ports/runtimeClasses.ts';
import { desiredFields, entriesOf } from '../providers/nodeGroup/changes/appliedFields.ts';
import { desiredNodeGroup } from '../providers/nodeGroup/desired/desiredNodeGroup.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import type { EksState } from '../providers/nodeGroup/model/groupState.ts';
import { expectationOfGroups } from '../providers/nodeGroup/observation/knownGroups.ts';
import { nodeGroupIn } from '../rules/nodeSource.ts';
import { runtimeClassFor } from '../runtimeClass/runtimeClass.ts';
import { derive } from './derived.ts';

export const NOW = Date.parse('2026-03-01T12:00:00Z');
export const MINUTE = 60_000;

export const settings: Settings = {
  defaultTags: {},
  clusterName: 'prod',
  region: 'eu-west-1',
  pollMs: 20_000,
  resyncMs: 600_000,
  joinGraceMs: 15 * MINUTE,
  createRetryMs: 15 * MINUTE,
  deniedRetryMs: MINUTE,
  maxPoolsUpdating: 1,
  managesElsewhere: false,
  enableWindowsIpam: false,
  enableNodeGroupAdoption: true,
  docsUrl: 'https://docs.example',
};

export const CLUSTER_ARN = 'arn:aws:eks:eu-west-1:111122223333:cluster/prod';
export const GROUP_ARN = 'arn:aws:eks:eu-west-1:111122223333:nodegroup/prod/web/0a1b';

/** The release of the sample group, and the one after it. */
export const RELEASE = '1.36-2026.02.11';
export const NEXT = '1.36-2026.03.17';

/** The subnets of the cluster; the sample pool has the first two. */
export const SUBNETS = ['subnet-0a000000', 'subnet-0b000000', 'subnet-0c000000'] as const;

/** The metadata of an object that is deleted. */
export const LEAVING = { deletionTimestamp: '2026-03-01T12:00:00Z' };

/** The security group of the cluster. */
export const CLUSTER_SECURITY_GROUP = 'sg-0a000000';

/** The EKS cluster that the operator runs in. */
export function sampleCluster(change: Partial<Cluster> = {}): Cluster {
  return {
    name: 'prod',
    arn: CLUSTER_ARN,
    endpoint: 'https://0A1B2C3D4E5F.gr7.eu-west-1.eks.amazonaws.com',
    certificateAuthority: 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t',
    serviceCidr: '172.20.0.0/16',
    roleArn: 'arn:aws:iam::111122223333:role/eks-cluster',
    vpcId: 'vpc-0a1b2c3d',
    securityGroup: CLUSTER_SECURITY_GROUP,
    status: 'ACTIVE',
    kubernetesVersion: '1.36',
    ipFamily: 'ipv4',
    authenticationMode: 'API_AND_CONFIG_MAP',
    autoMode: false,
    isOurs: true,
    ...change,
  };
}

type Deep<T> = T extends readonly unknown[] ? T : T extends object ? { [K in keyof T]?: Deep<T[K]> | undefined } : T;

/** A change of the spec of a sample pool, merged into nodeGroup, its scaling, verification and runtimeClass. */
export type SpecChange = Deep<WindowsPoolSpec>;

/** A pool with a node group. */
export type NodeGroupPool = WindowsPool & { spec: { nodeGroup: NodeGroupSpec } };

/** A pool of three Windows 2022 nodes, as the API server stores it. */
export function samplePool(
  spec: Deep<WindowsPoolSpec> = {},
  rest: { metadata?: Partial<WindowsPool['metadata']>; status?: WindowsPoolStatus } = {},
): NodeGroupPool {
  const { nodeGroup, verification, runtimeClass, ...top } = spec;
  return {
    apiVersion: 'winpool.dev/v1alpha1',
    kind: 'WindowsPool',
    metadata: {
      name: 'web',
      uid: 'uid-web',
      resourceVersion: '7',
      generation: 1,
      creationTimestamp: '2026-03-01T11:00:00Z',
      finalizers: [FINALIZER],
      ...rest.metadata,
    },
    spec: {
      windowsVersion: 'Windows2022',
      nodeGroup: {
        edition: 'Core',
        nodeRole: 'arn:aws:iam::111122223333:role/windows-nodes',
        accessEntryManagement: 'EKS',
        subnets: SUBNETS.slice(0, 2).map((id) => ({ id })),
        instanceTypes: ['m5.large'],
        capacityType: 'OnDemand',
        diskSizeGiB: 50,
        adoption: 'Never',
        update: { policy: 'Manual', force: false },
        driftPolicy: 'Correct',
        immutableChangePolicy: 'Reject',
        ...nodeGroup,
        scaling: { minSize: 3, maxSize: 5, ...nodeGroup?.scaling },
      },
      registrationTaint: 'OSWindows',
      verification: { policy: 'Report', ...verification },
      runtimeClass: {
        handler: 'runhcs-wcow-process',
        adoption: 'Never',
        ...runtimeClass,
      },
      deletionPolicy: 'Delete',
      paused: false,
      ...top,
    } as NodeGroupPool['spec'],
    ...(rest.status && { status: rest.status }),
  };
}

/** A pool of the nodes with the label site=fra, as the API server stores it. */
export function existingPool(
  spec: Partial<WindowsPoolSpec> = {},
  rest: { metadata?: Partial<WindowsPool['metadata']>; status?: WindowsPoolStatus } = {},
): WindowsPool {
  const { nodeGroup: _group, ...common } = samplePool().spec;
  const existingNodes = { selector: { matchLabels: { site: 'fra' } } };
  return { ...samplePool({}, rest), spec: { ...common, existingNodes, ...spec } };
}

/** The record of a pool whose group was created from the sample pool's spec. */
export const APPLIED = entriesOf(desiredFields(samplePool()));

/** The status of a pool whose group was created. */
export function knownStatus(
  change: Partial<NonNullable<WindowsPoolStatus['nodeGroup']>> & Tracking = {},
): WindowsPoolStatus {
  const { applied = APPLIED, scalingTags, lastAppliedDesiredSize, gateTaint, ...nodeGroup } = change;
  const tracking = {
    applied,
    ...(scalingTags && { scalingTags }),
    ...(lastAppliedDesiredSize !== undefined && { lastAppliedDesiredSize }),
    ...(gateTaint !== undefined && { gateTaint }),
  };
  return {
    cluster: { name: 'prod', arn: CLUSTER_ARN },
    nodeGroup: { name: 'web', arn: GROUP_ARN, status: 'ACTIVE', ...nodeGroup },
    runtimeClass: { name: 'windows-2022' },
    tracking,
  };
}

/** The launch template of a group that was created with this request: EKS returns ID, name and number in any case. */
function templateOfGroup({ launchTemplate }: Pick<NewNodeGroup, 'launchTemplate'>): NodeGroup['launchTemplate'] {
  return launchTemplate && { id: 'lt-0a1b2c3d', name: 'windows', version: launchTemplate.version };
}

/** A version of that template that EKS accepts, without an instance type. */
export function sampleTemplate(version: string, change: Partial<LaunchTemplate> = {}): LaunchTemplate {
  return { id: 'lt-0a1b2c3d', name: 'windows', version, instanceType: undefined, forbidden: [], ...change };
}

/** The request for the group of a pool whose subnets are selected by ID. */
export function newNodeGroup(pool: WindowsPool): NewNodeGroup {
  const { nodeRole, subnets } = nodeGroupIn(pool.spec);
  return {
    ...desiredNodeGroup(pool),
    nodeRoleArn: roleArnOf(nodeRole, sampleCluster()),
    subnets: subnets.map(({ id = '' }) => id),
  };
}

/** The group that EKS has for the pool when it matches the spec. */
export function sampleGroup(pool: WindowsPool = samplePool(), change: Partial<NodeGroup> = {}): NodeGroup {
  const { update, ...desired } = newNodeGroup(pool);
  return {
    ...desired,
    diskSizeGiB: desired.diskSizeGiB,
    launchTemplate: templateOfGroup(desired),
    update: { maxUnavailable: '1', strategy: 'Default', ...update },
    warmPool: desired.warmPool,
    arn: GROUP_ARN,
    status: 'ACTIVE',
    kubernetesVersion: '1.36',
    releaseVersion: RELEASE,
    healthIssues: [],
    autoScalingGroups: ['eks-web-0a1b'],
    createdAt: NOW - 60 * MINUTE,
    modifiedAt: NOW - 60 * MINUTE,
    ...change,
  };
}

const AUTOSCALER_TAG = 'k8s.io/cluster-autoscaler/node-template/';

/** The tags of that group's scaling group, as the cluster-autoscaler needs them. */
export const SCALING_TAGS: Readonly<Record<string, string>> = {
  [`${AUTOSCALER_TAG}label/kubernetes.io/os`]: 'windows',
  [`${AUTOSCALER_TAG}label/kubernetes.io/arch`]: 'amd64',
  [`${AUTOSCALER_TAG}label/node.kubernetes.io/windows-build`]: '10.0.20348',
  [`${AUTOSCALER_TAG}label/winpool.dev/pool`]: 'web',
  [`${AUTOSCALER_TAG}label/winpool.dev/windows-build`]: '10.0.20348',
  [`${AUTOSCALER_TAG}resources/vpc.amazonaws.com/PrivateIPv4Address`]: '9',
  [`${AUTOSCALER_TAG}resources/ephemeral-storage`]: '50Gi',
  [`${AUTOSCALER_TAG}taint/os`]: 'windows:NoSchedule',
};

/** A group whose maxSize is one less than the sample pool's, and the update that corrects it. */
export const SMALLER = { scaling: { minSize: 3, maxSize: 4, desiredSize: 3 } };
export const GROW = { scaling: { maxSize: 5 } };

/** A healthy Windows 2022 node, an hour old. */
export function sampleNode(change: Partial<NodeRecord> = {}): NodeRecord {
  const name = change.name ?? 'ip-10-0-1-21.eu-west-1.compute.internal';
  return {
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    createdAt: NOW - 60 * MINUTE,
    deleting: false,
    labels: {
      'kubernetes.io/os': 'windows',
      'kubernetes.io/arch': 'amd64',
      'node.kubernetes.io/windows-build': '10.0.20348',
      'eks.amazonaws.com/nodegroup': 'web',
    },
    ownership: '',
    annotations: {},
    unschedulable: false,
    providerID: `aws:///eu-west-1a/i-${name.replace(/\D/g, '')}`,
    taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }],
    ready: 'True',
    readyReason: 'KubeletReady',
    readyMessage: '',
    verified: { status: 'True', reason: 'ChecksPassed', message: 'WindowsPool web: passes every check.' },
    verifiedSince: NOW - 60 * MINUTE,
    conditions: ['MemoryPressure=False', 'DiskPressure=False', 'PIDPressure=False'],
    kernelVersion: '10.0.20348.2762',
    containerRuntimeVersion: 'containerd://2.1.6',
    images: ['mcr.microsoft.com/oss/kubernetes/pause:3.10'],
    runtimeHandlers: ['', 'runhcs-wcow-hypervisor', 'runhcs-wcow-process'],
    kubeletVersion: 'v1.36.1-eks-1234567',
    operatingSystem: 'windows',
    architecture: 'amd64',
    addresses: [name],
    capacity: { memory: '8388608Ki', 'vpc.amazonaws.com/PrivateIPv4Address': '9' },
    allocatable: { memory: '6291456Ki', 'vpc.amazonaws.com/PrivateIPv4Address': '9' },
    unreadable: '',
    ...change,
  };
}

/** Healthy nodes ip-10-0-1-1 and so on. */
export function sampleNodes(count: number): NodeRecord[] {
  return Array.from({ length: count }, (_, i) => sampleNode({ name: `ip-10-0-1-${i + 1}.eu-west-1.compute.internal` }));
}

/** The pool's RuntimeClass as the pool created it. */
export function sampleRuntimeClass(pool: WindowsPool = samplePool(), change: Partial<RuntimeClass> = {}): RuntimeClass {
  const { name, uid } = pool.metadata;
  return {
    ...runtimeClassFor(pool),
    uid: 'uid-rc',
    resourceVersion: '1',
    deleting: false,
    managed: true,
    managedBy: 'windowspool-operator',
    owners: [{ name, uid }],
    ...change,
  };
}

/** The newest release, on which a node of another pool fails. */
export const RELEASE_FAILURE: ReleaseFailure = {
  pool: 'api',
  kind: 'WINDOWS_CORE_2022_x86_64',
  release: NEXT,
  node: 'ip-10-0-9-1',
  finding: 'WrongBuild: runs build 10.0.17763',
};

/** A change of the observed state, or the nodes of its pool. */
export type ObservedStateChange = Partial<EksState> & {
  readonly nodes?: readonly NodeRecord[];
  readonly karpenter?: KarpenterView;
  readonly machines?: MachinesView;
};

/** A pod of the operator that was just created for a node. */
export function sampleNodePod(change: Partial<NodePod> = {}): NodePod {
  const name = change.name ?? 'image-pull-0a1b-1';
  return {
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    purpose: 'image-pull',
    pool: 'web',
    node: sampleNode().name,
    nodeUid: sampleNode().uid,
    createdAt: NOW,
    deleting: false,
    retry: '',
    image: 'mcr.microsoft.com/windows/servercore:ltsc2022',
    tolerates: tolerationsOn(sampleNode(), samplePool().spec).map(({ key = '' }) => key),
    phase: 'Pending',
    reason: '',
    message: '',
    isScheduled: false,
    unscheduled: '',
    hasAddress: false,
    containers: [],
    changedAt: change.createdAt ?? NOW,
    ...change,
  };
}

/** A settled pool of three verified nodes, with the parts of `change` replaced. */
export function sampleState({ nodes = sampleNodes(3), ...change }: ObservedStateChange = {}): EksDerived {
  const { nodePods = { kind: 'seen', pods: [] } } = change;
  const pool = change.pool ?? samplePool({}, { status: knownStatus() });
  const serverVersion = 'v1.36.3';
  const group = change.group ?? { kind: 'seen', group: sampleGroup(pool) };
  const expected = expectationIn({ pool, group, serverVersion, settings });
  return derive({
    pool,
    now: NOW,
    settings,
    cluster: {
      kind: 'seen',
      cluster: sampleCluster(),
    },
    group,
    update: undefined,
    poolNodes: new PoolNodes(nodes, expected, change.now ?? NOW, (node) => podsOn(nodePods, node)),
    nodePods,
    prerequisites: undefined,
    newestRelease: undefined,
    autoscaler: undefined,
    instances: undefined,
    runtimeClass: sampleRuntimeClass(pool),
    formerRuntimeClass: undefined,
    serverVersion,
    otherPools: { disrupted: [], failures: [] },
    errors: [],
    ...change,
  });
}

export function sampleError(kind: CallErrorKind, change: Partial<CallError> = {}): CallError {
  return { kind, operation: 'DescribeNodegroup', code: `${kind}Exception`, message: `the call was ${kind}`, ...change };
}

/** The outcome of a run that took no step and ends in this state. */
export function outcomeOf<D extends Derived>(after: D): RunResult<D> {
  return withoutSteps(after, planFor(after).decisions);
}

/** What the nodes of the pool in this state are verified against. */
export function expectationIn(
  s: Pick<EksState, 'pool' | 'group' | 'second' | 'serverVersion' | 'settings'>,
): Expectation {
  return expectationOf(s.pool, expectationOfGroups(s), s.serverVersion, s.settings.joinGraceMs);
}

/** What the nodes of a pool with this spec are verified against. */
export function sampleExpectation(spec: SpecChange = {}, rest: Partial<Expectation> = {}): Expectation {
  const taints = { gate: false, quarantine: false };
  return {
    spec: samplePool(spec).spec,
    serverVersion: 'v1.36.3',
    joinGraceMs: 15 * MINUTE,
    taints,
    reportedBy: 'web',
    ...rest,
  };
}
