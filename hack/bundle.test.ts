import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { assertNames } from '../test/messages.ts';
import { bundle, bundleExecutable } from './bundle.ts';
import { runCommand } from './controlplane/command.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

describe('a bundle', () => {
  let folder: string;
  before(async () => {
    // Inside the project, so that its packages are found.
    await mkdir(join(ROOT, 'build'), { recursive: true });
    folder = await mkdtemp(join(ROOT, 'build/bundle-test-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function bundled(sources: Readonly<Record<string, string>>) {
    for (const [name, text] of Object.entries(sources)) await writeFile(join(folder, name), text);
    return bundle(relative(ROOT, join(folder, 'main.ts')), 'main', join(folder, 'out'));
  }

  it('is rejected if a CommonJS package is imported lazily, because it would have no named exports', async () => {
    const main = "export const read = async (text) => (await import('yaml')).parse(text);";
    await assert.rejects(bundled({ 'main.ts': main }), /^Error: build\/bundle-test-\w+\/main\.ts imports yaml lazily/);
  });

  it('works if a lazily imported module imports the package statically', async () => {
    const files = await bundled({
      'main.ts': "export const read = async (text) => (await import('./lazy.ts')).read(text);",
      'lazy.ts': "import { parse } from 'yaml';\nexport const read = (text) => parse(text);",
    });
    assert.deepEqual(files.flatMap(({ source }) => (source ? [source.replace(/.*\//, '')] : [])).sort(), [
      'lazy.ts',
      'main.ts',
    ]);
    const main = await import(pathToFileURL(join(folder, 'out/main.mjs')).href);
    assert.deepEqual(await main.read('a: [1, 2]'), { a: [1, 2] });
  });

  it('can import an ES module of a package lazily, as the AWS SDK does with its credential providers', async () => {
    await bundled({
      'main.ts': "export const load = async () => (await import('@aws-sdk/credential-provider-process')).fromProcess;",
    });
    const main = await import(`${pathToFileURL(join(folder, 'out/main.mjs')).href}?third`);
    assert.equal(typeof (await main.load()), 'function');
  });

  it('has node:http without loading undici, which the operator does not use', async () => {
    await bundled({
      'main.ts': `import http, { Agent, request, STATUS_CODES } from 'node:http';
        const works = http.Agent === Agent && typeof request === 'function' && STATUS_CODES[404] === 'Not Found';
        console.log(works, process.moduleLoadList.some((name) => name.includes('undici')));`,
    });
    const { stdout } = await runCommand(process.execPath, [join(folder, 'out/main.mjs')], { timeoutMs: 10_000 });
    assert.equal(stdout.trim(), 'true false');
  });

  it('has the WebAssembly files of its packages beside it, and an executable has them inside', async () => {
    const program = `import { createReadSyntax } from '${ROOT}controllers/kubernetes/scriptSyntax.ts';
      console.log(JSON.stringify(await createReadSyntax()('a\\nexit')));`;
    const files = await bundled({ 'main.ts': program });
    assert.equal(files.filter(({ file }) => file.endsWith('.wasm')).length, 2);
    const executable = await bundleExecutable(relative(ROOT, join(folder, 'main.ts')), 'alone', join(folder, 'alone'));
    assert.equal(executable.length, 1);
    for (const file of ['out/main.mjs', 'alone/alone']) {
      const { stdout } = await runCommand(process.execPath, [join(folder, file)], { timeoutMs: 30_000 });
      assert.equal(stdout, '{"exit":2}\n');
      const notices = await readFile(join(folder, dirname(file), 'THIRD_PARTY_NOTICES'), 'utf8');
      for (const name of ['tree-sitter-powershell', 'web-tree-sitter'])
        assert.match(notices, new RegExp(`^${name} \\S+: MIT$`, 'm'));
    }
  });

  it('as an executable file tells who runs it with an old Node.js which version it needs', async () => {
    await writeFile(join(folder, 'program.ts'), "console.log('ran');");
    await bundleExecutable(
      relative(ROOT, join(folder, 'program.ts')),
      'kubectl-windowspool',
      join(folder, 'executable'),
    );
    const run = async (version: string) => {
      const versions = `{ value: { ...process.versions, node: ${JSON.stringify(version)} } }`;
      const pretend = `data:text/javascript,Object.defineProperty(process, 'versions', ${versions})`;
      const args = ['--import', pretend, join(folder, 'executable/kubectl-windowspool')];
      const { code, stdout, stderr } = await runCommand(process.execPath, args, { timeoutMs: 60_000 });
      return [code, stdout, stderr];
    };
    const refused = async (version: string) => {
      const [code, stdout, stderr] = await run(version);
      assert.deepEqual([code, stdout], [1, '']);
      assertNames(String(stderr), 'Node.js 22.21', version);
    };
    await refused('20.20.2');
    await refused('22.20.0');
    for (const version of ['22.21.0', '24.1.0']) assert.deepEqual(await run(version), [0, 'ran\n', '']);
  });
});
