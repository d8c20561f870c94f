import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PodCredentials } from './podCredentials.ts';

describe('the credentials of a pod', () => {
  let dir: string;
  const env = { KUBERNETES_SERVICE_HOST: '10.100.0.1', KUBERNETES_SERVICE_PORT: '443' };
  const write = (file: string, content: string): Promise<void> => writeFile(join(dir, file), content);
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'pod-'));
    await Promise.all([write('token', 'first\n'), write('ca.crt', 'authority'), write('namespace', 'operators\n')]);
  });
  afterEach(() => rm(dir, { recursive: true }));

  it('are read from the directory and the environment', async () => {
    const credentials = new PodCredentials(dir, env);
    assert.deepEqual([credentials.server, credentials.namespace], ['https://10.100.0.1:443', 'operators']);
    const { headers, tls } = await credentials.authenticate();
    assert.deepEqual([headers, tls], [{ authorization: 'Bearer first' }, { ca: Buffer.from('authority') }]);
  });

  it('are read once for concurrent requests, and again after a failure', async () => {
    const credentials = new PodCredentials(dir, env, Number.POSITIVE_INFINITY);
    await rm(join(dir, 'token'));
    await assert.rejects(credentials.authenticate(), { code: 'ENOENT' });
    await write('token', 'first');
    const before = await credentials.authenticate();
    await write('token', 'second');
    assert.equal(await credentials.authenticate(), before);
  });

  it('are read again when they are rotated', async () => {
    const credentials = new PodCredentials(dir, env, 0);
    await credentials.authenticate();
    await Promise.all([write('token', 'second'), write('ca.crt', 'another')]);
    const { headers, tls } = await credentials.authenticate();
    assert.deepEqual([headers, tls], [{ authorization: 'Bearer second' }, { ca: Buffer.from('another') }]);
  });

  it('can have no namespace, and a server with an IPv6 address', async () => {
    await rm(join(dir, 'namespace'));
    const { server, namespace } = new PodCredentials(dir, { KUBERNETES_SERVICE_HOST: 'fd00::1' });
    assert.deepEqual([server, namespace], ['https://[fd00::1]:443', undefined]);
  });

  it('are an error with a remedy if they do not exist', async () => {
    const expected = /ServiceAccount.* Set --kubeconfig/;
    assert.throws(() => new PodCredentials(dir, {}), expected);
    await rm(join(dir, 'token'));
    assert.throws(() => new PodCredentials(dir, env), expected);
  });
});
