import assert from 'node:assert/strict';
import type { KarpenterManifest } from '../windowspool/ports/karpenter.ts';
import type { KubernetesClient } from './client.ts';
import { createNodePools, karpenterObjectOf, nodeClaimOf } from './karpenter.ts';
import { KubernetesError } from './kubernetesError.ts';
import { quietIdentity } from './objects.ts';

const nodePoolOf = (object: Parameters<typeof karpenterObjectOf>[1]) => karpenterObjectOf('NodePool', object);
const metadata = { name: 'web', uid: 'uid-web', resourceVersion: '7' };
const condition = (type: string, status: string, message = '') => ({ type, status, message, reason: type });

describe('a NodePool', () => {
  it('belongs to the pool in its label only if the operator created it', () => {
    const pool = { 'winpool.dev/pool': 'web' };
    for (const [labels, createdFor] of [
      [{ ...pool, 'app.kubernetes.io/managed-by': 'windowspool-operator' }, 'web'],
      [{ ...pool, 'app.kubernetes.io/managed-by': 'Helm' }, ''],
      [pool, ''],
      [{}, ''],
    ] as const)
      assert.equal(nodePoolOf({ metadata: { ...metadata, labels } }).createdFor, createdFor, JSON.stringify(labels));
  });

  it('says why its nodes do not register, which does not change whether it is ready', () => {
    const unhealthy = condition('NodeRegistrationHealthy', 'False', 'nodes did not register');
    const unknown = condition('NodeRegistrationHealthy', 'Unknown', 'object is awaiting reconciliation');
    const problemWith = (one: typeof unhealthy) =>
      nodePoolOf({ metadata, status: { conditions: [one] } }).registrationProblem;
    assert.deepEqual([problemWith(unhealthy), problemWith(unknown)], ['nodes did not register', '']);
  });

  it('has the time at which the operator applied it last', () => {
    const managedFields = [
      { manager: 'windowspool-operator', operation: 'Apply', time: '2026-03-01T12:00:00Z' },
      { manager: 'kubectl', operation: 'Apply', time: '2026-03-02T12:00:00Z' },
      { manager: 'windowspool-operator', operation: 'Update', time: '2026-03-03T12:00:00Z' },
    ];
    assert.equal(
      nodePoolOf({ metadata: { ...metadata, managedFields } }).appliedAt,
      Date.parse('2026-03-01T12:00:00Z'),
    );
    assert.equal(nodePoolOf({ metadata }).appliedAt, 0);
  });

  it('has the optional fields that the operator has set', () => {
    const fieldsV1 = {
      'f:spec': { 'f:weight': {}, 'f:template': { 'f:spec': { 'f:terminationGracePeriod': {}, 'f:taints': {} } } },
    };
    const byOperator = { manager: 'windowspool-operator', operation: 'Apply', fieldsV1 };
    const byOthers = { manager: 'kubectl', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:limits': {} } } };
    const { ownFields } = nodePoolOf({ metadata: { ...metadata, managedFields: [byOthers, byOperator] } });
    assert.deepEqual(ownFields, ['weight', 'terminationGracePeriod']);
    assert.deepEqual(nodePoolOf({ metadata }).ownFields, []);
  });

  const states: readonly (readonly [string, readonly ReturnType<typeof condition>[], string, string])[] = [
    ['is ready', [condition('NodeClassReady', 'True'), condition('Ready', 'True')], 'True', ''],
    [
      'names what its node class lacks, and not only that it is not ready',
      [
        condition('Ready', 'False', 'NodeClassReady=False'),
        condition('NodeClassReady', 'False', 'NodeClass not found'),
      ],
      'False',
      'NodeClass not found',
    ],
    [
      'is unknown while its node class is evaluated again',
      [
        condition('Ready', 'False', 'x'),
        { ...condition('NodeClassReady', 'False'), reason: 'NodeClassReadinessUnknown' },
      ],
      'Unknown',
      '',
    ],
    ['is unknown before Karpenter has evaluated it', [], '', ''],
  ];
  for (const [what, conditions, ready, problem] of states)
    it(what, () => {
      const found = nodePoolOf({ metadata, status: { conditions } });
      assert.deepEqual([found.ready, found.problem], [ready, problem]);
    });
});

describe('a NodeClaim', () => {
  it('has its NodePool, its node and its provider ID', () => {
    const ownerReferences = [
      { apiVersion: 'v1', kind: 'Other', name: 'x', uid: 'uid-x' },
      { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'web', uid: 'uid-web' },
    ];
    const status = { nodeName: 'win-1', providerID: 'aws:///zone/i-1' };
    const claim = nodeClaimOf({ metadata: { ...metadata, ownerReferences }, status });
    assert.deepEqual([claim.nodePoolUid, claim.node, claim.providerID], ['uid-web', 'win-1', 'aws:///zone/i-1']);
    const empty = nodeClaimOf({ metadata });
    assert.deepEqual(
      [empty.nodePoolUid, empty.node, empty.providerID, empty.drift, empty.problem],
      ['', '', '', '', ''],
    );
  });

  it('shows whether it has a node without startup taints', () => {
    const spec = { startupTaints: [{ key: 'gate', effect: 'NoSchedule' }] };
    const initialized = (status: string) =>
      nodeClaimOf({ metadata, spec, status: { conditions: [condition('Initialized', status)] } });
    assert.deepEqual([initialized('True').isInitialized, initialized('Unknown').isInitialized], [true, false]);
    assert.deepEqual(initialized('True').startupTaints, ['gate']);
  });

  it('says why Karpenter replaces it, and what keeps it from becoming a node', () => {
    const drifted = { type: 'Drifted', status: 'True', reason: 'NodePoolDrifted', message: 'NodePoolDrifted' };
    assert.equal(nodeClaimOf({ metadata, status: { conditions: [drifted] } }).drift, 'NodePoolDrifted');
    assert.equal(nodeClaimOf({ metadata, status: { conditions: [{ ...drifted, status: 'False' }] } }).drift, '');
    // Karpenter shows a launch that fails and is tried again in a condition that is Unknown.
    const launched = condition('Launched', 'Unknown', 'creating instance, insufficient capacity');
    const registered = condition('Registered', 'Unknown', 'Node not registered with cluster');
    const { problem } = nodeClaimOf({ metadata, status: { conditions: [registered, launched] } });
    assert.equal(problem, 'creating instance, insufficient capacity');
  });

  it('is unchanged after an update of what is not read', () => {
    const known = nodeClaimOf({ metadata });
    const identity = quietIdentity<typeof known>();
    assert.equal(
      identity.absorbUnchanged?.(known, nodeClaimOf({ metadata: { ...metadata, resourceVersion: '8' } })),
      true,
    );
    assert.equal(known.resourceVersion, '8');
    assert.equal(identity.absorbUnchanged?.(known, nodeClaimOf({ metadata, status: { nodeName: 'a' } })), false);
  });
});

describe('the port of NodePools', () => {
  const NODE_POOL = '/apis/karpenter.sh/v1/nodepools/web';
  const { signal } = new AbortController();
  const manifest = {
    kind: 'NodePool',
    metadata: { name: 'web', labels: {}, annotations: {} },
    spec: {},
  } as unknown as KarpenterManifest;

  /** The port on an API server that has this NodePool, and the requests that it sends. */
  function recorded(existing?: object) {
    const requests: string[] = [];
    const request = async (method: string, path: string, { query, body }: { query?: object; body?: object } = {}) => {
      requests.push(`${method} ${path} ${JSON.stringify({ ...query, ...body })}`);
      if (method === 'GET' && !existing) throw new KubernetesError('no', { status: 404, reason: 'NotFound' });
      return existing ?? {};
    };
    return { requests, port: createNodePools({ request } as unknown as KubernetesClient) };
  }

  it('applies the manifest as one field manager, and takes over no NodePool that exists', async () => {
    const created = recorded();
    assert.ok((await created.port.apply(manifest, true, signal)).ok);
    assert.match(created.requests.join('\n'), new RegExp(`^GET ${NODE_POOL} .*\nPATCH ${NODE_POOL} .*"force":false`));
    const foreign = recorded({ metadata });
    const result = await foreign.port.apply(manifest, true, signal);
    assert.deepEqual([result.ok, !result.ok && result.error.kind, foreign.requests.length], [false, 'conflict', 1]);
    const changed = recorded({ metadata });
    assert.ok((await changed.port.apply(manifest, false, signal)).ok);
    assert.match(changed.requests.join(), /"fieldManager":"windowspool-operator","force":true/);
  });

  it('deletes only the objects that were seen, and the NodePool after its NodeClaims', async () => {
    const { requests, port } = recorded({});
    assert.ok((await port.delete('NodePool', nodePoolOf({ metadata }), signal)).ok);
    assert.ok((await port.deleteClaim(nodeClaimOf({ metadata: { ...metadata, name: 'web-1' } }), signal)).ok);
    assert.match(requests[0] ?? '', /"preconditions":\{"uid":"uid-web"\},"propagationPolicy":"Foreground"/);
    assert.match(requests[1] ?? '', /nodeclaims\/web-1 .*"preconditions":\{"uid":"uid-web"\}\}$/);
  });

  const gates: readonly (readonly [what: string, container: object, repairs: boolean])[] = [
    ['sets nothing', {}, false],
    [
      'sets the variable',
      { env: [{ name: 'FEATURE_GATES', value: 'SpotToSpotConsolidation=true,NodeRepair=true' }] },
      true,
    ],
    ['disables it', { env: [{ name: 'FEATURE_GATES', value: 'NodeRepair=false,NodeOverlay=true' }] }, false],
    ['sets an argument', { args: ['--log-level=info', '--feature-gates=NodeRepair=True'] }, true],
    ['sets an argument in two parts', { command: ['karpenter', '--feature-gates', 'NodeRepair=1'] }, true],
    [
      'sets both',
      { args: ['--feature-gates=NodeRepair=false'], env: [{ name: 'FEATURE_GATES', value: 'NodeRepair=true' }] },
      false,
    ],
    ['ends with the flag', { args: ['--feature-gates'] }, false],
    ['has no value in the variable', { env: [{ name: 'FEATURE_GATES', valueFrom: {} }] }, false],
  ];
  for (const [what, container, repairs] of gates)
    it(`finds the feature gate NodeRepair: a Deployment that ${what}`, async () => {
      const items = [{ metadata }, { spec: { template: { spec: { containers: [{ name: 'sidecar' }, container] } } } }];
      const { port, requests } = recorded({ items });
      assert.deepEqual(await port.repairsNodes(signal), { ok: true, value: repairs });
      assert.match(requests[0] ?? '', /^GET \/apis\/apps\/v1\/deployments .*app\.kubernetes\.io\/name=karpenter/);
    });

  it('finds the pods without a node, with what says where they fit', async () => {
    const tolerations = [{ key: 'os', value: 'windows', effect: 'NoSchedule', tolerationSeconds: 5 }];
    const pod = (name: string, spec: object | null) => ({ metadata: { namespace: 'shop', name }, spec });
    const { port, requests } = recorded({
      items: [pod('b', { nodeSelector: { a: 'b' }, tolerations }), pod('a', null)],
    });
    assert.deepEqual(await port.pendingPods(signal), {
      ok: true,
      value: [
        { namespace: 'shop', name: 'a', nodeSelector: {}, tolerations: [] },
        {
          namespace: 'shop',
          name: 'b',
          nodeSelector: { a: 'b' },
          tolerations: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }],
        },
      ],
    });
    assert.match(requests[0] ?? '', /"fieldSelector":"spec\.nodeName=,status\.phase=Pending","limit":500/);
  });

  it('finds no NodeClaim that does not exist', async () => {
    assert.deepEqual(await recorded().port.readClaim('web-1', signal), { ok: true, value: undefined });
    const seen = await recorded({ metadata, status: { nodeName: 'win-1' } }).port.readClaim('web-1', signal);
    assert.equal(seen.ok && seen.value?.node, 'win-1');
  });
});
