/** The life of the script of a pool, on the local AWS in memory. */

import assert from 'node:assert/strict';
import type { NodeGroupSpec } from '../../../api/api.gen.ts';
import { FakeWorld } from '../../../testing/fakeWorld.ts';
import { type SpecChange, sampleError, samplePool } from '../../../testing/fixtures.ts';
import { assertBrief } from '../../../testing/goldenTexts.ts';
import { TEMPLATE_NAME } from '../../../testing/launchSettingsScenes.ts';
import {
  conditionOf,
  fresh,
  hours,
  openFailure,
  ready,
  retry,
  stateOf,
  until,
  updatesIn,
  wake,
} from '../../../testing/life.ts';
import { mergedUserData } from '../../../userData/userScript.ts';

const KEY = 'user-data.ps1';

/** The spec of a pool whose script is in this key of ConfigMap windows. */
function spec(rest: Partial<NodeGroupSpec> = {}, key = KEY): SpecChange {
  const userData = { configMap: 'windows', key, phase: 'BeforeBootstrap' } as const;
  return { nodeGroup: { diskSizeGiB: undefined, userData, ...rest } };
}

function change(world: FakeWorld, to: SpecChange): void {
  const pool = world.pools.get('web') ?? assert.fail('there is no pool');
  world.apply({ ...pool, spec: { ...pool.spec, nodeGroup: samplePool(to).spec.nodeGroup } });
}

const isReady = (world: FakeWorld) => () => ready(world) === 'True';
const hasVersion = (world: FakeWorld, version: string) => () =>
  world.groups.get('web')?.launchTemplate?.version === version &&
  conditionOf(world, 'UpToDate')?.startsWith('True') === true;
const isMissed = (world: FakeWorld, reason: string) => () =>
  conditionOf(world, 'PrerequisitesMet')?.startsWith(`False ${reason}`) === true;

/** The user data in each version of the operator's template. */
function scripts({ cloud }: FakeWorld): (string | undefined)[] {
  const template = [...cloud.state.launchTemplates.values()].find(({ name }) => name === TEMPLATE_NAME);
  return (template?.versions ?? []).map(({ data: { UserData } }) => decoded(UserData));
}

/** What the newest instances of the group start with: EKS copies the template. */
function ofInstances({ cloud }: FakeWorld): string {
  const template = [...cloud.state.launchTemplates.values()].find(({ group }) => group === 'web');
  return decoded(template?.versions.at(-1)?.data.UserData) ?? '';
}

const decoded = (text: string | undefined) => text && Buffer.from(text, 'base64').toString();

async function scriptWorld(script: string, rest: Partial<NodeGroupSpec> = {}) {
  const world = new FakeWorld();
  world.scripts.set('windows', { [KEY]: script });
  world.apply(fresh(spec(rest)));
  const deps = world.start();
  await until(world, deps, isReady(world), 'a pool that is Ready');
  return { world, deps };
}

describe('a script that restarts the node', () => {
  it('is reported before, and is the first thing to check when EKS says that nodes did not join', async () => {
    const world = new FakeWorld();
    world.scripts.set('windows', { [KEY]: 'Start-Sleep -Seconds 1200\nRestart-Computer -Force' });
    world.apply(fresh(spec()));
    const deps = world.start();
    await wake(world, deps);
    assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^True MetWithWarnings/);
    const failed = () => conditionOf(world, 'NodeGroupReady')?.startsWith('False CreateFailed') === true;
    await until(world, deps, failed, 'the failure of EKS');
    const message = conditionOf(world, 'NodeGroupReady') ?? '';
    const order = [
      'NodeCreationFailure',
      'Likely cause: UserDataRestarts',
      `key ${KEY}`,
      '15 minutes',
      'EC2Launch',
      'AmazonEKSWorkerNodePolicy',
    ];
    const found = order.map((word) => message.indexOf(word));
    assert.deepEqual(
      found,
      [...found].sort((a, b) => a - b),
      message,
    );
    assert.ok(!found.includes(-1), message);
  });
});

/** All calls of this kind fail. */
const failing = (name: string) => (world: FakeWorld) => {
  world.fails = (call) => (call === name ? sampleError('denied') : undefined);
};

