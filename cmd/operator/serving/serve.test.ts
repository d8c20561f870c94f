import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { selfSigned } from './selfSigned.ts';
import { type Endpoint, healthRoute, serve, text } from './serve.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 };
const routes = { '/hello': () => text(200, 'hello'), '/wrong': () => Promise.reject(new Error('it broke')) };

/** What comes back for these bytes until the server closes the connection. */
async function raw({ port }: Endpoint, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (data) => {
    answer += data;
  });
  socket.write(bytes);
  await once(socket, 'close', { signal: AbortSignal.timeout(30_000) });
  return answer;
}

async function handshake({ port }: Endpoint, options: object = {}): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect', { signal: AbortSignal.timeout(10_000) });
  return socket;
}

describe('an endpoint', () => {
  it('responds only to GET and HEAD on its paths', async () => {
    await using endpoint = await serve('test', LOOPBACK, routes);
    const ask = async (path: string, method = 'GET') => {
      const response = await fetch(`http://127.0.0.1:${endpoint.port}${path}`, { method });
      return [response.status, await response.text()];
    };
    assert.deepEqual(await ask('/hello?x=1'), [200, 'hello\n']);
    assert.deepEqual(await ask('/hello', 'HEAD'), [200, '']);
    assert.deepEqual(await ask('/hello', 'POST'), [405, 'Method not allowed. Use GET.\n']);
    assert.deepEqual(await ask('/other'), [404, 'Paths: /hello, /wrong\n']);
    assert.deepEqual(await ask('/__proto__'), [404, 'Paths: /hello, /wrong\n']);
    assert.deepEqual(await ask('/wrong'), [500, 'it broke\n']);
  });

  it('responds with 431 to a large header and with 400 to invalid HTTP', async () => {
    await using endpoint = await serve('test', LOOPBACK, routes);
    const huge = `GET /hello HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${'a'.repeat(17_000)}\r\n\r\n`;
    assert.match(await raw(endpoint, huge), /^HTTP\/1\.1 431 /);
    assert.match(await raw(endpoint, 'hello\r\n\r\n'), /^HTTP\/1\.1 400 /);
    assert.match(await raw(endpoint, 'GET //[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 404 /);
  });

  it('closes the connection of a client that sends its request or handshake too slowly', async () => {
    await using endpoint = await serve('test', LOOPBACK, routes, { requestMs: 400 });
    const tls = selfSigned(['localhost'], Date.now());
    await using secure = await serve('test', LOOPBACK, routes, { tls, requestMs: 400 });
    const began = performance.now();
    const half = 'GET /hello HTTP/1.1\r\nHost:';
    const [slow, silent, shaking] = await Promise.all([raw(endpoint, half), raw(endpoint, ''), raw(secure, '')]);
    assert.match(slow, /^HTTP\/1\.1 408 /);
    assert.match(silent, /^HTTP\/1\.1 408 /);
    assert.equal(shaking, '');
    assert.ok(performance.now() - began >= 400);
  });

  it('closes the connection of a client that does not read responses', async () => {
    const long = { '/long': () => text(200, 'long'.repeat(50_000)) };
    await using endpoint = await serve('test', LOOPBACK, long, { requestMs: 200 });
    const socket = connect(endpoint.port, '127.0.0.1').pause();
    const ended = once(socket, 'error', { signal: AbortSignal.timeout(10_000) });
    // Whole requests, because half of one has a time-out of its own, with longer answers than the system's buffers.
    const request = 'GET /long HTTP/1.1\r\nHost: x\r\n\r\n';
    socket.write(request.repeat(100));
    // A socket that does not read learns of its end when it writes.
    const poke = setInterval(() => socket.write(request), 100);
    try {
      assert.match(String(await ended), /ECONNRESET|EPIPE/);
    } finally {
      clearInterval(poke);
      socket.destroy();
    }
  });

  it('supports only TLS 1.2 or later and HTTP/1.1 if it has a certificate', async () => {
    const pair = selfSigned(['localhost'], Date.now());
    await using endpoint = await serve('test', LOOPBACK, routes, { tls: pair });
    const socket = await handshake(endpoint, { ALPNProtocols: ['h2', 'http/1.1'] });
    assert.equal(socket.alpnProtocol, 'http/1.1');
    socket.destroy();
    await assert.rejects(handshake(endpoint, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' }));
    await assert.rejects(fetch(`http://127.0.0.1:${endpoint.port}/hello`), /fetch failed/);
  });

  it('accepts only ciphers with forward secrecy and authenticated encryption', async () => {
    await using endpoint = await serve('test', LOOPBACK, routes, { tls: selfSigned(['localhost'], Date.now()) });
    const cipherFor = async (options: object) => {
      const socket = await handshake(endpoint, options);
      const { name } = socket.getCipher();
      socket.destroy();
      return name;
    };
    const maxVersion = 'TLSv1.2';
    assert.equal(await cipherFor({}), 'TLS_AES_256_GCM_SHA384');
    assert.equal(await cipherFor({ maxVersion }), 'ECDHE-ECDSA-AES128-GCM-SHA256');
    for (const ciphers of ['ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA384'])
      await assert.rejects(cipherFor({ maxVersion, ciphers }), /handshake failure/, ciphers);
  });

  it('uses a new certificate for new connections, and keeps open ones', async () => {
    const [first, second] = [selfSigned(['first'], Date.now()), selfSigned(['second'], Date.now())];
    await using endpoint = await serve('test', LOOPBACK, routes, { tls: first });
    const open = await handshake(endpoint);
    endpoint.useCertificate(second);
    const next = await handshake(endpoint);
    const nameOf = (socket: TLSSocket) => socket.getPeerX509Certificate()?.subjectAltName?.split(',')[0];
    assert.deepEqual([nameOf(open), nameOf(next)], ['DNS:first', 'DNS:second']);
    open.write('GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const [data] = await once(open, 'data', { signal: AbortSignal.timeout(5_000) });
    assert.match(String(data), /^HTTP\/1\.1 200 /);
    next.destroy();
  });

  it('reports the flag if the address is in use', async () => {
    await using endpoint = await serve('test', LOOPBACK, routes);
    await assert.rejects(serve('metrics-address', { host: '127.0.0.1', port: endpoint.port }, routes), {
      message: new RegExp(`^--metrics-address=127\\.0\\.0\\.1:${endpoint.port}: .*EADDRINUSE`),
    });
  });
});

describe('the health of the operator', () => {
  it('has a line for each check, and status 503 while one fails', () => {
    assert.deepEqual(healthRoute([['a', () => undefined]])(), text(200, '[+] a ok'));
    const checks = [
      ['a', () => undefined],
      ['b', () => 'not synced yet'],
    ] as const;
    assert.deepEqual(healthRoute(checks)(), text(503, '[+] a ok\n[-] b: not synced yet'));
  });
});
