import assert from 'node:assert/strict';
import fc from 'fast-check';
import { VERIFIED_CONDITION } from './api/labels.ts';
import type { Reason } from './api/reasons.ts';
import { evaluateConditions } from './conditions/evaluateConditions.ts';
import type { ConditionState } from './model/conditions.ts';
import type { Step } from './model/steps.ts';
import { chainsFor, heldUntilRead, type Plan, planFor } from './plan.ts';
import { existingNodesChains } from './providers/existing/existingChains.ts';
import { deletionChains, poolChains } from './providers/nodeGroup/groupChains.ts';
import type { EksDerived } from './providers/nodeGroup/model/groupDue.ts';
import type { EksState } from './providers/nodeGroup/model/groupState.ts';
import { pendingIn, shownIn } from './rules/heldSteps.ts';
import { spread } from './rules/retryIntervals.ts';
import { decide, type RuleChain, stepsOf } from './rules/ruleChains.ts';
import { nextRun, untilNextRead } from './schedule.ts';
import { describeStep, needsFreshRead } from './steps/stepKinds.ts';
import { knownStatus, MINUTE, outcomeOf, sampleGroup, samplePool, sampleState } from './testing/fixtures.ts';
import { goldenTexts, once } from './testing/goldenTexts.ts';
import { pausedCases } from './testing/planCases/paused.ts';
import type { PlanCase } from './testing/planCases/planCase.ts';
import { tables } from './testing/planCases/tables.ts';
import { randomObservedState } from './testing/randomObservedState.ts';
import { runs } from './testing/runs.ts';
import { stepInWords } from './testing/stepInWords.ts';

const golden = goldenTexts('steps');

/** The steps without conditions of nodes. */
function stepsInWords(steps: readonly Step[]): string[] {
  return steps.filter(({ kind }) => kind !== 'setNodeCondition').map(stepInWords);
}

function conditionsInWords(steps: readonly Step[]): string[] {
  return steps.flatMap((step) => {
    if (step.kind !== 'setNodeCondition') return [];
    const { node, report } = step;
    const condition = report[VERIFIED_CONDITION];
    return [`${node.name}: ${condition ? `${condition.status} ${condition.reason}` : 'nothing'}`];
  });
}

/** What users read about the steps of a plan; those that are held with the reason. */
function descriptionsIn({ steps, held }: Plan): string[] {
  const describe = (step: Step) => (step.kind === 'setNodeCondition' ? undefined : describeStep(step));
  const pending = pendingIn(held, describe).map(({ description, reason }) => `${reason}: ${description}`);
  return [...steps.flatMap((step) => describe(step) ?? []), ...pending];
}

const shownSteps = ({ held }: Plan) => shownIn(held).map(({ step }) => step);

/** Conditions that only describe what is observed: it holds up no rule, or several. */
const OBSERVED: readonly string[] = ['NodesVerified', 'PrerequisitesMet'];

/** Why AWS cannot be read. The condition names what waits for that, and its message has the error. */
const UNREAD: readonly Reason[] = ['AccessDenied', 'AWSUnavailable'];

const SPREAD_OF = 1_000_000;

/** See `Until`. */
function untilNextRun(s: EksDerived): string {
  const next = nextRun(outcomeOf(s), untilNextRead(s, 0));
  if (next.kind !== 'requeueAfter') return next.kind === 'requeue' ? 'backoff' : next.kind;
  const isSpread = next.ms % 100 !== 0;
  const ms = isSpread ? Math.round((next.ms * SPREAD_OF) / spread(s, SPREAD_OF) / 100) * 100 : next.ms;
  if (ms % MINUTE === 0) return `${ms / MINUTE}m`;
  return ms < 1_000 ? `${ms}ms` : `${ms / 1_000}s`;
}

/** Whether a row without steps says the same as the conditions of the pool and its schedule. */
function assertWaits({ observed, waits, rests }: PlanCase): void {
  assert.ok(!waits !== !rests, 'a row without steps either waits or rests');
  assert.equal(untilNextRun(observed), (waits ?? rests)?.until, 'the time to the next run');
  const conditions = Object.entries<ConditionState | undefined>({ ...evaluateConditions(outcomeOf(observed)) });
  const reasons = conditions.flatMap(([type, condition]) => (condition ? [`${type} ${condition.reason}`] : []));
  if (waits) assert.ok(reasons.includes(waits.because), `${waits.because} is not in ${reasons.join(', ')}`);
}

