import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import pino from 'pino/package.json' with { type: 'json' };
import { assertNames } from '../../test/messages.ts';
import type { BundledPackage } from '../licences.ts';
import { readAdvisories } from './advisories.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Requests as the real npm sends them are answered by a server in the place of the registry. */
describe('the advisories of packages', () => {
  const shipped: readonly BundledPackage[] = [
    { folder: 'node_modules/pino', name: 'pino', version: pino.version, licence: 'MIT' },
    { folder: 'node_modules/yaml', name: 'yaml', version: '2.9.1', licence: 'ISC' },
  ];
  const advisory = (id: number, severity: string) => ({
    id,
    url: `https://example.com/${id}`,
    title: `Title ${id}`,
    severity,
    vulnerable_versions: '*',
    cwe: [],
    cvss: { score: 0, vectorString: null },
  });
  let server: Server;
  let answer: { readonly status: number; readonly body: unknown };

  before(async () => {
    server = createServer((request, response) => {
      const bulk = request.method === 'POST';
      request.resume().on('end', () => {
        response.writeHead(bulk ? answer.status : 404, { 'content-type': 'application/json' });
        response.end(JSON.stringify(bulk ? answer.body : {}));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());

  const read = () =>
    readAdvisories(ROOT, shipped, [`--registry=http://127.0.0.1:${(server.address() as AddressInfo).port}`]);

  it('are findings if they are high or critical and the package is in the bundle', async () => {
    const body = {
      pino: [advisory(1, 'critical'), advisory(2, 'moderate'), advisory(3, 'high')],
      yaml: [advisory(4, 'low')],
      mocha: [advisory(5, 'critical')],
    };
    answer = { status: 200, body };
    const found = await read();
    assert.ok(found.read);
    const [critical, high, ...others] = [...found.findings].sort();
    assert.deepEqual(others, []);
    assertNames(critical, `pino ${pino.version}`, 'critical', 'Title 1 (https://example.com/1)');
    assertNames(high, `pino ${pino.version}`, 'high', 'Title 3 (https://example.com/3)');
  });

  it('are none if the registry knows of none', async () => {
    answer = { status: 200, body: {} };
    assert.deepEqual(await read(), { read: true, findings: [] });
  });

  it('are not read if the registry refuses the question', async () => {
    answer = { status: 405, body: {} };
    const found = await read();
    assert.match(found.read ? 'read' : found.reason, /^405 Method Not Allowed/);
  });

  it('are not read if nothing answers', async () => {
    const found = await readAdvisories(ROOT, shipped, ['--registry=http://127.0.0.1:1']);
    assert.match(found.read ? 'read' : found.reason, /ECONNREFUSED/);
  });
});
