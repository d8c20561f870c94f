import assert from 'node:assert/strict';
import type { KubernetesClient } from './client.ts';
import { KubernetesError } from './kubernetesError.ts';
import { createMachineSets, machineOf, machineSetOf } from './machines.ts';
import { quietIdentity } from './objects.ts';

const meta = { name: 'windows', uid: 'uid-windows', resourceVersion: '7', creationTimestamp: '2026-03-01T12:00:00Z' };
const owner = { apiVersion: 'v1', kind: 'MachineSet', name: 'set', uid: 'uid-set', controller: true };
const no = (type: string, message: string) => ({ type, status: 'False', message });

describe('a Machine', () => {
  const record = {
    name: 'windows',
    uid: 'uid-windows',
    resourceVersion: '7',
    createdAt: Date.parse('2026-03-01T12:00:00Z'),
    deleting: false,
    controllerUid: 'uid-set',
    isOutdated: false,
    goesAtSize: undefined,
    drainExcludedBy: 'nobody',
    node: 'win-1',
    providerID: 'vsphere://1',
    labels: {},
    hasReadinessGate: false,
    verified: '',
    hasFailed: false,
    problem: '',
  };
  const metadata = { ...meta, ownerReferences: [owner] };
  const spec = { providerID: 'vsphere://1' };
  const healthy = [{ type: 'Ready', status: 'True', message: '' }];

  it('has the same fields in each version and API', () => {
    const kinds: readonly (readonly [string, Parameters<typeof machineOf>[0]])[] = [
      ['v1beta2', { metadata, spec, status: { nodeRef: { name: 'win-1' }, phase: 'Running', conditions: healthy } }],
      [
        'v1beta1',
        { metadata, spec, status: { nodeRef: { name: 'win-1' }, conditions: [], v1beta2: { conditions: healthy } } },
      ],
      ['OpenShift', { metadata, spec, status: { nodeRef: { name: 'win-1' }, phase: 'Running', conditions: null } }],
    ];
    for (const [version, object] of kinds) assert.deepEqual(machineOf(object), record, version);
  });

  it('is empty where its controller has written nothing yet', () => {
    const { node, providerID, hasFailed, controllerUid } = machineOf({ metadata: meta });
    assert.deepEqual(
      { node, providerID, hasFailed, controllerUid },
      { node: '', providerID: '', hasFailed: false, controllerUid: '' },
    );
  });

  it('has the size of its mark only if the operator has set that', () => {
    for (const [key, value, size] of [
      ['cluster.x-k8s.io/delete-machine', 'winpool.dev-2', 2],
      ['machine.openshift.io/delete-machine', 'winpool.dev-0', 0],
      ['cluster.x-k8s.io/delete-machine', 'true', undefined],
      ['machine.openshift.io/delete-machine', '', undefined],
    ] as const)
      assert.equal(machineOf({ metadata: { ...meta, annotations: { [key]: value } } }).goesAtSize, size, value);
  });

  it('is outdated if its controller says so, but not while it is updated in place', () => {
    const upToDate = (status: string, reason: string) => [{ type: 'UpToDate', status, reason }];
    const statuses: readonly (readonly [Parameters<typeof machineOf>[0]['status'] & object, boolean])[] = [
      [{ conditions: upToDate('False', 'NotUpToDate') }, true],
      [{ conditions: [], v1beta2: { conditions: upToDate('False', 'NotUpToDate') } }, true],
      [{ conditions: upToDate('False', 'Updating') }, false],
      [{ conditions: upToDate('True', 'UpToDate') }, false],
      [{}, false],
    ];
    for (const [status, isOutdated] of statuses)
      assert.equal(machineOf({ metadata: meta, status }).isOutdated, isOutdated, JSON.stringify(status));
  });

  it('says who excluded it from the drain of its controller', () => {
    for (const [key, value, by] of [
      ['machine.cluster.x-k8s.io/exclude-node-draining', 'winpool.dev', 'operator'],
      ['machine.openshift.io/exclude-node-draining', 'winpool.dev', 'operator'],
      ['machine.cluster.x-k8s.io/exclude-node-draining', '', 'user'],
      ['machine.openshift.io/exclude-node-draining', 'true', 'user'],
      ['example.com/exclude-node-draining', 'winpool.dev', 'nobody'],
    ] as const)
      assert.equal(
        machineOf({ metadata: { ...meta, annotations: { [key]: value } } }).drainExcludedBy,
        by,
        key + value,
      );
  });

  const problems: readonly (readonly [status: object, problem: string, hasFailed: boolean])[] = [
    [{ phase: 'Failed', errorReason: 'InvalidConfiguration', errorMessage: 'no such AMI' }, 'no such AMI', true],
    [{ failureMessage: 'gone' }, 'gone', true],
    [{ deprecated: { v1beta1: { failureReason: 'CreateError' } } }, 'CreateError', true],
    [{ phase: 'Failed' }, '', true],
    [{ conditions: [no('Ready', '* InfrastructureReady: x'), no('InfrastructureReady', 'x')] }, 'x', false],
    [{ conditions: [no('Paused', 'not paused'), no('Updating', '')] }, '', false],
    [{ conditions: [no('MachineCreated', 'quota\u001b exceeded')] }, 'quota\uFFFD exceeded', false],
  ];
  for (const [status, problem, hasFailed] of problems)
    it(`reports ${JSON.stringify(problem)} for ${JSON.stringify(status).slice(0, 80)}`, () => {
      const machine = machineOf({ metadata: meta, status });
      assert.deepEqual([machine.problem, machine.hasFailed], [problem, hasFailed]);
    });
});

