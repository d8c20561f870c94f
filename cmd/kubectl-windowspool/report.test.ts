import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { reportCommand } from './report.ts';
import type { FakeApi } from './testing/fakeApi.ts';
import { NEW, nodesOf } from './testing/migrations.ts';
import { operatorIn } from './testing/operatorObjects.ts';
import { recordedTerminal } from './testing/recordedTerminal.ts';

const LOG = [
  '{"key":"new","msg":"password=hunter2"}',
  '-----BEGIN PRIVATE KEY-----',
  'hunter2',
  '-----END PRIVATE KEY-----',
  'The last line.',
];

describe('kubectl windowspool report', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-report-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  function cluster(): FakeApi {
    const api = operatorIn('operator-a_0a1b2c3d');
    api.pools = [NEW];
    api.nodes = nodesOf(NEW, 2, { annotations: { 'example.com/note': 'hunter2' } });
    const event = (kind: string, name: string) => ({
      metadata: { name: `${name}.1` },
      regarding: { kind, name },
      note: 'x',
    });
    api.add('events', event('WindowsPool', 'new'), event('Node', 'new-1'), event('Node', 'linux-1'));
    api.intercept = (_, path) => {
      if (path === '/version') return { status: 200, body: { gitVersion: 'v1.36.3' } };
      return path.endsWith('/log') ? { status: 200, body: LOG.join('\n') } : undefined;
    };
    return api;
  }

  /** Runs the command, and returns what it printed. */
  async function run(api: FakeApi, outputDirectory: string): Promise<string> {
    const terminal = recordedTerminal();
    await using served = await api.serve();
    const context = { terminal, version: '0.1.0', signal: served.cluster.signal, connect: async () => served.cluster };
    await reportCommand.run(context, [], { requestTimeout: 5_000, outputDirectory });
    return terminal.lines.join('\n');
  }

  it('writes what is needed to find a fault, without secrets, for the user only', async () => {
    const target = join(folder, 'report');
    const printed = await run(cluster(), target);
    const files = (await readdir(target, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    const texts: Record<string, string> = {};
    for (const { parentPath, name } of files) {
      const path = join(parentPath, name);
      texts[path.slice(target.length + 1)] = await readFile(path, 'utf8');
      assert.equal((await stat(path)).mode & 0o077, 0, path);
    }
    assert.deepEqual(Object.keys(texts).sort(), [
      'events.yaml',
      'nodes.yaml',
      'operator/deployment.yaml',
      'operator/lease.yaml',
      'operator/operator-a.log',
      'operator/operator-b.log',
      'operator/pods.yaml',
      'overview.txt',
      'pools.yaml',
      'runtimeclasses.yaml',
      'version.yaml',
    ]);
    for (const [path, text] of Object.entries(texts)) {
      assert.ok(!text.includes('hunter2'), path);
      assert.ok(printed.includes(`  ${path} `), path);
    }
    assert.deepEqual(
      parse(texts['events.yaml'] ?? '').map((event: { regarding: { name: string } }) => event.regarding.name),
      ['new', 'new-1'],
    );
    assert.match(texts['operator/operator-a.log'] ?? '', /\nThe last line\.\n$/);
    assert.match(texts['overview.txt'] ?? '', /^Pool new is Ready$/m);
    assert.match(printed, /^Not included: Secrets, /m);
  });

  it('leaves out what the user may not read, and does not overwrite a folder', async () => {
    const api = cluster();
    for (const resource of ['nodes', 'deployments']) api.denied.add(resource);
    const target = join(folder, 'denied');
    const printed = await run(api, target);
    assert.match(printed, /^SKIP {2}Nodes: Permission denied: /m);
    assert.deepEqual((await readdir(target)).sort(), [
      'events.yaml',
      'overview.txt',
      'pools.yaml',
      'runtimeclasses.yaml',
      'version.yaml',
    ]);
    await assert.rejects(run(api, target), /^Failure: Cannot write .*: it exists already\. .* --output-directory\.$/);
  });
});
