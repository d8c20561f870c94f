import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import { Store } from '../runtime/store.ts';
import type { CallError } from '../windowspool/ports/callResult.ts';
import type { DesiredNodePod, NodePod } from '../windowspool/ports/nodePods.ts';
import { NOW } from '../windowspool/testing/fixtures.ts';
import { findingsOf } from '../workloads/lint.ts';
import { createNodePods, nodePodIdentity, nodePodIndexes, nodePodListWatch, nodePodOf } from './nodePods.ts';
import type { Wire } from './objects.ts';
import { type Handler, json, loopback, quiet } from './testing/loopbackServer.ts';

const { signal } = new AbortController();
const TIME = '2026-03-01T12:00:00Z';

/** A pod as the API server stores it. */
function stored(status: Wire<V1Pod>['status'] = {}, spec: Partial<Wire<V1Pod>['spec']> = {}): Wire<V1Pod> {
  return {
    metadata: {
      name: 'image-pull-a-1',
      uid: 'u-1',
      resourceVersion: '7',
      creationTimestamp: TIME,
      labels: { 'winpool.dev/pool': 'web', 'app.kubernetes.io/component': 'image-pull' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'ip-1', uid: 'n-1', controller: true }],
    },
    spec: { containers: [{ name: 'pull', image: 'example.com/web:1' }], ...spec },
    status,
  };
}

const CREATED: NodePod = {
  name: 'image-pull-a-1',
  uid: 'u-1',
  resourceVersion: '7',
  purpose: 'image-pull',
  pool: 'web',
  node: 'ip-1',
  nodeUid: 'n-1',
  createdAt: NOW,
  deleting: false,
  retry: '',
  image: 'example.com/web:1',
  tolerates: [],
  phase: '',
  reason: '',
  message: '',
  isScheduled: false,
  unscheduled: '',
  hasAddress: false,
  containers: [],
  changedAt: NOW,
};

type ContainerStatus = NonNullable<NonNullable<Wire<V1Pod>['status']>['containerStatuses']>[number];

const container = (state: ContainerStatus['state'], imageID = ''): ContainerStatus => ({
  name: 'pull',
  image: 'example.com/web:1',
  imageID,
  ready: false,
  restartCount: 0,
  ...(state && { state }),
});

