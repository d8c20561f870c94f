/** Groups that another client edited, with driftPolicy Report. */
import { APPLIED, knownStatus, SMALLER, sampleGroup, samplePool, sampleState } from '../fixtures.ts';
import { seen } from '../sights.ts';
import type { PlanCase } from './planCase.ts';
import { sending } from './steps.ts';

const reporting = samplePool({ nodeGroup: { driftPolicy: 'Report' } }, { status: knownStatus() });
const edited = { ...sampleGroup().labels, 'winpool.dev/windows-build': 'no' };

export const driftCases: readonly PlanCase[] = [
  {
    name: 'an edit is only reported with driftPolicy Report',
    observed: sampleState({ pool: reporting, group: seen({ labels: edited }) }),
    want: [],
    waits: { because: 'UpToDate Drifted', until: '10m' },
    later: ['updateConfig web +winpool.dev/windows-build'],
  },
  {
    name: 'a change of the spec is applied with driftPolicy Report, and edits of other fields stay',
    observed: sampleState({
      pool: samplePool({ nodeGroup: { scaling: { maxSize: 9 }, driftPolicy: 'Report' } }, { status: knownStatus() }),
      group: seen({ labels: edited }),
    }),
    want: [sending('scaling'), 'updateConfig web maxSize=9'],
  },
  {
    name: 'a change that was sent before a crash is not an edit, and the current spec is sent',
    observed: sampleState({
      pool: samplePool(
        { nodeGroup: { driftPolicy: 'Report' } },
        { status: knownStatus({ applied: APPLIED.map((entry) => entry.replace(/^scaling=.*/, 'scaling=?')) }) },
      ),
      group: seen(SMALLER),
    }),
    want: ['updateConfig web maxSize=5'],
  },
  {
    name: 'a new desired size is sent with its bounds, even if an edit changed those',
    observed: sampleState({
      pool: samplePool(
        { nodeGroup: { scaling: { desiredSize: 5 }, driftPolicy: 'Report' } },
        { status: knownStatus() },
      ),
      group: seen(SMALLER),
    }),
    want: [sending('desired'), 'updateConfig web maxSize=5 desiredSize=5'],
  },
  {
    name: 'a tag that another client changed is reported with driftPolicy Report',
    observed: sampleState({
      pool: samplePool(
        { nodeGroup: { tags: { cost: '42' }, driftPolicy: 'Report' } },
        { status: knownStatus({ applied: [...APPLIED, 'tag cost=8334c554'].sort() }) },
      ),
      group: seen({ tags: { 'winpool.dev/pool': 'web', cost: '7' } }),
    }),
    want: [],
    waits: { because: 'UpToDate Drifted', until: '10m' },
    later: ['correctTags web +cost'],
  },
];
