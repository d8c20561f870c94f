import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { createKubernetesClient, PATCH } from './client.ts';
import { Connections } from './connections.ts';
import { KubernetesError } from './kubernetesError.ts';
import { json, kubeconfig, loopback, quiet } from './testing/loopbackServer.ts';

const live = (): AbortSignal => new AbortController().signal;

async function failureOf(call: Promise<unknown>): Promise<KubernetesError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof KubernetesError, `a KubernetesError, not ${error}`);
  return error;
}

describe('the Kubernetes client', () => {
  it('sends and returns JSON, with the credentials', async () => {
    await using server = await loopback((_, response) => json(response, 200, { answer: 42 }));
    const query = { fieldManager: 'a/b', force: true, limit: 5, absent: undefined };
    const options = { query, body: { a: 'ü' }, contentType: PATCH.apply, signal: live() };
    const answer = await server.client.request('PATCH', '/apis/x/y', options);
    assert.deepEqual(answer, { answer: 42 });
    const [seen] = server.requests;
    assert.deepEqual([seen?.method, seen?.path, seen?.body], ['PATCH', '/apis/x/y', { a: 'ü' }]);
    assert.deepEqual(seen?.query, { fieldManager: 'a/b', force: 'true', limit: '5' });
    const { authorization, accept, 'content-type': type, 'user-agent': agent } = seen?.headers ?? {};
    assert.deepEqual(
      [authorization, accept, type],
      ['Bearer secret', 'application/json', 'application/apply-patch+yaml'],
    );
    assert.equal(agent, 'windowspool-operator/test');
    assert.deepEqual(server.counted, ['200 PATCH']);
  });

  it('sends the body of a DELETE', async () => {
    await using server = await loopback((_, response) => json(response, 200, {}));
    const body = { preconditions: { uid: 'ü' } };
    await server.client.request('DELETE', '/x', { body, signal: live() });
    assert.deepEqual(server.requests[0]?.body, body);
  });

  const refusals: { says: string; status: number; body: string; headers?: Record<string, string>; expected: object }[] =
    [
      {
        says: 'a Status',
        status: 409,
        body: JSON.stringify({ kind: 'Status', reason: 'Conflict', message: 'the object has been modified' }),
        expected: { status: 409, reason: 'Conflict', message: 'the object has been modified', retryAfterMs: undefined },
      },
      {
        says: 'a Status with details',
        status: 504,
        body: JSON.stringify({
          kind: 'Status',
          reason: 'Timeout',
          message: 'late',
          details: { retryAfterSeconds: 2, causes: [{ reason: 'ResourceVersionTooLarge' }] },
        }),
        expected: { status: 504, causes: ['ResourceVersionTooLarge'], retryAfterMs: 2_000 },
      },
      {
        says: 'Retry-After',
        status: 429,
        body: 'slow down',
        headers: { 'retry-after': '7' },
        expected: {
          status: 429,
          reason: 'HTTP429',
          message: 'the API server responded with 429: slow down',
          retryAfterMs: 7_000,
        },
      },
      {
        says: 'a page of a load balancer',
        status: 502,
        body: '<html><body><h1>502</h1> Bad   Gateway</body></html>',
        expected: { status: 502, message: 'the API server responded with 502: 502 Bad Gateway' },
      },
      {
        says: 'an empty body',
        status: 500,
        body: '',
        expected: { status: 500, message: 'the API server responded with 500: empty body' },
      },
      { says: 'JSON that is not a Status', status: 400, body: '[]', expected: { status: 400, reason: 'HTTP400' } },
    ];
  for (const { says, status, body, headers, expected } of refusals) {
    it(`parses an error response with ${says}`, async () => {
      await using server = await loopback((_, response) => void response.writeHead(status, headers).end(body));
      const error = await failureOf(server.client.request('GET', '/x', { signal: live() }));
      const { message, status: got, reason, causes, retryAfterMs } = error;
      const seen: Record<string, unknown> = { message, status: got, reason, causes, retryAfterMs };
      assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, seen[name]])), expected);
    });
  }

  it('reports that there was no response', async () => {
    await using server = await loopback((request, response) => {
      if (request.path === '/reset') response.destroy();
      if (request.path === '/cut')
        response.writeHead(200, { 'content-length': '100' }).write('{"a":', () => response.destroy());
      if (request.path === '/garbage') response.end('<html>');
    });
    const ask = (path: string, timeoutMs = 5_000): Promise<KubernetesError> =>
      failureOf(server.client.request('GET', path, { signal: live(), timeoutMs }));
    const errors = [await ask('/reset'), await ask('/cut'), await ask('/garbage'), await ask('/hang', 50)];
    assert.deepEqual(
      errors.map(({ status, reason }) => [status, reason]),
      [
        [undefined, 'ECONNRESET'],
        [undefined, 'ECONNRESET'],
        [undefined, 'MalformedAnswer'],
        [undefined, 'TimeoutError'],
      ],
    );
    assert.deepEqual(server.counted, ['<error> GET', '200 GET', '200 GET', '<error> GET']);
    const { url } = server;
    await server[Symbol.asyncDispose]();
    const folder = await mkdtemp(join(tmpdir(), 'client-'));
    await writeFile(join(folder, 'kubeconfig'), kubeconfig(url, {}));
    const client = await createKubernetesClient({
      kubeconfigPath: join(folder, 'kubeconfig'),
      log: quiet,
      version: 'test',
    });
    const refused = await failureOf(client.request('GET', '/x', { signal: live() }));
    assert.equal(refused.reason, 'ECONNREFUSED');
    await rm(folder, { recursive: true });
  });

  it('reports the warnings of responses, under the name of its program', async () => {
    const warning = '299 - "spec.x: \\"old\\" is deprecated", 299 - "unknown field"';
    await using server = await loopback((_, response) => json(response, 200, {}, { warning }));
    const folder = await mkdtemp(join(tmpdir(), 'client-'));
    const kubeconfigPath = join(folder, 'kubeconfig');
    await writeFile(kubeconfigPath, kubeconfig(server.url, {}));
    const warnings: string[] = [];
    const client = await createKubernetesClient({
      kubeconfigPath,
      log: quiet,
      version: '1.2.3',
      program: 'kubectl-windowspool',
      onWarning: (text) => warnings.push(text),
    });
    try {
      await client.request('GET', '/x', { signal: live() });
      assert.deepEqual(warnings, ['spec.x: "old" is deprecated', 'unknown field']);
      assert.equal(server.requests[0]?.headers['user-agent'], 'kubectl-windowspool/1.2.3');
    } finally {
      client.close();
      await rm(folder, { recursive: true });
    }
  });

  it("throws the caller's reason when the caller aborts", async () => {
    await using server = await loopback(() => undefined);
    const aborting = new AbortController();
    const asked = server.client.request('GET', '/hang', { signal: aborting.signal });
    aborting.abort(new Error('enough'));
    await assert.rejects(asked, /^Error: enough$/);
    await assert.rejects(server.client.request('GET', '/x', { signal: aborting.signal }), /^Error: enough$/);
  });

  it('applies its signal and its timeout while it connects', async () => {
    // The TLS handshake never gets a response.
    const sockets: Socket[] = [];
    const mute = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const folder = await mkdtemp(join(tmpdir(), 'mute-'));
    const kubeconfigPath = join(folder, 'kubeconfig');
    const url = `https://127.0.0.1:${(mute.address() as AddressInfo).port}`;
    await writeFile(kubeconfigPath, kubeconfig(url, { token: 'secret' }));
    const client = await createKubernetesClient({ kubeconfigPath, log: quiet, version: 'test' });
    try {
      const started = performance.now();
      const { reason } = await failureOf(client.request('GET', '/late', { signal: live(), timeoutMs: 50 }));
      assert.equal(reason, 'TimeoutError');
      const stopped = client.request('GET', '/stopped', { signal: AbortSignal.timeout(50) });
      await assert.rejects(stopped, { name: 'TimeoutError' });
      // The default time-out is 30 s.
      assert.ok(performance.now() - started < 20_000, 'both ended at once');
    } finally {
      client.close();
      for (const socket of sockets) socket.destroy();
      mute.close();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('streams chunks as they arrive, and ends when the server ends the response', async () => {
    const first = Promise.withResolvers<void>();
    await using server = await loopback(async (_, response) => {
      response.writeHead(200).write('one\n');
      await first.promise;
      response.end('two\n');
    });
    const pieces: string[] = [];
    for await (const piece of server.client.stream('/x', {
      query: { watch: 1 },
      accept: 'text/plain',
      signal: live(),
    })) {
      pieces.push(Buffer.from(piece).toString());
      first.resolve();
    }
    assert.deepEqual(pieces, ['one\n', 'two\n']);
    assert.equal(server.requests[0]?.headers.accept, 'text/plain');
  });

  it('ends a stream that is aborted, broken, rejected or abandoned', async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await loopback((request, response) => {
      if (request.path === '/refused')
        return json(response, 410, { kind: 'Status', reason: 'Expired', message: 'too old' });
      response.writeHead(200).write('one\n', () => {
        if (request.path === '/cut') response.destroy();
      });
      if (request.path === '/left') response.on('close', () => closed.resolve());
    });
    const drain = async (path: string, signal: AbortSignal, onPiece: () => void = () => undefined): Promise<void> => {
      for await (const _ of server.client.stream(path, { accept: 'text/plain', signal })) onPiece();
    };
    const aborting = new AbortController();
    await assert.rejects(
      drain('/aborted', aborting.signal, () => aborting.abort(new Error('enough'))),
      /^Error: enough$/,
    );
    assert.equal((await failureOf(drain('/cut', live()))).reason, 'ECONNRESET');
    assert.equal((await failureOf(drain('/refused', live()))).status, 410);
    for await (const _ of server.client.stream('/left', { accept: 'text/plain', signal: live() })) break;
    await closed.promise;
  });

  it('reuses one connection for sequential requests, and opens more for concurrent ones', async () => {
    await using server = await loopback((_, response) => json(response, 200, {}));
    for (let count = 0; count < 20; count++) await server.client.request('GET', '/x', { signal: live() });
    assert.equal(server.connections(), 1);
    await Promise.all(Array.from({ length: 200 }, () => server.client.request('GET', '/x', { signal: live() })));
    assert.ok(server.connections() <= 32, `${server.connections()} connections`);
  });

  it('sends no write of a process that does not lead, not even on a connection that was established before', async () => {
    let leads = true;
    const fence = {
      check: () => {
        if (!leads) throw new Error('the lease was lost');
      },
    };
    await using server = await loopback((_, response) => json(response, 200, {}), undefined, fence);
    const methods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;
    const write = (method: (typeof methods)[number], unfenced = false) =>
      server.client.request(method, `/${method}`, { body: {}, signal: live(), unfenced });
    for (const connected of [false, true]) {
      leads = false;
      for (const method of methods)
        await assert.rejects(write(method), /the lease was lost/, `connected: ${connected}`);
      assert.deepEqual(server.requests, []);
      leads = true;
      for (const method of methods) await write(method);
      assert.equal(server.requests.splice(0).length, 4);
    }
    leads = false;
    await server.client.request('GET', '/x', { signal: live() });
    await write('PUT', true);
    assert.deepEqual(
      server.requests.map(({ method }) => method),
      ['GET', 'PUT'],
    );
  });

  it('closes a connection that is idle for five seconds, and none in use', async function () {
    this.timeout(60_000);
    const closed = Promise.withResolvers<number>();
    const started = performance.now();
    await using server = await loopback((request, response) => {
      if (request.path === '/long') return void response.writeHead(200).write('begun');
      response.socket?.once('close', () => closed.resolve(performance.now() - started));
      json(response, 200, {});
    });
    const long = server.client.stream('/long', { accept: 'text/plain', signal: live() });
    assert.equal((await long.next()).done, false);
    await server.client.request('GET', '/x', { signal: live() });
    assert.ok((await closed.promise) > 4_000);
    const more = long.next();
    const soon = await Promise.race([more, new Promise((resolve) => setImmediate(resolve, 'still open'))]);
    assert.equal(soon, 'still open');
    server.client.close();
    await assert.rejects(more);
  });

  it('runs an exec plugin once for concurrent requests, and reports its failure', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'client-'));
    const log = join(folder, 'runs');
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'from the plugin' },
    };
    const script = `require('fs').appendFileSync(${JSON.stringify(log)}, 'run\\n'); console.log(${JSON.stringify(JSON.stringify(credential))})`;
    const plugin = (code: string): object => ({
      exec: { apiVersion: credential.apiVersion, command: process.execPath, args: ['-e', code] },
    });
    {
      await using server = await loopback((_, response) => json(response, 200, {}), plugin(script));
      await Promise.all([1, 2, 3].map(() => server.client.request('GET', '/x', { signal: live() })));
      assert.deepEqual(
        server.requests.map(({ headers }) => headers.authorization),
        ['Bearer from the plugin', 'Bearer from the plugin', 'Bearer from the plugin'],
      );
      assert.equal(await readFile(log, 'utf8'), 'run\n');
    }
    await using server = await loopback(
      (_, response) => json(response, 200, {}),
      plugin('console.error("no session"); process.exit(1)'),
    );
    const error = await failureOf(server.client.request('GET', '/x', { signal: live() }));
    assert.deepEqual(
      [error.reason, error.message.trim()],
      ['NoCredentials', `no credentials for ${server.url}: no session`],
    );
    await rm(folder, { recursive: true });
  });

  it('reports errors in a kubeconfig with a remedy', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'client-'));
    const make = async (text: string): Promise<void> => {
      await writeFile(join(folder, 'kubeconfig'), text);
      await createKubernetesClient({ kubeconfigPath: join(folder, 'kubeconfig'), log: quiet, version: 'test' });
    };
    const socks = kubeconfig('https://127.0.0.1:1', {}, { 'proxy-url': 'socks5://127.0.0.1:1' });
    const other = kubeconfig('https://127.0.0.1:1', {}).replace(
      '"current-context":"test"',
      '"current-context":"other"',
    );
    await assert.rejects(make(socks), /proxy-url socks5:.* is a SOCKS proxy/);
    await assert.rejects(make(other), /the current context has no cluster. Set current-context/);
    await assert.rejects(make('clusters: ['), /^Error: Cannot read kubeconfig .*kubeconfig: /);
    await assert.rejects(
      createKubernetesClient({ kubeconfigPath: '/does/not/exist', log: quiet, version: 'test' }),
      /^Error: Cannot read kubeconfig \/does\/not\/exist: /,
    );
    await assert.rejects(createKubernetesClient({ log: quiet, version: 'test' }), /ServiceAccount.*Set --kubeconfig/);
    await rm(folder, { recursive: true });
  });

  it('uses the proxy of the kubeconfig', async () => {
    const asked: (string | undefined)[] = [];
    const proxy = createHttpServer((request, response) => {
      asked.push(request.url);
      json(response, 200, { by: 'the proxy' });
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const folder = await mkdtemp(join(tmpdir(), 'proxy-'));
    const kubeconfigPath = join(folder, 'kubeconfig');
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    await writeFile(kubeconfigPath, kubeconfig('http://cluster.invalid', {}, { 'proxy-url': url }));
    const client = await createKubernetesClient({ kubeconfigPath, log: quiet, version: 'test' });
    try {
      assert.deepEqual(await client.request('GET', '/x', { signal: live() }), { by: 'the proxy' });
      assert.deepEqual(asked, ['http://cluster.invalid/x']);
    } finally {
      client.close();
      proxy.close();
      await rm(folder, { recursive: true });
    }
  });

  it('reconnects only when the CA changes', async () => {
    const connections = new Connections('https://127.0.0.1:1', undefined, quiet);
    const [one, two] = rootCertificates.map((pem) => Buffer.from(pem));
    assert.ok(one && two);
    const first = connections.agent({ ca: one });
    assert.equal(connections.agent({ ca: Buffer.from(one) }), first);
    assert.notEqual(connections.agent({ ca: two }), first);
    assert.notEqual(connections.agent({ ca: two, cert: one }), connections.agent({ ca: two, cert: two }));
    assert.equal(connections.agent({ ca: two, cert: two }), connections.agent({ ca: two, cert: two }));
    connections.close();
  });
});
