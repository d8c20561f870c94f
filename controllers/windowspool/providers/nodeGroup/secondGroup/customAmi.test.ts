/** Canaries of pools with a custom AMI, from the first call to the last, on the local AWS in memory. */

import assert from 'node:assert/strict';
import { NODE_GROUP_LABEL } from '../../../api/labels.ts';
import { change, contentOf, customWorld, imagesOf, NEW, OLD, spec } from '../../../testing/customAmiWorld.ts';
import type { FakeWorld } from '../../../testing/fakeWorld.ts';
import { type SpecChange, sampleError } from '../../../testing/fixtures.ts';
import { assertBrief } from '../../../testing/goldenTexts.ts';
import { TEMPLATE_NAME } from '../../../testing/launchSettingsScenes.ts';
import { conditionOf, hours, nodesIn, ready, stateOf, until, updatesIn } from '../../../testing/life.ts';
import { HASHED } from '../../../testing/replacementScenes.ts';

const CANARY = { canary: { nodes: 1, soakDuration: '30m' }, force: false } as const;
const MANUAL = { policy: 'Manual', ...CANARY } as const;
const AUTOMATIC = { policy: 'Automatic', ...CANARY } as const;
const PARAMETER = '/windowspool/golden';

/** A pool with this AMI whose updates have a canary. */
const trying = (id: string, rest: SpecChange = {}) =>
  spec(id, { ...rest, nodeGroup: { update: MANUAL, ...rest.nodeGroup } });
/** A pool with the AMI in the parameter, whose updates are automatic. */
const following = () => spec('', { nodeGroup: { ami: { ssmParameter: PARAMETER }, update: AUTOMATIC } });
/** A pool that sets only the kubelet. */
const reserving = (memory: string) => {
  const nodeGroup = { ami: undefined, kubelet: { systemReserved: { memory } }, update: AUTOMATIC };
  return spec('', { nodeGroup } as SpecChange);
};

/** The same while EKS has the release of the other AMI, too. */
async function tryingWorld(...[to = trying(OLD), ...options]: Parameters<typeof customWorld>) {
  const { world, deps } = await customWorld(to, ...options);
  world.pods = [];
  world.publish('1.36-2026.03.17');
  return { world, deps };
}

const canaryOf = (world: FakeWorld) => stateOf(world)?.canary;
const isVerified = (world: FakeWorld) => () => canaryOf(world)?.phase === 'Soaking';
const isDone = (world: FakeWorld) => () =>
  canaryOf(world) === undefined && conditionOf(world, 'UpToDate')?.startsWith('True') === true;
const versionOf = (world: FakeWorld, group: string) => world.groups.get(group)?.launchTemplate?.version;
const templatesOf = ({ cloud }: FakeWorld) => [...cloud.state.launchTemplates.values()];
/** The versions of the launch template of the pool. */
const numbersOf = (world: FakeWorld) =>
  templatesOf(world)
    .filter(({ name }) => name === TEMPLATE_NAME)
    .flatMap(({ versions }) => versions.map(({ number }) => number));
const labelsOf = ({ cloud }: FakeWorld, image: string) =>
  [...cloud.state.instances.values()]
    .filter(({ state, imageId }) => state === 'running' && imageId === image)
    .map(({ nodeLabels }) => nodeLabels[NODE_GROUP_LABEL]);

