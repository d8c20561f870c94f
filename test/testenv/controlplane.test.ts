import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { V1Lease, V1Node, V1PodList, V1SelfSubjectReview, VersionInfo } from '@kubernetes/client-node';
import type { Stored, Wire } from '../../controllers/kubernetes/objects.ts';
import { chosenSeries } from '../../hack/controlplane/binaries.ts';
import { type ControlPlane, type Outcome, startControlPlane } from '../../hack/controlplane/controlplane.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { existingNode } from '../fakes/testenv/existingNode.ts';
import { deployment } from '../userObjects.ts';

const nodeName = 'ip-10-0-1-10.ec2.internal';
const kernelVersion = '10.0.20348.2762';

const windowsNode = (name: string, labels: Record<string, string> = {}): object =>
  existingNode({ name, labels, kernelVersion, taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }] });

const runtimeClass = {
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: 'windows-2022' },
  handler: 'runhcs-wcow-process',
  scheduling: {
    nodeSelector: { 'kubernetes.io/os': 'windows', 'node.kubernetes.io/windows-build': '10.0.20348' },
    tolerations: [{ key: 'os', value: 'windows', effect: 'NoSchedule', operator: 'Equal' }],
  },
};

const containers = [{ name: 'iis', image: 'mcr.microsoft.com/windows/servercore/iis:latest' }];
const iis = (name: string, pod: object) => deployment('default', name, 1, { ...pod, containers });