describe('a MachinePool', () => {
  const since = '2026-03-01T12:30:00Z';
  const notReady = [{ ...no('ReplicasReady', ''), lastTransitionTime: since }, no('Ready', 'no quota')];
  const spec = { providerIDList: ['sim://1', 'sim://2'] };
  const nodeRefs = [{ name: 'win-1' }];

  it('has its instances, which are the same in both versions', () => {
    for (const status of [
      { nodeRefs, conditions: notReady },
      { nodeRefs, conditions: [], deprecated: { v1beta1: { conditions: notReady } } },
    ]) {
      const { instances, problem } = machineSetOf('MachinePool', { metadata: meta, spec, status });
      const incompleteSince = Date.parse(since);
      assert.deepEqual(instances, { providerIDs: ['sim://1', 'sim://2'], nodes: ['win-1'], incompleteSince });
      assert.equal(problem, 'no quota');
    }
  });

  it('is not incomplete while its controller does not say so', () => {
    for (const conditions of [[], [{ type: 'ReplicasReady', status: 'True', lastTransitionTime: since }]]) {
      const status = { conditions, nodeRefs: null };
      const { instances } = machineSetOf('MachinePool', { metadata: meta, status });
      assert.deepEqual(instances, { providerIDs: [], nodes: [], incompleteSince: undefined });
    }
  });

  it('is sized by an autoscaler of its platform if its annotation says so', () => {
    for (const [value, sizedBy] of [
      ['external-autoscaler', 'an autoscaler'],
      ['', 'an autoscaler'],
      ['false', ''],
    ]) {
      const annotations = { 'cluster.x-k8s.io/replicas-managed-by': value ?? '' };
      assert.equal(machineSetOf('MachinePool', { metadata: { ...meta, annotations } }).sizedBy, sizedBy, value);
    }
  });
});