describe('a canary with a custom AMI', () => {
  for (const settingsOfCustomNodes of ['later', 'never'] as const)
    it(`has nodes with the name of its own node group, if EKS sets labels ${settingsOfCustomNodes}, and then the main group gets the AMI`, async () => {
      const { world, deps } = await tryingWorld(trying(OLD), { switches: { settingsOfCustomNodes } });
      change(world, trying(NEW));
      await until(world, deps, isVerified(world), 'a verified canary', 100);
      assert.deepEqual(labelsOf(world, NEW), [HASHED]);
      assert.deepEqual([nodesIn(world, HASHED).length, nodesIn(world, 'web').length], [1, 3]);
      assert.deepEqual([versionOf(world, 'web'), versionOf(world, HASHED)], ['1', '3']);
      const [tried, own] = [contentOf(world, 2), contentOf(world, 3)];
      assert.deepEqual(own, {
        image: NEW,
        script: tried.script.replace(`${NODE_GROUP_LABEL}=web,`, `${NODE_GROUP_LABEL}=${HASHED},`),
      });
      const { releaseVersion, templateVersion, nodes, verified } = canaryOf(world) ?? {};
      assert.deepEqual([releaseVersion, templateVersion, nodes, verified], [NEW, '2', 1, 1]);
      assertBrief(conditionOf(world, 'UpToDate'), 'False CanaryRunning', HASHED, NEW, 'version 2');
      await until(world, deps, isDone(world), 'the main group alone', 200);
      assert.deepEqual([[...world.groups.keys()], [...new Set(imagesOf(world))]], [['web'], [NEW]]);
      assert.deepEqual([versionOf(world, 'web'), nodesIn(world, 'web').length, ready(world)], ['2', 3, 'True']);
      assert.ok(labelsOf(world, NEW).every((group) => group === 'web'));
    });

  it('leaves a version of the launch template, which is pruned with the next one', async () => {
    const { world, deps } = await tryingWorld();
    for (const [id, versions] of [
      [NEW, '1,2,3'],
      [OLD, '1,4'],
      [NEW, '1,5,6'],
    ] as const) {
      change(world, trying(id));
      const isPruned = () => isDone(world)() && numbersOf(world).join() === versions;
      await until(world, deps, isPruned, `versions ${versions}`, 300);
    }
  }).timeout(30_000);

  it('ends when its nodes fail, and the main group keeps its AMI', async () => {
    const { world, deps } = await tryingWorld();
    const before = world.groups.get('web');
    world.cloud.faults.nextNode({ group: HASHED, build: '10.0.17763' });
    change(world, trying(NEW));
    const hasFailed = () =>
      canaryOf(world) === undefined && conditionOf(world, 'UpToDate')?.includes('CanaryFailed') === true;
    await until(world, deps, hasFailed, 'a failed canary', 200);
    assertBrief(conditionOf(world, 'UpToDate'), 'False CanaryFailed', HASHED, NEW, 'version 2');
    await hours(world, deps, 2);
    assert.deepEqual([[...world.groups.values()], updatesIn(world.calls).length], [[before], 1]);
    assert.equal(ready(world), 'True');
  });

  it('tries the next AMI in the parameter of the spec, and goes on while the parameter cannot be read', async () => {
    const images = ['ami-0a000001', 'ami-0a000002'] as const;
    const { world, deps } = await customWorld(following(), {}, images, PARAMETER);
    world.pods = [];
    world.cloud.faults.parameter({ name: PARAMETER, value: images[1] });
    await until(world, deps, isVerified(world), 'a verified canary', 200);
    assert.deepEqual(labelsOf(world, images[1]), [HASHED]);
    const begun = canaryOf(world)?.startTime;
    world.fails = (call) => (call === 'GetParameter' ? sampleError('throttled') : undefined);
    await hours(world, deps, 2);
    assert.deepEqual([canaryOf(world)?.startTime, canaryOf(world)?.phase], [begun, 'Soaking']);
    world.fails = () => undefined;
    await until(world, deps, isDone(world), 'the main group alone', 300);
    assert.deepEqual([[...world.groups.keys()], [...new Set(imagesOf(world))]], [['web'], [images[1]]]);
  }).timeout(30_000);

  it('ends when the parameter goes back to the AMI of the main group', async () => {
    const images = ['ami-0a000001', 'ami-0a000002'] as const;
    const { world, deps } = await customWorld(following(), {}, images, PARAMETER);
    world.cloud.faults.parameter({ name: PARAMETER, value: images[1] });
    await until(world, deps, isVerified(world), 'a verified canary', 200);
    world.cloud.faults.parameter({ name: PARAMETER, value: images[0] });
    await until(world, deps, isDone(world), 'the main group alone', 300);
    assert.deepEqual([[...world.groups.keys()], versionOf(world, 'web')], [['web'], '1']);
  });

  it('tries the next AMI of EKS, which a pool that sets only the kubelet uses by its ID', async () => {
    const { world, deps } = await customWorld(reserving('2Gi'));
    world.pods = [];
    world.publish('1.36-2026.03.17');
    await until(world, deps, isVerified(world), 'a verified canary', 200);
    assert.deepEqual([labelsOf(world, NEW), canaryOf(world)?.releaseVersion], [[HASHED], NEW]);
    await until(world, deps, isDone(world), 'the main group alone', 300);
    assert.deepEqual([[...world.groups.keys()], [...new Set(imagesOf(world))]], [['web'], [NEW]]);
  });

  it('tries other settings of the kubelet', async () => {
    const { world, deps } = await customWorld(reserving('2Gi'));
    world.pods = [];
    change(world, reserving('3Gi'));
    await until(world, deps, isVerified(world), 'a verified canary', 100);
    const reserved = () =>
      [...world.cloud.state.instances.values()]
        .filter(({ state }) => state === 'running')
        .map(({ kubelet }) => kubelet['system-reserved'])
        .sort();
    assert.deepEqual(reserved(), [...Array(3).fill('memory=2Gi'), 'memory=3Gi']);
    await until(world, deps, isDone(world), 'the main group alone', 300);
    assert.deepEqual([reserved(), [...world.groups.keys()]], [Array(3).fill('memory=3Gi'), ['web']]);
  });

  it('is found again by its tag when the status was lost', async () => {
    const { world, deps } = await tryingWorld();
    change(world, trying(NEW));
    await until(world, deps, isVerified(world), 'a verified canary', 100);
    const { status: _lost, ...pool } = world.pools.get('web') ?? assert.fail();
    world.pools.set('web', pool);
    await until(world, deps, isVerified(world), 'a verified canary', 100);
    assert.match(conditionOf(world, 'UpToDate') ?? '', new RegExp(`Canary ${HASHED} tries AMI ${NEW}\\.`));
    await until(world, deps, isDone(world), 'the main group alone', 300);
    assert.deepEqual([[...world.groups.keys()], versionOf(world, 'web')], [['web'], '2']);
  });

  for (const [immutableChangePolicy, why] of [
    ['Replace', 'another node group is to replace web'],
    ['Reject', 'the launch template of web cannot be changed'],
  ] as const)
    it(`ends when its launch template is deleted, with the reason, if immutableChangePolicy is ${immutableChangePolicy}`, async () => {
      const { world, deps } = await tryingWorld(trying(OLD, { nodeGroup: { immutableChangePolicy } }));
      change(world, trying(NEW, { nodeGroup: { immutableChangePolicy } }));
      await until(world, deps, isVerified(world), 'a verified canary', 100);
      world.cloud.faults.launchTemplate({ name: TEMPLATE_NAME, exists: false });
      await until(world, deps, () => canaryOf(world)?.phase === 'Draining', 'the end of the canary', 100);
      const text = `Started to drain the 1 node of canary ${HASHED}, then delete it: ${why}`;
      assert.ok(
        world.events.some((event) => event.message === text),
        JSON.stringify(world.events.slice(-9)),
      );
      await until(world, deps, () => canaryOf(world) === undefined, 'a deleted canary', 100);
      assert.equal(ready(world), 'True');
    });

  it('is deleted with its pool, and with the launch template of both', async () => {
    const { world, deps } = await tryingWorld();
    change(world, trying(NEW));
    await until(world, deps, isVerified(world), 'a verified canary', 100);
    world.remove('web');
    await until(world, deps, () => !world.pools.has('web'), 'a deleted pool', 100);
    assert.deepEqual([[...world.groups.keys()], templatesOf(world)], [[], []]);
  });

  it('is not created while the version of its launch template cannot be', async () => {
    const { world, deps } = await tryingWorld();
    const isRefused = (call: string) => call === 'CreateLaunchTemplateVersion' && canaryOf(world) !== undefined;
    world.fails = (call) => (isRefused(call) ? sampleError('denied') : undefined);
    change(world, trying(NEW));
    await hours(world, deps, 2);
    assert.deepEqual([[...world.groups.keys()], versionOf(world, 'web')], [['web'], '1']);
    assert.match(
      conditionOf(world, 'PrerequisitesMet') ?? '',
      /^False AccessDenied: .*AWS denied CreateLaunchTemplateVersion/,
    );
    world.fails = () => undefined;
    await until(world, deps, isDone(world), 'the main group alone', 300);
    assert.equal(versionOf(world, 'web'), '2');
  });
});
