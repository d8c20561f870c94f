/** The commands that only read, against a real API server and a running operator. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import { UP_TO_DATE } from '../fakes/testenv/testEnv.ts';
import { assertGolden, normalized } from '../goldenText.ts';
import { poolManifest } from '../pools.ts';
import { freezeAws, withOperator } from '../sharedWorld.ts';
import { KubectlPlugin } from './kubectlPlugin.ts';

describe('kubectl windowspool status and nodes', () => {
  const fixture = withOperator('--resync-interval=1s');
  let plugin: KubectlPlugin;
  before(async function () {
    this.timeout(300_000);
    plugin = await KubectlPlugin.install(fixture.world);
  });
  after(() => plugin?.remove());

  it('kubectl lists the plugin, and finds it', async () => {
    const { stdout } = await plugin.run(['--help']);
    assert.match(stdout, /^Usage:\n {2}kubectl windowspool /m);
    assert.match(stdout, /^ {2}status /m);
  });

  it('status --watch shows in a terminal how a pool becomes Ready, until Ctrl-C', async () => {
    const restoreSpeed = freezeAws(fixture.world);
    try {
      await fixture.world.apply(poolManifest('web', { nodeGroup: { scaling: { minSize: 2 } } }));
      const session = plugin.start(['status', 'web', '--watch']);
      await session.shows('NodeGroupReady: Creating');
      restoreSpeed();
      await session.shows('Pool web is Ready');
      assert.ok(session.raw().includes('\x1b[32mPool web is Ready\x1b[39m'), session.raw());
      // What the terminal showed before stays in its history.
      assert.ok(!session.raw().includes('\x1b[3J'), session.raw());
      session.type('\x03');
      assert.equal(await session.ended, 130);
    } finally {
      restoreSpeed();
    }
    await fixture.world.waitForConditions('web', UP_TO_DATE);
  });

  it('status shows one pool on a screen, and all pools in a table', async () => {
    const screen = await plugin.shows('status', 'web');
    assert.ok(screen.split('\n').length <= 24, screen);
    await assertGolden('plugin/terminal-status', normalized(`${screen}\n${await plugin.shows('status')}`));
    assert.equal(await plugin.shows('status', 'windowspool.winpool.dev/web'), screen);
  });

  it('nodes shows the nodes of a pool', async () => {
    // The names of nodes have different lengths.
    const text = normalized(await plugin.shows('nodes', 'web')).replace(/ {2,}/g, '  ');
    await assertGolden('plugin/terminal-nodes', text);
    assert.equal((await plugin.shows('nodes')).split('\n').length, 4);
  });

  it('prints JSON and YAML for scripts, and no colors outside of a terminal', async () => {
    const json = await plugin.run(['status', 'web', '--output=json']);
    const { pool, verdict, nodes } = JSON.parse(json.stdout);
    assert.deepEqual([pool, verdict, nodes.verified], ['web', 'Ready', 2]);
    const yaml = await plugin.run(['nodes', '--output=yaml']);
    assert.deepEqual(
      parse(yaml.stdout).map((node: Record<string, unknown>) => [node.pool, node.verified, node.gate, node.pods]),
      [
        ['web', 'True', 'open', 0],
        ['web', 'True', 'open', 0],
      ],
    );
    const wide = await plugin.run(['nodes', '-o', 'wide']);
    assert.match(wide.stdout, /^NODE +INSTANCE +BUILD .* NODEGROUP\n(?:ip-\S+\.internal +i-[0-9a-f]{17} .* web\n){2}$/);
    assert.ok(!(await plugin.run(['status', 'web'])).stdout.includes('\x1b'));
    const session = plugin.start(['status', 'web'], { NO_COLOR: '1' });
    assert.equal(await session.ended, 0);
    assert.ok(!session.raw().includes('\x1b'), session.raw());
  });

  it('suggests a command, a flag and a pool for a typo', async () => {
    const rows: readonly (readonly [args: string[], code: number, stderr: RegExp])[] = [
      [['stauts'], 2, /^error: .*'stauts' \(Did you mean status\?\)\nSee 'kubectl windowspool --help' .*\n$/],
      [
        ['status', '--wath'],
        2,
        /^error: .*'--wath' \(Did you mean --watch\?\)\nSee 'kubectl windowspool status --help' .*\n$/,
      ],
      [['status', 'wep'], 1, /^WindowsPool "wep" not found\. Did you mean "web"\?\n$/],
      [['nodes', 'billing'], 1, /^WindowsPool "billing" not found\..*: web\.\n$/],
      [
        ['status', '--request-timeout=soon'],
        2,
        /^error: .*'--request-timeout <duration>' .*'soon' .*\nSee 'kubectl windowspool --help' .*\n$/,
      ],
    ];
    for (const [args, code, stderr] of rows) {
      const outcome = await plugin.run(args);
      assert.equal(outcome.code, code);
      assert.match(outcome.stderr, stderr);
    }
  });

  it('tells a user without permissions which one is missing, in one sentence', async () => {
    const kubeconfig = await fixture.world.controlPlane.serviceAccountKubeconfig('default', 'default');
    const { code, stderr } = await plugin.run(['status', '--kubeconfig', kubeconfig]);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^Permission denied: windowspools.winpool.dev .* "system:serviceaccount:default:default" .* ClusterRole windowspool-operator-windowspools-view [^\n]*\n$/,
    );
  });

  it('accepts the global flags of kubectl', async () => {
    const account = 'system:serviceaccount:default:default';
    const denied = await plugin.run(['status', '--as', account, '--as-group=dev', '--as-group=ops']);
    assert.equal(denied.code, 1);
    assert.ok(denied.stderr.includes(`"${account}"`), denied.stderr);
    const groups = ['--as=anyone', '--as-group=system:masters'];
    const allowed = await plugin.run(['status', 'web', '-n=shop', '--insecure-skip-tls-verify', ...groups, '-v=6']);
    assert.deepEqual([allowed.code, allowed.stdout], [0, (await plugin.run(['status', 'web'])).stdout]);
    assert.match(allowed.stderr, /^GET https:\S+\/apis\/winpool\.dev\/v1alpha1\/windowspools\?\S+ 200$/m);
    const unknown = await plugin.run(['status', '--cluster=other']);
    assert.match(unknown.stderr, /has no cluster other\. Choose one of its clusters: [^\n]*\n$/);
  });

  it('reports a cluster that cannot be reached, and one that does not respond in time', async () => {
    const mute = createServer().listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const { port } = mute.address() as AddressInfo;
    const kubeconfig = (server: string) => ({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
      clusters: [{ name: 'x', cluster: { server } }],
      users: [{ name: 'x', user: { token: 'x' } }],
    });
    const servers = { refused: 'https://127.0.0.1:1', mute: `https://127.0.0.1:${port}` };
    try {
      for (const [name, server] of Object.entries(servers)) {
        const path = join(plugin.folder, name);
        await writeFile(path, JSON.stringify(kubeconfig(server)));
        const { code, stderr } = await plugin.run(['status', '--request-timeout=2s'], { KUBECONFIG: path });
        assert.equal(code, 1);
        assert.match(stderr, /^Cannot reach the cluster: [^\n]*\n$/);
      }
    } finally {
      mute.close();
    }
    const missing = await plugin.run(['status', '--context=other']);
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /has no context other\. Choose one of its contexts: [^\n]*\n$/);
  });
});
