import assert from 'node:assert/strict';
import type { V1RuntimeClass } from '@kubernetes/client-node';
import type { Stored } from '../../controllers/kubernetes/objects.ts';
import { waitFor } from '../../hack/controlplane/wait.ts';
import { conditionOf, messageOf } from '../fakes/testenv/testEnv.ts';
import { assertNames } from '../messages.ts';
import { poolManifest } from '../pools.ts';
import { setSwitch, withOperator } from '../sharedWorld.ts';

/** Fast, but slow enough that an update lasts during the test. */
const [FAST, SLOW] = [4, 0.1];

describe('a deleted pool that retains its node group', () => {
  // Before the hook that waits until there is no RuntimeClass: a retained pool leaves the shared one behind, without an owner.
  after(() => fixture.world?.kubectl('delete', 'runtimeclass', 'windows-2022', '--ignore-not-found'));
  const fixture = withOperator('--resync-interval=1s');

  const groupIn = (name: string) => fixture.world.cloud.state.groups.get(name)?.nodegroup;
  const becomes = (name: string, type: string, state: string) =>
    fixture.world.waitForPool(name, `to have ${type}=${state}`, (pool) => conditionOf(pool, type) === state);
  /** Ready, and EKS has created the node group: a pool can be Ready before that. */
  const ready = async (name: string) => {
    await becomes(name, 'Ready', 'True/EnoughNodesVerified');
    await becomes(name, 'NodeGroupReady', 'True/Active');
  };
  const waitForMessage = (name: string, words: RegExp) =>
    fixture.world.waitForPool(name, `to say ${words}`, (pool) => words.test(messageOf(pool, 'NodeGroupReady')));
  const gone = (name: string) => fixture.world.waitForPool(name, 'to be gone', (pool) => pool === undefined);
  const leave = (name: string) => fixture.world.kubectl('delete', 'windowspool', name, '--wait=false');
  const retained = (name: string, spec: object = {}) =>
    poolManifest(name, { deletionPolicy: 'Retain', labels: { team: 'web' }, ...spec });
  const degrade = (group: string, isDegraded: boolean) =>
    fixture.world.cloud.faults.healthIssue({
      group,
      issues: isDegraded
        ? [{ code: 'AsgInstanceLaunchFailures', message: 'No capacity', resourceIds: ['eks-asg'] }]
        : [],
    });
  /** Asserts that the group has no settings of the operator, and deletes it. */
  function endUnmarked(name: string): void {
    const { labels, tags } = groupIn(name) ?? {};
    assert.deepEqual([labels, tags], [{ team: 'web' }, {}]);
    fixture.world.cloud.faults.consoleDelete({ group: name });
  }

  it('waits while EKS updates the group, and reports that', async () => {
    await fixture.world.apply(retained('busy'));
    await ready('busy');
    fixture.world.cloud.faults.speed({ speed: SLOW });
    try {
      await fixture.world.apply(retained('busy', { nodeGroup: { scaling: { maxSize: 4 } } }));
      await becomes('busy', 'NodeGroupReady', 'True/Updating');
      await leave('busy');
      await waitForMessage('busy', /\bNode group busy is retained\b.* UPDATING\b/);
      assert.equal(groupIn('busy')?.tags?.['winpool.dev/pool'], 'busy');
    } finally {
      fixture.world.cloud.faults.speed({ speed: FAST });
    }
    await gone('busy');
    assert.equal(groupIn('busy')?.scalingConfig?.maxSize, 4);
    endUnmarked('busy');
  });

  for (const answer of ['accept', 'reject'] as const) {
    it(`releases a DEGRADED one, if EKS would ${answer} an update of it`, async () => {
      const restore = setSwitch(fixture.world, 'updatesWhileDegraded', answer);
      const name = `degraded-${answer}`;
      try {
        await fixture.world.apply(retained(name));
        await ready(name);
        degrade(name, true);
        await becomes(name, 'NodeGroupReady', 'False/Degraded');
        fixture.world.cloud.resetCalls();
        await leave(name);
        if (answer === 'reject') {
          await becomes(name, 'NodeGroupReady', 'False/Retained');
          await fixture.world.waitForPool(name, 'to try twice', (pool) => pool !== undefined && updatesOf(name) >= 2);
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
    fixture.world.cloud
      .calls()
      .filter(({ operation, input }) => operation === 'UpdateNodegroupConfig' && JSON.stringify(input).includes(name))
      .length;

  async function notesOf(pool: string, reason: string): Promise<string[]> {
    const text = await fixture.world.kubectl('get', 'events.events.k8s.io', '-n', 'default', '-o', 'json');
    const items: { reason: string; note: string; regarding: { name: string } }[] = JSON.parse(text).items;
    return items.filter((event) => event.reason === reason && event.regarding.name === pool).map(({ note }) => note);
  }

  it('is deleted although a permission is missing, and an event names what remains', async () => {
    await fixture.world.apply(retained('marked'));
    await ready('marked');
    fixture.world.cloud.faults.removeAction({ action: 'eks:UntagResource' });
    try {
      await leave('marked');
      await gone('marked');
    } finally {
      fixture.world.cloud.faults.restoreAction();
    }
    assert.deepEqual(groupIn('marked')?.labels, { team: 'web' });
    assert.equal(groupIn('marked')?.tags?.['winpool.dev/pool'], 'marked');
    const note = await waitFor(async () => (await notesOf('marked', 'CleanupIncomplete'))[0], {
      what: 'the event',
      timeoutMs: 30_000,
    });
    assertNames(note, 'Node group marked', 'winpool.dev', 'eks:UntagResource');
    fixture.world.cloud.faults.consoleDelete({ group: 'marked' });
  });

  it('keeps the label that its own RuntimeClass selects', async () => {
    const spec = { runtimeClass: { name: 'own' } };
    await fixture.world.apply(retained('selected', spec));
    await ready('selected');
    await leave('selected');
    await gone('selected');
    assert.deepEqual(groupIn('selected')?.labels, { team: 'web', 'winpool.dev/pool': 'selected' });
    const own = await fixture.world.get<Stored<V1RuntimeClass>>('runtimeclass', 'own');
    assert.deepEqual(own?.metadata.ownerReferences ?? [], []);
    await fixture.world.kubectl('delete', 'runtimeclass', 'own');
    fixture.world.cloud.faults.consoleDelete({ group: 'selected' });
  });
});
