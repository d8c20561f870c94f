/**
 * A user who may edit WindowsPools, and nothing else, tries what docs/concepts/security.md says that such a user cannot do. Each attempt is made with the token of a
 * ServiceAccount that has only ClusterRole windowspool-operator-windowspools-edit.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { V1RuntimeClass } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { callsOf } from '../awsCalls.ts';
import type { Faults } from '../fakes/localaws/faults.ts';
import { messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { withOperator } from '../sharedWorld.ts';

const OWN_AMI = { ami: { id: 'ami-0123456789abcdef0' } };
/** Each lets a kubelet read or run what its user names, or trust another user. */
const ARGUMENTS = [
  'manifest-url',
  'pod-manifest-path',
  'image-credential-provider-bin-dir',
  'image-credential-provider-config',
  'volume-plugin-dir',
  'root-dir',
  'config',
  'kubeconfig',
  'authorization-mode',
  'authorization-webhook-cache-authorized-ttl',
  'anonymous-auth',
  'client-ca-file',
  'read-only-port',
  'feature-gates',
  'resolv-conf',
  'cgroups-per-qos',
];
const SHARED_CLASS = 'shared-windows';

type Created = Parameters<Faults['consoleCreate']>[0];

describe('a user who may only edit pools', () => {
  const fixture = withOperator('--resync-interval=1s', '--enable-node-group-adoption');
  let kubeconfig: string;

  before(async () => {
    const { world } = fixture;
    await world.kubectl('create', 'serviceaccount', 'editor');
    const role = '--clusterrole=windowspool-operator-windowspools-edit';
    await world.kubectl('create', 'clusterrolebinding', 'only-pools', role, '--serviceaccount=default:editor');
    kubeconfig = await world.controlPlane.serviceAccountKubeconfig('default', 'editor');
    await world.apply({
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: { name: SHARED_CLASS },
      handler: 'runhcs-wcow-hypervisor',
      scheduling: { nodeSelector: { 'kubernetes.io/os': 'windows' } },
    });
  });
  after(async () => {
    const { world } = fixture;
    await world.kubectl('delete', 'windowspools', '--all', '--timeout=60s');
    await world.kubectl('delete', 'clusterrolebinding/only-pools', `runtimeclass/${SHARED_CLASS}`);
    await world.kubectl('delete', 'serviceaccount', 'editor');
  });

  /** kubectl as this user: what it prints if it fails; undefined if it succeeds. */
  async function refusal(...args: readonly string[]): Promise<string | undefined> {
    const { code, stderr } = await fixture.world.controlPlane.kubectl(args, { kubeconfig });
    return code === 0 ? undefined : stderr;
  }

  /** Creates a pool as this user. kubectl apply would need the permission to read it. */
  async function create(name: string, spec: Parameters<typeof poolManifest>[1]): Promise<string | undefined> {
    const path = join(fixture.world.controlPlane.dir, `${name}.json`);
    await writeFile(path, JSON.stringify(poolManifest(name, spec)));
    return refusal('create', '--validate=false', '-f', path);
  }

  it('cannot read Secrets, ConfigMaps and pods, write a status, or run anything itself', async () => {
    for (const args of [
      ['get', 'secrets', '-n', 'winpool-node-pods'],
      ['get', 'configmaps', '-n', 'winpool-system'],
      ['get', 'pods', '-n', 'winpool-node-pods'],
      ['create', 'configmap', 'script', '-n', 'winpool-system'],
      ['annotate', 'runtimeclass', SHARED_CLASS, 'winpool.dev/adoptable-by=thief'],
      ['patch', 'windowspool', 'none', '--subresource=status', '--type=merge', '--patch={"status":{}}'],
      ['run', 'pod', '--image=x'],
    ])
      assert.match((await refusal(...args)) ?? '', /forbidden/, args.join(' '));
  });

  it('cannot give the kubelet an argument that does more than tune it', async () => {
    for (const argument of ARGUMENTS) {
      const message = await create('kubelet', {
        nodeGroup: { ...OWN_AMI, kubelet: { extraArgs: { [argument]: 'x' } } },
      });
      assert.match(message ?? '', /only arguments that tune the kubelet are accepted/, argument);
    }
    const secrets = await create('kubelet', { nodeGroup: { ...OWN_AMI, kubelet: { extraArgs: { v: '10' } } } });
    assert.match(secrets ?? '', /v must be from 0 to 6/);
    for (const value of [
      'http://192.0.2.1/x',
      String.raw`\\192.0.2.1\share`,
      'C:\\x.exe',
      "4' ; x",
      '4 --kubeconfig=x',
    ]) {
      const message = await create('kubelet', { nodeGroup: { ...OWN_AMI, kubelet: { extraArgs: { v: value } } } });
      assert.match(message ?? '', /extraArgs\.v in body should match/, value);
    }
  });

  it('cannot put more than a name of IAM into commands that messages suggest', async () => {
    for (const role of ['nodes; curl x', 'nodes`x`', 'nodes$(x)', "nodes' 'x", 'nodes\nx', 'nodes|x']) {
      const message = await create('role', { nodeGroup: { nodeRole: `arn:aws:iam::111122223333:role/${role}` } });
      assert.match(message ?? '', /nodeRole in body should match/, role);
    }
  });

  it('cannot replace the RuntimeClass of others', async () => {
    const runtimeClass = { name: SHARED_CLASS, adoption: 'IfUnowned' } as const;
    assert.equal(await create('thief', { runtimeClass }), undefined);
    const pool = await fixture.world.waitForConditions('thief', 'RuntimeClassReady=False/NotOwned');
    assertNames(messageOf(pool, 'RuntimeClassReady'), 'winpool.dev/adoptable-by=thief');
    const seen = await fixture.world.get<Stored<V1RuntimeClass>>('runtimeclasses', SHARED_CLASS);
    assert.equal(seen?.handler, 'runhcs-wcow-hypervisor');
  });

  it('cannot take over a node group that belongs to another pool, or to nobody', async () => {
    const { world } = fixture;
    assert.equal(await create('victim', {}), undefined);
    await world.waitForReady('victim');
    const [call = assert.fail()] = callsOf(world, 'CreateNodegroup', 'victim');
    const { clientRequestToken: _, ...created } = call.input as Created;
    world.cloud.faults.consoleCreate({ ...created, nodegroupName: 'console', tags: {} });
    const refusals = { victim: 'NotOwned', console: 'AdoptionRejected' };
    for (const [name, reason] of Object.entries(refusals)) {
      const thief = `thief-of-${name}`;
      assert.equal(await create(thief, { nodeGroup: { name, adoption: 'IfUnowned' } }), undefined);
      await world.waitForConditions(thief, `NodeGroupReady=False/${reason}`);
      assert.equal(await refusal('delete', 'windowspool', thief, '--timeout=60s'), undefined);
      assert.ok(world.cloud.state.groups.has(name));
    }
    const { tags } = world.cloud.state.group('victim').nodegroup;
    assert.equal(tags?.['winpool.dev/pool'], 'victim');
    world.cloud.faults.consoleDelete({ group: 'console' });
    await waitFor(async () => (await world.nodeNamesOf('console')).length === 0, {
      what: 'the nodes of the group to go',
    });
  });

  it('cannot have a kubelet read a Secret that no administrator listed', async () => {
    const { world } = fixture;
    const verification = {
      policy: 'Gate',
      requiredImages: ['example.com/app:1'],
      imagePrePull: { imagePullSecrets: [{ name: 'metrics-certificate' }] },
    } as const;
    assert.equal(await create('curious', { verification }), undefined);
    const told = (message: string) => /metrics-certificate.*--allowed-image-pull-secrets/.test(message);
    await world.waitForPool('curious', 'to name the Secret', (pool) => told(JSON.stringify(pool?.status ?? {})));
    const pods = await world.kubectl(
      'get',
      'pods',
      '-n',
      'winpool-node-pods',
      '-l',
      'winpool.dev/pool=curious',
      '-o',
      'name',
    );
    assert.equal(pods, '');
  });
});
