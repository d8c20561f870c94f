/** Each check on a node, once in a real cluster: the node that it is for, beside a healthy one, and one wait for all. */
import assert from 'node:assert/strict';
import type { V1Node } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { NODE_GROUP_LABEL, VERIFIED_CONDITION } from '../../controllers/windowspool/labels.ts';
import type { NodeCheck } from '../../controllers/windowspool/reasons.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { type ExistingNode, existingNode } from '../../hack/testenv/existingNode.ts';
import { conditionOf, messageOf } from '../../hack/testenv/testEnv.ts';
import { existingPool, poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const OLD_BUILD = '10.0.17763';
const ON_2019 = { kernelVersion: `${OLD_BUILD}.6293` };
const own = { key: 'dedicated', value: 'own', effect: 'NoSchedule' };

/** A node of a pool, and what its condition says: a failed check by its reason, a warning by its words. */
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
    says: 'WrongArchitecture: WindowsPool checked: has the label kubernetes.io/arch=arm64 and must have amd64.',
  },
  UnknownKernelVersion: {
    pool: 'checked',
    node: { kernelVersion: '6.1.112-122.189', labels: { 'node.kubernetes.io/windows-build': '10.0.20348' } },
    says: 'UnknownKernelVersion: WindowsPool checked: reports the kernel version "6.1.112-122.189", which is no Windows build (10.0.BUILD.REVISION).',
  },
  WrongContainerRuntime: {
    pool: 'checked',
    node: { nodeInfo: { containerRuntimeVersion: 'docker://20.10.9' } },
    says: 'WrongContainerRuntime: WindowsPool checked: runs docker://20.10.9 and must run containerd.',
  },
  RuntimeHandlerMissing: {
    pool: 'checked',
    node: { runtimeHandlers: [{ name: '' }, { name: 'runhcs-wcow-hypervisor' }] },
    says: 'RuntimeHandlerMissing: WindowsPool checked: lacks the handler runhcs-wcow-process, which the RuntimeClass names (status.runtimeHandlers: runhcs-wcow-hypervisor).',
  },
  KubeletVersionSkew: {
    pool: 'checked',
    node: { nodeInfo: { kubeletVersion: 'v1.37.0' } },
    says: 'KubeletVersionSkew: WindowsPool checked: runs kubelet v1.37.0, which is newer than the API server (SERVER).',
  },
  ForeignTaint: {
    pool: 'checked',
    node: { taints: [own] },
    says: 'ChecksPassed: WindowsPool checked: passes, with a warning: has the taint dedicated=own:NoSchedule of somebody else, where the pool wants dedicated=iis:NoSchedule.',
  },
  LittleReservedMemory: {
    pool: 'checked',
    node: { allocatableMemory: '15884Mi' },
    says: 'ChecksPassed: WindowsPool checked: passes, with a warning: reserves 500Mi of memory for the system, less than verification.minimumReservedMemory 2Gi: raise systemReserved in the configuration of its kubelet, or set memory limits on its pods.',
  },
  ArrivedUngated: {
    pool: 'gated',
    node: {},
    says: 'ChecksPassed: WindowsPool gated: passes, with a warning: joined without the taint startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate:NoSchedule, so pods may have come before it was verified.',
  },
  UnsupportedWindowsVersion: {
    pool: 'retired',
    node: ON_2019,
    says: 'ChecksPassed: WindowsPool retired: passes, with a warning: runs kubelet v1.36.1 on Windows Server 2019, which the Kubernetes project supports up to 1.34.',
  },
};
const nameOf = (check: string) => `check-${check.toLowerCase()}`;

