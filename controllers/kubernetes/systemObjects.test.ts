import assert from 'node:assert/strict';
import { createSystemObjects } from './systemObjects.ts';
import { type Handler, json, type Loopback, loopback } from './testing/loopbackServer.ts';

const { signal } = new AbortController();

/** Runs a test against a server that stands in for the API server. */
async function serving<T>(answering: Handler, run: (server: Loopback) => Promise<T>): Promise<T> {
  await using server = await loopback(answering);
  // Awaited here, because the server is disposed on return.
  return await run(server);
}

const objects = ({ client }: Loopback) => createSystemObjects(client);
const status = (code: number, reason: string) => ({ kind: 'Status', status: 'Failure', code, reason, message: reason });

const mapRoles = `
- rolearn: arn:aws:iam::111122223333:role/windows-nodes
  username: system:node:{{EC2PrivateDNSName}}
  groups: [system:bootstrappers, eks:kube-proxy-windows]
- rolearn: 5
- null
`;

describe('the objects of the VPC resource controller', () => {
  for (const [code, want] of [
    [200, { ok: true, value: true }],
    [404, { ok: true, value: false }],
  ] as const) {
    it(`include the webhook for pods: ${code}`, async () => {
      await serving(
        (_request, response) => json(response, code, code === 404 ? status(404, 'NotFound') : { metadata: {} }),
        async (server) => {
          assert.deepEqual(await objects(server).podWebhook(signal), want);
          assert.deepEqual(
            server.requests.map(({ path }) => path),
            ['/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/vpc-resource-mutating-webhook'],
          );
        },
      );
    });
  }

  const NODE = { name: 'ip-1', createdAt: Date.parse('2026-03-01T12:00:00Z') };

  it('include its three newest warnings about a node, each once, truncated and without request IDs', async () => {
    const event = (reason: string, message: string, lastTimestamp: string | null) => ({
      reason,
      message,
      lastTimestamp,
    });
    const items = [
      event('Unsupported', 'x9.large', '2026-03-01T12:00:00Z'),
      event('Unsupported', 'x9.large (RequestId: 8a2c1f9e-7b1d-4f6a-9c3e-2d5b8e7f6a1c)', '2026-03-01T12:05:00Z'),
      event('InsufficientCidrBlocks', 'm'.repeat(1_000), '2026-03-01T12:10:00Z'),
      event('Old', 'old', null),
      event('Older', 'older', null),
    ];
    await serving(
      (_request, response) => json(response, 200, { items }),
      async (server) => {
        const answer = await objects(server).controllerWarnings(NODE, signal);
        assert.deepEqual(answer, {
          ok: true,
          value: [
            { reason: 'InsufficientCidrBlocks', message: 'm'.repeat(300) },
            { reason: 'Old', message: 'old' },
            { reason: 'Unsupported', message: 'x9.large' },
          ],
        });
        const [request] = server.requests;
        assert.equal(request?.path, '/api/v1/namespaces/default/events');
        assert.equal(
          request.query.fieldSelector,
          'involvedObject.kind=Node,involvedObject.name=ip-1,type=Warning,source=vpc-resource-controller',
        );
      },
    );
  });

  it('include warnings in an order that does not change when one occurs again', async () => {
    const warningsAt = async (minute: number) => {
      const items = [
        { reason: 'Unsupported', message: 'x9.large', lastTimestamp: `2026-03-01T12:0${minute}:00Z` },
        { reason: 'InsufficientCidrBlocks', message: 'no blocks', lastTimestamp: '2026-03-01T12:01:00Z' },
      ];
      return serving(
        (_request, response) => json(response, 200, { items }),
        (server) => objects(server).controllerWarnings(NODE, signal),
      );
    };
    assert.deepEqual(await warningsAt(0), await warningsAt(2));
  });

  it('exclude warnings about a former node of the same name', async () => {
    const items = [
      { reason: 'Unsupported', message: 'x9.large', lastTimestamp: '2026-03-01T11:59:59Z' },
      { reason: 'InsufficientCidrBlocks', message: 'no blocks', lastTimestamp: '2026-03-01T12:00:00Z' },
    ];
    const warnings = await serving(
      (_request, response) => json(response, 200, { items }),
      (server) => objects(server).controllerWarnings(NODE, signal),
    );
    assert.deepEqual(warnings, { ok: true, value: [{ reason: 'InsufficientCidrBlocks', message: 'no blocks' }] });
  });

  it('are an error if events cannot be listed', async () => {
    const answer = await serving(
      (_request, response) => json(response, 403, status(403, 'Forbidden')),
      (server) => objects(server).controllerWarnings(NODE, signal),
    );
    assert.deepEqual(answer.ok ? answer.value : [answer.error.kind, answer.error.operation], [
      'denied',
      'list events in namespace default',
    ]);
  });
});

