import assert from 'node:assert/strict';
import type { V1RuntimeClass } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf, messageOf } from '../../hack/testenv/testEnv.ts';
import { poolManifest } from '../pools.ts';
import { setSwitch, withOperator } from '../sharedWorld.ts';

/** As fast as in all suites, but slow enough that an update lasts while the test works. */
const [FAST, SLOW] = [4, 0.1];

describe('a pool that leaves its node group', () => {
  const stage = withOperator('--resync-interval=1s');

  const groupIn = (name: string) => stage.world.cloud.state.groups.get(name)?.nodegroup;
  const becomes = (name: string, type: string, state: string) =>
    stage.world.waitForPool(name, `to have ${type}=${state}`, (pool) => conditionOf(pool, type) === state);
  const says = (name: string, words: RegExp) =>
    stage.world.waitForPool(name, `to say ${words}`, (pool) => words.test(messageOf(pool, 'NodeGroupReady')));
  const gone = (name: string) => stage.world.waitForPool(name, 'to be gone', (pool) => pool === undefined);
  const leave = (name: string) => stage.world.kubectl('delete', 'windowspool', name, '--wait=false');
  /** The RuntimeClass would stay behind, without an owner. */
  const retained = (name: string, spec: object = {}) =>
    poolManifest(name, { deletionPolicy: 'Retain', runtimeClass: { manage: false }, labels: { team: 'web' }, ...spec });
  const degrade = (group: string, isSo: boolean) =>
    stage.world.cloud.faults.healthIssue({
      group,
      issues: isSo ? [{ code: 'AsgInstanceLaunchFailures', message: 'No capacity', resourceIds: ['eks-asg'] }] : [],
    });
  /** Nothing of the operator is on the group, and it goes. */
  function endUnmarked(name: string): void {
    const { labels, tags } = groupIn(name) ?? {};
    assert.deepEqual([labels, tags], [{ team: 'web' }, {}]);
    stage.world.cloud.faults.consoleDelete({ group: name });
  }

  it('waits while EKS updates the group, and says so', async () => {
    await stage.world.apply(retained('busy'));
    await becomes('busy', 'Ready', 'True/Verified');
    stage.world.cloud.faults.speed({ speed: SLOW });
    try {
      await stage.world.apply(retained('busy', { scaling: { max: 4 } }));
      await becomes('busy', 'NodeGroupReady', 'True/Updating');
      await leave('busy');
      await says('busy', /^Node group busy stays\. The labels and tags .* when it is no longer UPDATING\.$/);
      assert.equal(groupIn('busy')?.tags?.['winpool.dev/pool'], 'busy');
    } finally {
      stage.world.cloud.faults.speed({ speed: FAST });
    }
    await gone('busy');
    assert.equal(groupIn('busy')?.scalingConfig?.maxSize, 4);
    endUnmarked('busy');
  });

  for (const answer of ['accept', 'reject'] as const) {
    it(`leaves a DEGRADED one, where EKS would ${answer} an update of it`, async () => {
      const restore = setSwitch(stage.world, 'updatesWhileDegraded', answer);
      const name = `degraded-${answer}`;
      try {
        await stage.world.apply(retained(name));
        await becomes(name, 'Ready', 'True/Verified');
        degrade(name, true);
        await becomes(name, 'NodeGroupReady', 'False/Degraded');
        stage.world.cloud.resetCalls();
        await leave(name);
        if (answer === 'reject') {
          await becomes(name, 'NodeGroupReady', 'False/Retained');
          await stage.world.waitForPool(name, 'to try twice', (pool) => pool !== undefined && updatesOf(name) >= 2);
          degrade(name, false);
        }
        await gone(name);
        endUnmarked(name);
      } finally {
        restore();
      }
    });
  }

  const updatesOf = (name: string) =>
    stage.world.cloud
      .calls()
      .filter(({ operation, input }) => operation === 'UpdateNodegroupConfig' && JSON.stringify(input).includes(name))
      .length;

  async function notesOf(pool: string, reason: string): Promise<string[]> {
    const text = await stage.world.kubectl('get', 'events.events.k8s.io', '-n', 'default', '-o', 'json');
    const items: { reason: string; note: string; regarding: { name: string } }[] = JSON.parse(text).items;
    return items.filter((event) => event.reason === reason && event.regarding.name === pool).map(({ note }) => note);
  }

  it('goes although a right is missing, and an event names what is left', async () => {
    await stage.world.apply(retained('marked'));
    await becomes('marked', 'Ready', 'True/Verified');
    stage.world.cloud.faults.removeAction({ action: 'eks:UntagResource' });
    try {
      await leave('marked');
      await gone('marked');
    } finally {
      stage.world.cloud.faults.restoreAction();
    }
    assert.deepEqual(groupIn('marked')?.labels, { team: 'web' });
    assert.equal(groupIn('marked')?.tags?.['winpool.dev/pool'], 'marked');
    const note = await waitFor(async () => (await notesOf('marked', 'MarksLeft'))[0], {
      what: 'the event',
      timeoutMs: 30_000,
    });
    assert.match(note, /^Node group marked keeps its winpool\.dev tags: .*eks:UntagResource.* Remove them yourself\.$/);
    stage.world.cloud.faults.consoleDelete({ group: 'marked' });
  });

  it('keeps the label that a RuntimeClass of its own selects', async () => {
    const spec = { runtimeClass: { scope: 'Pool', name: 'own' } };
    await stage.world.apply(retained('selected', spec));
    await becomes('selected', 'Ready', 'True/Verified');
    await leave('selected');
    await gone('selected');
    assert.deepEqual(groupIn('selected')?.labels, { team: 'web', 'winpool.dev/pool': 'selected' });
    const own = await stage.world.get<Stored<V1RuntimeClass>>('runtimeclass', 'own');
    assert.deepEqual(own?.metadata.ownerReferences ?? [], []);
    await stage.world.kubectl('delete', 'runtimeclass', 'own');
    stage.world.cloud.faults.consoleDelete({ group: 'selected' });
  });
});
