/** Observed states for tests of advice. Without a change, there is none. */

import type { CheckState, NodeGroupSpec, WindowsPool } from '../api/api.gen.ts';
import type { LaunchTemplate } from '../ports/prerequisites.ts';
import type { CheckFacts, Facts } from '../providers/nodeGroup/model/checkFacts.ts';
import type { EksDerived } from '../providers/nodeGroup/model/groupDue.ts';
import { groupCheckStates } from '../providers/nodeGroup/reporting/groupStatus.ts';
import { known } from './answers.ts';
import { derive } from './derived.ts';
import { knownStatus, type SpecChange, sampleGroup, samplePool, sampleState, sampleTemplate } from './fixtures.ts';
import { type Brief, textTable } from './goldenTexts.ts';
import { sampleFacts } from './prerequisites.ts';

/** The pool whose group is to be created. */
export function planned(
  advice: Facts = {},
  { nodeGroup, ...spec }: SpecChange = {},
  facts: Partial<CheckFacts> = {},
): EksDerived {
  const pool = samplePool({ ...spec, nodeGroup: { diskSizeGiB: 100, ...nodeGroup } });
  const prerequisites = sampleFacts({ ...facts, ...advice });
  return sampleState({ pool, group: { kind: 'absent' }, nodes: [], prerequisites });
}

/** The same with a group that exists. */
export function running(advice: Facts = {}, spec: SpecChange = {}): EksDerived {
  const state = planned(advice, spec);
  const pool = { ...state.pool, status: knownStatus() };
  return derive({ ...state, pool, group: { kind: 'seen', group: sampleGroup(pool) } });
}

/** A pool with version 7 of a launch template, whose group is to be created. */
export function withTemplate(template: Partial<LaunchTemplate>, advice: Facts = {}, spec: SpecChange = {}): EksDerived {
  const launchTemplate = known(sampleTemplate('7', template));
  const nodeGroup = { diskSizeGiB: undefined, launchTemplate: { name: 'windows', version: '$Latest' } };
  return planned(advice, { ...spec, nodeGroup: { ...nodeGroup, ...spec.nodeGroup } }, { launchTemplate });
}

/** A pool that sets launch settings, and whose group is to be created. */
export function withLaunchSettings(
  launchSettings: Partial<NodeGroupSpec>,
  advice: Facts = {},
  facts: Partial<CheckFacts> = {},
): EksDerived {
  return planned(advice, { nodeGroup: { diskSizeGiB: undefined, ...launchSettings } }, facts);
}

/** The same with a group that exists. */
export function runningLaunchSettings(launchSettings: Partial<NodeGroupSpec>, advice: Facts = {}): EksDerived {
  return running(advice, { nodeGroup: { diskSizeGiB: undefined, ...launchSettings } });
}

/** The reasons of the advice in the status of a pool. */
export function adviceReasonsIn(pool: WindowsPool | undefined): string[] {
  const advice = (pool?.status?.checks ?? []).filter(({ severity }) => severity === 'Advice');
  return advice.map(({ reason }) => reason);
}

/** The advice that status lists. */
export function adviceIn(s: EksDerived): CheckState[] {
  return groupCheckStates(s).filter(({ severity }) => severity === 'Advice');
}

/** A pool and its advice, each with its reason and arguments. */
export type AdviceRow = readonly [what: string, s: EksDerived, want: readonly Brief[]];

/** A function that declares a test for each row, and one for the page with all messages. */
export function adviceTable(name: string): (rows: readonly AdviceRow[]) => void {
  const check = textTable(name);
  return (rows) => {
    for (const [what, s, want] of rows)
      check(
        `${want.length === 0 ? 'is not given about' : 'is given about'} ${what}`,
        () => adviceIn(s).map(({ reason, message }) => `${reason}: ${message}`),
        want,
      );
  };
}