describe('the objects of kube-system', () => {
  it('include the settings of the VPC CNI', async () => {
    const data = { 'enable-windows-ipam': 'true' };
    await serving(
      (_request, response) => json(response, 200, { data }),
      async (server) => {
        assert.deepEqual(await objects(server).cniConfig(signal), { ok: true, value: data });
        assert.deepEqual(
          server.requests.map(({ method, path }) => `${method} ${path}`),
          ['GET /api/v1/namespaces/kube-system/configmaps/amazon-vpc-cni'],
        );
      },
    );
  });

  it('include settings that are empty', async () => {
    const answer = await serving(
      (_request, response) => json(response, 200, {}),
      (server) => objects(server).cniConfig(signal),
    );
    assert.deepEqual(answer, { ok: true, value: {} });
  });

  const helm = {
    labels: { 'app.kubernetes.io/managed-by': 'Helm' },
    annotations: { 'meta.helm.sh/release-name': 'aws-vpc-cni', 'meta.helm.sh/release-namespace': 'kube-system' },
  };
  const wrote = (manager: string, key: string, time?: string) => ({
    manager,
    ...(time && { time }),
    fieldsV1: { 'f:data': { [`f:${key}`]: {} } },
  });
  const owners: readonly (readonly [
    what: string,
    metadata: object,
    managedBy?: string | undefined,
    lastWriter?: string,
  ])[] = [
    ['no known tool manages', {}],
    ['a Helm release manages', helm, 'Helm release kube-system/aws-vpc-cni'],
    [
      'Argo CD manages',
      { annotations: { 'argocd.argoproj.io/tracking-id': 'network:/ConfigMap:kube-system/amazon-vpc-cni' } },
      'Argo CD application network',
    ],
    [
      'Flux manages',
      {
        labels: {
          'kustomize.toolkit.fluxcd.io/name': 'network',
          'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
        },
      },
      'Flux Kustomization flux-system/network',
    ],
    ['another tool manages', { labels: { 'app.kubernetes.io/managed-by': 'pulumi' } }, 'pulumi'],
    [
      'two clients have written',
      {
        managedFields: [
          wrote('kubectl-edit', 'key', '2026-03-01T12:00:00Z'),
          wrote('eks', 'key', '2026-03-01T11:00:00Z'),
          wrote('argocd', 'other', '2026-03-01T13:00:00Z'),
        ],
      },
      undefined,
      'kubectl-edit at 2026-03-01T12:00:00Z',
    ],
    ['a client wrote at an unknown time', { managedFields: [wrote('eks', 'key')] }, undefined, 'eks'],
  ];
  for (const [what, metadata, managedBy, lastWriter] of owners) {
    it(`include settings of the VPC CNI that ${what}`, async () => {
      const answer = await serving(
        (_request, response) => json(response, 200, { metadata: { uid: 'u', resourceVersion: '5', ...metadata } }),
        (server) => objects(server).cniConfigOwner('key', signal),
      );
      assert.deepEqual(answer, { ok: true, value: { uid: 'u', resourceVersion: '5', managedBy, lastWriter } });
    });
  }

  it('include settings that do not exist', async () => {
    const answer = await serving(
      (_request, response) => json(response, 404, status(404, 'NotFound')),
      (server) => objects(server).cniConfigOwner('key', signal),
    );
    assert.deepEqual(answer, { ok: true, value: undefined });
  });

  const seen = { uid: 'u', resourceVersion: '5', managedBy: undefined, lastWriter: undefined };
  for (const [what, before, precondition, force] of [
    ['one key in the version that was read', seen, { uid: 'u', resourceVersion: '5' }, 'true'],
    ['one key in a new ConfigMap, without force', undefined, {}, 'false'],
  ] as const) {
    it(`are written: ${what}`, async () => {
      await serving(
        (_request, response) => json(response, 200, {}),
        async (server) => {
          const answer = await objects(server).setCniConfig('key', 'true', before, signal);
          assert.deepEqual(answer, { ok: true, value: undefined });
          const [{ method, path, query, headers, body } = assert.fail('no request')] = server.requests;
          assert.deepEqual(
            [method, path, query, headers['content-type'], body],
            [
              'PATCH',
              '/api/v1/namespaces/kube-system/configmaps/amazon-vpc-cni',
              { fieldManager: 'windowspool-operator', force },
              'application/apply-patch+yaml',
              {
                apiVersion: 'v1',
                kind: 'ConfigMap',
                metadata: { name: 'amazon-vpc-cni', namespace: 'kube-system', ...precondition },
                data: { key: 'true' },
              },
            ],
          );
        },
      );
    });
  }

  it('are not written if they changed since they were read', async () => {
    const answer = await serving(
      (_request, response) => json(response, 409, status(409, 'Conflict')),
      (server) => objects(server).setCniConfig('key', 'true', seen, signal),
    );
    assert.deepEqual(!answer.ok && [answer.error.kind, answer.error.operation], ['conflict', 'patch configmaps']);
  });

  const maps: readonly (readonly [what: string, text: string | undefined, want: unknown])[] = [
    [
      'in YAML',
      mapRoles,
      [
        {
          roleArn: 'arn:aws:iam::111122223333:role/windows-nodes',
          groups: ['system:bootstrappers', 'eks:kube-proxy-windows'],
        },
        { roleArn: '5', groups: [] },
        { roleArn: '', groups: [] },
      ],
    ],
    ['in JSON', '[{"rolearn":"a","groups":["b"]}]', [{ roleArn: 'a', groups: ['b'] }]],
    ['of another shape', 'rolearn: a', []],
    ['that do not exist', undefined, []],
  ];
  for (const [what, text, want] of maps) {
    it(`include the roles of aws-auth ${what}`, async () => {
      const answer = await serving(
        (_request, response) => json(response, 200, { data: text === undefined ? {} : { mapRoles: text } }),
        (server) => objects(server).roleMappings(signal),
      );
      assert.deepEqual(answer, { ok: true, value: want });
    });
  }

  it('are an error with the line if aws-auth cannot be parsed', async () => {
    const answer = await serving(
      (_request, response) => json(response, 200, { data: { mapRoles: '- [' } }),
      (server) => objects(server).roleMappings(signal),
    );
    assert.ok(!answer.ok);
    assert.equal(answer.error.operation, 'reading mapRoles of ConfigMap kube-system/aws-auth');
    assert.match(answer.error.message, /at line 1, column 4/);
  });

  it('can be absent', async () => {
    await serving(
      (_request, response) => json(response, 404, status(404, 'NotFound')),
      async (server) => {
        const found = objects(server);
        assert.deepEqual(
          [await found.cniConfig(signal), await found.roleMappings(signal), await found.legacyController(signal)],
          [
            { ok: true, value: undefined },
            { ok: true, value: [] },
            { ok: true, value: false },
          ],
        );
      },
    );
  });

  it('include the legacy controller', async () => {
    const answer = await serving(
      (_request, response) => json(response, 200, { metadata: { name: 'vpc-resource-controller' } }),
      (server) => objects(server).legacyController(signal),
    );
    assert.deepEqual(answer, { ok: true, value: true });
  });

  it('are an error if the call is denied', async () => {
    await serving(
      (_request, response) => json(response, 403, status(403, 'Forbidden')),
      async (server) => {
        const found = objects(server);
        const answers = [
          await found.cniConfig(signal),
          await found.roleMappings(signal),
          await found.legacyController(signal),
          await found.linuxNode(signal),
          await found.linuxGroups(signal),
          await found.unmanagedNodes(signal),
          await found.dnsNodes(signal),
        ];
        assert.deepEqual(
          answers.map((answer) => !answer.ok && `${answer.error.kind}: ${answer.error.operation}`),
          [
            'denied: get configmaps kube-system/amazon-vpc-cni',
            'denied: get configmaps kube-system/aws-auth',
            'denied: get deployments.apps kube-system/vpc-resource-controller',
            'denied: list nodes',
            'denied: list nodes',
            'denied: list nodes',
            'denied: list pods',
          ],
        );
      },
    );
  });
});