describe('a pod of the operator on a node', () => {
  const later = '2026-03-01T12:05:00Z';
  const at = Date.parse(later);
  const unscheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes.' };
  const table: readonly (readonly [string, Wire<V1Pod>, Partial<NodePod>])[] = [
    ['has no status at first', stored(), {}],
    ['has no status if it is empty', { ...stored(), status: {} }, {}],
    [
      'is not scheduled, for the reason of the scheduler',
      stored({ phase: 'Pending', conditions: [unscheduled] }),
      { phase: 'Pending', unscheduled: '0/3 nodes.' },
    ],
    [
      'is scheduled',
      stored(
        { phase: 'Pending', podIP: '10.0.0.1' },
        { nodeName: 'ip-1', tolerations: [{ key: 'os' }, { operator: 'Exists' }] },
      ),
      { phase: 'Pending', isScheduled: true, hasAddress: true, tolerates: ['os', ''] },
    ],
    [
      'waits for the pull',
      stored({
        containerStatuses: [
          container({
            waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "a": ErrImagePull: not found' },
          }),
        ],
      }),
      {
        containers: [
          { name: 'pull', hasImage: false, state: { kind: 'waiting', reason: 'ErrImagePull', message: 'not found' } },
        ],
      },
    ],
    [
      'runs',
      stored({ containerStatuses: [container({ running: {} }, 'sha256:1')] }),
      { containers: [{ name: 'pull', hasImage: true, state: { kind: 'running' } }] },
    ],
    [
      'has ended',
      stored({
        phase: 'Succeeded',
        containerStatuses: [
          container({ terminated: { exitCode: 0, reason: 'Completed', finishedAt: later } }, 'sha256:1'),
        ],
      }),
      {
        phase: 'Succeeded',
        changedAt: at,
        containers: [
          { name: 'pull', hasImage: true, state: { kind: 'ended', exitCode: 0, reason: 'Completed', message: '' } },
        ],
      },
    ],
    [
      'ends with its own container, while one that another controller added runs',
      stored(
        {
          phase: 'Running',
          containerStatuses: [
            ...Array.from({ length: 5 }, (_, i) => ({ ...container({ running: {} }, 'sha256:2'), name: `mesh-${i}` })),
            container({ terminated: { exitCode: 3, reason: 'Error', finishedAt: later } }, 'sha256:1'),
          ],
        },
        {
          containers: [
            { name: 'mesh-0', image: 'example.com/mesh:1' },
            { name: 'pull', image: 'example.com/web:1' },
          ],
        },
      ),
      {
        phase: 'Failed',
        changedAt: at,
        containers: [
          { name: 'pull', hasImage: true, state: { kind: 'ended', exitCode: 3, reason: 'Error', message: '' } },
        ],
      },
    ],
    [
      'runs while one of its containers has not ended',
      stored(
        {
          phase: 'Running',
          containerStatuses: [{ ...container({ terminated: { exitCode: 0 } }, 'sha256:1'), name: 'service' }],
        },
        {
          containers: [
            { name: 'service', image: 'example.com/web:1' },
            { name: 'pull', image: 'example.com/web:1' },
          ],
        },
      ),
      {
        phase: 'Running',
        containers: [
          { name: 'service', hasImage: true, state: { kind: 'ended', exitCode: 0, reason: '', message: '' } },
        ],
      },
    ],
    [
      'has a container without a state',
      stored({ containerStatuses: [container(undefined)] }),
      { containers: [{ name: 'pull', hasImage: false, state: { kind: 'waiting', reason: '', message: '' } }] },
    ],
    [
      'has failed as a whole',
      stored({
        phase: 'Failed',
        reason: 'Evicted',
        message: 'low on\u001b[31m disk',
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: later }],
      }),
      { phase: 'Failed', reason: 'Evicted', message: 'low on\uFFFD[31m disk', changedAt: at },
    ],
    [
      'has no node when another user removed its owner',
      {
        ...stored(),
        metadata: {
          ...stored().metadata,
          ownerReferences: [],
          deletionTimestamp: TIME,
          annotations: { 'winpool.dev/retry': '1' },
        },
      },
      { node: '', nodeUid: '', deleting: true, retry: '1' },
    ],
  ];
  for (const [name, pod, want] of table) it(name, () => assert.deepEqual(nodePodOf(pod), { ...CREATED, ...want }));

  it('is bounded, whatever the kubelet reports', () => {
    const huge = 'x'.repeat(1_000_000);
    const waiting = container({ waiting: { reason: huge, message: huge } });
    const found = nodePodOf(
      stored(
        {
          phase: huge,
          reason: huge,
          message: huge,
          containerStatuses: Array.from({ length: 1_000 }, () => waiting),
          conditions: Array.from({ length: 1_000 }, () => ({
            ...unscheduled,
            message: huge,
            lastTransitionTime: 'never',
          })),
        },
        { tolerations: Array.from({ length: 1_000 }, () => ({ key: 'a' })) },
      ),
    );
    assert.ok(JSON.stringify(found).length < 10_000);
    assert.deepEqual([found.containers.length, found.tolerates.length, found.changedAt], [2, 100, NOW]);
  });
});

describe('a newer version of such a pod', () => {
  const failing = (reason: string, message: string) =>
    stored({ phase: 'Pending', containerStatuses: [container({ waiting: { reason, message } })] });
  const newer = (pod: Wire<V1Pod>) => nodePodOf({ ...pod, metadata: { ...pod.metadata, resourceVersion: '8' } });
  const table: readonly (readonly [string, Wire<V1Pod>, Wire<V1Pod>, boolean])[] = [
    ['is absorbed if nothing else changed', stored(), stored(), true],
    [
      'is absorbed if the kubelet waits before it pulls again',
      failing('ErrImagePull', 'not found'),
      failing('ImagePullBackOff', 'Back-off pulling image "a": ErrImagePull: not found'),
      true,
    ],
    [
      'is absorbed if an older kubelet waits and does not repeat the cause',
      failing('ErrImagePull', 'not found'),
      failing('ImagePullBackOff', 'Back-off pulling image "a"'),
      true,
    ],
    ['is news if the cause is another', failing('ErrImagePull', 'not found'), failing('ErrImagePull', 'denied'), false],
    ['is news if it has its first container', stored(), failing('ContainerCreating', ''), false],
    ['is news if it has a phase', stored(), stored({ phase: 'Pending' }), false],
  ];
  for (const [name, before, after, isAbsorbed] of table) {
    it(name, () => {
      const known = nodePodOf(before);
      assert.equal(nodePodIdentity.absorbUnchanged?.(known, newer(after)), isAbsorbed);
      assert.deepEqual(known, isAbsorbed ? { ...nodePodOf(before), resourceVersion: '8' } : nodePodOf(before));
    });
  }
});

