/** Each check on a node, once in a real cluster: a node that fails it, next to a healthy one, and one wait for all. */
import assert from 'node:assert/strict';
import type { V1Node } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { NODE_GROUP_LABEL, VERIFIED_CONDITION } from '../../controllers/windowspool/api/labels.ts';
import type { NodeCheck } from '../../controllers/windowspool/api/reasons.ts';
import { chosenSeries } from '../../hack/controlplane/binaries.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { type ExistingNode, existingNode } from '../fakes/testenv/existingNode.ts';
import { conditionOf, messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { existingPool, poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const OLD_BUILD = '10.0.17763';
const ON_2019 = { kernelVersion: `${OLD_BUILD}.6293` };
const own = { key: 'dedicated', value: 'own', effect: 'NoSchedule' };

/** A node of a pool, and the reason of its condition. */
interface Row {
  readonly pool: 'checked' | 'gated' | 'retired';
  readonly node: Omit<ExistingNode, 'name'>;
  /** The reason, and what the message names. */
  readonly says: readonly [reason: NodeCheck | 'ChecksPassed', ...names: (string | RegExp)[]];
}

const NO_WARNING = /passes every check\.$/;

const rows: Readonly<Partial<Record<NodeCheck | 'Healthy', Row>>> = {
  Healthy: { pool: 'checked', node: {}, says: ['ChecksPassed', NO_WARNING] },
  WrongArchitecture: {
    pool: 'checked',
    node: { labels: { 'kubernetes.io/arch': 'arm64' } },
    says: ['WrongArchitecture', 'kubernetes.io/arch=arm64', 'amd64'],
  },
  UnknownKernelVersion: {
    pool: 'checked',
    node: { kernelVersion: '6.1.112-122.189', labels: { 'node.kubernetes.io/windows-build': '10.0.20348' } },
    says: ['UnknownKernelVersion', '"6.1.112-122.189"'],
  },
  WrongContainerRuntime: {
    pool: 'checked',
    node: { nodeInfo: { containerRuntimeVersion: 'docker://20.10.9' } },
    says: ['WrongContainerRuntime', /docker:\/\/20\.10\.9\b.*\bcontainerd\b/],
  },
  RuntimeHandlerMissing: {
    pool: 'checked',
    node: { runtimeHandlers: [{ name: '' }, { name: 'runhcs-wcow-hypervisor' }] },
    says: ['RuntimeHandlerMissing', 'runhcs-wcow-process', 'status.runtimeHandlers: runhcs-wcow-hypervisor'],
  },
  KubeletVersionSkew: {
    pool: 'checked',
    node: { nodeInfo: { kubeletVersion: 'v1.37.0' } },
    says: ['KubeletVersionSkew', /\bkubelet v1\.37\.0\b.*API server/, 'SERVER'],
  },
  ForeignTaint: {
    pool: 'checked',
    node: { taints: [own] },
    says: ['ChecksPassed', '1 warning', /\bdedicated=own:NoSchedule\b.*\bdedicated=iis:NoSchedule\b/],
  },
  ReservedMemoryTooLow: {
    pool: 'checked',
    node: { allocatableMemory: '15884Mi' },
    says: ['ChecksPassed', '1 warning', '500Mi', 'verification.minimumReservedMemory 2Gi', 'systemReserved'],
  },
  GateTaintMissing: {
    pool: 'gated',
    node: {},
    says: ['ChecksPassed', '1 warning', 'startup-taint.cluster-autoscaler.kubernetes.io/winpool-gate:NoSchedule'],
  },
  UnsupportedWindowsVersion: {
    pool: 'retired',
    node: ON_2019,
    says:
      chosenSeries() === '1.34'
        ? ['ChecksPassed', NO_WARNING]
        : ['ChecksPassed', '1 warning', 'kubelet v1.36.1', 'Windows Server 2019', '1.34'],
  },
};
const nameOf = (check: string) => `check-${check.toLowerCase()}`;

describe('each check', () => {
  const fixture = withOperator('--join-grace=1s');

  describe('on existing nodes', () => {
    /** The reason and message of each node's condition, by the check that it is for. */
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

    for (const [check, { pool, says }] of Object.entries(rows)) {
      const [reason, ...names] = says;
      it(check, () => {
        assert.match(found[check] ?? '', new RegExp(`^${reason}: WindowsPool ${pool}: `));
        assertNames(found[check], ...names.map((name) => (name === 'SERVER' ? server : name)));
      });
    }
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
      assertNames(
        messageOf(pool, 'NodesVerified'),
        '1 of 1',
        node,
        `node.kubernetes.io/windows-build=${OLD_BUILD}`,
        '10.0.20348',
      );
      await fixture.world.patchPool('looked-at', { paused: false });
      await becomes('looked-at', 'True/AllVerified');
    });

    it('reports RegistrationTaintMissing', async () => {
      const node = await nodeOf('looked-at');
      await fixture.world.kubectl('taint', 'node', node, 'os-');
      const pool = await becomes('looked-at', 'False/RegistrationTaintMissing');
      assertNames(messageOf(pool, 'NodesVerified'), 'os=windows:NoSchedule');
      await fixture.world.kubectl('taint', 'node', node, 'os=windows:NoSchedule');
      await becomes('looked-at', 'True/AllVerified');
    });

    it('ReservedMemoryTooLow, with what helps on EKS: a node reserves 500 MiB there', async () => {
      await fixture.world.patchPool('looked-at', { verification: { minimumReservedMemory: '2Gi' } });
      const pool = await fixture.world.waitForPool('looked-at', 'to warn', (it) =>
        messageOf(it, 'NodesVerified').includes('with a warning'),
      );
      assertNames(
        messageOf(pool, 'NodesVerified'),
        '500Mi',
        'verification.minimumReservedMemory 2Gi',
        'nodeGroup.kubelet.systemReserved',
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
      assertNames(message, '1 instance', /\bip-\S+ runs linux\b/);
      fixture.world.cloud.faults.terminateInstance({ node: /ip-\S+/.exec(message)?.[0] ?? '' });
      await becomes('looked-at', 'True/AllVerified');
    });
  });
});
