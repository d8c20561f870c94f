/** The policy that limits the operator to the writes that it makes, as it is shipped and in overlays. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { OWN_CONDITIONS } from '../../controllers/windowspool/api/labels.ts';
import { type ControlPlane, startControlPlane } from '../../hack/controlplane/controlplane.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const OPERATOR = 'system:serviceaccount:winpool-system:windowspool-operator';
/** The namespace of the pods that the operator runs on nodes. */
const NODE_PODS = 'winpool-node-pods';

/** The rules of the policy, which has their messages. */
const { validations }: { validations: readonly { expression: string; message: string }[] } = parse(
  readFileSync(join(ROOT, 'config/admission/policy.yaml'), 'utf8'),
).spec;

/** The message of the one rule whose expression has this part. */
function messageOfRule(part: string): string {
  const found = validations.filter(({ expression }) => expression.includes(part));
  assert.equal(found.length, 1, `rules with ${part}`);
  return found[0]?.message ?? '';
}

/** As in OpenAPI 3. */
interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** A value that fits the schema and is not empty. */
function sampleOf(schema: Schema, schemas: Readonly<Record<string, Schema>>): unknown {
  const { $ref, allOf, type, items, additionalProperties, properties = {}, required = [] } = schema;
  const other = $ref ? schemas[$ref.replace('#/components/schemas/', '')] : allOf?.[0];
  if (other) return sampleOf(other, schemas);
  if (type === 'array') return [sampleOf(items ?? {}, schemas)];
  if (additionalProperties) return { memory: sampleOf(additionalProperties, schemas) };
  const names = required.length > 0 ? required : Object.keys(properties);
  if (names.length > 0)
    return Object.fromEntries(names.map((name) => [name, sampleOf(properties[name] ?? {}, schemas)]));
  return schema.enum?.[0] ?? { integer: 1, boolean: true }[type ?? ''] ?? '1';
}

