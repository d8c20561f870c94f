import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { parse, parseAllDocuments } from 'yaml';
import { etcdClientUrl } from './components.ts';
import { builtInUsers, staticTokens } from './identities.ts';
import { kubeconfig, writeSecretFile } from './kubeconfig.ts';
import { lastCertificate, makeLayout, speedUp } from './layout.ts';
import { logTail } from './logTail.ts';
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

  it('the token file has every user, and users keep their tokens', async () => {
    const path = join(folder, 'tokens.csv');
    const first = await staticTokens(path, builtInUsers);
    const second = await staticTokens(path, [...builtInUsers, { name: 'jane', groups: ['dev', 'ops'] }]);
    for (const { name } of builtInUsers) assert.equal(second.get(name), first.get(name), name);
    assert.equal(new Set(second.values()).size, builtInUsers.length + 1);
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    assert.ok(lines.includes(`${second.get('admin')},admin,admin,"system:masters"`), lines[0]);
    assert.equal(lines.at(-1), `${second.get('jane')},jane,jane,"dev,ops"`);
  });

  const oddUsers = [
    { user: { name: 'admin', groups: [] }, message: /admin is there twice/ },
    { user: { name: 'a,b', groups: [] }, message: /comma/ },
    { user: { name: 'a', groups: ['"'] }, message: /quote/ },
    { user: { name: '', groups: [] }, message: /empty name/ },
  ];
  for (const { user, message } of oddUsers) {
    it(`the user ${JSON.stringify(user)} is rejected`, async () => {
      await assert.rejects(staticTokens(join(folder, 'tokens.csv'), [...builtInUsers, user]), message);
    });
  }

  it('a given folder is not a temporary one, and its keys are kept', async () => {
    const one = await makeLayout({ dir: join(folder, 'own') });
    const key = await readFile(one.layout.serviceAccountKey, 'utf8');
    const two = await makeLayout({ dir: join(folder, 'own') });
    assert.equal(await readFile(two.layout.serviceAccountKey, 'utf8'), key);
    assert.deepEqual([one.temporary, two.temporary], [false, false]);
    assert.notEqual(one.layout.kubeconfig('a/b'), one.layout.kubeconfig('a-b'));
    assert.equal(one.layout.kubeconfig('../../etc/passwd').startsWith(join(folder, 'own', 'kubeconfig', '')), true);
  });

  it('an invalid speed leaves no folder behind', async () => {
    const dir = join(folder, 'none');
    await assert.rejects(makeLayout({ dir, kwokSpeed: 0 }), /kwokSpeed is 0\. Give a number above 0/);
    assert.equal(existsSync(dir), false);
  });

  it('the tail of a log has its last lines, or reports that the log is missing', async () => {
    const path = join(folder, 'log');
    await writeFile(path, Array.from({ length: 100 }, (_, index) => `line ${index}\n`).join(''));
    assert.equal(logTail(path, 2), 'line 98\nline 99');
    assert.match(logTail(join(folder, 'nothing')), /can't be read/);
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

  it('the certificate file of the server ends with its authority', () => {
    const certificate = (body: string) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
    assert.equal(lastCertificate(certificate('leaf') + certificate('authority')), certificate('authority'));
    assert.throws(() => lastCertificate(certificate('leaf')), /found 1 certificates/);
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
