/** The life of a pool that sets its kubelet and names no AMI, on the local AWS in memory. */

import assert from 'node:assert/strict';
import { imageIdFor } from '../../../../../test/fakes/localaws/ec2/images.ts';
import type { NodeGroupSpec } from '../../../api/api.gen.ts';
import { FakeWorld } from '../../../testing/fakeWorld.ts';
import { type SpecChange, samplePool } from '../../../testing/fixtures.ts';
import { assertBrief, type Brief } from '../../../testing/goldenTexts.ts';
import { conditionOf, fresh, hours, ready, stateOf, until, updatesIn } from '../../../testing/life.ts';
import { hashOf } from '../../../util/hash.ts';
import { digestOf, launchSettingsField } from '../changes/appliedRecord.ts';
import { labelsFor, taintsFor } from '../desired/desiredNodeGroup.ts';
import { USER_DATA } from './launchSettings.ts';

const [OLD, NEW] = ['2026.02.11', '2026.03.17'].map((date) =>
  imageIdFor('WINDOWS_CORE_2022_x86_64', `1.36-${date}`),
) as [string, string];
const PARAMETER = '/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.36/image_id';

const spec = (rest: Partial<NodeGroupSpec> = {}): SpecChange => ({
  nodeGroup: { diskSizeGiB: undefined, kubelet: { systemReserved: { memory: '2Gi' } }, ...rest },
});

function change(world: FakeWorld, to: SpecChange): void {
  const pool = world.pools.get('web') ?? assert.fail('there is no pool');
  world.apply({ ...pool, spec: { ...pool.spec, nodeGroup: samplePool(to).spec.nodeGroup } });
}

async function kubeletWorld(rest: Partial<NodeGroupSpec> = {}) {
  const world = new FakeWorld();
  world.apply(fresh(spec(rest)));
  const deps = world.start();
  await until(world, deps, () => ready(world) === 'True', 'a pool that is Ready');
  return { world, deps };
}

const imagesOf = ({ cloud }: FakeWorld) =>
  [...cloud.state.instances.values()].filter(({ state }) => state === 'running').map(({ imageId }) => imageId);
const isUpToDate = (world: FakeWorld, id: string) => () =>
  stateOf(world)?.releaseVersion === id && conditionOf(world, 'UpToDate')?.startsWith('True') === true;

/** Leaves AWS and the status as an operator did that passed only the thresholds in the spec. */
function renderAsBefore(world: FakeWorld): void {
  for (const template of world.cloud.state.launchTemplates.values())
    template.versions = template.versions.map(({ data, ...version }) => {
      const script = Buffer.from(data.UserData ?? '', 'base64').toString();
      const before = Buffer.from(script.replace(',nodefs.available<10%', '')).toString('base64');
      return { ...version, description: 'windowspool-operator before', data: { ...data, UserData: before } };
    });
  const pool = world.pools.get('web') ?? assert.fail('there is no pool');
  const kubelet = { 'eviction-hard': 'memory.available<1Gi' };
  const text = hashOf({ labels: labelsFor(pool), taints: taintsFor(pool), kubelet, userData: undefined });
  const field = launchSettingsField(USER_DATA);
  const { tracking } = pool.status ?? {};
  const others = (tracking?.applied ?? []).filter((entry) => !entry.startsWith(`${field}=`));
  const applied = [...others, `${field}=${digestOf(text)}`].sort();
  world.pools.set('web', { ...pool, status: { ...pool.status, tracking: { ...tracking, applied } } });
}