describe('the script of a pool', () => {
  it('is in its launch template, and runs before the bootstrap of EKS', async () => {
    const { world } = await scriptWorld('\uFEFFWrite-Host first\r\n');
    assert.deepEqual(scripts(world), [mergedUserData('Write-Host first')]);
    const lines = ofInstances(world).split('\n');
    assert.deepEqual(lines.slice(0, 5), mergedUserData('Write-Host first').split('\n').slice(0, 5));
    assert.match(lines.join('\n'), /Start-EKSBootstrap\.ps1/);
    assert.equal(conditionOf(world, 'UpToDate'), 'True MatchesSpec: Node group web matches the spec.');
  });

  it('prevents the creation of the group until it exists', async () => {
    const world = new FakeWorld();
    world.apply(fresh(spec()));
    const deps = world.start();
    await until(world, deps, isMissed(world, 'UserDataNotFound'), 'a missing ConfigMap');
    world.scripts.set('windows', { other: 'a' });
    retry(world, String(world.now));
    const names = () => conditionOf(world, 'PrerequisitesMet')?.includes('has no key user-data.ps1') === true;
    await until(world, deps, names, 'a missing key');
    world.scripts.set('windows', { [KEY]: '<persist>true</persist>' });
    retry(world, String(world.now));
    await until(world, deps, isMissed(world, 'UserDataInvalid'), 'a script that cannot be used');
    assert.deepEqual([world.groups.size, scripts(world)], [0, []]);
    world.scripts.set('windows', { [KEY]: 'a' });
    retry(world, String(world.now));
    await until(world, deps, isReady(world), 'a pool that is Ready');
  });

  it('prevents the creation of the group while it cannot be read', async () => {
    const world = new FakeWorld();
    world.scripts.set('windows', { [KEY]: 'first' });
    failing('get ConfigMap of user data')(world);
    world.apply(fresh(spec()));
    const deps = world.start();
    await hours(world, deps, 1);
    assertBrief(conditionOf(world, 'PrerequisitesMet'), 'Unknown AccessDenied', 'nodeGroup.userData');
    assert.equal(world.groups.size, 0);
    world.fails = () => undefined;
    await until(world, deps, isReady(world), 'a pool that is Ready');
  });

  it('is replaced in a rolling update when the spec names another key, also with policy Manual', async () => {
    const { world, deps } = await scriptWorld('first', { update: { ...MANUAL } });
    world.scripts.set('windows', { [KEY]: 'first', v2: 'second' });
    change(world, spec({ update: { ...MANUAL } }, 'v2'));
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    assert.match(ofInstances(world), /Create\('second'\)\n/);
  });

  it('that the spec names before it exists is a change of the spec when it does, also with policy Manual', async () => {
    const { world, deps } = await scriptWorld('first', { update: { ...MANUAL } });
    change(world, spec({ update: { ...MANUAL } }, 'v2'));
    await until(world, deps, isMissed(world, 'UserDataNotFound'), 'a missing key');
    await hours(world, deps, 1);
    assert.match(conditionOf(world, 'UpToDate') ?? '', /^False UserDataNotFound: .*userData differs/);
    world.scripts.set('windows', { [KEY]: 'first', v2: 'second' });
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    assert.match(ofInstances(world), /Create\('second'\)\n/);
  });

  it('that changes in the ConfigMap is reported with policy Manual, and followed with Automatic', async () => {
    const { world, deps } = await scriptWorld('first', { update: { ...MANUAL } });
    world.scripts.set('windows', { [KEY]: 'second' });
    retry(world, String(world.now));
    const isReported = () => conditionOf(world, 'UpToDate')?.startsWith('False UpdateAvailable') === true;
    await until(world, deps, isReported, 'a report of the other script');
    assertBrief(
      conditionOf(world, 'UpToDate'),
      'False UpdateAvailable',
      'web',
      'user-data.ps1',
      'windows',
      'nodeGroup.update.policy: Automatic',
      'nodeGroup.userData.key',
    );
    assert.deepEqual(scripts(world).length, 1);
    change(world, spec({ update: { ...MANUAL, policy: 'Automatic' } }));
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    assert.match(ofInstances(world), /Create\('second'\)\n/);
  });

  it('stays on the nodes while the ConfigMap is missing or cannot be read', async () => {
    const { world, deps } = await scriptWorld('first', { update: { ...MANUAL, policy: 'Automatic' } });
    world.scripts.delete('windows');
    retry(world, String(world.now));
    await until(world, deps, isMissed(world, 'UserDataNotFound'), 'a missing ConfigMap');
    assert.equal(conditionOf(world, 'Ready')?.startsWith('True'), true);
    world.scripts.set('windows', { [KEY]: 'first' });
    retry(world, String(world.now));
    await until(world, deps, hasVersion(world, '1'), 'the first version');
    world.fails = (call) => (call === 'get ConfigMap of user data' ? sampleError('denied') : undefined);
    retry(world, String(world.now));
    await wake(world, deps);
    assert.deepEqual([scripts(world).length, stateOf(world)?.launchTemplate?.version], [1, '1']);
  });

  const gaps: readonly (readonly [what: string, begin: (world: FakeWorld) => void])[] = [
    ['the ConfigMap is missing', ({ scripts: configMaps }) => configMaps.delete('windows')],
    ['the ConfigMap cannot be read', failing('get ConfigMap of user data')],
    ['the launch template cannot be read', failing('DescribeLaunchTemplates')],
  ];
  for (const [what, begin] of gaps) {
    it(`is not tried again after its update failed, also if ${what} in between`, async () => {
      const { world, deps } = await scriptWorld('first', { update: { ...MANUAL, policy: 'Automatic' } });
      world.cloud.faults.updateFailure({
        errors: [{ errorCode: 'NodeCreationFailure', errorMessage: 'They failed.' }],
      });
      world.scripts.set('windows', { [KEY]: 'second' });
      await until(world, deps, () => openFailure(stateOf(world)) !== undefined, 'the failure');
      begin(world);
      await hours(world, deps, 1);
      world.fails = () => undefined;
      world.scripts.set('windows', { [KEY]: 'second' });
      await hours(world, deps, 2);
      assert.deepEqual(updatesIn(world.calls), ['UpdateNodegroupVersion']);
      assert.match(conditionOf(world, 'UpToDate') ?? '', /^False UpdateFailed: /);
    });
  }

  it('is never in a message, an event or the status', async () => {
    const { world, deps } = await scriptWorld("$password = 'hunter22hunter22'", { update: { ...MANUAL } });
    const { pools, events } = world;
    change(world, spec({ update: { ...MANUAL, policy: 'Automatic' } }));
    world.scripts.set('windows', { [KEY]: "$password = 'hunter33hunter33'" });
    retry(world, String(world.now));
    await until(world, deps, hasVersion(world, '2'), 'the second version');
    assert.doesNotMatch(JSON.stringify([[...pools.values()], events]), /hunter/);
    assert.match(JSON.stringify(events), /userData changed/);
    assert.match(JSON.stringify(pools.get('web')?.status?.checks), /SecretInUserData.*line 1 \(a password\)/);
  });
});

const MANUAL: NodeGroupSpec['update'] = samplePool().spec.nodeGroup?.update ?? assert.fail('there is no node group');
