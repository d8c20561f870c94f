import assert from 'node:assert/strict';
import { createKubernetesClient, type KubernetesClient } from '../../controllers/kubernetes/client.ts';
import { type Decoder, jsonDecoder } from '../../controllers/kubernetes/decoder.ts';
import { createListWatch } from '../../controllers/kubernetes/listWatch.ts';
import { nodeFields } from '../../controllers/kubernetes/nodeFields.ts';
import { nodeListWatch, nodeRecordOf } from '../../controllers/kubernetes/nodes.ts';
import { protobufDecoder } from '../../controllers/kubernetes/protobufDecoder.ts';
import type { NodeJson } from '../../controllers/kubernetes/testing/nodeJson.ts';
import { windowsNode } from '../../controllers/kubernetes/testing/nodes.ts';
import type { ListWatch, Logger, WatchEvent } from '../../controllers/runtime/ports.ts';
import { silentLog } from '../../controllers/runtime/testing/silentLog.ts';
import type { NodeRecord } from '../../controllers/windowspool/ports/nodes.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import type { TestEnv } from '../fakes/testenv/testEnv.ts';
import { theWorld } from '../sharedWorld.ts';

const PATH = '/api/v1/nodes';
const NOW = { resourceVersion: '', sendInitialEvents: true, timeoutSeconds: 30 };

/** Nodes with few fields, or with rare ones. */
const unusual: Readonly<Record<string, Omit<NodeJson, 'apiVersion' | 'kind'>>> = {
  'that has said nothing': { metadata: { name: 'protobuf-bare' } },
  'without labels and status': {
    metadata: { name: 'protobuf-no-status' },
    spec: { providerID: 'aws:///eu-west-1a/i-1' },
  },
  'that is being deleted': { metadata: { name: 'protobuf-deleted', finalizers: ['example.com/hold'] } },
  'with many taints': {
    metadata: { name: 'protobuf-taints', labels: { '1': 'a-number-for-a-key', 'example.com/empty': '' } },
    spec: {
      unschedulable: true,
      taints: Array.from({ length: 60 }, (_, index) => ({
        key: `example.com/taint-${index}`,
        ...(index % 2 === 0 && { value: `value-${index}`, timeAdded: '2026-01-01T00:00:00Z' }),
        effect: ['NoSchedule', 'NoExecute', 'PreferNoSchedule'][index % 3] ?? '',
      })),
    },
  },
  'with texts of the whole world': {
    metadata: { name: 'protobuf-texts', annotations: { 'example.com/greeting': 'Grüße, 世界 🪟 \u0000 \u2028' } },
    status: {
      conditions: [
        { type: 'Ready', status: 'False', reason: 'Größe', message: 'не готов' },
        { type: 'MemoryPressure', status: 'Unknown' },
      ],
      nodeInfo: { kernelVersion: '十', osImage: 'Windows™', operatingSystem: 'windows' },
    },
  },
  'with quantities of every spelling': {
    metadata: { name: 'protobuf-quantities' },
    status: {
      capacity: { cpu: '0.5', memory: '1024Mi', pods: '1e2', 'ephemeral-storage': '1.5G', 'example.com/none': '0' },
      allocatable: { cpu: '1500m', memory: '17179869184', 'example.com/many': '9007199254740993' },
    },
  },
};
const realistic = Array.from({ length: 10 }, (_, index) => windowsNode(index));
const nodes: readonly NodeJson[] = [
  ...realistic,
  ...Object.values(unusual).map((node) => ({ apiVersion: 'v1' as const, kind: 'Node' as const, ...node })),
];
const names = new Set(nodes.map(({ metadata }) => metadata.name));

