import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { selfSigned } from './selfSigned.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

describe('a self-signed certificate', () => {
  it('is valid only for its names and for servers, and is signed with its own key', () => {
    const { cert, key } = selfSigned(['localhost', 'operator-0'], NOW);
    const certificate = new X509Certificate(cert);
    assert.equal(certificate.subjectAltName, 'DNS:localhost, DNS:operator-0, IP Address:127.0.0.1');
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    assert.deepEqual([certificate.ca, certificate.subject], [false, certificate.issuer]);
    assert.ok(certificate.verify(certificate.publicKey));
    assert.ok(certificate.checkPrivateKey(createPrivateKey(key)));
  });

  for (const [year, until] of [
    ['2026-03-01', '2036-02-27'],
    ['2039-06-01', '2049-05-29'],
    ['2045-06-01', '2055-05-30'],
  ] as const) {
    it(`created in ${year.slice(0, 4)} is valid for ten years, starting the day before`, () => {
      const { validFrom, validTo } = new X509Certificate(
        selfSigned(['localhost'], Date.parse(`${year}T00:00:00Z`)).cert,
      );
      const day = (text: string) => new Date(text).toISOString().slice(0, 10);
      assert.deepEqual([Date.parse(`${year}T00:00:00Z`) - Date.parse(validFrom), day(validTo)], [86_400_000, until]);
    });
  }

  it('has a different key and serial number each time', () => {
    const many = Array.from({ length: 50 }, () => new X509Certificate(selfSigned(['localhost'], NOW).cert));
    assert.equal(new Set(many.map(({ serialNumber }) => serialNumber)).size, 50);
    assert.ok(many.every(({ serialNumber }) => serialNumber.length === 32));
  });

  it('is accepted by a client that trusts it', async () => {
    const pair = selfSigned(['localhost'], Date.now());
    const server = createServer(pair, (_, response) => response.end('hello')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const request = get({ host: '127.0.0.1', port, servername: 'localhost', ca: pair.cert });
      const [response] = await once(request, 'response', { signal: AbortSignal.timeout(5_000) });
      assert.equal(response.statusCode, 200);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