describe('CoreDNS', () => {
  it('has the nodes of its scheduled pods, without those that are terminating or have ended', async () => {
    const pod = (nodeName: string | undefined, metadata: object = {}, phase = 'Running') => ({
      metadata,
      spec: { nodeName },
      status: { phase },
    });
    const items = [
      pod('linux-2'),
      pod('linux-1', {}, 'Pending'),
      pod('linux-1'),
      pod(undefined, {}, 'Pending'),
      pod('linux-3', { deletionTimestamp: '2026-03-01T12:00:00Z' }),
      pod('linux-4', {}, 'Failed'),
      pod('linux-5', {}, 'Succeeded'),
      {},
    ];
    await serving(
      (_request, response) => json(response, 200, { items }),
      async (server) => {
        assert.deepEqual(await objects(server).dnsNodes(signal), {
          ok: true,
          value: ['linux-1', 'linux-1', 'linux-2'],
        });
        assert.deepEqual(
          server.requests.map(({ path, query }) => [path, query]),
          [
            [
              '/api/v1/namespaces/kube-system/pods',
              { labelSelector: 'k8s-app=kube-dns', fieldSelector: 'spec.nodeName!=', limit: '100' },
            ],
          ],
        );
      },
    );
  });

  for (const items of [[], null]) {
    it(`can be absent: ${JSON.stringify(items)}`, async () => {
      const answer = await serving(
        (_request, response) => json(response, 200, { items }),
        (server) => objects(server).dnsNodes(signal),
      );
      assert.deepEqual(answer, { ok: true, value: [] });
    });
  }
});

