import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBinaries } from '../../hack/controlplane/binaries.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { theWorld } from '../sharedWorld.ts';

const SCRIPT = fileURLToPath(new URL('../../hack/undeploy.sh', import.meta.url));
const FINALIZER = 'winpool.dev/finalizer';

describe('an operator that was uninstalled before its pools', function () {
  this.timeout(180_000);
  let world: TestEnv;
  before(async () => {
    world = await theWorld();
    const pool = poolManifest('stuck');
    await world.apply({ ...pool, metadata: { name: 'stuck', finalizers: [FINALIZER] } });
  });

  /** Runs the script behind `make undeploy` on the test environment's cluster. */
  async function undeploy(timeout: string): Promise<{ code: number; text: string }> {
    const { kubectl } = await ensureBinaries(() => undefined);
    return run(`${kubectl} --kubeconfig=${world.controlPlane.adminKubeconfig}`, timeout);
  }

  function run(kubectl: string, timeout: string): Promise<{ code: number; text: string }> {
    const env = { ...process.env, KUBECTL: kubectl };
    return new Promise((resolve) => {
      execFile('bash', [SCRIPT, timeout], { env }, (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, text: stdout + stderr });
      });
    });
  }

  it('makes undeploy stop because of the pools, with the remedy', async () => {
    const { code, text } = await undeploy('1s');
    assert.equal(code, 1);
    assert.match(text, /Some pools still exist[\s\S]*docs\/how-to\/uninstall\.md/);
    const kept = await world.kubectl('get', 'crds,clusterroles,namespaces', '--output', 'name');
    for (const name of ['windowspools.winpool.dev', 'windowspool-operator', 'winpool-system', 'winpool-node-pods']) {
      assert.ok(kept.includes(name), `${name} is still there`);
    }
    assert.notEqual((await world.pool('stuck'))?.metadata.deletionTimestamp, undefined);
  });

  it('makes undeploy delete nothing when it cannot list the pools', async () => {
    // Behaves like kubectl when the first call fails and the next ones would succeed.
    const kubectl = await mkdtemp(join(tmpdir(), 'kubectl-')).then((dir) => join(dir, 'kubectl'));
    await writeFile(kubectl, '#!/bin/sh\necho "$1"\n[ "$1" != get ]\n', { mode: 0o755 });
    const { code, text } = await run(kubectl, '1s');
    await rm(dirname(kubectl), { recursive: true });
    assert.deepEqual([code, text], [1, '']);
  });

  it('can be followed by the documented removal of a pool', async () => {
    const patch = '{"metadata":{"finalizers":null}}';
    await world.kubectl('patch', 'windowspool', 'stuck', '--type=merge', '--patch', patch);
    assert.equal(await world.pool('stuck'), undefined);
  });
});
