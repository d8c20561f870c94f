import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { parse, parseAllDocuments } from 'yaml';
import { etcdClientUrl } from './components.ts';
import { kubeconfig, writeSecretFile } from './kubeconfig.ts';
import { makeLayout, speedUp } from './layout.ts';
import { portTaken } from './ports.ts';

describe('files of a control plane', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-files-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('a kubeconfig has the server, the CA and the credentials, whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.base64String(), (name, token) => {
        const config = parse(kubeconfig('https://127.0.0.1:20001', 'Q0E=', { name, token }));
        assert.deepEqual(config, {
          apiVersion: 'v1',
          kind: 'Config',
          clusters: [
            { name: 'local', cluster: { server: 'https://127.0.0.1:20001', 'certificate-authority-data': 'Q0E=' } },
          ],
          users: [{ name, user: { token } }],
          contexts: [{ name: 'local', context: { cluster: 'local', user: name } }],
          'current-context': 'local',
        });
      }),
    );
  });

  it('a secret file is only readable by its owner, and leaves no temporary file', async () => {
    const path = join(folder, 'secret');
    await writeSecretFile(path, 'one');
    await writeSecretFile(path, 'two');
    assert.equal(await readFile(path, 'utf8'), 'two');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ['secret']);
  });

  it('have the tokens of all users, and unique names for kubeconfigs', async () => {
    const layout = await makeLayout();
    await rm(folder, { recursive: true });
    folder = layout.dir;
    const lines = (await readFile(layout.tokensFile, 'utf8')).trimEnd().split('\n');
    assert.equal(lines[0], `${layout.tokens.admin},admin,admin,system:masters`);
    assert.equal(new Set(Object.values(layout.tokens)).size, lines.length);
    assert.notEqual(layout.kubeconfig('a/b'), layout.kubeconfig('a-b'));
    assert.ok(layout.kubeconfig('../../etc/passwd').startsWith(join(layout.dir, 'kubeconfig', '')));
  });
});

describe('the logs of components', () => {
  it('show the port of etcd', () => {
    const line = (what: string, address: string) =>
      JSON.stringify({ level: 'info', msg: what, traffic: 'grpc', address });
    const log = [
      line('serving peer traffic', '127.0.0.1:1'),
      line('serving client traffic insecurely; this is strongly discouraged!', '127.0.0.1:34567'),
    ];
    assert.equal(etcdClientUrl(log.join('\n')), 'http://127.0.0.1:34567');
    assert.equal(etcdClientUrl(log[0] ?? ''), undefined);
  });

  it('distinguish a port in use from other errors', () => {
    assert.ok(
      portTaken('failed to listen on 127.0.0.1:20000: listen tcp 127.0.0.1:20000: bind: address already in use'),
    );
    assert.ok(!portTaken('unknown flag: --nonsense'));
  });
});

describe("kwok's stages", () => {
  const stages = readFile(fileURLToPath(new URL('kwok.yaml', import.meta.url)), 'utf8');
  const delays = (text: string) =>
    parseAllDocuments(text).flatMap((document) => {
      const delay = (document.toJS() as { spec: { delay?: Record<string, number> } }).spec.delay;
      return delay ? [delay] : [];
    });

  it('report a status every 5 to 5.5 minutes at speed 1, and faster with another speed', async () => {
    const text = await stages;
    assert.deepEqual(delays(speedUp(text, 1)), [
      { durationMilliseconds: 300_000, jitterDurationMilliseconds: 330_000 },
    ]);
    assert.deepEqual(delays(speedUp(text, 100)), [{ durationMilliseconds: 3000, jitterDurationMilliseconds: 3300 }]);
  });

  it('keep everything except the delays', async () => {
    const names = (text: string) => parseAllDocuments(text).map((one) => (one.toJS() as { metadata: object }).metadata);
    const text = await stages;
    assert.deepEqual(names(speedUp(text, 7)), names(text));
  });
});
