/** Groups that somebody else edited, where driftPolicy is Report. */
import { APPLIED, knownStatus, SMALLER, sampleGroup, samplePool, sampleState } from '../fixtures.ts';
import { seen } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { sending } from './steps.ts';

const reporting = samplePool({ driftPolicy: 'Report' }, { status: knownStatus() });
const edited = { ...sampleGroup().labels, 'winpool.dev/windows-build': 'no' };

export const driftCases: readonly PlanCase[] = [
  {
    name: 'an edit is reported with driftPolicy Report, and put right by nobody',
    observed: sampleState({ pool: reporting, group: seen({ labels: edited }) }),
    want: [],
    later: ['update node group web: labels set winpool.dev/windows-build'],
  },
  {
    name: 'a change of the spec is carried out with driftPolicy Report, and edits of other fields stay',
    observed: sampleState({
      pool: samplePool({ driftPolicy: 'Report', scaling: { max: 9 } }, { status: knownStatus() }),
      group: seen({ labels: edited }),
    }),
    want: [sending('scaling'), 'update node group web: scaling max 9'],
  },
  {
    name: 'a change that was sent before a crash is no edit: what the spec says now is sent',
    observed: sampleState({
      pool: samplePool(
        { driftPolicy: 'Report' },
        { status: knownStatus({ applied: APPLIED.map((entry) => entry.replace(/^scaling=.*/, 'scaling=?')) }) },
      ),
      group: seen(SMALLER),
    }),
    want: ['update node group web: scaling max 5'],
  },
  {
    name: 'a size that the user asks for is sent with the bounds that it fits, though an edit changed those',
    observed: sampleState({
      pool: samplePool({ driftPolicy: 'Report', scaling: { desired: 5 } }, { status: knownStatus() }),
      group: seen(SMALLER),
    }),
    want: [sending('desired'), 'update node group web: scaling max 5, desired 5'],
  },
  {
    name: 'the tag that somebody changed is reported with driftPolicy Report',
    observed: sampleState({
      pool: samplePool(
        { driftPolicy: 'Report', nodeGroup: { tags: { cost: '42' } } },
        { status: knownStatus({ applied: [...APPLIED, 'tag cost=8334c554'].sort() }) },
      ),
      group: seen({ tags: { 'winpool.dev/pool': 'web', cost: '7' } }),
    }),
    want: [],
    later: ['correct the tags of node group web: set cost'],
  },
];
