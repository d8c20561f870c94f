import assert from 'node:assert/strict';
import { nodeIdentity, nodeIndexes, nodeRecordOf } from './nodes.ts';

describe('node record', () => {
  it('keeps what is asked about a node, and nothing else', () => {
    const record = nodeRecordOf({
      metadata: {
        name: 'ip-10-0-0-1',
        uid: 'uid',
        resourceVersion: '12',
        creationTimestamp: '2026-01-01T00:00:00Z',
        deletionTimestamp: '2026-01-02T00:00:00Z',
        labels: { 'eks.amazonaws.com/nodegroup': 'web' },
        annotations: { large: 'x', 'winpool.dev/claim': '{}', 'winpool.dev/replace': 'true' },
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
        capacity: { memory: '8Gi' },
        allocatable: { memory: '6Gi' },
        conditions: [
          { type: 'MemoryPressure', status: 'False' },
          { type: 'Ready', status: 'False', reason: 'KubeletNotReady' },
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
      verified: { status: 'False', reason: 'NotReady', message: 'It is not.' },
      verifiedSince: Date.UTC(2026, 0, 1),
      kernelVersion: '10.0.20348.2340',
      containerRuntimeVersion: 'containerd://1.7.1',
      runtimeHandlers: ['', 'runhcs-wcow-process'],
      kubeletVersion: 'v1.36.3',
      operatingSystem: 'windows',
      architecture: 'amd64',
      addresses: ['10.0.0.1', 'ip-10-0-0-1'],
      capacity: { memory: '8Gi' },
      allocatable: { memory: '6Gi' },
    });
    assert.deepEqual(nodeIndexes.nodeGroup(record), ['web']);
  });

  for (const name of ['name', 'uid', 'resourceVersion']) {
    it(`is not made of an object without ${name}`, () => {
      const metadata = { name: 'a', uid: 'uid', resourceVersion: '1', [name]: undefined };
      assert.throws(() => nodeRecordOf({ metadata }), new RegExp(`malformed data.*an object without metadata.${name}`));
    });
  }

  it('reads a node that has said nothing yet', () => {
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

  it('only gives the known one its version when it is a heartbeat', () => {
    const known = nodeRecordOf(object());
    assert.equal(nodeIdentity.absorbUnchanged?.(known, newer()), true);
    assert.deepEqual(known, newer());
  });

  const differences: Readonly<Record<string, object>> = {
    'a label': { metadata: { ...object().metadata, labels: { zone: 'b', size: 'large' } } },
    'a label less': { metadata: { ...object().metadata, labels: { zone: 'a' } } },
    'a label more': { metadata: { ...object().metadata, labels: { zone: 'a', size: 'large', more: '' } } },
    'another object': { metadata: { ...object().metadata, uid: 'v' } },
    'a taint': { spec: { taints: [] } },
    'an order': { metadata: { ...object().metadata, annotations: { 'winpool.dev/remove': 'true' } } },
    'a cordon': { spec: { ...object().spec, unschedulable: true } },
    readiness: { status: { ...object().status, conditions: [{ type: 'Ready', status: 'False' }] } },
    'a resource': { status: { ...object().status, capacity: { memory: '9Gi' } } },
    'its kernel': { status: { ...object().status, nodeInfo: { kernelVersion: '10.0.20348.1' } } },
  };
  for (const [what, change] of Object.entries(differences)) {
    it(`takes the place of the known one when ${what} differs`, () => {
      const known = nodeRecordOf(object());
      assert.equal(nodeIdentity.absorbUnchanged?.(known, newer(change)), false);
      assert.deepEqual(known, nodeRecordOf(object()));
    });
  }
});

describe('the handlers of nodes', () => {
  const object = (index: number, ...names: readonly string[]) => ({
    metadata: { name: `n-${index}`, uid: 'u', resourceVersion: '1' },
    status: { runtimeHandlers: names.map((name) => ({ name })) },
  });

  it('are kept once for all nodes that have the same, also where kinds of nodes take turns', () => {
    const kinds = [['', 'runhcs-wcow-process'], ['', 'runhcs-wcow-process', 'runhcs-wcow-hypervisor'], []];
    const records = Array.from({ length: 12 }, (_, index) => nodeRecordOf(object(index, ...(kinds[index % 3] ?? []))));
    assert.deepEqual(
      records.map(({ runtimeHandlers }) => runtimeHandlers),
      records.map((_, index) => kinds[index % 3]),
    );
    assert.equal(new Set(records.map(({ runtimeHandlers }) => runtimeHandlers)).size, 3);
  });
});