describe('the local control plane', function () {
  this.timeout(180_000);
  let plane: ControlPlane;
  let startSeconds: number;

  before(async () => {
    const began = performance.now();
    // A heartbeat every second.
    plane = await startControlPlane({ kwokSpeed: 300 });
    startSeconds = (performance.now() - began) / 1000;
  });
  after(() => plane?.stop());

  /** Runs kubectl and expects it to succeed. */
  async function kubectl(args: readonly string[], stdin?: object): Promise<string> {
    return plane.kubectlOutput(args, stdin ? { stdin: JSON.stringify(stdin) } : {});
  }
  const get = async <T>(...args: string[]): Promise<Wire<T>> =>
    JSON.parse(await kubectl(['get', '-o', 'json', ...args]));
  const apply = (object: object) => kubectl(['apply', '-f', '-'], object);

  /** Runs kubectl like test/fakes/localaws: as the user `cloud`, impersonating the kubelet of a node. */
  async function asKubelet(node: string, args: readonly string[], stdin?: object): Promise<Outcome> {
    const identity = [`--as=system:node:${node}`, '--as-group=system:nodes'];
    const kubeconfig = await plane.kubeconfigForUser('cloud');
    return plane.kubectl([...identity, ...args], { kubeconfig, stdin: JSON.stringify(stdin ?? {}) });
  }
  async function register(node: object, name: string): Promise<void> {
    const { stderr, code } = await asKubelet(name, ['create', '-f', '-'], node);
    assert.equal(code, 0, stderr);
  }
  const conditions = async (name: string) => (await get<V1Node>('node', name)).status?.conditions ?? [];
  const condition = async (name: string, type: string) => (await conditions(name)).find((one) => one.type === type);

  it('starts within seconds: every component runs and the API server is ready', async () => {
    // Two seconds on an idle machine.
    assert.ok(startSeconds < 60, `It took ${startSeconds} s`);
    const names = ['etcd', 'guard', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kwok'];
    assert.deepEqual(Object.keys(plane.pids).sort(), names);
    assert.match(await kubectl(['get', '--raw', '/readyz?verbose']), /readyz check passed/);
    const version = JSON.parse(await kubectl(['version', '-o', 'json'])) as { serverVersion: VersionInfo };
    assert.ok(version.serverVersion.gitVersion.startsWith(`v${chosenSeries()}.`), version.serverVersion.gitVersion);
    const config = await readFile(plane.adminKubeconfig, 'utf8');
    assert.ok(config.includes(plane.url) && config.includes(plane.caData));
  });

  it('makes a registered Windows node Ready, and keeps the fields that its kubelet set', async () => {
    await register(windowsNode(nodeName), nodeName);
    await kubectl(['wait', '--for=condition=Ready', `node/${nodeName}`, '--timeout=60s']);
    // The API server adds the taint not-ready to a new Node, and the node lifecycle controller removes it.
    const node = await waitFor(
      async () => {
        const seen = await get<V1Node>('node', nodeName);
        return seen.spec?.taints?.every(({ key }) => !key.startsWith('node.kubernetes.io/')) && seen;
      },
      { what: 'the taint not-ready to be removed' },
    );
    assert.equal(node.status?.nodeInfo?.kernelVersion, kernelVersion);
    assert.deepEqual(node.spec?.taints, [{ key: 'os', value: 'windows', effect: 'NoSchedule' }]);
    const types = (await conditions(nodeName)).map(({ type, status }) => `${type}=${status}`);
    assert.deepEqual(types.sort(), ['DiskPressure=False', 'MemoryPressure=False', 'PIDPressure=False', 'Ready=True']);
    const lease = await get<V1Lease>('lease', nodeName, '-n', 'kube-node-lease');
    assert.equal(lease.spec?.leaseDurationSeconds, 40);
  });

  it('schedules and runs a pod with its RuntimeClass there, and one without it stays pending', async () => {
    await apply(runtimeClass);
    await apply(iis('web', { runtimeClassName: 'windows-2022' }));
    await apply(iis('lost', {}));
    await kubectl(['rollout', 'status', 'deployment/web', '--timeout=60s']);
    const pods = await get<V1PodList>('pods', '-l', 'app=web');
    assert.deepEqual(
      pods.items.map(({ spec, status }) => [spec?.nodeName, status?.phase]),
      [[nodeName, 'Running']],
    );
    assert.match(pods.items[0]?.status?.podIP ?? '', /^10\.128\./);
    await kubectl(['wait', '--for=condition=PodScheduled=False', 'pod', '-l', 'app=lost', '--timeout=60s']);
    await kubectl(['delete', 'deployment', 'lost', '--wait=true', '--timeout=60s']);
    await kubectl(['wait', '--for=delete', 'pod', '-l', 'app=lost', '--timeout=60s']);
  });

  it('sends heartbeats that change only their time', async () => {
    const first = await condition(nodeName, 'Ready');
    const later = await waitFor(
      async () => {
        const now = await condition(nodeName, 'Ready');
        return now?.lastHeartbeatTime !== first?.lastHeartbeatTime && now;
      },
      { what: 'a heartbeat' },
    );
    assert.deepEqual({ ...later, lastHeartbeatTime: '' }, { ...first, lastHeartbeatTime: '' });
  });

  it('keeps a node unready whose kubelet reports that', async () => {
    const name = 'ip-10-0-1-11.ec2.internal';
    await register(windowsNode(name), name);
    await kubectl(['wait', '--for=condition=Ready', `node/${name}`, '--timeout=60s']);
    const unready = { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: 'container runtime is down' };
    const patch = JSON.stringify({ status: { conditions: [unready] } });
    await kubectl(['patch', 'node', name, '--subresource=status', '-p', patch]);
    const before = await condition(name, 'Ready');
    const after = await waitFor(
      async () => {
        const now = await condition(name, 'Ready');
        return now?.lastHeartbeatTime !== before?.lastHeartbeatTime && now;
      },
      { what: 'a heartbeat of the unready node' },
    );
    assert.deepEqual([after.status, after.reason], ['False', 'KubeletNotReady']);
    await kubectl(['delete', 'node', name]);
  });

  const other = 'ip-10-0-1-99.ec2.internal';
  const refusals: readonly { what: string; args: string[]; stdin?: object; says: RegExp }[] = [
    {
      what: 'set a reserved label of Kubernetes on itself',
      args: ['create', '-f', '-'],
      stdin: windowsNode(other, { 'kubernetes.io/made-up': 'x' }),
      says: /is not allowed to set the following labels: kubernetes\.io\/made-up/,
    },
    {
      what: 'set a label on itself that only other clients may set',
      args: ['create', '-f', '-'],
      stdin: windowsNode(other, { 'node-restriction.kubernetes.io/team': 'x' }),
      says: /is not allowed to set the following labels: node-restriction\.kubernetes\.io\/team/,
    },
    {
      what: 'register under another name',
      args: ['create', '-f', '-'],
      stdin: windowsNode('ip-10-0-1-98.ec2.internal'),
      says: /is not allowed to modify node "ip-10-0-1-98\.ec2\.internal"/,
    },
    {
      what: "change another node's labels",
      args: ['label', 'node', nodeName, 'team=x'],
      says: /is not allowed to modify node|cannot get resource "nodes"/,
    },
    {
      what: 'delete a node',
      args: ['delete', 'node', nodeName],
      says: /cannot delete resource "nodes"|is not allowed/,
    },
  ];
  for (const { what, args, stdin, says } of refusals) {
    it(`does not let a kubelet ${what}`, async () => {
      const { code, stderr } = await asKubelet(other, args, stdin);
      assert.equal(code, 1);
      assert.match(stderr, says);
    });
  }

  it('does not let a kubelet remove its own taint', async () => {
    const patch = JSON.stringify({ spec: { taints: [] } });
    const { code, stderr } = await asKubelet(nodeName, ['patch', 'node', nodeName, '--type=merge', '-p', patch]);
    assert.equal(code, 1);
    assert.match(stderr, /is not allowed to modify taints/);
  });

  it('gives its local cloud no way to become an administrator', async () => {
    const kubeconfig = await plane.kubeconfigForUser('cloud');
    const args = ['--as=jane', '--as-group=system:masters', 'get', 'secrets', '-A'];
    const { code, stderr } = await plane.kubectl(args, { kubeconfig });
    assert.equal(code, 1);
    assert.match(stderr, /cannot impersonate resource "groups"/);
  });

  it('authenticates users and ServiceAccounts', async () => {
    const whoami = async (kubeconfig: string) => {
      const { stdout } = await plane.kubectl(['auth', 'whoami', '-o', 'json'], { kubeconfig });
      return (JSON.parse(stdout) as Stored<V1SelfSubjectReview>).status.userInfo;
    };
    const admin = await whoami(plane.adminKubeconfig);
    assert.deepEqual([admin?.username, admin?.groups], ['admin', ['system:masters', 'system:authenticated']]);
    const account = await plane.serviceAccountKubeconfig('default', 'default');
    assert.equal((await whoami(account))?.username, 'system:serviceaccount:default:default');
    const refused = await plane.kubectl(['get', 'nodes'], { kubeconfig: account });
    assert.match(refused.stderr, /User "system:serviceaccount:default:default" cannot list resource "nodes"/);
    await assert.rejects(
      plane.serviceAccountKubeconfig('default', 'nobody'),
      /No token for ServiceAccount default\/nobody/,
    );
  });

  it('has an audit log with users, impersonation and results, but without bodies', async () => {
    interface Event {
      readonly level: string;
      readonly verb: string;
      readonly user: { username: string };
      readonly impersonatedUser?: { username: string; groups: string[] };
      readonly objectRef?: { resource: string; name?: string };
      readonly responseStatus?: { code: number };
      readonly requestObject?: unknown;
      readonly responseObject?: unknown;
    }
    const log = await readFile(plane.auditLog, 'utf8');
    const events = log
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Event);
    const results = (node: string, verb: string) =>
      events
        .filter((one) => one.objectRef?.resource === 'nodes' && one.objectRef.name === node && one.verb === verb)
        .map(({ user, impersonatedUser, responseStatus }) => [
          user.username,
          impersonatedUser?.username,
          responseStatus?.code,
        ]);
    assert.deepEqual(results(nodeName, 'create'), [['cloud', `system:node:${nodeName}`, 201]]);
    const impersonation = ['cloud', `system:node:${other}`, 403];
    assert.deepEqual(results(other, 'create'), [impersonation, impersonation]);
    assert.ok(events.every(({ level }) => level === 'Metadata'));
    assert.ok(events.every((one) => one.requestObject === undefined && one.responseObject === undefined));
  });

  it('survives a restart of its API server with the same address, authority and objects, and clients continue', async () => {
    const { url, caData, pids } = plane;
    await plane.stopApiServer();
    assert.equal(plane.pids['kube-apiserver'], undefined);
    const down = await plane.kubectl(['get', 'nodes', '--request-timeout=5s']);
    assert.match(down.stderr, /connection .* refused/);
    await plane.startApiServer();
    assert.deepEqual([plane.url, plane.caData], [url, caData]);
    const { 'kube-apiserver': before, ...others } = pids;
    const { 'kube-apiserver': after, ...othersNow } = plane.pids;
    assert.notEqual(after, before);
    assert.deepEqual(othersNow, others);
    await kubectl(['scale', 'deployment/web', '--replicas=3']);
    await kubectl(['rollout', 'status', 'deployment/web', '--timeout=60s']);
    assert.equal((await get<V1PodList>('pods', '-l', 'app=web')).items.length, 3);
  });
});