describe('Linux nodes', () => {
  const node = (change: { ready?: string; taint?: string; effect?: string } = {}) => ({
    spec: change.taint ? { taints: [{ key: change.taint, effect: change.effect ?? 'NoSchedule' }] } : {},
    status: { conditions: [{ type: 'Ready', status: change.ready ?? 'True' }] },
  });
  const rows: readonly (readonly [what: string, node: object, takesPods: boolean])[] = [
    ['that is Ready', node(), true],
    ['that is not Ready', node({ ready: 'Unknown' }), false],
    ['that has no status', {}, false],
    ['that the node controller tainted', node({ taint: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }), false],
    ['that is not initialized', node({ taint: 'node.cloudprovider.kubernetes.io/uninitialized' }), false],
    ['for system pods', node({ taint: 'CriticalAddonsOnly' }), true],
    ['that pods should rather avoid', node({ taint: 'node.kubernetes.io/x', effect: 'PreferNoSchedule' }), true],
  ];
  for (const [what, item, takesPods] of rows) {
    it(`${takesPods ? 'accept' : 'do not accept'} pods: ${what}`, async () => {
      const answer = await serving(
        (_request, response) => json(response, 200, { items: [item] }),
        (server) => objects(server).linuxNode(signal),
      );
      assert.deepEqual(answer, { ok: true, value: { acceptsPods: takesPods } });
    });
  }

  it('are read page by page until one accepts pods', async () => {
    const pages = [
      { metadata: { continue: 'next' }, items: [node({ ready: 'False' })] },
      { metadata: { continue: 'last' }, items: [node({ ready: 'False' }), node()] },
    ];
    await serving(
      (request, response) => json(response, 200, pages[request.query.continue === 'next' ? 1 : 0] ?? {}),
      async (server) => {
        assert.deepEqual(await objects(server).linuxNode(signal), { ok: true, value: { acceptsPods: true } });
        const query = {
          labelSelector: 'kubernetes.io/os=linux',
          fieldSelector: 'spec.unschedulable=false',
          limit: '20',
        };
        assert.deepEqual(
          server.requests.map((request) => request.query),
          [query, { ...query, continue: 'next' }],
        );
      },
    );
  });

  it('are cordoned: the first that is usable otherwise is named if no other accepts pods', async () => {
    const cordon = 'node.kubernetes.io/unschedulable';
    const cordoned = [
      { metadata: { name: 'linux-1' }, ...node({ taint: cordon, ready: 'False' }) },
      { metadata: { name: 'linux-2' }, ...node({ taint: cordon }) },
    ];
    const isCordoned = 'spec.unschedulable=true';
    const answer = await serving(
      ({ query }, response) => json(response, 200, { items: query.fieldSelector === isCordoned ? cordoned : [] }),
      (server) => objects(server).linuxNode(signal),
    );
    assert.deepEqual(answer, { ok: true, value: { acceptsPods: false, cordoned: 'linux-2' } });
  });

  // The API server sends null for an empty PartialObjectMetadataList.
  for (const items of [[], null, undefined]) {
    it(`can be absent: ${JSON.stringify(items)}`, async () => {
      await serving(
        (_request, response) => json(response, 200, { items }),
        async (server) => {
          assert.deepEqual(await objects(server).linuxNode(signal), { ok: true, value: { acceptsPods: false } });
          assert.deepEqual(await objects(server).linuxGroups(signal), { ok: true, value: [] });
          assert.deepEqual(await objects(server).unmanagedNodes(signal), { ok: true, value: [] });
        },
      );
    });
  }

  it('are listed without those of managed node groups, and those that EKS manages otherwise', async () => {
    const items = ['kops-2', 'kops-1'].map((name) => ({ metadata: { name } }));
    await serving(
      (_request, response) => json(response, 200, { items }),
      async (server) => {
        assert.deepEqual(await objects(server).unmanagedNodes(signal), { ok: true, value: ['kops-1', 'kops-2'] });
        const selector = '!eks.amazonaws.com/nodegroup,!eks.amazonaws.com/compute-type';
        assert.equal(server.requests[0]?.query.labelSelector, selector);
      },
    );
  });

  it('are listed by groups, where each page excludes the groups that are known', async () => {
    const key = 'eks.amazonaws.com/nodegroup';
    const nodes = ['b', 'b', 'b', 'a', 'c', 'c'].map((group) => ({ metadata: { labels: { [key]: group } } }));
    const left = (selector = '') =>
      nodes.filter(({ metadata }) => !/notin \((.*)\)/.exec(selector)?.[1]?.split(',').includes(metadata.labels[key]));
    await serving(
      (request, response) => json(response, 200, { items: left(request.query.labelSelector).slice(0, 4) }),
      async (server) => {
        assert.deepEqual(await objects(server).linuxGroups(signal), { ok: true, value: ['a', 'b', 'c'] });
        const selector = `kubernetes.io/os=linux,${key}`;
        assert.deepEqual(
          server.requests.map(({ query }) => query.labelSelector),
          [selector, `${selector},${key} notin (b,a)`, `${selector},${key} notin (b,a,c)`],
        );
        for (const { headers } of server.requests) assert.match(headers.accept ?? '', /as=PartialObjectMetadataList/);
      },
    );
  });
});