describe('the admission policy of the operator', function () {
  this.timeout(180_000);
  let plane: ControlPlane;
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windowspool-admission-'));
    plane = await startControlPlane({ crds: [join(ROOT, 'crds/windowspools.yaml')] });
    await kubectl(['apply', '-f', join(ROOT, 'config/manager/namespace.yaml')]);
    await kubectl(['apply', '-k', join(ROOT, 'config/rbac')]);
    // kubectl reads what it patches, which the operator does not.
    await kubectl([
      'create',
      'clusterrole',
      'reader',
      '--verb=get',
      '--resource=nodes/status,runtimeclasses.node.k8s.io,events.events.k8s.io',
    ]);
    await kubectl(['create', 'clusterrolebinding', 'reader', '--clusterrole=reader', '--group=system:authenticated']);
    for (const [name, os] of [
      ['windows', 'windows'],
      ['linux', 'linux'],
    ] as const) {
      const taints = [
        { key: 'drain', effect: 'NoExecute' },
        { key: 'node.kubernetes.io/out-of-service', value: 'x', effect: 'NoSchedule' },
      ];
      await apply({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels: { 'kubernetes.io/os': os, team: 'shop' }, annotations: { note: 'x' } },
        spec: { providerID: `aws:///eu-west-1a/${name}`, taints },
      });
    }
    await apply({ apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'gvisor' }, handler: 'runsc' });
    for (const [name, labels] of [
      ['guide', {}],
      ['helm', { 'app.kubernetes.io/managed-by': 'Helm' }],
    ] as const) {
      const scheduling = { nodeSelector: { 'kubernetes.io/os': 'windows' } };
      await apply({
        apiVersion: 'node.k8s.io/v1',
        kind: 'RuntimeClass',
        metadata: { name, labels },
        handler: 'docker',
        scheduling,
      });
    }
    for (const [name, reportingController] of [
      ['own', 'winpool.dev/windowspool-operator'],
      ['other', 'kubelet'],
    ])
      await kubectl(CREATE, event({ reportingController }, { name }));
    const windows = { 'kubernetes.io/os': 'windows' };
    await apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'crowded', labels: windows } });
    await kubectl(patch(node('crowded'), condition('winpool.dev/Foo'), 'strategic', '--subresource=status'));
    await kubectl(['apply', '-k', join(ROOT, 'config/samples')]);
    const web = JSON.parse(await kubectl(['get', 'windowspool', 'web', '-o', 'json']));
    await kubectl(CREATE, JSON.stringify({ ...web, metadata: { name: 'crowded' }, status: undefined }));
    for (let index = 0; index < 11; index++)
      await kubectl([
        'annotate',
        'windowspool',
        'crowded',
        `example.com/a-${index}=x`,
        `--field-manager=manager-${index}`,
      ]);
    const restored = { metadata: { finalizers: ['winpool.dev/finalizer'] } };
    await kubectl([...patch(['windowspool', 'web'], restored), '--field-manager=velero-server']);
  });
  after(async () => {
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function kubectl(args: readonly string[], stdin?: string): Promise<string> {
    return plane.kubectlOutput(args, stdin === undefined ? {} : { stdin });
  }
  const apply = (object: object, ...args: readonly string[]) =>
    kubectl(['apply', '-f', '-', ...args], JSON.stringify(object));

  /** Applies an overlay of config/admission, and waits until it binds for this user. */
  async function install(user: string, overlay: string): Promise<void> {
    await kubectl(['delete', 'validatingadmissionpolicies,validatingadmissionpolicybindings', '--all']);
    await writeFile(join(folder, 'kustomization.yaml'), overlay);
    await symlink(join(ROOT, 'config/admission'), join(folder, 'admission')).catch(() => undefined);
    await kubectl(['apply', '-k', folder]);
    await waitFor(async () => (await write(user, ['label', 'node', 'linux', 'winpool.dev/probe=1'])) !== 'allowed', {
      what: 'the policy to be in force',
    });
  }

  /** What the API server says to a write of a user, which takes no effect. */
  async function write(user: string, args: readonly string[], stdin?: string): Promise<string> {
    try {
      await kubectl([...args, '--dry-run=server', '--as', user], stdin);
      return 'allowed';
    } catch (error) {
      const { message } = error as Error;
      return /denied request: (.*)/.exec(message)?.[1] ?? message;
    }
  }
  const patch = (what: readonly string[], body: object, type = 'merge', ...args: readonly string[]) => [
    'patch',
    ...what,
    `--type=${type}`,
    '-p',
    JSON.stringify(body),
    ...args,
  ];
  const node = (name: string) => ['node', name];
  const WINDOWS_ONLY = messageOfRule("'winpool.dev/ownership' in variables.annotationsBefore");
  const LABELS = messageOfRule('variables.changedLabels.all(');
  const ANNOTATIONS = messageOfRule('variables.changedAnnotations.all(');
  const NODE_FINALIZERS = messageOfRule("variables.resource != 'nodes' || variables.finalizersBefore == ");
  const TAINTS = messageOfRule('variables.changedTaints.all(');
  const CONDITIONS = messageOfRule("filter(c, !c.type.startsWith('winpool.dev/'))");
  const NODE_SPEC = messageOfRule('variables.specBefore.all(');
  const METADATA = messageOfRule('variables.metadataBefore.all(');
  const NODE_STATUS = messageOfRule('variables.statusBefore.all(');
  const POOLS = messageOfRule('variables.before.spec == variables.after.spec');
  const CLASSES = messageOfRule("? variables.labelsAfter['app.kubernetes.io/managed-by'] == ");
  const WINDOWS_CLASSES = messageOfRule('variables.after.scheduling.nodeSelector');
  const CLASS_OWNERS = messageOfRule("owner.kind == 'WindowsPool'");
  const OVERHEAD = messageOfRule('variables.before.overhead');
  const NEW_FINALIZERS = messageOfRule("request.operation != 'CREATE' || size(variables.finalizersAfter) == 0");
  const LEASES = messageOfRule("variables.after.metadata.name == 'windowspool-operator'");
  const MANAGERS = messageOfRule('variables.specManagersBefore == ');
  const OWN_TYPES = messageOfRule('size(c.message)');
  const CLASS_ANNOTATIONS = messageOfRule("request.operation == 'CREATE' ? size(variables.annotationsAfter) == 0");
  const EVENTS = messageOfRule('variables.after.reportingController');
  const EVICTIONS = messageOfRule('variables.after.deleteOptions');
  const GRACE = messageOfRule('variables.after.spec.terminationGracePeriodSeconds');
  const CONTAINER_FIELDS = messageOfRule('dyn(container).all(');
  const REQUESTS = messageOfRule('quantity(');
  const POD_ANNOTATIONS = messageOfRule('cluster-autoscaler.kubernetes.io/safe-to-evict');
  const CREATE = ['create', '-f', '-'];
  const POOL = ['windowspool', 'web'];
  const labelled = (labels: object) => patch(node('windows'), { metadata: { labels } });
  const tainted = (op: string, path: string, value?: object) =>
    patch(node('windows'), [{ op, path, ...(value && { value }) }], 'json');
  const condition = (type: string) => ({
    status: { conditions: [{ type, status: 'True', reason: 'A', message: 'a' }] },
  });
  const runtimeClass = (labels: object, os = 'windows', ownerKind?: string, annotations?: object) =>
    JSON.stringify({
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: {
        name: 'windows-2022',
        labels,
        ...(annotations && { annotations }),
        ...(ownerKind && {
          ownerReferences: [
            {
              apiVersion: ownerKind === 'WindowsPool' ? 'winpool.dev/v1alpha1' : 'v1',
              kind: ownerKind,
              name: 'a',
              uid: 'b',
            },
          ],
        }),
      },
      handler: 'runhcs-wcow-process',
      scheduling: { nodeSelector: { 'kubernetes.io/os': os } },
    });
  const SERIES = { count: 2, lastObservedTime: '2026-03-01T12:00:00.000000Z' };
  const event = (change: object = {}, metadata: object = {}) =>
    JSON.stringify({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'new', namespace: 'default', ...metadata },
      eventTime: '2026-03-01T12:00:00.000000Z',
      reportingController: 'winpool.dev/windowspool-operator',
      reportingInstance: 'operator',
      action: 'Verify',
      reason: 'NodeVerified',
      type: 'Normal',
      regarding: { apiVersion: 'v1', kind: 'Node', name: 'windows' },
      note: 'verified',
      ...change,
    });
  const OWNER = { apiVersion: 'v1', name: 'a', uid: 'b' };
  const ANTI_AFFINITY = {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'topology.kubernetes.io/region', namespaceSelector: {}, labelSelector: {} },
    ],
  };
  const lease = (name: string, metadata: object = {}) =>
    JSON.stringify({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: 'kube-system', ...metadata },
    });
  const OURS = { 'app.kubernetes.io/managed-by': 'windowspool-operator' };
  const withOverhead = JSON.stringify({
    ...JSON.parse(runtimeClass(OURS)),
    overhead: { podFixed: { cpu: '1000' } },
  });
  const OWN_PODS = messageOfRule('request.namespace');
  const WINDOWS_PODS = messageOfRule('variables.after.spec.activeDeadlineSeconds');
  const PLAIN_PODS = messageOfRule('variables.after.spec.automountServiceAccountToken');
  const UNPRIVILEGED = messageOfRule('windowsOptions.hostProcess');
  const POD_FIELDS = messageOfRule('variables.podSpec.all(');
  const SCHEDULING = messageOfRule('podAntiAffinity');
  const POD_OWNERS = messageOfRule("owner.kind == 'Node'");
  const WITHOUT_GMSA = messageOfRule('windowsOptions.gmsaCredentialSpecName');
  /** The pod that the operator runs on a node, with a change. */
  const pod = (change: object = {}, container: object = {}, metadata: object = {}) =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'image-pull-a-1',
        namespace: NODE_PODS,
        labels: { ...OURS, 'winpool.dev/pool': 'web' },
        ...metadata,
      },
      spec: {
        os: { name: 'windows' },
        nodeSelector: { 'kubernetes.io/os': 'windows' },
        containers: [{ name: 'pull', image: 'nginx', ...container }],
        securityContext: { runAsNonRoot: true, windowsOptions: { runAsUserName: 'ContainerUser' } },
        automountServiceAccountToken: false,
        activeDeadlineSeconds: 60,
        terminationGracePeriodSeconds: 1,
        priorityClassName: 'windowspool-operator-node-pods',
        ...change,
      },
    });

  const cases: readonly [what: string, args: readonly string[], expected: string, stdin?: string][] = [
    ['a label of its own', labelled({ 'winpool.dev/pool': 'web' }), 'allowed'],
    ['the build label', labelled({ 'node.kubernetes.io/windows-build': '1' }), 'allowed'],
    ['a label of a spec', labelled({ team: 'web' }), 'allowed'],
    ['a role of a node', labelled({ 'node-role.kubernetes.io/control-plane': '' }), LABELS],
    ['a restricted label', labelled({ 'tier.node-restriction.kubernetes.io/a': 'b' }), LABELS],
    ['the label of a node group', labelled({ 'eks.amazonaws.com/nodegroup': 'a' }), LABELS],
    ['a Linux node', patch(node('linux'), { metadata: { labels: { 'winpool.dev/pool': 'web' } } }), WINDOWS_ONLY],
    ['the cordon of a Linux node', patch(node('linux'), { spec: { unschedulable: true } }), WINDOWS_ONLY],
    ['a cordon', patch(node('windows'), { spec: { unschedulable: true } }), 'allowed'],
    [
      'its own annotation',
      patch(node('windows'), { metadata: { annotations: { 'winpool.dev/cordoned': 'a' } } }),
      'allowed',
    ],
    ['another annotation', patch(node('windows'), { metadata: { annotations: { note: null } } }), ANNOTATIONS],
    ...['winpool.dev/replace', 'winpool.dev/remove', 'winpool.dev/exclude-from-drain'].map(
      (key): (typeof cases)[number] => [
        `the request ${key}`,
        patch(node('windows'), { metadata: { annotations: { [key]: 'true' } } }),
        ANNOTATIONS,
      ],
    ),
    [
      'the answer to a request',
      patch(node('windows'), { metadata: { annotations: { 'winpool.dev/replace': 'timed-out' } } }),
      'allowed',
    ],
    [
      'a condition with its prefix that it does not know',
      patch(node('windows'), condition('winpool.dev/A'), 'strategic', '--subresource=status'),
      OWN_TYPES,
    ],
    [
      'a condition as long as a node may be',
      patch(
        node('windows'),
        {
          status: {
            conditions: [{ ...condition(OWN_CONDITIONS[0]).status.conditions[0], message: 'a'.repeat(40_000) }],
          },
        },
        'strategic',
        '--subresource=status',
      ),
      OWN_TYPES,
    ],
    [
      'its condition on a node with one of others',
      patch(node('crowded'), condition(OWN_CONDITIONS[0]), 'strategic', '--subresource=status'),
      'allowed',
    ],
    [
      'its finalizer on a pool of many managers',
      [
        ...patch(['windowspool', 'crowded'], { metadata: { finalizers: ['winpool.dev/finalizer'] } }),
        '--field-manager=windowspool-operator',
      ],
      'allowed',
    ],
    ['an event', CREATE, 'allowed', event()],
    ['an event as another reporter', CREATE, EVENTS, event({ reportingController: 'kubelet' })],
    ['an event with a label', CREATE, EVENTS, event({}, { labels: { a: 'b' } })],
    ['an event with a finalizer', CREATE, NEW_FINALIZERS, event({}, { finalizers: ['example.com/hold'] })],
    ['the series of its event', patch(['event.v1.events.k8s.io', 'own'], { series: SERIES }), 'allowed'],
    ['an event of the kubelet', patch(['event.v1.events.k8s.io', 'other'], { series: SERIES }), EVENTS],
    [
      'a finalizer of its event',
      patch(['event.v1.events.k8s.io', 'own'], { metadata: { finalizers: ['example.com/hold'] } }),
      EVENTS,
    ],
    [
      'an annotation of a RuntimeClass',
      CREATE,
      CLASS_ANNOTATIONS,
      runtimeClass(OURS, 'windows', undefined, { a: 'b' }),
    ],
    [
      'a finalizer of a node',
      patch(node('windows'), { metadata: { finalizers: ['winpool.dev/hold'] } }),
      NODE_FINALIZERS,
    ],
    [
      'a taint of a spec',
      tainted('add', '/spec/taints/-', { key: 'os', value: 'windows', effect: 'NoSchedule' }),
      'allowed',
    ],
    [
      'the gate',
      tainted('add', '/spec/taints/-', {
        key: 'startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate',
        effect: 'NoSchedule',
      }),
      'allowed',
    ],
    ['a taint that evicts pods', tainted('add', '/spec/taints/-', { key: 'mine', effect: 'NoExecute' }), TAINTS],
    ['the removal of a taint that evicts pods', tainted('remove', '/spec/taints/0'), TAINTS],
    ['the removal of a taint of Kubernetes', tainted('remove', '/spec/taints/1'), TAINTS],
    ...OWN_CONDITIONS.map((type): [what: string, args: readonly string[], expected: string] => [
      `its condition ${type}`,
      patch(node('windows'), condition(type), 'strategic', '--subresource=status'),
      'allowed',
    ]),
    [
      'the condition Ready',
      patch(node('windows'), condition('Ready'), 'strategic', '--subresource=status'),
      CONDITIONS,
    ],
    [
      'the capacity',
      patch(node('windows'), { status: { capacity: { memory: '1' } } }, 'merge', '--subresource=status'),
      NODE_STATUS,
    ],
    ['a RuntimeClass of its own', CREATE, 'allowed', runtimeClass(OURS)],
    ['a RuntimeClass without its label', CREATE, CLASSES, runtimeClass({})],
    ['a RuntimeClass for Linux', CREATE, WINDOWS_CLASSES, runtimeClass(OURS, 'linux')],
    [
      'a RuntimeClass of Helm that it makes its own',
      patch(['runtimeclass', 'helm'], { metadata: { labels: OURS } }),
      CLASSES,
    ],
    [
      'a RuntimeClass that nobody manages and that it makes its own',
      patch(['runtimeclass', 'guide'], { metadata: { labels: OURS } }),
      CLASSES,
    ],
    ['a RuntimeClass with another owner than a pool', CREATE, CLASS_OWNERS, runtimeClass(OURS, 'windows', 'ConfigMap')],
    ['a RuntimeClass with a pool as its owner', CREATE, 'allowed', runtimeClass(OURS, 'windows', 'WindowsPool')],
    ['the deletion of a RuntimeClass of Helm', ['delete', 'runtimeclass', 'helm'], CLASSES],
    ['the deletion of a RuntimeClass for Linux', ['delete', 'runtimeclass', 'gvisor'], WINDOWS_CLASSES],
    [
      'the deletion of a RuntimeClass that nobody manages, for adoption',
      ['delete', 'runtimeclass', 'guide'],
      'allowed',
    ],
    ['an overhead of a RuntimeClass of its own', CREATE, OVERHEAD, withOverhead],
    ['its Lease', CREATE, 'allowed', lease('windowspool-operator')],
    ['a Lease of others', CREATE, LEASES, lease('cluster-autoscaler')],
    [
      'a Lease with an owner',
      CREATE,
      LEASES,
      lease('windowspool-operator', { ownerReferences: [{ ...OWNER, kind: 'Node' }] }),
    ],
    [
      'a Lease with a finalizer',
      CREATE,
      NEW_FINALIZERS,
      lease('windowspool-operator', { finalizers: ['example.com/hold'] }),
    ],
    ['the fields of a pool that others manage', patch(POOL, { metadata: { managedFields: [{}] } }), MANAGERS],
    ['its finalizer', patch(POOL, { metadata: { finalizers: ['winpool.dev/finalizer'] } }), 'allowed'],
    [
      'the removal of its finalizer, which a backup tool has set',
      patch(POOL, { metadata: { finalizers: null } }),
      'allowed',
    ],
    ['another finalizer', patch(POOL, { metadata: { finalizers: ['example.com/hold'] } }), POOLS],
    [
      'an owner of a pool, with which it would be deleted',
      patch(POOL, { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b' }] } }),
      METADATA,
    ],
    ['the spec of a pool', patch(POOL, { spec: { deletionPolicy: 'Retain' } }), POOLS],
    ['an annotation of a pool', patch(POOL, { metadata: { annotations: { a: 'b' } } }), POOLS],
  ];

  const token = { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } };
  const secret = { secretKeyRef: { name: 'other', key: 'password' } };
  const pods: typeof cases = [
    ['a pod of its own', CREATE, 'allowed', pod()],
    ['a pod with a fixed value', CREATE, 'allowed', pod({}, { env: [{ name: 'A', value: 'b' }] })],
    ['a pod without its label', CREATE, OWN_PODS, pod({}, {}, { labels: { 'winpool.dev/pool': 'web' } })],
    ['a pod without a pool', CREATE, OWN_PODS, pod({}, {}, { labels: OURS })],
    ['a pod without a deadline', CREATE, WINDOWS_PODS, pod({ activeDeadlineSeconds: undefined })],
    ['a pod for any node', CREATE, WINDOWS_PODS, pod({ nodeSelector: {} })],
    ['a pod for Linux nodes', CREATE, WINDOWS_PODS, pod({ nodeSelector: { 'kubernetes.io/os': 'linux' } })],
    [
      'a pod with the token of its ServiceAccount',
      CREATE,
      PLAIN_PODS,
      pod({ automountServiceAccountToken: undefined }),
    ],
    ['a pod with a token in a volume', CREATE, PLAIN_PODS, pod({ volumes: [token] })],
    ['a pod with a value of a Secret', CREATE, PLAIN_PODS, pod({}, { env: [{ name: 'A', valueFrom: secret }] })],
    ['a pod with all values of a Secret', CREATE, PLAIN_PODS, pod({}, { envFrom: [{ secretRef: { name: 'other' } }] })],
    [
      'a pod with an init container that reads a Secret',
      CREATE,
      PLAIN_PODS,
      pod({ initContainers: [{ name: 'a', image: 'a', env: [{ name: 'A', valueFrom: secret }] }] }),
    ],
    [
      'a pod whose container has privileges of its own',
      CREATE,
      UNPRIVILEGED,
      pod({}, { securityContext: { windowsOptions: { runAsUserName: 'ContainerAdministrator' } } }),
    ],
    ...[{ gmsaCredentialSpecName: 'web' }, { gmsaCredentialSpec: '{}' }].map(
      (windowsOptions): (typeof cases)[number] => [
        `a pod with ${Object.keys(windowsOptions)[0]}`,
        ['create', '-f', '-'],
        WITHOUT_GMSA,
        pod({
          securityContext: {
            runAsNonRoot: true,
            windowsOptions: { runAsUserName: 'ContainerUser', ...windowsOptions },
          },
        }),
      ],
    ),
    ...['ContainerAdministrator', 'NT AUTHORITY\\SYSTEM', 'BUILTIN\\Administrators', undefined].map(
      (runAsUserName): (typeof cases)[number] => [
        `a pod that runs as ${runAsUserName}`,
        CREATE,
        UNPRIVILEGED,
        pod({ securityContext: { runAsNonRoot: true, windowsOptions: { runAsUserName } } }),
      ],
    ),
    [
      'a pod that others must not run beside',
      CREATE,
      SCHEDULING,
      pod({ affinity: { podAntiAffinity: ANTI_AFFINITY } }),
    ],
    ['a pod that must run beside others', CREATE, SCHEDULING, pod({ affinity: { podAffinity: ANTI_AFFINITY } })],
    ['a pod that preempts others', CREATE, SCHEDULING, pod({ priorityClassName: 'system-node-critical' })],
    ['a pod with the default priority', CREATE, SCHEDULING, pod({ priorityClassName: undefined })],
    ['a pod that no scheduler has placed', CREATE, POD_FIELDS, pod({ nodeName: 'windows' })],
    ['a pod with an init container', CREATE, POD_FIELDS, pod({ initContainers: [{ name: 'a', image: 'a' }] })],
    ['a pod with a name in DNS', CREATE, POD_FIELDS, pod({ hostname: 'a', subdomain: 'b' })],
    ['a pod with a deadline of years', CREATE, WINDOWS_PODS, pod({ activeDeadlineSeconds: 2_147_483_647 })],
    ['a pod that takes years to end', CREATE, GRACE, pod({ terminationGracePeriodSeconds: 2_147_483_647 })],
    ['a pod with the default grace period', CREATE, 'allowed', pod({ terminationGracePeriodSeconds: undefined })],
    ...[
      { lifecycle: { preStop: { sleep: { seconds: 1 } } } },
      { ports: [{ containerPort: 80 }] },
      { livenessProbe: { tcpSocket: { host: '192.0.2.1', port: 80 } } },
    ].map((field): (typeof cases)[number] => [
      `a container with ${Object.keys(field)[0]}`,
      CREATE,
      CONTAINER_FIELDS,
      pod({}, field),
    ]),
    ['a container that takes a node', CREATE, REQUESTS, pod({}, { resources: { requests: { cpu: '60' } } })],
    ['a container that takes its memory', CREATE, REQUESTS, pod({}, { resources: { requests: { memory: '3Gi' } } })],
    [
      'a container with small requests',
      CREATE,
      'allowed',
      pod({}, { resources: { requests: { cpu: '100m', memory: '1Gi' } } }),
    ],
    [
      'a pod with an annotation',
      CREATE,
      POD_ANNOTATIONS,
      pod({}, {}, { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }),
    ],
    ['a pod with a finalizer', CREATE, NEW_FINALIZERS, pod({}, {}, { finalizers: ['example.com/hold'] })],
    [
      'a pod that keeps its owner from being deleted',
      CREATE,
      POD_OWNERS,
      pod({}, {}, { ownerReferences: [{ ...OWNER, kind: 'Node', blockOwnerDeletion: true }] }),
    ],
    ['a pod of another owner', CREATE, POD_OWNERS, pod({}, {}, { ownerReferences: [{ ...OWNER, kind: 'Namespace' }] })],
    ['a pod of a node', CREATE, 'allowed', pod({}, {}, { ownerReferences: [{ ...OWNER, kind: 'Node' }] })],
    ['the deletion of a pod of its own', ['delete', 'pod', 'own', '-n', NODE_PODS], 'allowed'],
    ['the deletion of another pod', ['delete', 'pod', 'other', '-n', NODE_PODS], OWN_PODS],
    ['a pod in another namespace', CREATE, OWN_PODS, pod({}, {}, { namespace: 'default' })],
    ['the deletion of a pod in another namespace', ['delete', 'pod', 'own', '-n', 'default'], OWN_PODS],
    ['a pod in the namespace of the operator', CREATE, OWN_PODS, pod({}, {}, { namespace: 'winpool-system' })],
    [
      'the deletion of a pod in the namespace of the operator',
      ['delete', 'pod', 'own', '-n', 'winpool-system'],
      OWN_PODS,
    ],
  ];
  // Pod Security rejects it first in the namespace of these pods.
  const hostProcess = pod({
    hostNetwork: true,
    securityContext: {
      runAsNonRoot: true,
      windowsOptions: { hostProcess: true, runAsUserName: 'NT AUTHORITY\\SYSTEM' },
    },
  });

  describe('lets the operator write, with the permission to write any pod,', () => {
    before(async () => {
      await install(OPERATOR, 'resources: [admission]\n');
      await kubectl(['create', 'clusterrole', 'pods', '--verb=get,create,delete', '--resource=pods']);
      await kubectl(['create', 'clusterrolebinding', 'pods', '--clusterrole=pods', '--group=system:authenticated']);
      for (const namespace of [NODE_PODS, 'winpool-system', 'default'])
        await apply(JSON.parse(pod({}, {}, { name: 'own', namespace })));
      await apply(JSON.parse(pod({}, {}, { name: 'other', labels: {} })));
      await kubectl(['label', 'namespace', NODE_PODS, 'pod-security.kubernetes.io/enforce-']);
    });
    after(async () => {
      await kubectl(['delete', 'clusterrolebinding', 'pods']);
      await kubectl(['delete', 'pods', '--all', '-n', 'default', '--grace-period=0', '--force']);
    });

    for (const [what, args, expected, stdin] of pods) {
      it(`${what}: ${expected}`, async () => assert.equal(await write(OPERATOR, args, stdin), expected));
    }
    it('evictions with a grace period of at most seven days', async () => {
      const evict = (deleteOptions: object) => {
        const metadata = { name: 'own', namespace: 'default' };
        const body = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions });
        const path = '/api/v1/namespaces/default/pods/own/eviction?dryRun=All';
        return kubectl(['create', '--raw', path, '-f', '-', '--as', OPERATOR], body).then(
          () => 'allowed',
          (error: Error) => /denied request: (.*)/.exec(error.message)?.[1] ?? error.message,
        );
      };
      assert.equal(await evict({ gracePeriodSeconds: 30 }), 'allowed');
      assert.equal(await evict({ gracePeriodSeconds: 0 }), EVICTIONS);
      assert.equal(await evict({ gracePeriodSeconds: 2_147_483_647 }), EVICTIONS);
      assert.equal(await evict({ propagationPolicy: 'Orphan' }), EVICTIONS);
    });
    it(`a HostProcess pod: ${UNPRIVILEGED}`, async () =>
      assert.equal(await write(OPERATOR, ['create', '-f', '-'], hostProcess), UNPRIVILEGED));
  });

  describe('lets the operator write', () => {
    before(() => install(OPERATOR, 'resources: [admission]\n'));

    for (const [what, args, expected, stdin] of cases) {
      it(`${what}: ${expected}`, async () => assert.equal(await write(OPERATOR, args, stdin), expected));
    }
  });

  it('does not let the operator change a field of a node that it does not own, whatever fields this Kubernetes has', async () => {
    await install(OPERATOR, 'resources: [admission]\n');
    const { components } = JSON.parse(await kubectl(['get', '--raw', '/openapi/v3/api/v1']));
    const schemas: Readonly<Record<string, Schema>> = components.schemas;
    const before = JSON.parse(await kubectl(['get', 'node', 'windows', '-o', 'json']));
    const parts: readonly (readonly [part: string, type: string, own: readonly string[]])[] = [
      ['metadata', 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', ['labels', 'annotations', 'finalizers']],
      ['spec', 'io.k8s.api.core.v1.NodeSpec', ['taints', 'unschedulable']],
      ['status', 'io.k8s.api.core.v1.NodeStatus', ['conditions']],
    ];
    const denied: string[] = [];
    for (const [part, type, own] of parts) {
      for (const [field, schema] of Object.entries(schemas[type]?.properties ?? {})) {
        if (own.includes(field)) continue;
        const subresource = part === 'status' ? ['--subresource=status'] : [];
        const args = patch(
          node('windows'),
          { [part]: { [field]: sampleOf(schema, schemas) } },
          'merge',
          ...subresource,
        );
        const after = await kubectl([...args, '--dry-run=server', '-o', 'json']).then(JSON.parse, () => before);
        // The API server ignores or rejects it, from any client.
        if (isDeepStrictEqual(after[part]?.[field], before[part]?.[field])) continue;
        const answer = await write(OPERATOR, args);
        assert.ok([METADATA, NODE_SPEC, NODE_STATUS].includes(answer), `${part}.${field}: ${answer}`);
        denied.push(field);
      }
    }
    for (const field of [
      'ownerReferences',
      'images',
      'volumesInUse',
      'runtimeHandlers',
      'features',
      'nodeInfo',
      'addresses',
    ])
      assert.ok(denied.includes(field), `${field} is among ${denied}`);
  });

  it('does not limit the cluster administrator', async () => {
    await install(OPERATOR, 'resources: [admission]\n');
    await kubectl(['label', 'node', 'linux', 'team=admin', '--overwrite', '--dry-run=server']);
  });

  const overlays: readonly [what: string, overlay: string, user: string][] = [
    [
      'in another namespace',
      'namespace: ops\nresources: [admission]\n',
      'system:serviceaccount:ops:windowspool-operator',
    ],
    [
      'with a prefix and a suffix',
      'namePrefix: acme-\nnameSuffix: -blue\nresources: [admission]\n',
      'system:serviceaccount:winpool-system:acme-windowspool-operator-blue',
    ],
  ];
  for (const [what, overlay, user] of overlays) {
    it(`still binds for an operator ${what}`, async () => {
      await kubectl(['delete', 'clusterrolebinding', 'other', '--ignore-not-found']);
      const [, , namespace, name] = user.split(':');
      const subject = `--serviceaccount=${namespace}:${name}`;
      await kubectl(['create', 'clusterrolebinding', 'other', '--clusterrole=windowspool-operator', subject]);
      await install(user, overlay);
      assert.equal(await write(user, patch(node('linux'), { spec: { unschedulable: true } })), WINDOWS_ONLY);
      assert.equal(await write(user, patch(node('windows'), { spec: { unschedulable: true } })), 'allowed');
    });
  }
});
