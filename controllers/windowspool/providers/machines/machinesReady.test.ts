import assert from 'node:assert/strict';
import type { Machine, MachineSet, MachinesView } from '../../ports/machines.ts';
import { reconcile } from '../../reconcile.ts';
import { MINUTE, NOW, sampleError } from '../../testing/fixtures.ts';
import { assertBrief } from '../../testing/goldenTexts.ts';
import { conditionOf, ready, wake } from '../../testing/life.ts';
import { machinesPool, machinesWorld } from '../../testing/machineScenes.ts';
import { annotate } from '../../testing/nodeLife.ts';
import { REPLACE } from '../../testing/nodeScenes.ts';

const OBJECT = 'MachineDeployment clusters/windows';
const withoutNode = { node: '', providerID: '' };

/** The condition after a change of the object, of the Machine c, or of what the cache knows. */
async function conditionAfter(change: {
  readonly set?: Partial<MachineSet>;
  readonly c?: Partial<Machine>;
  readonly unknown?: MachinesView;
}) {
  const { world, deps } = await machinesWorld();
  const { machines } = world;
  machines.set = { ...(machines.set ?? assert.fail('no object')), ...change.set };
  machines.machines = machines.machines.map((one) => (one.name === 'c' ? { ...one, ...change.c } : one));
  if (change.unknown?.kind === 'unknown') machines.unknown = change.unknown;
  if (change.unknown?.kind === 'absent') machines.set = undefined;
  await wake(world, deps);
  return { condition: conditionOf(world, 'MachinesReady') ?? '', ready: ready(world) };
}

describe('PrerequisitesMet of a pool of machines', () => {
  it('is not met while the Machines may not be read', async () => {
    const { world, deps } = await machinesWorld();
    const error = sampleError('denied', { operation: 'watch machines', message: 'machines is forbidden' });
    world.machines.unknown = { kind: 'unknown', error };
    await wake(world, deps);
    const condition = conditionOf(world, 'PrerequisitesMet') ?? '';
    assert.match(condition, /^False AccessDenied: .*watch machines: machines is forbidden.*config\/machines/);
  });

  it('names the role that has the missing permission', async () => {
    const { world, deps } = await machinesWorld();
    world.fails = (call) => (call === 'cordon node' ? sampleError('denied', { message: 'no' }) : undefined);
    annotate(world, 'a', REPLACE);
    await wake(world, deps);
    assert.match(conditionOf(world, 'PrerequisitesMet') ?? '', /^False AccessDenied: .*config\/rbac/);
  });
});

describe('NodesVerified of a pool of machines', () => {
  it('names nodes that do not count although the Machines have them', async () => {
    const { world, deps } = await machinesWorld();
    world.machines.machines = world.machines.machines.map((one) => ({ ...one, providerID: `other://${one.name}` }));
    await wake(world, deps);
    await wake(world, deps);
    assertBrief(
      conditionOf(world, 'NodesVerified') ?? '',
      'False NodesMissing',
      '0 of 3 nodes',
      'a, b and c',
      'kubernetes.io/os=windows',
      'other://a',
      'kubectl describe node a',
    );
  });

  it('reports another pool that has the nodes, with a remedy that both pools allow', async () => {
    const { world, deps } = await machinesWorld();
    world.apply({ ...machinesPool(), metadata: { ...machinesPool().metadata, name: 'other', uid: 'uid-other' } });
    await reconcile('other', deps, new AbortController().signal);
    const other = world.pools.get('other')?.status?.conditions ?? [];
    const message = other.find(({ type }) => type === 'MachinesReady')?.message ?? '';
    assert.match(message, /^Node a matches machines\.ref, but belongs to WindowsPool web\..* Delete one of the pools/);
  });
});

describe('MachinesReady', () => {
  const denied = sampleError('denied', { operation: 'watch machines', message: 'machines is forbidden' });
  const gone = sampleError('gone', { message: 'the server could not find the requested resource' });
  const rows: readonly (readonly [
    what: string,
    change: Parameters<typeof conditionAfter>[0],
    ready: string,
    ...words: [string, ...string[]],
  ])[] = [
    ['all Machines have nodes', {}, 'True', 'True MachinesReady', OBJECT, '3 Machines'],
    ['the object does not exist', { unknown: { kind: 'absent' } }, 'False', 'False MachineSetMissing', OBJECT],
    [
      'the API is not served',
      { unknown: { kind: 'unknown', error: gone } },
      'True',
      'False MachineAPIMissing',
      'v1beta2',
    ],
    [
      'it may not be read',
      { unknown: { kind: 'unknown', error: denied } },
      'True',
      'Unknown AccessDenied',
      'config/machines',
    ],
    ['it was not read yet', { unknown: { kind: 'unknown' } }, 'True', 'Unknown MachinesUnknown', OBJECT],
    ['it is being deleted', { set: { deleting: true } }, 'True', 'False MachineSetDeleting', OBJECT],
    ['it is paused', { set: { pausedBy: 'spec.paused is true' } }, 'True', 'False MachineSetPaused', 'spec.paused'],
    ['it rolls out', { set: { isRollingOut: true, outdated: 2 } }, 'True', 'False MachinesRollingOut', '2 Machines'],
    ['only users replace outdated Machines', { set: { outdated: 1 } }, 'True', 'True MachinesReady', '1 Machine is'],
    ['it grows', { set: { replicas: 5 } }, 'True', 'False MachinesScaling', '3 of 5'],
    [
      'Machines cannot be created',
      { set: { replicas: 5, problem: 'no template' } },
      'True',
      'False MachinesMissing',
      'no template',
    ],
    ['a Machine starts', { c: { ...withoutNode, createdAt: NOW } }, 'True', 'False MachinesScaling', '1 of them'],
    [
      'a Machine has had no node for long',
      { c: { ...withoutNode, createdAt: NOW - 30 * MINUTE, problem: 'no capacity in zone a' } },
      'True',
      'False MachinesWithoutNode',
      'no capacity in zone a',
      'kubectl -n clusters describe machines.cluster.x-k8s.io c',
    ],
    [
      'a Machine failed',
      { c: { hasFailed: true, problem: 'InvalidConfiguration' } },
      'True',
      'False MachineFailed',
      'InvalidConfiguration',
    ],
  ];
  for (const [what, change, isReady, ...words] of rows)
    it(`says that ${what}`, async () => {
      const found = await conditionAfter(change);
      assertBrief(found.condition, ...words);
      assert.equal(found.ready, isReady);
    });

  it('names the command that allows a change of the size', async () => {
    const { world } = await machinesWorld({ machines: { desiredSize: 5 } }, { usableBy: '' });
    assertBrief(
      conditionOf(world, 'MachinesReady') ?? '',
      'False MachineSetNotUsable',
      'kubectl -n clusters annotate machinedeployment.cluster.x-k8s.io windows winpool.dev/usable-by=web',
    );
    assert.deepEqual(world.machines.changes, []);
  });
});
