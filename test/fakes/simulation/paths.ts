/** What a pool goes through while something goes wrong: one odd answer of AWS, or a backup that is restored. */
import assert from 'node:assert/strict';
import { REPLACE_ANNOTATION } from '../../../controllers/windowspool/api/labels.ts';
import type { NodeGroupPool } from '../../../controllers/windowspool/testing/fixtures.ts';
import { type Action, action, type Edit, group, top } from './action.ts';
import { newPool } from './actions.ts';
import type { LocalAwsWorld } from './localAwsWorld.ts';

const MINUTE = 60_000;

/** An action after which nothing else happens until everything that it causes is done. */
export const settled = (what: string, run?: (world: LocalAwsWorld) => void): Action =>
  action(what, { passes: 30 * MINUTE, ...(run && { run }) });

const edit = (what: string, ...edits: readonly Edit[]): Action =>
  settled(what, (world) => {
    const pool = world.pools.get('web') as NodeGroupPool;
    const spec = edits.reduce((before, change) => change(before), pool.spec);
    world.apply({ ...pool, spec });
    if (spec.deletionPolicy === 'Retain') world.retained.add('web');
  });

const TRIED = { policy: 'Automatic', force: false, canary: { nodes: 1, soakDuration: '5m' } } as const;
const three = edit('three nodes', group({ scaling: { minSize: 1, maxSize: 4, desiredSize: 3 } }));

/** A change of a pool, and what precedes it. */
export interface Path {
  readonly before?: readonly Action[];
  readonly path: Action;
}

/** What a pool of two nodes goes through, and what precedes it. */
export const PATHS: Readonly<Record<string, Path>> = {
  'the creation': { path: settled('another pool', (world) => world.apply(newPool('db'))) },
  'another size': { path: three },
  'another label': { path: edit('a label', top({ labels: { team: 'a' } })) },
  'a label less': {
    before: [edit('a label', top({ labels: { team: 'a' } }))],
    path: edit('no label', top({ labels: {} })),
  },
  'another taint': { path: edit('a taint', top({ taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] })) },
  'another tag': { path: edit('a tag', group({ tags: { cost: '1' } })) },
  'an update': { before: [three], path: edit('a release', group({ releaseVersion: '1.35-2026.04.18' })) },
  'a canary': {
    before: [three, edit('automatic updates', group({ update: TRIED }))],
    path: settled('a release', ({ cloud }) => cloud.faults.release({ date: '2026.05.12' })),
  },
  'a replacement': {
    before: [three, edit('replacements', group({ immutableChangePolicy: 'Replace' }))],
    path: edit('other instances', group({ instanceTypes: ['m5.xlarge'] })),
  },
  'an adoption': {
    before: [
      edit('adoption', group({ adoption: 'IfUnowned' })),
      settled('a group loses its tags', ({ cloud }) =>
        cloud.faults.edit({ group: 'web', tags: { 'winpool.dev/adoptable-by': 'web' } }),
      ),
    ],
    path: settled('nothing'),
  },
  'a deletion': { before: [three], path: settled('delete', (world) => world.remove('web')) },
  'a deletion that retains the group': {
    before: [three, edit('retain', top({ deletionPolicy: 'Retain' }))],
    path: settled('delete', (world) => world.remove('web')),
  },
  'a drain': {
    before: [three],
    path: settled('replace a node', (world) => {
      const [node] = world.nodesOf('web');
      assert.ok(node);
      world.setNode({ ...node, annotations: { [REPLACE_ANNOTATION]: 'true' } });
    }),
  },
};
