import assert from 'node:assert/strict';
import { nodeFields } from './nodeFields.ts';
import { nodeIdentity, nodeIndexes, nodeRecordOf } from './nodes.ts';
import { protobufDecoder } from './protobufDecoder.ts';
import type { NodeJson } from './testing/nodeJson.ts';
import { nodeFrame, stored, windowsNode } from './testing/nodes.ts';

describe('a node record', () => {
  it('has only the fields that are used', () => {
    const record = nodeRecordOf({
      metadata: {
        name: 'ip-10-0-0-1',
        uid: 'uid',
        resourceVersion: '12',
        creationTimestamp: '2026-01-01T00:00:00Z',
        deletionTimestamp: '2026-01-02T00:00:00Z',
        labels: { 'eks.amazonaws.com/nodegroup': 'web' },
        annotations: { large: 'x', 'winpool.dev/ownership': '{}', 'winpool.dev/replace': 'true' },
        managedFields: [{ manager: 'kubelet' }],
      },
      spec: {
        providerID: 'aws:///eu-west-1a/i-1',
        unschedulable: true,
        taints: [
          { key: 'os', value: 'windows', effect: 'NoSchedule' },
          { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' } as never,
        ],
      },
      status: {
        addresses: [
          { type: 'InternalIP', address: '10.0.0.1' },
          { type: 'Hostname', address: 'ip-10-0-0-1' },
          { type: 'InternalDNS', address: 'ip-10-0-0-1' },
        ],
        capacity: { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '52427772Ki', 'example.com/gpu': '1' },
        allocatable: { cpu: '3500m', memory: '6Gi' },
        conditions: [
          { type: 'MemoryPressure', status: 'False' },
          {
            type: 'Ready',
            status: 'False',
            reason: 'KubeletNotReady',
            message: 'PLEG is not healthy: pleg was last seen active 3m5.123s ago; threshold is 3m0s',
          },
          {
            type: 'winpool.dev/Verified',
            status: 'False',
            reason: 'NotReady',
            message: 'It is not.',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
        nodeInfo: {
          kernelVersion: '10.0.20348.2340',
          containerRuntimeVersion: 'containerd://1.7.1',
          kubeletVersion: 'v1.36.3',
          operatingSystem: 'windows',
          architecture: 'amd64',
          bootID: 'boot',
        },
        images: [
          { names: ['example.com/app@sha256:1', 'example.com/app:1'], sizeBytes: 5 },
          { names: ['example.com/b:2'] },
        ],
        runtimeHandlers: [{ name: '' }, { name: 'runhcs-wcow-process', features: { userNamespaces: false } }],
      },
    });
    assert.deepEqual(record, {
      name: 'ip-10-0-0-1',
      uid: 'uid',
      resourceVersion: '12',
      createdAt: Date.UTC(2026, 0, 1),
      deleting: true,
      labels: { 'eks.amazonaws.com/nodegroup': 'web' },
      ownership: '{}',
      annotations: { 'winpool.dev/replace': 'true' },
      providerID: 'aws:///eu-west-1a/i-1',
      unschedulable: true,
      taints: [
        { key: 'os', value: 'windows', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
      ],
      ready: 'False',
      readyReason: 'KubeletNotReady',
      readyMessage: 'PLEG is not healthy: pleg was last seen active … ago; threshold is …',
      verified: { status: 'False', reason: 'NotReady', message: 'It is not.' },
      verifiedSince: Date.UTC(2026, 0, 1),
      conditions: ['MemoryPressure=False'],
      images: ['example.com/app@sha256:1', 'example.com/app:1', 'example.com/b:2'],
      kernelVersion: '10.0.20348.2340',
      containerRuntimeVersion: 'containerd://1.7.1',
      runtimeHandlers: ['', 'runhcs-wcow-process'],
      kubeletVersion: 'v1.36.3',
      operatingSystem: 'windows',
      architecture: 'amd64',
      addresses: ['10.0.0.1', 'ip-10-0-0-1'],
      capacity: { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '52427772Ki' },
      allocatable: { cpu: '3500m', memory: '6Gi' },
      unreadable: '',
    });
    assert.deepEqual(nodeIndexes.nodeGroup(record), ['web']);
  });

  for (const name of ['name', 'uid', 'resourceVersion']) {
    it(`is not created from an object without ${name}`, () => {
      const metadata = { name: 'a', uid: 'uid', resourceVersion: '1', [name]: undefined };
      assert.throws(() => nodeRecordOf({ metadata }), new RegExp(`malformed data.*an object without metadata.${name}`));
    });
  }

  it('can be that of a node without status', () => {
    const record = nodeRecordOf({ metadata: { name: 'new', uid: 'uid', resourceVersion: '1' } });
    assert.deepEqual([record.ready, record.kernelVersion, record.taints, record.labels], ['Unknown', '', [], {}]);
    assert.deepEqual(nodeIndexes.nodeGroup(record), []);
  });
});

describe('a newer record of a node', () => {
  const object = (change: object = {}) => ({
    metadata: { name: 'a', uid: 'u', resourceVersion: '1', labels: { zone: 'a', size: 'large' } },
    spec: { taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }] },
    status: { capacity: { memory: '8Gi' }, conditions: [{ type: 'Ready', status: 'True' }] },
    ...change,
  });
  const newer = (change: object = {}) => {
    const { metadata, ...rest } = object(change);
    return nodeRecordOf({ ...rest, metadata: { ...metadata, resourceVersion: '2' } });
  };

  it('updates only the version of the known one if it is a heartbeat', () => {
    const known = nodeRecordOf(object());
    assert.equal(nodeIdentity.absorbUnchanged?.(known, newer()), true);
    assert.deepEqual(known, newer());
  });

  it('drops images that are no longer read, without replacing the known one', () => {
    const known = nodeRecordOf(object({ status: { ...object().status, images: [{ names: ['a:1'] }] } }));
    const lean = { ...newer(), images: undefined };
    assert.equal(nodeIdentity.absorbUnchanged?.(known, lean), true);
    assert.deepEqual(known, lean);
  });

  it('replaces a known one of the same version only if that lacks the images', () => {
    const [lean, full] = [{ ...nodeRecordOf(object()), images: undefined }, nodeRecordOf(object())];
    assert.deepEqual(
      [
        nodeIdentity.completes?.(lean, full),
        nodeIdentity.completes?.(full, lean),
        nodeIdentity.completes?.(full, full),
      ],
      [true, false, false],
    );
  });

  const differences: Readonly<Record<string, object>> = {
    'an image': { status: { ...object().status, images: [{ names: ['a:1'] }] } },
    'another label value': { metadata: { ...object().metadata, labels: { zone: 'b', size: 'large' } } },
    'fewer labels': { metadata: { ...object().metadata, labels: { zone: 'a' } } },
    'more labels': { metadata: { ...object().metadata, labels: { zone: 'a', size: 'large', more: '' } } },
    'another UID': { metadata: { ...object().metadata, uid: 'v' } },
    'fewer taints': { spec: { taints: [] } },
    'an annotation': { metadata: { ...object().metadata, annotations: { 'winpool.dev/remove': 'true' } } },
    'a cordon': { spec: { ...object().spec, unschedulable: true } },
    'another readiness': { status: { ...object().status, conditions: [{ type: 'Ready', status: 'False' }] } },
    'another capacity': { status: { ...object().status, capacity: { memory: '9Gi' } } },
    'a kernel version': { status: { ...object().status, nodeInfo: { kernelVersion: '10.0.20348.1' } } },
  };
  for (const [what, change] of Object.entries(differences)) {
    it(`replaces the known one if it has ${what}`, () => {
      const known = nodeRecordOf(object());
      assert.equal(nodeIdentity.absorbUnchanged?.(known, newer(change)), false);
      assert.deepEqual(known, nodeRecordOf(object()));
    });
  }
});

describe('the condition of a node that occurs twice', () => {
  it('is the first one, which a patch changes: otherwise the operator would write it again and again', () => {
    const twice = ['True', 'False'].map((status) => ({
      type: 'winpool.dev/Verified',
      status,
      reason: 'A',
      message: 'a',
    }));
    const { verified } = nodeRecordOf({
      metadata: { name: 'a', uid: 'u', resourceVersion: '1' },
      status: { conditions: twice },
    });
    assert.equal(verified?.status, 'True');
  });
});

describe('nodes of one kind', () => {
  const KINDS = 12;
  const kindOf = (index: number) => index % KINDS;
  /** Kinds of nodes of several pools, in turns. */
  const nodes = Array.from({ length: 5 * KINDS }, (_, index): NodeJson => {
    const { spec, status, ...rest } = stored(windowsNode(index), index);
    const kind = kindOf(index);
    const { conditions = [] } = status ?? {};
    const verified = { type: 'winpool.dev/Verified', status: 'True', reason: 'Passed', message: `pool-${kind}` };
    return {
      ...rest,
      spec: { ...spec, taints: [{ key: 'kind', value: `${kind}`, effect: 'NoSchedule' }] },
      status: {
        ...status,
        capacity: { memory: `${kind}Gi` },
        allocatable: { memory: `${kind}Mi` },
        conditions: [...conditions, verified, { type: `example.com/${kind}`, status: 'True' }],
        runtimeHandlers: [{ name: `kind-${kind}` }],
      },
    };
  });
  const inProtobuf = protobufDecoder({ apiVersion: 'v1', kind: 'Node', fields: nodeFields });
  const formats = {
    JSON: () => nodes.map(nodeRecordOf),
    protobuf: () =>
      inProtobuf
        .stream()
        .push(Buffer.concat(nodes.map((node) => nodeFrame('ADDED', node))))
        .flatMap((event) => (event.type === 'ADDED' ? [event.item] : [])),
  };
  for (const [format, read] of Object.entries(formats)) {
    for (const field of ['taints', 'capacity', 'allocatable', 'conditions', 'verified', 'runtimeHandlers'] as const) {
      it(`share one object for equal ${field}, in ${format}`, () => {
        const records = read();
        assert.equal(records.length, nodes.length);
        for (const [index, record] of records.entries()) assert.equal(record[field], records[kindOf(index)]?.[field]);
        assert.equal(new Set(records.map((record) => record[field])).size, KINDS);
      });
    }
  }

  it('have conditions of their own when there are hundreds of them, which are not kept', () => {
    const verifiedAs = (message: string) => {
      const conditions = [{ type: 'winpool.dev/Verified', status: 'False', message }];
      return nodeRecordOf({ metadata: { name: 'a', uid: 'u', resourceVersion: '1' }, status: { conditions } }).verified;
    };
    const first = verifiedAs('first');
    assert.equal(verifiedAs('first'), first);
    for (let index = 0; index < 512; index++) verifiedAs(`failure ${index}`);
    assert.notEqual(verifiedAs('first'), first);
  });

  it('share a list while others come and go', () => {
    const handlersOf = (name: string) =>
      nodeRecordOf({
        metadata: { name: 'a', uid: 'u', resourceVersion: '1' },
        status: { runtimeHandlers: [{ name }] },
      }).runtimeHandlers;
    const common = Array.from({ length: 20 }, (_, index) => {
      handlersOf(`rare-${index}`);
      return handlersOf('common');
    });
    assert.equal(new Set(common).size, 1);
  });
});
