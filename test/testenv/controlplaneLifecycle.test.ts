import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../../hack/controlplane/alive.ts';
import { type ControlPlane, startControlPlane } from '../../hack/controlplane/controlplane.ts';
import { readLines } from '../../hack/controlplane/protocol.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';

async function assertGone(pids: Readonly<Record<string, number>>, dir: string): Promise<void> {
  const left = () => Object.entries(pids).filter(([, pid]) => isAlive(pid));
  const explain = () => `Left: ${JSON.stringify(left())}`;
  await waitFor(() => left().length === 0, { what: 'every process to be gone', timeoutMs: 60_000, explain });
  await waitFor(() => !existsSync(dir), { what: `${dir} to be removed`, timeoutMs: 60_000 });
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
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-lifecycle-'));
  });
  afterEach(async () => {
    await Promise.all(planes.splice(0).map((plane) => plane.stop()));
    await rm(folder, { recursive: true, force: true });
  });

  async function start(dir?: string): Promise<ControlPlane> {
    const plane = await startControlPlane(dir === undefined ? {} : { dir });
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

  it('keep their objects, authority and tokens after a stop in a given folder', async () => {
    const dir = join(folder, 'kept');
    const first = await start(dir);
    const { caData, pids } = first;
    await first.kubectl(['create', 'namespace', 'kept']);
    const token = /token: (\S+)/;
    const before = token.exec(readFileSync(first.adminKubeconfig, 'utf8'))?.[1];
    await first.stop();
    assert.deepEqual(Object.values(pids).filter(isAlive), []);
    assert.ok(existsSync(first.auditLog));

    const second = await start(dir);
    assert.equal(second.caData, caData);
    assert.equal(token.exec(readFileSync(second.adminKubeconfig, 'utf8'))?.[1], before);
    const { stdout } = await second.kubectl(['get', 'namespace', 'kept', '-o', 'name']);
    assert.equal(stdout.trim(), 'namespace/kept');
  });

  it('that fail to start quote the log of the failed component, and leave no process', async () => {
    const dir = join(folder, 'failed');
    const auditPolicy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Everything' }] };
    await assert.rejects(startControlPlane({ dir, auditPolicy }), (error: Error) => {
      assert.match(error.message, /^kube-apiserver ended with status 1 before it was healthy/);
      assert.match(error.message, /Unsupported value: \\?"Everything/);
      return true;
    });
    assert.deepEqual(processesWith(dir), []);
  });

  it('whose start is aborted leave no process', async () => {
    const dir = join(folder, 'called-off');
    const stop = new AbortController();
    const starting = startControlPlane({ dir, signal: stop.signal });
    const begun = waitFor(() => processesWith(join(dir, 'etcd')).length > 0, {
      what: 'etcd',
      timeoutMs: 60_000,
      intervalMs: 10,
    });
    await Promise.race([begun, starting]);
    stop.abort(new Error('enough'));
    await assert.rejects(starting);
    assert.deepEqual(processesWith(dir), []);
  });

  const program = `
    import { startControlPlane } from ${JSON.stringify(new URL('../../hack/controlplane/controlplane.ts', import.meta.url).href)};
    const plane = await startControlPlane();
    setInterval(() => undefined, 1000);
    console.log(JSON.stringify({ pids: plane.pids, dir: plane.dir }));`;
  const ends: readonly { way: string; act: (parent: number, pids: Readonly<Record<string, number>>) => void }[] = [
    { way: 'Ctrl-C', act: (parent) => process.kill(-parent, 'SIGINT') },
    { way: 'SIGKILL of its parent', act: (parent) => process.kill(parent, 'SIGKILL') },
    { way: 'SIGKILL of its supervisor', act: (_, pids) => process.kill(pids.supervisor ?? 0, 'SIGKILL') },
  ];
  for (const { way, act } of ends) {
    it(`leave no process and no folder: ${way}`, async () => {
      const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], {
        detached: true,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        const { pids, dir } = await new Promise<{ pids: Record<string, number>; dir: string }>((resolve, reject) => {
          readLines(parent.stdout, (line) => resolve(JSON.parse(line)));
          parent.once('exit', (code) => reject(new Error(`The program ended with ${code} before it was up`)));
        });
        assert.equal(Object.values(pids).filter(isAlive).length, 7);
        act(parent.pid ?? 0, pids);
        await assertGone(pids, dir);
      } finally {
        parent.kill('SIGKILL');
      }
    });
  }
});
