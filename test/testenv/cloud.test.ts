import assert from 'node:assert/strict';
import type { V1ConfigMap, V1Node } from '@kubernetes/client-node';
import { parse, stringify } from 'yaml';
import type { Stored, Wire } from '../../controllers/kubernetes/objects.ts';
import { type ControlPlane, startControlPlane } from '../../hack/controlplane/controlplane.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { type LocalAws, startLocalAws } from '../fakes/localaws/localAws.ts';
import { nodeRoleArn } from '../fakes/localaws/network.ts';
import { sampleCluster, sampleGroup } from '../fakes/localaws/testing/fixtures.ts';
import { type SdkClients, sdkClients } from '../fakes/localaws/wire/sdkClients.ts';
import { windowsIpam } from '../fakes/testenv/testEnv.ts';

type Node = Stored<V1Node>;

describe('the nodes of the local AWS, in a real Kubernetes', function () {
  this.timeout(120_000);
  let kubernetes: ControlPlane;
  let cloud: LocalAws;
  let sdk: SdkClients;
  const { name: clusterName } = sampleCluster;
  const pods = 'vpc.amazonaws.com/PrivateIPv4Address';

  before(async function () {
    this.timeout(1_800_000);
    kubernetes = await startControlPlane();
    const cluster = { ...sampleCluster, caData: kubernetes.caData, endpoint: kubernetes.url };
    cloud = await startLocalAws({ cluster, kubeconfig: await kubernetes.kubeconfigForUser('cloud'), speed: 10 });
    sdk = sdkClients(cloud.url, cluster.region);
    await apply(windowsIpam(true));
  });

  after(async () => {
    sdk?.destroy();
    await cloud?.stop();
    await kubernetes?.stop();
  });

  afterEach(async () => {
    await deleteGroup();
    assert.deepEqual(cloud.kubelets?.problems(), []);
  });

  async function nodes(): Promise<Node[]> {
    const { stdout } = await kubernetes.kubectl(['get', 'nodes', '-o', 'json', '--show-managed-fields']);
    return (JSON.parse(stdout) as { items: Node[] }).items;
  }

  const untilNodes = (what: string, test: (found: Node[]) => boolean) =>
    waitFor(
      async () => {
        const found = await nodes();
        return test(found) ? found : undefined;
      },
      { what, timeoutMs: 60_000, intervalMs: 100 },
    );

  const isReady = ({ status }: Node) =>
    status.conditions?.some(({ type, status: result }) => type === 'Ready' && result === 'True') === true;
  const isSettled = ({ spec }: Node) => !spec.taints?.some(({ key }) => /uninitialized|not-ready/.test(key));
  const isComplete = (node: Node) => isReady(node) && isSettled(node) && node.status.allocatable?.[pods] !== undefined;
  const createWith = (desiredSize: number, changes = {}) =>
    sdk.eks.createNodegroup(sampleGroup({ scalingConfig: { minSize: 0, desiredSize, maxSize: 5 }, ...changes }));
  const update = (request: object) => sdk.eks.updateNodegroupConfig({ clusterName, nodegroupName: 'web', ...request });

  async function apply(object: object): Promise<void> {
    await kubernetes.kubectlOutput(['apply', '-f', '-'], { stdin: JSON.stringify(object) });
  }

  async function configMap(name: string): Promise<Record<string, string> | undefined> {
    const { stdout } = await kubernetes.kubectl([
      ...['get', 'configmap', name, '-n', 'kube-system', '-o', 'json', '--ignore-not-found'],
    ]);
    return stdout === '' ? undefined : (JSON.parse(stdout) as Wire<V1ConfigMap>).data;
  }

  const issuesOf = async () => {
    const { nodegroup } = await sdk.eks.describeNodegroup({ clusterName, nodegroupName: 'web' });
    return nodegroup?.health?.issues?.map(({ code }) => code);
  };

  async function untilStatus(status: string): Promise<void> {
    await waitFor(
      async () => (await sdk.eks.describeNodegroup({ clusterName, nodegroupName: 'web' })).nodegroup?.status === status,
      { what: `node group ${status}`, intervalMs: 50 },
    );
  }

  async function deleteGroup(): Promise<void> {
    if (cloud.state.groups.has('web')) await sdk.eks.deleteNodegroup({ clusterName, nodegroupName: 'web' });
    await untilNodes('no nodes', (found) => found.length === 0);
    await waitFor(() => cloud.state.groups.size === 0, { what: 'no node group', intervalMs: 50 });
  }

  it('join like kubelets', async () => {
    await createWith(1, { labels: { tier: 'web' }, taints: [{ key: 'os', value: 'windows', effect: 'NO_SCHEDULE' }] });
    await untilStatus('ACTIVE');
    const [node] = await untilNodes('one complete node', (found) => found.length === 1 && found.every(isComplete));
    assert.ok(node);
    const instance = [...cloud.state.instances.values()].find(({ state }) => state === 'running');
    assert.equal(node.metadata.name, 'ip-10-0-1-10.us-west-2.compute.internal');
    assert.equal(node.spec.providerID, `aws:///us-west-2a/${instance?.id}`);
    assert.deepEqual(node.spec.taints, [{ key: 'os', value: 'windows', effect: 'NoSchedule' }]);
    assert.deepEqual(node.metadata.labels, {
      'beta.kubernetes.io/arch': 'amd64',
      'beta.kubernetes.io/instance-type': 'm5.large',
      'beta.kubernetes.io/os': 'windows',
      'eks.amazonaws.com/capacityType': 'ON_DEMAND',
      'eks.amazonaws.com/nodegroup': 'web',
      'eks.amazonaws.com/nodegroup-image': instance?.imageId,
      'k8s.io/cloud-provider-aws': node.metadata.labels?.['k8s.io/cloud-provider-aws'],
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/hostname': node.metadata.name,
      'kubernetes.io/os': 'windows',
      'node.kubernetes.io/instance-type': 'm5.large',
      'node.kubernetes.io/windows-build': '10.0.20348',
      tier: 'web',
      'topology.k8s.aws/zone-id': 'usw2-az1',
      'topology.kubernetes.io/region': 'us-west-2',
      'topology.kubernetes.io/zone': 'us-west-2a',
    });
    const { kernelVersion, kubeletVersion, osImage, operatingSystem, containerRuntimeVersion } =
      node.status.nodeInfo ?? {};
    assert.deepEqual(
      { kernelVersion, kubeletVersion, osImage, operatingSystem, containerRuntimeVersion },
      {
        kernelVersion: '10.0.20348.5020',
        kubeletVersion: 'v1.36.1-eks-3385e9f',
        osImage: 'Windows Server 2022 Datacenter',
        operatingSystem: 'windows',
        containerRuntimeVersion: 'containerd://2.1.6',
      },
    );
    assert.equal(node.status.capacity?.[pods], '9');
    assert.ok(node.metadata.managedFields?.some(({ manager }) => manager === 'kubelet'));
  });

  it('get changed labels and taints of their group, and keep those of others', async () => {
    await createWith(1, { labels: { old: 'a', kept: 'b' }, taints: [{ key: 'old', effect: 'NO_SCHEDULE' }] });
    await untilStatus('ACTIVE');
    const [node] = await untilNodes('one complete node', (found) => found.length === 1 && found.every(isComplete));
    const name = node?.metadata.name ?? '';
    await kubernetes.kubectl(['taint', 'node', name, 'mine=1:NoExecute']);
    await kubernetes.kubectl(['label', 'node', name, 'mine=1']);
    await update({
      labels: { addOrUpdateLabels: { fresh: 'c' }, removeLabels: ['old'] },
      taints: {
        addOrUpdateTaints: [{ key: 'fresh', effect: 'NO_SCHEDULE' }],
        removeTaints: [{ key: 'old', effect: 'NO_SCHEDULE' }],
      },
    });
    const [changed] = await untilNodes(
      'the new taint',
      ([first]) => first?.spec.taints?.some(({ key }) => key === 'fresh') === true,
    );
    assert.deepEqual(changed?.spec.taints, [
      { key: 'mine', value: '1', effect: 'NoExecute' },
      { key: 'fresh', effect: 'NoSchedule' },
    ]);
    const { old, kept, fresh, mine } = changed?.metadata.labels ?? {};
    assert.deepEqual({ old, kept, fresh, mine }, { old: undefined, kept: 'b', fresh: 'c', mine: '1' });
    await untilStatus('ACTIVE');
  });

  it('report a new kernel after a patch and a restart, and keep the label of the group', async () => {
    await createWith(2);
    await untilStatus('ACTIVE');
    const [first] = await untilNodes('two complete nodes', (found) => found.length === 2 && found.every(isComplete));
    const node = first?.metadata.name ?? '';
    cloud.faults.patchKernel({ node, build: '10.0.17763' });
    const ofNode = (found: Node[]) => found.find(({ metadata }) => metadata.name === node);
    const patched = ofNode(
      await untilNodes('the other build', (found) => ofNode(found)?.status.nodeInfo?.bootID === '2'),
    );
    assert.equal(patched?.status.nodeInfo?.kernelVersion, '10.0.17763.8644');
    assert.equal(patched?.metadata.labels?.['node.kubernetes.io/windows-build'], '10.0.17763');
    cloud.faults.edit({
      group: 'web',
      labels: { 'node.kubernetes.io/windows-build': '10.0.20348' },
      scalingConfig: { desiredSize: 3 },
    });
    await deleteGroup();
    cloud.faults.nextNode({ build: '10.0.17763' });
    await createWith(1, { labels: { 'node.kubernetes.io/windows-build': '10.0.20348' } });
    const [wrong] = await untilNodes('a complete node', (found) => found.length === 1 && found.every(isComplete));
    assert.equal(wrong?.metadata.labels?.['node.kubernetes.io/windows-build'], '10.0.20348');
    await untilStatus('ACTIVE');
  });

  it('register again when they start after their Node was deleted, and not before', async () => {
    await createWith(1, { labels: { tier: 'web' } });
    await untilStatus('ACTIVE');
    const [node] = await untilNodes('one complete node', (found) => found.length === 1 && found.every(isComplete));
    const name = node?.metadata.name ?? '';
    await kubernetes.kubectl(['delete', 'node', name]);
    await update({ labels: { addOrUpdateLabels: { tier: 'db' } } });
    await untilStatus('ACTIVE');
    assert.deepEqual(await nodes(), []);
    cloud.faults.restartNode({ node: name });
    const [again] = await untilNodes('the node again', (found) => found.length === 1 && found.every(isComplete));
    assert.equal(again?.metadata.labels?.tier, 'web', 'the kubelet knows only the labels of its launch');
    assert.equal(again?.spec.taints, undefined);
  });

  describe('when a prerequisite is missing', () => {
    const undo: (() => unknown)[] = [];
    afterEach(async () => {
      for (const step of undo.splice(0).reverse()) await step();
      cloud.faults.accessEntry({ type: 'EC2_WINDOWS' });
      await deleteGroup();
    });
    const ipam = 'enable-windows-ipam';

    it('are Ready without pod addresses while Windows IPAM is disabled', async () => {
      undo.push(() => apply(windowsIpam(true)));
      await apply(windowsIpam(false));
      await createWith(2);
      await untilStatus('ACTIVE');
      const found = await untilNodes('two ready nodes', (all) => all.length === 2 && all.every(isReady));
      assert.deepEqual(
        found.map(({ status }) => status.capacity?.[pods]),
        [undefined, undefined],
      );
      await apply(windowsIpam(true));
      await untilNodes('pod addresses', (all) => all.length === 2 && all.every(isComplete));
    });

    it('follow the ConfigMap if another user changed the setting of the vpc-cni add-on, until an update overwrites it', async () => {
      undo.push(
        () => apply(windowsIpam(true)),
        () => cloud.faults.addon({ name: 'vpc-cni', exists: false }),
      );
      const addon = { clusterName, addonName: 'vpc-cni' };
      const value = async () => (await configMap('amazon-vpc-cni'))?.[ipam];
      const update = async (resolveConflicts: 'NONE' | 'PRESERVE' | 'OVERWRITE') => {
        await sdk.eks.updateAddon({ ...addon, resolveConflicts, configurationValues: 'enableWindowsIpam: "false"' });
        const ended = async () => {
          const found = (await sdk.eks.describeAddon(addon)).addon;
          return found?.status === 'UPDATING' ? undefined : found;
        };
        const { status, health } = await waitFor(ended, { what: 'the update to end' });
        return [status, health?.issues?.map(({ message }) => message), await value()];
      };
      cloud.faults.addon({ name: 'vpc-cni' });
      await waitFor(async () => (await value()) === 'false', { what: `${ipam} false` });
      await apply(windowsIpam(true));
      await createWith(1);
      await untilNodes('pod addresses', (all) => all.length === 1 && all.every(isComplete));
      const words =
        'Conflicts found when trying to apply. Will not continue due to resolve conflicts mode. Conflicts: ConfigMap amazon-vpc-cni - .data.enable-windows-ipam';
      assert.deepEqual(
        [await update('NONE'), await update('PRESERVE'), await update('OVERWRITE')],
        [
          ['UPDATE_FAILED', [words], 'true'],
          ['ACTIVE', [], 'true'],
          ['ACTIVE', [], 'false'],
        ],
      );
    });

    it('join with aws-auth, which EKS writes if it has no entry for the role', async () => {
      undo.push(
        () => kubernetes.kubectl(['delete', 'configmap', 'aws-auth', '-n', 'kube-system', '--ignore-not-found']),
        () => cloud.faults.cluster({ authenticationMode: 'API_AND_CONFIG_MAP' }),
      );
      cloud.faults.cluster({ authenticationMode: 'CONFIG_MAP' });
      await createWith(1);
      await untilStatus('ACTIVE');
      assert.deepEqual(parse((await configMap('aws-auth'))?.mapRoles ?? ''), [
        {
          rolearn: nodeRoleArn,
          username: 'system:node:{{EC2PrivateDNSName}}',
          groups: ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'],
        },
      ]);
      await deleteGroup();
      const mapRole = (groups: string[]) =>
        apply({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'aws-auth', namespace: 'kube-system' },
          data: { mapRoles: stringify([{ rolearn: nodeRoleArn, username: 'node', groups }]) },
        });
      await mapRole(['system:nodes']);
      await createWith(1);
      await untilStatus('DEGRADED');
      assert.deepEqual(await issuesOf(), ['AccessDenied']);
      await mapRole(['system:nodes', 'eks:kube-proxy-windows']);
      await untilStatus('ACTIVE');
    });
  });

  it('continue after the API server was unavailable', async () => {
    await kubernetes.stopApiServer();
    await createWith(1);
    await waitFor(() => [...cloud.state.instances.values()].some(({ joined }) => joined), {
      what: 'a join',
      intervalMs: 20,
    });
    await kubernetes.startApiServer();
    await untilNodes('one complete node', (found) => found.length === 1 && found.every(isComplete));
    await untilStatus('ACTIVE');
  });
});