describe('a MachineDeployment or MachineSet', () => {
  const deployment = (object: Parameters<typeof machineSetOf>[1]) =>
    machineSetOf('MachineDeployment', { metadata: { ...meta, generation: 2 }, ...object });

  it('has one replica if the spec has none', () => {
    assert.deepEqual([deployment({}).replicas, deployment({ spec: { replicas: 0 } }).replicas], [1, 0]);
  });

  it('has the infrastructure template of its new Machines and their Cluster, in both versions', () => {
    const name = 'windows-1';
    for (const reference of [
      { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'AzureMachineTemplate', name },
      {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
        kind: 'AzureMachineTemplate',
        namespace: 'clusters',
        name,
      },
    ]) {
      const template = { spec: { infrastructureRef: reference } };
      const { infrastructureTemplate, clusterName } = deployment({ spec: { clusterName: 'prod', template } });
      assert.deepEqual([infrastructureTemplate, clusterName], ['AzureMachineTemplate/windows-1', 'prod']);
    }
    const { infrastructureTemplate, clusterName } = deployment({});
    assert.deepEqual([infrastructureTemplate, clusterName], ['', '']);
  });

  const rollouts: readonly (readonly [string, Parameters<typeof machineSetOf>[1], number, boolean])[] = [
    ['v1beta2', { status: { observedGeneration: 2, replicas: 3, upToDateReplicas: 1 } }, 2, true],
    ['v1beta1', { status: { observedGeneration: 2, replicas: 3, updatedReplicas: 1 } }, 2, true],
    [
      'OnDelete in v1beta2',
      {
        spec: { rollout: { strategy: { type: 'OnDelete' } } },
        status: { observedGeneration: 2, replicas: 3, upToDateReplicas: 1 },
      },
      2,
      false,
    ],
    [
      'OnDelete in v1beta1',
      { spec: { strategy: { type: 'OnDelete' } }, status: { observedGeneration: 2, replicas: 3, updatedReplicas: 3 } },
      0,
      false,
    ],
    [
      'a generation that its controller has not seen',
      { status: { observedGeneration: 1, replicas: 3, upToDateReplicas: 1 } },
      0,
      false,
    ],
    [
      'more replicas',
      { spec: { replicas: 5 }, status: { observedGeneration: 2, replicas: 3, upToDateReplicas: 3 } },
      0,
      false,
    ],
  ];
  for (const [what, object, outdated, isRollingOut] of rollouts)
    it(`shows a rollout: ${what}`, () => {
      const set = deployment(object);
      assert.deepEqual([set.outdated, set.isRollingOut], [outdated, isRollingOut]);
    });

  it('is observed once its controller has seen its generation', () => {
    const seen = [1, 2].map((observedGeneration) => deployment({ status: { observedGeneration } }).isObserved);
    assert.deepEqual(seen, [false, true]);
  });

  it('leaves Machines to others with the strategy OnDelete, in both versions', () => {
    const onDelete = { strategy: { type: 'OnDelete' } };
    const specs = [{ rollout: onDelete }, onDelete, { rollout: { strategy: { type: 'RollingUpdate' } } }, {}];
    assert.deepEqual(
      specs.map((spec) => deployment({ spec }).isOnDelete),
      [true, true, false, false],
    );
  });

  it('shows no rollout of a MachineSet, which replaces nothing', () => {
    const set = machineSetOf('MachineSet', { metadata: meta, status: { replicas: 1, upToDateReplicas: 0 } });
    assert.deepEqual([set.outdated, set.isRollingOut], [0, false]);
  });

  const pauses: readonly (readonly [Parameters<typeof machineSetOf>[1], RegExp])[] = [
    [{ spec: { paused: true } }, /^spec\.paused is true$/],
    [
      { metadata: { ...meta, annotations: { 'cluster.x-k8s.io/paused': '' } } },
      /annotation cluster\.x-k8s\.io\/paused/,
    ],
    [
      { status: { conditions: [{ type: 'Paused', status: 'True', message: 'Cluster c is paused' }] } },
      /^Cluster c is paused$/,
    ],
    [{ status: { v1beta2: { conditions: [{ type: 'Paused', status: 'True' }] } } }, /condition Paused is True/],
    [{ status: { authoritativeAPI: 'ClusterAPI' } }, /authoritativeAPI is ClusterAPI.*cluster\.x-k8s\.io/],
    [{ status: { authoritativeAPI: 'Migrating' } }, /Migrating/],
    [{ status: { authoritativeAPI: 'MachineAPI', conditions: [no('Paused', 'no')] } }, /^$/],
  ];
  for (const [object, why] of pauses)
    it(`says why it is paused: ${why}`, () =>
      assert.match(machineSetOf('MachineSet', { metadata: meta, ...object }).pausedBy, why));

  it('shows what sets its size, and the pool that may use it', () => {
    for (const [annotation, label, sizedBy] of [
      ['cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size', 'a', 'an autoscaler'],
      ['machine.openshift.io/cluster-api-autoscaler-node-group-min-size', 'a', 'an autoscaler'],
      ['example.com/other', 'topology.cluster.x-k8s.io/owned', 'the topology of its Cluster'],
      ['example.com/other', 'a', ''],
    ] as const) {
      const annotations = { [annotation]: '1', 'winpool.dev/usable-by': 'web' };
      const set = machineSetOf('MachineSet', { metadata: { ...meta, annotations, labels: { [label]: '' } } });
      assert.deepEqual([set.sizedBy, set.usableBy], [sizedBy, 'web']);
    }
  });

  it('is unchanged after an update of what is not read', () => {
    const known = deployment({ status: { phase: 'ScalingUp' } });
    const identity = quietIdentity<typeof known>();
    const newer = deployment({
      metadata: { ...meta, generation: 2, resourceVersion: '8' },
      status: { phase: 'Running' },
    });
    assert.equal(identity.absorbUnchanged?.(known, newer), true);
    assert.equal(known.resourceVersion, '8');
    assert.equal(identity.absorbUnchanged?.(known, deployment({ spec: { replicas: 2 } })), false);
  });
});

