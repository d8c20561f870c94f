import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../../hack/controlplane/alive.ts';
import { type ControlPlane, startControlPlane } from '../../hack/controlplane/controlplane.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';

async function assertGone(pids: Readonly<Record<string, number>>, dir: string): Promise<void> {
  const left = () => Object.entries(pids).filter(([, pid]) => isAlive(pid));
  const explain = () => `Left: ${JSON.stringify(left())}`;
  await waitFor(() => left().length === 0, { what: 'every process to be gone', explain });
  await waitFor(() => !existsSync(dir), { what: `${dir} to be removed` });
}

/** The command lines of all processes of this machine that have `text` in them. */
function processesWith(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
      } catch {
        return []; // The process has exited in the meantime.
      }
    })
    .filter((line) => line.includes(text));
}

describe('local control planes', function () {
  this.timeout(180_000);
  const planes: ControlPlane[] = [];
  const { TMPDIR } = process.env;
  /** The folder of temporary folders. */
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-lifecycle-'));
    process.env.TMPDIR = folder;
  });
  afterEach(async () => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    await Promise.all(planes.splice(0).map((plane) => plane.stop()));
    await rm(folder, { recursive: true, force: true });
  });

  async function start(): Promise<ControlPlane> {
    const plane = await startControlPlane();
    planes.push(plane);
    return plane;
  }

  it('run side by side without sharing anything, and one outlives the other', async () => {
    const [one, two] = await Promise.all([start(), start()]);
    assert.notEqual(one.url, two.url);
    assert.notEqual(one.caData, two.caData);
    await one.kubectl(['create', 'namespace', 'only-in-one']);
    const names = async (plane: ControlPlane) => (await plane.kubectl(['get', 'namespaces', '-o', 'name'])).stdout;
    assert.match(await names(one), /only-in-one/);
    assert.doesNotMatch(await names(two), /only-in-one/);

    const { pids, dir } = one;
    await one.stop();
    await assertGone(pids, dir);
    assert.equal((await two.kubectl(['get', '--raw', '/readyz'])).stdout, 'ok');
  });

  it('that fail to start quote the log of the failed component, and leave no process', async () => {
    const auditPolicy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Everything' }] };
    await assert.rejects(startControlPlane({ auditPolicy }), (error: Error) => {
      assert.match(error.message, /^kube-apiserver exited with status 1 before it was healthy/);
      assert.match(error.message, /Unsupported value: \\?"Everything/);
      return true;
    });
    assert.deepEqual([processesWith(folder), readdirSync(folder)], [[], []]);
  });

  it('whose start is aborted leave no process', async () => {
    const stop = new AbortController();
    const starting = startControlPlane({ signal: stop.signal });
    const begun = waitFor(() => processesWith(folder).length > 0, { what: 'etcd', intervalMs: 10 });
    await Promise.race([begun, starting]);
    stop.abort(new Error('enough'));
    await assert.rejects(starting);
    assert.deepEqual([processesWith(folder), readdirSync(folder)], [[], []]);
  });

  const program = `
    import { startControlPlane } from ${JSON.stringify(new URL('../../hack/controlplane/controlplane.ts', import.meta.url).href)};
    const plane = await startControlPlane();
    setInterval(() => undefined, 1000);
    console.log(JSON.stringify({ pids: plane.pids, dir: plane.dir }));`;
  const ends: readonly { way: string; act: (parent: number) => void }[] = [
    { way: 'Ctrl-C', act: (parent) => process.kill(-parent, 'SIGINT') },
    { way: 'SIGKILL of its parent', act: (parent) => process.kill(parent, 'SIGKILL') },
  ];
  for (const { way, act } of ends) {
    it(`leave no process and no folder: ${way}`, async () => {
      const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], {
        detached: true,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        const [line] = await Promise.race([
          once(parent.stdout, 'data'),
          once(parent, 'exit').then(([code]) => assert.fail(`The program exited with ${code} before it was up`)),
        ]);
        const { pids, dir } = JSON.parse(line) as { pids: Record<string, number>; dir: string };
        assert.equal(Object.values(pids).filter(isAlive).length, 6);
        act(parent.pid ?? 0);
        await assertGone(pids, dir);
      } finally {
        parent.kill('SIGKILL');
      }
    });
  }
});
