import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { KubeconfigCredentials } from './kubeconfigCredentials.ts';
import { kubeconfig } from './testing/loopbackServer.ts';

describe('an exec plugin', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plugin-'));
  });
  after(() => rm(folder, { recursive: true }));

  /** Credentials by a plugin that writes its process ID to a file, and then runs the code. */
  async function pluginThat(code: string, timeoutMs: number) {
    const pidFile = join(folder, 'pid');
    const script = `require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); ${code}`;
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['-e', script],
    };
    const path = join(folder, 'kubeconfig');
    await writeFile(path, kubeconfig('https://127.0.0.1:1', { exec }));
    const credentials = new KubeconfigCredentials(path, { execTimeoutMs: timeoutMs });
    return { credentials, pid: async () => Number(await readFile(pidFile, 'utf8')) };
  }

  /** Resolves when the process is gone; the test's time-out bounds it. */
  async function gone(pid: number): Promise<void> {
    for (;;) {
      try {
        process.kill(pid, 0);
      } catch {
        return;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('is killed if it hangs', async () => {
    const { credentials, pid } = await pluginThat('setInterval(() => undefined, 1000);', 2_000);
    await assert.rejects(credentials.authenticate(), /did not respond within 2 s/);
    await gone(await pid());
  });

  it('is killed if it writes without end', async () => {
    const { credentials, pid } = await pluginThat(
      "const write = () => process.stdout.write('x'.repeat(65536), write); write();",
      60_000,
    );
    await assert.rejects(credentials.authenticate());
    await gone(await pid());
  });
});

describe('a list of kubeconfigs', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeconfigs-'));
    const renamed = (text: string, name: string) => text.replaceAll('"test"', `"${name}"`);
    await writeFile(join(folder, 'first'), renamed(kubeconfig('https://first:1', {}), 'one'));
    const second = renamed(kubeconfig('https://second:1', {}), 'two');
    await writeFile(join(folder, 'second'), second);
    await writeFile(join(folder, 'shadowed'), second.replace('second:1', 'shadowed:1'));
  });
  after(() => rm(folder, { recursive: true }));
  const files = (...names: readonly string[]) => names.map((name) => join(folder, name)).join(delimiter);

  const rows: readonly (readonly [what: string, source: string[], context: string | undefined, server: string])[] = [
    ['uses the first current-context', ['first', 'second'], undefined, 'https://first:1'],
    ['uses the context that is asked for, in any of the files', ['first', 'second'], 'two', 'https://second:1'],
    ['skips a file that does not exist', ['missing', 'second'], undefined, 'https://second:1'],
    ['keeps the first of two objects of a name', ['second', 'shadowed'], undefined, 'https://second:1'],
  ];
  for (const [what, source, context, server] of rows)
    it(what, () => {
      const { server: found } = new KubeconfigCredentials(files(...source), { overrides: { context } });
      assert.equal(found, server);
    });

  it('lists the contexts when it lacks the one that is asked for', () => {
    assert.throws(
      () => new KubeconfigCredentials(files('first', 'second'), { overrides: { context: 'three' } }),
      /has no context three\. Choose one of its contexts: one, two\.$/,
    );
  });
});

describe('a kubeconfig that cannot be used', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeconfigs-'));
  });
  after(() => rm(folder, { recursive: true }));

  const rows: readonly (readonly [what: string, text: string | undefined, message: RegExp])[] = [
    ['does not exist', undefined, /^Cannot read kubeconfig FILE: no such file.* choose another one\.$/],
    ['is empty', '', /^Cannot read kubeconfig FILE: .*empty.* choose another one\.$/],
    ['is not YAML', 'clusters: [\n', /^Cannot read kubeconfig FILE: .*\(2:1\).* choose another one\.$/],
    ['has a server that is not a URL', kubeconfig('nonsense', {}), /^FILE: server nonsense of cluster test .*\.$/],
  ];
  for (const [what, text, message] of rows)
    it(`${what}: the error names the file, the problem and the next action, in one line`, async () => {
      const path = join(folder, 'config');
      if (text === undefined) await rm(path, { force: true });
      else await writeFile(path, text);
      assert.throws(
        () => new KubeconfigCredentials(path),
        (error: Error) => {
          assert.match(error.message.replaceAll(path, 'FILE'), message);
          return true;
        },
      );
    });
});
