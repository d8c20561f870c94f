/** Each check on a node, once in a real cluster: a node that fails it, next to a healthy one, and one wait for all. */
import assert from 'node:assert/strict';
import type { V1Node } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { NODE_GROUP_LABEL, VERIFIED_CONDITION } from '../../controllers/windowspool/labels.ts';
import type { NodeCheck } from '../../controllers/windowspool/reasons.ts';
import { chosenSeries } from '../../hack/controlplane/binaries.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { type ExistingNode, existingNode } from '../../hack/testenv/existingNode.ts';
import { conditionOf, messageOf } from '../../hack/testenv/testEnv.ts';
import { existingPool, poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const OLD_BUILD = '10.0.17763';
const ON_2019 = { kernelVersion: `${OLD_BUILD}.6293` };
const own = { key: 'dedicated', value: 'own', effect: 'NoSchedule' };

/** A node of a pool, and its condition: the reason of a failed check, or the message of a warning. */
interface Row {
  readonly pool: 'checked' | 'gated' | 'retired';
  readonly node: Omit<ExistingNode, 'name'>;
  readonly says: string;
}

const rows: Readonly<Partial<Record<NodeCheck | 'Healthy', Row>>> = {
  Healthy: { pool: 'checked', node: {}, says: 'ChecksPassed: WindowsPool checked: passes every check.' },
  WrongArchitecture: {
    pool: 'checked',
    node: { labels: { 'kubernetes.io/arch': 'arm64' } },
    says: 'WrongArchitecture: WindowsPool checked: has the label kubernetes.io/arch=arm64, expected amd64.',
  },
  UnknownKernelVersion: {
    pool: 'checked',
    node: { kernelVersion: '6.1.112-122.189', labels: { 'node.kubernetes.io/windows-build': '10.0.20348' } },
    says: 'UnknownKernelVersion: WindowsPool checked: reports the kernel version "6.1.112-122.189", expected a Windows build (10.0.BUILD.REVISION).',
  },
  WrongContainerRuntime: {
    pool: 'checked',
    node: { nodeInfo: { containerRuntimeVersion: 'docker://20.10.9' } },
    says: 'WrongContainerRuntime: WindowsPool checked: runs docker://20.10.9, expected containerd.',
  },
  RuntimeHandlerMissing: {
    pool: 'checked',
    node: { runtimeHandlers: [{ name: '' }, { name: 'runhcs-wcow-hypervisor' }] },
    says: 'RuntimeHandlerMissing: WindowsPool checked: lacks the runtime handler runhcs-wcow-process of the RuntimeClass (status.runtimeHandlers: runhcs-wcow-hypervisor).',
  },
  KubeletVersionSkew: {
    pool: 'checked',
    node: { nodeInfo: { kubeletVersion: 'v1.37.0' } },
    says: 'KubeletVersionSkew: WindowsPool checked: runs kubelet v1.37.0, which is newer than the API server (SERVER).',
  },
  ForeignTaint: {
    pool: 'checked',
    node: { taints: [own] },
    says: 'ChecksPassed: WindowsPool checked: passes every enforced check, with 1 warning: has the taint dedicated=own:NoSchedule, set by another controller or user; the pool has dedicated=iis:NoSchedule.',
  },
  ReservedMemoryTooLow: {
    pool: 'checked',
    node: { allocatableMemory: '15884Mi' },
    says: 'ChecksPassed: WindowsPool checked: passes every enforced check, with 1 warning: reserves 500Mi of memory for the system, less than verification.minimumReservedMemory 2Gi: raise systemReserved in the configuration of its kubelet, or set memory limits on its pods.',
  },
  GateTaintMissing: {
    pool: 'gated',
    node: {},
    says: 'ChecksPassed: WindowsPool gated: passes every enforced check, with 1 warning: joined without the taint startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate:NoSchedule, so pods may have been scheduled to it before it was verified.',
  },
  UnsupportedWindowsVersion: {
    pool: 'retired',
    node: ON_2019,
    says:
      chosenSeries() === '1.34'
        ? 'ChecksPassed: WindowsPool retired: passes every check.'
        : 'ChecksPassed: WindowsPool retired: passes every enforced check, with 1 warning: runs kubelet v1.36.1 on Windows Server 2019, which Kubernetes supports up to 1.34.',
  },
};
const nameOf = (check: string) => `check-${check.toLowerCase()}`;

describe('each check', () => {
  const fixture = withOperator('--join-grace=1s');

  describe('on existing nodes', () => {
    /** The condition of each node, by the check that it is for. */
    const readConditions = async (): Promise<Record<string, string>> => {
      const { items } = JSON.parse(await fixture.world.kubectl('get', 'nodes', '-l', 'suite', '-o', 'json')) as {
        items: Stored<V1Node>[];
      };
      const conditions = new Map(
        items.map(({ metadata, status }) => [
          metadata.name,
          status.conditions?.find(({ type }) => type === VERIFIED_CONDITION),
        ]),
      );
      return Object.fromEntries(
        Object.keys(rows).map((check) => {
          const found = conditions.get(nameOf(check));
          return [check, found ? `${found.reason}: ${found.message}` : 'nothing'];
        }),
      );
    };
    let found: Record<string, string> = {};
    let server = '';

    before(async () => {
      const { serverVersion } = JSON.parse(await fixture.world.kubectl('version', '-o', 'json'));
      server = serverVersion.gitVersion;
      const items = Object.entries(rows).map(([check, { pool, node }]) =>
        existingNode({ ...node, name: nameOf(check), labels: { ...node.labels, suite: pool } }),
      );
      await fixture.world.apply({ apiVersion: 'v1', kind: 'List', items });
      const select = (suite: string) => ({ matchLabels: { suite } });
      await fixture.world.apply(
        existingPool('checked', select('checked'), {
          taints: [{ ...own, value: 'iis' }],
          verification: { minimumReservedMemory: '2Gi' },
        }),
      );
      await fixture.world.apply(existingPool('gated', select('gated'), { verification: { policy: 'Gate' } }));
      await fixture.world.apply(existingPool('retired', select('retired'), { windowsVersion: 'Windows2019' }));
      const isSettled = async () => {
        found = await readConditions();
        return Object.values(found).every((text) => text !== 'nothing' && !/^(NotReady|Joining)/.test(text));
      };
      const explain = () => JSON.stringify(found, undefined, 2);
      await waitFor(isSettled, { what: 'every node to have a result', timeoutMs: 60_000, explain });
    });
    after(async () => {
      await fixture.world.kubectl('delete', 'windowspools', 'checked', 'gated', 'retired', '--timeout=50s');
      await fixture.world.kubectl('delete', 'nodes', '-l', 'suite');
    });

    for (const [check, { says }] of Object.entries(rows))
      it(check, () => assert.equal(found[check], says.replace('SERVER', server)));
  });

  describe('on nodes of a node group', () => {
    const becomes = (pool: string, state: string) =>
      fixture.world.waitForPool(
        pool,
        `to have NodesVerified=${state}`,
        (it) => conditionOf(it, 'NodesVerified') === state,
      );
    const nodeOf = (pool: string) =>
      fixture.world.kubectl(
        'get',
        'nodes',
        '-l',
        `${NODE_GROUP_LABEL}=${pool}`,
        '-o',
        'jsonpath={.items[0].metadata.name}',
      );

    before(async () => {
      await fixture.world.apply(poolManifest('looked-at', { nodeGroup: { scaling: { minSize: 1, maxSize: 2 } } }));
      await becomes('looked-at', 'True/AllVerified');
    });

    it('reports BuildLabelMismatch while the operator is not allowed to correct the label', async () => {
      const node = await nodeOf('looked-at');
      await fixture.world.patchPool('looked-at', { paused: true });
      await fixture.world.waitForPool('looked-at', 'to be paused', (it) =>
        conditionOf(it, 'Paused').startsWith('True'),
      );
      await fixture.world.kubectl(
        'label',
        'node',
        node,
        `node.kubernetes.io/windows-build=${OLD_BUILD}`,
        '--overwrite',
      );
      const pool = await becomes('looked-at', 'False/BuildLabelMismatch');
      assert.equal(
        messageOf(pool, 'NodesVerified'),
        `1 of 1 node failed verification: ${node} has the label node.kubernetes.io/windows-build=${OLD_BUILD}, expected 10.0.20348: the RuntimeClass selects nodes by it. Resume the pool if it is paused; the operator corrects the label.`,
      );
      await fixture.world.patchPool('looked-at', { paused: false });
      await becomes('looked-at', 'True/AllVerified');
    });

    it('reports RegistrationTaintMissing', async () => {
      const node = await nodeOf('looked-at');
      await fixture.world.kubectl('taint', 'node', node, 'os-');
      const pool = await becomes('looked-at', 'False/RegistrationTaintMissing');
      assert.match(
        messageOf(pool, 'NodesVerified'),
        /lacks the taint os=windows:NoSchedule: Linux pods may be scheduled to it/,
      );
      await fixture.world.kubectl('taint', 'node', node, 'os=windows:NoSchedule');
      await becomes('looked-at', 'True/AllVerified');
    });

    it('ReservedMemoryTooLow, with what helps on EKS: a node reserves 500 MiB there', async () => {
      await fixture.world.patchPool('looked-at', { verification: { minimumReservedMemory: '2Gi' } });
      const pool = await fixture.world.waitForPool('looked-at', 'to warn', (it) =>
        messageOf(it, 'NodesVerified').includes('with a warning'),
      );
      assert.match(
        messageOf(pool, 'NodesVerified'),
        /reserves 500Mi of memory for the system, less than verification\.minimumReservedMemory 2Gi: set nodeGroup\.kubelet\.systemReserved, or set memory limits on its pods\.$/,
      );
      await fixture.world.patchPool('looked-at', { verification: { minimumReservedMemory: null } });
      await fixture.world.waitForPool('looked-at', 'to warn no more', (it) =>
        messageOf(it, 'NodesVerified').endsWith('1 node verified.'),
      );
    });

    it('reports WrongOperatingSystem for an instance whose node is not in the watch of Windows nodes', async () => {
      fixture.world.cloud.faults.nextNode({ group: 'looked-at', operatingSystem: 'linux' });
      await fixture.world.kubectl('scale', 'windowspool', 'looked-at', '--replicas=2');
      const pool = await becomes('looked-at', 'False/WrongOperatingSystem');
      const message = messageOf(pool, 'NodesVerified');
      assert.match(
        message,
        /^1 instance of the pool joined as a node that does not run Windows: ip-\S+ runs linux\. Check the AMI in the launch template of the Auto Scaling group, and terminate the instance\.$/,
      );
      fixture.world.cloud.faults.terminateInstance({ node: /ip-\S+/.exec(message)?.[0] ?? '' });
      await becomes('looked-at', 'True/AllVerified');
    });
  });
});
