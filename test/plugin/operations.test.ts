/** The commands that change pools and nodes, and `plan`, against a real API server and a running operator. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { localAws } from '../fakes/testenv/operatorProcess.ts';
import { CLUSTER_NAME, REGION } from '../fakes/testenv/testEnv.ts';
import { assertGolden, normalized } from '../goldenText.ts';
import { withTerminatingNodes } from '../nodeOperations/terminatingNodesFixture.ts';
import { poolManifest } from '../pools.ts';
import { KubectlPlugin } from './kubectlPlugin.ts';

const POOL = 'web';

describe('kubectl windowspool replace, remove, pause, resume, retry and plan', () => {
  const suite = withTerminatingNodes();
  let plugin: KubectlPlugin;
  const manifest = (spec: object = {}, size: object = {}) =>
    poolManifest(POOL, { nodeGroup: { scaling: { minSize: 2, ...size } }, ...spec });
  const pool = () => suite.fixture.world.pool(POOL);
  const firstNode = async () => {
    const [node] = await suite.nodes(POOL);
    return node?.metadata.name ?? assert.fail('the pool has no node');
  };
  /** The output of several commands, as in a terminal. */
  const screen = (...texts: readonly string[]) => normalized(texts.join('\n'));

  before(async function () {
    this.timeout(300_000);
    plugin = await KubectlPlugin.install(suite.fixture.world);
    await suite.fixture.world.apply(manifest({ disruption: { maxUnavailable: 1 } }));
    await suite.settled(POOL, 2);
  });
  after(() => plugin?.remove());

  it('replace shows the pods and budgets, and changes nothing without a yes', async () => {
    const node = await firstNode();
    await suite.pod(node, 'cart');
    await suite.pod(node, 'bare', { owner: null });
    await suite.budget('cart');
    const session = plugin.start(['replace', node]);
    await session.shows('[y/N]');
    session.type('n\n');
    assert.equal(await session.ended, 3);
    await suite.kubectl('delete', 'pod', 'bare', '--force', '--grace-period=0');
    const next = plugin.start(['replace', node]);
    await next.shows('[y/N]');
    next.type('\x03');
    assert.equal(await next.ended, 130);
    const dryRun = await plugin.run(['replace', node, '--dry-run=server']);
    assert.match(dryRun.stdout, /\nThe API server accepts the change\. Nothing was changed \(server dry run\)\.\n$/);
    const piped = await plugin.run(['replace', node]);
    assert.equal(piped.code, 3);
    assert.match(piped.stderr, /^Nothing was changed: .* --yes\.\n$/);
    assert.equal((await suite.node(node))?.metadata.annotations?.['winpool.dev/replace'], undefined);
    await assertGolden('plugin/terminal-replace', screen(session.shown(), piped.stdout));
  });

  it('replace drains and replaces the node after a yes, and says when it is already requested', async () => {
    const node = await firstNode();
    await suite.pod(node, 'cart');
    await suite.budget('cart');
    const session = plugin.start(['replace', node.split('.')[0] ?? '']);
    await session.shows('[y/N]');
    session.type('y\n');
    assert.equal(await session.ended, 0, session.shown());
    await suite.becomesLeaving(POOL, 'True/DrainBlocked');
    const again = await plugin.shows('replace', node);
    assert.match(again, /^The operation Replace of node \S+ .*: kubectl windowspool status web --watch\n$/);
    // Where lines break depends on the length of the name of the node.
    const words = screen(await plugin.shows('status', POOL))
      .split(/\s+/)
      .join(' ')
      .trim();
    await assertGolden('plugin/terminal-drain-blocked', `${words}\n`);
    await suite.kubectl('delete', 'pdb', '--all');
    await suite.waitForNode(node, 'to go', (found) => found === undefined);
    await suite.settled(POOL, 2);
  });

  it('remove warns when the operator would reject it, and suggests a node for a typo', async () => {
    const node = await firstNode();
    const session = plugin.start(['remove', node]);
    await session.shows('[y/N]');
    // The end of the input is no agreement.
    session.type('\x04');
    assert.equal(await session.ended, 3);
    await assertGolden('plugin/terminal-remove', screen(session.shown()));
    const typo = await plugin.run(['remove', `${node}x`]);
    assert.deepEqual([typo.code, typo.stderr], [1, `Windows node "${node}x" not found. Did you mean "${node}"?\n`]);
  });

  it('pause and resume change the annotation and the spec', async () => {
    await plugin.shows('pause', POOL, '--yes');
    assert.equal((await pool())?.metadata.annotations?.['winpool.dev/paused'], 'true');
    await suite.fixture.world.patchPool(POOL, { labels: { team: 'shop' }, paused: true });
    await suite.fixture.world.waitForPool(
      POOL,
      'to have pending steps',
      (found) => (found?.status?.pendingSteps ?? []).length > 0,
    );
    const plan = await plugin.shows('plan', POOL);
    const again = await plugin.shows('pause', POOL);
    const resumed = await plugin.shows('resume', POOL, '--yes');
    await assertGolden('plugin/terminal-resume', screen(plan, again, resumed));
    const { spec, metadata } = (await pool()) ?? assert.fail('there is no pool');
    assert.deepEqual([spec.paused, metadata.annotations?.['winpool.dev/paused']], [false, undefined]);
    await suite.settled(POOL, 2);
    assert.equal(await plugin.shows('plan', POOL), 'No changes are due for pool web.\n');
    assert.equal(await plugin.shows('resume', POOL), 'Pool web is not paused.\n');
  });

  it('plan --filename shows the changes of a manifest, and with AWS credentials the steps of the operator', async () => {
    const file = join(plugin.folder, 'pools.yaml');
    const pools = [manifest({ disruption: { maxUnavailable: 1 } }, { maxSize: 5 }), poolManifest('billing')];
    await writeFile(file, pools.map((each) => stringify(each)).join('---\n'));
    const aws = localAws(suite.fixture.world.cloud.url);
    const withAws = await plugin.run(
      ['plan', '--filename', file, `--cluster-name=${CLUSTER_NAME}`, `--region=${REGION}`],
      aws,
    );
    assert.deepEqual([withAws.code, withAws.stderr], [0, '']);
    const without = await plugin.run(['plan', '--filename', file], {
      ...aws,
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_EC2_METADATA_DISABLED: 'true',
      HOME: plugin.folder,
    });
    assert.equal(without.code, 0, without.stderr);
    await assertGolden('plugin/terminal-plan', screen(withAws.stdout, without.stdout));
    assert.equal(await suite.fixture.world.pool('billing'), undefined);
  });

  it("plan --filename shows the API server's errors and warnings", async () => {
    const file = join(plugin.folder, 'invalid.yaml');
    const rows: readonly (readonly [pool: object, code: number, stderr: RegExp])[] = [
      [
        poolManifest('invalid', { nodeGroup: { colour: 'red' } }),
        1,
        /^The API server rejects WindowsPool invalid: .*colour: [^\n]*\n$/,
      ],
      [
        poolManifest('invalid', { nodeGroup: { scaling: { minSize: 9 } } }),
        1,
        /^The API server rejects WindowsPool invalid: [^\n]*minSize[^\n]*\n$/,
      ],
      [
        { ...poolManifest('odd'), metadata: { name: 'odd', finalizers: ['odd'] } },
        0,
        /^Warning: metadata\.finalizers: [^\n]*\n$/,
      ],
    ];
    for (const [each, code, expected] of rows) {
      await writeFile(file, stringify(each));
      const outcome = await plugin.run(['plan', '-f', file]);
      assert.equal(outcome.code, code, outcome.stderr);
      assert.match(outcome.stderr, expected);
    }
  });

  it('tells a user without permissions to change nodes which one is missing, before it asks', async () => {
    const { world } = suite.fixture;
    const view = 'windowspool-operator-windowspools-view';
    await world.kubectl('create', 'serviceaccount', 'reader', '--namespace=default');
    const bind = (name: string, role: string) =>
      world.kubectl('create', 'clusterrolebinding', name, `--clusterrole=${role}`, '--serviceaccount=default:reader');
    await bind('plugin-reader', view);
    await world.kubectl('create', 'clusterrole', 'plugin-nodes', '--verb=get,list', '--resource=nodes');
    await bind('plugin-nodes', 'plugin-nodes');
    try {
      const kubeconfig = await world.controlPlane.serviceAccountKubeconfig('default', 'reader');
      const node = await firstNode();
      const refused = await plugin.run(['replace', node, '--yes', '--kubeconfig', kubeconfig]);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /^Permission denied: nodes "\S+" .* cannot patch resource "nodes" [^\n]*\n$/);
      const listed = await plugin.run(['nodes', '--kubeconfig', kubeconfig]);
      assert.match(listed.stdout, / \? /);
    } finally {
      await world.kubectl('delete', 'clusterrolebinding', 'plugin-reader', 'plugin-nodes');
      await world.kubectl('delete', 'clusterrole', 'plugin-nodes');
      await world.kubectl('delete', 'serviceaccount', 'reader', '--namespace=default');
    }
  });
});