describe('nodes in protobuf, from a real API server', () => {
  const { signal } = new AbortController();
  let world: TestEnv;
  let client: KubernetesClient;
  const created: string[] = [];
  const sourceOf = (decoder: Decoder<NodeRecord>): ListWatch<NodeRecord> =>
    createListWatch({ client, path: PATH, decoder });
  const inProtobuf = () => sourceOf(protobufDecoder({ apiVersion: 'v1', kind: 'Node', fields: nodeFields }));
  const inJson = () => sourceOf(jsonDecoder(nodeRecordOf));

  before(async function () {
    this.timeout(600_000);
    world = await theWorld();
    const kubeconfigPath = world.controlPlane.adminKubeconfig;
    client = await createKubernetesClient({ kubeconfigPath, log: silentLog, version: 'test' });
    for (const node of nodes) {
      await client.request('POST', PATH, { body: node, signal });
      created.push(node.metadata.name);
    }
    // The managed fields of a second writer, as in a cluster.
    for (const { metadata, status } of realistic) {
      const conditions = status.conditions?.map((condition) => ({
        ...condition,
        lastHeartbeatTime: '2026-03-02T09:31:00Z',
      }));
      await patch(`${metadata.name}/status`, { status: { conditions } });
    }
    await client.request('DELETE', `${PATH}/protobuf-deleted`, { signal });
  });

  after(async () => {
    for (const name of created) {
      await patch(name, { metadata: { finalizers: [] } });
      // The one that was being deleted no longer exists.
      if (name !== 'protobuf-deleted') await client.request('DELETE', `${PATH}/${name}`, { signal });
    }
    await client?.close();
  });

  function patch(what: string, body: object): Promise<unknown> {
    const contentType = 'application/merge-patch+json';
    return client.request('PATCH', `${PATH}/${what}`, { query: { fieldManager: 'second' }, contentType, body, signal });
  }

  const ours = (records: readonly NodeRecord[]): ReadonlyMap<string, NodeRecord> =>
    new Map(records.filter(({ name }) => names.has(name)).map((record) => [record.name, record]));
  const versions = (records: ReadonlyMap<string, NodeRecord>): string =>
    JSON.stringify([...records.values()].map(({ name, resourceVersion }) => [name, resourceVersion]).sort());

  /** What both formats return for the same versions of the nodes, because controllers write to them in the meantime. */
  async function same<T>(
    read: (source: ListWatch<NodeRecord>) => Promise<T>,
    recordsOf: (read: T) => readonly NodeRecord[],
  ) {
    return waitFor(
      async () => {
        const [protobuf, json] = await Promise.all([read(inProtobuf()), read(inJson())]);
        const pair = { protobuf, json, records: [ours(recordsOf(protobuf)), ours(recordsOf(json))] as const };
        return versions(pair.records[0]) === versions(pair.records[1]) && pair;
      },
      { what: 'two reads of the same versions', intervalMs: 100 },
    );
  }

  /** The events of a watch list, until its initial events are complete. */
  async function initialEvents(source: ListWatch<NodeRecord>): Promise<WatchEvent<NodeRecord>[]> {
    const events: WatchEvent<NodeRecord>[] = [];
    for await (const batch of source.watch(NOW, signal)) {
      events.push(...batch);
      // A later change may be in the same batch.
      const end = events.findIndex((event) => event.type === 'BOOKMARK' && event.initialEventsEnd);
      if (end >= 0) return events.slice(0, end + 1);
    }
    return events;
  }
  const itemsOf = (events: readonly WatchEvent<NodeRecord>[]) =>
    events.flatMap((event) => ('item' in event ? event.item : []));

  it('are as large as the nodes of a real cluster', async () => {
    const body = await client.requestBytes('GET', `${PATH}/${realistic[0]?.metadata.name}`, { signal });
    assert.ok(body.length > 16_000 && body.length < 19_000, `${body.length} bytes`);
  });

  describe('listed', () => {
    let listed: Awaited<ReturnType<typeof lists>>;
    const lists = () =>
      same(
        (source) => source.list({ resourceVersion: '' }, signal),
        ({ items }) => items,
      );
    before(async () => {
      listed = await lists();
    });

    it('are complete, with the version to watch from', () => {
      assert.deepEqual([...listed.records[0].keys()].sort(), [...names].sort());
      assert.match(listed.protobuf.resourceVersion, /^\d+$/);
    });

    for (const field of Object.keys(nodeFields) as (keyof NodeRecord)[]) {
      it(`have the same ${field} as in JSON`, () => {
        const [protobuf, json] = listed.records;
        for (const name of names) assert.deepEqual(protobuf.get(name)?.[field], json.get(name)?.[field], name);
      });
    }

    for (const [what, { metadata }] of Object.entries(unusual)) {
      it(`have the same fields as in JSON in a node ${what}`, () => {
        const [protobuf, json] = listed.records;
        assert.deepEqual(protobuf.get(metadata.name), json.get(metadata.name));
      });
    }

    it('are listed in pages', async () => {
      const records: NodeRecord[] = [];
      let continueToken: string | undefined;
      do {
        const page = await inProtobuf().list(
          { resourceVersion: '', limit: 3, ...(continueToken && { continueToken }) },
          signal,
        );
        assert.ok(page.items.length <= 3);
        records.push(...page.items);
        continueToken = page.continueToken;
      } while (continueToken);
      assert.deepEqual([...ours(records).keys()].sort(), [...names].sort());
    });
  });

  it('are received by a watch list as in JSON, up to its end', async () => {
    const { records, protobuf } = await same(initialEvents, itemsOf);
    assert.deepEqual(records[0], records[1]);
    assert.equal(records[0].size, names.size);
    assert.equal(protobuf.at(-1)?.type, 'BOOKMARK');
  });

  it('are received by a watch when they change or are deleted', async () => {
    const { resourceVersion } = await inProtobuf().list({ resourceVersion: '' }, signal);
    const name = 'protobuf-changing';
    await client.request('POST', PATH, { body: { apiVersion: 'v1', kind: 'Node', metadata: { name } }, signal });
    await patch(name, { metadata: { labels: { 'example.com/a': 'b' } } });
    await client.request('DELETE', `${PATH}/${name}`, { signal });
    const seen: string[] = [];
    const options = { resourceVersion, sendInitialEvents: false, timeoutSeconds: 30 };
    for await (const batch of inProtobuf().watch(options, signal)) {
      for (const event of batch) {
        if ('item' in event && event.item.name === name)
          seen.push(`${event.type} ${event.item.labels['example.com/a']}`);
      }
      if (seen.at(-1)?.startsWith('DELETED')) break;
    }
    const own = seen.filter((event, index) => event !== seen[index - 1]);
    assert.deepEqual([own[0], own.at(-1)], ['ADDED undefined', 'DELETED b']);
  });

  it('fail as in JSON: a version that is too old, or in the future', async () => {
    // Its watch cache starts empty.
    await world.controlPlane.stopApiServer();
    await world.controlPlane.startApiServer();
    const failures = async (source: ListWatch<NodeRecord>) => {
      const options = { resourceVersion: '1', sendInitialEvents: false, timeoutSeconds: 5 };
      const events: WatchEvent<NodeRecord>[] = [];
      for await (const batch of source.watch(options, signal)) events.push(...batch);
      const future = await source.list({ resourceVersion: '99999999999' }, signal).catch((error: unknown) => error);
      const { status, reason, causes, retryAfterMs } = future as Record<string, unknown>;
      return { types: events.map(({ type }) => type), failure: events.at(-1), status, reason, causes, retryAfterMs };
    };
    const [protobuf, json] = await Promise.all([failures(inProtobuf()), failures(inJson())]);
    // The versions in the messages differ from one moment to the next.
    const withoutMessage = ({ failure, ...rest }: typeof json) => ({ ...rest, failure: { ...failure, message: '' } });
    assert.deepEqual(withoutMessage(protobuf), withoutMessage(json));
    assert.deepEqual([protobuf.status, protobuf.causes], [504, ['ResourceVersionTooLarge']]);
    assert.ok(protobuf.failure?.type === 'ERROR' && protobuf.failure.failure.status === 410);
  });

  it('are read in protobuf by the operator, which logs nothing about that', async () => {
    const lines: string[] = [];
    const log: Logger = { ...silentLog, warn: (_, message) => lines.push(message), child: () => log };
    const kubeconfigPath = world.controlPlane.adminKubeconfig;
    const own = await createKubernetesClient({ kubeconfigPath, log, version: 'test' });
    const accepted: string[] = [];
    const request = own.requestBytes.bind(own);
    own.requestBytes = (method, path, options) => {
      accepted.push(options.accept ?? '');
      return request(method, path, options);
    };
    await nodeListWatch(own, 'eks.amazonaws.com/nodegroup').list({ resourceVersion: '' }, signal);
    await own.close();
    assert.deepEqual([accepted, lines], [['application/vnd.kubernetes.protobuf'], []]);
  });
});