const desired: DesiredNodePod = {
  name: 'image-pull-a-1',
  purpose: 'image-pull',
  pool: 'web',
  node: { name: 'ip-1', uid: 'n-1' },
  containers: [{ name: 'pull', image: 'example.com/web:1', command: ['cmd.exe', '/c', 'exit'] }],
  imagePullSecrets: ['registry'],
  tolerations: [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }],
  deadlineSeconds: 1_800,
  retry: '1',
};

/** The port on a server, and its store. */
async function port(answering: Handler) {
  const server = await loopback(answering);
  const store = new Store({ identity: nodePodIdentity, indexes: nodePodIndexes, log: quiet });
  store.replace([], '1', { newest: true });
  const clock = { now: 0 };
  const pods = createNodePods(
    server.client,
    { namespace: 'ops', pullSecrets: ['registry'] },
    store,
    (pool) => ({ kind: 'seen', pods: store.byIndex('pool', pool) }),
    () => clock.now,
  );
  return { server, pods, clock, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const rejecting =
  (code: number, reason: string, message: string): Handler =>
  (_request, response) =>
    json(response, code, { kind: 'Status', status: 'Failure', code, reason, message });

const denied = (verb: string) =>
  rejecting(
    403,
    'Forbidden',
    `pods is forbidden: User "system:serviceaccount:ops:windowspool-operator" cannot ${verb} resource "pods" in API group "" in the namespace "ops"`,
  );

/** What must be installed, where. */
const REMEDY = /\bNamespace ops must exist\b.*windowspool-operator-node-pods\b.*config\/rbac\b.*--node-pod-namespace/;

describe('the creation of such a pod', () => {
  it('waits ever longer if another client deletes the pod, as its kubelet can', async () => {
    await using open = await port((_request, response) => json(response, 201, stored()));
    const created: number[] = [];
    for (; open.clock.now < 200_000; open.clock.now += 1_000)
      if ((await open.pods.create(desired, signal)).ok) created.push(open.clock.now / 1_000);
    assert.deepEqual(created, [0, 10, 30, 70, 150]);
    assert.equal(open.server.requests.length, created.length);
  });

  it('is refused with a Secret that the administrator has not listed, and nothing is sent', async () => {
    await using open = await port(rejecting(500, 'InternalError', 'must not be called'));
    const answer = await open.pods.create({ ...desired, imagePullSecrets: ['registry', 'db'] }, signal);
    assert.equal(answer.ok, false);
    assert.match(answer.ok ? '' : answer.error.message, /Secret db.*--allowed-image-pull-secrets/);
    assert.equal(open.server.requests.length, 0);
  });

  it('requests a pod for the node that passes Pod Security, and knows it at once', async () => {
    await using open = await port((_request, response) => json(response, 201, stored()));
    assert.deepEqual(await open.pods.create(desired, signal), { ok: true, value: undefined });
    const [request] = open.server.requests;
    assert.equal(`${request?.method} ${request?.path}`, 'POST /api/v1/namespaces/ops/pods');
    assert.deepEqual(request?.body, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'image-pull-a-1',
        labels: {
          'app.kubernetes.io/managed-by': 'windowspool-operator',
          'app.kubernetes.io/component': 'image-pull',
          'winpool.dev/pool': 'web',
        },
        annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true', 'winpool.dev/retry': '1' },
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Node', name: 'ip-1', uid: 'n-1', controller: true, blockOwnerDeletion: false },
        ],
      },
      spec: {
        os: { name: 'windows' },
        nodeSelector: { 'kubernetes.io/os': 'windows' },
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['ip-1'] }] }],
            },
          },
        },
        priorityClassName: 'windowspool-operator-node-pods',
        tolerations: [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }],
        containers: [
          {
            name: 'pull',
            image: 'example.com/web:1',
            command: ['cmd.exe', '/c', 'exit'],
            imagePullPolicy: 'IfNotPresent',
            resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { cpu: '500m', memory: '256Mi' } },
            terminationMessagePolicy: 'FallbackToLogsOnError',
          },
        ],
        imagePullSecrets: [{ name: 'registry' }],
        securityContext: { runAsNonRoot: true, windowsOptions: { runAsUserName: 'ContainerUser' } },
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 1,
        activeDeadlineSeconds: 1_800,
      },
    });
    assert.deepEqual(open.pods.of('web'), { kind: 'seen', pods: [CREATED] });
    assert.deepEqual(findingsOf(request?.body, []), [], 'it violates a rule about workloads');
  });

  const table: readonly (readonly [string, Handler, string])[] = [
    ['that exists is a conflict', rejecting(409, 'AlreadyExists', 'pods "a" already exists'), 'conflict'],
    ['without the permission is denied', denied('create'), 'denied'],
    [
      'is refused by Pod Security',
      rejecting(
        403,
        'Forbidden',
        'pods "a" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true',
      ),
      'refused',
    ],
    ['is refused by a quota', rejecting(403, 'Forbidden', 'pods "a" is forbidden: exceeded quota: few'), 'refused'],
    ['is refused without the namespace', rejecting(404, 'NotFound', 'namespaces "ops" not found'), 'refused'],
    ['is refused by a policy', rejecting(422, 'Invalid', 'ValidatingAdmissionPolicy denied request'), 'refused'],
    ['is tried again when the server is unavailable', rejecting(503, 'ServiceUnavailable', 'later'), 'unavailable'],
  ];
  for (const [name, answering, want] of table) {
    it(name, async () => {
      await using open = await port(answering);
      const answer = await open.pods.create(desired, signal);
      assert.deepEqual(answer.ok ? answer : [answer.error.kind, answer.error.operation], [want, 'create pods in ops']);
    });
  }

  const remedies: readonly (readonly [string, Handler, boolean])[] = [
    ['without the permission', denied('create'), true],
    ['without the namespace', rejecting(404, 'NotFound', 'namespaces "ops" not found'), true],
    ['beyond a quota', rejecting(403, 'Forbidden', 'pods "a" is forbidden: exceeded quota: few'), false],
  ];
  for (const [name, answering, isNamed] of remedies) {
    it(`that is rejected ${name} ${isNamed ? 'names' : 'does not name'} what to install`, async () => {
      await using open = await port(answering);
      const answer = await open.pods.create(desired, signal);
      assert.equal(answer.ok ? undefined : REMEDY.test(answer.error.message), isNamed);
    });
  }
});