describe('a pool that sets its kubelet', () => {
  it('has the newest AMI of EKS for the version of the cluster, by its ID, and a group of type CUSTOM', async () => {
    const { world } = await kubeletWorld();
    const group = world.groups.get('web');
    assert.deepEqual(
      [group?.amiType, group?.releaseVersion, new Set(imagesOf(world))],
      ['CUSTOM', OLD, new Set([OLD])],
    );
    assert.equal(conditionOf(world, 'UpToDate'), 'True MatchesSpec: Node group web matches the spec.');
    const [instance] = world.cloud.state.instances.values();
    assert.equal(instance?.kubelet['system-reserved'], 'memory=2Gi');
  });

  it('reports the next AMI of EKS with policy Manual, and follows it with Automatic', async () => {
    const { world, deps } = await kubeletWorld();
    world.publish('1.36-2026.03.17');
    await hours(world, deps, 1);
    assertBrief(
      conditionOf(world, 'UpToDate'),
      'False UpdateAvailable',
      'web',
      OLD,
      PARAMETER,
      NEW,
      'nodeGroup.update.policy: Automatic',
      'nodeGroup.ami.id',
    );
    change(world, spec({ update: { policy: 'Automatic', force: false } }));
    await until(world, deps, isUpToDate(world, NEW), 'the next AMI');
    assert.deepEqual(new Set(imagesOf(world)), new Set([NEW]));
  }).timeout(30_000);

  it('keeps its AMI when its kubelet changes, although EKS has a newer one', async () => {
    const { world, deps } = await kubeletWorld();
    world.publish('1.36-2026.03.17');
    change(world, spec({ kubelet: { maxPods: 30 } }));
    const isChanged = () =>
      [...world.cloud.state.instances.values()].some(({ kubelet }) => kubelet['max-pods'] === '30');
    await until(world, deps, isChanged, 'nodes with the other settings');
    assert.deepEqual(new Set(imagesOf(world)), new Set([OLD]));
  });

  it('shows when its AMI becomes private, before and after that', async () => {
    const { world, deps } = await kubeletWorld();
    const end = { privateDate: '2026-06-11', releaseDate: '2026-02-11' };
    const shown = () => {
      const { privateDate, releaseDate } = stateOf(world) ?? {};
      const metric = world.metrics.get('web')?.windowspool_node_group_release_end_timestamp_seconds;
      return [{ privateDate, releaseDate }, metric];
    };
    assert.deepEqual(shown(), [end, Date.parse('2026-06-11') / 1_000]);
    world.now = Date.parse('2026-05-12T00:00:00Z');
    world.publish('1.36-2026.03.17');
    await hours(world, deps, 2);
    assertBrief(conditionOf(world, 'UpToDate'), 'False UpdateAvailable', OLD, NEW, '2026-06-11');
    world.cloud.faults.release({ date: '2026.02.11', public: false });
    await hours(world, deps, 2);
    assert.deepEqual(shown(), [end, Date.parse('2026-06-11') / 1_000]);
    assertBrief(conditionOf(world, 'UpToDate'), 'False UpdateAvailable', OLD, 'private or deregistered', NEW);
    assertBrief(conditionOf(world, 'PrerequisitesMet'), 'False AMIInvalid', OLD, `nodeGroup.ami.id: ${NEW}`);
  });

  it('leaves an AMI that is private when its kubelet changes, also with policy Manual', async () => {
    const { world, deps } = await kubeletWorld();
    world.publish('1.36-2026.03.17');
    world.cloud.faults.release({ date: '2026.02.11', public: false });
    await hours(world, deps, 2);
    assert.deepEqual(updatesIn(world.calls), []);
    change(world, spec({ kubelet: { maxPods: 30 } }));
    await until(world, deps, isUpToDate(world, NEW), 'the next AMI');
    assert.deepEqual(new Set(imagesOf(world)), new Set([NEW]));
  }).timeout(30_000);

  it('is Ready, with a warning, if a node does not reserve what it sets', async () => {
    const world = new FakeWorld();
    world.cloud.faults.nextNode({ reservedMiB: 500 });
    world.apply(fresh(spec()));
    await until(world, world.start(), () => ready(world) === 'True', 'a pool that is Ready');
    assertBrief(
      conditionOf(world, 'NodesVerified'),
      'True AllVerified',
      '3 nodes',
      '1 node',
      '500Mi',
      '2048Mi',
      'nodeGroup.kubelet',
    );
  });

  for (const policy of ['Manual', 'Automatic'] as const)
    it(`with thresholds that another version of the operator rendered otherwise follows policy ${policy}`, async () => {
      const evictionHard = { 'memory.available': '1Gi' };
      const { world } = await kubeletWorld({ kubelet: { evictionHard }, update: { policy, force: false } });
      renderAsBefore(world);
      await hours(world, world.start(), 2);
      const isFollowed = policy === 'Automatic';
      assert.deepEqual(updatesIn(world.calls), isFollowed ? ['UpdateNodegroupVersion'] : []);
      const want: Brief = isFollowed
        ? ['True MatchesSpec', 'web']
        : ['False UpdateAvailable', 'web', 'nodeGroup.update.policy: Automatic'];
      assertBrief(conditionOf(world, 'UpToDate'), ...want);
    }).timeout(30_000);

  it('can name its AMI later, and no longer', async () => {
    const { world, deps } = await kubeletWorld();
    world.publish('1.36-2026.03.17');
    await hours(world, deps, 1);
    change(world, spec({ ami: { id: NEW } }));
    await until(world, deps, isUpToDate(world, NEW), 'the AMI of the spec');
    change(world, spec());
    await hours(world, deps, 1);
    assert.equal(stateOf(world)?.releaseVersion, NEW);
    assert.equal(conditionOf(world, 'UpToDate'), 'True MatchesSpec: Node group web matches the spec.');
  }).timeout(30_000);
});
