import assert from 'node:assert/strict';
import { evaluateConditions } from '../../../conditions/evaluateConditions.ts';
import { planFor } from '../../../plan.ts';
import { statusFor } from '../../../reporting/poolStatus.ts';
import { CANARY_NODES, canaryScene, ENDED, MAIN_NODES, trying } from '../../../testing/canaryScenes.ts';
import { derive } from '../../../testing/derived.ts';
import { MINUTE, NOW, outcomeOf } from '../../../testing/fixtures.ts';
import {
  CORDONED_NODES,
  HASHED,
  NEW_NODES,
  OLD,
  OLD_NODES,
  PLAIN,
  replacementScene,
  replacing,
  SHRUNK,
  THIRD,
} from '../../../testing/replacementScenes.ts';
import { gone } from '../../../testing/sights.ts';
import { stepInWords } from '../../../testing/stepInWords.ts';
import type { EksDerived } from '../model/groupDue.ts';
import { isDrainPhase, PHASES, type Phase, type ReplacementPhase } from './phases.ts';
import { servingView } from './secondGroup.ts';

/** Whether the second group has served the pool, whether the main one had before the drain, and whether the nodes of the second one leave. */
type Combination = `${'served' | 'new'} ${'served' | 'new'} ${'stays' | 'leaves'}`;

const NEVER =
  'impossible: when a replacement begins, or its record is restored, a group has served, and none forgets that';

/** All combinations of these three facts. */
const COMBINATIONS: Readonly<Record<Combination, readonly ReplacementPhase[] | typeof NEVER>> = {
  'served new stays': ['Creating', 'Verifying'],
  'served served stays': ['Returning'],
  'new served stays': ['Cancelling'],
  'new new stays': NEVER,
  // The main group serves as soon as the nodes of the second one leave: whether it had served before makes no difference.
  'served new leaves': ['Draining'],
  'served served leaves': ['Draining'],
  'new served leaves': ['Discarding'],
  'new new leaves': NEVER,
};

const phases = Object.keys(PHASES) as ReplacementPhase[];

describe('the phase of a replacement', () => {
  it('is one for each combination of what has served the pool and whether nodes leave', () => {
    for (const [combination, found] of Object.entries(COMBINATIONS)) {
      const [second, main, move] = combination.split(' ');
      const isLeaving = move === 'leaves';
      const served = second === 'new' ? 'main' : main === 'new' && !isLeaving ? 'second' : 'both';
      const matching = phases.filter((phase) => PHASES[phase].served === served && isDrainPhase(phase) === isLeaving);
      assert.deepEqual(found === NEVER ? [] : found, second === 'new' && main === 'new' ? [] : matching, combination);
    }
  });

  it('remembers when the main group takes over that it has served', () => {
    for (const phase of phases) {
      const { served, whenReady } = PHASES[phase];
      assert.equal(PHASES[whenReady].served, served === 'second' ? 'both' : served, phase);
      assert.deepEqual([isDrainPhase(whenReady), PHASES[whenReady].serving], [true, 'main'], phase);
    }
  });

  it('remembers what has served the pool when the groups change roles', () => {
    const exchanged = { main: 'second', second: 'main', both: 'both' } as const;
    for (const phase of phases) {
      const { served, whenReverted } = PHASES[phase];
      assert.deepEqual([PHASES[whenReverted].served, isDrainPhase(whenReverted)], [exchanged[served], false], phase);
    }
  });

  it('is reached from the first one', () => {
    const reached = new Set<ReplacementPhase>(['Creating', 'Verifying']);
    for (const phase of reached) reached.add(PHASES[phase].whenReady).add(PHASES[phase].whenReverted);
    assert.deepEqual([...reached].sort(), [...phases].sort());
  });
});

/** The kind and the subject of the first step, and the phase that it records before anything in AWS changes. */
function planned(s: EksDerived): string {
  const [first] = planFor(s).steps;
  if (!first) return '';
  const second = 'ahead' in first ? first.ahead.second : undefined;
  const phase = (second?.replacement ?? second?.canary)?.phase;
  return [stepInWords(first).split(' ', 2).join(' '), ...(phase ? [phase] : [])].join(' -> ');
}

/** The phase in status after the run. */
function shown(s: EksDerived): Phase | undefined {
  const { nodeGroup } = statusFor(outcomeOf(s), evaluateConditions(outcomeOf(s)), []);
  assert.ok(!nodeGroup?.replacement || !nodeGroup.canary);
  return (nodeGroup?.replacement ?? nodeGroup?.canary)?.phase;
}

/** The pool without its status. Its first group is the main one again. */
function lost({ second, group, pool, ...rest }: EksDerived, isFirstMain: boolean): EksDerived {
  const views = isFirstMain || !second ? { group, ...(second && { second }) } : { group: second, second: group };
  return derive({ ...rest, ...views, pool: { ...pool, status: { tracking: {} } } });
}

/** What happens in each situation: the first step, with the phase that it records; or nothing. */
interface Outcomes {
  /** The group that serves the pool. */
  readonly serves: string;
  /** The main group lacks verified nodes. */
  readonly waiting: string;
  /** The main group can take over. */
  readonly ready: string;
  /** The spec describes the second group again. */
  readonly reverted: string;
  /** The spec describes neither group. */
  readonly third: string;
  /** The main group does not exist. */
  readonly mainAbsent: string;
  /** The status was lost. */
  readonly lost: string;
}