describe('the deletion of such a pod', () => {
  it('is of exactly this pod', async () => {
    await using open = await port((_request, response) => json(response, 200, {}));
    assert.deepEqual(await open.pods.delete(CREATED, signal), { ok: true, value: undefined });
    const [request] = open.server.requests;
    assert.equal(`${request?.method} ${request?.path}`, 'DELETE /api/v1/namespaces/ops/pods/image-pull-a-1');
    assert.deepEqual(request?.body, { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'u-1' } });
  });

  it('is done if it is gone', async () => {
    await using open = await port(rejecting(404, 'NotFound', 'pods "image-pull-a-1" not found'));
    assert.deepEqual(await open.pods.delete(CREATED, signal), { ok: true, value: undefined });
  });
});

describe('the watch of such pods', () => {
  it('is only of the pods of the operator in their namespace, and reports errors with their remedy', async () => {
    const results: (CallError | undefined)[] = [];
    let isDenied = true;
    await using server = await loopback((request, response) =>
      isDenied
        ? denied('list')(request, response)
        : json(response, 200, { metadata: { resourceVersion: '9' }, items: [stored()] }),
    );
    const { list } = nodePodListWatch(server.client, 'ops', (error) => results.push(error));
    await assert.rejects(list({ resourceVersion: '0' }, signal), /forbidden/);
    isDenied = false;
    assert.deepEqual((await list({ resourceVersion: '0' }, signal)).items, [CREATED]);
    assert.deepEqual(
      results.map((error) => error && [error.kind, error.operation, REMEDY.test(error.message)]),
      [['denied', 'watch pods in ops', true], undefined],
    );
    const [first] = server.requests;
    assert.deepEqual(
      [first?.path, first?.query.labelSelector],
      [
        '/api/v1/namespaces/ops/pods',
        'app.kubernetes.io/managed-by=windowspool-operator,app.kubernetes.io/component in (image-pull,smoke-test)',
      ],
    );
  });
});
