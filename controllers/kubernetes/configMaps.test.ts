import assert from 'node:assert/strict';
import { createInstanceLists } from './configMaps.ts';
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