describe('each check on nodes', () => {
  const stage = withOperator('--join-grace=1s');

  describe('that something else made', () => {
    /** What the condition of each node says, by the check that the node is for. */
    const said = async (): Promise<Record<string, string>> => {
      const { items } = JSON.parse(await stage.world.kubectl('get', 'nodes', '-l', 'suite', '-o', 'json')) as {
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
      const { serverVersion } = JSON.parse(await stage.world.kubectl('version', '-o', 'json'));
      server = serverVersion.gitVersion;
      const items = Object.entries(rows).map(([check, { pool, node }]) =>
        existingNode({ ...node, name: nameOf(check), labels: { ...node.labels, suite: pool } }),
      );
      await stage.world.apply({ apiVersion: 'v1', kind: 'List', items });
      const select = (suite: string) => ({ matchLabels: { suite } });
      await stage.world.apply(
        existingPool('checked', select('checked'), {
          taints: [{ ...own, value: 'iis' }],
          verification: { minimumReservedMemory: '2Gi' },
        }),
      );
      await stage.world.apply(existingPool('gated', select('gated'), { verification: { policy: 'Gate' } }));
      await stage.world.apply(existingPool('retired', select('retired'), { windowsVersion: 'Windows2019' }));
      const isSettled = async () => {
        found = await said();
        return Object.values(found).every((text) => text !== 'nothing' && !/^(NotReady|Joining)/.test(text));
      };
      const explain = () => JSON.stringify(found, undefined, 2);
      await waitFor(isSettled, { what: 'every node to have a result', timeoutMs: 60_000, explain });
    });
    after(async () => {
      await stage.world.kubectl('delete', 'windowspools', 'checked', 'gated', 'retired', '--timeout=50s');
      await stage.world.kubectl('delete', 'nodes', '-l', 'suite');
    });

    for (const [check, { says }] of Object.entries(rows))
      it(check, () => assert.equal(found[check], says.replace('SERVER', server)));
  });

  describe('of a node group', () => {
    const becomes = (pool: string, state: string) =>
      stage.world.waitForPool(
        pool,
        `to have NodesVerified=${state}`,
        (it) => conditionOf(it, 'NodesVerified') === state,
      );
    const nodeOf = (pool: string) =>
      stage.world.kubectl(
        'get',
        'nodes',
        '-l',
        `${NODE_GROUP_LABEL}=${pool}`,
        '-o',
        'jsonpath={.items[0].metadata.name}',
      );

    before(async () => {
      await stage.world.apply(poolManifest('looked-at', { scaling: { min: 1, max: 2 } }));
      await becomes('looked-at', 'True/AllVerified');
    });

    it('BuildLabelMismatch, while the operator must not correct the label', async () => {
      const node = await nodeOf('looked-at');
      await stage.world.patchPool('looked-at', { paused: true });
      await stage.world.waitForPool('looked-at', 'to be paused', (it) => conditionOf(it, 'Paused').startsWith('True'));
      await stage.world.kubectl('label', 'node', node, `node.kubernetes.io/windows-build=${OLD_BUILD}`, '--overwrite');
      const pool = await becomes('looked-at', 'False/BuildLabelMismatch');
      assert.equal(
        messageOf(pool, 'NodesVerified'),
        `1 of 1 node fails verification: ${node} has the label node.kubernetes.io/windows-build=${OLD_BUILD} and its kernel is 10.0.20348: the RuntimeClass places pods by it. Resume the pool if it is paused: the operator corrects the label.`,
      );
      await stage.world.patchPool('looked-at', { paused: false });
      await becomes('looked-at', 'True/AllVerified');
    });

    it('RegistrationTaintMissing', async () => {
      const node = await nodeOf('looked-at');
      await stage.world.kubectl('taint', 'node', node, 'os-');
      const pool = await becomes('looked-at', 'False/RegistrationTaintMissing');
      assert.match(
        messageOf(pool, 'NodesVerified'),
        /lacks the taint os=windows:NoSchedule: Linux pods may land on it/,
      );
      await stage.world.kubectl('taint', 'node', node, 'os=windows:NoSchedule');
      await becomes('looked-at', 'True/AllVerified');
    });

    it('LittleReservedMemory, with what helps on EKS: a node reserves 500 MiB there', async () => {
      await stage.world.patchPool('looked-at', { verification: { minimumReservedMemory: '2Gi' } });
      const pool = await stage.world.waitForPool('looked-at', 'to warn', (it) =>
        messageOf(it, 'NodesVerified').includes('with a warning'),
      );
      assert.match(
        messageOf(pool, 'NodesVerified'),
        /reserves 500Mi of memory for the system, less than verification\.minimumReservedMemory 2Gi: set memory limits on its pods, because EKS passes no kubelet arguments to its Windows AMIs\.$/,
      );
      await stage.world.patchPool('looked-at', { verification: { minimumReservedMemory: null } });
      await stage.world.waitForPool('looked-at', 'to warn no more', (it) =>
        messageOf(it, 'NodesVerified').endsWith('1 node verified.'),
      );
    });

    it('WrongOperatingSystem, of an instance whose node no watch of Windows nodes shows', async () => {
      stage.world.cloud.faults.nextNode({ group: 'looked-at', operatingSystem: 'linux' });
      await stage.world.kubectl('scale', 'windowspool', 'looked-at', '--replicas=2');
      const pool = await becomes('looked-at', 'False/WrongOperatingSystem');
      const message = messageOf(pool, 'NodesVerified');
      assert.match(
        message,
        /^1 instance of the pool joined as a node that does not run Windows: ip-\S+ runs linux\. Terminate it, and check the AMI in the launch template of the scaling group\.$/,
      );
      stage.world.cloud.faults.terminateInstance({ node: /ip-\S+/.exec(message)?.[0] ?? '' });
      await becomes('looked-at', 'True/AllVerified');
    });
  });
});
