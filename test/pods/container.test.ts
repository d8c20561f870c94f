/** The operator's container on a real kubelet: what it can do, and what the kubelet does with it. */
import assert from 'node:assert/strict';
import { processesWith } from '../../hack/bench/processFigures.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import manifest from '../../package.json' with { type: 'json' };
import { existingNode } from '../fakes/testenv/existingNode.ts';
import { NAMESPACE } from '../fakes/testenv/operatorPods.ts';
import { messageOf } from '../fakes/testenv/testEnv.ts';
import { existingPool, poolManifest } from '../pools.ts';
import { namespaceCalled } from '../userObjects.ts';
import { withOperatorPods } from './operatorPodsFixture.ts';

const IMAGE = `docker.io/library/windowspool-operator:${manifest.version}`;

/** The process ID of the operator on this machine. */
function operatorPid(): number | undefined {
  return processesWith((command) => command.startsWith('node\0') && command.includes('/app/operator.mjs'))[0];
}

describe("the operator's container", function () {
  this.timeout(180_000);
  const operator = withOperatorPods();
  before(() => operator.deploy());

  const name = async () => (await operator.pod()).metadata.name;
  /** Waits until the container was restarted for this reason and leads again. */
  async function restarted(what: string, reason: string, timeoutMs: number): Promise<void> {
    const isRestarted = async () => {
      const status = (await operator.pod()).status.containerStatuses?.[0];
      return status?.lastState?.terminated?.reason === reason && status.ready;
    };
    await waitFor(isRestarted, { what, timeoutMs, explain: () => operator.kubectl('describe', 'pods') });
  }

  it('makes a pool Ready', async () => {
    await operator.world.apply(poolManifest('pods'));
    await operator.world.waitForReady('pods');
  });

  it('looks up the hosts of a list in the DNS of the cluster, and names one that does not resolve', async () => {
    const { world } = operator;
    const metadata = { name: 'windows-instances', namespace: 'hosts' };
    const [host, missing] = ['win-1.hosts.svc.cluster.local', 'win-2.hosts.svc.cluster.local'];
    // Its name resolves to the address of a node.
    const service = { name: 'win-1', namespace: 'hosts' };
    const labels = { 'kubernetes.io/service-name': 'win-1' };
    const objects: readonly object[] = [
      namespaceCalled('hosts'),
      { apiVersion: 'v1', kind: 'Service', metadata: service, spec: { clusterIP: 'None', ports: [{ port: 10250 }] } },
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { ...service, labels },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.9.7.1'] }],
        ports: [{ port: 10250 }],
      },
      existingNode({ name: 'byoh-named', addresses: [{ type: 'InternalIP', address: '10.9.7.1' }] }),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [host]: '', [missing]: '' } },
      existingPool('named', {}, { existingNodes: { instancesConfigMap: metadata } }),
    ];
    for (const object of objects) await world.apply(object);
    const pool = await world.waitForConditions('named', 'NodesFound=False/UnknownAddresses');
    assert.deepEqual([pool?.status?.nodes?.total, pool?.status?.existingNodes?.unknownAddresses], [1, [missing]]);
    assert.match(messageOf(pool, 'NodesFound'), /win-2\.hosts\.svc\.cluster\.local \(which does not resolve\)/);
    await world.kubectl('delete', 'windowspool', 'named', '--timeout=30s');
    await world.kubectl('delete', 'node', 'byoh-named');
  });

  it('is admitted by the PodSecurity level restricted, which rejects a container without its settings', async () => {
    const { controlPlane } = operator.world;
    const run = ['run', 'careless', `--namespace=${NAMESPACE}`, `--image=${IMAGE}`, '--dry-run=server'];
    assert.match((await controlPlane.kubectl(run)).stderr, /violates PodSecurity "restricted:/);
  });

  it('writes its log where kubectl logs reads it, one JSON object per line', async () => {
    const lines = (await operator.kubectl('logs', await name())).trim().split('\n');
    assert.ok(lines.map((line) => JSON.parse(line)).some(({ msg }) => msg === 'became the leader'));
  });

  it('has no shell, and no file system to which it can write', async () => {
    await assert.rejects(operator.kubectl('exec', await name(), '--', 'sh'), /"sh": executable file not found/);
    const write = `import { writeFileSync } from 'node:fs';
      for (const path of ['/x', '/app/x', '/tmp/x', '/home/nonroot/x', '/var/run/secrets/kubernetes.io/serviceaccount/x'])
        try { writeFileSync(path, ''); console.log(path); } catch ({ code }) { console.log(code); }`;
    const results = (await operator.run(await name(), write)).trim().split('\n');
    assert.deepEqual(new Set(results), new Set(['EROFS', 'ENOENT']));
  });

  it('has no capability and a seccomp filter', async () => {
    const read = `import { readFileSync } from 'node:fs'; console.log(readFileSync('/proc/1/status', 'utf8'));`;
    const status = await operator.run(await name(), read);
    for (const line of [
      /^CapEff:\s+0+$/m,
      /^CapBnd:\s+0+$/m,
      /^NoNewPrivs:\s+1$/m,
      /^Seccomp:\s+2$/m,
      /^Uid:\s+65532\s/m,
    ])
      assert.match(status, line);
  });

  it('can be debugged with a container that kubectl debug adds', async () => {
    const pod = await name();
    const script = `console.log(require('fs').readFileSync('/proc/1/cmdline', 'utf8').split('\\0').at(-2))`;
    const target = [pod, '--image', IMAGE, '--image-pull-policy=Never', '--target=operator', '--container=debug'];
    await operator.kubectl('debug', ...target, '--profile=restricted', '--', 'node', '-e', script);
    const log = () => operator.kubectl('logs', pod, '--container=debug').catch(() => '');
    const text = await waitFor(async () => (await log()) || undefined, {
      what: 'the log of the debug container',
      timeoutMs: 30_000,
    });
    // It sees the processes of the operator.
    assert.match(text, /^--health-address=/);
  });

  it('is restarted when it reaches its memory limit, and leads again', async () => {
    // The kernel kills the largest process. Each of these is smaller than the operator, and shares no memory that outlives the container.
    const idle = `setInterval(() => undefined, 60_000)`;
    const script = `import { spawn } from 'node:child_process';
      for (;;) { spawn(process.execPath, ['-e', ${JSON.stringify(idle)}]); await new Promise((done) => setTimeout(done, 100)); }`;
    await operator.run(await name(), script).catch(() => undefined);
    await restarted('the container to be restarted after it was out of memory', 'OOMKilled', 60_000);
    await operator.leader();
    await operator.world.patchPool('pods', { nodeGroup: { scaling: { desiredSize: 2 } } });
    await operator.world.waitForPool('pods', 'to have 2 nodes', (pool) => pool?.status?.nodes?.verified === 2);
  });

  it('is restarted when it does not answer its liveness probe', async () => {
    // Its own process namespace protects its first process from signals.
    const pid = await waitFor(operatorPid, { what: 'the process of the operator' });
    process.kill(pid, 'SIGSTOP');
    await restarted('the container to be restarted after it stopped answering', 'Error', 150_000);
    await operator.leader();
  });

  it('runs with any user ID, as OpenShift assigns one to the namespace', async () => {
    const securityContext = { runAsUser: 1_000_650_000, runAsGroup: 0, fsGroup: 1_000_650_000 };
    await operator.deploy({ podSpec: { securityContext } });
    const ids = await operator.run(await name(), `console.log(process.getuid(), process.getgid())`);
    assert.equal(ids.trim(), '1000650000 0');
    await operator.world.patchPool('pods', { nodeGroup: { scaling: { desiredSize: 1 } } });
    await operator.world.waitForPool('pods', 'to have 1 node', (pool) => pool?.status?.nodes?.total === 1);
  });
});