describe('the plan', () => {
  for (const [title, cases] of Object.entries(tables)) {
    describe(title, () => {
      for (const row of cases) {
        const { name, observed, want, later = [], nodeConditions } = row;
        const planned = once(() => planFor(observed));
        const test = it(name, () => {
          const { steps } = planned();
          assert.deepEqual(
            { steps: stepsInWords(steps), pending: stepsInWords(shownSteps(planned())) },
            { steps: want, pending: later },
          );
          if (nodeConditions) assert.deepEqual(conditionsInWords(steps), nodeConditions);
          if (want.length === 0 && !nodeConditions) assertWaits(row);
        });
        golden(test, () => descriptionsIn(planned()));
      }
    });
  }

  describe('takes no step while the pool is paused, and shows the pending steps', () => {
    for (const { name, observed, want } of pausedCases) {
      const planned = once(() => planFor(observed));
      const test = it(name, () => {
        const { steps } = planned();
        const pending = shownSteps(planned()).map(stepInWords);
        assert.deepEqual(
          { steps, pending: pending.filter((step) => !step.startsWith('record ')) },
          { steps: [], pending: want.filter((step) => !step.startsWith('record ')) },
        );
      });
      golden(test, () => descriptionsIn(planned()));
    }
  });

  /** Fails unless each decided step is taken or held, once. */
  const assertNothingDropped = (plan: Plan) => {
    const found = [...plan.steps, ...plan.held.map(({ step }) => step)];
    const decided = plan.decisions.flatMap(({ steps }) => steps);
    assert.deepEqual(decided.filter((step) => found.filter((each) => each === step).length !== 1).map(stepInWords), []);
    assert.ok(plan.steps.every((step) => decided.includes(step)));
  };

  it('takes or holds each step that the chains decide, on a fresh read and on cached state', () => {
    for (const { observed } of [...Object.values(tables).flat(), ...pausedCases]) {
      const plan = planFor(observed);
      for (const each of [plan, heldUntilRead(plan)]) assertNothingDropped(each);
    }
    fc.assert(
      fc.property(randomObservedState, (s) => {
        const plan = planFor(s);
        for (const each of [plan, heldUntilRead(plan)]) assertNothingDropped(each);
      }),
      { numRuns: runs(3_000) },
    );
  });

  it('waits or rests for the reason that a condition states, unless that only describes what is observed', () => {
    const undecided = Object.values(tables)
      .flat()
      .filter(({ observed, waits }) => {
        const [type = '', reason] = waits?.because.split(' ') ?? [];
        if (reason === undefined || OBSERVED.includes(type)) return false;
        const decisions = decide(chainsFor(observed.pool), observed);
        const reasons = decisions.flatMap(({ wait, rest }) => [wait, rest]).map((each) => each?.reason);
        return !reasons.some((each) => each !== undefined && (each === reason || UNREAD.includes(each)));
      });
    assert.deepEqual(
      undecided.map(({ name, waits }) => `${name}: ${waits?.because}`),
      [],
    );
  });

  it('has unique names of cases', () => {
    const names = [...Object.values(tables).flat(), ...pausedCases].map(({ name }) => name);
    assert.deepEqual(
      names.filter((name, i) => names.indexOf(name) !== i),
      [],
    );
  });
});

const EXISTING: readonly RuleChain['about'][] = ['release', 'nodes', 'terminatingNodes', 'annotations'];

describe('every rule of the plan is tested', () => {
  const cases = Object.values(tables).flat();
  const plans = {
    'a pool that is being deleted': deletionChains,
    'a pool with a node group': poolChains,
    'a pool of existing nodes': existingNodesChains,
  };
  for (const [plan, chains] of Object.entries(plans as unknown as Readonly<Record<string, readonly RuleChain[]>>)) {
    const its = once(() => cases.filter((each) => chainsFor(each.observed.pool) === chains && sameSteps(chains, each)));
    // The other rules for existing nodes are those of other pools, or have suites of their own.
    const tabled = chains.filter(({ about }) => chains !== existingNodesChains || EXISTING.includes(about));
    for (const { about, rules } of tabled) {
      for (const rule of rules) {
        it(`${plan}, ${about}: without ${rule.name} a case of the table fails`, () => {
          const without = chains.map((chain) => withoutRule(chain, about, rule));
          const isNoticed = its().some((each) => !sameSteps(without, each) || !sameWaits(without, chains, each));
          assert.ok(isNoticed, `no case of the table fails without the rule ${rule.name}`);
        });
      }
    }
  }
});

