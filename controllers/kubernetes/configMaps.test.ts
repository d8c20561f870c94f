import assert from 'node:assert/strict';
import { createInstanceLists, createUserScripts } from './configMaps.ts';
import { type Handler, json, loopback } from './testing/loopbackServer.ts';

const { signal } = new AbortController();

/** The list of hosts, and the path of the request. */
async function read(answering: Handler) {
  await using server = await loopback(answering);
  const answer = await createInstanceLists(server.client).read({ namespace: 'ops', name: 'hosts' }, signal);
  return { answer, asked: server.requests.map(({ method, path }) => `${method} ${path}`) };
}

const failing = (code: number, reason: string) => {
  const status = { kind: 'Status', status: 'Failure', code, reason, message: reason };
  return (_request: unknown, response: Parameters<Handler>[1]) => json(response, code, status);
};

describe('a list of hosts that is read without a cache', () => {
  it('is the data of its ConfigMap', async () => {
    const { answer, asked } = await read((_request, response) => json(response, 200, { data: { '10.0.0.1': '' } }));
    assert.deepEqual(answer, { ok: true, value: { kind: 'seen', data: { '10.0.0.1': '' } } });
    assert.deepEqual(asked, ['GET /api/v1/namespaces/ops/configmaps/hosts']);
  });

  it('can be empty or absent', async () => {
    const { answer } = await read((_request, response) => json(response, 200, {}));
    assert.deepEqual(answer, { ok: true, value: { kind: 'seen', data: {} } });
    assert.deepEqual((await read(failing(404, 'NotFound'))).answer, { ok: true, value: { kind: 'absent' } });
  });

  it('is an error if it cannot be read', async () => {
    const { answer } = await read(failing(403, 'Forbidden'));
    assert.deepEqual(answer.ok ? answer.value : [answer.error.kind, answer.error.operation], [
      'denied',
      'get configmaps ops/hosts',
    ]);
  });
});

describe('a script in a ConfigMap', () => {
  const script = async (map: object, key = 'a.ps1') => {
    await using server = await loopback((_request, response) => json(response, 200, map));
    const answer = await createUserScripts(server.client, 'ops').read({ configMap: 'windows', key }, signal);
    assert.deepEqual(
      server.requests.map(({ method, path }) => `${method} ${path}`),
      ['GET /api/v1/namespaces/ops/configmaps/windows'],
    );
    return answer.ok ? answer.value : assert.fail(answer.error.message);
  };
  const found = { namespace: 'ops', keys: [], text: undefined, isBinary: false };

  it('is the value of its key, in the namespace of the operator', async () => {
    assert.deepEqual(await script({ data: { 'b.ps1': 'b', 'a.ps1': 'a' } }), {
      ...found,
      keys: ['a.ps1', 'b.ps1'],
      text: 'a',
      syntax: {},
    });
  });

  it('is not found without the key, and also if an object has such a member', async () => {
    assert.deepEqual(await script({}), found);
    assert.deepEqual(await script({ data: { a: 'b' } }, 'toString'), { ...found, keys: ['a'] });
  });

  it('is not a text if it is not UTF-8', async () => {
    assert.deepEqual(await script({ binaryData: { 'a.ps1': '//4=' } }), { ...found, isBinary: true });
    assert.deepEqual(await script({ data: { 'a.ps1': 'a' }, binaryData: { 'a.ps1': '//4=' } }), {
      ...found,
      keys: ['a.ps1'],
      text: 'a',
      syntax: {},
    });
  });

  it('is parsed', async () => {
    const { syntax } = await script({ data: { 'a.ps1': 'a\nexit\nb {' } });
    assert.deepEqual(syntax, { exit: 2, error: 3 });
  });
});
