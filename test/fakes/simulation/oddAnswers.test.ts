import assert from 'node:assert/strict';
import { REPLACE_ANNOTATION } from '../../../controllers/windowspool/api/labels.ts';
import type { NodeGroupPool } from '../../../controllers/windowspool/testing/fixtures.ts';
import { type Action, action, type Edit, group, top } from './action.ts';
import { newPool } from './actions.ts';
import { complaintsOf } from './complaints.ts';
import { Life } from './life.ts';
import type { LocalAwsWorld } from './localAwsWorld.ts';
import { ODD_ANSWER_NAMES, type OddAnswerName } from './oddAnswers.ts';

const MINUTE = 60_000;

/** One in this many reads gets an odd answer; with MODEL_RUNS, each does. */
const STRIDE = process.env.MODEL_RUNS === undefined ? 97 : 1;

/** How long a path takes at most, drains among it. */
const PATH_MS = 40 * MINUTE;

const settled = (what: string, run?: (world: LocalAwsWorld) => void): Action =>
  action(what, { passes: 30 * MINUTE, ...(run && { run }) });

const edit = (what: string, ...edits: readonly Edit[]): Action =>
  settled(what, (world) => {
    const pool = world.pools.get('web') as NodeGroupPool;
    world.apply({ ...pool, spec: edits.reduce((spec, change) => change(spec), pool.spec) });
  });

const TRIED = { policy: 'Automatic', force: false, canary: { nodes: 1, soakDuration: '5m' } } as const;
const three = edit('three nodes', group({ scaling: { minSize: 1, maxSize: 4, desiredSize: 3 } }));

/** What a pool of two nodes goes through, and what precedes it without odd answers. */
const PATHS: Readonly<Record<string, { readonly before?: readonly Action[]; readonly path: Action }>> = {
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

type Plan = { readonly name: OddAnswerName; readonly read: number };

/** Lives the path with one odd answer, and returns what is wrong in the end. */
async function live({ before = [], path }: (typeof PATHS)[string], plan?: Plan): Promise<Life> {
  const life = new Life();
  const begin = action('odd answers', { run: ({ oddAnswers }) => oddAnswers.begin(plan) });
  const end = action('true answers', { run: ({ oddAnswers }) => oddAnswers.end() });
  await life.live([settled('the pool'), ...before, begin, path, action('time', { passes: PATH_MS }), end]);
  return life;
}

describe('one odd answer of AWS', () => {
  let lives = 0;
  let turn = 0;

  for (const [what, path] of Object.entries(PATHS)) {
    it(`loses, doubles and orphans nothing at any read during ${what}`, async function () {
      this.timeout(STRIDE === 1 ? 0 : 120_000);
      const { reads } = (await live(path)).world.oddAnswers;
      const wrong: string[] = [];
      for (const name of ODD_ANSWER_NAMES) {
        for (let read = 0; read < (reads.get(name) ?? 0); read++) {
          if (turn++ % STRIDE !== 0) continue;
          lives += 1;
          const life = await live(path, { name, read });
          await life.settle();
          const complaints = complaintsOf(life.world);
          if (complaints.length > 0) wrong.push(`${name}, at read ${read}: ${complaints.join('; ')}`);
        }
      }
      assert.deepEqual(wrong, []);
    });
  }

  after(() => {
    if (STRIDE === 1) console.log(`${lives} lives with one odd answer each`);
  });
});
