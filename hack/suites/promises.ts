/**
 * What the suites in test/ prove against a real API server, and which of them `make test` runs. `make test` has the cheapest proof of each promise.
 * What the tests in memory enumerate, what takes minutes, and what needs more tools is left to `make test-all`.
 */

/** A promise to users, and where it is proved. */
export interface ProvedPromise {
  /** Completes "It is tested that ...". */
  readonly promise: string;
  /** Tests without an API server that prove it: files or folders of unit tests. */
  readonly inMemory?: readonly string[];
  /** Suites that `make test` runs: paths below test/, without `.test.ts`. */
  readonly test?: readonly string[];
  /** Suites that only `make test-all` runs. */
  readonly testAll?: readonly string[];
}

const DOMAIN = 'controllers/windowspool';
const NODE_GROUP = `${DOMAIN}/providers/nodeGroup`;
const EXISTING = `${DOMAIN}/providers/existing`;

export const promises: readonly ProvedPromise[] = [
  {
    promise: 'a pool creates its node group and RuntimeClass, becomes Ready, and deletes or retains them',
    inMemory: [`${DOMAIN}/reconcile.test.ts`, `${NODE_GROUP}/desired/retain.test.ts`, 'test/fakes/simulation'],
    test: ['pool/lifecycle', 'pool/versions', 'engine/runtimeClasses'],
  },
  {
    promise: 'the API server rejects what cannot work, with a message that says what to write',
    inMemory: [`${DOMAIN}/anySpec.test.ts`],
    test: ['pool/schema'],
  },
  {
    promise: 'kubectl apply, diff, scale, wait, explain and describe work, and a second apply changes nothing',
    test: ['pool/apply', 'pool/kubectl', 'pool/golden'],
  },
  {
    promise: 'a change of the spec sends EKS the smallest change, and drift is corrected or reported',
    inMemory: [`${DOMAIN}/plan.test.ts`, `${NODE_GROUP}/drift.test.ts`, `${NODE_GROUP}/changes/groupChanges.test.ts`],
    test: ['pool/changes', 'pool/drift'],
  },
  {
    promise: 'an autoscaler and the operator share the size of a node group',
    inMemory: [`${NODE_GROUP}/desired/autoscalerTags.test.ts`, `${DOMAIN}/reconcileWarmPool.test.ts`],
    test: ['pool/scaling'],
  },
  {
    promise: 'launch templates, custom AMIs, user data and subnets are those of the spec',
    inMemory: [`${NODE_GROUP}/launchTemplate`, `${NODE_GROUP}/desired/subnets.test.ts`],
    test: ['pool/customAmi', 'pool/launchTemplate', 'pool/launchSettings'],
  },
  {
    promise: 'only a node group that allows it is adopted, and it is released as it was',
    inMemory: [`${NODE_GROUP}/desired/adoption.test.ts`],
    test: ['pool/adoption'],
  },
  {
    promise: 'errors of AWS are reported with their remedy and retried within limits',
    inMemory: [
      `${DOMAIN}/reconcileTrouble.test.ts`,
      `${NODE_GROUP}/reporting/healthIssues.test.ts`,
      'controllers/aws/errors.test.ts',
    ],
    test: ['pool/failures'],
  },
  {
    promise: 'a new pool needs three calls to EKS, and a Ready pool none but its resync',
    inMemory: [`${DOMAIN}/schedule.test.ts`],
    test: ['pool/calls'],
  },
  {
    promise: 'a missing prerequisite is named with its remedy before a node group is created',
    inMemory: [`${NODE_GROUP}/checks`, `${DOMAIN}/reconcilePrerequisites.test.ts`],
    test: ['prerequisites/firstPool', 'prerequisites/rights'],
    testAll: ['prerequisites/prerequisites', 'prerequisites/causes'],
  },
  {
    promise: 'Windows IPAM is enabled only where that is configured',
    inMemory: [`${DOMAIN}/reconcileWindowsIpam.test.ts`, `${NODE_GROUP}/windowsIpam`],
    testAll: ['prerequisites/windowsIpam'],
  },
  {
    promise: 'updates follow the policy, take turns, and are reported when they fail',
    inMemory: [`${NODE_GROUP}/versions`, `${DOMAIN}/disruption/reservation.test.ts`],
    test: [
      'upgrades/automaticUpdates',
      'upgrades/disruption',
      'upgrades/evictions',
      'upgrades/gatedUpdate',
      'upgrades/olderVersion',
      'upgrades/upgrade',
    ],
  },
  {
    promise: 'a second node group replaces one that EKS cannot change, or tries an update first',
    inMemory: [`${NODE_GROUP}/secondGroup`, `${DOMAIN}/reconcileReplacement.test.ts`],
    test: ['upgrades/blueGreen', 'upgrades/canary'],
  },
  {
    promise: 'every node is verified, and its build, label and addresses are compared',
    inMemory: [`${DOMAIN}/nodes`],
    test: ['nodes/verification', 'engine/nodes'],
  },
  {
    promise: 'no pod is scheduled to a node behind the gate or in quarantine',
    inMemory: [`${NODE_GROUP}/changes/gateTaintFallback.test.ts`, `${DOMAIN}/nodes/nodeTaints.test.ts`],
    test: ['nodes/gate', 'nodes/quarantine', 'nodes/readinessRule'],
  },
  {
    promise: 'images are pulled and tested on new nodes before they are verified',
    inMemory: [`${DOMAIN}/nodePods`],
    test: ['nodes/imagePull', 'nodes/smokeTest', 'engine/nodePods'],
  },
  {
    promise:
      'the nodes of Karpenter are gated, verified and replaced, and its NodePool is kept within budget and windows',
    inMemory: [`${DOMAIN}/providers/karpenter`, 'controllers/kubernetes/karpenter.test.ts'],
    testAll: ['karpenter/karpenter', 'karpenter/killed'],
  },
  {
    promise: 'the nodes of Machines are verified, replaced and removed with their Machines, if their object allows it',
    inMemory: [`${DOMAIN}/providers/machines`, 'controllers/kubernetes/machines.test.ts'],
    testAll: ['machines/clusterApi', 'machines/killed', 'machines/managementCluster', 'machines/openshift'],
  },
  {
    promise: 'existing nodes are taken over and restored exactly',
    inMemory: [EXISTING],
    test: ['nodes/existingNodes', 'nodes/windowsInstances', 'nodeOperations/existingNodesDrain'],
    testAll: ['hostile/listedHost'],
  },
  {
    promise: 'a node is drained within the budget, and its instance is terminated once',
    inMemory: [`${DOMAIN}/disruption`, 'controllers/kubernetes/drains.test.ts'],
    test: [
      'nodeOperations/deadNodes',
      'nodeOperations/drainedPods',
      'nodeOperations/remediation',
      'nodeOperations/replacing',
      'nodeOperations/turns',
    ],
  },
  {
    promise: 'a crash of the operator between any two requests is harmless',
    inMemory: ['test/fakes/simulation/life.test.ts'],
    test: ['crash/poolInMemory', 'crash/nodeOperationsInMemory', 'crash/replacementsInMemory'],
    testAll: ['crash/pool', 'crash/nodeOperations', 'crash/crashPoints', 'crash/killAtEach'],
  },
  {
    promise: 'only one replica writes, also when it is paused or another client edits the Lease',
    inMemory: ['test/fakes/simulation/replicas.test.ts', 'controllers/runtime/leaderElection.test.ts'],
    test: ['engine/replicas', 'engine/leases'],
    testAll: ['hostile/pausedLeader', 'hostile/pausedWhileSending', 'hostile/leaseVandalism', 'hostile/wrongClock'],
  },
  {
    promise: 'a user who may edit pools gets nothing that others did not allow',
    inMemory: [`${NODE_GROUP}/launchTemplate/kubelet.test.ts`, `${DOMAIN}/runtimeClass`],
    test: ['hostile/poolEditor'],
  },
  {
    promise: 'a kubelet that lies harms only its own node',
    inMemory: ['controllers/kubernetes/hostileNodes.test.ts', `${DOMAIN}/anyText.test.ts`],
    test: [
      'hostile/fatNode',
      'hostile/forgedRecord',
      'hostile/poisonedNode',
      'hostile/relabelledNode',
      'hostile/thirdHands',
    ],
  },
  {
    promise: 'a cluster that is restored from a backup loses and doubles no node group',
    inMemory: ['test/fakes/simulation/backups.test.ts'],
    testAll: ['hostile/restoredEtcd'],
  },
  {
    promise: 'answers of AWS that are wrong or old lose no node group',
    inMemory: [
      'controllers/windowspool/reconcileOddAnswers.test.ts',
      'test/fakes/simulation/replicas.test.ts',
      'controllers/aws/validateResponse.test.ts',
    ],
    test: ['hostile/lyingEks'],
    testAll: ['hostile/eventualConsistency'],
  },
  {
    promise: 'an API server that is down, old, slow or broken is survived within the memory limit',
    inMemory: ['controllers/runtime/reflector.test.ts', 'controllers/kubernetes/bounds.test.ts'],
    test: ['engine/apiServer', 'engine/apiServerVersion'],
    testAll: ['hostile/brokenServer', 'engine/rotation'],
  },
  {
    promise: 'the cache equals the API server, also in protobuf and after a restart',
    inMemory: ['controllers/runtime/store.test.ts', 'controllers/kubernetes/protobufDecoder.test.ts'],
    test: ['engine/nodesProtobuf', 'engine/reflecting', 'engine/pools', 'engine/events'],
  },
  {
    promise: 'metrics, alerts and dashboards show what kubectl shows',
    inMemory: [`${DOMAIN}/reporting/poolSamples.test.ts`, 'cmd/operator'],
    test: [
      'monitoring/alertRules',
      'monitoring/dashboards',
      'monitoring/fleetDashboards',
      'monitoring/metricsEndpoint',
      'monitoring/windowsExposition',
    ],
    testAll: ['monitoring/inhibition', 'monitoring/prometheus', 'hostile/floodedMetrics'],
  },
  {
    promise: 'the manifests, the chart and the bundle install an operator that works as in a pod',
    inMemory: ['hack/release'],
    test: [
      'packaging/bundle',
      'packaging/chart',
      'packaging/dockerfile',
      'packaging/lazyImports',
      'packaging/overlays',
      'packaging/renamedRelease',
    ],
    testAll: ['packaging/helm', 'packaging/release'],
  },
  {
    promise: 'the operator works in pods of its image on real nodes, through rollouts, drains and failures',
    inMemory: ['controllers/runtime/leaderElection.test.ts', 'hack/image'],
    // They need root, and packages of Debian that a mirror may no longer have.
    testAll: ['pods/awsIdentity', 'pods/container', 'pods/release', 'pods/rollouts', 'pods/rotation'],
  },
  {
    promise:
      'the image is reproducible, holds only pinned packages, runs without privileges, and is signed in a registry',
    inMemory: ['hack/image', 'hack/supplyChain'],
    testAll: ['packaging/image', 'packaging/registry'],
  },
  {
    promise: 'an upgrade of the operator changes no pool, and an uninstallation in the wrong order can be repaired',
    test: ['packaging/operatorUpgrade', 'packaging/previousOperator', 'packaging/uninstall'],
    testAll: ['pods/upgrade'],
  },
  {
    promise: 'an operator reports that the CRD is of another release, and each field that is lost because of it',
    inMemory: ['controllers/kubernetes/crdVersion.test.ts'],
    test: ['packaging/versionSkew'],
  },
  {
    promise: 'the operator has the permissions that it needs, and no others',
    inMemory: [`${DOMAIN}/policyStatements.test.ts`, 'test/fakes/localaws/iam/shippedPolicy.test.ts'],
    test: ['packaging/admission'],
    testAll: ['packaging/rareRights'],
  },
  {
    promise: 'Argo CD and Flux show the health of a pool, and change nothing twice',
    inMemory: [`${DOMAIN}/conditions/evaluateConditions.test.ts`],
    testAll: ['gitops/gitops', 'gitops/argoCd', 'gitops/argoCdApplications', 'gitops/flux', 'gitops/recordedPools'],
  },
  {
    promise: 'kubectl windowspool shows what is wrong and does what it says',
    inMemory: ['cmd/kubectl-windowspool'],
    test: ['plugin/status', 'plugin/operations'],
    testAll: ['plugin/doctor', 'plugin/executable', 'plugin/images', 'plugin/lint', 'plugin/migrate'],
  },
  {
    promise: 'pods that cannot run on Windows are found by the policies as by the linter',
    inMemory: ['controllers/workloads'],
    test: ['workloads/policies', 'workloads/runtimeClassDefaulting'],
  },
  {
    promise: 'the pages name only what exists, and their commands work',
    test: ['docs/pages'],
    testAll: ['docs/walkthrough'],
  },
  {
    promise: 'the benchmarks run, compare equal caches, and find no needless write',
    inMemory: ['hack/bench'],
    test: ['bench/sections'],
    // It needs root, packages of Debian, and a build of Karpenter.
    testAll: ['bench/pod'],
  },
  {
    promise: 'make e2e tests a pool on EKS and leaves nothing behind',
    inMemory: ['hack/e2e'],
    testAll: ['e2e/e2e'],
  },
  {
    promise: 'the local Kubernetes, the local AWS and the machines of Cluster API behave like the real ones',
    inMemory: ['test/fakes/localaws', 'hack/controlplane'],
    testAll: [
      'testenv/cloud',
      'testenv/cloudRollout',
      'testenv/clusterApi',
      'testenv/clusterApiReplacement',
      'testenv/controlplane',
      'testenv/controlplaneLifecycle',
      'testenv/messages',
      'testenv/realNodes',
      'testenv/tools',
      'testenv/waitForPool',
    ],
  },
];

/** The files of the suites that a target runs. */
export function suitesOf(target: 'test' | 'test-all'): string[] {
  return promises
    .flatMap(({ test = [], testAll = [] }) => (target === 'test' ? test : [...test, ...testAll]))
    .map((suite) => `test/${suite}.test.ts`);
}

/** Whether a suite runs with real nodes: see hack/realnode. */
export function needsRealNodes(file: string): boolean {
  return file.startsWith('test/pods/');
}
