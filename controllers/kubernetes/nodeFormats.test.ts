import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { Logger, WatchEvent } from '../runtime/ports.ts';
import type { NodeRecord } from '../windowspool/ports/nodes.ts';
import { nodeListWatch, nodeRecordOf } from './nodes.ts';
import { type Handler, json, loopback, quiet } from './testing/loopbackServer.ts';
import { nodeFrame, nodeListBody, stored, windowsNode } from './testing/nodes.ts';
import { envelope, message } from './testing/protobufWriter.ts';

const { signal } = new AbortController();
const node = stored(windowsNode(1), 1);
const LIST = { resourceVersion: '0' };
const WATCH = { resourceVersion: '1', sendInitialEvents: false, timeoutSeconds: 300 };
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

const respond = (response: ServerResponse, type: string, body: Uint8Array | string): void => {
  response.writeHead(200, { 'content-type': type }).end(body);
};
const inJson: Handler = ({ query }, response) => {
  if (query.watch) respond(response, 'application/json', `${JSON.stringify({ type: 'ADDED', object: node })}\n`);
  else json(response, 200, { metadata: { resourceVersion: '7' }, items: [node] });
};
const inProtobuf: Handler = ({ query }, response) => {
  if (query.watch) respond(response, `${PROTOBUF};stream=watch`, nodeFrame('ADDED', node));
  else respond(response, PROTOBUF, nodeListBody('7', [node]));
};

/** Lists, watches and lists again. Returns the results, the requests and the log. */
async function useOf(answering: Handler) {
  await using server = await loopback(answering);
  const lines: string[] = [];
  const log: Logger = { ...quiet, warn: (_, line) => lines.push(line) };
  const source = nodeListWatch(Object.assign(server.client, { log }), 'eks.amazonaws.com/nodegroup');
  const first = await source.list(LIST, signal);
  const events: WatchEvent<NodeRecord>[] = [];
  for await (const batch of source.watch(WATCH, signal)) events.push(...batch);
  const second = await source.list(LIST, signal);
  return { pages: [first, second], events, accepted: server.requests.map(({ headers }) => headers.accept), lines };
}

const page = { items: [nodeRecordOf(node)], resourceVersion: '7' };
const came = { pages: [page, page], events: [{ type: 'ADDED', item: nodeRecordOf(node) }] };

describe('the formats of nodes', () => {
  it('are protobuf, for lists and watches', async () => {
    const accepted = [PROTOBUF, `${PROTOBUF};stream=watch`, PROTOBUF];
    assert.deepEqual(await useOf(inProtobuf), { ...came, accepted, lines: [] });
  });

  it('are JSON after the first rejection, which is logged once', async () => {
    const answering: Handler = (request, response) => {
      if (request.headers.accept === 'application/json') return inJson(request, response);
      response.writeHead(406).end('only the following media types are accepted: application/json');
    };
    const accepted = [PROTOBUF, 'application/json', 'application/json', 'application/json'];
    assert.deepEqual(await useOf(answering), {
      ...came,
      accepted,
      lines: ['the API server does not support protobuf; reading nodes as JSON'],
    });
  });

  it('do not change errors', async () => {
    const status = message(
      [3, 'Too large resource version: 9'],
      [4, 'Timeout'],
      [5, message([4, message([1, 'ResourceVersionTooLarge'])], [5, 1])],
      [6, 504],
    );
    await using server = await loopback((_, response) => {
      response.writeHead(504, { 'content-type': PROTOBUF }).end(envelope('v1', 'Status', status));
    });
    await assert.rejects(nodeListWatch(server.client).list(LIST, signal), {
      name: 'KubernetesError',
      message: 'Too large resource version: 9',
      status: 504,
      reason: 'Timeout',
      causes: ['ResourceVersionTooLarge'],
      retryAfterMs: 1_000,
    });
  });
});