function withoutRule(chain: RuleChain, about: RuleChain['about'], rule: RuleChain['rules'][number]): RuleChain {
  return chain.about === about ? { ...chain, rules: chain.rules.filter((candidate) => candidate !== rule) } : chain;
}

/** Whether the chains wait and rest for the same reasons. */
function sameWaits(some: readonly RuleChain[], others: readonly RuleChain[], { observed }: PlanCase): boolean {
  const [reasons, wanted] = [some, others].map((chains) =>
    decide(chains, observed).flatMap(({ wait, rest }) => [wait?.reason, rest?.reason]),
  );
  return JSON.stringify(reasons) === JSON.stringify(wanted);
}

function sameSteps(chains: readonly RuleChain[], { observed, want, nodeConditions }: PlanCase): boolean {
  try {
    const steps = stepsOf(chains, observed);
    const [found, expected] = nodeConditions ? [conditionsInWords(steps), nodeConditions] : [[], []];
    return JSON.stringify([stepsInWords(steps), found]) === JSON.stringify([want, expected]);
  } catch {
    return false;
  }
}

describe('a client request token', () => {
  const creation = (s: Partial<EksState>) => {
    const { steps } = planFor(sampleState({ group: { kind: 'absent' }, nodes: [], ...s }));
    const step = steps.find(({ kind }) => kind === 'createNodeGroup');
    return step?.kind === 'createNodeGroup' ? step.token : undefined;
  };
  const pool = samplePool({}, { status: knownStatus() });
  const token = creation({ pool });

  it('has at most 64 characters that EKS accepts, however long the name of the pool', () => {
    const long = creation({ pool: samplePool({}, { metadata: { name: 'a'.repeat(63) } }) });
    for (const each of [token, long]) assert.match(each ?? '', /^[A-Za-z0-9-]{1,64}$/);
  });

  it('is the same after a crash', () => {
    assert.equal(creation({ pool: structuredClone(pool) }), token);
  });

  const others = {
    'another pool of the same name': samplePool({}, { metadata: { uid: 'uid-2' }, status: knownStatus() }),
    'another wish': samplePool({ nodeGroup: { diskSizeGiB: 80 } }, { status: knownStatus() }),
    'the same wish after another group': samplePool({}, { status: knownStatus({ arn: 'arn:2' }) }),
  };
  for (const [what, other] of Object.entries(others)) {
    it(`is another for ${what}`, () => assert.notEqual(creation({ pool: other }), token));
  }

  it('is another for the same update after another update', () => {
    const tokens = ['u-1', 'u-2'].map((id) => {
      const update = { id, type: 'ConfigUpdate', target: 'x', status: 'Successful' };
      const resized = samplePool({ nodeGroup: { scaling: { maxSize: 9 } } }, { status: knownStatus({ update }) });
      const { steps } = planFor(sampleState({ pool: resized, group: { kind: 'seen', group: sampleGroup() } }));
      return steps.flatMap((step) => (step.kind === 'updateConfig' ? [step.token] : []));
    });
    assert.equal(new Set(tokens.flat()).size, 2);
  });
});

describe('a step that needs a fresh read', () => {
  it('is one about the node group, except what is only remembered', () => {
    const { steps } = planFor(
      sampleState({
        pool: samplePool({}, { metadata: { finalizers: [] } }),
        group: { kind: 'absent' },
        nodes: [],
        runtimeClass: undefined,
      }),
    );
    assert.deepEqual(
      steps.map((step) => [step.kind, needsFreshRead(step)]),
      [
        ['addFinalizer', false],
        ['writeAhead', false],
        ['createNodeGroup', true],
        ['createRuntimeClass', false],
      ],
    );
  });
});
