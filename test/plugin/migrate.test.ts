/** `kubectl windowspool migrate`, against a real API server, scheduler and controllers. */
import assert from 'node:assert/strict';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { nodeRoleArn, subnetIds } from '../fakes/localaws/network.ts';
import { assertGolden, normalized } from '../goldenText.ts';
import { existingPool, poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';
import { budget, deployment, namespaceCalled } from '../userObjects.ts';
import { KubectlPlugin } from './kubectlPlugin.ts';

const NAMESPACE = 'moving';
const DRAIN = ['migrate', 'old', 'new', '--drain'];

/** Of pods that run on any Windows node. */
const ANY_WINDOWS = {
  nodeSelector: { 'kubernetes.io/os': 'windows' },
  tolerations: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }],
};

/** A Deployment of the namespace with two pods. */
function workload(name: string, image: string, spec: object): object {
  const containers = [{ name: 'app', image, resources: { limits: { memory: '1Gi' } } }];
  return deployment(NAMESPACE, name, 2, { ...spec, containers });
}

describe('kubectl windowspool migrate', () => {
  const fixture = withOperator('--resync-interval=1s');
  let plugin: KubectlPlugin;
  const kubectl = (...words: readonly string[]) => fixture.world.kubectl('-n', NAMESPACE, ...words);
  const isRolledOut = (name: string) => kubectl('rollout', 'status', `deployment/${name}`, '--timeout=60s');
  const createPool = async (name: string, windowsVersion: string) => {
    const nodeGroup = { scaling: { minSize: 2 } };
    await fixture.world.apply(poolManifest(name, { windowsVersion, nodeGroup, disruption: { maxUnavailable: 1 } }));
    await fixture.world.waitForReady(name);
  };
  const nodesOf = async (pool: string, query: string): Promise<string[]> => {
    const path = `jsonpath={range .items[*]}${query}{"\\n"}{end}`;
    return (await kubectl('get', 'nodes', '-l', `winpool.dev/pool=${pool}`, '-o', path)).split('\n').filter(Boolean);
  };
  const cordoned = async () => (await nodesOf('old', '{.spec.unschedulable}')).length;
  const nodesOfPods = async () =>
    (await kubectl('get', 'pods', '-o', 'jsonpath={range .items[*]}{.spec.nodeName}{"\\n"}{end}'))
      .split('\n')
      .filter(Boolean);

  before(async function () {
    this.timeout(300_000);
    const { world } = fixture;
    plugin = await KubectlPlugin.install(world);
    await world.apply(namespaceCalled(NAMESPACE));
    await createPool('old', 'Windows2019');
    await world.apply(workload('cart', 'example.com/cart:1-ltsc2019', { runtimeClassName: 'windows-2019' }));
    await world.apply(workload('web', 'example.com/web:1', ANY_WINDOWS));
    await world.apply(budget(NAMESPACE, 'web', { minAvailable: 2 }));
    await Promise.all(['cart', 'web'].map(isRolledOut));
    await kubectl('wait', '--for=jsonpath={.status.currentHealthy}=2', 'pdb/web', '--timeout=20s');
    await createPool('new', 'Windows2022');
  });
  after(async () => {
    await fixture.world?.kubectl('delete', 'namespace', NAMESPACE, '--wait=false');
    // Otherwise they are on the nodes of the next suite that have the same names.
    await kubectl('delete', 'pods', '--all', '--grace-period=0', '--force');
    await plugin?.remove();
  });

  it('shows what each workload must change, and does not drain before', async () => {
    const session = plugin.start(['migrate', 'old', 'new']);
    assert.equal(await session.ended, 1);
    await assertGolden('plugin/terminal-migrate', normalized(session.shown()));
    const { code, stderr } = await plugin.run([...DRAIN, '--yes']);
    const words = /^Nothing was drained: 1 workload .*: Deployment moving\/cart\. .* --allow-pending\.\n$/;
    assert.equal(code, 1);
    assert.match(stderr, words);
    assert.equal(await cordoned(), 0);
  });

  it('finds no workload to change after the changes that it shows', async () => {
    await fixture.world.apply(workload('cart', 'example.com/cart:1-ltsc2022', { runtimeClassName: 'windows-2022' }));
    await isRolledOut('cart');
    const { stdout } = await plugin.run(['migrate', 'old', 'new', '--output=json']);
    const { workloads } = JSON.parse(stdout) as { workloads: { name: string; state: string }[] };
    assert.deepEqual(
      workloads.map(({ name, state }) => `${name} ${state}`),
      ['web Blocked'],
    );
  });

  it('tells a user without permissions which ones are missing, before it asks', async () => {
    const { world } = fixture;
    const read = 'view windowspool-operator-windowspools-view moving-nodes'.split(' ');
    await kubectl('create', 'serviceaccount', 'reader');
    await kubectl(
      'create',
      'clusterrole',
      'moving-nodes',
      '--verb=get,list',
      '--resource=nodes,runtimeclasses.node.k8s.io',
    );
    const bind = (role: string) =>
      kubectl(
        'create',
        'clusterrolebinding',
        `moving-${role}`,
        `--clusterrole=${role}`,
        `--serviceaccount=${NAMESPACE}:reader`,
      );
    try {
      const kubeconfig = await world.controlPlane.serviceAccountKubeconfig(NAMESPACE, 'reader');
      const nothing = await plugin.run([...DRAIN, '--kubeconfig', kubeconfig]);
      assert.match(nothing.stderr, /^Permission denied: windowspools\.winpool\.dev is forbidden: [^\n]*\n$/);
      await Promise.all(read.map(bind));
      const refused = async () => (await plugin.run([...DRAIN, '--yes', '--kubeconfig', kubeconfig])).stderr;
      // The authorizer of the API server learns about a binding from a watch.
      let last = '';
      const isRefused = async () => {
        last = await refused();
        return /^Permission denied: .* patch nodes and create pods\/eviction in namespace moving\b/.test(last);
      };
      await waitFor(isRefused, { what: 'the refusal', timeoutMs: 20_000, explain: () => last });
    } finally {
      await kubectl('delete', 'clusterrolebinding', ...read.map((role) => `moving-${role}`), '--ignore-not-found');
      await kubectl('delete', 'clusterrole', 'moving-nodes');
    }
  });

  it('cordons all nodes, waits for a PodDisruptionBudget, and can be interrupted and undone', async () => {
    const session = plugin.start(DRAIN);
    await session.shows('Drain pool old? [y/N]');
    assert.equal(await cordoned(), 0);
    session.type('y\n');
    await session.shows('PodDisruptionBudget web (moving/web-');
    assert.equal(await cordoned(), 2);
    session.type('\x03');
    assert.equal(await session.ended, 130);
    const [, last = ''] = session.shown().split(/^(?=Drained: )/m);
    await assertGolden('plugin/terminal-migrate-stopped', normalized(last));
    const undo = /\$ kubectl (uncordon .*)$/m.exec(last)?.[1] ?? assert.fail(last);
    await kubectl(...undo.trim().split(' '));
    assert.equal(await cordoned(), 0);
  });

  it('moves all pods to the new pool, and shows the next command', async () => {
    await kubectl('delete', 'pdb', 'web');
    const session = plugin.start(DRAIN);
    await session.shows('Drain pool old? [y/N]');
    session.type('y\n');
    assert.equal(await session.ended, 0, session.shown());
    const [, last = ''] = session.shown().split(/^(?=All nodes )/m);
    await assertGolden('plugin/terminal-migrate-drained', normalized(last));
    assert.equal(await cordoned(), 2);
    const usable = await nodesOf('new', '{.metadata.name}');
    const unexpected = (await nodesOfPods()).filter((node) => !usable.includes(node));
    assert.deepEqual(unexpected, []);
    const again = await plugin.shows(...DRAIN);
    assert.match(again, /No workload uses pool old\.\n\nAll nodes of pool old are drained/);
  });

  it('moves the pods of a node group that another client manages, as existing nodes, without a change of that group', async () => {
    const { world } = fixture;
    world.cloud.faults.consoleCreate({
      nodegroupName: 'theirs',
      nodeRole: nodeRoleArn,
      subnets: [subnetIds[0]],
      amiType: 'WINDOWS_CORE_2022_x86_64',
      scalingConfig: { minSize: 2, maxSize: 2, desiredSize: 2 },
    });
    await world.apply(existingPool('theirs', { matchLabels: { 'eks.amazonaws.com/nodegroup': 'theirs' } }));
    await world.waitForPool('theirs', 'to have two verified nodes', (pool) => pool?.status?.nodes?.verified === 2);
    const before = structuredClone(world.cloud.state.groups.get('theirs')?.nodegroup);
    await kubectl('cordon', '-l', 'winpool.dev/pool=new');
    await world.apply(workload('site', 'example.com/site:1', ANY_WINDOWS));
    await isRolledOut('site');
    await kubectl('uncordon', '-l', 'winpool.dev/pool=new');
    const { code, stdout, stderr } = await plugin.run(['migrate', 'theirs', 'new', '--drain', '--yes']);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /kubectl delete windowspool theirs/);
    const usable = await nodesOf('new', '{.metadata.name}');
    const pods = await nodesOfPods();
    assert.deepEqual([pods.length >= 2, pods.filter((node) => !usable.includes(node))], [true, []]);
    assert.deepEqual(world.cloud.state.groups.get('theirs')?.nodegroup, before);
    await kubectl('delete', 'windowspool', 'theirs', '--timeout=60s');
    const unschedulable = 'jsonpath={.items[*].spec.unschedulable}';
    const left = await kubectl('get', 'nodes', '-l', 'eks.amazonaws.com/nodegroup=theirs', '-o', unschedulable);
    assert.equal(left, 'true true');
    world.cloud.faults.consoleDelete({ group: 'theirs' });
  });
});
