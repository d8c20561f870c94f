/** Pools of Karpenter with its real core. Its provider is the simulated one, and the nodes run on kwok. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { GATE_TAINT_KEY } from '../../controllers/windowspool/api/labels.ts';
import { KARPENTER, type Karpenter, startKarpenter } from '../fakes/karpenter/karpenter.ts';
import { conditionOf, messageOf, READY } from '../fakes/testenv/testEnv.ts';
import { withOperator } from '../sharedWorld.ts';
import { changeRole, deployment, onDemandPool } from './karpenterFixture.ts';

const SAMPLES = fileURLToPath(new URL('../../config/samples/karpenter/', import.meta.url));
/** Karpenter looks for nodes to disrupt every ten seconds, and waits again before it does. */
const DISRUPTION_MS = 150_000;
/** Windows that do not open during the tests. */
const NEVER = { maintenanceWindows: [{ schedule: '0 0 29 2 *', duration: '1h' }] };

describe('a pool of Karpenter', function () {
  this.timeout(120_000);
  const fixture = withOperator('--resync-interval=5s', '--join-grace=20s');
  let karpenter: Karpenter;

  before(async function () {
    this.timeout(900_000);
    await changeRole(fixture.world, 'apply');
    karpenter = await startKarpenter(fixture.world.controlPlane, (line) => console.log(`    ${line}`));
  });
  after(async () => {
    await fixture.world.kubectl('delete', 'deployments', '--all', '--timeout=20s');
    await fixture.world.kubectl('delete', 'windowspools', '--all', '--timeout=60s');
    await karpenter?.uninstall();
    await changeRole(fixture.world, 'delete');
  });

  const nodesOf = async (name: string): Promise<string[]> => {
    const claims = await karpenter.claims(name);
    return claims.flatMap(({ status }) => status?.nodeName ?? []).sort();
  };
  const isAvailable = (name: string) =>
    fixture.world.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=60s');

  /** Waits until the pool has this many verified nodes, all NodeClaims have one, and none leaves. */
  const settled = (name: string, size: number) =>
    fixture.world.waitForPool(
      name,
      `to have ${size} verified nodes and no node that leaves`,
      (found) =>
        found?.status?.nodes?.verified === size &&
        found.status.karpenter?.nodeClaims === size &&
        found.status.karpenter.deleting === 0 &&
        found.status.nodes.total === size &&
        found.status.disruption === undefined &&
        conditionOf(found, 'NodePoolReady') === 'True/NodePoolReady',
      DISRUPTION_MS,
    );

  it('is Ready without nodes, gates those that Karpenter creates for pods, and lets the pods run on verified ones', async () => {
    await fixture.world.apply(onDemandPool('web', { verification: { policy: 'Gate' } }));
    const empty = await fixture.world.waitForConditions(
      'web',
      'Ready=True/NoNodes',
      'NodePoolReady=True/NodePoolReady',
    );
    assert.equal(messageOf(empty, 'NodePoolReady'), 'NodePool web has 0 NodeClaims.');
    await fixture.world.apply(deployment('web', 2));
    await settled('web', 2);
    await isAvailable('web');
    for (const name of await nodesOf('web')) {
      const node = JSON.parse(await fixture.world.kubectl('get', 'node', name, '-o', 'json'));
      const taints = (node.spec.taints as { key: string }[]).map(({ key }) => key);
      assert.deepEqual(taints, ['os']);
      assert.match(node.metadata.annotations['winpool.dev/ownership'], /"gated":true/);
    }
    const startupTaints = (await karpenter.claims('web')).flatMap(({ spec }) => spec.startupTaints ?? []);
    assert.deepEqual(new Set(startupTaints.map(({ key }) => key)), new Set([GATE_TAINT_KEY]));
  });

  it('writes neither its NodePool nor its nodes once it is settled', async () => {
    const versions = () =>
      fixture.world.kubectl(
        ...['get', 'nodepools,nodes', '-o'],
        'jsonpath={range .items[*]}{.metadata.name}={.metadata.managedFields[?(@.manager=="windowspool-operator")].time} {end}',
      );
    const before = await versions();
    const reconciled = async () => {
      const { body } = await fixture.operator.get('/metrics');
      const counts = body.matchAll(/^controller_runtime_reconcile_total\{.*\} (\d+)$/gm);
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const first = await reconciled();
    await fixture.until('three reconciliations', async () => (await reconciled()) >= first + 3);
    assert.equal(await versions(), before);
  });

  it('replaces an annotated node by deleting its NodeClaim, which Karpenter drains', async () => {
    const [first = '', ...others] = await nodesOf('web');
    await fixture.world.kubectl('annotate', 'node', first, 'winpool.dev/replace=true');
    await fixture.until('the node to be gone', async () => !(await nodesOf('web')).includes(first));
    await settled('web', 2);
    await isAvailable('web');
    for (const name of others) assert.ok((await nodesOf('web')).includes(name));
  });

  it('replaces a node of another build, onto which no pod was scheduled', async function () {
    this.timeout(2 * DISRUPTION_MS);
    karpenter.windowsBuild = '10.0.17763.5000';
    const remediation = { policy: 'Replace', unhealthyAfter: '1m', maxUnhealthy: 1 };
    await fixture.world.apply(onDemandPool('web', { verification: { policy: 'Gate' }, remediation }));
    const before = await nodesOf('web');
    await fixture.world.kubectl('scale', 'deployment', 'web', '--replicas=3');
    const wrong = await fixture.until('a node of another build', async () =>
      (await nodesOf('web')).find((name) => !before.includes(name)),
    );
    await fixture.world.waitForConditions('web', 'NodesVerified=False/WrongBuild');
    await fixture.world.waitForPool('web', 'to name the pod that waits for the node', (found) =>
      new RegExp(`1 pod may wait for ${wrong}, .*: default/web-`).test(messageOf(found, 'NodePoolReady')),
    );
    assert.equal((await nodesOf('web')).length, 3, 'Karpenter starts no other node for the pod');
    karpenter.windowsBuild = '10.0.20348.2762';
    await karpenter.until('it to be gone', async () => !(await nodesOf('web')).includes(wrong), DISRUPTION_MS);
    await settled('web', 3);
    await isAvailable('web');
    const pods = await fixture.world.kubectl(
      'get',
      'events',
      '-o',
      'jsonpath={.items[?(@.reason=="Scheduled")].message}',
    );
    assert.ok(!pods.includes(wrong), pods);
  });

  it('replaces no failing node while Karpenter runs with NodeRepair', async () => {
    const containers = [
      {
        name: 'controller',
        image: 'registry.example/karpenter',
        env: [{ name: 'FEATURE_GATES', value: 'NodeRepair=true' }],
      },
    ];
    const labels = { 'app.kubernetes.io/name': 'karpenter' };
    const metadata = { name: 'karpenter', namespace: 'default', labels };
    const template = { metadata: { labels }, spec: { containers } };
    const spec = { replicas: 0, selector: { matchLabels: labels }, template };
    await fixture.world.apply({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
    await fixture.world.waitForConditions('web', 'RemediationAllowed=False/RemediatedByNodeRepair');
    await fixture.world.kubectl('delete', 'deployment', 'karpenter');
    await fixture.world.waitForConditions('web', READY);
  });

  it('has Karpenter replace its nodes one by one after a change of the template', async function () {
    this.timeout(2 * DISRUPTION_MS);
    await fixture.world.apply(onDemandPool('drift', { labels: { tier: 'old' } }));
    await fixture.world.apply(deployment('drift', 1));
    await settled('drift', 1);
    const before = await nodesOf('drift');
    await fixture.world.apply(onDemandPool('drift', { labels: { tier: 'new' } }));
    const isNew = async () => {
      const now = await nodesOf('drift');
      return now.length === 1 && now[0] !== before[0];
    };
    await karpenter.until('another node', isNew, DISRUPTION_MS);
    await settled('drift', 1);
    const [node = ''] = await nodesOf('drift');
    assert.equal(await fixture.world.kubectl('get', 'node', node, '-o', 'jsonpath={.metadata.labels.tier}'), 'new');
  });

  it('keeps to the nodes that Karpenter leaves when it consolidates, and stays Ready', async function () {
    this.timeout(2 * DISRUPTION_MS);
    const consolidation = { policy: 'WhenEmpty', consolidateAfter: '5s' } as const;
    await fixture.world.apply(onDemandPool('few', {}, { consolidation }));
    await fixture.world.apply(deployment('few', 2));
    await settled('few', 2);
    const before = await fixture.world.pool('few');
    await fixture.world.kubectl('scale', 'deployment', 'few', '--replicas=1');
    const after = await settled('few', 1);
    await isAvailable('few');
    const readySince = [before, after].map(
      (found) => found?.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime,
    );
    assert.equal(readySince[0], readySince[1]);
  });

  it('verifies the nodes that replace expired ones, and holds no budget for these', async function () {
    this.timeout(2 * DISRUPTION_MS);
    // The API server accepts no expireAfter below an hour from the pool. While it is paused, another client can set one.
    await fixture.world.apply(onDemandPool('expiry', {}, { update: NEVER }));
    await fixture.world.waitForConditions('expiry', 'Ready=True/NoNodes');
    await fixture.world.apply(onDemandPool('expiry', { paused: true }, { update: NEVER }));
    const short = { spec: { template: { spec: { expireAfter: '30s' } } } };
    await fixture.world.kubectl('patch', 'nodepool', 'expiry', '--type=merge', '-p', JSON.stringify(short));
    await fixture.world.apply(deployment('expiry', 1));
    const [claim] = await karpenter.until('a NodeClaim', async () => {
      const claims = await karpenter.claims('expiry');
      return claims.length > 0 && claims;
    });
    await fixture.world.apply(onDemandPool('expiry', {}, { update: NEVER }));
    await fixture.world.waitForPool(
      'expiry',
      'to have a verified node',
      (found) => found?.status?.nodes?.verified === 1,
    );
    const isReplaced = async () =>
      (await karpenter.claims('expiry')).every(({ metadata }) => metadata.name !== claim?.metadata.name);
    await karpenter.until('the node to expire', isReplaced, DISRUPTION_MS);
    await settled('expiry', 1);
    await isAvailable('expiry');
  });

  it('reverts changes of what it has set in its NodePool, and keeps other fields', async () => {
    const change = { spec: { weight: 50, disruption: { consolidateAfter: '1h' } } };
    await fixture.world.kubectl('patch', 'nodepool', 'drift', '--type=merge', '-p', JSON.stringify(change));
    const fields = 'jsonpath={.spec.weight} {.spec.disruption.consolidateAfter}';
    const isReverted = async () => (await fixture.world.kubectl('get', 'nodepool', 'drift', '-o', fields)) === '50 10m';
    await karpenter.until('the change to be reverted', isReverted, 90_000);
  });

  it('quotes the rule that rejects its NodePool', async () => {
    const requirements = [{ key: 'karpenter.sh/unknown', operator: 'In' as const, values: ['a'] }];
    await fixture.world.apply(onDemandPool('rejected', {}, { requirements }));
    const found = await fixture.world.waitForConditions('rejected', 'NodePoolReady=False/NodePoolRejected');
    assert.match(messageOf(found, 'NodePoolReady'), /label domain "karpenter\.sh" is restricted/);
    await fixture.world.kubectl('delete', 'windowspool', 'rejected', '--timeout=20s');
  });

  it('creates an EC2NodeClass with every field, which the CRD of the provider for AWS accepts and stores unchanged', async () => {
    const nodeClass = {
      role: 'windows-nodes',
      subnets: [{ id: 'subnet-0123456789abcdef0' }, { tags: { tier: 'private' } }],
      securityGroups: [{ id: 'sg-0123456789abcdef0' }, { tags: { 'karpenter.sh/discovery': 'prod' } }],
      ami: { id: 'ami-0123456789abcdef0' },
      disk: { sizeGiB: 200, type: 'gp3', iops: 4_000, throughput: 250, kmsKeyID: 'alias/windows' },
      metadataOptions: { httpPutResponseHopLimit: 2 },
      instanceTags: { team: 'web' },
      kubelet: {
        systemReserved: { memory: '2Gi' },
        kubeReserved: { cpu: '250m' },
        evictionHard: { 'memory.available': '500Mi' },
        evictionSoft: { 'memory.available': '1Gi' },
        evictionSoftGracePeriod: { 'memory.available': '2m' },
        evictionMaxPodGracePeriod: 60,
        imageGCHighThresholdPercent: 80,
        imageGCLowThresholdPercent: 70,
        maxPods: 40,
        podsPerCore: 10,
        clusterDNS: ['172.20.0.10'],
      },
      userData: { configMap: 'karpenter-user-data' },
    };
    const source = { nodeClassRef: undefined, nodeClass } as object;
    const limits = { cpu: 64, memory: '256Gi' };
    const create = ['create', 'configmap', 'karpenter-user-data', '--from-literal=user-data.ps1=Write-Host hello'];
    await fixture.world.kubectl('-n', 'winpool-system', ...create);
    await fixture.world.apply(onDemandPool('classes', {}, { ...source, limits, terminationGracePeriod: '1h' }));
    const says = (what: string, words: RegExp) =>
      fixture.world.waitForPool('classes', what, (one) => words.test(messageOf(one, 'NodePoolReady')));
    await says('to have an EC2NodeClass', /evaluating EC2NodeClass classes/);
    const conditions = [
      { type: 'AMIsReady', status: 'False', reason: 'AMINotFound', message: 'AMISelector did not match any AMIs' },
      { type: 'Ready', status: 'False', reason: 'UnhealthyDependents', message: 'AMIsReady=False' },
    ].map((one) => ({ ...one, lastTransitionTime: '2026-03-01T12:00:00Z' }));
    const status = JSON.stringify({ status: { conditions } });
    await fixture.world.kubectl(
      ...['patch', 'ec2nodeclass', 'classes', '--subresource=status', '--type=merge', '-p', status],
    );
    await says('to quote what Karpenter reports', /EC2NodeClass classes: AMISelector did not match any AMIs/);
    for (const kind of ['ec2nodeclass', 'nodepool'])
      assert.equal(
        await fixture.world.kubectl('get', kind, 'classes', '-o', 'jsonpath={.metadata.generation}'),
        '1',
        `the API server changes what the operator sets in the ${kind}`,
      );
    // The garbage collector finds new kinds every 30 s, and deletes their objects after that.
    await fixture.world.kubectl('delete', 'windowspool', 'classes', '--timeout=90s');
    await assert.rejects(fixture.world.kubectl('get', 'ec2nodeclass', 'classes'), /NotFound/);
  });

  it('has samples whose EC2NodeClass and pools the API server accepts', async () => {
    await fixture.world.kubectl('apply', '--dry-run=server', '--validate=strict', '-f', SAMPLES);
  });

  it('leaves a NodePool of another owner', async () => {
    const { spec } = JSON.parse(await fixture.world.kubectl('get', 'nodepool', 'web', '-o', 'json'));
    await karpenter.client.apply({
      apiVersion: KARPENTER,
      kind: 'NodePool',
      metadata: { name: 'theirs' },
      spec,
    } as never);
    await fixture.world.apply(onDemandPool('theirs'));
    await fixture.world.waitForConditions('theirs', 'NodePoolReady=False/NodePoolNotOwned');
    // It has the labels and requirements of that pool.
    const warned = await fixture.world.waitForConditions('web', 'PrerequisitesMet=True/MetWithWarnings');
    assert.match(messageOf(warned, 'PrerequisitesMet'), /can also create nodes .* from NodePool theirs,/);
    await fixture.world.kubectl('delete', 'windowspool', 'theirs', '--timeout=20s');
    await fixture.world.kubectl('delete', 'nodepool', 'theirs', '--timeout=20s');
    await fixture.world.waitForConditions('web', 'PrerequisitesMet=True/Met');
  });

  it('waits with its deletion until Karpenter runs again and has deleted the nodes', async () => {
    await karpenter.stop();
    await fixture.world.kubectl('delete', 'windowspool', 'drift', '--wait=false');
    await fixture.world.waitForConditions('drift', 'NodePoolReady=False/NodePoolDeleting');
    await fixture.world.waitForConditions('web', READY);
    await karpenter.restart();
    await fixture.world.kubectl('wait', '--for=delete', 'windowspool/drift', '--timeout=60s');
    assert.deepEqual(await karpenter.claims('drift'), []);
  });

  it('with Retain keeps the NodePool and its nodes, and new nodes have no gate', async () => {
    await fixture.world.apply(onDemandPool('web', { deletionPolicy: 'Retain', verification: { policy: 'Gate' } }));
    await settled('web', 3);
    await fixture.world.kubectl('delete', 'windowspool', 'web', '--timeout=30s');
    const startupTaints = 'jsonpath={.spec.template.spec.startupTaints}';
    assert.equal(await fixture.world.kubectl('get', 'nodepool', 'web', '-o', startupTaints), '[]');
    assert.equal((await nodesOf('web')).length, 3);
    await fixture.world.kubectl('delete', 'runtimeclass', 'web');
  });

  it('takes the pods of a NodePool that it does not manage, in the steps of docs/how-to/from/karpenter.md', async function () {
    this.timeout(2 * DISRUPTION_MS);
    // The NodePool that the pool of the last test retained.
    const kubectl = (...args: readonly string[]) => fixture.world.kubectl(...args);
    await fixture.world.apply(onDemandPool('moved', { verification: { policy: 'Gate' } }));
    await fixture.world.waitForConditions('moved', 'Ready=True/NoNodes');
    await kubectl('patch', 'nodepool', 'web', '--type=merge', '--patch', '{"spec": {"limits": {"cpu": "0"}}}');
    await kubectl('cordon', '--selector', 'karpenter.sh/nodepool=web');
    const template = { spec: { template: { spec: { runtimeClassName: 'moved' } } } };
    await kubectl('patch', 'deployment', 'web', '--patch', JSON.stringify(template));
    await kubectl('rollout', 'status', 'deployment/web', '--timeout=120s');
    await settled('moved', 3);
    await kubectl('delete', 'nodepool', 'web', '--timeout=60s');
    await fixture.until(
      'the nodes of the NodePool to be gone',
      async () => (await karpenter.claims('web')).length === 0,
    );
    const placed = await kubectl('get', 'pods', '--selector', 'app=web', '-o', 'jsonpath={.items[*].spec.nodeName}');
    assert.deepEqual(placed.split(' ').sort(), await nodesOf('moved'));
  });
});
