import assert from 'node:assert/strict';
import type { StoreView } from '../runtime/ports.ts';
import type { WindowsPool } from '../windowspool/api/api.gen.ts';
import type { NodeRecord } from '../windowspool/ports/nodes.ts';
import type { KubernetesClient } from './client.ts';
import { createInstanceLists, createUserScripts } from './configMaps.ts';
import { toCallResult } from './errors.ts';
import { createLeaseClient } from './leases.ts';
import { createNodes } from './nodes.ts';
import { createPools } from './pools.ts';
import { createSystemObjects } from './systemObjects.ts';
import { json, loopback } from './testing/loopbackServer.ts';

const { signal } = new AbortController();
const store = <T>() => ({ observeWrite: () => true }) as unknown as StoreView<T>;

const reads: Readonly<
  Record<string, readonly [read: (client: KubernetesClient) => Promise<unknown>, absent: unknown]>
> = {
  'a node': [(client) => createNodes(client, store<NodeRecord>()).read('a', signal), undefined],
  'a pool': [(client) => createPools(client, store<WindowsPool>()).read('web', signal), undefined],
  'a Lease': [
    (client) => toCallResult('get leases', signal, () => createLeaseClient(client, 'ns', 'a').read(signal)),
    undefined,
  ],
  'a ConfigMap of existingNodes': [
    (client) => createInstanceLists(client).read({ namespace: 'ops', name: 'hosts' }, signal),
    { kind: 'absent' },
  ],
  'a ConfigMap with a script': [
    (client) => createUserScripts(client, 'ops').read({ configMap: 'hosts', key: 'a' }, signal),
    { namespace: 'ops', keys: undefined, text: undefined, isBinary: false },
  ],
  'a ConfigMap of the CNI': [(client) => createSystemObjects(client).cniConfig(signal), undefined],
};

describe('reading one object from the API server', () => {
  for (const [what, [read, absent]] of Object.entries(reads)) {
    it(`reports after a 404 that ${what} does not exist`, async () => {
      await using server = await loopback((_request, response) =>
        json(response, 404, { kind: 'Status', code: 404, reason: 'NotFound' }),
      );
      assert.deepEqual(await read(server.client), { ok: true, value: absent });
    });

    for (const [body, text] of [
      ['a 200 without a body', ''],
      ['a 200 with a page of a proxy', '<html>'],
    ] as const)
      it(`does not take ${body} for ${what} that does not exist`, async () => {
        await using server = await loopback((_request, response) => void response.writeHead(200).end(text));
        const { ok, error } = (await read(server.client)) as { ok: boolean; error?: { kind: string; code: string } };
        assert.deepEqual([ok, error?.kind, error?.code], [false, 'unavailable', 'MalformedAnswer']);
      });
  }
});