describe('the port of Machines', () => {
  const ref = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'MachineSet', namespace: 'a', name: 'windows' } as const;
  const machine = machineOf({ metadata: { ...meta, name: 'm' } });
  const { signal } = new AbortController();

  /** The port, and the requests that it sends. Those of the method in `denied` fail. */
  function recorded(denied?: string) {
    const requests: string[] = [];
    const request = async (method: string, path: string, { body }: { body?: object } = {}) => {
      requests.push(`${method} ${path} ${JSON.stringify(body)}`);
      if (method === denied) throw new KubernetesError('no', { status: 403, reason: 'Forbidden' });
      return {};
    };
    return { requests, port: createMachineSets({ request } as unknown as KubernetesClient) };
  }

  it('excludes a Machine from the drain of its controller before it deletes it', async () => {
    const { requests, port } = recorded();
    assert.ok((await port.delete(ref, machine, signal)).ok);
    assert.match(
      requests.join('\n'),
      /^PATCH .*exclude-node-draining":"winpool\.dev".*\nDELETE .*\/machines\/m .*uid-windows/,
    );
    const refused = recorded('PATCH');
    assert.ok(!(await refused.port.delete(ref, machine, signal)).ok);
    assert.equal(refused.requests.length, 1);
  });

  it('marks a Machine with the size at which it goes, and removes its marks', async () => {
    const { requests, port } = recorded();
    await port.markForDeletion(ref, machine, 2, signal);
    await port.unmark(ref, { ...machine, goesAtSize: 2, drainExcludedBy: 'operator' }, signal);
    assert.match(requests[0] ?? '', /PATCH .*delete-machine":"winpool\.dev-2".*exclude-node-draining":"winpool\.dev"/);
    assert.match(requests[1] ?? '', /PATCH .*delete-machine":null.*exclude-node-draining":null/);
  });

  it('keeps what a user has set', async () => {
    const { requests, port } = recorded();
    const excluded = { ...machine, drainExcludedBy: 'user' } as const;
    await port.markForDeletion(ref, excluded, 2, signal);
    await port.delete(ref, excluded, signal);
    await port.unmark(ref, { ...excluded, goesAtSize: 2 }, signal);
    assert.deepEqual(
      [requests.length, requests.filter((request) => request.includes('exclude-node-draining'))],
      [3, []],
    );
  });
});