const RECALL = `switchNodeGroup ${HASHED} -> Returning`;
const AT_FIRST: Outcomes = {
  serves: PLAIN,
  waiting: '',
  ready: 'beginDraining web -> Draining',
  reverted: 'switchNodeGroup web -> Cancelling',
  third: `deleteNodeGroup ${HASHED}`,
  mainAbsent: `record ${HASHED}`,
  lost: RECALL,
};
const RETURNING: Outcomes = { ...AT_FIRST, reverted: 'switchNodeGroup web -> Returning', third: '' };
const CANCELLING: Outcomes = {
  ...AT_FIRST,
  serves: HASHED,
  ready: 'beginDraining web -> Discarding',
  reverted: 'switchNodeGroup web -> Verifying',
  third: '',
};

/** In these scenes, the second group is `web`. */
const OF_REPLACEMENT: Readonly<Record<ReplacementPhase, Outcomes>> = {
  Creating: AT_FIRST,
  Verifying: AT_FIRST,
  Returning: RETURNING,
  Draining: { ...RETURNING, serves: HASHED, ready: 'cordonNode a' },
  Cancelling: CANCELLING,
  Discarding: { ...CANCELLING, ready: 'cordonNode a' },
};

describe('a replacement', () => {
  for (const phase of phases) {
    const want = OF_REPLACEMENT[phase];
    const scene = (change: Parameters<typeof replacementScene>[0]) =>
      replacementScene({ old: isDrainPhase(phase) ? SHRUNK : {}, ...change, record: { phase, ...change?.record } });
    const few = [...(isDrainPhase(phase) ? CORDONED_NODES : OLD_NODES), ...NEW_NODES.slice(1)];

    it(`goes on from ${phase}, whatever happens`, () => {
      const found: Outcomes = {
        serves: nameOf(servingView(scene({}))),
        waiting: planned(scene({ nodes: few })),
        ready: planned(scene({})),
        reverted: planned(scene({ spec: replacing(OLD), nodes: few })),
        third: planned(scene({ spec: replacing(THIRD), nodes: few })),
        mainAbsent: planned(scene({ main: 'absent', nodes: OLD_NODES })),
        lost: planned(lost(scene({}), false)),
      };
      assert.deepEqual(found, want);
    });

    it(`stays in ${phase} while the second group is absent, and ends when that has lasted`, () => {
      const absent = (ms: number) =>
        shown(scene({ old: gone(), nodes: NEW_NODES, record: { absenceStartTime: new Date(NOW - ms).toISOString() } }));
      assert.deepEqual([absent(MINUTE), absent(10 * MINUTE)], [phase === 'Creating' ? 'Verifying' : phase, undefined]);
      assert.equal(planned(scene({ old: gone(), nodes: NEW_NODES })), '');
    });
  }

  it('is Creating until the main group is created, and then Verifying', () => {
    const scene = (phase: Phase, main: object | 'absent') =>
      shown(replacementScene({ record: { phase }, main: main as never }));
    for (const phase of ['Creating', 'Verifying'] as const)
      assert.deepEqual(
        [scene(phase, 'absent'), scene(phase, { status: 'CREATING' }), scene(phase, {})],
        ['Creating', 'Creating', 'Verifying'],
      );
  });

  it('continues a lost record with the group that the spec describes', () => {
    assert.equal(planned(lost(replacementScene(), true)), RECALL);
    assert.equal(planned(lost(replacementScene({ spec: replacing(OLD) }), false)), 'switchNodeGroup web -> Returning');
  });
});

function nameOf(view: EksDerived['group']): string {
  return view.kind === 'seen' ? view.group.name : '';
}

/** The steps of a canary by its phase: while its update is due, when the spec is reverted, and when its record is lost. */
const OF_CANARY: Readonly<Record<'Creating' | 'Verifying' | 'Soaking' | 'Draining', readonly string[]>> = {
  Creating: ['', `endCanary ${HASHED} -> Draining`, `beginCanary ${HASHED} -> Creating`],
  Verifying: ['', `endCanary ${HASHED} -> Draining`, `beginCanary ${HASHED} -> Creating`],
  Soaking: ['', `endCanary ${HASHED} -> Draining`, `beginCanary ${HASHED} -> Creating`],
  Draining: ['cordonNode x', 'cordonNode x', `beginCanary ${HASHED} -> Creating`],
};

describe('a canary', () => {
  for (const [phase, want] of Object.entries(OF_CANARY))
    it(`goes on from ${phase}, whatever happens, and never serves the pool`, () => {
      const scene = (change: Parameters<typeof canaryScene>[0]) =>
        canaryScene({
          ...change,
          record: { ...ENDED, phase: phase as Phase },
          ...(phase === 'Draining' && { canary: SHRUNK }),
        });
      assert.equal(nameOf(servingView(scene({}))), PLAIN);
      const reverted = trying(undefined, { releaseVersion: undefined } as never);
      assert.deepEqual([planned(scene({})), planned(scene({ spec: reverted })), planned(lost(scene({}), true))], want);
    });

  const rows: readonly (readonly [Phase, Parameters<typeof canaryScene>[0]])[] = [
    ['Creating', { canary: { kind: 'absent' }, nodes: MAIN_NODES }],
    ['Creating', { canary: { status: 'CREATING' }, nodes: MAIN_NODES }],
    ['Verifying', { nodes: [...MAIN_NODES, ...CANARY_NODES.slice(1)] }],
    ['Soaking', {}],
  ];
  for (const [phase, scene] of rows)
    it(`is ${phase} as its group and its nodes are observed, until it ends`, () => {
      for (const before of ['Creating', 'Verifying', 'Soaking'] as const)
        assert.equal(shown(canaryScene({ ...scene, record: { phase: before } })), phase);
      assert.equal(shown(canaryScene({ ...scene, record: ENDED })), 'Draining');
    });
});
